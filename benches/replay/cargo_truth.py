"""What `cargo check` reports of a patched tree. Each answer is computed once and kept on disk.

A base is checked out into one directory per repository, so that Cargo reuses what an earlier base compiled. Each patch
is applied there, and taken back by git.
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

import semdex_client as semdex

CHECK = ["cargo", "check", "--workspace", "--all-targets", "--keep-going", "--message-format=json"]
PATIENCE = 1200.0
# Errors of the phases behind the type check.
BORROWS = set("E0373 E0381 E0382 E0384 E0493 E0499 E0501 E0502 E0503 E0505 E0506 E0507 E0509 E0510 E0515 E0521 E0594 E0596 E0597 E0621 E0626 E0700 E0712 E0713 E0716".split())
LIFETIMES = re.compile(r"lifetime may not live long enough|does not live long enough|higher-ranked lifetime error|not general enough")


def is_borrow(error):
    return error["code"] in BORROWS or bool(LIFETIMES.search(error["message"]))


def key(record):
    return hashlib.sha256(f"{record['base']}\0{record['patch']}".encode()).hexdigest()[:20]


class Tree:
    """A checkout of a base as a git repository of its own. Its lock file is what Cargo resolves, or what `kept` has."""

    def __init__(self, root, repository, base, kept=None):
        self.root = pathlib.Path(root).resolve()
        if self.root.exists():
            shutil.rmtree(self.root)
        self.root.mkdir(parents=True)
        archive = subprocess.Popen(["git", "--git-dir", str(repository), "archive", base], stdout=subprocess.PIPE)
        subprocess.run(["tar", "x", "-C", str(self.root)], stdin=archive.stdout, check=True)
        if archive.wait():
            raise semdex.Failed(f"{repository} has no commit {base}")
        lock = self.root / "Cargo.lock"
        if kept and kept.exists():
            shutil.copyfile(kept, lock)
        self.git("init", "--quiet")
        self.git("add", "--all", "--force")
        self.commit()

    def commit(self):
        identity = ["-c", "user.name=replay", "-c", "user.email=replay@example.invalid"]
        self.git(*identity, "commit", "--quiet", "--no-verify", "--allow-empty", "--message", "base")

    def git(self, *arguments, **options):
        return subprocess.run(["git", "-c", "core.autocrlf=false", *arguments], cwd=self.root, check=True, capture_output=True, **options).stdout

    def apply(self, patch):
        """The changed files: (status of git, name)."""
        text = patch.rstrip("\n").encode() + b"\n"
        try:
            self.git("apply", "--index", "--whitespace=nowarn", "-", input=text)
        except subprocess.CalledProcessError:
            # A recorded patch may be without the blank context at its end, and count its lines wrong.
            self.git("apply", "--index", "--recount", "--whitespace=nowarn", "-", input=text)
        fields = iter(os.fsdecode(self.git("diff", "--cached", "--name-status", "--no-renames", "-z", "HEAD")).split("\0")[:-1])
        return [(status, next(fields)) for status in fields]

    def reset(self):
        self.git("reset", "--quiet", "--hard", "HEAD")
        self.git("clean", "--quiet", "--force", "-d", "-x")


class Truth:
    def __init__(self, cache, repository, directory, target, only_kept=False, features=None):
        """`features`: a list separated by commas, or `all`; else the default ones."""
        self.cache, self.repository, self.directory, self.target = map(pathlib.Path, (cache, repository, directory, target))
        self.only_kept, self.features = only_kept, features
        self.base, self.tree = None, None
        self.cache.mkdir(parents=True, exist_ok=True)

    def lock(self, base):
        return self.cache / f"{base}.lock"

    def of_base(self, base):
        """{"checks": whether the base compiles, "errors": …}"""
        return self._kept(f"base-{base}", lambda: self._try_base(base))

    def of(self, record):
        """{"errors": […], "seconds": …, "files": …, "cargo": what Cargo itself says where it does not get to compile}, without the base's."""
        told = self._kept(key(record), lambda: self._try(record))
        known = {without_lines(it) for it in self.of_base(record["base"])["errors"]}
        if not told or not known or "errors" not in told:
            return told
        errors = [it for it in told["errors"] if without_lines(it) not in known]
        return {**told, "errors": errors, "succeeded": told["succeeded"] or not errors and not told["cargo"]}

    def _kept(self, name, compute):
        kept = self.cache / f"{name}.json"
        if kept.exists():
            return json.loads(kept.read_text())
        if self.only_kept:
            return None
        answer = compute()
        kept.write_text(json.dumps(answer))
        return answer

    def _try_base(self, base):
        """With the lock file of the base; else with the newest dependencies, since old ones may not compile any more."""
        for update in (False, True):
            self._enter(base)
            lock = self.tree.root / "Cargo.lock"
            had_lock = lock.exists()
            if update:
                if not had_lock:
                    break
                lock.unlink()
            answer = self._check()
            answer["checks"] = answer["succeeded"]
            answer["updated"] = update
            if answer["checks"] or not had_lock:
                break
        if lock.exists():
            shutil.copyfile(lock, self.lock(base))
        self.base = None
        return answer

    def _enter(self, base):
        if self.base != base:
            self.tree, self.base = Tree(self.directory, self.repository, base, self.lock(base)), base
            if self.lock(base).exists():
                # Warm: the time of a patch is the time of an incremental run.
                self._check()

    def _try(self, record):
        self._enter(record["base"])
        try:
            files = self.tree.apply(record["patch"])
            return {**self._check(), "files": files}
        except subprocess.CalledProcessError as error:
            return {"unappliable": error.stderr.decode(errors="replace")[:500], "files": []}
        finally:
            self.tree.reset()

    def _check(self):
        return check(self.tree.root, ".", self.target, self.features)

    # Other workspaces of the tree ------------------------------------------------------------------------------------------

    def others_of_base(self, base, tree):
        """The other workspaces of the tree (a `fuzz/`, a package that Cargo's workspace excludes) that compile in the base."""
        return self._kept(f"others-{base}", lambda: [it for it in other_workspaces(tree.root) if check(tree.root, it, self.target)["succeeded"]])

    def others(self, record, tree):
        """The errors in those, of the patch that the tree has."""
        directories = self.others_of_base(record["base"], tree) or []
        compute = lambda: [error for it in directories for error in check(tree.root, it, self.target)["errors"]]
        return (self._kept(f"{key(record)}-others", compute) or []) if directories else []


