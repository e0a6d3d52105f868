//! Generates a commit message: what changed, from the outlines of the files before and after. Its first line has the
//! form of the repository's own.

use std::collections::BTreeMap;
use std::sync::Arc;

use semdex_model::{Languages, OutlineItem};
use semdex_workspace::Cause;
use semdex_workspace::git::{Altered, Compose, Part};
use semdex_workspace::journal::Entry;

/// The largest length of the first line in characters.
const LONGEST: usize = 72;
/// The largest length of each list in the body.
const LISTED: usize = 20;
const LONGEST_SIGNATURE: usize = 160;
const PROSE: &[&str] = &["md", "txt", "rst", "adoc"];

/// What is known about the committed changes.
#[derive(Debug, Clone, Default)]
pub(super) struct Recorded {
    tokens: Vec<String>,
    causes: Vec<Cause>,
}

impl Recorded {
    pub(super) fn of(changes: &[Entry]) -> Recorded {
        Recorded {
            tokens: changes.iter().map(|it| it.id.clone()).collect(),
            causes: changes.iter().map(|it| it.cause).collect(),
        }
    }
}

/// A function that generates the messages of a commit and of the commit before it.
pub(super) fn composer(languages: Languages, recorded: Recorded) -> Compose {
    Arc::new(move |part, files, subjects| {
        let message = match part {
            Part::Before => of_dirt(files),
            Part::Changes => of_changes(&languages, &recorded, files),
        };
        Form::of(subjects).of_message(&message, files)
    })
}

/// The message of a commit that reverts another one, in the form of the repository: git's own, except where commits
/// have types.
pub(super) fn revert(subject: &str, commit: &str, subjects: &[String]) -> String {
    let subject: String = subject.chars().filter(|it| !it.is_control()).collect();
    let [before, after] = if Form::of(subjects) == Form::Conventional { ["revert: ", ""] } else { ["Revert \"", "\""] };
    let room = LONGEST - before.chars().count() - after.chars().count();
    let mut subject = subject.trim().to_owned();
    if subject.chars().count() > room {
        subject = subject.chars().take(room - 1).chain(['…']).collect();
    }
    format!("{before}{subject}{after}\n\nThis reverts commit {commit}.\n")
}

/// The form of the first lines of a repository's commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `feat: add b to x.rs`.
    Conventional,
    /// `printer: add b to x.rs`, with the part of the repository that changes.
    Scoped,
    /// `Add b to x.rs`.
    Capital,
    /// `add b to x.rs`.
    Small,
}

impl Form {
    /// The form of most of these lines. A young repository has none yet.
    fn of(subjects: &[String]) -> Form {
        const FEW: usize = 3;
        let is_typed = |it: &&String| kind_and_rest(it).is_some_and(|it| KINDS.contains(&it.0));
        let is_scoped = |it: &&String| kind_and_rest(it).is_some_and(|it| !KINDS.contains(&it.0));
        let is_most = |count: usize| 2 * count >= subjects.len();
        if subjects.len() < FEW || is_most(subjects.iter().filter(is_typed).count()) {
            return Form::Conventional;
        }
        if is_most(subjects.iter().filter(is_scoped).count()) {
            return Form::Scoped;
        }
        let is_capital = |it: &&String| it.chars().next().is_some_and(char::is_uppercase);
        if is_most(subjects.iter().filter(is_capital).count()) { Form::Capital } else { Form::Small }
    }

    /// A conventional message in this form.
    fn of_message(self, message: &str, files: &[Altered]) -> String {
        match (self, kind_and_rest(message)) {
            (Form::Scoped, Some((_, rest))) => match scope(files) {
                // The first line keeps its length: the scope takes the place of the type.
                Some(scope) if scope.len() <= LONGEST_SCOPE => format!("{scope}: {rest}"),
                _ => rest.to_owned(),
            },
            (Form::Capital, Some((_, rest))) => {
                let mut rest = rest.chars();
                rest.next().into_iter().flat_map(char::to_uppercase).chain(rest).collect()
            }
            (Form::Small, Some((_, rest))) => rest.to_owned(),
            _ => message.to_owned(),
        }
    }
}

/// The types of conventional commits.
const KINDS: [&str; 11] =
    ["build", "chore", "ci", "docs", "feat", "fix", "perf", "refactor", "revert", "style", "test"];
/// A longer name is left out.
const LONGEST_SCOPE: usize = 8;

