//! The compiler's errors for edits of the fixtures, checked in: `fixtures/truth/NAME.json` has, by edit, each place
//! that rustc reports with its code, and the version of rustc. A test compares with these files and starts no compiler.
//! If a fixture or an edit has changed, the test fails and names the command that runs the compiler again.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use ra_ap_syntax::{AstNode as _, Direction, Edition, SyntaxKind, TextRange, ast};
use serde::{Deserialize, Serialize};

use super::*;
use semdex_model::{ChangeImpact, Diagnostic, Severity};
use semdex_text::words::words;

/// Runs the compiler and records its errors; with `check` in place of `record` they are compared with the recorded
/// ones.
const RECORD: &str = "cargo xtask truth record";

/// A crate that compiles, and is edited.
pub(super) struct Suite<'s> {
    pub(super) name: &'s str,
    pub(super) files: &'s [(&'s str, &'s str)],
    /// Whether its macros are built.
    pub(super) is_built: bool,
}

pub(super) struct Edit<'s> {
    pub(super) name: &'s str,
    pub(super) file: &'s str,
    pub(super) from: &'s str,
    pub(super) to: &'s str,
}

/// The items of a file in the call of a macro that writes what it is given.
pub(super) fn within_macro(text: &str) -> String {
    let is_inner = |it: &&str| it.starts_with("#![") || it.starts_with("//!");
    let head: Vec<&str> = text.lines().filter(is_inner).collect();
    let items: Vec<&str> = text.lines().filter(|it| !is_inner(it)).collect();
    let (head, items) = (head.join("\n"), items.join("\n"));
    format!("{head}\nmacro_rules! same {{ ($($it:tt)*) => {{ $($it)* }} }}\nsame! {{\n{items}\n}}\n")
}

/// The errors of an edit: `file:line code`, or `file:line` for an error without a code.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Broken {
    /// A hash of the edit.
    edit: String,
    /// The places that have to be edited.
    errors: BTreeSet<String>,
    /// Errors that disappear when the errors of `errors` are fixed. They need not be reported.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    consequences: BTreeSet<String>,
    /// Unresolved names that appear when each broken import is removed: a broken import hides them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    behind_imports: BTreeSet<String>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Truth {
    rustc: String,
    /// A hash of the fixture's files.
    fixture: String,
    edits: BTreeMap<String, Broken>,
}

