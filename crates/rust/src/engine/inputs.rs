//! The inputs of a load: what Cargo, rustc, rustup, build scripts and the builds of proc macros read, beside the manifests
//! that [`is_reload`](super::engine::is_reload) knows by their names. Where one of them has changed, what was loaded is
//! out of date.
//!
//! Files of the workspace tell of their changes by being edited. All others are looked at before each answer; they are
//! few.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use blake3::Hash;

use semdex_fs::{Look, read_file};
use semdex_model::{Missing, MissingCode};

/// Of what is larger only the times and the size are compared.
const MOST_COMPARED: usize = 4 << 20;
/// A directory that a build script reads is looked at with each answer if it holds no more than this.
const MOST_ENTRIES: usize = 4096;
/// So often in a row a load is begun anew because something was changed while it was read.
const MOST_ROUNDS: u32 = 3;
/// So long nothing must have been edited before build scripts that hardly read it are run again.
const REBUILD_AFTER: Duration = Duration::from_secs(2);
/// The same where answers are incomplete until then.
const REBUILD_SOON: Duration = Duration::from_millis(500);
/// Where they make something else each time, or cannot be run, so often in a row the pause is doubled.
const MOST_DOUBLED: u32 = 6;
/// Of so many files that are no texts it is kept what they held when they were touched last.
const MOST_TOUCHED: usize = 4096;

#[derive(Debug, Clone, Default)]
pub(crate) struct Inputs {
    /// Looked at with each answer.
    looked_at: BTreeMap<PathBuf, Input>,
    /// Names of files whose texts the workspace has.
    texts: BTreeSet<String>,
    /// The directories of all packages, and which of their files count.
    packages: BTreeMap<PathBuf, Counted>,
    /// Those whose build scripts say nothing of what they read.
    silent: BTreeMap<PathBuf, SilentScript>,
    /// What files that such a script may read held when they were touched last.
    touched: BTreeMap<PathBuf, Content>,
    /// Large directories of the workspace, of which any file counts: the watcher tells of their changes.
    directories: BTreeSet<PathBuf>,
    /// Those that decide which standard library there is.
    toolchain: BTreeSet<PathBuf>,
    /// Directories elsewhere that are too large to be looked at with each answer.
    pub too_large: BTreeSet<PathBuf>,
    /// What the build scripts of the workspace's own packages made, workspace by workspace.
    pub output: Vec<Hash>,
}

/// Which files of a package count, beside those that are named.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Counted {
    #[default]
    Named,
    /// A build script that says nothing of what it reads may read any of them, which it hardly does: whether it makes
    /// something else is found out in the background.
    Perhaps,
    All,
}

/// A build script that says nothing of what it reads.
#[derive(Debug, Clone)]
pub(crate) struct SilentScript {
    pub package: String,
    /// Whether it may read sources of Rust, by what its text does: else only other files of the package are doubtful.
    pub reads_sources: bool,
}

#[derive(Debug, Clone)]
struct Input {
    look: Look,
    content: Content,
}

/// What stands at a path, compared by what it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Content {
    Nothing,
    Bytes(Hash),
    /// The names of what a directory holds.
    Names(Hash),
    /// It cannot be read, or is large.
    Unread(Look),
}

impl Content {
    fn of(path: &Path, look: &Look) -> Content {
        if let Ok(entries) = std::fs::read_dir(path) {
            let mut names: Vec<_> = entries.flatten().map(|it| it.file_name()).collect();
            names.sort();
            let mut hash = blake3::Hasher::new();
            for name in names {
                hash.update(name.as_encoded_bytes()).update(b"/");
            }
            return Content::Names(hash.finalize());
        }
        match read_file(path, MOST_COMPARED) {
            Ok(bytes) => Content::Bytes(blake3::hash(&bytes)),
            Err(_) if look.changed().is_none() => Content::Nothing,
            Err(_) => Content::Unread(look.clone()),
        }
    }
}

impl Input {
    fn at(path: &Path) -> Input {
        let look = Look::at(path);
        Input { content: Content::of(path, &look), look }
    }
}

impl Inputs {
    /// A file or a directory itself, be it there or not.
    pub(crate) fn add(&mut self, path: PathBuf) {
        self.looked_at.entry(path).or_insert_with_key(|it| Input::at(it));
    }

