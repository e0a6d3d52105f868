"""Real coding agents with semdex, driven by a scripted model: run.py SEMDEX [SCENARIO[:AGENT]…]. `make test-all` runs it.

The agents come from npm, pinned (package.json), into $SEMDEX_TOOLS. Everything else runs in a network namespace that has only the
loopback interface: no agent reaches its vendor, and nothing here can. Each scenario says what a user of the agent would notice.
"""

import copy
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import traceback

from clients import CLIENTS, PLUGINS, PROMPT, programs
from model import Model

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
TOOLS = pathlib.Path(os.environ.get("SEMDEX_TOOLS", REPOSITORY / "target/tools")).resolve()
PINS = pathlib.Path(__file__).with_name("package.json")
INSIDE = "SEMDEX_AGENTS_NAMESPACE"

VERBS = {"explore", "open", "describe", "usages", "map", "edit", "write", "rename", "impact", "diagnostics", "verify", "undo"}
ALWAYS = {"explore", "usages", "edit", "impact", "diagnostics"}
HEAD = "pub fn greet(name: &str) -> String {"
NEW_HEAD = "pub fn greet(name: &str, loud: bool) -> String {"
EDIT = ("semdex:edit", {"file": "src/lib.rs", "search_context": HEAD, "replacement": NEW_HEAD})
USAGES = ("semdex:usages", {"symbol": "greeter::greet"})
FILES = {
    "Cargo.toml": '[package]\nname = "greeter"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": f'pub mod loud;\n\n{HEAD}\n    format!("Hello, {{name}}")\n}}\n',
    "src/loud.rs": "use crate::greet;\n\npub fn shout(name: &str) -> String {\n    greet(name).to_uppercase()\n}\n",
}


class Wrong(Exception):
    pass


def check(is_true, what, shown=""):
    if not is_true:
        raise Wrong(f"{what}\n{shown[-3000:]}" if shown else what)


class Place:
    """A repository that no agent has seen, a home directory of its own, and an agent in it."""

    def __init__(self, binary, agent, files=None, arguments=(), prepare=lambda place: None):
        self.agent, self.client = agent, CLIENTS[agent]
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix=f"semdex-{agent}-"))
        self.home, self.root, self.binary = self.directory / "home", self.directory / "greeter", binary
        self.home.mkdir()
        for name, text in (files or FILES).items():
            self.write(name, text)
        self.git("init", "-q", "-b", "main")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Start")
        self.models, self.has_init = [], True
        self.arguments = ["--allow", "changes", *(["--hook"] if self.client.has_hooks else []), *arguments]
        prepare(self)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def read(self, name, root=None):
        return ((root or self.root) / name).read_text()

    def environment(self):
        user = pathlib.Path.home()
        return {
            "HOME": str(self.home), "PATH": f"{self.binary.parent}:{os.environ['PATH']}", "LANG": "C.UTF-8", "TERM": "xterm-256color",
            "TMPDIR": str(self.directory), "USER": "user", "SHELL": "/bin/bash", "DO_NOT_TRACK": "1", "DISABLE_TELEMETRY": "1",
            "CARGO_HOME": os.environ.get("CARGO_HOME", str(user / ".cargo")), "CARGO_NET_OFFLINE": "true",
            "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(user / ".rustup")),
            "XDG_STATE_HOME": str(self.home / "state"), "XDG_CACHE_HOME": str(self.home / "cache"),
            "RUST_SRC_PATH": str(REPOSITORY / "tests/fixtures/std/library"),
            "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
        }

    def run(self, *command, **how):
        how = {"cwd": self.root, "env": self.environment(), "capture_output": True, "text": True, "timeout": 120, "stdin": subprocess.DEVNULL, **how}
        return subprocess.run([str(it) for it in command], **how)

    def git(self, *arguments):
        ended = self.run("git", *arguments)
        check(ended.returncode == 0, f"git {arguments}: {ended.stderr}")

    def semdex(self, *arguments):
        ended = self.run(self.binary, *arguments)
        check(ended.returncode == 0, f"semdex {' '.join(arguments)} ended with {ended.returncode}", ended.stdout + ended.stderr)
        return ended.stdout

    def configure(self, address):
        """As a user does it: `init`, trust, and the answers to what the agent asks once."""
        self.client.prepare(self.home, self.root, address)
        if self.has_init:
            self.semdex("init", self.agent, "--write", "--yes", *self.arguments)
        self.semdex("trust", ".")
        # The index is ready when the agent starts: what it does before is the bench's (benches/start/first_contact.py).
        self.semdex("usages", "greeter::greet", "--wait-ms", "120000")
        consent = self.client.consent(PROGRAMS[self.agent])
        if consent:
            self.run(*consent)

    def talk(self, steps, timeout=300):
        """One headless session; returns the model, which has all that the agent sent."""
        model = Model(steps)
        self.models.append(model)
        if len(self.models) == 1:
            self.configure(model.address)
        command = self.client.command(PROGRAMS[self.agent], PROMPT)
        try:
            ended = self.run(*command, env={**self.environment(), **self.client.environment(model.address)}, timeout=timeout)
        except subprocess.TimeoutExpired:
            raise Wrong(f"{self.agent} has not ended; the model got {len(model.requests)} requests") from None
        shown = ended.stdout + ended.stderr
        check(len(model.requests) > len(steps), f"{self.agent} ended after {len(model.requests)} requests of {len(steps) + 1}", shown)
        return model

    def close(self):
        self.run(self.binary, "stop", "--all")
        for model in self.models:
            model.close()
        shutil.rmtree(self.directory, ignore_errors=True)


