"""Declarations of Go, by families: each is a text, and offers of how code elsewhere uses it as an `int`.

In an offer `@` is the qualifier of the package, with its dot, or nothing.
"""

import dataclasses

from recorded import Names, fill


@dataclasses.dataclass
class Offer:
    expression: str
    # The import path of the package.
    package: str = ""


@dataclasses.dataclass
class Family:
    text: str
    # Offers to all, and offers that only the package itself can use.
    offers: list
    own: list = dataclasses.field(default_factory=list)


def function(names, chance):
    total, part = names.camel(), names.lower_camel()
    text = fill(
        """// ‹~total› adds to [‹~part›].
func ‹+total›(start int) int {
	return ‹part›(start) + 1
}

func ‹+part›(start int) int {
	return start + 2
}
""",
        total=total,
        part=part,
    )
    return Family(text, [Offer(fill("@‹total›(2)", total=total))], [Offer(fill("‹part›(3)", part=part))])


def structure(names, chance):
    """Methods by value and by pointer, keyed and unkeyed literals, a field and a method of another type with one name."""
    kind, other, new = names.camel(), names.camel(), names.camel()
    field, hidden, method, change = names.camel(), names.lower_camel(), names.camel(), names.camel()
    namesake, far = names.same(field), names.camel()
    text = fill(
        """type ‹+kind› struct {
	‹+field›  int
	‹+hidden› int
}

type ‹+other› struct {
	‹+far› int
}

// ‹~field› is named like a field of ‹~kind›.
func (it ‹other›) ‹+namesake›() int {
	return it.‹far›
}

func ‹+new›(‹~field› int) *‹kind› {
	return &‹kind›{‹field›: ‹~field›, ‹hidden›: 1}
}

func (it ‹kind›) ‹+method›() int {
	return it.‹field› + it.‹hidden›
}

func (it *‹kind›) ‹+change›(by int) int {
	it.‹hidden› += by
	return it.‹method›()
}
""",
        kind=kind,
        other=other,
        new=new,
        field=field,
        hidden=hidden,
        method=method,
        change=change,
        namesake=namesake,
        far=far,
    )
    offers = [
        Offer(fill("@‹new›(4).‹method›()", new=new, method=method)),
        Offer(fill("@‹new›(4).‹change›(1)", new=new, change=change)),
        Offer(fill("@‹kind›{‹field›: 2}.‹field›", kind=kind, field=field)),
        Offer(fill("(@‹other›{‹far›: 2}).‹namesake›()", other=other, far=far, namesake=namesake)),
        Offer(fill("@‹kind›.‹method›(@‹kind›{})", kind=kind, method=method)),
    ]
    return Family(text, chance.sample(offers, 3), [Offer(fill("‹kind›{3, 4}.‹hidden›", kind=kind, hidden=hidden))])


def embedded(names, chance):
    """An embedded field is named like its type; its fields and methods are promoted."""
    inner, outer, field, method, embedding = names.camel(), names.camel(), names.camel(), names.camel(), None
    embedding = names.same(inner)
    text = fill(
        """type ‹+inner› struct {
	‹+field› int
}

func (it ‹inner›) ‹+method›() int {
	return it.‹field›
}

type ‹+outer› struct {
	‹+embedding/inner›
}
""",
        inner=inner,
        outer=outer,
        field=field,
        method=method,
        embedding=embedding,
    )
    literal = fill("@‹outer›{‹embedding/inner›: @‹inner›{‹field›: 1}}", outer=outer, embedding=embedding, inner=inner, field=field)
    offers = [
        Offer(literal + fill(".‹field›", field=field)),
        Offer(literal + fill(".‹method›()", method=method)),
        Offer(literal + fill(".‹embedding/inner›.‹method›()", embedding=embedding, inner=inner, method=method)),
    ]
    return Family(text, chance.sample(offers, 2))


def interface(names, chance):
    """An interface, one that embeds it, and two types that implement them. Each method is also a usage of those it corresponds to."""
    kind, wide, one, two = names.camel(), names.camel(), names.camel(), names.camel()
    # Methods of other types that are named so would correspond to them.
    method, more = names.single(), names.single()
    of_one, of_two, more_of_one, take = names.same(method), names.same(method), names.same(more), names.camel()
    text = fill(
        """type ‹+kind› interface {
	‹+method/of_one/of_two›() int
}

type ‹+wide› interface {
	‹kind›
	‹+more/more_of_one›(by int) int
}

type ‹+one› struct{}

func (‹one›) ‹+of_one/method/of_two›() int { return 1 }

func (‹one›) ‹+more_of_one/more›(by int) int { return by }

type ‹+two› int

func (it ‹two›) ‹+of_two/method/of_one›() int { return int(it) }

func ‹+take›(it ‹kind›) int {
	if wide, ok := it.(‹wide›); ok {
		return wide.‹more/more_of_one›(3)
	}
	return it.‹method/of_one/of_two›()
}

var _ ‹wide› = ‹one›{}
""",
        kind=kind,
        wide=wide,
        one=one,
        two=two,
        method=method,
        more=more,
        of_one=of_one,
        of_two=of_two,
        more_of_one=more_of_one,
        take=take,
    )
    own = dict(method=method, of_one=of_one, of_two=of_two)
    offers = [
        Offer(fill("@‹take›(@‹one›{})", take=take, one=one)),
        Offer(fill("@‹take›(@‹two›(2))", take=take, two=two)),
        Offer(fill("@‹one›{}.‹of_one/method/of_two›()", one=one, **own)),
        Offer(fill("@‹two›(3).‹of_two/method/of_one›()", two=two, **own)),
        Offer(fill("@‹kind›(@‹two›(3)).‹method/of_one/of_two›()", kind=kind, two=two, **own)),
    ]
    names.keep(of_one, of_two, more_of_one, method, more)
    return Family(text, chance.sample(offers, 3))


