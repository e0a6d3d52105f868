#!/usr/bin/env bash
# bench.sh SEMDEX [WORKSPACE…] -- the programs behind the README's figures, in sequence on a machine that should have nothing else to
# do; goes on where one falls short, and fails at the end.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
semdex=$(realpath "${1:?the semdex program}")
shift

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
"$here/scripts/corpora.sh" "$directory" "$@" >"$directory/list"
all=() go=()
while read -r workspace; do
    all+=(--workspace "$workspace")
    if [ -e "$workspace/go.mod" ]; then go+=(--workspace "$workspace"); fi
done <"$directory/list"

short=()
bench() {
    local program=$1
    shift
    printf '\n== %s\n' "$program"
    "$here/$program" --server-binary "$semdex" "$@" || short+=("$program")
}

bench spikes/01-reload-latency/measure.py "${all[@]}"
bench benches/start/timeline.py "${all[@]}"
bench benches/skeletons/skeletons.py "${all[@]}"
bench benches/freshness/freshness.py "${all[@]}"
bench benches/names/round_trip.py "${all[@]}"
bench benches/explorer/explorer.py --rust-analyzer "${SEMDEX_TOOLS:+$SEMDEX_TOOLS/bin/}rust-analyzer" "${all[@]}"
bench benches/agent/sizes.py "${all[@]}"
bench benches/agent/tasks.py "${all[@]}"
bench benches/faces/faces.py
bench benches/start/newcomer.sh
bench benches/impact/impact.py --count 100 "${all[@]}"
bench benches/matching/matching.sh
bench benches/edits/back_and_forth.py "${all[@]}"
bench benches/rename/rename.py "${all[@]}"
bench benches/latency/latency.py
bench benches/memory/memory.py --rust-analyzer "${SEMDEX_TOOLS:+$SEMDEX_TOOLS/bin/}rust-analyzer"
bench benches/attack/attack.py
bench benches/crowd/crowd.py
bench benches/crowd/one_file.py
bench benches/crash/crash.py
bench benches/git/git.py
bench benches/faults/faults.py
bench benches/storm/storm.py "${all[@]}"
if [ ${#go[@]} -gt 0 ]; then
    bench benches/usages/compare.py "${go[@]}"
    bench benches/external/go_docs.py "${go[@]}"
    bench benches/kill/kill.py "${go[@]}"
fi

printf '\n== what rustc says of the fixtures, next to the recorded output\n'
(cd "$here" && cargo xtask truth check) || short+=("cargo xtask truth check")

printf '\n'
if [ ${#short[@]} -gt 0 ]; then
    printf 'fell short: %s\n' "${short[@]}"
    exit 1
fi
echo 'all as claimed'