def everyday(binary, agent):
    """The model's first request names the tools; what `init` allows runs without a question; an edit reports what it breaks."""
    place = Place(binary, agent)
    try:
        model = place.talk([[USAGES], [EDIT]])
        first = model.requests[0]
        if agent == "qwen":
            # It defers all tools, and lists their names and descriptions.
            check(all(f"mcp__semdex__{it}" in first.all() for it in VERBS), "the first request does not name the tools", first.all())
        else:
            check(VERBS <= {it.removeprefix("mcp_semdex_") for it in first.verbs()}, f"the first request offers only {first.verbs()}")
        if agent not in ("copilot", "cline"):
            check("`usages` finds references" in first.all(), "the first request lacks the instructions", first.all())
        check("2 usages of function" in model.said(0) and "src/loud.rs" in model.said(0), "`usages` was not answered", model.said(0))
        check("broke references in file src/loud.rs" in model.said(1), "the edit's reply lacks what it breaks", model.said(1))
        check(str(place.root) in model.said(1), "the edit's reply does not name the root", model.said(1))
        check(NEW_HEAD in place.read("src/lib.rs"), "the edit was not made")
        print(f"  {agent}: {len(first.tools)} tools in the first request, {len(json.dumps(first.body))} bytes")
    finally:
        place.close()


def hook(binary, agent):
    """An edit by the agent's own tool is followed by what it broke elsewhere, in the next request."""
    place = Place(binary, agent)
    file = str(place.root / "src/lib.rs")
    own = {
        "claude": [[("Read", {"file_path": file})], [("Edit", {"file_path": file, "old_string": HEAD, "new_string": NEW_HEAD})]],
        "opencode": [[("read", {"filePath": file})], [("edit", {"filePath": file, "oldString": HEAD, "newString": NEW_HEAD})]],
        "gemini": [[("read_file", {"file_path": file})], [("replace", {"file_path": file, "old_string": HEAD, "new_string": NEW_HEAD, "instruction": "Add a parameter"})]],
    }[agent]
    try:
        model = place.talk(own)
        check(NEW_HEAD in place.read("src/lib.rs"), "the agent's own edit was not made", model.said(1))
        check("src/loud.rs:4" in model.said(1), "the hook's text is not in the next request", model.said(1))
    finally:
        place.close()