impl Truth {
    fn directory() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/fixtures/truth")
    }

    fn path(suite: &Suite<'_>) -> PathBuf {
        Truth::directory().join(format!("{}.json", suite.name))
    }

    /// The recorded errors of a suite, if they match; on request they are first recorded or checked.
    fn of(suite: &Suite<'_>, edits: &[Edit<'_>]) -> Truth {
        let names: BTreeSet<&str> = edits.iter().map(|it| it.name).collect();
        assert_eq!(names.len(), edits.len(), "each edit of {} has a name of its own", suite.name);
        match std::env::var("SEMDEX_TRUTH").as_deref() {
            Ok("record") => Truth::compile(suite, edits).write(suite),
            Ok("check") => {
                let (kept, now) = (Truth::read(suite), Truth::compile(suite, edits));
                for (name, broken) in &now.edits {
                    assert_eq!(Some(broken), kept.edits.get(name), "{}: {name}: {}", suite.name, now.rustc);
                }
            }
            _ => {}
        }
        let kept = Truth::read(suite);
        let ask = format!("ask the compiler by `{RECORD}`");
        assert_eq!(kept.fixture, hash_of_files(suite.files), "the fixture {} changed: {ask}", suite.name);
        for edit in edits {
            let is_same = kept.edits.get(edit.name).is_some_and(|it| it.edit == edit.hash());
            assert!(is_same, "{}: what is kept of \"{}\" is missing or old: {ask}", suite.name, edit.name);
        }
        let left: Vec<&String> = kept.edits.keys().filter(|it| !names.contains(it.as_str())).collect();
        assert!(left.is_empty(), "{}: kept of edits that are no more: {left:?}: {ask}", suite.name);
        kept
    }

    fn read(suite: &Suite<'_>) -> Truth {
        let text = std::fs::read_to_string(Truth::path(suite));
        let text = text.unwrap_or_else(|_| panic!("nothing is kept of {}: ask the compiler by `{RECORD}`", suite.name));
        serde_json::from_str(&text).unwrap()
    }

    fn write(&self, suite: &Suite<'_>) {
        std::fs::create_dir_all(Truth::directory()).unwrap();
        let text = serde_json::to_string_pretty(self).unwrap();
        std::fs::write(Truth::path(suite), text + "\n").unwrap();
    }

    fn compile(suite: &Suite<'_>, edits: &[Edit<'_>]) -> Truth {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in suite.files {
            let path = directory.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let compiler = Compiler { root: directory.path().canonicalize().unwrap(), runs: Cell::new(0) };
        let started = Instant::now();
        assert_eq!(places(&compiler.errors()), BTreeSet::new(), "the fixture {} compiles", suite.name);
        let text_of = |file: &str| suite.files.iter().find(|it| it.0 == file).unwrap().1;
        let impact = edits.iter().map(|edit| {
            let (path, text) = (compiler.root.join(edit.file), text_of(edit.file));
            write_later(&path, &text.replacen(edit.from, edit.to, 1));
            let errors = compiler.errors();
            let found = places(&errors);
            let consequences = match edit.renamed(text) {
                Some((old, new)) => compiler.mended_by_renaming(&errors, old, &new),
                None => BTreeSet::new(),
            };
            let behind = compiler.missed_without_imports(errors);
            write_later(&path, text);
            let behind_imports = behind.difference(&found).cloned().collect();
            let errors = found.difference(&consequences).cloned().collect();
            (edit.name.to_owned(), Broken { edit: edit.hash(), errors, consequences, behind_imports })
        });
        let edits = impact.collect();
        println!("{}: {} runs of `cargo check`, {:?}", suite.name, compiler.runs.get(), started.elapsed());
        Truth { rustc: version(), fixture: hash_of_files(suite.files), edits }
    }
}

impl Edit<'_> {
    fn hash(&self) -> String {
        hash_of(&[self.file, self.from, self.to])
    }

    /// The name that is unresolved after the edit, and its replacement, if the edit only renames an item, moves it into
    /// a module, or removes an import.
    fn renamed(&self, text: &str) -> Option<(&str, String)> {
        let first = |it: &str| words(it).next().map_or("", |it| it.1).to_owned();
        // A removed import: each name can be written with its path.
        let path = self.from.trim().strip_prefix("use ").and_then(|it| it.strip_suffix(';'));
        if let Some(path) = path.filter(|it| self.to.trim().is_empty() && !it.contains('{')) {
            return Some((path.rsplit("::").next()?, path.to_owned()));
        }
        if let Some(module) = self.to.strip_prefix("pub mod ").map(first).filter(|_| !self.from.starts_with("pub mod"))
        {
            // Moved into a module.
            let declares = |it: &(usize, &str)| matches!(it.1, "enum" | "fn" | "struct" | "trait" | "type");
            let name = words(self.from).skip_while(|it| !declares(it)).nth(1)?.1;
            return Some((name, format!("{module}::{name}")));
        }
        let (old, new): (Vec<_>, Vec<_>) = (words(self.from).collect(), words(self.to).collect());
        let mut names = old.iter().zip(&new).map(|(old, new)| (old.1, new.1)).filter(|(old, new)| old != new);
        let (old, new) = names.next().filter(|_| names.next().is_none())?;
        let is_new = words(text).all(|it| it.1 != new);
        let is_all = self.from.replacen(old, new, 1) == self.to;
        (is_all && is_new).then(|| (old, new.to_owned()))
    }
}

