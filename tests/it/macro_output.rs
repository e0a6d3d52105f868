//! Names that macros write: in definitions of other crates, by procedural macros, in strings that these read as code.

use serde_json::{Value, json};

use crate::support::Server;

const ROOT: &str = "[workspace]\nmembers = [\"a\", \"b\", \"mac\"]\nresolver = \"3\"\n";

const ROOT_OF_TWO: &str = "[workspace]\nmembers = [\"b\", \"mac\"]\nresolver = \"3\"\n";

fn manifest(name: &str, rest: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n{rest}")
}

const A: &str = "pub struct Lamp {
    pub watts: u32,
    pub extra: u32,
}
pub fn level(by: u32) -> u32 {
    by
}
pub fn never() -> u32 {
    0
}
#[macro_export]
macro_rules! level_of {
    ($by:expr) => {{
        let never = $crate::level($by);
        never
    }};
}
#[macro_export]
macro_rules! watts_of {
    ($lamp:expr) => {
        $lamp.watts + $crate::level_of!(2)
    };
}
#[macro_export]
macro_rules! nobody {
    () => {
        $crate::never()
    };
}
";

const B: &str = "use a::Lamp;
pub fn first() -> u32 {
    a::level_of!(1)
}
pub fn second(lamp: &Lamp) -> u32 {
    assert!(a::level_of!(7) > 0);
    a::watts_of!(lamp)
}
pub fn asked() -> u32 {
    mac::ask!()
}
#[derive(mac::Sum)]
pub struct Row {
    pub left: u32,
    #[sum(\"crate::twice(self.right)\")]
    pub right: u32,
}
pub fn grade() -> u32 {
    1
}
pub fn twice(it: u32) -> u32 {
    it * 2
}
pub struct Text {
    pub first: u32,
}
impl Text {
    pub fn size(&self) -> u32 {
        self.first
    }
}
pub struct Bytes;
impl Bytes {
    pub fn size(&self) -> u32 {
        4
    }
}
macro_rules! size_of {
    ($it:expr) => {
        $it.size()
    };
}
pub const NAME: &str = stringify!(grade twice);
pub fn said(by: u32) -> u32 {
    mac::again!(crate::twice_said(by) + 1)
}
#[mac::parsed]
pub fn heard(by: u32) -> u32 {
    crate::twice_said(by) + said(by)
}
pub fn twice_said(by: u32) -> u32 {
    by * 2
}
pub fn both(text: &Text) -> u32 {
    size_of!(text) + size_of!(Bytes)
}
#[derive(mac::Marked)]
pub struct Mark;
";

const MAC: &str = "use proc_macro::{TokenStream, TokenTree};

/// Asks for the grade.
#[proc_macro]
pub fn ask(_: TokenStream) -> TokenStream {
    \"crate::grade()\".parse().unwrap()
}

/// Makes text of its input and reads that again.
#[proc_macro]
pub fn again(input: TokenStream) -> TokenStream {
    input.to_string().parse().unwrap()
}

/// The same for an item.
#[proc_macro_attribute]
pub fn parsed(_: TokenStream, item: TokenStream) -> TokenStream {
    item.to_string().parse().unwrap()
}

