#!/usr/bin/env bash
# lint-openapi.sh -- lints openapi.yaml with spectral and its recommended rules; the least hint fails. The linter is
# kept in $SEMDEX_TOOLS.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tools=${SEMDEX_TOOLS:-${CARGO_TARGET_DIR:-$repository/target}/tools}
linter=$tools/openapi-linter
pins=$repository/scripts/package.json

if ! cmp -s "$pins" "$linter/package.json" || [ ! -x "$linter/node_modules/.bin/spectral" ]; then
    rm -rf "$linter"
    mkdir -p "$linter"
    cp "$pins" "$linter/package.json"
    # Pinned without a lockfile, which would name the registry.
    npm install --prefix "$linter" --silent --no-fund --no-audit --no-package-lock --ignore-scripts
fi
"$linter/node_modules/.bin/spectral" lint --ruleset "$repository/scripts/spectral.yaml" --fail-severity hint \
    "$repository/openapi.yaml"