fn hash_of(parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&part.len().to_le_bytes()).update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// Writes a file that is newer than what Cargo made of any before, however fast it was.
fn write_later(path: &Path, text: &str) {
    static WRITTEN: AtomicU64 = AtomicU64::new(1);
    let later = Duration::from_secs(WRITTEN.fetch_add(1, Ordering::Relaxed) * 10);
    std::fs::write(path, text).unwrap();
    std::fs::File::options().append(true).open(path).unwrap().set_modified(SystemTime::now() + later).unwrap();
}

fn hash_of_files(files: &[(&str, &str)]) -> String {
    let parts: Vec<&str> = files.iter().flat_map(|it| [it.0, it.1]).collect();
    hash_of(&parts)
}

/// `rustc 1.95.0`
fn version() -> String {
    let said = Command::new("rustc").arg("--version").output().unwrap();
    String::from_utf8(said.stdout).unwrap().split(' ').take(2).collect::<Vec<_>>().join(" ")
}

/// An error of the compiler, at its primary span.
struct Reported {
    file: String,
    line: usize,
    column: usize,
    code: String,
    message: String,
}

impl Reported {
    /// Whether it is about an unresolved name.
    fn is_of_name(&self) -> bool {
        matches!(
            self.code.as_str(),
            "E0404" | "E0405" | "E0412" | "E0422" | "E0425" | "E0432" | "E0433" | "E0531" | "E0603"
        ) || self.message.starts_with("cannot find macro")
    }
}

fn places(errors: &[Reported]) -> BTreeSet<String> {
    errors.iter().map(|it| place_of(&it.file, it.line, &it.code)).collect()
}

fn place_of(file: &str, line: usize, code: &str) -> String {
    format!("{file}:{line} {code}").trim_end().to_owned()
}

struct Compiler {
    root: PathBuf,
    runs: Cell<usize>,
}

impl Compiler {
    fn errors(&self) -> Vec<Reported> {
        self.runs.set(self.runs.get() + 1);
        let done = Command::new("cargo")
            .args(["check", "--workspace", "--all-targets", "--keep-going", "--offline", "--quiet"])
            .arg("--message-format=json")
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", self.root.join("target"))
            .output()
            .unwrap();
        let mut found = Vec::new();
        for line in String::from_utf8_lossy(&done.stdout).lines() {
            let said: serde_json::Value = serde_json::from_str(line).unwrap();
            let message = &said["message"];
            let spans = message["spans"].as_array().filter(|_| message["level"] == "error");
            for mut span in spans.into_iter().flatten().filter(|it| it["is_primary"] == true) {
                // For the expansion of an external macro the place is its call.
                while span["file_name"].as_str().is_some_and(|it| Path::new(it).is_absolute()) {
                    span = &span["expansion"]["span"];
                }
                let Some(file) = span["file_name"].as_str() else { continue };
                let number = |it: &serde_json::Value| usize::try_from(it.as_u64().unwrap()).unwrap();
                found.push(Reported {
                    file: file.to_owned(),
                    line: number(&span["line_start"]),
                    column: number(&span["column_start"]),
                    code: message["code"]["code"].as_str().unwrap_or_default().to_owned(),
                    message: message["message"].as_str().unwrap_or_default().to_owned(),
                });
            }
        }
        found
    }