def plugin(binary, agent):
    """Without `init`: the plugin of this repository brings the server, what to ask when, and the hooks."""
    def prepare(place):
        place.has_init = False

    place = Place(binary, agent, prepare=prepare)
    place.client = copy.copy(place.client)
    file, of_agent = str(place.root / "src/lib.rs"), PLUGINS / agent
    if agent == "claude":
        own = [[("Read", {"file_path": file})], [("Edit", {"file_path": file, "old_string": HEAD, "new_string": NEW_HEAD})]]
        place.client.more = ["--plugin-dir", of_agent, "--allowedTools", "mcp__plugin_semdex_semdex"]
    else:
        own = [[("read_file", {"file_path": file})], [("replace", {"file_path": file, "old_string": HEAD, "new_string": NEW_HEAD, "instruction": "Add a parameter"})]]
        # An extension cannot allow its own tools: the user does, once for each.
        command = place.client.command
        place.client.command = lambda *of: ["yolo" if it == "auto_edit" else it for it in command(*of)]
        place.client.consent = lambda program: [program, "extensions", "install", of_agent, "--consent"]
    try:
        model = place.talk([[USAGES], *own])
        first = model.requests[0]
        loaded = {it.removeprefix("mcp_semdex_") for it in first.verbs()}
        check(ALWAYS <= loaded, f"the first request offers only {loaded}")
        check("Code questions: semdex" in first.all(), "the first request does not say what to ask", first.all())
        check("2 usages of function" in model.said(0), "`usages` was not answered", model.said(0))
        check("src/loud.rs:4" in model.said(2), "the hook's text is not in the next request", model.said(2))
    finally:
        place.close()


def search(binary, agent):
    """Without `alwaysLoad` in `.mcp.json`, as in a plugin, the five that count are loaded all the same, and a search finds the others."""
    questions = {"find references": "usages", "go to definition": "describe", "who calls this function": "usages", "rename a symbol": "rename", "what breaks if I change this": "impact"}
    place = Place(binary, agent)
    # The configuration is written before the first session begins.
    original = place.configure

    def configure(address):
        original(address)
        file = place.root / ".mcp.json"
        server = json.loads(file.read_text())
        del server["mcpServers"]["semdex"]["alwaysLoad"]
        file.write_text(json.dumps(server))

    place.configure = configure
    try:
        model = place.talk([[("ToolSearch", {"query": it, "max_results": 5})] for it in questions])
        loaded = model.requests[0].verbs()
        check(loaded == ALWAYS, f"the first request loads {sorted(loaded)}")
        for at, (question, verb) in enumerate(questions.items()):
            found = verb in loaded or f"mcp__semdex__{verb}" in json.dumps(model.requests[at + 1].body)
            check(found, f"{question!r} does not find `{verb}`", model.said(at))
    finally:
        place.close()


def worktree(binary, agent):
    """After EnterWorktree an edit and a question are about the worktree; the main checkout stays as it is."""
    place = Place(binary, agent)
    try:
        model = place.talk([[("EnterWorktree", {"name": "side"})], [EDIT], [USAGES]])
        trees = [it for it in (place.root / ".claude/worktrees").iterdir() if it.is_dir()]
        check(len(trees) == 1, f"there are {trees}", model.said(0))
        check(HEAD in place.read("src/lib.rs"), "the edit went into the main checkout", model.said(1))
        check(NEW_HEAD in place.read("src/lib.rs", trees[0]), "the edit is not in the worktree", model.said(1))
        check(str(trees[0]) in model.said(1), "the reply does not name the worktree", model.said(1))
        check("2 usages" in model.said(2), "`usages` does not answer about the worktree", model.said(2))
    finally:
        place.close()


def worktrees(binary, agent):
    """Two linked worktrees below the root double no name, and a change without a tree is refused once one of them was used."""
    def prepare(place):
        for name in ("one", "two"):
            place.git("worktree", "add", "-q", f".claude/worktrees/{name}", "-b", name)

    place = Place(binary, agent, prepare=prepare)
    other = str(place.root / ".claude/worktrees/two")
    try:
        model = place.talk([[USAGES], [("semdex:usages", {"symbol": "greeter::greet", "workspace": other})], [EDIT], [(EDIT[0], {**EDIT[1], "workspace": other})]])
        check("2 usages of function" in model.said(0), "a worktree below the root counts", model.said(0))
        check("2 usages of function" in model.said(1), "the other worktree does not answer", model.said(1))
        check("ambiguous_tree" in model.said(2) and other in model.said(2), "a change without a tree is not refused", model.said(2))
        check("Edit successful" in model.said(3) and NEW_HEAD in place.read("src/lib.rs", pathlib.Path(other)), "the named tree is not edited", model.said(3))
        check(HEAD in place.read("src/lib.rs"), "the main checkout was edited")
    finally:
        place.close()


