//! The external inputs of a load: what Cargo, rustc, rustup, build scripts and builds of proc macros read, except the
//! manifests that [`is_reload`](super::manifests::is_reload) recognizes by name. If one of them has changed, the loaded
//! state is out of date.
//!
//! Changes of texts of the workspace arrive as edits. All other inputs are checked before each answer; they are few.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use blake3::Hash;

use semdex_fs::{FileStamp, read_file};
use semdex_model::{Missing, MissingCode};

/// Of larger files only the times and the size are compared.
const MOST_COMPARED: usize = 4 << 20;
/// A directory that a build script reads is checked before each answer if it has at most this many entries.
const MOST_ENTRIES: usize = 4096;
/// The time of a change that a file system notes may be behind the clock by this much.
const CLOCK_STEP: Duration = Duration::from_millis(20);
/// The number of consecutive loads that may begin because an input changed during the previous load.
const MOST_ROUNDS: u32 = 3;
/// The time without edits before build scripts run again that probably do not read the edited files.
const REBUILD_AFTER: Duration = Duration::from_secs(2);
/// The same if answers are incomplete until then.
const REBUILD_SOON: Duration = Duration::from_millis(500);
/// The pause is doubled at most this often: after consecutive runs with different output, or failures.
const MOST_DOUBLED: u32 = 6;
/// The last known content is kept for this many files that are not texts.
const MOST_TOUCHED: usize = 4096;

#[derive(Debug, Clone, Default)]
pub(crate) struct ExternalInputs {
    /// ExternalInputs that are checked before each answer.
    looked_at: BTreeMap<PathBuf, Input>,
    /// Names of inputs whose texts the workspace has.
    texts: BTreeSet<String>,
    /// The directories of all packages, and which of their files are inputs.
    packages: BTreeMap<PathBuf, Counted>,
    /// Packages whose build scripts do not declare their inputs.
    silent: BTreeMap<PathBuf, SilentScript>,
    /// The content, when last touched, of files that such a script may read.
    touched: BTreeMap<PathBuf, Content>,
    /// Large directories of the workspace in which any file is an input: the watcher reports their changes.
    directories: BTreeSet<PathBuf>,
    /// ExternalInputs that determine which standard library is used.
    toolchain: BTreeSet<PathBuf>,
    /// Directories elsewhere that are too large to be checked before each answer.
    pub too_large: BTreeSet<PathBuf>,
    /// The output of the build scripts of the workspace's own packages, one hash per workspace.
    pub output: Vec<Hash>,
}

/// Which files of a package are inputs, in addition to those that are named.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Counted {
    #[default]
    Named,
    /// A build script that does not declare its inputs, or that failed, may read any of them, but probably does not.
    /// Whether its output changes is found out in the background.
    Perhaps,
    All,
}

/// A build script that does not declare its inputs.
#[derive(Debug, Clone)]
pub(crate) struct SilentScript {
    pub package: String,
    /// Whether it may read Rust sources, judged by its text; otherwise only other files of the package are doubtful.
    pub reads_sources: bool,
}

#[derive(Debug, Clone)]
struct Input {
    stamp: FileStamp,
    content: Content,
}

/// The state of a path, compared by content.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Content {
    Nothing,
    Bytes(Hash),
    /// The names of a directory's entries.
    Names(Hash),
    /// The file cannot be read, or is too large.
    Unread(FileStamp),
}

impl Content {
    fn of(path: &Path, stamp: &FileStamp) -> Content {
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
            Err(_) if stamp.changed().is_none() => Content::Nothing,
            Err(_) => Content::Unread(stamp.clone()),
        }
    }
}

impl Input {
    fn at(path: &Path) -> Input {
        let stamp = FileStamp::at(path);
        Input { content: Content::of(path, &stamp), stamp }
    }
}