    /// Which of these errors disappear when the new name replaces the old one on each line where it is unresolved. The
    /// files are restored afterwards.
    fn mended_by_renaming(&self, errors: &[Reported], old: &str, new: &str) -> BTreeSet<String> {
        let mut originals: BTreeMap<String, String> = BTreeMap::new();
        let mut edited: BTreeSet<(String, usize)> = BTreeSet::new();
        let mut left: Vec<(String, usize)> = errors.iter().map(|it| (it.file.clone(), it.line)).collect();
        for _ in 0..8 {
            let fresh: BTreeSet<(String, usize)> = left.iter().filter(|it| !edited.contains(*it)).cloned().collect();
            let mut is_any = false;
            for (file, line) in fresh {
                let text = std::fs::read_to_string(self.root.join(&file)).unwrap();
                let mended = with_name_in_line(&text, line, old, new);
                if mended != text {
                    is_any = true;
                    write_later(&self.root.join(&file), &mended);
                    originals.entry(file.clone()).or_insert(text);
                    edited.insert((file, line));
                }
            }
            if !is_any {
                break;
            }
            left = self.errors().into_iter().map(|it| (it.file, it.line)).collect();
        }
        originals.iter().for_each(|(file, text)| write_later(&self.root.join(file), text));
        let is_gone = |it: &&Reported| {
            let at = (it.file.clone(), it.line);
            !edited.contains(&at) && !left.contains(&at)
        };
        errors.iter().filter(is_gone).map(|it| place_of(&it.file, it.line, &it.code)).collect()
    }

    /// The names that are unresolved after each import with an error has been removed. The files are restored
    /// afterwards.
    fn missed_without_imports(&self, mut errors: Vec<Reported>) -> BTreeSet<String> {
        let mut originals: BTreeMap<String, String> = BTreeMap::new();
        let mut missed = BTreeSet::new();
        for _ in 0..6 {
            missed.extend(errors.iter().filter(|it| it.is_of_name()).map(|it| place_of(&it.file, it.line, &it.code)));
            let mut texts: BTreeMap<String, String> = BTreeMap::new();
            // From the end, so that earlier positions stay valid.
            let mut imports: Vec<&Reported> =
                errors.iter().filter(|it| matches!(it.code.as_str(), "E0432" | "E0433" | "E0603")).collect();
            imports.sort_by_key(|it| std::cmp::Reverse((&it.file, it.line, it.column)));
            // Each target of the package reports it.
            imports.dedup_by_key(|it| (&it.file, it.line, it.column));
            for error in imports {
                let text = match texts.get(&error.file) {
                    Some(text) => text.clone(),
                    None => std::fs::read_to_string(self.root.join(&error.file)).unwrap(),
                };
                originals.entry(error.file.clone()).or_insert_with(|| text.clone());
                if let Some(text) = without_import(&text, error.line, error.column) {
                    texts.insert(error.file.clone(), text);
                }
            }
            if texts.is_empty() {
                break;
            }
            texts.iter().for_each(|(file, text)| write_later(&self.root.join(file), text));
            errors = self.errors();
        }
        originals.iter().for_each(|(file, text)| write_later(&self.root.join(file), text));
        missed
    }
}

/// A text without the part of an import at this position; the number of lines stays the same.
fn without_import(text: &str, line: usize, column: usize) -> Option<String> {
    let before: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let at = u32::try_from(before + column - 1).unwrap().into();
    let tree = ast::SourceFile::parse(text, Edition::CURRENT).tree();
    let token = tree.syntax().token_at_offset(at).right_biased()?;
    let part = token.parent_ancestors().find_map(ast::UseTree::cast)?;
    let (range, put) = match part.parent_use_tree_list() {
        Some(_) => {
            let comma = part.syntax().siblings_with_tokens(Direction::Next).find(|it| it.kind() == SyntaxKind::COMMA);
            let end = comma.map_or(part.syntax().text_range().end(), |it| it.text_range().end());
            (TextRange::new(part.syntax().text_range().start(), end), "")
        }
        None => (part.syntax().parent()?.text_range(), "use core as _;"),
    };
    let range = usize::from(range.start())..usize::from(range.end());
    let lines = "\n".repeat(text[range.clone()].matches('\n').count());
    let mut text = text.to_owned();
    text.replace_range(range, &format!("{put}{lines}"));
    Some(text)
}

/// A text with another name on one line.
fn with_name_in_line(text: &str, line: usize, old: &str, new: &str) -> String {
    let lines = text.split_inclusive('\n').enumerate().map(|(at, it)| {
        if at + 1 != line {
            return it.to_owned();
        }
        let (mut mended, mut from) = (String::new(), 0);
        for (start, _) in words(it).filter(|word| word.1 == old) {
            mended.push_str(&it[from..start]);
            mended.push_str(new);
            from = start + old.len();
        }
        mended + &it[from..]
    });
    lines.collect()
}

