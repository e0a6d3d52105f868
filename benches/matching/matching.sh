#!/usr/bin/env bash
# matching.sh [--seed N] [--edits N] [--show CLASS] -- the matcher on real edits, perturbed. Builds in release mode, without
# rust-analyzer. The edits come from the versions of crates and modules in the caches of cargo and Go, and from this repository's history.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
arguments=()
while [ $# -gt 0 ]; do
    case $1 in
    # What scripts/bench.sh passes to every program.
    --server-binary | --workspace) shift 2 ;;
    *) arguments+=("$1") && shift ;;
    esac
done
target=${CARGO_TARGET_DIR:-$here/../../target}
cargo build --quiet --locked --release --manifest-path "$here/Cargo.toml"
exec "$target/release/matching-bench" ${arguments[@]+"${arguments[@]}"}
