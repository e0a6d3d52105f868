#!/usr/bin/env python3
"""Commits in 30 states of a repository, and kill -9 at 200 points of a commit.

States: in each a change is made by semdex and committed. Afterwards the commit must hold that file alone, every other entry of the index
must be what it was (object, mode, stage, flags and what the index knows of the file, by `git ls-files --stage --debug -v`), every file of
the work tree must be byte for byte what it was, the committed file must be clean, and nothing of semdex may be left in `.git`.

Kills: in a repository with staged, dirty and untracked files semdex is killed at a random moment of a commit, right after its lock is
seen, or right after HEAD is seen to be moved; every third time together with the git that it runs. After the next start and its first
answer the commit must be made or not made, no lock may be left, every file must be what it was, the index must be what it was but for the
entry of the committed file, and that file clean or plainly dirty.
"""

import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import semdex_client as semdex

FILES = {"a.txt": "one\ntwo\n", "b.txt": "three\n", "dir/c.txt": "four\n", "dir/d.txt": "five\n"}
CONFIG = "[user]\nname = Ada\nemail = ada@x.org\n[init]\ndefaultBranch = main\n[protocol \"file\"]\nallow = always\n[commit]\ngpgSign = false\n"


class Repo:
    """A repository below a directory, with its own git configuration."""

    def __init__(self, directory, files=FILES, init=()):
        self.directory, self.root, self.top = directory, directory / "workspace", directory / "workspace"
        self.root.mkdir(parents=True)
        (directory / "gitconfig").write_text(CONFIG)
        self.environment = {"GIT_CONFIG_GLOBAL": str(directory / "gitconfig"), "GIT_CONFIG_NOSYSTEM": "1"}
        for name, text in files.items():
            self.write(name, text)
        self.git("init", "-q", *init)
        self.git("add", "-A")
        self.git("commit", "-qm", "start")

    def write(self, name, text):
        path = self.root / name if isinstance(name, str) else pathlib.Path(os.fsdecode(os.path.join(os.fsencode(self.root), name)))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def git(self, *arguments, cwd=None, check=True):
        # To look is not to write the index again: `git status` would, and note of a file that was changed in the second in
        # which the index was written, at the same size, that it does not know it.
        environment = {**os.environ, **self.environment, "GIT_OPTIONAL_LOCKS": "0"}
        ran = subprocess.run(["git", *arguments], cwd=cwd or self.root, env=environment, capture_output=True)
        if check and ran.returncode:
            raise semdex.Failed(f"git {arguments}: {ran.stderr.decode(errors='replace')}")
        return ran.stdout.decode(errors="surrogateescape").rstrip("\n")

    def index(self):
        """Each entry by its name: stage, object, flags, and what is known of the file."""
        entries, name = {}, None
        for part in (self.git("ls-files", "--stage", "--debug", "-v", "-z", cwd=self.top) + "\n").split("\0"):
            head = part
            if name is not None:
                # Five lines follow a name, and then the next.
                *debug, head = part.split("\n", 5)
                entries[name].append("\n".join(debug))
            if "\t" in head:
                stat, name = head.split("\t", 1)
                entries[name] = [stat]
        return entries

    def tree(self):
        found = {}
        for directory, names, files in os.walk(os.fsencode(self.top)):
            names[:] = [it for it in names if it != b".git"]
            for name in files + [it for it in names if os.path.islink(os.path.join(directory, it))]:
                path = os.path.join(directory, name)
                if name == b".git":
                    continue
                found[path] = os.readlink(path) if os.path.islink(path) else (os.stat(path).st_mode, pathlib.Path(os.fsdecode(path)).read_bytes())
        return found

    def git_directory(self):
        return pathlib.Path(self.git("rev-parse", "--absolute-git-dir"))

    def left_over(self):
        own, common = self.git_directory(), pathlib.Path(self.root, self.git("rev-parse", "--git-common-dir"))
        locks = [it for directory in {own, common} for it in directory.rglob("*.lock")]
        return [str(it) for it in [*locks, *own.glob("semdex*")]]

    def head(self):
        return self.git("rev-parse", "--verify", "-q", "HEAD", check=False)


# The states: each a function that brings a fresh repository into it. What it returns replaces the repository.


def many(repo):
    for number in range(3000):
        repo.write(f"many/{number % 50}/{number}.txt", f"{number}\n")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "many")
    repo.write("many/1/1.txt", "dirty\n")


def own_partly_staged(repo):
    repo.write("a.txt", "zero\none\ntwo\n")
    repo.git("add", "a.txt")
    repo.write("a.txt", "zero\none\ntwo\nthree\n")


