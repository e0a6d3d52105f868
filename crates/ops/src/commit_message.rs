//! Generates a commit message: what changed, from the outlines of the files before and after. Its first line has the
//! form of the repository's own.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use semdex_engine::RenamedNames;
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
    let moves = moves_of(files);
    let (files, lines): (Vec<Altered>, Vec<String>) =
        (without_moves(files, &moves), moves.iter().map(Move::line).collect());
    let symbols: Vec<Symbol> = files.iter().flat_map(|it| symbols_of(languages, it)).collect();
    let symbols = with_moved_symbols(symbols);
    let mut text = first_line(recorded, &moves, &files, &symbols);
    text += "\n\nWhat changed:\n";
    let mut lines = lines;
    lines.extend(symbols.iter().map(Symbol::line));
    let is_named = |file: &Altered| {
        let is_moved = moves.iter().any(|it| it.to == file.file);
        is_moved || symbols.iter().any(|it| it.file == file.file || it.from.as_deref() == Some(&file.file))
    };
    lines.extend(files.iter().filter(|it| !is_named(it)).map(line_of));
    text += &list(lines);
    if !recorded.tokens.is_empty() {
        text += "\n";
        for token in recorded.tokens.iter().take(LISTED) {
            text += &format!("Semdex-Change: {token}\n");
        }
    }
    text
}

/// A file with another name.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Move {
    from: String,
    to: String,
}

impl Move {
    fn line(&self) -> String {
        format!("moved {} to {}", self.from, self.to)
    }
}

/// The moved files: a removed file and an added one with the same text, or else with the most lines in common, which are
/// at least half of both.
fn moves_of(files: &[Altered]) -> Vec<Move> {
    let removed = files.iter().filter(|it| it.existed && !it.exists);
    let added: Vec<&Altered> = files.iter().filter(|it| !it.existed && it.exists).collect();
    let mut moves: Vec<Move> = Vec::new();
    for old in removed {
        let Some(text) = old.old.as_deref().filter(|it| !it.trim().is_empty()) else { continue };
        let free = added.iter().filter(|it| !moves.iter().any(|taken| taken.to == it.file));
        let common = free.filter_map(|it| Some((common_lines(text, it.new.as_deref()?)?, *it)));
        if let Some((_, new)) = common.max_by_key(|it| it.0) {
            moves.push(Move { from: old.file.clone(), to: new.file.clone() });
        }
    }
    moves
}

/// How many lines two texts have in common. `None` if that is less than half of either.
fn common_lines(old: &str, new: &str) -> Option<usize> {
    let mut left: HashMap<&str, usize> = HashMap::new();
    for line in old.lines() {
        *left.entry(line).or_default() += 1;
    }
    let mut common = 0;
    for line in new.lines() {
        if let Some(count) = left.get_mut(line).filter(|it| **it > 0) {
            *count -= 1;
            common += 1;
        }
    }
    (2 * common >= old.lines().count().max(new.lines().count())).then_some(common)
}

/// The files with each moved file as one, under its new name, that is compared with its old text.
fn without_moves(files: &[Altered], moves: &[Move]) -> Vec<Altered> {
    let is_from = |file: &Altered| moves.iter().any(|it| it.from == file.file);
    let as_one = |file: &Altered| {
        let from = moves.iter().find(|it| it.to == file.file).map(|it| &it.from);
        let old = files.iter().find(|it| Some(&it.file) == from);
        let old_text = old.map_or(&file.old, |it| &it.old).clone();
        Altered { existed: file.existed || old.is_some(), old: old_text, ..file.clone() }
    };
    files.iter().filter(|it| !is_from(it)).map(as_one).collect()
}

/// A changed symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Symbol {
    file: String,
    name: String,
    what: What,
    /// The old name of a renamed symbol, the old file of a moved one.
    from: Option<String>,
    signature: String,
    /// Its whole text.
    text: String,
    is_test: bool,
    is_public: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Added,
    Removed,
    Renamed,
    Moved,
    Signature,
    Body,
}

