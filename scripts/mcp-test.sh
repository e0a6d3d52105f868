#!/usr/bin/env bash
# mcp-test.sh BASE_URL TOKEN SEMDEX -- asks a server on the package of tests/it/support.rs, the working directory, by the
# official SDKs of MCP for Python and TypeScript. They are kept in $SEMDEX_TOOLS.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tests=$repository/tests/mcp
"$repository/scripts/install-missing.sh" mcp
sdks=${SEMDEX_TOOLS:?the directory for tools is not named}/mcp
"$sdks/venv/bin/python" -B "$tests/client.py" "$@"
# Modules are looked for beside the program.
cp "$tests/client.mjs" "$sdks/node/client-$$.mjs"
trap 'rm -f "$sdks/node/client-$$.mjs"' EXIT
node "$sdks/node/client-$$.mjs" "$@"
