//! Generates a commit message in the conventional form: what changed, from the outlines of the files before and after,
//! and why it is safe, from the recorded impact of the changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use semdex_model::{Languages, OutlineItem};
use semdex_workspace::git::{Altered, Compose, Part};
use semdex_workspace::journal::Entry;
use semdex_workspace::{Cause, Workspace};

/// The largest length of the first line in characters.
const LONGEST: usize = 72;
/// The largest length of each list in the body.
const LISTED: usize = 20;
const LONGEST_SIGNATURE: usize = 160;
const PROSE: &[&str] = &["md", "txt", "rst", "adoc"];

/// What is known about the committed changes.
#[derive(Debug, Clone, Default)]
pub(super) struct ImpactSummary {
    tokens: Vec<String>,
    causes: Vec<Cause>,
    /// The number of changes with a recorded impact.
    known: usize,
    /// `src/a.rs:3: reason`.
    broken: Vec<String>,
    affected: usize,
    tests: Vec<String>,
    unchecked: Vec<String>,
}

impl ImpactSummary {
    pub(super) fn of(workspace: &Workspace, changes: &[Entry]) -> ImpactSummary {
        let tokens: Vec<String> = changes.iter().map(|it| it.id.clone()).collect();
        let known_changes = workspace.telemetry().events.made(workspace.id(), &tokens);
        let mut summary = ImpactSummary {
            causes: changes.iter().map(|it| it.cause).collect(),
            known: known_changes.len(),
            tokens,
            ..ImpactSummary::default()
        };
        for change in known_changes {
            let place = |it: &semdex_model::Affected| format!("{}:{}", it.place.file, it.place.line);
            summary.broken.extend(change.impact.broken.iter().map(|it| format!("{}: {}", place(&it.at), it.reason)));
            summary.affected += change.impact.affected.len();
            summary.tests.extend(change.impact.tests.iter().filter_map(|it| it.at.symbol.clone()));
            summary.unchecked.extend(change.impact.unchecked.iter().map(|it| it.code.clone()));
        }
        for list in [&mut summary.broken, &mut summary.tests, &mut summary.unchecked] {
            list.sort();
            list.dedup();
        }
        summary
    }
}

/// A function that generates the messages of a commit and of the commit before it.
pub(super) fn composer(languages: Languages, summary: ImpactSummary) -> Compose {
    Arc::new(move |part, files| match part {
        Part::Before => of_dirt(files),
        Part::Changes => of_changes(&languages, &summary, files),
    })
}

fn of_dirt(files: &[Altered]) -> String {
    let first = fitting([
        format!("chore: keep uncommitted work in {}", short_names(files)),
        format!("chore: keep uncommitted work in {}", counted(files.len(), "file")),
    ]);
    let lines = files.iter().map(|it| format!("{} {}", verb_of(it), it.file));
    format!("{first}\n\nIt was there before the changes that are committed next.\n\n{}", list(lines.collect()))
}

