//! Reports which paths of a tree may have changed, and proves by a cookie that no change is outstanding. Only this
//! module names `notify`.
//!
//! An event only means that something happened at its path; the watcher then looks at what is there now. So the order
//! of events does not matter, nor do late or repeated events, as long as an event follows every change:
//!
//! - Every directory has a watch of its own, and is listed after its watch is set. So files that were put into a new
//!   directory before it was watched are found.
//! - An event for a directory as a whole (created, removed, moved, permissions changed) drops the watches of everything
//!   known below its path, and sets them again on what is there now.
//! - inotify watches inodes; notify keeps them by path. A moved directory whose move is not known yet would have two
//!   paths here, and dropping one watch would silence both. So an inode has one path, and the older path is dropped.
//! - The roots themselves and files with several names (`aliases`) are checked for each answer, since inotify does not
//!   report all their changes.
//! - If that is not enough (lost events, a swap at the moment of watching), the result is [`Seen::Rescan`]. Where
//!   watching never works (no watches left, network file systems), the result is always that.
//!
//! Known limits: a write through a memory map shows when the file is closed or the kernel notices. A write through a
//! hard link that was created outside the tree after the last scan does not show, nor does mounting over a directory.

mod aliases;
mod cookie;
mod inbox;
mod place;
#[cfg(test)]
mod tests;
mod walk;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind, RenameMode};
use notify::{INotifyWatcher, RecursiveMode, Watcher as _};
use rustix::fs::FileType;

use aliases::Aliases;
use cookie::Cookie;
use inbox::{Inbox, Mail, TouchKind};
use place::{identity_now, identity_of, identity_on_the_way, is_remote};
use semdex_process::fault;
pub(crate) use walk::{Gap, Gaps, Texts, files_below, is_hidden_name, is_ignored_dir_name, walk, walk_with_gaps};
use walk::{PassedOver, enter, present};

use semdex_fs::{Descent, GIT, Identity, Reader, Tree, is_linked_worktree};

/// A reported change is taken after the disk was quiet for this long, unless a request takes it before.
pub(crate) const DEBOUNCE: Duration = Duration::from_millis(30);
/// While the disk does not become quiet, reported changes are taken after this long.
pub(crate) const DEBOUNCE_LIMIT: Duration = Duration::from_millis(500);

/// What may have changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Absolute paths. Each has to be compared, with every known file below it: a file that [`Texts`] reads may have
    /// new content, any other file is gone.
    Paths(BTreeSet<PathBuf>),
    /// Anything. It stays so until [`Watcher::rescan`] has succeeded.
    Rescan,
}

/// The cookie did not come back in time, so changes may be outstanding. Only [`Watcher::rescan`] finds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the file system's events did not arrive within {0:?}")]
pub(crate) struct BarrierTimedOut(pub Duration);

pub(crate) struct Watcher {
    roots: Vec<Root>,
    cookie_dir: PathBuf,
    bounds: Bounds,
    wake: Arc<dyn Fn() + Send + Sync>,
    /// `None` if it could not be created, and where watching does not work.
    instance: Option<Instance>,
    /// Every watched directory.
    directories: BTreeMap<PathBuf, Directory>,
    /// The same, by inode.
    inodes: HashMap<Identity, PathBuf>,
    /// The file systems seen so far, all of them local.
    devices: HashSet<u64>,
    aliases: Aliases,
    gaps: Gaps,
    /// A directory came, went or was renamed since this was asked last.
    moved: bool,
    /// Only a scan can determine the state of the tree.
    stale: bool,
    /// Why each answer needs a scan. `None` if watching works.
    lacks: Option<String>,
}

#[derive(Debug)]
struct Root {
    tree: Tree,
    /// The identity of the root when it was watched.
    identity: Option<Identity>,
}

#[derive(Debug)]
struct Directory {
    identity: Identity,
    /// The directory is ignored, and only watched to see the reason removed.
    passed_over: Option<PassedOver>,
}

/// One inotify instance with its thread, and the inbox of its events.
struct Instance {
    notify: INotifyWatcher,
    inbox: Arc<Inbox>,
    cookie: Cookie,
}

#[derive(Debug, Clone, Copy)]
struct Bounds {
    /// How many changed paths are kept. Beyond that, comparing everything is as cheap.
    paths: usize,
    directories: usize,
}

const BOUNDS: Bounds = Bounds { paths: 16_384, directories: usize::MAX };

