"""Random small Go workspaces of unusual shapes, with the truth of what each symbol is and who names it."""

import random

import go_items
from go_items import File, Offer
from recorded import OPEN, RECORD, SHUT, Names, Workspace, fill

VERSION = "1.24"


class Module:
    """A Go module. `offers` is what its public packages offer."""

    def __init__(self, go, directory, path):
        self.go, self.directory, self.path = go, directory, path
        self.packages, self.required, self.extra_lines = [], [], []
        go.modules.append(self)

    def file(self, name):
        return f"{self.directory}/{name}" if self.directory else name

    def requires(self, other, how):
        """`how`: "replace" in go.mod; with "work" the go.work of the root leads there."""
        self.required.append((other, how))

    def manifest(self):
        lines = [f"module {self.path}", "", f"go {VERSION}", ""]
        steps = self.directory.count("/") + 1 if self.directory else 0
        for other, how in self.required:
            lines.append(f"require {other.path} v0.0.0")
            if how == "replace":
                place = ("../" * steps or "./") + other.directory
                lines.append(f"replace {other.path} => {place.rstrip('/') or './'}")
        return "\n".join(lines + self.extra_lines) + "\n"


class Package:
    """A package directory of a module: some declarations in two files."""

    def __init__(self, go, module, directory, count=3, without=()):
        self.go, self.module, self.names, self.chance = go, module, go.names, go.chance
        self.directory = module.file(directory) if directory else module.directory
        self.import_path = f"{module.path}/{directory}" if directory else module.path
        self.name = self.import_path.rsplit("/", 1)[-1]
        self.names.enter(self)
        made = go_items.some(self.names, self.chance, count, self.import_path, without)
        self.offers, self.own = made.offers, made.own
        # What code of the package can use: its own code, and the packages before it.
        self.seen = []
        file = self.open()
        file.add(made.text)
        self.save(f"{go.names.word()}.go", file)
        module.packages.append(self)

    def open(self, external=False, constraint=""):
        package = f"{self.name}_test" if external else self.name
        return File(package, f"{self.import_path}_test" if external else self.import_path, self.chance, constraint)

    def save(self, name, file):
        self.go.add(f"{self.directory}/{name}" if self.directory else name, file.text())

    def users(self, *others):
        """A file that uses what other packages offer."""
        self.names.enter(self)
        self.seen += [offer for other in others for offer in other.offers]
        file = self.open()
        # A consumer is offered on, so that packages are used across several steps.
        consumer = self.names.camel()
        file.consumer(consumer, self.seen + self.offers + self.own)
        self.save(f"{self.names.word()}.go", file)
        self.offers.append(Offer(fill("@‹it›()", it=consumer), self.import_path))

    def tests(self, external=False, offers=()):
        """A test file; `offers` are of further packages."""
        self.names.enter(f"{self.import_path}_test" if external else self)
        file = self.open(external)
        consumer, test = self.names.lower_camel(), self.names.camel()
        test.name = f"Test{test.name}"
        file.consumer(consumer, self.offers + list(offers) + ([] if external else self.own))
        file.imports["testing"] = None
        self.names.keep(test)
        file.add(fill("func ‹+test›(t *testing.T) {\n\tif ‹it›() < 0 {\n\t\tt.Fatal()\n\t}\n}\n", test=test, it=consumer))
        self.save(f"{self.names.word()}_test.go", file)


class Go(Workspace):
    def __init__(self, seed):
        self.chance = random.Random(f"go {seed}")
        super().__init__(Names(self.chance))
        self.modules, self.commands = [], []
        # (flags of the go command, GOOS or None) for builds of the first module that differ from the usual one.
        self.extra_builds, self.has_work = [], False
        self.environment = {"GOFLAGS": "", "GOWORK": "", "GOPROXY": "off", "GOTOOLCHAIN": "local"}

    def word(self):
        return self.names.word().replace("_", "")


# Shapes: each takes the workspace and its first module -----------------------------------------------------------------