fn of_changes(languages: &Languages, summary: &ImpactSummary, files: &[Altered]) -> String {
    let symbols: Vec<Symbol> = files.iter().flat_map(|it| symbols_of(languages, it)).collect();
    let mut text = first_line(summary, files, &symbols);
    text += "\n\nWhat changed:\n";
    let mut lines: Vec<String> = symbols.iter().map(Symbol::line).collect();
    let plain = files.iter().filter(|file| !symbols.iter().any(|it| it.file == file.file));
    lines.extend(plain.map(line_of));
    text += &list(lines);
    text += "\n";
    text += &why_safe(summary);
    if !summary.tokens.is_empty() {
        text += "\n";
        for token in summary.tokens.iter().take(LISTED) {
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
fn first_line(summary: &ImpactSummary, files: &[Altered], symbols: &[Symbol]) -> String {
    let of = |what: What| symbols.iter().filter(move |it| it.what == what).collect::<Vec<_>>();
    let (added, removed, signature) = (of(What::Added), of(What::Removed), of(What::Signature));
    let is_rename = summary.causes.iter().all(|it| *it == Cause::Rename) && !summary.causes.is_empty();
    if let (true, [from, ..], [to, ..]) = (is_rename, &removed[..], &added[..]) {
        return fitting([
            format!("refactor: rename {} to {} in {}", from.short(), to.short(), short_names(files)),
            format!("refactor: rename {} to {}", from.short(), to.short()),
            format!("refactor: rename {}", shortened(from.short(), 40)),
        ]);
    }
    if !summary.causes.is_empty() && summary.causes.iter().all(|it| *it == Cause::Undo) {
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

fn why_safe(summary: &ImpactSummary) -> String {
    if summary.tokens.is_empty() {
        return "Why it is safe: nobody looked at what it reaches; these files are committed as they stand.\n"
            .to_owned();
    }
    if summary.known < summary.tokens.len() {
        return "Why it is safe: what it reaches was looked at when the changes were made, and is not kept any more.\n"
            .to_owned();
    }
    let mut text = if summary.broken.is_empty() {
        let mut text = "Why it is safe: no place was found that it breaks".to_owned();
        if summary.affected > 0 {
            text += &format!("; {} still compile", counted(summary.affected, "dependent place"));
        }
        text + ".\n"
    } else {
        format!("It breaks {}:\n{}", counted(summary.broken.len(), "place"), list(summary.broken.clone()))
    };
    if !summary.tests.is_empty() {
        let names: Vec<&str> = summary.tests.iter().map(String::as_str).collect();
        let verb = if names.len() == 1 { "reaches" } else { "reach" };
        text += &format!("{} {verb} it: {}.\n", counted(names.len(), "test"), some(&names, 5));
    }
    if !summary.unchecked.is_empty() {
        text += &format!("Not looked at: {}.\n", summary.unchecked.join(", "));
    }
    text
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

    fn message(summary: &ImpactSummary, files: &[Altered]) -> String {
        of_changes(
            Registry::new(vec![Arc::new(semdex_rust::RustKind), Arc::new(semdex_go::GoKind)], |_, _| Vec::new())
                .languages(),
            summary,
            files,
        )
    }

    fn first(files: &[Altered]) -> String {
        let message = message(&ImpactSummary::default(), files);
        let first = message.lines().next().unwrap().to_owned();
        assert!((5..=LONGEST).contains(&first.chars().count()), "{first}");
        assert!(message.contains("\n\nWhat changed:\n- ") && message.contains("\nWhy it is safe: "), "{message}");
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
    fn the_body_says_why_it_is_safe() {
        let files = [altered("x.rs", Some("fn a() {}\n"), Some("fn a(b: u8) {}\n"))];
        let summary = ImpactSummary {
            tokens: vec!["01A".to_owned()],
            causes: vec![Cause::Edit],
            known: 1,
            tests: vec!["t::one".to_owned()],
            unchecked: vec!["borrow_checker".to_owned()],
            ..ImpactSummary::default()
        };
        let safe = message(&summary, &files);
        for words in
            ["no place was found that it breaks", "1 test reaches it: t::one", "borrow_checker", "Semdex-Change: 01A\n"]
        {
            assert!(safe.contains(words), "{safe}");
        }
        let broken = ImpactSummary { broken: vec!["y.rs:3: too few".to_owned()], ..summary.clone() };
        assert!(message(&broken, &files).contains("It breaks 1 place:\n- y.rs:3: too few\n"));
        let forgotten = ImpactSummary { known: 0, ..summary };
        assert!(message(&forgotten, &files).contains("not kept any more"));
    }

    #[test]
    fn what_was_dirty_is_named() {
        let message = of_dirt(&[altered("src/a.rs", Some("a"), Some("b"))]);
        assert!(message.starts_with("chore: keep uncommitted work in a.rs\n\n"), "{message}");
    }
}