impl Watcher {
    /// Watches every directory of the trees, and a private directory for cookies with the same inotify instance. That
    /// directory is created in `cookie_dir` and removed on drop. Returns all files when all watches are set. `wake` is
    /// called from another thread for the first event since the last look; it must not block.
    pub(crate) fn start(
        trees: &[Tree],
        cookie_dir: &Path,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> io::Result<(Watcher, Vec<PathBuf>)> {
        Watcher::start_within(BOUNDS, trees, cookie_dir, Arc::new(wake))
    }

    fn start_within(
        bounds: Bounds,
        trees: &[Tree],
        cookie_dir: &Path,
        wake: Arc<dyn Fn() + Send + Sync>,
    ) -> io::Result<(Watcher, Vec<PathBuf>)> {
        let mut watcher = Watcher {
            roots: trees.iter().map(|tree| Root { tree: tree.clone(), identity: None }).collect(),
            cookie_dir: cookie_dir.to_path_buf(),
            bounds,
            wake,
            instance: None,
            directories: BTreeMap::new(),
            inodes: HashMap::new(),
            devices: HashSet::new(),
            aliases: Aliases::default(),
            gaps: Gaps::new(),
            moved: false,
            stale: true,
            lacks: None,
        };
        let files = watcher.rescan()?;
        Ok((watcher, files))
    }

    /// Watches one more tree, and returns its files.
    pub(crate) fn add_root(&mut self, tree: &Tree) -> io::Result<Vec<PathBuf>> {
        if tree.identity().is_none() {
            return Err(io::ErrorKind::NotFound.into());
        }
        if !self.is_root(tree.root()) {
            self.roots.push(Root { tree: tree.clone(), identity: None });
        }
        let mut files = BTreeSet::new();
        self.watch_root(tree, &mut files)?;
        if self.instance.is_some() { Ok(files.into_iter().collect()) } else { walk(tree) }
    }

    /// The changes that have arrived so far, without waiting for more. Empty where no event can arrive.
    pub(crate) fn drain(&mut self) -> Seen {
        match &self.instance {
            Some(instance) => {
                let mail = instance.inbox.pick_up();
                self.answer(mail)
            }
            None if self.stale => Seen::Rescan,
            None => Seen::Paths(BTreeSet::new()),
        }
    }

    /// All changes that anyone made before this call.
    pub(crate) fn barrier(&mut self, timeout: Duration) -> Result<Seen, BarrierTimedOut> {
        let deadline = Instant::now() + timeout;
        let Some(instance) = &mut self.instance else { return Ok(Seen::Rescan) };
        let Ok(thrown) = instance.cookie.throw() else {
            // The directory is gone, or the disk fails. A rescan creates everything again.
            self.stale = true;
            return Ok(Seen::Rescan);
        };
        match instance.inbox.pick_up_after(thrown, deadline) {
            Some(mail) => Ok(self.answer(mail)),
            None => {
                self.stale = true;
                Err(BarrierTimedOut(timeout))
            }
        }
    }

    /// All files of the tree, for the caller to compare by content. It begins with a new inotify instance and new
    /// watches, so that nothing depends on the old ones.
    pub(crate) fn rescan(&mut self) -> io::Result<Vec<PathBuf>> {
        self.stale = false;
        let files = self.begin_anew();
        self.stale |= files.is_err();
        files
    }

    fn begin_anew(&mut self) -> io::Result<Vec<PathBuf>> {
        self.forget_everything();
        let mut files = BTreeSet::new();
        if self.lacks.is_none() {
            self.open_instance()?;
            for index in 0..self.roots.len() {
                let tree = self.roots[index].tree.clone();
                self.watch_root(&tree, &mut files)?;
            }
        }
        if self.lacks.is_some() {
            files.clear();
            for root in &self.roots {
                let (found, gaps) = walk_with_gaps(&root.tree)?;
                files.extend(found);
                self.gaps.extend(gaps);
            }
        }
        Ok(files.into_iter().collect())
    }

    /// Why every answer needs a scan of the whole tree, and what to do about it. `None` if watching works.
    pub(crate) fn lacks(&self) -> Option<String> {
        self.lacks.clone()
    }

    /// Whether a directory came, went or was renamed since the last call. What was read of it may be torn, unless no other
    /// change follows.
    pub(crate) fn take_moved(&mut self) -> bool {
        std::mem::take(&mut self.moved)
    }

    /// The directories that are passed over, though they may contain code.
    pub(crate) fn gaps(&self) -> &Gaps {
        &self.gaps
    }

    /// The symbolic links among the files.
    pub(crate) fn links(&self) -> impl Iterator<Item = &Path> {
        self.aliases.links()
    }

    fn answer(&mut self, mail: Mail) -> Seen {
        let seen = match mail {
            Mail::Paths(paths) => self.look_at(paths),
            Mail::Lost => return self.give_in(),
        };
        // A root that could not be watched does not tell when it can.
        let is_unwatched = |root: &Root| root.identity.is_some() && !self.directories.contains_key(root.tree.root());
        let moved = self.roots.iter().any(|root| root.tree.identity() != root.identity || is_unwatched(root));
        match seen {
            Ok(seen) if !self.stale && !moved && self.lacks.is_none() => Seen::Paths(seen),
            _ => self.give_in(),
        }
    }

    fn give_in(&mut self) -> Seen {
        self.stale = true;
        Seen::Rescan
    }

    /// Turns the touched paths into those that have to be compared, and updates the watches.
    fn look_at(&mut self, touched: BTreeMap<PathBuf, TouchKind>) -> io::Result<BTreeSet<PathBuf>> {
        let mut seen = BTreeSet::new();
        let mut rechecked: Option<PathBuf> = None;
        let mut readers: Vec<Reader> = Vec::new();
        for (path, touch) in touched {
            // The parent sorts before it, and everything below the parent was just checked.
            if rechecked.as_ref().is_some_and(|directory| path.starts_with(directory)) {
                continue;
            }
            if self.is_root(&path) {
                if touch == TouchKind::Structure {
                    self.recheck(&path, &mut seen)?;
                    rechecked = Some(path);
                }
                continue;
            }
            let Some(parent) = path.parent() else { continue };
            // Events of an unknown directory were on their way when its watch was dropped.
            let Some(directory) = self.directories.get(parent) else { continue };
            // git writes the file after it creates the directory.
            if path.file_name().is_some_and(|name| name == GIT) {
                let was_worktree = directory.passed_over == Some(PassedOver::Worktree);
                if !self.is_root(parent) && is_linked_worktree(parent) != was_worktree {
                    let parent = parent.to_path_buf();
                    self.recheck(&parent, &mut seen)?;
                    rechecked = Some(parent);
                }
                continue;
            }
            let is_tag = path.file_name().is_some_and(|name| name == walk::CACHE_TAG);
            if is_tag && touch == TouchKind::Structure && !self.is_root(parent) {
                self.recheck(parent, &mut seen)?;
                rechecked = Some(parent.to_path_buf());
                continue;
            }
            if directory.passed_over.is_some() {
                continue;
            }
            if touch == TouchKind::Structure {
                if !readers.iter().any(|it| path.starts_with(it.root())) {
                    readers.extend(self.reader_of(&path)?);
                }
                let reader = readers.iter().find(|it| path.starts_with(it.root()));
                let found = match reader {
                    Some(reader) => walk::look(reader, &path)?,
                    None => None,
                };
                let kind = found.as_ref().map(|it| FileType::from_raw_mode(it.st_mode));
                let was_directory = self.directories.contains_key(&path) || self.gaps.contains_key(&path);
                if kind == Some(FileType::Directory) || was_directory {
                    self.recheck(&path, &mut seen)?;
                    rechecked = Some(path.clone());
                }
                self.stale |= self.aliases.note(&path, found.as_ref());
                if let Some(reader) = reader.filter(|_| kind == Some(FileType::Symlink)) {
                    self.note_link(reader, &path);
                }
            }
            seen.insert(path);
        }
        let changed = self.aliases.changed();
        for path in &changed {
            if let Some(reader) = self.reader_of(path)? {
                self.note_link(&reader, path);
            }
        }
        seen.extend(changed);
        if rechecked.is_some() {
            seen.extend(self.aliases.links().map(Path::to_path_buf));
        }
        Ok(seen)
    }

    /// A directory has changed as a whole: watches it again.
    fn recheck(&mut self, directory: &Path, seen: &mut BTreeSet<PathBuf>) -> io::Result<()> {
        seen.insert(directory.to_path_buf());
        self.moved = true;
        self.forget(directory);
        self.stale |= self.watch_below(directory, seen)?;
        let nested = self.roots.iter().map(|root| root.tree.root().to_path_buf());
        let nested: Vec<_> = nested.filter(|root| root.starts_with(directory) && root != directory).collect();
        for root in nested {
            self.stale |= self.watch_below(&root, seen)?;
        }
        Ok(())
    }

    fn watch_root(&mut self, tree: &Tree, files: &mut BTreeSet<PathBuf>) -> io::Result<()> {
        let identity = tree.identity();
        if let Some(known) = self.roots.iter_mut().find(|known| known.tree.root() == tree.root()) {
            known.identity = identity;
        }
        // Files with several names are not reported here: all names are found anyway.
        self.watch_below(tree.root(), files)?;
        Ok(())
    }

    /// A reader of the innermost tree that contains a path. `None` if there is no such tree.
    fn reader_of(&self, path: &Path) -> io::Result<Option<Reader>> {
        let around = self.roots.iter().map(|root| &root.tree).filter(|tree| path.starts_with(tree.root()));
        match around.max_by_key(|tree| tree.root().as_os_str().len()) {
            Some(tree) => enter(tree),
            None => Ok(None),
        }
    }

    /// Watches a directory and everything below it, each directory before it is listed, and adds the files. True if a
    /// file has more hard links than were known, so that others may be elsewhere in the tree.
    fn watch_below(&mut self, top: &Path, files: &mut BTreeSet<PathBuf>) -> io::Result<bool> {
        let mut linked = false;
        let Some(reader) = self.reader_of(top)? else {
            if self.is_root(top) {
                self.gaps.insert(top.to_path_buf(), Gap::Gone);
            }
            return Ok(false);
        };
        let mut descent = Descent::new(&reader);
        let mut pending = vec![top.to_path_buf()];
        while let Some(directory) = pending.pop() {
            let is_root = self.is_root(&directory);
            if !is_root && directory.file_name().is_some_and(is_ignored_dir_name) {
                continue;
            }
            if !self.watch(&mut descent, &directory)? {
                // Of other directories, the listing of the one around them tells.
                if is_root && self.lacks.is_none() {
                    self.gaps.entry(directory).or_insert(Gap::Refused);
                }
                continue;
            }
            let Some(listing) = walk::list(&mut descent, &directory)? else {
                self.forget(&directory);
                continue;
            };
            self.gaps.extend(listing.gap.map(|it| (directory.clone(), it)));
            if let Some(reason) = listing.passed_over.filter(|_| !is_root) {
                if reason == PassedOver::Tagged {
                    self.gaps.insert(directory.clone(), Gap::Tagged);
                }
                if let Some(known) = self.directories.get_mut(&directory) {
                    known.passed_over = Some(reason);
                }
                continue;
            }
            for (path, found) in listing.files.iter().chain(&listing.links) {
                linked |= self.aliases.note(path, Some(found));
            }
            for (link, _) in listing.links {
                if walk::lists(&reader, &link) {
                    files.insert(link);
                } else {
                    self.note_link(&reader, &link);
                }
            }
            files.extend(listing.files.into_iter().map(|(path, _)| path));
            pending.extend(listing.directories);
        }
        Ok(linked)
    }

    /// A link to a directory outside of the tree is a gap.
    fn note_link(&mut self, reader: &Reader, link: &Path) {
        if walk::leads_to_outer_directory(reader, link) {
            self.gaps.insert(link.to_path_buf(), Gap::Outside);
        } else if self.gaps.get(link) == Some(&Gap::Outside) {
            self.gaps.remove(link);
        }
    }

    /// Sets the watch of one directory. False if there is no such directory, or watching does not work.
    fn watch(&mut self, descent: &mut Descent, directory: &Path) -> io::Result<bool> {
        let reader = descent.reader();
        let Some(identity) = identity_on_the_way(descent, directory)? else { return Ok(false) };
        match self.directories.get(directory) {
            Some(known) if known.identity == identity => return Ok(true),
            Some(_) => self.forget(directory),
            None => {}
        }
        if let Some(older) = self.inodes.get(&identity).cloned() {
            let stands_there = match self.reader_of(&older)? {
                Some(reader) => identity_of(&reader, &older)? == Some(identity),
                None => false,
            };
            match (stands_there, identity_of(reader, directory)? == Some(identity)) {
                // The event of its move from the older path is still on its way.
                (false, _) => self.forget(&older),
                (true, true) => {
                    let (older, newer) = (older.display(), directory.display());
                    self.stop_watching(format!(
                        "{older} and {newer} are the same directory, mounted twice, of which changes are told only \
                         once; every request compares all files"
                    ));
                    return Ok(false);
                }
                // A directory above it was a link for a moment.
                (true, false) => {
                    self.stale = true;
                    return Ok(false);
                }
            }
        }
        if self.devices.insert(identity.0) && is_remote(directory)? {
            self.stop_watching(format!(
                "{} is on a network or user-space file system, which does not tell of others' changes; \
                 every request compares all files",
                directory.display()
            ));
        }
        if self.directories.len() >= self.bounds.directories {
            self.stop_watching(too_many_directories());
        }
        let Some(instance) = &mut self.instance else { return Ok(false) };
        match instance.notify.watch(directory, RecursiveMode::NonRecursive) {
            Ok(()) => {}
            Err(error) if matches!(error.kind, notify::ErrorKind::MaxFilesWatch) => {
                self.stop_watching(too_many_directories());
                return Ok(false);
            }
            Err(error) => {
                let error = into_io(error);
                self.gaps.extend(walk::gap_of(&error).map(|it| (directory.to_path_buf(), it)));
                return present::<()>(Err(error)).map(|_| false);
            }
        }
        self.directories.insert(directory.to_path_buf(), Directory { identity, passed_over: None });
        self.inodes.insert(identity, directory.to_path_buf());
        // The watch was set by name: check that it is on the directory that was looked at.
        let now = identity_now(reader, directory)?;
        if now != Some(identity) {
            self.forget(directory);
            self.stale |= now.is_some() || walk::look(reader, directory)?.is_some();
            return Ok(false);
        }
        Ok(true)
    }

    /// Drops the watches of a directory and of everything known below it.
    fn forget(&mut self, directory: &Path) {
        let below = self.directories.range::<Path, _>((Bound::Included(directory), Bound::Unbounded));
        let gone: Vec<_> = below.map(|(path, _)| path.clone()).take_while(|path| path.starts_with(directory)).collect();
        for path in gone {
            if let Some(known) = self.directories.remove(&path) {
                self.inodes.remove(&known.identity);
            }
            if let Some(instance) = &mut self.instance {
                // notify drops the watch itself when it sees the directory removed, so there may be none.
                let _ = instance.notify.unwatch(&path);
            }
        }
        self.aliases.forget_below(directory);
        self.gaps.retain(|it, _| !it.starts_with(directory));
    }

    fn forget_everything(&mut self) {
        self.instance = None;
        self.directories.clear();
        self.inodes.clear();
        self.devices.clear();
        self.aliases = Aliases::default();
        self.gaps = Gaps::new();
    }

    fn stop_watching(&mut self, why: String) {
        self.forget_everything();
        self.lacks = Some(why);
    }

    fn open_instance(&mut self) -> io::Result<()> {
        let cookie = Cookie::new(&self.cookie_dir)?;
        let inbox = Arc::new(Inbox::new(self.bounds.paths, self.wake.clone()));
        let (receiver, home) = (inbox.clone(), cookie.home().to_path_buf());
        let handler = move |event| {
            let heard = || {
                fault::point("watch.event");
                deliver(&receiver, &home, event);
            };
            // notify's thread keeps running; the event is lost.
            if catch_unwind(AssertUnwindSafe(heard)).is_err() {
                receiver.lose();
            }
        };
        match INotifyWatcher::new(handler, notify::Config::default()) {
            Ok(mut notify) => {
                notify.watch(cookie.home(), RecursiveMode::NonRecursive).map_err(into_io)?;
                self.instance = Some(Instance { notify, inbox, cookie });
            }
            Err(error) => self.stop_watching(format!(
                "the file system cannot be watched ({error}); every request compares all files. If there are too many \
                 watchers: raise fs.inotify.max_user_instances (sysctl) and open the workspace again"
            )),
        }
        Ok(())
    }

    fn is_root(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| root.tree.root() == path)
    }
}

