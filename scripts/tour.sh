#!/usr/bin/env bash
# tour.sh SEMDEX [WORKSPACE…] -- each verb with curl on copies of workspaces: request and reply, long replies shortened with a mark.
# The examples in the README are its output.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
semdex=$(realpath "${1:?the semdex program}")
shift

directory=$(mktemp -d)
server=
finish() {
    stop
    rm -rf "$directory"
}
trap finish EXIT

stop() {
    if [ -n "$server" ] && kill -TERM "$server" 2>/dev/null; then
        wait "$server" || echo "semdex ended with $?" >&2
    fi
    server=
}

give_up() {
    echo "tour: $*" >&2
    tail -n 20 "$directory/log" >&2 || true
    exit 1
}

# field EXPRESSION -- of the JSON on standard input, called `it`
field() { python3 -c 'import json, sys; it = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"; }

# start WORKSPACE: serves it on a free port, and returns when it is ready
start() {
    local deadline=$((SECONDS + 600))
    XDG_STATE_HOME=$directory/state "$semdex" serve "$1" --listen 127.0.0.1:0 --trust >"$directory/hello" 2>"$directory/log" &
    server=$!
    until grep -q listening "$directory/hello"; do
        kill -0 "$server" 2>/dev/null || give_up "the server ended before it listened"
        [ $SECONDS -lt $deadline ] || give_up "the server did not say where it listens"
        sleep 0.05
    done
    url=$(field 'it["listening"]' <"$directory/hello")
    token=$(cat "$(field 'it["token_file"]' <"$directory/hello")")
    until [[ $(ask /v1/status | field 'it["workspaces"][0]["state"]') == ready ]]; do
        kill -0 "$server" 2>/dev/null || give_up "the server ended while it was loading"
        [ $SECONDS -lt $deadline ] || give_up "not ready in time: $(ask /v1/status)"
        sleep 0.2
    done
}

# ask PATH [CURL'S WORDS…]
ask() {
    local path=$1
    shift
    curl -sS --max-time 150 -H "Authorization: Bearer $token" "$@" "$url$path"
}

# show TITLE PATH [BODY] -- prints the request as one would type it, and the reply; with MARKDOWN=1 as Markdown
show() {
    local title=$1 path=$2 words=() typed="curl -s -H \"Authorization: Bearer \$TOKEN\""
    printf '\n### %s\n\n' "$title"
    if [ -n "${MARKDOWN:-}" ]; then
        words+=(-H 'Accept: text/markdown')
        typed+=" -H 'Accept: text/markdown'"
    fi
    if [ $# -gt 2 ]; then
        words+=(-H 'Content-Type: application/json' -d "$3")
        typed+=" -H 'Content-Type: application/json' \\"$'\n'"     '$url$path' -d '$3'"
    else
        typed+=" '$url$path'"
    fi
    # A longer fence than any that the reply may hold.
    printf '~~~~~sh\n$ %s\n' "$typed"
    ask "$path" "${words[@]}" | python3 "$here/shorten.py"
    printf '~~~~~\n'
}

markdown() { MARKDOWN=1 show "$@"; }

# Any workspace will do; on ours the tour shows what is worth seeing.
choose() {
    local line
    case $(basename "$1") in
    ripgrep*)
        file=crates/searcher/src/searcher/mod.rs symbol=grep_searcher::SearcherBuilder::build package=grep_searcher
        trait=grep_searcher::Sink query=srchr misspelt=grep_searcher::SearcherBuilder::biuld external='"package":"std::path","symbol":"Path::strip_prefix"'
        search='pub fn build(&self) -> Searcher {' replacement='pub fn build(&self, strict: bool) -> Searcher {'
        wrong='pub fn build(&mut self) -> Searchers {' twice='config: Config,'
        new=crates/searcher/src/probe.rs content='use crate::searcher::Seracher;\n\npub fn probe(_: Seracher) {}\n'
        ;;
    gin*)
        file=gin.go symbol=github.com/gin-gonic/gin.New package=github.com/gin-gonic/gin
        trait=github.com/gin-gonic/gin/render.Render query=engn misspelt=github.com/gin-gonic/gin.Engine.Hadnle external='"package":"net/http","symbol":"HandlerFunc"'
        search='func New(opts ...OptionFunc) *Engine {' replacement='func New(strict bool, opts ...OptionFunc) *Engine {'
        wrong='func New(opts ...OptionFn) *Engin {' twice='return engine'
        new=probe.go content='package gin\n\nimport "net/http"\n\nfunc probe() int { return http.StatusOkay }\n'
        ;;
    *)
        local chosen=
        # The largest file that declares something.
        while [ -z "$chosen" ] && read -r file; do
            chosen=$(ask "/v1/symbols?file=$file" | field 'next(("%s %s %s" % (at["name_at"]["line"], at["package"], at["path"]) for at in it["symbols"]
                if at["kind"] in ("function", "struct", "enum", "type", "trait", "interface")), "")')
        done < <(cd "$1" && find . \( -name '*.rs' -o -name '*.go' \) -not -path '*/target/*' -printf '%s %P\n' | sort -rn | cut -d' ' -f2-)
        [ -n "$chosen" ] || give_up "no file of $1 declares a function or type"
        read -r line package symbol <<<"$chosen"
        search=$(sed -n "${line}p" "$1/$file")
        trait=$symbol query=${symbol##*[.:]} misspelt=${symbol}x external="\"package\":\"$package\""
        replacement="$search // probed" wrong="${search}x y z" twice=return new="${file%.*}_probe.txt" content='probe\n'
        ;;
    esac
}