def other_workspaces(root):
    """Directories with a manifest that the workspace of the root does not have as a member."""
    told = subprocess.run(["cargo", "metadata", "--format-version", "1", "--no-deps"], cwd=root, capture_output=True, text=True)
    members = {pathlib.Path(it["manifest_path"]) for it in json.loads(told.stdout)["packages"]} if told.returncode == 0 else set()
    found = []
    for manifest in sorted(root.rglob("Cargo.toml")):
        directory = manifest.parent.relative_to(root)
        if manifest not in members and directory.parts and "target" not in directory.parts and not any(directory.is_relative_to(it) for it in found):
            found.append(directory)
    return [it.as_posix() for it in found]


def without_lines(error):
    """What an error is, wherever its lines have moved."""
    return error["code"], error["message"], error["target"], tuple(sorted({it[0] for it in error["places"]}))


def check(root, directory, target, features=None):
    """What `cargo check` reports of the workspace in this directory of the tree."""
    chosen = [] if not features else ["--all-features"] if features == "all" else ["--features", features]
    # Lints are a workspace's policy, and would end a crate before its errors are reported.
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target), "CARGO_INCREMENTAL": "1", "RUSTFLAGS": "--cap-lints=warn"}
    begin = time.monotonic()
    done = subprocess.run(CHECK + chosen, cwd=root / directory, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    took = time.monotonic() - begin
    errors, seen = [], set()
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message.get("reason") != "compiler-message" or message["message"]["level"] != "error":
            continue
        inner = message["message"]
        places = sorted({it for it in (place(root, directory, span) for span in inner["spans"]) if it})
        if not inner["spans"] and inner["message"].startswith("aborting"):
            continue
        one = json.dumps([inner["message"], places])
        if one not in seen:
            seen.add(one)
            code = (inner["code"] or {}).get("code") or ""
            errors.append({"code": code, "message": inner["message"], "places": places, "target": message["target"]["name"], "rendered": inner["rendered"][:1500]})
    cargo = None if errors or not done.returncode else done.stderr[-3000:]
    return {"succeeded": done.returncode == 0, "errors": errors, "seconds": took, "cargo": cargo}


def place(root, directory, span):
    """(file, first line, last line, whether it is in the output of a macro) of a primary span, in the text of the tree."""
    if not span["is_primary"]:
        return None
    in_macro = False
    while span:
        path = pathlib.Path(os.path.normpath(root / directory / span["file_name"]))
        if path.is_relative_to(root) and path.exists():
            return path.relative_to(root).as_posix(), span["line_start"], span["line_end"], in_macro
        span, in_macro = (span.get("expansion") or {}).get("span"), True
    return None
