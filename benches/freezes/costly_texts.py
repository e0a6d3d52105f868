"""Texts that describe much with little: each generator makes one of its class from a source of chance. The item `costly` is in all of them."""

RUST, GO, PYTHON, TYPESCRIPT = "rust", "go", "python", "typescript"

GENERATORS = {RUST: {}, GO: {}, PYTHON: {}, TYPESCRIPT: {}}


def of(language):
    def register(function):
        GENERATORS[language][function.__name__.removeprefix(f"{language}_").replace("_", " ")] = function
        return function

    return register


def size(chance, least, most):
    """Small ones are as likely as large ones."""
    return round(least * (most / least) ** chance.random())


def lines(count, make):
    return "".join(f"{make(it)}\n" for it in range(count))


def function(body, parameters="", returns=""):
    return f"pub fn costly({parameters}){returns} {{\n{body}\n}}\n"


# Rust ----------------------------------------------------------------------------------------------------------------

NESTED = (
    ("(", ")", "1"), ("[", "]", "1"), ("{ ", " }", "1"), ("Some(", ")", "1"), ("&", "", "1u8"), ("!", "", "true"), ("-", "", "1"),
    ("if true { ", " } else { 1 }", "1"), ("match 1 { _ => ", " }", "1"), ("loop { break ", " }", "1"), ("unsafe { ", " }", "1"),
    ("|| ", "", "1"), ("move |x: u8| { ", " }", "1"), ("{ fn f() { ", " } 1 }", ""), ("vec![", "]", "1"), ("f(f, ", ")", "1"), ("async { ", " }", "1"),
    ("{ struct S; impl S { fn f() { ", " } } 1 }", ""), ("{ mod m { pub fn f() { ", " } } 1 }", ""), ("(1 + ", ")", "1"), ("x[", "]", "0"), ("return ", "", "1"),
)  # fmt: skip
NESTED_TYPES = (
    ("Option<", ">", "u8"), ("(", ",)", "u8"), ("&'static ", "", "u8"), ("[", "; 2]", "u8"), ("fn(", ")", "u8"), ("fn() -> ", "", "u8"), ("*const ", "", "u8"),
    ("Box<dyn Fn(", ")>", "u8"), ("impl Fn() -> ", "", "u8"), ("Vec<", ">", "u8"), ("<", " as Iterator>::Item", "u8"), ("Result<", ", u8>", "u8"), ("dyn Fn() -> ", "", "u8"),
)  # fmt: skip


@of(RUST)
def nested_expressions(chance):
    before, after, inner = chance.choice(NESTED)
    depth = size(chance, 20, 50_000)
    return function(f"let x = {before * depth}{inner}{after * depth};")


@of(RUST)
def nested_mixed(chance):
    depth = size(chance, 20, 3_000)
    picked = [chance.choice(NESTED) for _ in range(depth)]
    text = "".join(it[0] for it in picked) + "1" + "".join(it[1] for it in reversed(picked))
    return function(f"let x = {text};")


@of(RUST)
def nested_types(chance):
    before, after, inner = chance.choice(NESTED_TYPES)
    depth = size(chance, 20, 20_000)
    return function("", f"x: {before * depth}{inner}{after * depth}")


@of(RUST)
def nested_patterns(chance):
    before, after = chance.choice((("(", ",)"), ("Some(", ")"), ("[", "]"), ("&", ""), ("Some(x @ ", ")"), ("(_ | ", ")")))
    depth = size(chance, 20, 5_000)
    return function(f"let {before * depth}_{after * depth} = y;", "y: u8")


@of(RUST)
def unbalanced(chance):
    count = size(chance, 1_000, 200_000)
    one = chance.choice(("}", ")", "]", "}\n", "(", "[", "{", "<", "({[", ">", "'", '"', "/*", "#", "r#", "b'", "\\", "::", "=>", ")}]"))
    return function("") + one * count


@of(RUST)
def doubling(chance):
    double = chance.choice(("(x, x)", "W(x, x)", "[x, x]", "W2 { a: x, b: x }", "W(x, W(x, x))", "(x, (x, x), x)", "(|| (x, x))()", "W::new(x, x)", "Some((x, x)).unwrap()", "id((x, x))"))
    use = chance.choice(("", "x.missing();", "let () = x;", "x", "format!(\"{:?}\", x);", "x == x;", "let z: u8 = x;", "x();", "drop(x.clone());", "let f = move || x; f().y;"))
    head = "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]\npub struct W<A, B>(A, B);\npub struct W2<A, B> { a: A, b: B }\nimpl<A, B> W<A, B> { fn new(a: A, b: B) -> Self { W(a, b) } }\nfn id<T>(t: T) -> T { t }\n"
    return head + function("let x = 1u8;\n" + f"let x = {double};\n" * size(chance, 15, 80) + use)