/// The place without the code.
fn line_of(place: &str) -> &str {
    place.split(' ').next().unwrap_or_default()
}

impl Broken {
    fn all(&self) -> impl Iterator<Item = &String> {
        self.errors.iter().chain(&self.consequences).chain(&self.behind_imports)
    }

    fn to_edit(&self) -> impl Iterator<Item = &String> {
        self.errors.iter().chain(&self.behind_imports)
    }

    /// The differences for an edit: a line that the compiler reports and semdex does not, or an error that the compiler
    /// does not report there, or reports with another code. Of several errors on a line one is enough.
    fn against(&self, named: &BTreeSet<String>) -> Vec<String> {
        let lines: BTreeSet<&str> = named.iter().map(|it| line_of(it)).collect();
        let missing = self.to_edit().filter(|it| !lines.contains(line_of(it))).map(|it| format!("missing {it}"));
        missing.chain(self.beyond(named)).collect()
    }

    fn beyond(&self, named: &BTreeSet<String>) -> Vec<String> {
        let codes = |line: &str| -> Vec<&String> { self.all().filter(|it| line_of(it) == line).collect() };
        let wrong = named.iter().filter(|it| self.all().all(|known| known != *it));
        wrong.map(|it| format!("wrong {it}, the compiler has {:?}", codes(line_of(it)))).collect()
    }
}

/// Cargo does not check dependents of a library that fails.
fn is_reached(broken: &Broken, file: &str) -> bool {
    let is_of_dependent = |at: &str| at.starts_with("tests/") || at.starts_with("src/main.rs");
    !is_of_dependent(file) || broken.all().all(|it| is_of_dependent(it))
}

fn errors_in<'d>(found: impl IntoIterator<Item = &'d Diagnostic>, broken: &Broken) -> BTreeSet<String> {
    let errors = found.into_iter().filter(|it| it.severity == Severity::Error);
    let errors = errors.filter(|it| is_reached(broken, &it.place.file));
    errors.map(|it| place_of(&it.place.file, it.place.line, of_the_compiler(it.code.as_deref()))).collect()
}

/// Syntax errors have no code.
fn of_the_compiler(code: Option<&str>) -> &str {
    code.filter(|it| *it != "syntax-error").unwrap_or_default()
}