/// The type or the scope of a first line, and what follows: `feat(cli)!: add b`, `net/http: add b`.
fn kind_and_rest(subject: &str) -> Option<(&str, &str)> {
    let (kind, rest) = subject.split_once(": ")?;
    let name = kind.split('(').next()?.trim_end_matches('!');
    let is_part = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || "-_/.".contains(it);
    let is_kind = !name.is_empty() && name.len() <= 30 && name.chars().all(is_part);
    let has_scope_end = !kind.contains('(') || kind.trim_end_matches('!').ends_with(')');
    (is_kind && has_scope_end).then_some((name, rest))
}

/// The part of the repository that all files are in: the innermost directory around the sources, or the file's own name
/// at the top.
fn scope(files: &[Altered]) -> Option<String> {
    let of = |file: &str| {
        let mut parts: Vec<&str> = file.split('/').collect();
        let name = parts.pop()?.split('.').next()?.to_owned();
        let inner = parts.iter().take_while(|it| !matches!(**it, "src" | "lib" | "tests")).last();
        Some(inner.map_or(name, |it| (*it).to_owned()))
    };
    let first = of(&files.first()?.file)?;
    files.iter().all(|it| of(&it.file).as_ref() == Some(&first)).then_some(first)
}

fn of_dirt(files: &[Altered]) -> String {
    let first = fitting([
        format!("chore: keep uncommitted work in {}", short_names(files)),
        format!("chore: keep uncommitted work in {}", counted(files.len(), "file")),
    ]);
    let lines = files.iter().map(|it| format!("{} {}", verb_of(it), it.file));
    format!("{first}\n\n{}", list(lines.collect()))
}

fn of_changes(languages: &Languages, recorded: &Recorded, files: &[Altered]) -> String {
    let symbols: Vec<Symbol> = files.iter().flat_map(|it| symbols_of(languages, it)).collect();
    let mut text = first_line(recorded, files, &symbols);
    text += "\n\nWhat changed:\n";
    let mut lines: Vec<String> = symbols.iter().map(Symbol::line).collect();
    let plain = files.iter().filter(|file| !symbols.iter().any(|it| it.file == file.file));
    lines.extend(plain.map(line_of));
    text += &list(lines);
    if !recorded.tokens.is_empty() {
        text += "\n";
        for token in recorded.tokens.iter().take(LISTED) {
            text += &format!("Semdex-Change: {token}\n");
        }
    }
    text
}

/// A changed symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Symbol {
    file: String,
    name: String,
    what: What,
    signature: String,
    is_test: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Added,
    Removed,
    Signature,
    Body,
}

impl Symbol {
    fn line(&self) -> String {
        let Symbol { file, name, signature, .. } = self;
        match self.what {
            What::Added => format!("added `{name}` to {file}: {signature}"),
            What::Removed => format!("removed `{name}` from {file}"),
            What::Signature => format!("signature of `{name}` in {file}: {signature}"),
            What::Body => format!("body of `{name}` in {file}"),
        }
    }

    fn short(&self) -> &str {
        self.name.rsplit(['.', ':']).next().unwrap_or(&self.name)
    }
}

/// The items of a text by their qualified names. Items with the same name are numbered.
type Items<'a> = BTreeMap<(Vec<&'a str>, &'static str, usize), (&'a OutlineItem, &'a str)>;

fn symbols_of(languages: &Languages, file: &Altered) -> Vec<Symbol> {
    let Some(language) = languages.of(&file.file) else { return Vec::new() };
    let of = |text: &Option<String>, is_there: bool| match text {
        Some(text) => (!language.syntax.is_too_deep(text)).then(|| (language.syntax.outline(text), text.clone())),
        // A file whose content was not read has no known symbols.
        None => (!is_there).then(Default::default),
    };
    let (Some((old, old_text)), Some((new, new_text))) = (of(&file.old, file.existed), of(&file.new, file.exists))
    else {
        return Vec::new();
    };
    let (mut before, mut after) = (Items::new(), Items::new());
    old.items.iter().for_each(|it| collect(it, &old_text, &mut Vec::new(), &mut before));
    new.items.iter().for_each(|it| collect(it, &new_text, &mut Vec::new(), &mut after));
    let mut found = Vec::new();
    let mut push = |key: &(Vec<&str>, &'static str, usize), what: What, item: &OutlineItem| {
        found.push(Symbol {
            file: file.file.clone(),
            name: key.0.join("."),
            what,
            signature: shortened(&item.signature.split_whitespace().collect::<Vec<_>>().join(" "), LONGEST_SIGNATURE),
            is_test: item.test,
        });
    };
    for (key, (item, _)) in &before {
        if !after.contains_key(key) && !is_inside(key, &before, |outer| !after.contains_key(outer)) {
            push(key, What::Removed, item);
        }
    }
    for (key, (item, text)) in &after {
        match before.get(key) {
            None if is_inside(key, &after, |outer| !before.contains_key(outer)) => {}
            None => push(key, What::Added, item),
            Some((old, _)) if old.signature != item.signature => push(key, What::Signature, item),
            // Its members are listed separately.
            Some((_, old_text)) if old_text != text && item.children.is_empty() => push(key, What::Body, item),
            Some(_) => {}
        }
    }
    found
}

