#!/usr/bin/env bash
# matching.sh [--seed N] [--edits N] [--show CLASS] -- the matcher on real edits, perturbed. Builds a package of its own in release mode, without
# rust-analyzer. The edits come from the versions of crates and modules in the caches of cargo and Go, and from this repository's history.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
arguments=()
while [ $# -gt 0 ]; do
    case $1 in
    # What scripts/bench.sh tells every program.
    --server-binary | --workspace) shift 2 ;;
    *) arguments+=("$1") && shift ;;
    esac
done
cargo build --quiet --locked --release --manifest-path "$here/Cargo.toml" --target-dir "${CARGO_TARGET_DIR:-$here/../../target}/matching"
exec "${CARGO_TARGET_DIR:-$here/../../target}/matching/release/matching-bench" ${arguments[@]+"${arguments[@]}"}