    /// A part of the toolchain, or what says which one is taken.
    pub(crate) fn add_toolchain(&mut self, path: PathBuf) {
        self.toolchain.insert(path.clone());
        self.add(path);
    }

    /// Whether there may be another standard library.
    pub(crate) fn is_toolchain(&self, path: &Path) -> bool {
        self.toolchain.contains(path)
    }

    /// All below a directory as well.
    pub(crate) fn add_all(&mut self, path: &Path) {
        if !path.is_dir() {
            return self.add(path.to_path_buf());
        }
        let walk = ignore::WalkBuilder::new(path).standard_filters(false).follow_links(true).build();
        let found: Vec<PathBuf> = walk.flatten().map(ignore::DirEntry::into_path).take(MOST_ENTRIES + 1).collect();
        if found.len() > MOST_ENTRIES {
            self.too_large.insert(path.to_path_buf());
        } else {
            found.into_iter().for_each(|it| self.add(it));
        }
    }

    pub(crate) fn add_package(&mut self, directory: &Path, counted: Counted) {
        let known = self.packages.entry(directory.to_path_buf()).or_default();
        *known = counted.max(*known);
    }

    /// Of what is a text of the workspace an edit tells that it has changed.
    pub(crate) fn leave_to_edits(&mut self, root: &Path, is_text: impl Fn(&str) -> bool) {
        let name_of = |it: &Path| it.strip_prefix(root).ok()?.to_str().map(str::to_owned);
        let texts = self.looked_at.keys().filter_map(|it| name_of(it)).filter(|it| is_text(it));
        self.texts = texts.collect();
        self.directories.extend(self.too_large.extract_if(.., |it| it.starts_with(root)));
        self.looked_at.retain(|path, _| name_of(path).is_none_or(|it| !self.texts.contains(&it)));
    }

    /// Whether this text of the workspace is one of them.
    pub(crate) fn is_text(&self, name: &str) -> bool {
        self.texts.contains(name)
    }

    /// Whether any file here counts.
    pub(crate) fn is_in_package(&self, path: &Path) -> bool {
        self.directories.iter().any(|it| path.starts_with(it)) || self.counted(path) == Counted::All
    }

    pub(crate) fn add_silent(&mut self, directory: &Path, script: SilentScript) {
        self.silent.insert(directory.to_path_buf(), script);
    }

    /// Whether a build script may read a file here, though nothing says so.
    fn may_be_read(&self, path: &Path) -> bool {
        self.counted(path) == Counted::Perhaps
    }

    /// The script that may have read this file, so that what it made is doubtful.
    fn doubtful(&self, path: &Path) -> Option<&SilentScript> {
        let script = path.ancestors().find_map(|it| self.silent.get(it)).filter(|_| self.may_be_read(path))?;
        (script.reads_sources || path.extension().is_none_or(|it| it != "rs")).then_some(script)
    }

    fn counted(&self, path: &Path) -> Counted {
        path.ancestors().find_map(|it| self.packages.get(it)).copied().unwrap_or_default()
    }

    /// When something was changed since this moment, and perhaps not read after it.
    pub(crate) fn changed_since(&self, moment: SystemTime) -> Option<SystemTime> {
        self.looked_at.values().filter_map(|it| it.look.changed()).find(|it| *it >= moment)
    }

    /// Looks at all of them. Answers with those that hold something else than when this was last asked.
    pub(crate) fn changed(&mut self) -> Vec<PathBuf> {
        let mut changed = Vec::new();
        for (path, known) in &mut self.looked_at {
            let now = Look::at(path);
            if !known.look.may_differ(&now) {
                continue;
            }
            let content = Content::of(path, &now);
            if content != known.content {
                changed.push(path.clone());
            }
            *known = Input { look: now, content };
        }
        changed
    }

    /// A file of which nobody has a text was touched. Whether it holds something else than when this was last asked.
    pub(crate) fn is_changed_at(&mut self, path: &Path) -> bool {
        let now = Input::at(path);
        let content = now.content.clone();
        self.looked_at.insert(path.to_path_buf(), now).is_none_or(|before| before.content != content)
    }