/// Runs on notify's thread for each event, also for events of mere reading, so it must be cheap and never block.
fn deliver(inbox: &Inbox, cookies: &Path, event: notify::Result<notify::Event>) {
    let event = match event {
        Ok(event) if !event.need_rescan() => event,
        Ok(_) | Err(_) => return inbox.lose(),
    };
    let touch = match event.kind {
        EventKind::Modify(ModifyKind::Data(_)) | EventKind::Access(AccessKind::Close(AccessMode::Write)) => {
            TouchKind::Content
        }
        // A rename has one event for each end, and then one for both.
        EventKind::Access(_) | EventKind::Modify(ModifyKind::Name(RenameMode::Both)) => return,
        _ => TouchKind::Structure,
    };
    let arrived = event.kind == EventKind::Modify(ModifyKind::Name(RenameMode::To));
    for path in event.paths {
        if path.starts_with(cookies) {
            if let (true, Some(number)) = (arrived, cookie::number_of(path.file_name())) {
                inbox.return_cookie(number);
            }
        } else if path.file_name().is_none_or(|name| name == GIT || !is_hidden_name(name)) {
            inbox.touch(path, touch);
        }
    }
}

fn into_io(error: notify::Error) -> io::Error {
    match error.kind {
        notify::ErrorKind::Io(error) => error,
        notify::ErrorKind::PathNotFound => io::ErrorKind::NotFound.into(),
        _ => io::Error::other(error),
    }
}

fn too_many_directories() -> String {
    "there are more directories than may be watched; every request compares all files. Raise \
     fs.inotify.max_user_watches (sysctl) and open the workspace again"
        .to_owned()
}