impl Symbol {
    fn line(&self) -> String {
        let Symbol { file, name, signature, .. } = self;
        match self.what {
            What::Added => format!("added `{name}` to {file}: {signature}"),
            What::Removed => format!("removed `{name}` from {file}"),
            What::Renamed => format!("renamed `{}` to `{name}` in {file}", self.from.as_deref().unwrap_or_default()),
            What::Moved => format!("moved `{name}` from {} to {file}", self.from.as_deref().unwrap_or_default()),
            What::Signature => format!("signature of `{name}` in {file}: {signature}"),
            What::Body => format!("body of `{name}` in {file}"),
        }
    }

    fn short(&self) -> &str {
        short(&self.name)
    }

    /// The name in a first line.
    fn titled(&self) -> String {
        match (self.what, &self.from) {
            (What::Renamed, Some(from)) => format!("{} to {}", short(from), self.short()),
            _ => self.short().to_owned(),
        }
    }

    /// The text in which its own name counts as the other one.
    fn text_as(&self, other: &Symbol) -> String {
        let names = RenamedNames::new(std::iter::once((self.short(), other.short())));
        names.written_in(&self.text).into_owned()
    }

    /// Whether two symbols have the same name but for its last part.
    fn is_beside(&self, other: &Symbol) -> bool {
        let around = |it: &Symbol| it.name.strip_suffix(it.short()).map(str::to_owned);
        around(self) == around(other)
    }
}

fn short(name: &str) -> &str {
    name.rsplit(['.', ':']).next().unwrap_or(name)
}

