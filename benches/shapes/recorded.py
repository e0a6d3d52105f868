"""Texts with marks, and the truth that they record: where each symbol is defined, and where it is named.

A generator writes `fill("pub fn ‹+sum›() -> u32 { ‹part›() }", sum=…, part=…)`. The marks stay in the text until the
workspace is written; then the file and byte offset of each are known.

    ‹+a›       defines a
    ‹a›        names a
    ‹a:Self›   names a by another word
    ‹+a/b›     defines a, and may be listed as a usage of b: an item of an implementation, and the trait's item;
               ‹a/b› likewise
    ‹?a›       may be listed as a usage of a or not: what counts there is a matter of definition
    ‹~a›       writes the name of a without naming it: in comments, strings, names of something else
"""

import collections
import pathlib
import re

OPEN, SHUT = "\ue000", "\ue001"
MARK = re.compile(r"‹([+?~]?)(\w+)((?:/\w+)*)(?::([^›]+))?›")
RECORD = re.compile(f"{OPEN}([+?=])([0-9,]+):([^{SHUT}]*){SHUT}")

WORDS = """amber anchor arrow basin beacon birch bridge cedar cinder cobalt copper coral crater delta ember falcon
fennel flint garnet glacier
harbor hazel heron indigo island ivory jasper juniper kestrel lagoon larch lichen linden lupin maple marble meadow mirror nectar nickel nimbus
ocean olive onyx opal orchid otter pebble pepper pine prairie quartz quill raven reef ribbon river saffron sage shadow silver slate sorrel
spruce summit tansy thistle timber topaz tundra umber valley velvet violet walnut willow winter wren yarrow zephyr zinc""".split()


class Symbol:
    """One definition, or the same item defined by several texts of which one build uses one."""

    def __init__(self, number, name):
        self.number, self.name = number, name
        # Not deleted even if nothing names it: it is there for something else.
        self.is_kept = False

    def __repr__(self):
        return f"{self.name}#{self.number}"


class Names:
    """Hands out symbols. Names are unique, but some are taken a second time in a package that cannot see the first."""

    def __init__(self, chance, reuse=0.25):
        self.chance, self.reuse = chance, reuse
        # {name: its two words, with a blank between}
        self.symbols, self.taken = [], {}
        self.of_package, self.package = collections.defaultdict(set), None

    def enter(self, package):
        self.package = package

    def make(self, name, words=""):
        self.symbols.append(Symbol(len(self.symbols), name))
        self.of_package[self.package].add(name)
        self.taken.setdefault(name, words)
        return self.symbols[-1]

    def _made(self, form, reuse=True):
        own = self.of_package[self.package]
        if reuse and self.chance.random() < self.reuse:
            known = [it for it, words in self.taken.items() if words and it not in own and form(words) == it]
            if known:
                return self.make(self.chance.choice(known))
        while True:
            words = " ".join(self.chance.sample(WORDS, 2))
            if form(words) not in self.taken and self._plain(form(words)) not in {self._plain(it) for it in own}:
                return self.make(form(words), words)

    @staticmethod
    def _plain(name):
        return name.replace("_", "").lower()

    def word(self):
        """A name that is no symbol: of a package, a file, a feature."""
        while True:
            name = "_".join(self.chance.sample(WORDS, 2))
            if name not in self.taken:
                self.taken[name] = ""
                return name

    def snake(self):
        return self._made(lambda it: it.replace(" ", "_"))

    def upper(self):
        return self._made(lambda it: it.replace(" ", "_").upper())

    def camel(self):
        return self._made(lambda it: it.title().replace(" ", ""))

    def lower_camel(self):
        return self._made(lambda it: it[0] + it.title().replace(" ", "")[1:])

    def same(self, other):
        """A symbol of its own with the name of another one."""
        return self.make(other.name)

    def single(self):
        """A name that no other symbol has, unless by `same`."""
        symbol = self._made(lambda it: it.title().replace(" ", ""), reuse=False)
        self.taken[symbol.name] = ""
        return symbol

    @staticmethod
    def keep(*symbols):
        for it in symbols:
            it.is_kept = True


def fill(text, **symbols):
    """The text with its marks bound to symbols. A list of symbols is one item that several texts define: all are named."""

    def bound(mark):
        sign, key, also, word = mark.groups()
        those = symbols[key] if isinstance(symbols[key], list) else [symbols[key]]
        shown = word or those[0].name
        if sign == "~":
            return shown
        second = "".join(f"{OPEN}?{symbols[it].number}:{SHUT}" for it in also.split("/")[1:])
        return f"{second}{OPEN}{sign or '='}{','.join(str(it.number) for it in those)}:{shown}{SHUT}"

    return MARK.sub(bound, text)


class Truth:
    """Places are (file, byte offset)."""

    def __init__(self):
        self.definitions = collections.defaultdict(set)
        self.usages = collections.defaultdict(set)
        self.optional = collections.defaultdict(set)


class Workspace:
    """Files with marks, and what is to be run to compile all of it."""

    def __init__(self, names):
        self.names, self.files, self.shapes = names, {}, []
        # (directory, command of the compiler), and the environment of these and of semdex.
        self.checks, self.environment = [], {}

    def add(self, file, text):
        if file in self.files:
            raise ValueError(f"{file} is written twice")
        self.files[file] = text

    def append(self, file, text):
        self.files[file] = self.files.get(file, "") + text

    def write(self, root):
        """Writes everything below `root` and returns the truth."""
        truth = Truth()
        kinds = {"+": truth.definitions, "=": truth.usages, "?": truth.optional}
        for file, text in sorted(self.files.items()):
            written, at = b"", 0
            for mark in RECORD.finditer(text):
                written += text[at : mark.start()].encode()
                sign, numbers, shown = mark.groups()
                for number in numbers.split(","):
                    kinds[sign][int(number)].add((file, len(written)))
                written += shown.encode()
                at = mark.end()
            written += text[at:].encode()
            target = pathlib.Path(root, file)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(written)
        return truth
