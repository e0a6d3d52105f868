#!/usr/bin/env bash
# newcomer.sh [--server-binary PATH] [--workspace PATH] -- from a clone to the first useful answer in an agent, each step timed, as a new
# user does it: clone, build, `semdex doctor`, `semdex init claude --write`, and what an agent then does by itself: start `semdex mcp`,
# which starts the server, list the tools, and ask who uses a symbol.
#
# With --server-binary nothing is cloned and built: that takes most of the time. The state directory is empty; the cache too where
# COLD=1 is set, so that gopls is installed and the build scripts of a Rust workspace are compiled. Without a workspace a small package
# is made. Ends with 1 where a step fails or the answer is none.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
binary='' workspace=''
while [ $# -gt 0 ]; do
    case $1 in
        --server-binary) binary=$(realpath "$2") && shift 2 ;;
        --workspace) workspace=$(realpath "$2") && shift 2 ;;
        *) sed -n '2,8s/^# //p' "${BASH_SOURCE[0]}" && exit 2 ;;
    esac
done

directory=$(mktemp -d)
export XDG_STATE_HOME=$directory/state
# The server that `semdex mcp` starts ends by itself; here immediately.
leave() {
    for record in "$XDG_STATE_HOME"/semdex/servers/*.json; do
        pid=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$record" 2>/dev/null) && [ -n "$pid" ] && kill "$pid" || true
    done
    rm -rf "$directory"
}
trap leave EXIT
[ -z "${COLD:-}" ] || export XDG_CACHE_HOME=$directory/cache
total=0
step() {
    local name=$1 begun took
    shift
    begun=$(date +%s.%N)
    "$@" >"$directory/said" 2>&1 || { echo "FAILED: $name" && cat "$directory/said" && exit 1; }
    took=$(awk -v from="$begun" -v to="$(date +%s.%N)" 'BEGIN { printf "%.2f", to - from }')
    total=$(awk -v a="$total" -v b="$took" 'BEGIN { printf "%.2f", a + b }')
    printf '%-42s %9s s\n' "$name" "$took"
}

if [ -z "$binary" ]; then
    step 'git clone' git clone --quiet "$here" "$directory/semdex"
    step 'cargo build --locked --release' cargo build --locked --release --manifest-path "$directory/semdex/Cargo.toml" --target-dir "$directory/target"
    binary=$directory/target/release/semdex
fi
mkdir "$directory/bin"
ln -s "$binary" "$directory/bin/semdex"
export PATH=$directory/bin:$PATH

root=$directory/workspace
if [ -n "$workspace" ]; then
    mkdir "$root"
    tar -C "$workspace" --exclude=./.git --exclude=./target --exclude=./node_modules -cf - . | tar -C "$root" -xf -
else
    mkdir -p "$root/src"
    printf '[package]\nname = "greeter"\nversion = "0.1.0"\nedition = "2021"\n' >"$root/Cargo.toml"
    printf '/// Greets someone.\npub fn greet(name: &str) -> String {\n    format!("Hello, {name}!")\n}\n\npub fn greet_all(names: &[&str]) -> Vec<String> {\n    names.iter().map(|it| greet(it)).collect()\n}\n' >"$root/src/lib.rs"
fi
cd "$root"
step 'semdex trust .' semdex trust .
# It says what is missing, which is no failure of a step.
step 'semdex doctor' sh -c 'semdex doctor || true'
sed -n 's/^\(MISSING\|absent\).*/    &/p' "$directory/said"
step 'semdex init claude --write' semdex init claude --write --yes

cat >"$directory/agent.py" <<'AGENT'
"""What an agent does with .mcp.json: prints how long each of its steps took."""
import json, re, subprocess, sys, time

entry = json.load(open(".mcp.json"))["mcpServers"]["semdex"]
begun = time.monotonic()
server = subprocess.Popen([entry["command"], *entry["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
asked = 0


def ask(method, params, answered=True):
    global asked
    asked += answered
    message = {"jsonrpc": "2.0", "method": method, "params": params, **({"id": asked} if answered else {})}
    server.stdin.write(json.dumps(message) + "\n")
    server.stdin.flush()
    while answered:
        reply = json.loads(server.stdout.readline())
        if reply.get("id") == asked:
            return reply["result"]


def step(name):
    global begun
    now = time.monotonic()
    print(f"{name:<42} {now - begun:>9.2f} s", flush=True)
    begun = now


def tool(name, **arguments):
    result = ask("tools/call", {"name": name, "arguments": arguments})
    text = "".join(it["text"] for it in result["content"])
    if result.get("isError"):
        sys.exit(f"FAILED: {name} {arguments}: {text}")
    return text


client = {"name": "newcomer", "version": "1"}
ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
ask("notifications/initialized", {}, answered=False)
tools = ask("tools/list", {})["tools"]
step(f"agent: starts semdex mcp, lists {len(tools)} tools")
file = sys.argv[1]
opened = tool("open", file=file)
step(f"agent: open {file}"[:42])
# Of what the file declares, the name that its text has most often.
declared = set(re.findall(r"(?:fn|struct|func|type) (\w+)", opened)) - {"main", "new"}
text = open(file).read()
used = max(sorted(declared), key=lambda it: len(re.findall(rf"\b{it}\b", text)))
found = tool("usages", symbol=used, file=file, wait_ms=120000)
step(f"agent: usages of {used}, complete"[:42])
first = found.split("\n", 1)[0]
print(f"    {first}; " + next(it for it in found.splitlines() if it.startswith("`")))
server.stdin.close()
server.wait(60)
if not re.match(r"# \d+ usages? of", first) or first.startswith("# 0 "):
    sys.exit("FAILED: the first answer is none")
AGENT
largest=$(find . \( -name '*.rs' -o -name '*.go' \) -not -path '*/target/*' -not -name '*_test.go' -not -path './tests/*' -size -60k -printf '%s %P\n' | sort -rn | sed -n '1s/^[0-9]* //p')
begun=$(date +%s.%N)
python3 -B "$directory/agent.py" "$largest"
total=$(awk -v a="$total" -v from="$begun" -v to="$(date +%s.%N)" 'BEGIN { printf "%.2f", a + to - from }')
printf '%-42s %9s s\n' 'all' "$total"