impl ExternalInputs {
    /// Adds a file or a directory itself, whether it exists or not.
    pub(crate) fn add(&mut self, path: PathBuf) {
        self.looked_at.entry(path).or_insert_with_key(|it| Input::at(it));
    }

    /// Adds a part of the toolchain, or a file that selects the toolchain.
    pub(crate) fn add_toolchain(&mut self, path: PathBuf) {
        self.toolchain.insert(path.clone());
        self.add(path);
    }

    /// Whether a change of this path may mean another standard library.
    pub(crate) fn is_toolchain(&self, path: &Path) -> bool {
        self.toolchain.contains(path)
    }

    /// Adds everything below a directory.
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

    /// Texts of the workspace need no checks: their changes arrive as edits.
    pub(crate) fn leave_to_edits(&mut self, root: &Path, is_text: impl Fn(&str) -> bool) {
        let name_of = |it: &Path| it.strip_prefix(root).ok()?.to_str().map(str::to_owned);
        let texts = self.looked_at.keys().filter_map(|it| name_of(it)).filter(|it| is_text(it));
        self.texts = texts.collect();
        self.directories.extend(self.too_large.extract_if(.., |it| it.starts_with(root)));
        self.looked_at.retain(|path, _| name_of(path).is_none_or(|it| !self.texts.contains(&it)));
    }

    /// Whether this text of the workspace is an input.
    pub(crate) fn is_text(&self, name: &str) -> bool {
        self.texts.contains(name)
    }

    /// Whether any file at this path is an input.
    pub(crate) fn is_in_package(&self, path: &Path) -> bool {
        self.directories.iter().any(|it| path.starts_with(it)) || self.counted(path) == Counted::All
    }

    pub(crate) fn add_silent(&mut self, directory: &Path, script: SilentScript) {
        self.silent.insert(directory.to_path_buf(), script);
    }

    /// Whether a build script may read this file without declaring it.
    fn may_be_read(&self, path: &Path) -> bool {
        self.counted(path) == Counted::Perhaps
    }

    /// The script that may have read this file, so that its output is doubtful.
    fn doubtful(&self, path: &Path) -> Option<&SilentScript> {
        let script = path.ancestors().find_map(|it| self.silent.get(it)).filter(|_| self.may_be_read(path))?;
        (script.reads_sources || path.extension().is_none_or(|it| it != "rs")).then_some(script)
    }

    /// Whether a build script that ran may have read this file.
    pub(crate) fn is_doubtful(&self, path: &Path) -> bool {
        self.doubtful(path).is_some()
    }

    fn counted(&self, path: &Path) -> Counted {
        path.ancestors().find_map(|it| self.packages.get(it)).copied().unwrap_or_default()
    }

    /// When an input changed after this moment, perhaps after the load had read it.
    pub(crate) fn changed_since(&self, moment: SystemTime) -> Option<SystemTime> {
        self.looked_at.values().filter_map(|it| it.stamp.changed()).find(|it| *it >= moment)
    }

    /// Checks all inputs. Returns those that changed since the last call.
    pub(crate) fn changed(&mut self) -> Vec<PathBuf> {
        let mut changed = Vec::new();
        for (path, known) in &mut self.looked_at {
            let now = FileStamp::at(path);
            if !known.stamp.may_differ(&now) {
                continue;
            }
            let content = Content::of(path, &now);
            if content != known.content {
                changed.push(path.clone());
            }
            *known = Input { stamp: now, content };
        }
        changed
    }

    /// A file that is not a text was touched. Returns whether its content changed since the last call.
    pub(crate) fn is_changed_at(&mut self, path: &Path) -> bool {
        let now = Input::at(path);
        let content = now.content.clone();
        self.looked_at.insert(path.to_path_buf(), now).is_none_or(|before| before.content != content)
    }