@of(RUST)
def doubling_aliases(chance):
    count = size(chance, 15, 120)
    text = "pub type T0 = u8;\n" + lines(count, lambda it: f"pub type T{it + 1} = {chance.choice(('(T%d, T%d)', 'W<T%d, T%d>', 'fn(T%d) -> T%d', '[(T%d, T%d); 2]')) % (it, it)};")
    return "pub struct W<A, B>(A, B);\n" + text + function("x.missing(); let y: () = x;", f"x: T{count}")


@of(RUST)
def method_chain(chance):
    one = chance.choice((".map(|x| x)", ".map(|x| x).chain(std::iter::once(1))", ".filter(|_| true)", ".zip(0..)", ".rev()", ".and_then(|x| Some(x))", ".iter().map(|x| x.clone())", ".clone()", ".into_iter()", ".flat_map(|x| vec![x])", ".skip(1).step_by(2)", ".missing()", ".peekable().enumerate().map(|(a, b)| b)"))
    start = chance.choice(("(0..9)", "vec![1]", "Some(1)", '"a".to_string()', "unknown"))
    return function(f"let x = {start}{one * size(chance, 10, 400)}; {chance.choice(('', 'x.missing();', 'let () = x;', 'for a in x { a.b(); }'))}")


@of(RUST)
def builder_chain(chance):
    count = size(chance, 50, 20_000)
    return "#[derive(Default)]\npub struct B(u8);\nimpl B { pub fn f(self, x: u8) -> Self { B(x) } }\n" + function("B(1)" + ".f(1)" * count + ";")


@of(RUST)
def long_binary(chance):
    operator = chance.choice(("+", "-", "&&", "||", "==", "|", "<<", "..", "as u8 +", "%", "* 1.0 +", "= x +"))
    operand = chance.choice(("1", "x", "f(1)", '"a"', "x.y", "S", "&x", "(1, 2)", "String::new()"))
    return "pub struct S;\nimpl std::ops::Add for S { type Output = S; fn add(self, _: S) -> S { S } }\n" + function(f"let x = 1; let y = {f' {operator} '.join([operand] * size(chance, 100, 50_000))};")


@of(RUST)
def array(chance):
    element = chance.choice(("1", "1u8", '"a"', "Some(1)", "(1, 2)", "|x| x", "[1, 2]", "f", "1.0", "S { a: 1 }", "&1", "vec![1]", "'a'", "1 + 1"))
    inner = f"{element}, " * size(chance, 1_000, 200_000)
    return f"pub struct S {{ a: u8 }}\nfn f() {{}}\npub static A: &[u64] = &[{inner}];\n" + function("") if chance.random() < 0.5 else function(f"let x = [{inner}];\nlet y = vec![{inner}];")


@of(RUST)
def arms(chance):
    count = size(chance, 500, 50_000)
    kind = chance.choice(("numbers", "ranges", "enum", "strings", "tuples", "or"))
    if kind == "enum":
        return f"pub enum E {{ {', '.join(f'V{it}' for it in range(count))} }}\n" + function(f"match x {{ {' '.join(f'E::V{it} => {it},' for it in range(count))} }};", "x: E")
    make = {
        "numbers": lambda it: f"{it} => {it},",
        "ranges": lambda it: f"{it}..={it + 9} if x > {it} => {{}}",
        "strings": lambda it: f'"s{it}" => {it},',
        "tuples": lambda it: f"({it}, _, {it}) | (_, {it}, _) => {it},",
        "or": lambda it: f"{it} | {it + 1} | {it + 2} => {it},",
    }[kind]
    return function(f"match x {{ {lines(count, make)} _ => {{}} }}", "x: u32")


@of(RUST)
def exhaustiveness(chance):
    width, rows = size(chance, 4, 25), size(chance, 4, 40)
    row = lambda: "(" + ", ".join(chance.choice(("_", "true", "false")) for _ in range(width)) + ",) => {}"  # noqa: E731
    return function("match x {\n" + ",\n".join(row() for _ in range(rows)) + "\n}", f"x: ({'bool, ' * width})")


