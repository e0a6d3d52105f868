#!/usr/bin/env bash
# lint-openapi.sh [DOCUMENT] -- lints openapi.yaml with Redocly's recommended rules, examples checked against their
# schemas; warnings fail like errors. A change that breaks clients without a new version fails too (diff-openapi.sh). The
# linter is kept in $SEMDEX_TOOLS.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
document=$(realpath "${1:-$repository/openapi.yaml}")
tools=${SEMDEX_TOOLS:-${CARGO_TARGET_DIR:-$repository/target}/tools}
linter=$tools/openapi-linter
pins=$repository/scripts/package.json

if ! cmp -s "$pins" "$linter/package.json" || [ ! -x "$linter/node_modules/.bin/redocly" ]; then
    rm -rf "$linter"
    mkdir -p "$linter"
    cp "$pins" "$linter/package.json"
    # Pinned without a lockfile, which would name the registry.
    npm install --prefix "$linter" --silent --no-fund --no-audit --no-package-lock --ignore-scripts
fi
# No telemetry, no check for a newer version.
cd "$linter"
REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true \
    node_modules/.bin/redocly lint --extends recommended-strict "$document"
"$repository/scripts/diff-openapi.sh" "$document"
