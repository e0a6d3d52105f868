#!/usr/bin/env bash
# package.sh [DIRECTORY] -- packs the crates of the workspace, as a registry would take them, into DIRECTORY (by default
# target/package). Left out are the crates that only this repository uses, and the patches of rust-analyzer.
# VERIFY=1 also compiles what was packed, which takes as long as a first build.
#
# Cargo packs crates that depend on each other only where they may be published: it packs a copy of the tree that says so.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=$(mkdir -p "${1:-$repository/target/package}" && cd "${1:-$repository/target/package}" && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git -C "$repository" ls-files -z --cached --others --exclude-standard | (cd "$repository" && xargs -0 cp --parents -t "$copy")
cd "$copy"
sed -i 's/^publish = false$/publish = true/' Cargo.toml crates/{nesting,pin,steps}/Cargo.toml
verify=--no-verify
[ -z "${VERIFY:-}" ] || verify=
CARGO_TARGET_DIR=$copy/target cargo package --allow-dirty $verify --workspace \
    --exclude xtask --exclude localisation-bench --exclude matching-bench --exclude semdex-testing \
    --exclude ra_ap_parser --exclude ra_ap_intern \
    --exclude ra_ap_base_db --exclude la-arena
cp "$copy"/target/package/*.crate "$target/"
ls -l "$target"/*.crate