def two_tests(go, core):
    """Tests inside and outside the package; `export_test.go` shows the outer ones what is not exported."""
    package = go.chance.choice(core.packages)
    package.tests()
    package.names.enter(package)
    shown, hidden = go.names.camel(), go.names.lower_camel()
    file = package.open()
    file.add(fill("func ‹+hidden›() int {\n\treturn 3\n}\n", hidden=hidden))
    package.save(f"{go.names.word()}.go", file)
    file = package.open()
    file.add(fill("var ‹+shown› = ‹hidden›\n", shown=shown, hidden=hidden))
    package.save("export_test.go", file)
    package.tests(external=True, offers=[Offer(fill("@‹shown›()", shown=shown), package.import_path)])


def dot_import(go, core):
    package = go.chance.choice(core.packages)
    package.names.enter(f"{package.import_path}_test")
    file = package.open(external=True)
    file.imports[package.import_path] = "."
    consumer, test = go.names.lower_camel(), go.names.camel()
    file.consumer(consumer, package.offers)
    file.imports["testing"] = None
    file.add(fill("func Test‹~test›(t *testing.T) {\n\t_ = ‹it›()\n}\n", test=test, it=consumer))
    package.save(f"{go.names.word()}_test.go", file)


def helper_package(go, core):
    """`internal/testing…`: a package that only tests of several packages import."""
    helper = Package(go, core, f"internal/{go.word()}", 2)
    core.packages.remove(helper)
    for package in core.packages[:2]:
        package.tests(go.chance.random() < 0.5, helper.offers)


def program(go, core):
    package = Package(go, core, f"cmd/{go.word()}", 2)
    core.packages.remove(package)
    rewritten(go, package)
    package.name = "main"
    package.names.enter(package)
    file = package.open()
    consumer = go.names.lower_camel()
    file.consumer(consumer, [offer for it in core.packages for offer in it.offers] + package.offers + package.own, 6)
    file.add(fill("func main() {\n\tprintln(‹it›())\n}\n", it=consumer))
    package.save("main.go", file)


def rewritten(go, package):
    """The files of a package say that it is a program."""
    for name in [it for it in go.files if it.rsplit("/", 1)[0] == package.directory]:
        go.files[name] = go.files[name].replace(f"package {package.name}\n", "package main\n", 1)


def ignored_program(go, core):
    """`//go:build ignore`: a program in the directory of another package."""
    package = go.chance.choice(core.packages)
    go.names.enter(f"{package.import_path} ignored")
    file = File("main", "main", go.chance, "ignore")
    consumer = go.names.lower_camel()
    file.consumer(consumer, package.offers)
    file.add(fill("func main() {\n\tprintln(‹it›())\n}\n", it=consumer))
    name = f"{go.names.word()}.go"
    package.save(name, file)
    below = package.directory.removeprefix(core.directory).strip("/")
    go.commands.append(["go", "vet", f"./{below}/{name}" if below else f"./{name}"])


def tagged(go, core):
    """One function in two files, of which a build has one; and a file under a tag that uses others."""
    package = go.chance.choice(core.packages)
    package.names.enter(package)
    one = go.names.camel()
    two, used, extra = go.names.same(one), go.names.lower_camel(), go.names.camel()
    tag = go.chance.choice([go.word(), "linux", "windows"])
    for constraint, symbol in ((tag, one), (f"!{tag}", two)):
        file = package.open(constraint=constraint)
        file.add(fill("func ‹+it›() int {\n\treturn ‹used›()\n}\n", it=symbol, used=used))
        if symbol is one:
            file.consumer(extra, package.offers + package.own + package.seen)
        package.save(f"{go.names.word()}.go", file)
    file = package.open()
    file.add(fill("func ‹+it›() int {\n\treturn 1\n}\n", it=used))
    package.save(f"{go.names.word()}.go", file)
    package.offers.append(Offer(fill("@‹both›()", both=[one, two]), package.import_path))
    package.users()
    where = [] if tag in ("linux", "windows") else ["-tags", tag]
    go.extra_builds.append((where, tag if tag == "windows" else None))