@of(RUST)
def recursive_traits(chance):
    text = [
        "pub trait T { fn f(&self) {} }\npub struct P<A>(A);\nimpl<A> T for P<A> where P<P<A>>: T {}\nimpl<A> T for (A, A) where (P<A>, P<A>): T, (P<P<A>>, P<P<A>>): T {}\n",
        "pub trait T { type O; fn f(&self) {} }\npub struct P<A>(A);\nimpl<A: T> T for P<A> { type O = P<<P<A::O> as T>::O>; }\nimpl T for u8 { type O = P<u8>; }\n",
        "pub trait T { fn f(&self) {} }\npub struct P<A>(A);\nimpl<A, B> T for (A, B) where A: T, B: T, P<(B, A)>: T {}\nimpl<A> T for P<A> where A: T {}\nimpl T for u8 {}\n",
        "pub trait T: U { fn f(&self) {} }\npub trait U: T {}\npub struct P<A>(A);\nimpl<A: U> T for P<A> {}\nimpl<A: T> U for P<A> {}\n",
        "pub trait T<X> { fn f(&self) {} }\npub struct P<A>(A);\nimpl<X, A> T<X> for P<A> where P<A>: T<P<X>>, A: T<(X, X)> {}\nimpl<X> T<X> for u8 {}\n",
    ]
    depth = size(chance, 1, 30)
    value = "P(" * depth + "1u8" + ")" * depth
    return chance.choice(text) + function(f"({value}).f(); ({value}, {value}).f(); let x: <P<u8> as T>::O = todo!(); x.f(); T::f(&{value});")


@of(RUST)
def many_impls(chance):
    count = size(chance, 50, 2_000)
    return "pub trait T<A> { type O; fn f(&self, a: A) -> Self::O; }\n" + lines(count, lambda it: f"pub struct S{it}; impl T<S{it}> for S{(it + 1) % count} {{ type O = S{(it * 7) % count}; fn f(&self, a: S{it}) -> Self::O {{ todo!() }} }}") + function("let x = S1.f(Default::default()).f(Default::default()).f(y());\n" * size(chance, 1, 100))


@of(RUST)
def type_arithmetic(chance):
    text = "pub struct Z; pub struct N<A>(A);\npub trait Add<B> { type O; }\nimpl<B> Add<B> for Z { type O = B; }\nimpl<A: Add<B>, B> Add<B> for N<A> { type O = N<A::O>; }\npub trait Mul<B> { type O; }\nimpl<B> Mul<B> for Z { type O = Z; }\nimpl<A: Mul<B>, B: Add<A::O>> Mul<B> for N<A> { type O = B::O; }\n"
    depth = size(chance, 3, 60)
    number = "N<" * depth + "Z" + ">" * depth
    return text + function("x.missing(); let () = x;", f"x: <{number} as Mul<{number}>>::O")


@of(RUST)
def macros(chance):
    kind = chance.choice(("double", "muncher", "recursive", "nested", "counter", "many calls", "many arms", "ambiguous", "generates macros", "include"))
    count = size(chance, 5, 300)
    if kind == "double":
        return "macro_rules! a { ($($t:tt)*) => { b!{$($t)* $($t)*} } }\nmacro_rules! b { ($($t:tt)*) => { a!{$($t)* $($t)*} } }\n" + function("a!(1 + 2);" * size(chance, 1, 20))
    if kind == "muncher":
        return "macro_rules! m { () => {}; ($a:tt $($t:tt)*) => { let _ = $a; m!{$($t)*} } }\n" + function(f"m!{{{'1 ' * count * 10}}}")
    if kind == "recursive":
        return "macro_rules! m { ($($t:tt)*) => { m!{$($t)* x} } }\n" + function("m!();" * size(chance, 1, 50))
    if kind == "nested":
        return "macro_rules! m { ($e:expr) => { ($e, $e) } }\n" + function("let x = " + "m!(" * min(count, 40) + "1" + ")" * min(count, 40) + ";")
    if kind == "counter":
        return "macro_rules! c { () => { 0 }; ($a:tt $($t:tt)*) => { 1 + c!($($t)*) } }\n" + function(f"let x = [0; c!({'a ' * count})];")
    if kind == "many calls":
        return "macro_rules! m { ($n:ident) => { pub struct $n; impl $n { pub fn f(&self) {} } } }\n" + lines(count * 20, lambda it: f"m!(S{it});") + function("S1.f();")
    if kind == "many arms":
        return "macro_rules! m {\n" + lines(count * 5, lambda it: f"(k{it} $($x:expr),* ; $($y:ty),*) => {{ ($($x),*) }};") + "}\n" + function(f"m!(k{count * 5 - 1} 1, 2; u8, u8);" * 20)
    if kind == "ambiguous":
        return "macro_rules! m { ($($a:ident)* $($b:ident)* $($c:tt)*) => { 1 } }\n" + function(f"m!({'a ' * count * 20});")
    if kind == "generates macros":
        return "macro_rules! g { ($n:ident $m:ident) => { macro_rules! $n { () => { $m!() + $m!() } } } }\nmacro_rules! m0 { () => { 1 } }\n" + lines(min(count, 30), lambda it: f"g!(m{it + 1} m{it});") + function(f"let x = m{min(count, 30)}!();")
    return 'include!("costly.rs");\n' + function("")