# json STRING… -- as JSON strings
json() { python3 -c 'import json, sys; print(*map(json.dumps, sys.argv[1:]), sep="\n")' "$@"; }

tour() {
    local workspace=$1 s r w t n
    printf '\n## %s\n' "$(basename "$workspace")"
    start "$workspace"
    choose "$workspace"
    { read -r s && read -r r && read -r w && read -r t && read -r n; } < <(json "$search" "$replacement" "$wrong" "$twice" "$new")
    local encoded=${symbol//</%3C}
    encoded=${encoded//>/%3E}

    show 'Is it there, and ready?' /v1/status
    markdown 'What is in this file?' /v1/open "{\"file\":\"$file\"}"
    show 'The same as JSON' /v1/open "{\"file\":\"$file\"}"
    markdown 'All about one symbol' /v1/describe "{\"symbol\":\"$symbol\"}"
    markdown 'A symbol from outside' /v1/describe "{$external}"
    show 'A package' /v1/describe "{\"package\":\"$package\"}"
    show 'A file in full' /v1/describe "{\"file\":\"$file\"}"
    show 'Looking for a name, roughly' "/v1/symbols?query=$query&limit=3"
    show 'The symbols of a file' "/v1/symbols?file=$file"
    show 'What stands at this place?' "/v1/symbols/at?file=$file&$(ask "/v1/usages?symbol=$encoded" | field '"offset=%d" % it["symbol"]["name_at"]["start"]')"
    show 'Who uses it?' "/v1/usages?symbol=$encoded&limit=3"
    show 'Who implements it?' "/v1/implementations?symbol=$trait&limit=3"
    show 'What is wrong with this file?' "/v1/diagnostics?file=$file"
    show 'What would this edit break?' /v1/edit "{\"file\":\"$file\",\"search_context\":$s,\"replacement\":$r,\"dry_run\":true}"
    markdown 'The same as Markdown' /v1/edit "{\"file\":\"$file\",\"search_context\":$s,\"replacement\":$r,\"dry_run\":true}"
    show 'The edit itself' /v1/edit "{\"file\":\"$file\",\"search_context\":$s,\"replacement\":$r}"
    show 'And back' /v1/edit "{\"file\":\"$file\",\"search_context\":$r,\"replacement\":$s}"
    show 'A new file, checked' /v1/write "{\"name\":$n,\"content\":\"${content//\"/\\\"}\",\"mode\":\"create\"}"
    show 'A text that is not there' /v1/edit "{\"file\":\"$file\",\"search_context\":$w,\"replacement\":$r}"
    show 'A text that is there twice' /v1/edit "{\"file\":\"$file\",\"search_context\":$t,\"replacement\":\"\"}"
    show 'A name that is not there' "/v1/usages?symbol=$misspelt"
    stop
}

mkdir "$directory/workspaces"
"$here/corpora.sh" "$directory/workspaces" "$@" >"$directory/list"
while read -r workspace <&3; do
    tour "$workspace"
done 3<"$directory/list"
