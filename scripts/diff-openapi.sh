#!/usr/bin/env bash
# diff-openapi.sh [DOCUMENT] -- refuses a change of openapi.yaml that breaks clients of the released document without a
# new version. oasdiff comes through Go's proxy, into $SEMDEX_TOOLS.
#
# diff-openapi.sh --release makes openapi.yaml the released document: part of a release.
set -euo pipefail
OASDIFF=v1.36.0
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
released=$repository/tests/client/released.yaml
tools=${SEMDEX_TOOLS:-${CARGO_TARGET_DIR:-$repository/target}/tools}

if [ "${1:-}" = --release ]; then
    cp "$repository/openapi.yaml" "$released"
    exit
fi
document=$(realpath "${1:-$repository/openapi.yaml}")
version() { sed -n 's/^  version: *//p' "$1" | head -n 1; }
[ "$(version "$released")" = "$(version "$document")" ] || exit 0

oasdiff=$tools/oasdiff-$OASDIFF/oasdiff
[ -x "$oasdiff" ] || GOBIN=$(dirname "$oasdiff") go install "github.com/oasdiff/oasdiff@$OASDIFF"
# semdex refuses unknown parameters and fields: a removed one breaks the clients that send it. Codes, kinds and types of
# events may be added, as docs/clients.md says.
levels=$(mktemp)
trap 'rm -f "$levels"' EXIT
printf '%s\n' 'request-parameter-removed err' 'request-property-removed err' \
    'response-property-enum-value-added info' 'response-property-any-of-added info' >"$levels"
"$oasdiff" breaking "$released" "$document" --fail-on ERR --severity-levels "$levels" && exit
echo "openapi.yaml breaks clients of version $(version "$released"): take the change back, or give the workspace another version in Cargo.toml" >&2
exit 1