@of(RUST)
def constants(chance):
    return chance.choice(
        (
            "const fn fib(n: u32) -> u64 { if n < 2 { 1 } else { fib(n - 1) + fib(n - 2) } }\n" + function("x.len()", f"x: [u8; fib({size(chance, 15, 60)}) as usize]", " -> usize"),
            "const N: usize = { let mut i = 0usize; while i < usize::MAX { i += 1; } i };\n" + function("[0; N]; x.y", "x: [u8; N]"),
            "const A: [[[u64; 1000]; 1000]; 1000] = [[[1; 1000]; 1000]; 1000];\n" + function("A[1][1][1]; let x = [A; 1000]; x.y"),
            "const fn f(n: usize) -> usize { f(n + 1) }\n" + function("[0; f(1)]; x.y", "x: [u8; f(0)]"),
            "pub enum E { " + ", ".join(f"V{it} = {{ let mut x = {it}; while x < 100000000 {{ x += 1 }} x }}" for it in range(size(chance, 1, 50))) + " }\n" + function("E::V0 as u8;"),
            "".join(f"pub const C{it}: usize = C{it + 1} + C{it + 1};\n" for it in range(60)) + "pub const C60: usize = 1;\n" + function("[0; C0]", "x: [u8; C0]"),
            "pub struct S<const N: usize>;\nimpl<const N: usize> S<N> { const X: usize = S::<{ N + 1 }>::X + 1; }\n" + function("S::<0>::X; [0; S::<0>::X]"),
            "const S: &str = concat!(" + '"aaaaaaaaaa", ' * size(chance, 100, 20_000) + ");\n" + function("S.len();"),
        )
    )  # fmt: skip


@of(RUST)
def many_lets(chance):
    make = chance.choice((lambda it: f"let x{it} = {it};", lambda it: f"let x{it} = x{max(it - 1, 0)};", lambda it: f"let mut x = |y| x(y);", lambda it: f"x = {it};", lambda it: f"if x == {it} {{ return; }}", lambda it: f"f({it})?;", lambda it: f"let x = Default::default();"))
    return function(lines(size(chance, 500, 100_000), make))


@of(RUST)
def unknown_types(chance):
    count = size(chance, 50, 3_000)
    make = chance.choice((lambda it: f"let x{it} = Default::default(); f(x{it});", lambda it: f"let x{it} = |a| |b| (a, b);", lambda it: f"let v{it} = Vec::new(); v{it}.push(v{max(it - 1, 0)}.clone());", lambda it: f"let x{it} = y.into(); let z{it} = x{it} + y.into();", lambda it: f"let x{it} = \"1\".parse().unwrap() + {it}.into();"))
    return function(lines(count, make))


@of(RUST)
def closures(chance):
    depth = size(chance, 5, 200)
    kind = chance.choice(("curried", "applied", "captured"))
    if kind == "curried":
        return function("let f = " + "".join(f"|x{it}| " for it in range(depth)) + "(" + ", ".join(f"x{it}" for it in range(depth)) + ");\n f" + "(1)" * depth + ";")
    if kind == "applied":
        return function("let x = " + "(|x| (x, x))(" * depth + "1" + ")" * depth + "; x.missing();")
    return function("let f = || 1;\n" + lines(depth, lambda it: f"let f = move || (f(), f());") + "f().x;")


