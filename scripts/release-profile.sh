#!/usr/bin/env bash
# release-profile.sh [--workspace PATH] -- what the settings of [profile.release] cost and bring: for each combination the time of a build
# from nothing, the size of the program, and (with a workspace) how long it takes to be ready and to answer. On a machine that has
# nothing else to do: four builds of ten minutes and more on two cores. PROFILES names combinations, as "LTO,CODEGEN_UNITS ...".
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
[ "${1:-}" = --workspace ] && workspace=$(realpath "$2") || workspace=''
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
printf '%-8s %-14s %10s %10s\n' lto codegen-units 'build s' 'size MiB'
for profile in ${PROFILES:-off,16 thin,16 thin,1 fat,1}; do
    lto=${profile%,*} units=${profile#*,}
    begun=$(date +%s)
    CARGO_PROFILE_RELEASE_LTO=$lto CARGO_PROFILE_RELEASE_CODEGEN_UNITS=$units CARGO_TARGET_DIR=$directory/target \
        cargo build --quiet --locked --release --manifest-path "$here/Cargo.toml"
    took=$(($(date +%s) - begun))
    cp "$directory/target/release/semdex" "$directory/semdex-$lto-$units"
    rm -rf "$directory/target"
    printf '%-8s %-14s %10s %10s\n' "$lto" "$units" "$took" "$(($(stat -c %s "$directory/semdex-$lto-$units") >> 20))"
done
[ -n "$workspace" ] || exit 0
for binary in "$directory"/semdex-*; do
    printf '\n== %s\n' "$(basename "$binary")"
    "$here/spikes/01-reload-latency/measure.py" --server-binary "$binary" --workspace "$workspace" || true
    "$here/benches/explorer/explorer.py" --server-binary "$binary" --rust-analyzer "${SEMDEX_TOOLS:+$SEMDEX_TOOLS/bin/}rust-analyzer" --workspace "$workspace" || true
done