def staged_and_dirty(repo):
    repo.write("b.txt", "staged\n")
    repo.git("add", "b.txt")
    repo.write("b.txt", "dirty\n")


def new_and_intended(repo):
    repo.write("new.txt", "new\n")
    repo.git("add", "new.txt")
    repo.write("later.txt", "later\n")
    repo.git("add", "--intent-to-add", "later.txt")


def gone(repo):
    repo.git("rm", "-q", "b.txt")
    (repo.root / "dir/c.txt").unlink()


def untracked(repo):
    repo.write(".gitignore", "*.log\n")
    repo.write("x.log", "x\n")
    repo.write("deep/er/y.txt", "y\n")


def flags_of_others(repo):
    repo.git("update-index", "--assume-unchanged", "b.txt")
    repo.git("update-index", "--skip-worktree", "dir/c.txt")
    repo.write("b.txt", "unseen\n")
    repo.write("dir/c.txt", "unseen\n")


def split(repo):
    repo.git("config", "core.splitIndex", "true")
    repo.git("update-index", "--split-index")
    staged_and_dirty(repo)


def odd_names(repo):
    repo.write("a \"b\"\n'c'.txt", "odd\n")
    repo.write(b"caf\xe9.txt", "odd\n")
    repo.write("-n", "odd\n")
    repo.write(":(glob)*", "odd\n")
    repo.git("add", "-A")
    repo.write(":(glob)*", "dirty\n")


def link_and_program(repo):
    os.symlink("a.txt", repo.root / "link")
    repo.write("run.sh", "true\n")
    os.chmod(repo.root / "run.sh", 0o755)
    repo.git("add", "-A")


def line_ends(repo):
    repo.git("config", "core.autocrlf", "input")
    (repo.root / "b.txt").write_bytes(b"three\r\nand more\r\n")


def submodule(repo):
    other = repo.directory / "other"
    other.mkdir()
    (other / "s.txt").write_text("six\n")
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "start"]):
        repo.git(*arguments, cwd=other)
    repo.git("submodule", "--quiet", "add", str(other), "sub")
    repo.git("commit", "-qm", "sub")
    (repo.root / "sub/s.txt").write_text("dirty\n")


def unborn(repo):
    shutil.rmtree(repo.root / ".git")
    repo.git("init", "-q")
    repo.git("add", "b.txt")


def stash(repo):
    repo.write("b.txt", "stashed\n")
    repo.git("stash", "-q")


def filtered(repo):
    repo.write(".gitattributes", "b.txt filter=upper\n")
    repo.git("config", "filter.upper.clean", "tr a-z A-Z")
    repo.git("config", "filter.upper.smudge", "tr A-Z a-z")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "attributes")
    repo.write("b.txt", "three and more\n")


def linked(repo):
    main = repo.directory / "main"
    repo.root.rename(main)
    repo.git("worktree", "add", "-q", "-b", "side", str(repo.root), cwd=main)
    repo.write("b.txt", "dirty\n")


def below(repo):
    for name in FILES:
        if not name.startswith("dir/"):
            (repo.root / "inner").mkdir(exist_ok=True)
            repo.git("mv", name, f"inner/{name}")
    repo.git("commit", "-qm", "inner")
    repo.write("dir/c.txt", "dirty\n")
    repo.root = repo.root / "inner"


def lost_index(repo):
    """Everything is staged as deleted, and untracked."""
    (repo.root / ".git/index").unlink()


def packed(repo):
    repo.git("pack-refs", "--all")
    repo.git("gc", "-q")


def replaced(repo):
    """A directory in the place of a file."""
    (repo.root / "b.txt").unlink()
    repo.write("b.txt/inner.txt", "inner\n")
    repo.git("add", "-A")