@of(RUST)
def huge_enum(chance):
    count = size(chance, 1_000, 50_000)
    fields = chance.choice(("", "(u8)", " { a: u8, b: Option<Box<E>> }", "(Box<E>, Box<E>)"))
    return "#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]\npub enum E {\n" + lines(count, lambda it: f"V{it}{fields},") + "}\n" + function("")


@of(RUST)
def huge_struct(chance):
    count = size(chance, 500, 30_000)
    return "#[derive(Clone, Debug, Default, PartialEq)]\npub struct S {\n" + lines(count, lambda it: f"pub f{it}: {chance.choice(('u8', 'Option<Box<S>>', 'Vec<S>', 'Unknown', '[S; 2]'))},") + "}\n" + function("S { f1: 1, ..Default::default() }.f0;")


@of(RUST)
def many_generics(chance):
    count = size(chance, 20, 1_000)
    parameters = ", ".join(f"T{it}: Into<T{(it + 1) % count}> + Iterator<Item = T{(it * 3) % count}>" for it in range(count))
    return f"pub struct G<{', '.join(f'A{it}' for it in range(count))}>({', '.join(f'A{it}' for it in range(count))});\n" + f"pub fn costly<{parameters}>(x: T0) {{ let y = x.next().unwrap().into(); y.next(); y.missing(); }}\n"


@of(RUST)
def deep_modules(chance):
    depth = size(chance, 10, 3_000)
    return "pub mod m { pub use super::*; " * depth + "pub fn deep() {}" + " }" * depth + function("m::" * depth + "deep();")


@of(RUST)
def globs(chance):
    count = size(chance, 10, 300)
    return lines(count, lambda it: f"pub mod m{it} {{ pub use super::m{(it + 1) % count}::*; pub use super::m{(it * 7) % count}::*; pub struct S{it}; }}") + function(f"m0::S{count - 1};")


@of(RUST)
def many_functions(chance):
    count = size(chance, 500, 20_000)
    return lines(count, lambda it: f"pub fn f{it}(x: u{8 << it % 4}) -> u8 {{ f{(it + 1) % count}(x as _) + {it % 250} }}") + function("f0(1);")


@of(RUST)
def opaque(chance):
    count = size(chance, 5, 80)
    return lines(count, lambda it: f"pub fn f{it}() -> impl Fn() -> u8 + Clone {{ let a = f{it + 1}(); let b = f{it + 1}(); move || a() + b() }}") + f"pub fn f{count}() -> impl Fn() -> u8 + Clone {{ || 1 }}\n" + function("f0().missing(); let () = f0();")


@of(RUST)
def futures(chance):
    count = size(chance, 5, 80)
    return lines(count, lambda it: f"pub async fn f{it}() -> (u8, u8) {{ let a = f{it + 1}().await; let b = f{it + 1}().await; (a.0, b.0) }}") + f"pub async fn f{count}() -> (u8, u8) {{ (1, 2) }}\n" + "fn send<T: Send>(t: T) {}\n" + function("send(f0()); f0().missing();")


@of(RUST)
def autoderef(chance):
    count = size(chance, 10, 400)
    return lines(count, lambda it: f"pub struct D{it}; impl std::ops::Deref for D{it} {{ type Target = D{(it + 1) % count}; fn deref(&self) -> &Self::Target {{ todo!() }} }}") + "pub struct R<T>(T);\nimpl<T> std::ops::Deref for R<T> { type Target = R<R<T>>; fn deref(&self) -> &R<R<T>> { todo!() } }\n" + function("D0.missing(); R(1).missing(); D0.a.b.c;")


@of(RUST)
def words(chance):
    return function(chance.choice((f'let x = "{"a" * size(chance, 10_000, 2_000_000)}";', f"let {'x' * size(chance, 10_000, 1_000_000)} = 1;", f"// {'a' * size(chance, 10_000, 2_000_000)}", f"let x = {'9' * size(chance, 1_000, 500_000)};", f'format!("{"{}" * size(chance, 100, 20_000)}");', f'println!("{"{x:?}" * size(chance, 100, 10_000)}", x = 1);')))


@of(RUST)
def documents(chance):
    return "/// a [`costly`] b [`std::vec::Vec`] ```\n" * size(chance, 500, 50_000) + "#[allow(unused)]\n" * size(chance, 10, 5_000) + function("")