    /// The same of a file that a build script may read, which is not looked at with each answer.
    pub(crate) fn is_perhaps_changed_at(&mut self, path: &Path) -> bool {
        if !self.may_be_read(path) {
            return false;
        }
        let content = Content::of(path, &Look::at(path));
        if self.touched.len() >= MOST_TOUCHED {
            self.touched.clear();
        }
        self.touched.insert(path.to_path_buf(), content.clone()) != Some(content)
    }
}

/// Whether what was loaded is out of date, as far as its inputs tell.
#[derive(Debug, Default)]
pub(crate) struct Freshness {
    pub inputs: Inputs,
    /// An input has changed since the last load began.
    pub is_outdated: bool,
    /// When that was, as far as it is known.
    pub changed: Option<SystemTime>,
    /// Texts that were edited since then, which may turn out to be inputs.
    pub edited: BTreeSet<String>,
    /// Other files that were touched since then, which build scripts may turn out to read.
    pub touched: BTreeSet<PathBuf>,
    begun: Option<SystemTime>,
    ended: Option<SystemTime>,
    /// So many loads in a row were begun for what was changed during the one before.
    rounds: u32,
    /// When the load began, by the other clock.
    begun_at: Option<Instant>,
    /// What was edited that a build script may read, since one was run.
    perhaps_read: Option<PerhapsRead>,
    /// What it is being run again for.
    rebuilding: Option<PerhapsRead>,
    /// So often in a row build scripts made something else, or could not be run.
    remade: u32,
}

/// Edits of files that a build script may read.
#[derive(Debug, Clone)]
struct PerhapsRead {
    /// When the last one was made.
    at: Instant,
    /// What answers lack until the script was run again.
    doubt: Option<Missing>,
}

impl Freshness {
    /// A load begins, which reads all inputs as they are now.
    pub(crate) fn begin(&mut self) {
        self.begun = Some(now());
        self.ended = None;
        self.inputs.changed();
        self.is_outdated = false;
        self.changed = None;
        self.keep_doubt();
        self.begun_at = Some(Instant::now());
        self.edited.clear();
        self.touched.clear();
    }

    /// The load has run build scripts after all that was edited before it began.
    pub(crate) fn end(&mut self) {
        self.ended = Some(SystemTime::now());
        self.perhaps_read = self.perhaps_read.take().filter(|it| self.begun_at.is_none_or(|begun| it.at >= begun));
    }

    /// A text of the workspace or another file was edited, which is no input; `name` is the one that answers show.
    pub(crate) fn note_unnamed(&mut self, path: &Path, name: &str) {
        // What is known to be read has all loaded anew.
        if !self.inputs.may_be_read(path) || self.inputs.is_text(name) {
            return;
        }
        let doubt = self.inputs.doubtful(path).map(|it| {
            let detail = format!(
                "`{name}` was changed, and the build script of `{}` may read it: it is run again, and until then what it \
                 makes is taken as it was; have it name what it reads by `cargo::rerun-if-changed`",
                it.package
            );
            Missing::new(MissingCode::Indexing, "rust", detail)
        });
        let before = self.perhaps_read.take().and_then(|it| it.doubt);
        self.perhaps_read = Some(PerhapsRead { at: Instant::now(), doubt: before.or(doubt) });
    }

    /// What answers lack while it is not known whether build scripts make something else.
    pub(crate) fn doubt(&self) -> Option<&Missing> {
        [&self.rebuilding, &self.perhaps_read].into_iter().flatten().find_map(|it| it.doubt.as_ref())
    }

    /// Whether it is time to see if build scripts make something else.
    pub(crate) fn is_rebuild_due(&self) -> bool {
        let Some(PerhapsRead { at, doubt }) = &self.perhaps_read else { return false };
        let pause = if doubt.is_some() { REBUILD_SOON } else { REBUILD_AFTER };
        at.elapsed() >= pause * 2_u32.pow(self.remade.min(MOST_DOUBLED))
    }

    pub(crate) fn begin_rebuild(&mut self) {
        self.rebuilding = self.perhaps_read.take();
    }