def by_system(go, core):
    """`name_linux.go` and `name_windows.go`."""
    package = go.chance.choice(core.packages)
    package.names.enter(package)
    one = go.names.camel()
    two, used, base = go.names.same(one), go.names.lower_camel(), go.names.word()
    for system, symbol in (("linux", one), ("windows", two)):
        file = package.open()
        file.add(fill("func ‹+it›() int {\n\treturn ‹used›()\n}\n", it=symbol, used=used))
        package.save(f"{base}_{system}.go", file)
    file = package.open()
    file.add(fill("func ‹+it›() int {\n\treturn 1\n}\n", it=used))
    file.consumer(go.names.lower_camel(), [Offer(fill("@‹both›()", both=[one, two]), package.import_path)])
    package.save(f"{go.names.word()}.go", file)
    go.extra_builds.append(([], "windows"))


def generated(go, core):
    package = go.chance.choice(core.packages)
    package.names.enter(package)
    file = package.open()
    file.head = "// Code generated by a tool. DO NOT EDIT.\n\n"
    consumer = go.names.lower_camel()
    file.consumer(consumer, package.offers + package.own)
    package.save(f"zz_{go.names.word()}.go", file)
    file = package.open()
    file.consumer(go.names.camel(), [Offer(fill("‹it›()", it=consumer), package.import_path)])
    package.save(f"{go.names.word()}.go", file)


def second_module(go, core, how="replace"):
    """A module beside the first, which uses it: by `replace`, or by the `go.work` of the root."""
    word = go.word()
    module = Module(go, word if core.directory else f"tools/{word}", f"example.org/{word}")
    module.requires(core, how)
    # A replacement counts in the main module alone.
    module.required += core.required
    package = Package(go, module, "", 2)
    package.users(*(it for it in core.packages if "/internal/" not in it.import_path))
    package.tests(go.chance.random() < 0.5)


def used_module(go, core, how="replace"):
    """A module which the first one uses."""
    word = go.word()
    module = Module(go, f"lib/{word}", f"example.org/lib/{word}")
    package = Package(go, module, "", 3)
    core.requires(module, how)
    go.chance.choice(core.packages).users(package)
    for other in go.modules:
        if other is not core and any(it is core for it, _ in other.required):
            other.requires(module, how)


def work(go, core):
    """Modules that only `go.work` connects."""
    go.chance.choice([second_module, used_module])(go, core, "work")
    go.has_work = True


def copied(go, core):
    """Code that was copied in, with the names of what it was copied from."""
    package = go.chance.choice(core.packages)
    word = go.word()
    # The methods of a copied interface would correspond to those of the first.
    copy = Package(go, core, f"third_party/{word}", 3, without=[go_items.interface])
    core.packages.remove(copy)
    for name in [it for it in go.files if it.rsplit("/", 1)[0] == copy.directory]:
        again = f"third_party/{word}/copy/{word}"
        go.add(core.file(f"{again}/{name.rsplit('/', 1)[1]}"), duplicate(go, go.files[name]))
    package.users(copy)


def implemented(go, core):
    """An interface of one package, implemented and embedded in another, and used by the tests of both."""
    first = go.chance.choice(core.packages)
    first.names.enter(first)
    kind, take = go.names.camel(), go.names.camel()
    method = go.names.single()
    file = first.open()
    theirs = go.names.same(method)
    text = """type ‹+kind› interface {
	‹+method/theirs›() int
}

func ‹+take›(it ‹kind›) int {
	return it.‹method/theirs›()
}
"""
    file.add(fill(text, kind=kind, method=method, theirs=theirs, take=take))
    first.save(f"{go.names.word()}.go", file)
    second = Package(go, core, f"pkg/{go.word()}", 1)
    core.packages.remove(second)
    second.names.enter(second)
    file = second.open()
    own, wide, embedded, user = go.names.camel(), go.names.camel(), go.names.same(kind), go.names.camel()
    go.names.keep(method, theirs, user)
    text = """type ‹+own› struct{ ‹+field› int }

func (it *‹own›) ‹+theirs/method›() int {
	return it.‹field›
}

type ‹+wide› struct {
	@‹+embedded/kind›
}

func ‹+user›() int {
	one := &‹own›{‹field›: 2}
	two := ‹wide›{‹embedded/kind›: one}
	return @‹take›(one) + @‹take›(two) + two.‹method/theirs›() + one.‹theirs/method›() + two.‹embedded/kind›.‹method/theirs›()
}
"""
    symbols = dict(own=own, field=go.names.camel(), wide=wide, embedded=embedded, user=user, kind=kind, method=method, theirs=theirs, take=take)
    file.add(file.use(Offer(fill(text, **symbols), first.import_path)))
    second.save(f"{go.names.word()}.go", file)
    second.tests(go.chance.random() < 0.5)