/// Joins a removed and an added symbol with the same text: one that differs by its name, or by its file.
fn with_moved_symbols(symbols: Vec<Symbol>) -> Vec<Symbol> {
    let (removed, mut rest): (Vec<Symbol>, Vec<Symbol>) = symbols.into_iter().partition(|it| it.what == What::Removed);
    for old in removed {
        let is_added = |it: &&mut Symbol| it.what == What::Added;
        let is_renamed =
            |it: &&mut Symbol| it.file == old.file && it.is_beside(&old) && it.text_as(&old) == old.text_as(&old);
        let is_moved = |it: &&mut Symbol| it.file != old.file && it.name == old.name && it.text == old.text;
        if let Some(new) = rest.iter_mut().filter(is_added).find(is_renamed) {
            (new.what, new.from) = (What::Renamed, Some(old.name));
        } else if let Some(new) = rest.iter_mut().filter(is_added).find(is_moved) {
            (new.what, new.from) = (What::Moved, Some(old.file));
        } else {
            rest.push(old);
        }
    }
    rest.sort_by_key(|it| it.what == What::Body);
    rest
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
    let mut push = |key: &(Vec<&str>, &'static str, usize), what: What, (item, text): (&OutlineItem, &str)| {
        found.push(Symbol {
            file: file.file.clone(),
            name: key.0.join("."),
            what,
            from: None,
            text: text.to_owned(),
            is_public: item.public,
            signature: shortened(&item.signature.split_whitespace().collect::<Vec<_>>().join(" "), LONGEST_SIGNATURE),
            is_test: item.test,
        });
    };
    for (key, it) in &before {
        if !after.contains_key(key) && !is_inside(key, &before, |outer| !after.contains_key(outer)) {
            push(key, What::Removed, *it);
        }
    }
    for (key, (item, text)) in &after {
        match before.get(key) {
            None if is_inside(key, &after, |outer| !before.contains_key(outer)) => {}
            None => push(key, What::Added, (item, text)),
            Some((old, _)) if old.signature != item.signature => push(key, What::Signature, (item, text)),
            // Its members are listed separately.
            Some((_, old_text)) if old_text != text && item.children.is_empty() => push(key, What::Body, (item, text)),
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

/// `type: what`, from 5 to 72 characters. The type is no judgement of who is affected.
fn first_line(recorded: &Recorded, moves: &[Move], files: &[Altered], symbols: &[Symbol]) -> String {
    let of = |what: What| symbols.iter().filter(move |it| it.what == what).collect::<Vec<_>>();
    let causes = &recorded.causes;
    let all_are = |cause: Cause| !causes.is_empty() && causes.iter().all(|it| *it == cause);
    if let (true, Some(renamed)) = (all_are(Cause::Rename), of(What::Renamed).first()) {
        let (from, to) = (short(renamed.from.as_deref().unwrap_or_default()), renamed.short());
        return fitting([
            format!("refactor: rename {from} to {to} in {}", short_names(files)),
            format!("refactor: rename {from} to {to}"),
            format!("refactor: rename {}", shortened(from, 40)),
        ]);
    }
    if all_are(Cause::Undo) {
        return fitting([
            format!("revert: take back changes of {}", short_names(files)),
            format!("revert: take back changes of {}", counted(files.len(), "file")),
        ]);
    }
    if symbols.is_empty() {
        return if moves.is_empty() || moves.len() < files.len() { of_files(files) } else { of_moves(moves) };
    }
    let kind = kind_of(symbols);
    let done = |what: What, verb: &'static str, place: &'static str| (verb, place, of(what));
    let mut parts = vec![
        done(What::Added, "add", "to"),
        done(What::Removed, "remove", "from"),
        done(What::Renamed, "rename", "in"),
        done(What::Moved, "move", "to"),
        done(What::Signature, "change the signature of", "in"),
    ];
    parts.retain(|it| !it.2.is_empty());
    if parts.is_empty() {
        parts.push(done(What::Body, "change", "in"));
    }
    let place = if let [(_, place, _)] = parts.as_slice() { *place } else { "in" };
    let named_files: BTreeSet<&str> = parts.iter().flat_map(|it| &it.2).map(|it| it.file.as_str()).collect();
    let count = named_files.len();
    let several = some(&named_files.iter().map(|it| it.rsplit('/').next().unwrap_or(it)).collect::<Vec<_>>(), 2);
    let said = |most: usize| {
        let part = |(verb, _, named): &(&str, &str, Vec<&Symbol>)| {
            let names: Vec<String> = named.iter().map(|it| it.titled()).collect();
            format!("{verb} {}", some(&names.iter().map(String::as_str).collect::<Vec<_>>(), most))
        };
        parts.iter().map(part).collect::<Vec<_>>().join(", ")
    };
    let fewest = match parts.as_slice() {
        [(verb, _, named)] => {
            format!("{verb} {}", shortened(named.first().map_or("symbols", |it| it.short()), 36))
        }
        _ => format!("change {}", counted(parts.iter().map(|it| it.2.len()).sum(), "symbol")),
    };
    fitting([
        format!("{kind}: {} {place} {several}", said(3)),
        format!("{kind}: {} {place} {several}", said(1)),
        format!("{kind}: {} {place} {}", said(1), counted(count, "file")),
        format!("{kind}: {}", said(1)),
        format!("{kind}: {fewest} {place} {}", counted(count, "file")),
        format!("{kind}: {fewest}"),
    ])
}

/// The type of a change of symbols. Nothing says that callers are not affected, so none is a refactoring.
fn kind_of(symbols: &[Symbol]) -> &'static str {
    let has = |what: What| symbols.iter().any(|it| it.what == what);
    let is_gone = |it: &Symbol| it.is_public && matches!(it.what, What::Removed | What::Renamed);
    if symbols.iter().all(|it| it.is_test) {
        "test"
    } else if symbols.iter().any(|it| is_gone(it) && !it.is_test) {
        "feat!"
    } else if has(What::Added) || symbols.iter().any(|it| it.what == What::Signature && it.is_public) {
        "feat"
    } else if has(What::Signature) || has(What::Body) {
        "fix"
    } else {
        "chore"
    }
}

/// The first line if files are moved and nothing else is changed.
fn of_moves(moves: &[Move]) -> String {
    let [Move { from, to }] = moves else { return format!("chore: move {}", counted(moves.len(), "file")) };
    let name = |it: &str| it.rsplit('/').next().unwrap_or(it).to_owned();
    let directory = |it: &str| it.rsplit_once('/').map_or(".", |it| it.0).to_owned();
    let target = if name(from) == name(to) { directory(to) } else { name(to) };
    fitting([format!("chore: move {} to {target}", name(from)), format!("chore: move {}", shortened(&name(from), 40))])
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
            (Some("fn a() {}\nfn b() {}\n"), Some(a), "chore: remove b from x.rs"),
            (Some("pub fn b() {}\n"), Some(a), "feat!: add a, remove b in x.rs"),
            (Some("fn b() { 1; }\n"), Some(a), "feat: add a, remove b in x.rs"),
            (Some("fn b() {}\n"), Some(a), "chore: rename b to a in x.rs"),
            (
                Some("fn a() {}\nfn b() {}\n"),
                Some("fn a(b: u8) {}\nfn c() { 1; }\n"),
                "feat: add c, remove b, change the signature of a in x.rs",
            ),
            (Some(a), Some("fn a(b: u8) {}\n"), "fix: change the signature of a in x.rs"),
            (Some("pub fn a() {}\n"), Some("pub fn a(b: u8) {}\n"), "feat: change the signature of a in x.rs"),
            (Some("pub fn a() {}\nfn b() {}\n"), Some("fn b() {}\n"), "feat!: remove a from x.rs"),
            (Some(a), Some("fn a() { 1; }\n"), "fix: change a in x.rs"),
            (Some(a), Some("// A comment.\nfn a() {}\n"), "fix: change a in x.rs"),
            (None, Some(a), "feat: add a to x.rs"),
            (Some(a), None, "chore: remove a from x.rs"),
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
        assert!(message.contains("\n- renamed `a` to `b` in x.rs\n") && !message.contains("added"), "{message}");
        assert!(message.ends_with("\nSemdex-Change: 01A\n"), "{message}");
    }

    #[test]
    fn what_is_moved_is_neither_added_nor_removed() {
        let text = "package shop\n\ntype Cart struct {\n\tSum int\n}\n\nfunc (c Cart) Total() int { return c.Sum }\n";
        let of = |new: &str| {
            message(
                &Recorded::default(),
                &[altered("basket.go", None, Some(new)), altered("cart.go", Some(text), None)],
            )
        };
        assert_eq!(of(text), "chore: move cart.go to basket.go\n\nWhat changed:\n- moved cart.go to basket.go\n");
        let more = of(&format!("{text}\nfunc (c Cart) Empty() bool {{ return c.Sum == 0 }}\n"));
        assert!(
            more.starts_with("feat: add Empty to basket.go\n") && more.contains("\n- moved cart.go to basket.go\n"),
            "{more}"
        );
        let elsewhere =
            message(&Recorded::default(), &[altered("a/x.rs", Some(text), None), altered("b/x.rs", None, Some(text))]);
        assert!(elsewhere.starts_with("chore: move x.rs to b\n"), "{elsewhere}");
        // Another text is another file.
        let other = of("package shop\n\nfunc Sum() int { return 1 }\n");
        assert!(other.starts_with("feat!: add Sum, remove Cart") && !other.contains("- moved"), "{other}");
        // A function that goes to a file that stays.
        let kept = "fn kept() {}\n";
        let both = format!("{kept}fn f() {{\n    1;\n}}\n");
        let files = [
            altered("a.rs", Some(&both), Some(kept)),
            altered("b.rs", Some("fn g() {}\n"), Some("fn g() {}\nfn f() {\n    1;\n}\n")),
        ];
        let moved = message(&Recorded::default(), &files);
        assert!(moved.starts_with("chore: move f to b.rs\n"), "{moved}");
        assert!(moved.contains("\n- moved `f` from a.rs to b.rs\n") && !moved.contains("added"), "{moved}");
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
