#!/usr/bin/env bash
# client-test.sh BASE_URL TOKEN -- generates a client of openapi.yaml with a public generator and runs the four verbs
# with it against a server on the package of tests/it/support.rs. A warning of the generator fails: it would leave
# something out. The generator is kept in $SEMDEX_TOOLS.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
base_url=${1:?the address of the server}
token=${2:?its token}
tools=${SEMDEX_TOOLS:-${CARGO_TARGET_DIR:-$repository/target}/tools}

# One at a time: tests in different processes share the tools.
mkdir -p "$tools"
exec 9>"$tools/client-venv.lock"
flock 9
venv=$tools/client-venv
pins=$repository/tests/client/requirements.txt
if ! cmp -s "$pins" "$venv/requirements.txt"; then
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$pins"
    cp "$pins" "$venv/requirements.txt"
fi
flock --unlock 9

generated=$(mktemp -d)
trap 'rm -rf "$generated"' EXIT
"$venv/bin/openapi-python-client" generate --fail-on-warning --meta none \
    --path "$repository/openapi.yaml" --config "$repository/tests/client/generator.yaml" \
    --output-path "$generated/semdex_client"
PYTHONPATH=$generated "$venv/bin/python" -B "$repository/tests/client/four_verbs.py" "$base_url" "$token"