/// Adds `left` and the code in the string.
#[proc_macro_derive(Sum, attributes(sum))]
pub fn sum(input: TokenStream) -> TokenStream {
    let text = input.to_string();
    let name = text.split(\"struct \").nth(1).unwrap().split_whitespace().next().unwrap().to_string();
    let mut code = TokenStream::new();
    find(input, &mut code);
    let mut output: TokenStream = format!(\"impl {name}\").parse().unwrap();
    let head: TokenStream = \"pub fn sum(&self) -> u32\".parse().unwrap();
    let mut sum: TokenStream = \"self.left + \".parse().unwrap();
    sum.extend(code);
    let body = proc_macro::Group::new(proc_macro::Delimiter::Brace, sum);
    let mut members = head;
    members.extend([TokenTree::Group(body)]);
    output.extend([TokenTree::Group(proc_macro::Group::new(proc_macro::Delimiter::Brace, members))]);
    output
}

/// For a type with this name alone.
#[proc_macro_derive(Marked)]
pub fn marked(_: TokenStream) -> TokenStream {
    \"impl Mark {}\".parse().unwrap()
}

/// The code in the first string, at the place of the string.
fn find(input: TokenStream, code: &mut TokenStream) {
    for token in input {
        match token {
            TokenTree::Group(group) => find(group.stream(), code),
            TokenTree::Literal(literal) if code.is_empty() => {
                let text = literal.to_string();
                let read: TokenStream = text.trim_matches('\"').parse().unwrap();
                code.extend(at(read, literal.span()));
            }
            _ => {}
        }
    }
}

fn at(read: TokenStream, span: proc_macro::Span) -> TokenStream {
    let place = |mut token: TokenTree| {
        if let TokenTree::Group(group) = &token {
            token = proc_macro::Group::new(group.delimiter(), at(group.stream(), span)).into();
        }
        token.set_span(span);
        token
    };
    read.into_iter().map(place).collect()
}
";

fn workspace() -> Server {
    let b = manifest("b", "[dependencies]\na = { path = \"../a\" }\nmac = { path = \"../mac\" }\n");
    Server::on(&[
        ("Cargo.toml", ROOT),
        ("a/Cargo.toml", &manifest("a", "")),
        ("a/src/lib.rs", A),
        ("b/Cargo.toml", &b),
        ("b/src/lib.rs", B),
        ("mac/Cargo.toml", &manifest("mac", "[lib]\nproc-macro = true\n")),
        ("mac/src/lib.rs", MAC),
    ])
}

/// The usages of a symbol, all of them certain: each place with the number of calls that write the name.
fn usages(server: &Server, symbol: &str) -> Vec<String> {
    let path = format!("/v1/usages?symbol={symbol}");
    server.wait_for(|it| it.get(&path).1["meta"]["complete"] == true);
    let (status, reply) = server.get(&path);
    assert_eq!((status, &reply["possible"]), (200, &json!([])), "{reply}");
    let place = |it: &Value| {
        let calls = it["calls"].as_u64().map(|it| format!(" {it}")).unwrap_or_default();
        format!(
            "{}:{}:{}{calls} {}",
            it["file"].as_str().unwrap(),
            it["line"],
            it["column"],
            it["role"].as_str().unwrap()
        )
    };
    let mut places: Vec<String> = reply["items"].as_array().unwrap().iter().map(place).collect();
    places.sort();
    places
}

#[test]
fn what_a_macro_of_another_crate_writes_is_a_usage_in_its_definition() {
    let server = workspace();
    assert_eq!(usages(&server, "a::level"), ["a/src/lib.rs:14:29 3 call"]);
    assert_eq!(usages(&server, "a::Lamp::watts"), ["a/src/lib.rs:21:15 1 read"]);
    let calls = ["a/src/lib.rs:21:31 1 call", "b/src/lib.rs:3:8 call", "b/src/lib.rs:6:16 call"];
    assert_eq!(usages(&server, "a::level_of"), calls);
    // A macro that nobody calls.
    assert_eq!(usages(&server, "a::never"), ["a/src/lib.rs:27:17 0 other"]);
}

#[test]
fn what_a_procedural_macro_writes_is_a_usage_at_its_call() {
    let server = workspace();
    assert_eq!(usages(&server, "b::grade"), ["b/src/lib.rs:10:10 1 call"]);
    assert_eq!(usages(&server, "b::Row::left"), ["b/src/lib.rs:12:15 1 read"]);
    assert_eq!(usages(&server, "b::twice"), ["b/src/lib.rs:15:19 1 call"]);
    assert_eq!(usages(&server, "b::Row::right"), ["b/src/lib.rs:15:30 1 read"]);
}

#[test]
fn what_a_procedural_macro_parses_again_is_a_usage_in_its_input() {
    let server = workspace();
    assert_eq!(usages(&server, "b::twice_said"), ["b/src/lib.rs:45:24 1 call", "b/src/lib.rs:49:12 call"]);
    assert_eq!(usages(&server, "b::said"), ["b/src/lib.rs:49:29 call"]);
    let (status, reply) =
        server.post("/v1/rename", &json!({"symbol": "b::twice_said", "new_name": "doubled", "dry_run": true}));
    assert_eq!((status, &reply["impact"]["broken"]), (200, &json!([])), "{reply}");
}

/// `Sum` writes the name of the type that it is given as text. `Mark` has the name of its type in its own text too.
#[test]
fn a_name_of_the_input_that_a_procedural_macro_of_the_workspace_writes_as_text_is_renamed_in_its_input() {
    let server = workspace();
    assert_eq!(usages(&server, "b::Row"), [""; 0]);
    let rename =
        |symbol: &str| server.post("/v1/rename", &json!({"symbol": symbol, "new_name": "Line", "dry_run": true}));
    let (status, reply) = rename("b::Row");
    assert_eq!((status, &reply["impact"]["broken"]), (200, &json!([])), "{reply}");
    let (status, reply) = rename("b::Mark");
    assert_eq!((status, &reply["code"]), (422, &json!("rename_refused")), "{reply}");
}

#[test]
fn a_rename_reaches_definitions_and_strings_and_is_refused_where_no_text_has_the_name() {
    let server = workspace();
    usages(&server, "a::level");
    let rename = |symbol: &str, new_name: &str| {
        server.post("/v1/rename", &json!({"symbol": symbol, "new_name": new_name, "dry_run": true}))
    };
    let (status, reply) = rename("a::level", "height");
    assert_eq!((status, &reply["impact"]["broken"]), (200, &json!([])), "{reply}");
    let (status, reply) = rename("b::twice", "double");
    assert_eq!((status, &reply["impact"]["broken"]), (200, &json!([])), "{reply}");
    assert!(reply.to_string().contains("crate::double(self.right)"), "{reply}");
    let (status, reply) = rename("b::grade", "mark");
    assert_eq!(
        (status, &reply["code"], &reply["candidates"][0]["line"]),
        (422, &json!("rename_refused"), &json!(10)),
        "{reply}"
    );
    // One name that means two symbols.
    let (status, reply) = rename("b::Text::size", "length");
    assert_eq!((status, &reply["code"]), (422, &json!("rename_refused")), "{reply}");
}

#[test]
fn an_edit_breaks_the_calls_of_macros() {
    let server = workspace();
    usages(&server, "a::level");
    let edit = json!({"dry_run": true, "edits": [{
        "file": "b/src/lib.rs", "search_context": "pub fn grade() -> u32", "replacement": "pub fn grade(by: u32) -> u32"
    }]});
    let (status, reply) = server.post("/v1/edit", &edit);
    assert_eq!((status, &reply["impact"]["broken"][0]["line"]), (200, &json!(10)), "{reply}");
    let edit = json!({"dry_run": true, "edits": [{
        "file": "a/src/lib.rs", "search_context": "pub fn level(by: u32)", "replacement": "pub fn level(by: u32, _more: u32)"
    }]});
    let (status, reply) = server.post("/v1/edit", &edit);
    let broken = reply["impact"]["broken"].as_array().unwrap_or_else(|| panic!("{reply}"));
    let at = |file: &str, line: u64| broken.iter().any(|it| it["file"] == file && it["line"] == line);
    assert!(status == 200 && at("b/src/lib.rs", 3) && at("b/src/lib.rs", 6) && at("b/src/lib.rs", 7), "{reply}");
}

#[test]
fn an_edit_of_an_attribute_breaks_what_a_derive_macro_makes_of_it() {
    let server = workspace();
    usages(&server, "a::level");
    let with = |code: &str| {
        let edit = json!({"dry_run": true, "edits": [{
            "file": "b/src/lib.rs", "search_context": "crate::twice(self.right)", "replacement": code
        }]});
        let (status, reply) = server.post("/v1/edit", &edit);
        assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
        reply["impact"]["broken"].as_array().unwrap().iter().map(|it| it["code"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(with("crate::twise(self.right)"), ["E0425"]);
    assert_eq!(with("crate::twice(self.wrong)"), ["E0609"]);
    assert_eq!(with("crate::twice(true)"), ["E0308"]);
    assert_eq!(with("crate::twice(self.left)"), [json!(null); 0]);
}

#[test]
fn an_edit_of_a_definition_breaks_the_calls_where_its_paths_lead_nowhere() {
    let server = workspace();
    usages(&server, "a::level");
    let with = |before: &str, after: &str| {
        let edit = json!({"dry_run": true, "edits": [
            {"file": "a/src/lib.rs", "search_context": before, "replacement": after}
        ]});
        let (status, reply) = server.post("/v1/edit", &edit);
        assert_eq!(status, 200, "{reply}");
        let place =
            |it: &Value| format!("{}:{} {}", it["file"].as_str().unwrap(), it["line"], it["code"].as_str().unwrap());
        reply["impact"]["broken"].as_array().unwrap().iter().map(place).collect::<Vec<_>>()
    };
    let calls = |code: &str| ["b/src/lib.rs:3 ", "b/src/lib.rs:6 ", "b/src/lib.rs:7 "].map(|it| format!("{it}{code}"));
    assert_eq!(with("$crate::level($by);", "$crate::lever($by);"), calls("E0425"));
    assert_eq!(with("$crate::level($by);", "$crate::none::level($by);"), calls("E0433"));
    assert_eq!(with("$crate::level($by);", "Level::new($by);"), calls("E0433"));
    assert_eq!(
        with("let never = $crate::level($by);", "let never: $crate::Level = $crate::level($by);"),
        calls("E0425")
    );
    assert_eq!(with("$crate::level($by);", "$crate::level($by) + 0;"), [""; 0]);
}

const AMONG_ITEMS: &str = "pub trait Fits {}
impl Fits for u8 {}
pub fn need(_: impl Fits) {}
macro_rules! made {
    ($name:ident, $it:expr) => {
        pub fn $name() {
            $crate::need($it);
        }
    };
}
made!(one, 1u8);
macro_rules! held {
    ($name:ident, $of:ty, $it:expr) => {
        pub static $name: $of = $it;
    };
}
held!(TWO, u8, 2u8);
macro_rules! passed {
    ($($it:item)*) => { $($it)* };
}
passed! {
    pub struct Three {
        pub x: u8,
    }
    impl Three {
        pub fn three(&self) -> u8 {
            self.x
        }
    }
}
";

#[test]
fn an_edit_of_a_macro_call_among_items_breaks_what_it_makes() {
    let server = Server::on(&[("Cargo.toml", &manifest("app", "")), ("src/lib.rs", AMONG_ITEMS)]);
    server.wait_for(|it| it.get("/v1/usages?symbol=app::need").1["meta"]["complete"] == true);
    let with = |before: &str, after: &str| {
        let edit = json!({"dry_run": true, "edits": [
            {"file": "src/lib.rs", "search_context": before, "replacement": after}
        ]});
        let (status, reply) = server.post("/v1/edit", &edit);
        assert_eq!((status, &reply["meta"]["complete"]), (200, &json!(true)), "{reply}");
        let place = |it: &Value| format!("{} {}", it["line"], it["code"].as_str().unwrap_or_default());
        reply["impact"]["broken"].as_array().unwrap().iter().map(place).collect::<Vec<_>>()
    };
    assert_eq!(with("made!(one, 1u8);", "made!(one, 1u32);"), ["11 E0277"]);
    assert_eq!(with("made!(one, 1u8);", "made!(one, nothing);"), ["11 E0425"]);
    assert_eq!(with("made!(one, 1u8);", "made!(one);"), ["11 "]);
    assert_eq!(with("held!(TWO, u8, 2u8);", "held!(TWO, u8, true);"), ["17 E0308"]);
    assert_eq!(with("held!(TWO, u8, 2u8);", "held!(TWO, Missing, 2u8);"), ["17 E0425"]);
    assert_eq!(with("            self.x\n", "            self.y\n"), ["27 E0609"]);
    assert_eq!(with("        pub x: u8,", "        pub x: u16,"), ["27 E0308"]);
    assert_eq!(with("made!(one, 1u8);", "made!(one, 2u8);\nmade!(other, 3u8);"), [""; 0]);
}

const KEYS: &str = "/// Keeps the key `default` and the code behind `with`.
#[proc_macro_derive(Keyed, attributes(keyed))]
pub fn keyed(input: TokenStream) -> TokenStream {
    let mut code = TokenStream::new();
    with(input, &mut code);
    let mut output: TokenStream = \"pub fn keyed_value() -> u32\".parse().unwrap();
    output.extend([TokenTree::Group(proc_macro::Group::new(proc_macro::Delimiter::Brace, code))]);
    output
}

/// What follows `with =` in an attribute.
fn with(input: TokenStream, code: &mut TokenStream) {
    let mut is_behind = 0;
    for token in input {
        match token {
            TokenTree::Group(group) => with(group.stream(), code),
            TokenTree::Ident(it) if it.to_string() == \"with\" => is_behind = 1,
            TokenTree::Punct(it) if is_behind == 1 && it.as_char() == '=' => is_behind = 2,
            TokenTree::Ident(it) if is_behind == 2 => {
                code.extend([TokenTree::Ident(it), TokenTree::Group(proc_macro::Group::new(
                    proc_macro::Delimiter::Parenthesis,
                    TokenStream::new(),
                ))]);
                is_behind = 0;
            }
            _ => is_behind = 0,
        }
    }
}
";

const KEYED: &str = "#[derive(mac::Keyed)]
#[keyed(default, with = chosen)]
pub struct Row;
pub fn default() -> u32 {
    1
}
pub fn chosen() -> u32 {
    2
}
macro_rules! pick {
    (fast $it:expr) => { $it };
    (slow $it:expr) => { $it + 1 };
    (call $it:expr) => { fast() + $it };
}
macro_rules! run {
    ($it:expr) => { pick!(fast $it) + pick!(slow $it) + pick!(call $it) };
}
pub fn fast() -> u32 {
    run!(3)
}
pub fn slow() -> u32 {
    4
}
#[cfg(feature = \"more\")]
#[derive(mac::Keyed)]
#[cfg_attr(feature = \"more\", keyed(default, with = picked))]
pub struct Cell;
#[cfg(not(feature = \"more\"))]
#[cfg_attr(not(feature = \"more\"), derive(mac::Keyed), keyed(slow, with = taken))]
pub struct Line;
pub fn picked() -> u32 {
    5
}
pub fn taken() -> u32 {
    6
}
";

fn keyed() -> Server {
    let b = manifest("b", "[features]\nmore = []\n[dependencies]\nmac = { path = \"../mac\" }\n");
    Server::on(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"b\", \"mac\"]\nresolver = \"3\"\n"),
        ("b/Cargo.toml", &b),
        ("b/src/lib.rs", KEYED),
        ("mac/Cargo.toml", &manifest("mac", "[lib]\nproc-macro = true\n")),
        ("mac/src/lib.rs", &format!("{MAC}{KEYS}")),
    ])
}

#[test]
fn a_key_of_a_helper_attribute_names_nothing_and_its_code_does() {
    let server = keyed();
    assert_eq!(usages(&server, "b::default"), [""; 0]);
    assert_eq!(usages(&server, "b::chosen"), ["b/src/lib.rs:2:25 call"]);
}

#[test]
fn a_helper_attribute_under_a_condition_is_read_in_the_build_that_has_it() {
    let server = keyed();
    assert_eq!(usages(&server, "b::taken"), ["b/src/lib.rs:29:74 1 call"]);
    assert_eq!(usages(&server, "b::picked"), ["b/src/lib.rs:26:52 1 call"]);
}

#[test]
fn what_one_macro_passes_to_another_that_only_compares_it_names_nothing() {
    let server = keyed();
    assert_eq!(usages(&server, "b::slow"), [""; 0]);
    assert_eq!(usages(&server, "b::fast"), ["b/src/lib.rs:13:26 1 call"]);
}

const PLACED: &str = "use proc_macro::{Ident, Span, TokenStream, TokenTree};

/// Writes calls with the place of the first string.
#[proc_macro_derive(Placed, attributes(placed))]
pub fn placed(input: TokenStream) -> TokenStream {
    let code = \"impl Spot { pub fn all() -> u32 { crate::hidden() + crate::none().lost() } }\";
    at(code.parse().unwrap(), string(input).unwrap())
}

/// One name of two, with the place of the first.
#[proc_macro]
pub fn join(input: TokenStream) -> TokenStream {
    let parts: Vec<TokenTree> = input.into_iter().collect();
    let name = Ident::new(&format!(\"{}{}\", parts[0], parts[1]), parts[0].span());
    TokenTree::Ident(name).into()
}

fn string(input: TokenStream) -> Option<Span> {
    input.into_iter().find_map(|it| match it {
        TokenTree::Group(group) => string(group.stream()),
        TokenTree::Literal(literal) => Some(literal.span()),
        _ => None,
    })
}

fn at(read: TokenStream, span: Span) -> TokenStream {
    let place = |mut token: TokenTree| {
        if let TokenTree::Group(group) = &token {
            token = proc_macro::Group::new(group.delimiter(), at(group.stream(), span)).into();
        }
        token.set_span(span);
        token
    };
    read.into_iter().map(place).collect()
}
";

const PLACES: &str = "#[macro_use]
mod joined;
pub fn hidden() -> u32 {
    1
}
pub fn get_level() -> u32 {
    2
}
pub struct Held;
impl Held {
    pub fn lost(&self) -> u32 {
        3
    }
}
#[derive(mac::Placed)]
#[placed = \"text\"]
pub struct Spot;
pub fn level() -> u32 {
    level_by!(level)
}
";

/// A macro gives what it writes the place of a text that does not have the name.
#[test]
fn a_name_without_a_text_of_its_own_is_a_usage_at_the_call() {
    let joined = "macro_rules! level_by {\n    ($by:ident) => {\n        mac::join!(get_ $by)()\n    };\n}\n";
    let server = Server::on(&[
        ("Cargo.toml", ROOT_OF_TWO),
        ("b/Cargo.toml", &manifest("b", "[dependencies]\nmac = { path = \"../mac\" }\n")),
        ("b/src/lib.rs", PLACES),
        ("b/src/joined.rs", joined),
        ("mac/Cargo.toml", &manifest("mac", "[lib]\nproc-macro = true\n")),
        ("mac/src/lib.rs", PLACED),
    ]);
    assert_eq!(usages(&server, "b::hidden"), ["b/src/lib.rs:15:15 1 call"]);
    assert_eq!(usages(&server, "b::get_level"), ["b/src/lib.rs:19:5 1 read"]);
    // What the call is of is not known.
    let (_, reply) = server.get("/v1/usages?symbol=b::Held::lost");
    let possible = &reply["possible"][0];
    assert_eq!((&reply["meta"]["complete"], &possible["line"]), (&json!(false), &json!(15)), "{reply}");
    assert_eq!(possible["reason"], "macro_input", "{reply}");
    let (status, reply) = server.post("/v1/rename", &json!({"symbol": "b::Held::lost", "new_name": "found"}));
    assert_eq!((status, &reply["code"]), (422, &json!("rename_refused")), "{reply}");
}