def vendored(go, core):
    """A package in `vendor/`, which the go command takes from there. A workspace of several modules cannot have it so."""
    if len(go.modules) > 1:
        return
    word = go.word()
    path = f"example.net/{word}"
    go.names.enter(path)
    made = go_items.some(go.names, go.chance, 3, path, [go_items.interface])
    file = File(word, path, go.chance)
    file.add(made.text)
    go.add(core.file(f"vendor/{path}/{go.names.word()}.go"), file.text())
    go.add(core.file("vendor/modules.txt"), f"# {path} v1.0.0\n## explicit; go {VERSION}\n{path}\n")
    core.extra_lines.append(f"require {path} v1.0.0")
    package = go.chance.choice(core.packages)
    package.names.enter(package)
    file = package.open()
    file.consumer(go.names.camel(), made.offers)
    package.save(f"{go.names.word()}.go", file)


def duplicate(go, text):
    """The same text with symbols of its own."""
    twins = {}

    def other(mark):
        sign, numbers, shown = mark.groups()
        those = []
        for number in numbers.split(","):
            if number not in twins:
                twins[number] = go.names.same(go.names.symbols[int(number)])
                twins[number].is_kept = go.names.symbols[int(number)].is_kept
            those.append(str(twins[number].number))
        return f"{OPEN}{sign}{','.join(those)}:{shown}{SHUT}"

    return RECORD.sub(other, text)


SHAPES = [
    copied,
    implemented,
    helper_package,
    generated,
    tagged,
    by_system,
    used_module,
    work,
    second_module,
    two_tests,
    dot_import,
    program,
    ignored_program,
    vendored,
]


def generate(seed):
    go = Go(seed)
    chance = go.chance
    core = Module(go, chance.choice(["", "", go.word()]), f"example.com/{go.word()}")
    for number in range(chance.randint(2, 3)):
        directory = "" if number == 0 and core.directory == "" and chance.random() < 0.5 else chance.choice(["", "internal/", "pkg/"]) + go.word()
        package = Package(go, core, directory)
        if core.packages[:-1]:
            package.users(*core.packages[:-1])
    drawn = set(chance.sample(range(len(SHAPES)), chance.randint(4, 7)))
    for at in sorted(drawn):
        SHAPES[at](go, core)
        go.shapes.append(SHAPES[at].__name__)
    for module in go.modules:
        go.add(module.file("go.mod"), module.manifest())
    # A root without a module of its own needs a go.work to be one workspace.
    if go.has_work or (core.directory and len(go.modules) > 1):
        uses = "".join(f"use ./{it.directory}\n" if it.directory else "use .\n" for it in go.modules)
        go.add("go.work", f"go {VERSION}\n\n{uses}")
    for module in go.modules:
        go.checks += [(module.directory, ["go", "build", "./..."]), (module.directory, ["go", "vet", "./..."])]
        for flags, system in go.extra_builds if module is core else []:
            environment = ["env", f"GOOS={system}"] if system else []
            go.checks.append((module.directory, [*environment, "go", "vet", *flags, "./..."]))
    go.checks += [(core.directory, command) for command in go.commands]
    return go
