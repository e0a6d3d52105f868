"""What Go's type checker says of a mutated workspace: all errors of all packages and tests, by `checker/`, and how long the go command's
own `go build` and `go vet` take, which stop at a package that fails."""

import contextlib
import json
import os
import pathlib
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent


class Compiler:
    name = "go build && go vet"

    def __init__(self, root, directory):
        self.root = pathlib.Path(root).resolve()
        self.environment = dict(os.environ)
        self.checker = pathlib.Path(directory) / "checker"
        subprocess.run(["go", "build", "-o", self.checker, "."], cwd=HERE / "checker", env=self.environment, check=True)
        no_module = {"vendor", "testdata"}
        self.modules = [it.parent for it in self.root.rglob("go.mod") if not no_module & set(it.relative_to(self.root).parts)]
        self._compile()
        self.before = self._check()

    def _compile(self):
        begin = time.monotonic()
        for module in self.modules:
            for command in (["go", "build", "-gcflags=-e", "./..."], ["go", "vet", "./..."]):
                subprocess.run(command, cwd=module, env=self.environment, capture_output=True)
        return time.monotonic() - begin

    def _check(self):
        done = subprocess.run([self.checker, str(self.root)], cwd=self.root, env=self.environment, capture_output=True, check=True)
        found = map(json.loads, done.stdout.splitlines())
        return {(it["file"], it["line"], it["line"], "", it["message"]) for it in found}

    def broken(self, file, text):
        with self._edited(file, text):
            found = self._check()
        return sorted(found - self.before), [], [], []

    def seconds(self, file, text):
        """How long a warm incremental run takes after one edit of the healthy workspace."""
        with self._edited(file, text):
            return self._compile()

    @contextlib.contextmanager
    def _edited(self, file, text):
        path = self.root / file
        old = path.read_text()
        path.write_text(text)
        try:
            yield
        finally:
            path.write_text(old)


def lies_in(_file, _sources):
    return False
