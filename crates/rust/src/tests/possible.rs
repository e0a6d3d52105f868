//! Which places are possible usages.

use std::sync::PoisonError;

use super::*;
use crate::usages::exclusions;

/// A proof that a place cannot name a symbol is wrong if the place does name it.
#[test]
fn no_place_that_names_a_symbol_is_excluded() {
    let it = REAL.lock().unwrap_or_else(PoisonError::into_inner);
    let mut wrong = Vec::new();
    let mut checked = 0;
    for file in it.files.of(LANGUAGE) {
        let mut names = Vec::new();
        file.outline().walk(&mut |item| names.push(item.name_span.start));
        let found = it.asked(|view| {
            view.ask(|context| {
                let Some(id) = context.file_id(&file.path) else { return Ok(Vec::new()) };
                let definitions: Vec<_> =
                    names.iter().filter_map(|name| at::definition_at(&context.sema, id, *name)).collect();
                let mut wrong = Vec::new();
                let mut checked = 0;
                for (definition, mut found) in definitions.iter().zip(usages::find(context, &definitions)) {
                    // Links in docs name what their code cannot.
                    found.items.retain(|it| it.role != Role::Doc);
                    let named: Vec<Occurrence> = found.items.clone();
                    let mut found = found.into_unresolved();
                    exclusions::exclude(context, &[*definition], &mut found);
                    let kept: BTreeSet<_> = found.possible().map(|it| (it.id, it.at)).collect();
                    checked += named.len();
                    wrong.extend(named.iter().filter(|it| !kept.contains(&(it.id, it.at))).map(|it| {
                        let line = it.file.lines().place(&it.file.path, it.at).line;
                        let name = it.file.text.get(it.at.start..it.at.end).unwrap_or_default().to_owned();
                        format!("{}:{line} {name} {:?}", it.file.path, it.role)
                    }));
                }
                Ok(vec![(checked, wrong)])
            })
        });
        for (count, more) in found.unwrap() {
            checked += count;
            wrong.extend(more);
        }
    }
    println!("{checked} places, {} excluded", wrong.len());
    assert!(checked > 500 && wrong.is_empty(), "of {checked}: {wrong:#?}");
}

const LIB: &str = "\
pub struct Config { pub width: u8 }
impl Config {
    pub fn apply(&self, by: u8) -> u8 { self.width + by }
}
pub enum Kind { Plain }
pub mod other {
    pub struct Config;
}
#[cfg(windows)]
pub fn away(it: Config) {
    Config::apply(&it, 1);
    it.apply(#[cfg(unix)] 1, 2);
    it.apply(vec![1, 2]);
    it.apply();
    let f = Config::apply;
    let Config { width } = it;
    #[hidden]
    fn inner() { apply(); }
}
macro_rules! drops { ($($it:tt)*) => {} }
drops!(it.apply() width Plain);
macro_rules! takes { ($it:expr) => { $it }; }
fn unknown() { takes!(nothing.apply()); takes!(nothing.apply(1)); takes!(nothing.width); }
macro_rules! nested { ($it:expr) => { if check!($it) { $it.apply() } $it.apply(1); !apply($it) } }
macro_rules! many { ($($it:expr),*) => { $(apply $it.width)* $($it.apply(1) + width)* }; }
";

fn possible_lines(it: &Loaded, symbol: &str) -> Vec<usize> {
    let found = it.asked(|view| view.usages(&query(symbol), Window::ALL)).unwrap();
    found.value.1.possible.iter().map(|it| it.place.line).collect()
}

#[test]
fn only_certain_syntax_excludes_places() {
    let (_directory, it) = fixture(&[("Cargo.toml", MANIFEST), ("src/lib.rs", LIB)]);
    // What a macro drops names nothing. Arguments under `cfg` and code that an attribute may change are uncertain; a macro among them is one argument.
    assert_eq!(possible_lines(&it, "Config::apply"), [11, 12, 13, 15, 18, 23, 24, 25, 25]);
    assert_eq!(possible_lines(&it, "Config::width"), [16, 23, 25, 25]);
    assert_eq!(possible_lines(&it, "Kind::Plain"), [] as [usize; 0]);
    assert_eq!(possible_lines(&it, "fix_ture::unknown"), [] as [usize; 0]);
}