/// Whether an enclosing item is already listed.
fn is_inside(
    key: &(Vec<&str>, &'static str, usize),
    items: &Items,
    is_listed: impl Fn(&(Vec<&str>, &'static str, usize)) -> bool,
) -> bool {
    let is_around = |it: &Vec<&str>| it.len() < key.0.len() && key.0.starts_with(it);
    items.keys().any(|it| is_around(&it.0) && is_listed(it))
}

fn collect<'a>(item: &'a OutlineItem, text: &'a str, around: &mut Vec<&'a str>, into: &mut Items<'a>) {
    let depth = around.len();
    if depth == 0 {
        around.extend(item.container.iter().map(String::as_str));
    }
    around.push(&item.name);
    let own = text.get(item.span.start..item.span.end).unwrap_or_default();
    let mut number = 0;
    while into.contains_key(&(around.clone(), item.kind.name(), number)) {
        number += 1;
    }
    into.insert((around.clone(), item.kind.name(), number), (item, own));
    for child in &item.children {
        collect(child, text, around, into);
    }
    around.truncate(depth);
}

/// `type: what`, from 5 to 72 characters.
fn first_line(recorded: &Recorded, files: &[Altered], symbols: &[Symbol]) -> String {
    let of = |what: What| symbols.iter().filter(move |it| it.what == what).collect::<Vec<_>>();
    let (added, removed, signature) = (of(What::Added), of(What::Removed), of(What::Signature));
    let is_rename = recorded.causes.iter().all(|it| *it == Cause::Rename) && !recorded.causes.is_empty();
    if let (true, [from, ..], [to, ..]) = (is_rename, &removed[..], &added[..]) {
        return fitting([
            format!("refactor: rename {} to {} in {}", from.short(), to.short(), short_names(files)),
            format!("refactor: rename {} to {}", from.short(), to.short()),
            format!("refactor: rename {}", shortened(from.short(), 40)),
        ]);
    }
    if !recorded.causes.is_empty() && recorded.causes.iter().all(|it| *it == Cause::Undo) {
        return fitting([
            format!("revert: take back changes of {}", short_names(files)),
            format!("revert: take back changes of {}", counted(files.len(), "file")),
        ]);
    }
    let only_tests = !symbols.is_empty() && symbols.iter().all(|it| it.is_test);
    let (kind, verb, named) = if !added.is_empty() {
        ("feat", "add", added)
    } else if !removed.is_empty() {
        ("refactor", "remove", removed)
    } else if !signature.is_empty() {
        ("refactor", "change the signature of", signature)
    } else if !symbols.is_empty() {
        ("fix", "change", symbols.iter().collect())
    } else {
        return of_files(files);
    };
    let kind = if only_tests { "test" } else { kind };
    let names: Vec<&str> = named.iter().map(|it| it.short()).collect();
    let place = if verb == "add" {
        "to"
    } else if verb == "remove" {
        "from"
    } else {
        "in"
    };
    let several = short_names(files);
    fitting([
        format!("{kind}: {verb} {} {place} {several}", some(&names, 3)),
        format!("{kind}: {verb} {} {place} {several}", some(&names, 1)),
        format!("{kind}: {verb} {} {place} {}", some(&names, 1), counted(files.len(), "file")),
        format!("{kind}: {verb} {}", some(&names, 1)),
        format!("{kind}: {verb} {}", shortened(names.first().unwrap_or(&"symbols"), 36)),
    ])
}

/// The first line if no outline shows a change.
fn of_files(files: &[Altered]) -> String {
    let all = |is: &dyn Fn(&str) -> bool| files.iter().all(|it| is(&it.file));
    let kind = if all(&|it| it.rsplit_once('.').is_some_and(|(_, extension)| PROSE.contains(&extension))) {
        "docs"
    } else if all(&|it| it.split('/').any(|part| part == "tests" || part == "test")) {
        "test"
    } else if all(&|it| it.starts_with(".github/") || it.starts_with(".gitlab")) {
        "ci"
    } else {
        "chore"
    };
    let verb = match files {
        [first, rest @ ..] if rest.iter().all(|it| verb_of(it) == verb_of(first)) => verb_of(first),
        _ => "change",
    };
    fitting([
        format!("{kind}: {verb} {}", short_names(files)),
        format!("{kind}: {verb} {}", counted(files.len(), "file")),
        format!("{kind}: change files"),
    ])
}

/// The line for a file without listed symbols.
fn line_of(file: &Altered) -> String {
    let verb = verb_of(file);
    match &file.leads_to {
        Some(target) => format!("{verb} {}, a link to {}", file.file, shortened(target, LONGEST_SIGNATURE)),
        None => format!("{verb} {}{}", file.file, line_counts(file)),
    }
}

fn verb_of(file: &Altered) -> &'static str {
    match (file.existed, file.exists) {
        (false, _) => "add",
        (_, false) => "remove",
        _ => "change",
    }
}

fn line_counts(file: &Altered) -> String {
    let (Some(old), Some(new)) = (&file.old, &file.new) else { return String::new() };
    let (old, new) = (old.lines().count(), new.lines().count());
    if old == new { String::new() } else { format!(" ({old} lines before, {new} now)") }
}

/// The names of the files without their directories.
fn short_names(files: &[Altered]) -> String {
    let names: Vec<&str> = files.iter().map(|it| it.file.rsplit('/').next().unwrap_or(&it.file)).collect();
    some(&names, 2)
}

/// "a, b and 3 more".
fn some(names: &[&str], most: usize) -> String {
    let shown = names.get(..most).unwrap_or(names).join(", ");
    let more = names.len().saturating_sub(most);
    plain(&if more == 0 { shown } else { format!("{shown} and {more} more") })
}

fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

/// The first line that is short enough, or the last one, cut.
fn fitting<const N: usize>(lines: [String; N]) -> String {
    let lines = lines.map(|it| plain(&it));
    match lines.iter().find(|it| it.chars().count() <= LONGEST) {
        Some(line) => line.clone(),
        None => shortened(lines.last().map_or("chore: change files", String::as_str), LONGEST),
    }
}

fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// Replaces line breaks and control characters in names.
fn plain(text: &str) -> String {
    text.chars().map(|it| if it.is_control() { '?' } else { it }).collect()
}

fn list(mut lines: Vec<String>) -> String {
    let more = lines.len().saturating_sub(LISTED);
    lines.truncate(LISTED);
    let mut text: String = lines.iter().map(|it| format!("- {}\n", plain(it))).collect();
    if more > 0 {
        text += &format!("- and {more} more\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use semdex_engine::Registry;

    fn altered(file: &str, old: Option<&str>, new: Option<&str>) -> Altered {
        Altered {
            file: file.to_owned(),
            existed: old.is_some(),
            exists: new.is_some(),
            old: old.map(str::to_owned),
            new: new.map(str::to_owned),
            leads_to: None,
        }
    }

    fn message(recorded: &Recorded, files: &[Altered]) -> String {
        of_changes(
            Registry::new(vec![Arc::new(semdex_rust::RustKind), Arc::new(semdex_go::GoKind)], |_, _| Vec::new())
                .languages(),
            recorded,
            files,
        )
    }

    fn first(files: &[Altered]) -> String {
        let message = message(&Recorded::default(), files);
        let first = message.lines().next().unwrap().to_owned();
        assert!((5..=LONGEST).contains(&first.chars().count()), "{first}");
        assert!(message.contains("\n\nWhat changed:\n- ") && !message.contains("safe"), "{message}");
        first
    }

    #[test]
    fn the_first_line_says_what_changed() {
        let a = "fn a() {}\n";
        for (old, new, wanted) in [
            (Some(a), Some("fn a() {}\nfn b() {}\n"), "feat: add b to x.rs"),
            (Some("fn a() {}\nfn b() {}\n"), Some(a), "refactor: remove b from x.rs"),
            (Some(a), Some("fn a(b: u8) {}\n"), "refactor: change the signature of a in x.rs"),
            (Some(a), Some("fn a() { 1; }\n"), "fix: change a in x.rs"),
            (Some(a), Some("// A comment.\nfn a() {}\n"), "fix: change a in x.rs"),
            (None, Some(a), "feat: add a to x.rs"),
            (Some(a), None, "refactor: remove a from x.rs"),
            (
                Some("struct S;\nimpl S {\n    fn f(&self) {}\n}\n"),
                Some("struct S;\nimpl S {\n    fn f(&self) { 1; }\n}\n"),
                "fix: change f in x.rs",
            ),
            (Some(a), Some("fn a() {}\n#[test]\nfn t() {}\n"), "test: add t to x.rs"),
        ] {
            let found = first(&[altered("src/x.rs", old, new)]);
            assert!(
                found == wanted || wanted.contains("change a in") && found.ends_with("x.rs"),
                "{found}, not {wanted}"
            );
        }
        assert_eq!(first(&[altered("docs/a.md", Some("a"), Some("b"))]), "docs: change a.md");
        assert_eq!(first(&[altered("a.bin", None, None)]), "chore: add a.bin");
        let many: Vec<Altered> =
            (0..9).map(|it| altered(&format!("{}{it}.txt", "n".repeat(60)), Some("a"), None)).collect();
        assert_eq!(first(&many), "docs: remove 9 files");
        let long = format!("fn {}() {{}}\n", "x".repeat(200));
        first(&[altered(&format!("src/{}.rs", "y".repeat(200)), None, Some(&long))]);
        first(&[altered("new\nline.txt", None, Some(""))]);
    }

    #[test]
    fn the_first_line_has_the_form_of_the_repository() {
        let form = |subjects: &[&str]| Form::of(&subjects.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
        assert_eq!(form(&["first", "second"]), Form::Conventional);
        assert_eq!(form(&["feat(cli)!: a", "fix: b", "Merge"]), Form::Conventional);
        assert_eq!(form(&["Add a", "printer: fix b", "Fix c", "Say: d"]), Form::Capital);
        assert_eq!(form(&["net/http: add a", "b", "c: d", "cmd/go: e"]), Form::Scoped);
        assert_eq!(form(&["add a", "b", "c: d", "fix e"]), Form::Small);
        let of = |form: Form, file: &str| form.of_message("feat: add b to x.rs\n", &[altered(file, None, Some(""))]);
        assert_eq!(of(Form::Scoped, "crates/printer/src/x.rs"), "printer: add b to x.rs\n");
        assert_eq!(of(Form::Scoped, "context.go"), "context: add b to x.rs\n");
        assert_eq!(of(Form::Scoped, "crates/very_long_name/src/x.rs"), "add b to x.rs\n");
        let message = "feat: add b to x.rs\n\nWhat changed:\n";
        assert_eq!(Form::Capital.of_message(message, &[]), "Add b to x.rs\n\nWhat changed:\n");
        assert_eq!(Form::Small.of_message(message, &[]), "add b to x.rs\n\nWhat changed:\n");
        assert_eq!(Form::Conventional.of_message(message, &[]), message);
    }

    #[test]
    fn a_rename_is_a_refactoring() {
        let files = [altered("x.rs", Some("fn a() {}\n"), Some("fn b() {}\n"))];
        let recorded = Recorded { tokens: vec!["01A".to_owned()], causes: vec![Cause::Rename] };
        let message = message(&recorded, &files);
        assert!(message.starts_with("refactor: rename a to b in x.rs\n"), "{message}");
        assert!(message.ends_with("\nSemdex-Change: 01A\n"), "{message}");
    }

    #[test]
    fn what_was_dirty_is_named() {
        let message = of_dirt(&[altered("src/a.rs", Some("a"), Some("b"))]);
        assert!(message.starts_with("chore: keep uncommitted work in a.rs\n\n"), "{message}");
    }

    #[test]
    fn a_revert_is_in_the_form_of_the_repository() {
        let typed = ["fix: a", "feat: b", "docs: c"].map(str::to_owned);
        let plain = ["Add a", "Fix b", "Bump c"].map(str::to_owned);
        assert_eq!(revert("fix: a", "abc", &typed), "revert: fix: a\n\nThis reverts commit abc.\n");
        assert_eq!(revert("Add a\n", "abc", &plain), "Revert \"Add a\"\n\nThis reverts commit abc.\n");
        for subjects in [&typed, &plain] {
            let long = revert(&"é".repeat(100), "abc", subjects);
            assert_eq!(long.lines().next().map(|it| it.chars().count()), Some(LONGEST));
        }
    }
}
