#!/usr/bin/env bash
# corpora.sh DIRECTORY [WORKSPACE…] -- copies of the workspaces to try semdex on, unpacked or copied below DIRECTORY; prints their paths.
# Without workspaces: every archive in CORPORA, by default ../shared/corpora beside the repository.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
corpora=${CORPORA:-$here/../shared/corpora}
directory=${1:?a directory to put them in}
shift

if [ $# -gt 0 ]; then
    for workspace in "$@"; do
        name=$(basename "$(cd "$workspace" && pwd)")
        mkdir "$directory/$name"
        tar -C "$workspace" --exclude=./.git --exclude=./target --exclude=./node_modules -cf - . | tar -C "$directory/$name" -xf -
        printf '%s\n' "$directory/$name"
    done
    exit
fi

shopt -s nullglob
archives=("$corpora"/*.tar.gz)
if [ ${#archives[@]} -eq 0 ]; then
    echo "no archives in $corpora: name workspaces, as in: make tour WORKSPACES='path path', or set CORPORA" >&2
    exit 1
fi
for archive in "${archives[@]}"; do
    tar -xzf "$archive" -C "$directory"
    # Their top directory: `head` would close the pipe on tar.
    printf '%s/%s\n' "$directory" "$(tar -tzf "$archive" | sed -n '1s|/.*||p')"
done