    /// Takes what build scripts make now. Where it is something else than what was loaded, that is out of date; where they
    /// were not run to their end, they are run again later. A load that began meanwhile knows better.
    pub(crate) fn end_rebuild(&mut self, output: Option<Vec<Hash>>) {
        if self.rebuilding.is_none() {
            return;
        }
        let is_same = output.as_ref() == Some(&self.inputs.output);
        self.remade = if is_same { 0 } else { self.remade + 1 };
        self.is_outdated |= output.is_some() && !is_same;
        match is_same {
            true => self.rebuilding = None,
            // Until it was loaded anew, or run again.
            false => self.keep_doubt(),
        }
    }

    fn keep_doubt(&mut self) {
        let Some(before) = self.rebuilding.take() else { return };
        let now = self.perhaps_read.take();
        let doubt = before.doubt.or(now.and_then(|it| it.doubt));
        self.perhaps_read = Some(PerhapsRead { at: Instant::now(), doubt });
    }

    pub(crate) fn begun(&self) -> SystemTime {
        self.begun.unwrap_or(SystemTime::UNIX_EPOCH)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// Something that the load reads was changed at this moment. Answers whether to load anew: not where each load
    /// changes what it reads.
    pub(crate) fn may_load_again(&mut self, changed: Option<SystemTime>) -> bool {
        let until = self.ended.unwrap_or_else(SystemTime::now);
        let is_within = changed.is_some_and(|it| self.begun() <= it && it <= until);
        self.rounds = if is_within { self.rounds + 1 } else { 0 };
        self.rounds <= MOST_ROUNDS
    }

    /// What is said where it is not loaded anew.
    pub(crate) fn lack(&self) -> Option<Missing> {
        let detail = "a build script changes what it reads, so that it would never come to an end: what it makes was \
                      taken as it was the last time; have it name what it reads by `cargo::rerun-if-changed`";
        (self.rounds > MOST_ROUNDS).then(|| Missing::new(MissingCode::BuildScripts, "rust", detail))
    }
}

/// What the clock says by which files are stamped. It is a little behind the other.
pub(crate) fn now() -> SystemTime {
    let stamped = tempfile::NamedTempFile::new().ok().and_then(|it| Look::at(it.path()).changed());
    stamped.unwrap_or_else(SystemTime::now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_large_directories_of_the_workspace_the_watcher_tells() {
        let directory = tempfile::tempdir().unwrap();
        let (root, outside) = (directory.path().join("root"), directory.path().join("outside"));
        for large in [&root, &outside] {
            std::fs::create_dir(large).unwrap();
            (0..=MOST_ENTRIES).for_each(|it| std::fs::write(large.join(it.to_string()), "").unwrap());
        }
        let mut inputs = Inputs::default();
        inputs.add_all(&root);
        inputs.add_all(&outside);
        inputs.leave_to_edits(&root, |_| false);
        assert!(inputs.is_in_package(&root.join("a/b")) && !inputs.is_in_package(&outside.join("a")));
        assert!(inputs.too_large.iter().eq([&outside]));
    }

    #[test]
    fn inputs_are_compared_by_what_they_hold() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::create_dir(at("data")).unwrap();
        std::fs::write(at("data/one"), "1").unwrap();
        std::fs::write(at("file"), "a").unwrap();
        let mut inputs = Inputs::default();
        inputs.add(at("file"));
        inputs.add(at("absent"));
        inputs.add_all(&at("data"));
        assert_eq!(inputs.changed(), Vec::<PathBuf>::new());
        std::fs::write(at("file"), "a").unwrap();
        assert_eq!(inputs.changed(), Vec::<PathBuf>::new());
        let begun = now();
        std::fs::write(at("file"), "b").unwrap();
        assert_eq!(inputs.changed(), [at("file")]);
        assert!(inputs.changed_since(begun).is_some());
        std::fs::write(at("absent"), "").unwrap();
        std::fs::write(at("data/two"), "").unwrap();
        assert_eq!(inputs.changed(), [at("absent"), at("data")]);
        std::fs::write(at("data/one"), "2").unwrap();
        std::fs::remove_file(at("file")).unwrap();
        assert_eq!(inputs.changed(), [at("data/one"), at("file")]);
        assert_eq!(inputs.changed(), Vec::<PathBuf>::new());
    }
}