@of(RUST)
def attributes(chance):
    depth = size(chance, 10, 3_000)
    return f"#[cfg({'not(' * depth}unix{')' * depth})]\npub fn a() {{}}\n#[cfg(any({', '.join(f'feature = {chr(34)}f{it}{chr(34)}' for it in range(depth))}))]\npub fn b() {{}}\n#[cfg_attr(all(), derive(Clone))]\npub struct S;\n" + "#[cfg_attr(all(), inline)]\n" * depth + function("")


# Go ------------------------------------------------------------------------------------------------------------------


def go(body, items="", parameters=""):
    return f"package p\n\n{items}\nfunc costly({parameters}) {{\n{body}\n}}\n"


@of(GO)
def go_nested(chance):
    before, after, inner = chance.choice((("(", ")", "1"), ("-", "", "1"), ("!", "", "true"), ("func() int { return ", " }()", "1"), ("[]any{", "}", "1"), ("f(", ")", "1"), ("*&", "", "x"), ("map[string]any{\"a\": ", "}", "1")))
    depth = size(chance, 20, 100_000)
    return go(f"x := 1\n_ = {before * depth}{inner}{after * depth}")


@of(GO)
def go_nested_types(chance):
    before, after = chance.choice((("[]", ""), ("*", ""), ("map[string]", ""), ("func(", ")"), ("chan ", ""), ("struct { a ", " }"), ("[2]", ""), ("interface { f(", ") }")))
    depth = size(chance, 20, 50_000)
    return go("_ = x.y", parameters=f"x {before * depth}int{after * depth}")


@of(GO)
def go_unbalanced(chance):
    return go("") + chance.choice(("}", ")", "{", "(", "[", '"', "/*", "`", "}\n", "func(")) * size(chance, 1_000, 200_000)


@of(GO)
def go_doubling(chance):
    count = size(chance, 15, 60)
    return go("var x T0\nx.missing()\nvar y int = x", lines(count, lambda it: f"type T{it} struct {{ a, b T{it + 1} }}") + f"type T{count} int\n")


@of(GO)
def go_generics(chance):
    count = size(chance, 5, 40)
    return chance.choice(
        (
            go("var x W[int]\nx.missing()", "type W[T any] struct { next *W[W[T]] }\n"),
            go(f"x := {'P(' * count}1{')' * count}\nx.missing()", "type Pair[A, B any] struct { a A; b B }\nfunc P[A any](a A) Pair[A, A] { return Pair[A, A]{a, a} }\n"),
            go("f(1)", "func f[T any](t T) { f[[]T](nil); f[map[string]T](nil) }\n"),
            go("f0(1)", lines(count, lambda it: f"func f{it}[T any](t T) {{ f{it + 1}([]T{{t}}); f{it + 1}(map[string]T{{}}) }}") + f"func f{count}[T any](t T) {{}}\n"),
            go("", f"type U interface {{ {' | '.join(f'~[{it}]int' for it in range(count * 50))} }}\nfunc f[T U, V U, W interface{{ U; comparable }}](t T) {{ f(t); }}\n"),
        )
    )


@of(GO)
def go_constants(chance):
    return chance.choice(
        (
            go("", "const A = 1 << 500\nconst B = A * A * A * A\n" + "".join(f"const C{it} = C{it + 1} * C{it + 1}\n" for it in range(30)) + "const C30 = 3\n"),
            go("", "const S0 = \"aaaaaaaaaa\"\n" + lines(size(chance, 10, 40), lambda it: f"const S{it + 1} = S{it} + S{it}")),
            go("_ = 1" + " + 1" * size(chance, 100, 100_000)),
            go('_ = "a"' + ' + "a"' * size(chance, 100, 30_000)),
            go("var x [1 << 40]int\n_ = x[1<<39]\n" + "_ = [...]int{1 << 50: 1}"),
        )
    )


@of(GO)
def go_literal(chance):
    element = chance.choice(("1, ", '"a", ', "{1, 2}, ", "nil, ", "func() {}, ", "x, "))
    return go("", f"var A = [][]int{{{element * size(chance, 1_000, 200_000)}}}\n")


@of(GO)
def go_cases(chance):
    return go("switch x {\n" + lines(size(chance, 500, 50_000), lambda it: f"case {it}: x = {it}") + "}", parameters="x int")


@of(GO)
def go_statements(chance):
    make = chance.choice((lambda it: f"x{it} := {it}", lambda it: f"x := func() int {{ return {it} }}", lambda it: f"if x == {it} {{ return }}", lambda it: f"goto L{it}; L{it}:", lambda it: f"defer f({it})"))
    return go(lines(size(chance, 500, 50_000), make))