    /// The same for a file that a build script may read and that is not checked before each answer. `begun`: when the
    /// last load began, which read what was there.
    pub(crate) fn is_perhaps_changed_at(&mut self, path: &Path, begun: SystemTime) -> bool {
        if !self.may_be_read(path) {
            return false;
        }
        let stamp = FileStamp::at(path);
        let content = Content::of(path, &stamp);
        if self.touched.len() >= MOST_TOUCHED {
            self.touched.clear();
        }
        match self.touched.insert(path.to_path_buf(), content.clone()) {
            Some(known) => known != content,
            None => is_perhaps_since(stamp.changed(), begun),
        }
    }
}

/// Whether a change, of which the file system has noted this time, was perhaps not before this moment.
fn is_perhaps_since(changed: Option<SystemTime>, moment: SystemTime) -> bool {
    let before = changed.and_then(|it| moment.duration_since(it).ok());
    before.is_none_or(|it| it < CLOCK_STEP)
}

/// Whether the loaded state is out of date, judged by its inputs.
#[derive(Debug, Default)]
pub(crate) struct Freshness {
    pub inputs: ExternalInputs,
    /// An input has changed since the last load began.
    pub is_outdated: bool,
    /// When that was, if known.
    pub changed: Option<SystemTime>,
    /// Texts that were edited since then and may turn out to be inputs.
    pub edited: BTreeSet<String>,
    /// Other files that were touched since then and that build scripts may turn out to read.
    pub touched: BTreeSet<PathBuf>,
    begun: Option<SystemTime>,
    ended: Option<SystemTime>,
    /// The number of consecutive loads that began because of a change during the previous one.
    rounds: u32,
    /// When the load began, by the monotonic clock.
    begun_at: Option<Instant>,
    /// Edits since the last run of files that a build script may read.
    perhaps_read: Option<PerhapsRead>,
    /// The edits for which build scripts are running now.
    rebuilding: Option<PerhapsRead>,
    /// The number of consecutive runs that had different output or failed.
    remade: u32,
}

/// Edits of files that a build script may read.
#[derive(Debug, Clone)]
struct PerhapsRead {
    /// When the last one was made.
    at: Instant,
    /// What is missing from answers until the script has run again.
    doubt: Option<Missing>,
}

impl Freshness {
    /// A load begins, which reads all inputs in their current state.
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

    /// The load has run the build scripts after all edits that preceded it.
    pub(crate) fn end(&mut self) {
        self.ended = Some(SystemTime::now());
        self.perhaps_read = self.perhaps_read.take().filter(|it| self.begun_at.is_none_or(|begun| it.at >= begun));
    }

