"""Where a place stands and what it is made of: recall and precision are told for each stratum beside the whole."""

import os
import re

BORROW_CHECKER = re.compile(r"E0(37[31]|38[1-4]|499|50[0-9]|51[0-5]|521|59[4-79]|621|71[2-36]|716)")
TRAITS = re.compile(r"E0(038|04[6-9]|050|053|117|119|185|186|195|199|20[0-7]|220|271|276|277|323|324|325|326|407|437|438)")
MACRO_CALL = re.compile(r"\b\w+!\s*[(\[{]|\bmacro_rules!")
TEST_MODULE = re.compile(r"^\s*#\[cfg\(test\)\]")

WHERE = ["same file", "same crate", "across crates"]


class Strata:
    """The places of one language's workspace. A crate is a package of Cargo's, or a package of Go's."""

    def __init__(self, root, language):
        self.root, self.language = root, language

    def of(self, place, edited, lines):
        """The strata of a place, which is (file, first line, last line, code, message), with the lines of its file."""
        file, first, last, code, _ = place
        found = ["same file" if file == edited else "same crate" if self._crate(file) == self._crate(edited) else "across crates"]
        if self._is_test(file, first, lines):
            found.append("tests, examples, benches")
        text = "\n".join(lines[first - 1 : last])
        if self.language == "rust":
            if text.lstrip().startswith("#["):
                found.append("macro output")
            elif MACRO_CALL.search(text):
                found.append("macro input")
            if TRAITS.fullmatch(code or ""):
                found.append("traits")
            if BORROW_CHECKER.fullmatch(code or ""):
                found.append("borrow checker")
        elif "does not implement" in place[4] or "missing method" in place[4]:
            found.append("interfaces")
        return found

    def _crate(self, file):
        directory = os.path.dirname(file)
        if self.language == "rust":
            while directory and not (self.root / directory / "Cargo.toml").exists():
                directory = os.path.dirname(directory)
        return directory

    def _is_test(self, file, line, lines):
        if self.language == "go":
            return file.endswith("_test.go")
        if {"tests", "examples", "benches"} & set(file.split("/")[:-1]):
            return True
        return any(TEST_MODULE.match(it) for it in lines[: line - 1])