STATES = {
    "clean": lambda repo: None,
    "another file dirty": lambda repo: repo.write("b.txt", "dirty\n"),
    "another file staged": lambda repo: (repo.write("b.txt", "dirty\n"), repo.git("add", "b.txt")),
    "another file staged and dirty": staged_and_dirty,
    "new and intended files": new_and_intended,
    "deleted files, staged and not": gone,
    "a renamed file": lambda repo: repo.git("mv", "b.txt", "renamed.txt"),
    "untracked and ignored files": untracked,
    "flags of other files": flags_of_others,
    "its own assumed unchanged": lambda repo: repo.git("update-index", "--assume-unchanged", "a.txt"),
    "its own not to be looked at": lambda repo: repo.git("update-index", "--skip-worktree", "a.txt"),
    "its own partly staged": own_partly_staged,
    "a split index": split,
    "an index of version 4": lambda repo: repo.git("update-index", "--index-version", "4"),
    "an untracked cache": lambda repo: (repo.git("update-index", "--untracked-cache"), untracked(repo)),
    "a sparse checkout": lambda repo: repo.git("sparse-checkout", "set", "--no-cone", "/a.txt"),
    "a sparse index": lambda repo: repo.git("sparse-checkout", "set", "--cone", "--sparse-index", "dir"),
    "odd names": odd_names,
    "a link and a program": link_and_program,
    "other line ends": line_ends,
    "a dirty submodule": submodule,
    "before the first commit": unborn,
    "a detached head": lambda repo: (repo.git("checkout", "-q", "--detach"), repo.write("b.txt", "dirty\n")),
    "a stash": stash,
    "a filter": filtered,
    "a linked work tree": linked,
    "a workspace below the top": below,
    "a lost index": lost_index,
    "packed references": packed,
    "a directory for a file": replaced,
    "3,000 files": many,
}


def one_state(options, directory, name, prepare):
    repo = Repo(directory)
    prepare(repo)
    wrong = []

    def must(holds, what):
        if not holds:
            wrong.append(f"{name}: {what}")

    with semdex.Server(options.server_binary, [repo.root], directory=directory / "server", environment=repo.environment) as server:
        client = server.client
        change = client.post("/v1/edit", file="a.txt", search_context="two", replacement="2")["change"]
        index, tree, before = repo.index(), repo.tree(), repo.head()
        bytes_before = (repo.git_directory() / "index").read_bytes() if (repo.git_directory() / "index").exists() else b""
        client.get("/v1/git")
        must(not bytes_before or (repo.git_directory() / "index").read_bytes() == bytes_before, "asking for the state wrote the index")
        began = time.perf_counter()
        made = client.post("/v1/commit", changes=[change])
        took = time.perf_counter() - began
        own = repo.git("ls-files", "--full-name", "a.txt") or "a.txt"
        must(repo.head() == made["commit"] != before, "HEAD is not the commit")
        files = repo.git("diff-tree", "-r", "--root", "--no-commit-id", "--name-only", "-z", "HEAD").strip("\0").split("\0")
        must(files == [own], f"the commit holds {files}")
        must(repo.git("rev-parse", "HEAD^", check=False).startswith(before) if before else True, "its parent is another")
        must(repo.tree() == tree, "the work tree is another")
        now = repo.index()
        was, is_now = index.pop(own, None), now.pop(own, None)
        must(now == index, f"the index is another: {set(now) ^ set(index) or [it for it in now if now[it] != index.get(it)]}")
        must(is_now and (not was or was[0][0] == is_now[0][0]), "the flags of its entry are others")
        must(not repo.git("status", "--porcelain", "a.txt"), "it is dirty")
        must(not repo.left_over(), f"left over: {repo.left_over()}")
        repo.git("fsck", "--strict", "--no-dangling")
        # And back.
        undone = client.post("/v1/undo", commit=made["commit"]) if before else None
        if undone:
            must(undone["commit"] == repo.head(), "the undo is not HEAD")
            must(repo.git("rev-parse", "HEAD^{tree}") == repo.git("rev-parse", f"{before}^{{tree}}"), "the undo does not bring the tree back")
            after = repo.index()
            after.pop(own)
            must(after == index, f"the undo made the index another: {[(it, index.get(it), after.get(it)) for it in sorted(set(after) | set(index)) if after.get(it) != index.get(it)]}")
            must(not repo.git("status", "--porcelain", "a.txt"), "it is dirty after the undo")
    return wrong, took


class Sender(threading.Thread):
    def __init__(self, client, body):
        super().__init__(daemon=True)
        self.client, self.body, self.reply, self.sent = client, json.dumps(body).encode(), None, threading.Event()

    def run(self):
        headers = {"Authorization": f"Bearer {self.client.token}", "Content-Type": "application/json"}
        try:
            self.sent.set()
            self.client._connection.request("POST", "/v1/commit", body=self.body, headers=headers)
            response = self.client._connection.getresponse()
            self.reply = response.status, json.loads(response.read())
        except (OSError, http.client.HTTPException, ValueError):
            pass