def restart(binary, agent):
    """The server ends between two calls: the second is answered by the next server."""
    place = Place(binary, agent)

    def after_stop(_):
        place.semdex("stop")
        return [USAGES]

    try:
        model = place.talk([[USAGES], after_stop, [EDIT]])
        check("2 usages of function" in model.said(1), "no answer after the server ended", model.said(1))
        check(NEW_HEAD in place.read("src/lib.rs"), "no edit after the server ended", model.said(2))
    finally:
        place.close()


def together(binary, agent):
    """Two sessions at once edit the same file at different places; neither loses its edit."""
    place = Place(binary, agent)
    both = threading.Barrier(2, timeout=60)
    body = 'format!("Hello, {name}")'

    def edit(search, replacement):
        def step(_):
            both.wait()
            return [("semdex:edit", {"file": "src/lib.rs", "search_context": search, "replacement": replacement})]
        return step

    steps = [[[USAGES], edit("pub mod loud;", "pub mod loud; // first")], [[USAGES], edit(body, f"{body} // second")]]
    try:
        place.talk([[USAGES]])
        failed = []

        def session(of):
            try:
                place.talk(of)
            except Wrong as wrong:
                failed.append(str(wrong))

        threads = [threading.Thread(target=session, args=(it,)) for it in steps]
        for it in threads:
            it.start()
        for it in threads:
            it.join()
        check(not failed, "\n".join(failed))
        text = place.read("src/lib.rs")
        check("// first" in text and "// second" in text, "an edit was lost", text)
    finally:
        place.close()


def patience(binary, agent):
    """A call that takes longer than the agent waits in silence is answered, since it sends its progress."""
    slow = "#[test]\nfn slow() {\n    std::thread::sleep(std::time::Duration::from_secs(66));\n}\n"
    place = Place(binary, agent, {**FILES, "tests/slow.rs": slow})
    try:
        model = place.talk([[("semdex:verify", {"kind": "test"})]], timeout=400)
        check("1 passed" in model.said(0), "the answer after 66 s did not arrive", model.said(0))
    finally:
        place.close()


SCENARIOS = {
    everyday: list(CLIENTS), hook: ["claude", "gemini", "opencode"], plugin: ["claude", "gemini"], search: ["claude"], worktree: ["claude"],
    worktrees: ["codex"], restart: ["claude", "opencode"], together: ["claude"], patience: list(CLIENTS),
}


def install():
    directory = TOOLS / "agents"
    kept = directory / "package.json"
    if not kept.exists() or kept.read_bytes() != PINS.read_bytes():
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        shutil.copy(PINS, directory / "package.json.new")
        (directory / "package.json.new").rename(kept)
        command = ["npm", "install", "--silent", "--no-fund", "--no-audit", "--no-package-lock", "--ignore-scripts"]
        if subprocess.run(command, cwd=directory).returncode:
            shutil.rmtree(directory)
            sys.exit("the agents cannot be installed from npm")
    return directory / "node_modules"


def enter_namespace():
    """Begins again where there is no network but the loopback interface."""
    if os.environ.get(INSIDE):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    # The processes that an agent leaves behind (Cline has a daemon) end with the namespace.
    alone = ["unshare", "--net", "--pid", "--fork", "--mount-proc", "--kill-child"]
    if os.geteuid() != 0:
        # Without privileges a user namespace allows it.
        alone.append("--map-root-user")
    os.execvpe(alone[0], [*alone, sys.executable, "-B", *sys.argv], {**os.environ, INSIDE: "1"})


def main(binary, *chosen):
    binary = pathlib.Path(binary).resolve()
    failed = []
    for scenario, agents in SCENARIOS.items():
        for agent in agents:
            name = f"{scenario.__name__}:{agent}"
            if chosen and name not in chosen and scenario.__name__ not in chosen:
                continue
            print(f"== {name}", flush=True)
            try:
                scenario(binary, agent)
            except Wrong as wrong:
                failed.append(name)
                print(f"FAILED {name}: {wrong}", flush=True)
            except Exception:
                failed.append(name)
                traceback.print_exc()
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")
    print(json.dumps({"agents": "fine"}))


if __name__ == "__main__":
    modules = install()
    enter_namespace()
    PROGRAMS = programs(modules)
    main(*sys.argv[1:])
