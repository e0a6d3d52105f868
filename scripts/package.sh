#!/usr/bin/env bash
# package.sh [DIRECTORY] -- packs the crate, and the one beside it that it needs, as a registry would take them, into
# DIRECTORY (target/package where none is named). VERIFY=1 compiles what was packed, which takes as long as a first build.
#
# Cargo packs crates that need each other only as members of one workspace. In the tree they are none: members are built
# without the optimisation that `[profile.dev.package."*"]` gives to what is used. So a copy of the tree is packed.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=$(mkdir -p "${1:-$repository/target/package}" && cd "${1:-$repository/target/package}" && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git -C "$repository" ls-files -z --cached --others --exclude-standard | (cd "$repository" && xargs -0 cp --parents -t "$copy")
printf '\n[workspace]\nmembers = ["crates/nesting"]\nexclude = ["crates/parser"]\n' >>"$copy/Cargo.toml"
# Cargo looks for a crate among those that it packs only where it may be published.
sed -i '/^publish = false$/d' "$copy/Cargo.toml" "$copy/crates/nesting/Cargo.toml"
cd "$copy"
verify=--no-verify
[ -z "${VERIFY:-}" ] || verify=
CARGO_TARGET_DIR=$copy/target cargo package --allow-dirty $verify -p semdex-nesting -p semdex
cp "$copy"/target/package/*.crate "$target/"
ls -l "$target"/*.crate