    /// Records during a load that a path was touched. A link that was made shortly before, and its target, count as
    /// touched each time, but the load reads what they were then.
    pub(crate) fn note_touched(&mut self, path: &Path) {
        let link = std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_symlink);
        let made = link.map(|it| UNIX_EPOCH + Duration::new(it.ctime().unsigned_abs(), it.ctime_nsec() as u32));
        let is_older = |it: Option<SystemTime>| !is_perhaps_since(it, self.begun());
        if made.is_none() || !is_older(made) || !is_older(FileStamp::at(path).changed()) {
            self.touched.insert(path.to_path_buf());
        }
    }

    /// Records an edit of a file that is not a known input; `name` is its name in answers.
    pub(crate) fn note_unnamed(&mut self, path: &Path, name: &str) {
        // A known input causes a complete load.
        if !self.inputs.may_be_read(path) || self.inputs.is_text(name) {
            return;
        }
        let doubt = self.inputs.doubtful(path).map(|it| {
            let detail = format!(
                "`{name}` was changed, and the build script of `{}` may read it: it runs again, and until then its \
                 previous output is used; declare its inputs with `cargo::rerun-if-changed`",
                it.package
            );
            Missing::new(MissingCode::Indexing, "rust", detail)
        });
        let before = self.perhaps_read.take().and_then(|it| it.doubt);
        self.perhaps_read = Some(PerhapsRead { at: Instant::now(), doubt: before.or(doubt) });
    }

    /// What is missing from answers while the output of build scripts is unknown.
    pub(crate) fn doubt(&self) -> Option<&Missing> {
        [&self.rebuilding, &self.perhaps_read].into_iter().flatten().find_map(|it| it.doubt.as_ref())
    }

    /// Whether it is time to check the output of build scripts.
    pub(crate) fn is_rebuild_due(&self) -> bool {
        let Some(PerhapsRead { at, doubt }) = &self.perhaps_read else { return false };
        let pause = if doubt.is_some() { REBUILD_SOON } else { REBUILD_AFTER };
        at.elapsed() >= pause * 2_u32.pow(self.remade.min(MOST_DOUBLED))
    }

    pub(crate) fn begin_rebuild(&mut self) {
        self.rebuilding = self.perhaps_read.take();
    }

    /// Takes the new output of build scripts. If it differs from the loaded output, the loaded state is out of date. If
    /// the scripts did not finish, they run again later. A load that began during the run takes precedence.
    pub(crate) fn end_rebuild(&mut self, output: Option<Vec<Hash>>) {
        if self.rebuilding.is_none() {
            return;
        }
        let is_same = output.as_ref() == Some(&self.inputs.output);
        self.remade = if is_same { 0 } else { self.remade + 1 };
        self.is_outdated |= output.is_some() && !is_same;
        match is_same {
            true => self.rebuilding = None,
            // Kept until the next load or the next run.
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

    /// An input changed at this moment. Returns whether to load again; `false` if each load changes its own inputs.
    pub(crate) fn may_load_again(&mut self, changed: Option<SystemTime>) -> bool {
        let until = self.ended.unwrap_or_else(SystemTime::now);
        let is_within = changed.is_some_and(|it| self.begun() <= it && it <= until);
        self.rounds = if is_within { self.rounds + 1 } else { 0 };
        self.rounds <= MOST_ROUNDS
    }

    /// What is reported if no load follows.
    pub(crate) fn lack(&self) -> Option<Missing> {
        let detail = "a build script changes what it reads, so that it would never come to an end: what it makes was \
                      taken as it was the last time; have it name what it reads by `cargo::rerun-if-changed`";
        (self.rounds > MOST_ROUNDS).then(|| Missing::new(MissingCode::BuildScripts, "rust", detail))
    }
}

/// The time by the clock that stamps files, which is slightly behind the system clock.
pub(crate) fn now() -> SystemTime {
    let stamped = tempfile::NamedTempFile::new().ok().and_then(|it| FileStamp::at(it.path()).changed());
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
        let mut inputs = ExternalInputs::default();
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
        let mut inputs = ExternalInputs::default();
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

    /// The watcher reports a link that was made shortly before each time that it looks.
    #[test]
    fn a_link_from_before_the_load_is_not_touched_during_it() {
        let directory = tempfile::tempdir().unwrap();
        let (target, link) = (directory.path().join("target"), directory.path().join("link"));
        std::fs::create_dir(&target).unwrap();
        std::os::unix::fs::symlink("target", &link).unwrap();
        let mut freshness = Freshness::default();
        while is_perhaps_since(FileStamp::at(&target).changed(), freshness.begun()) {
            std::thread::yield_now();
            freshness.begin();
        }
        freshness.note_touched(&link);
        assert!(freshness.touched.is_empty());
        // Only its target is another one now.
        std::fs::remove_dir(&target).unwrap();
        std::fs::create_dir(&target).unwrap();
        freshness.note_touched(&link);
        assert!(freshness.touched.contains(&link));
        freshness.begin();
        std::fs::remove_file(&link).unwrap();
        freshness.note_touched(&link);
        assert!(freshness.touched.contains(&link));
        // A file may have come with its directory, and then its own time says nothing.
        freshness.note_touched(&target);
        assert!(freshness.touched.contains(&target));
    }
}