def constant(names, chance):
    first, second, third, variable, kind = names.camel(), names.camel(), names.lower_camel(), names.camel(), names.camel()
    text = fill(
        """type ‹+kind› int

const (
	‹+first› ‹kind› = iota + 1
	‹+second›
	‹+third›
)

var ‹+variable› = int(‹second›) + 1
""",
        first=first,
        second=second,
        third=third,
        variable=variable,
        kind=kind,
    )
    # The next lines repeat its expression.
    names.keep(first)
    offers = [Offer(fill("int(@‹first›)", first=first)), Offer(fill("@‹variable›", variable=variable)), Offer(fill("int(@‹kind›(3))", kind=kind))]
    return Family(text, offers, [Offer(fill("int(‹third›)", third=third))])


def generic(names, chance):
    hold, value, get, pick, bound = names.camel(), names.camel(), names.camel(), names.camel(), names.camel()
    text = fill(
        """type ‹+bound› interface {
	~int | ~int64
}

type ‹+hold›[T ‹bound›] struct {
	‹+value› T
}

func (it ‹hold›[T]) ‹+get›() T {
	return it.‹value›
}

func ‹+pick›[T ‹bound›](value T) ‹hold›[T] {
	return ‹hold›[T]{‹value›: value}
}
""",
        hold=hold,
        value=value,
        get=get,
        pick=pick,
        bound=bound,
    )
    offers = [
        Offer(fill("@‹pick›(8).‹get›()", pick=pick, get=get)),
        Offer(fill("@‹pick›[int](8).‹value›", pick=pick, value=value)),
        Offer(fill("@‹hold›[int]{‹value›: 1}.‹get›()", hold=hold, value=value, get=get)),
    ]
    return Family(text, chance.sample(offers, 2))


def alias(names, chance):
    whole, short, field, callback, run = names.camel(), names.camel(), names.camel(), names.camel(), names.camel()
    text = fill(
        """type ‹+whole› struct{ ‹+field› int }

type ‹+short› = ‹whole›

type ‹+callback› func(it ‹short›) int

func ‹+run›(call ‹callback›) int {
	return call(‹short›{‹field›: 2})
}
""",
        whole=whole,
        short=short,
        field=field,
        callback=callback,
        run=run,
    )
    offers = [
        Offer(fill("@‹short›{‹field›: 4}.‹field›", short=short, field=field)),
        Offer(fill("@‹run›(func(it @‹whole›) int { return it.‹field› })", run=run, whole=whole, field=field)),
    ]
    return Family(text, offers)


FAMILIES = [function, structure, embedded, interface, constant, generic, alias]


def some(names, chance, count, package, without=()):
    made = [family(names, chance) for family in chance.sample([it for it in FAMILIES if it not in without], count)]
    offers = [Offer(it.expression, package) for family in made for it in family.offers]
    own = [Offer(it.expression, package) for family in made for it in family.own]
    return Family("\n".join(it.text for it in made), offers, own)


class File:
    """A file of Go: what it imports is known once all of its declarations are there."""

    def __init__(self, package, import_path, chance, constraint=""):
        self.package, self.import_path, self.chance, self.constraint = package, import_path, chance, constraint
        self.head, self.imports, self.parts, self.consumers = "", {}, [], []

    def qualifier(self, offer):
        if offer.package == self.import_path:
            return ""
        if offer.package not in self.imports:
            last = offer.package.rsplit("/", 1)[-1]
            self.imports[offer.package] = self.chance.choice([None, None, f"{last}x"])
        return (self.imports[offer.package] or offer.package.rsplit("/", 1)[-1]) + "."

    def use(self, offer):
        if self.imports.get(offer.package) == ".":
            return offer.expression.replace("@", "")
        return offer.expression.replace("@", self.qualifier(offer))

    def add(self, text):
        self.parts.append(text)

    def consumer(self, name, offers, many=None):
        self.consumers.append(name)
        drawn = self.chance.sample(offers, min(len(offers), many or self.chance.randint(2, 5)))
        lines = "\n".join(f"\tsum += {self.wrapped(self.use(it))}" for it in drawn)
        self.add(fill("func ‹+name›() int {\n\tsum := 0\n", name=name) + lines + "\n\treturn sum\n}\n")

    def wrapped(self, expression):
        return self.chance.choice(["{}", "{}", "func() int {{ return {} }}()", "[]int{{{}}}[0]", "max({}, 0)", "(map[string]int{{\"a\": {}}})[\"a\"]"]).format(expression)

    def text(self):
        head = (f"//go:build {self.constraint}\n\n" if self.constraint else "") + self.head + f"package {self.package}\n\n"
        # Without them an import would be unused.
        if self.imports:
            Names.keep(*self.consumers)
        lines = "".join(f'\t{alias + " " if alias else ""}"{path}"\n' for path, alias in sorted(self.imports.items()))
        return head + (f"import (\n{lines})\n\n" if lines else "") + "\n".join(self.parts)