def kills(options, directory):
    chance = random.Random(options.seed)
    sys.setswitchinterval(1e-4)
    repo = Repo(directory)
    staged_and_dirty(repo)
    new_and_intended(repo)
    repo.git("update-index", "--assume-unchanged", "dir/d.txt")
    wrong, outcomes, usual, generation = [], {"made": 0, "not made": 0}, 0.1, "two"
    seen_locks, answered, together = 0, 0, 0
    git = repo.git_directory()
    reference = git / "refs/heads/main"
    for number in range(options.kills):
        with semdex.Server(options.server_binary, [repo.root], directory=directory / "server", environment=repo.environment) as server:
            client = server.client
            following = f"generation {number}"
            change = client.post("/v1/edit", file="a.txt", search_context=generation, replacement=following)["change"]
            generation = following
            index, tree, before = repo.index(), repo.tree(), repo.head()
            aim = ("any moment", "lock", "moved")[number % 3]
            sender = Sender(client, {"changes": [change], "message": f"fix: {following}"})
            sender.start()
            sender.sent.wait()
            began = time.perf_counter()
            lock = git / "index.lock"
            if number % 10 == 0:
                sender.join(60.0)
                usual = time.perf_counter() - began
            elif aim == "any moment":
                time.sleep(usual * chance.uniform(0.0, 1.1))
            else:
                until = time.perf_counter() + 5.0
                seen = lock.exists if aim == "lock" else lambda: reference.read_text().strip() != before
                while not seen() and sender.reply is None and time.perf_counter() < until:
                    pass
                time.sleep(chance.uniform(0.0, 0.03 if aim == "lock" else 0.003))
            with_git = number % 3 == 1
            children = semdex.descendants(server.pid) if with_git else []
            server.process.kill()
            for child in children:
                try:
                    os.kill(child, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            together += with_git
            server.process.wait(60.0)
            sender.join(60.0)
            client.close()
            seen_locks += bool(list(git.rglob("*.lock")))
            answered += bool(sender.reply)
        with semdex.Server(options.server_binary, [repo.root], directory=directory / "server", environment=repo.environment) as server:
            server.client.get("/v1/git")
            what = f"kill {number} ({aim}{', git too' if with_git else ''})"
            made = repo.head() != before
            outcomes["made" if made else "not made"] += 1
            if left := repo.left_over():
                wrong.append(f"{what}: left over: {left}")
            if repo.tree() != tree:
                wrong.append(f"{what}: the work tree is another")
            now = repo.index()
            was, is_now = index.pop("a.txt"), now.pop("a.txt", None)
            if now != index or (not made and was != is_now):
                wrong.append(f"{what}: the index is another")
            status = repo.git("status", "--porcelain", "a.txt")
            if status != ("" if made else " M a.txt"):
                wrong.append(f"{what}: {'made' if made else 'not made'}, and its status is {status!r}")
            if made and (repo.git("diff-tree", "-r", "--no-commit-id", "--name-only", "HEAD") != "a.txt" or repo.git("rev-parse", "HEAD^") != before):
                wrong.append(f"{what}: the commit is half made")
            if made and repo.git("show", "HEAD:a.txt") != (repo.root / "a.txt").read_text().rstrip("\n"):
                wrong.append(f"{what}: the commit holds something else")
            if sender.reply and (sender.reply[0] != 200 or not made):
                wrong.append(f"{what}: answered {sender.reply}, and it is {'made' if made else 'not made'}")
            if not made:
                reply = server.client.post("/v1/commit", changes=[change])
                if reply["commit"] != repo.head():
                    wrong.append(f"{what}: the next commit is not HEAD")
        if len(wrong) > 10:
            break
    repo.git("fsck", "--strict", "--no-dangling")
    print(
        f"{options.kills} kills of a commit that takes {usual * 1e3:.0f} ms, {together} of them together with git: {outcomes['made']} made, "
        f"{outcomes['not made']} not made, {answered} answered before; {seen_locks} left a lock that the next answer had taken away"
    )
    print(f"half made, left over or another than it was: {len(wrong)}")
    return wrong


def run(options, directory):
    wrong, times = [], []
    for number, (name, prepare) in enumerate(STATES.items()):
        found, took = one_state(options, directory / f"state-{number}", name, prepare)
        wrong += found
        times.append(took)
    print(f"{len(STATES)} states; a commit takes {semdex.summary(times)}")
    print(f"another than it was, or than what was asked for: {len(wrong)}")
    wrong += kills(options, directory / "kills")
    for it in wrong[:20]:
        print(f"  {it}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    parser = semdex.arguments(__doc__, workspace=False)
    parser.add_argument("--kills", type=int, default=200, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers (default: %(default)s)")
    semdex.main(run, parser.parse_args())