@of(GO)
def go_declarations(chance):
    count = size(chance, 500, 20_000)
    return go("f0()", lines(count, lambda it: f"func f{it}() int {{ return f{(it + 1) % count}() }}")) + lines(count // 10, lambda it: f"var v{it} = v{it + 1}")


@of(GO)
def go_embedding(chance):
    count = size(chance, 10, 300)
    return go("var x E0\nx.missing()\nx.F()", lines(count, lambda it: f"type E{it} struct {{ E{it + 1}; *E{(it * 3) % count} }}") + f"type E{count} struct{{}}\nfunc (E{count}) F() {{}}\n")


@of(GO)
def go_chain(chance):
    return go("B{}" + ".F(1)" * size(chance, 50, 20_000), "type B struct{}\nfunc (b B) F(x int) B { return b }\n")


# Python --------------------------------------------------------------------------------------------------------------


def python(body, items=""):
    return f"{items}\n\ndef costly():\n" + "".join(f"    {it}\n" for it in (body or "pass").splitlines())


@of(PYTHON)
def python_nested(chance):
    before, after, inner = chance.choice((("(", ")", "1"), ("[", "]", "1"), ("{1: ", "}", "1"), ("not ", "", "1"), ("-", "", "1"), ("lambda: ", "", "1"), ("f(", ")", "1"), ("x[", "]", "1"), ("(yield ", ")", "1"), ("[y for y in ", "]", "x")))
    depth = size(chance, 20, 20_000)
    return python(f"x = {before * depth}{inner}{after * depth}")


@of(PYTHON)
def python_doubling(chance):
    return python("x = 1\n" + f"x = {chance.choice(('(x, x)', '[x, x]', '{1: x, 2: (x, x)}', 'lambda: (x, x)', 'f(x, x)'))}\n" * size(chance, 15, 60) + "x.missing\ny: int = x", "def f[T](a: T, b: T) -> tuple[T, T]:\n    return a, b\n")


@of(PYTHON)
def python_branches(chance):
    return python("x = None\n" + lines(size(chance, 20, 1_000), lambda it: f"if x == {it}: x = '{it}'\nwhile x: x = [x, y{it}]") + "x.missing")


@of(PYTHON)
def python_chain(chance):
    return python("x = B()" + ".f(1)" * size(chance, 50, 5_000) + "\nx.missing()", "class B:\n    def f(self, x):\n        return self\n")


@of(PYTHON)
def python_loops(chance):
    depth = size(chance, 5, 60)
    return python("".join(f"{' ' * it}for x{it} in y{it}:\n" for it in range(depth)) + f"{' ' * depth}x0, y1 = x{depth - 1}, x0")


@of(PYTHON)
def python_literal(chance):
    return python("", f"A = [{chance.choice(('1, ', '(1, 2), ', '{1: [2]}, ', chr(34) + 'a' + chr(34) + ', '))* size(chance, 1_000, 100_000)}]\n")


@of(PYTHON)
def python_binary(chance):
    return python("x = " + chance.choice((" + ", " or ", " and ", " < ", " | ")).join(["y"] * size(chance, 100, 10_000)))


@of(PYTHON)
def python_inferred(chance):
    count = size(chance, 10, 400)
    return python("f0(1).missing", lines(count, lambda it: f"def f{it}(x):\n    if x: return f{(it + 1) % count}(x)\n    return [f{(it * 3) % count}(x), {it}]"))


@of(PYTHON)
def python_overloads(chance):
    count = size(chance, 10, 300)
    return python("f(f(f(f(f(unknown))))) + f(f(1))", "from typing import overload\n" + lines(count, lambda it: f"class C{it}: ...\n@overload\ndef f(x: C{it}) -> C{(it + 1) % count}: ...") + "def f(x): ...\n")


@of(PYTHON)
def python_classes(chance):
    count = size(chance, 20, 1_000)
    return python("C0().missing", lines(count, lambda it: f"class C{it}{f'(C{it - 1}, Generic[T])' if it else ''}:\n    a: 'C{(it * 7) % count}'"))


@of(PYTHON)
def python_unbalanced(chance):
    return python("") + chance.choice((")", "(", "[", "{", "'''", '"', "\\\n", ":\n", "if x:\n ")) * size(chance, 1_000, 50_000)


# TypeScript ----------------------------------------------------------------------------------------------------------


def typescript(body, items=""):
    return f"{items}\nexport function costly() {{\n{body}\n}}\n"


@of(TYPESCRIPT)
def typescript_nested(chance):
    before, after, inner = chance.choice((("(", ")", "1"), ("[", "]", "1"), ("{ a: ", "}", "1"), ("!", "", "1"), ("() => ", "", "1"), ("f(", ")", "1"), ("x ? 1 : ", "", "1"), ("`${", "}`", "1"), ("new (class { a = ", " })", "1")))
    depth = size(chance, 20, 5_000)
    return typescript(f"const x = {before * depth}{inner}{after * depth};")


@of(TYPESCRIPT)
def typescript_doubling(chance):
    count = size(chance, 10, 60)
    return typescript("const x0 = { a: 1 };\n" + lines(count, lambda it: f"const x{it + 1} = {{ a: x{it}, b: x{it}, c: () => x{it} }};") + f"x{count}.missing; const y: number = x{count};")


@of(TYPESCRIPT)
def typescript_unions(chance):
    count = size(chance, 5, 40)
    return typescript("const x: T = 'a'; const y: U = x;", f"type D = {' | '.join(repr(str(it)) for it in range(count))};\ntype T = `${{D}}${{D}}${{D}}${{D}}`;\ntype U = {{ [K in T]: K extends `${{infer A}}${{infer B}}` ? [A, B] : never }}[T];\n")


@of(TYPESCRIPT)
def typescript_recursive(chance):
    return typescript(
        "let x: R<'aaaaaaaaaaaaaaaa'>; let y: N<999>; let z: F<20>; x.missing; y.missing; z.missing;",
        "type R<S> = S extends `${infer A}${infer B}` ? [R<B>, R<B>, A] : [];\ntype N<L extends number, T extends any[] = []> = T['length'] extends L ? T : N<L, [...T, any]>;\n"
        "type F<L extends number, T extends any[] = []> = T['length'] extends L ? T : F<L, [...T, any]> | [F<L, [...T, any, any]>];\ntype B<T> = { a: B<[T, T]>; b: B<() => T> };\ntype C = B<1> extends B<2> ? 1 : 2;\n",
    )


@of(TYPESCRIPT)
def typescript_mapped(chance):
    count = size(chance, 20, 2_000)
    return typescript("let x: P; x.missing; const y: P = {} as any as I;", f"interface I {{ {' '.join(f'f{it}: I | {it};' for it in range(count))} }}\ntype P = {{ [K in keyof I]: {{ [L in keyof I]: I[K] & I[L] }} }};\ntype Deep<T> = {{ [K in keyof T]: Deep<T[K]> }};\ntype D = Deep<I>;\n")


@of(TYPESCRIPT)
def typescript_literal(chance):
    return typescript("", f"export const A = [{chance.choice(('1, ', '[1, 2], ', '{ a: 1 }, ', '{ a: [1] }, () => 1, '))* size(chance, 1_000, 50_000)}];\n")


@of(TYPESCRIPT)
def typescript_binary(chance):
    return typescript("const x = " + chance.choice((" + ", " || ", " && ", " ?? ", " , ")).join(["y"] * size(chance, 100, 4_000)) + ";", "declare const y: any;\n")


@of(TYPESCRIPT)
def typescript_chain(chance):
    return typescript("const x = [1]" + chance.choice((".map(x => x)", ".map(x => [x, x])", ".filter(x => x).concat([])", ".missing()")) * size(chance, 10, 400) + "; x.missing;")


@of(TYPESCRIPT)
def typescript_inferred(chance):
    count = size(chance, 10, 500)
    return typescript("f0(1);", lines(count, lambda it: f"function f{it}(x: any) {{ return x ? f{(it + 1) % count}(x) : [f{(it * 3) % count}(x)]; }}"))


@of(TYPESCRIPT)
def typescript_overloads(chance):
    count = size(chance, 10, 400)
    return typescript("f(f(f(f(f(1 as any as C0 | C1 | C2)))));", lines(count, lambda it: f"interface C{it} {{ a{it}: 1 }}\ndeclare function f(x: C{it}): C{(it + 1) % count};"))


@of(TYPESCRIPT)
def typescript_unbalanced(chance):
    return typescript("") + chance.choice((")", "(", "[", "{", "`", '"', "/*", "<", "`${", "}")) * size(chance, 1_000, 50_000)