/// Compares edits of a fixture with the compiler: what each edit breaks, and what its reversal fixes, with the codes.
pub(super) fn hold(suite: &Suite<'_>, edits: &[Edit<'_>]) {
    let truth = Truth::of(suite, edits);
    let (_directory, mut it) = fixture_of(suite.files, suite.is_built, Std::Small);
    it.fill();
    let mut wrong = Vec::new();
    let (mut mended, mut to_mend) = (0, 0);
    let mut times = [Duration::ZERO; 3];
    for edit in edits {
        let broken = &truth.edits[edit.name];
        let started = Instant::now();
        let change_impact = it.impact(edit);
        times[0] += started.elapsed();
        let named = change_impact.impact.broken.iter().filter(|it| is_reached(broken, &it.at.place.file));
        let named = named
            .map(|it| place_of(&it.at.place.file, it.at.place.line, of_the_compiler(it.code.as_deref())))
            .collect();
        let mut faults = broken.against(&named);
        if !faults.is_empty() {
            faults.extend(change_impact.impact.broken.iter().map(|it| {
                let follows = if it.follows { " (follows)" } else { "" };
                format!("    {}:{}{follows} {:?} {}", it.at.place.file, it.at.place.line, it.code, it.reason)
            }));
        }
        assert!(
            change_impact.coverage.missing.iter().all(|it| it.code != MissingCode::Timeout),
            "{}: judged",
            edit.name
        );
        let started = Instant::now();
        faults.extend(invalidate::all_faults(&it).into_iter().map(|it| format!("left behind: {it}")));
        faults.extend(change_impact.fixed.iter().map(|it| format!("fixed in a healthy crate: {it:?}")));
        times[1] += started.elapsed();
        let started = Instant::now();
        let back = it.impact_back(edit);
        times[2] += started.elapsed();
        faults.extend(errors_in(&back.new, broken).into_iter().map(|it| format!("new when it is taken back: {it}")));
        let fixed = errors_in(&back.fixed, broken);
        faults.extend(broken.beyond(&fixed).into_iter().map(|it| format!("fixed when it is taken back: {it}")));
        let lines: BTreeSet<&str> = fixed.iter().map(|it| line_of(it)).collect();
        let all: BTreeSet<&str> = broken.to_edit().map(|it| line_of(it)).collect();
        (mended, to_mend) = (mended + all.intersection(&lines).count(), to_mend + all.len());
        if !faults.is_empty() {
            wrong.push(format!("{}:\n  {}", edit.name, faults.join("\n  ")));
        }
    }
    println!("{}: {mended} of {to_mend} lines are said to be mended; {times:?}", suite.name);
    assert!(wrong.is_empty(), "{} wrong in {}, by {}:\n{}", wrong.len(), suite.name, truth.rustc, wrong.join("\n"));
    drop::<Arc<Files>>(it.files);
}

impl Loaded {
    fn impact(&mut self, edit: &Edit<'_>) -> ChangeImpact {
        let (after, edits) = self.change(edit.file, edit.from, edit.to);
        let before = self.files.clone();
        self.rust.impact_of(&before, &after, &edits, None)
    }

    /// Makes an edit and reverts it: the impact of the second change.
    fn impact_back(&mut self, edit: &Edit<'_>) -> ChangeImpact {
        let (after, edits) = self.change(edit.file, edit.from, edit.to);
        let before = self.files.clone();
        let _ = self.rust.impact_of(&before, &after, &edits, Some(&|_| true));
        let back: Vec<FileEdit> =
            edits.into_iter().map(|it| FileEdit { file: it.file, old: it.new, new: it.old }).collect();
        let change_impact = self.rust.impact_of(&after, &before, &back, Some(&|_| true));
        self.fill();
        change_impact
    }
}

fn all_kept() -> Vec<Broken> {
    let files = std::fs::read_dir(Truth::directory()).unwrap().map(|it| it.unwrap().path());
    let kept = files.map(|it| serde_json::from_str::<Truth>(&std::fs::read_to_string(it).unwrap()).unwrap());
    kept.flat_map(|it| it.edits.into_values()).collect()
}

/// The codes of errors that are alone on a line of some edit: there no other code would be accepted.
pub(super) fn codes_alone_in_a_line() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for broken in all_kept() {
        let mut lines: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        broken.all().for_each(|it| lines.entry(line_of(it)).or_default().push(it));
        let to_edit = |it: &&Vec<&str>| it.len() == 1 && broken.to_edit().any(|of| of == it[0]);
        let alone = lines.values().filter(to_edit).filter_map(|it| it[0].split_once(' '));
        found.extend(alone.map(|it| it.1.to_owned()));
    }
    found
}

static KEPT: LazyLock<Vec<Broken>> = LazyLock::new(all_kept);

/// Whether some edit fails if these two codes are swapped.
pub(super) fn tells_apart(one: &str, other: &str) -> bool {
    let swapped = |it: &String| match it.split_once(' ') {
        Some((line, code)) if code == one => format!("{line} {other}"),
        Some((line, code)) if code == other => format!("{line} {one}"),
        _ => it.clone(),
    };
    let concerned = KEPT.iter().filter(|it| it.all().any(|it| it.ends_with(one) || it.ends_with(other)));
    concerned.into_iter().any(|it| !it.against(&it.all().map(swapped).collect()).is_empty())
}
