//! A commit of only the requested files. It is built in a private index. HEAD is moved if it still has its old value,
//! and the user's index gets the entries of these files only. The lock of that index is held during the commit and
//! already contains the new index. So after a kill at any time the commit is made or not made (`repair.rs`).

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::choice::Choice;
use super::file_paths::{GitPath, text};
use super::index::{Content, Difference};
use super::index_lock::{IndexLock, Places, taken, wait_for};
use super::private::{Private, Record};
use super::program::failed;
use super::repair::clear_heads;
use super::repository::{Head, Repository};
use super::{Altered, Author, Dirty, Made, Order, Part};
use semdex_model::{Code, Error, Result};
use semdex_process::fault;

/// How often the commit is retried because HEAD has moved.
const ATTEMPTS: usize = 3;
/// How often a lock of another git that moves HEAD is waited for.
const MOVES: usize = 50;
const PAUSE: Duration = Duration::from_millis(100);
const SIGNING: Duration = Duration::from_secs(60);
/// At most this many files are read for the message, each up to a number of bytes.
const FILES_READ: usize = 40;
const BYTES_READ: usize = 1 << 20;
/// The prefixes of the modes of files and links.
const FILE: &str = "100";
const LINK: &str = "120";

/// Why a commit was not made.
#[derive(Debug)]
enum Stop {
    /// HEAD has moved: everything has to be checked again.
    Moved(Error),
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Failed(error)
    }
}

/// The contents of a commit.
struct Source<'a> {
    paths: Vec<&'a GitPath>,
    contents: &'a [Content],
}

/// The log of references has at most this many bytes of a subject.
const LONGEST_LOGGED: usize = 1000;

/// The message and the author.
struct CommitStep<'a> {
    part: Part,
    message: Option<&'a str>,
    author: Option<&'a Author>,
    co_author: Option<&'a str>,
}

impl Repository {
    pub(super) fn commit(&self, state_dir: &Path, order: &Order) -> Result<Made> {
        let mut last = None;
        for _ in 0..ATTEMPTS {
            match self.try_to_commit(state_dir, order) {
                Ok(made) => return Ok(made),
                Err(Stop::Moved(error)) => last = Some(error),
                Err(Stop::Failed(error)) => return Err(error),
            }
        }
        Err(last.unwrap_or_else(|| Error::new(Code::Conflict, "HEAD was moved by others again and again")))
    }

    /// An error if a commit could not be made now.
    pub(super) fn check_ready(&self) -> Result<()> {
        let status = self.status(false, false)?;
        self.check_idle(&status)?;
        let head = self.head()?;
        wait_for(&[vec![self.directory.join("index.lock")], self.head_locks(&head)].concat())
    }

    fn try_to_commit(&self, state_dir: &Path, order: &Order) -> Result<Made, Stop> {
        let head = self.head()?;
        wait_for(&[vec![self.directory.join("index.lock")], self.head_locks(&head)].concat())?;
        if let Some(on) = order.on.as_ref().filter(|it| head.commit.as_ref() != Some(*it)) {
            let detail = format!("nothing was committed: HEAD was at {on}, and was moved during this request");
            return Err(Error::new(Code::Conflict, detail).into());
        }
        let status = self.status(false, false)?;
        self.check_idle(&status)?;
        let choice = self.choose(&order.files, &head, &status)?;
        if choice.paths.is_empty() {
            return Err(nothing(&choice).into());
        }
        let mut before = None;
        match order.dirty {
            Dirty::Leave => {}
            Dirty::Refuse => self.refuse_dirt(&choice)?,
            Dirty::CommitFirst => before = self.commit_dirt(state_dir, order, &choice, &head)?,
        }
        let head = if before.is_some() { self.head()? } else { head };
        let private = Private::new(state_dir)?;
        let content = Source { paths: choice.paths.iter().collect(), contents: &[] };
        let tree = self.build(&private, &content, &head)?;
        if tree == self.tree_of(head.commit.as_deref())? {
            return Err(nothing(&choice).into());
        }
        let step = CommitStep {
            part: Part::Changes,
            message: order.message.as_deref(),
            author: order.author.as_ref(),
            co_author: order.co_author.as_deref(),
        };
        let made = self.seal(&private, &head, order, &step).map_err(|stop| with_first(stop, before.as_ref()))?;
        Ok(Made { left_out: choice.left_out, before: before.map(Box::new), ..made })
    }

    fn refuse_dirt(&self, choice: &Choice) -> Result<()> {
        let own = choice.own_lines.iter().map(|it| it.path.as_slice());
        let dirty: Vec<&[u8]> = choice.others.iter().map(Vec::as_slice).chain(own).collect();
        if dirty.is_empty() {
            return Ok(());
        }
        let detail = format!(
            "nothing was committed: there are other changes that are not committed, in {}: commit or stash them, or say \
             `dirty: \"leave\"` or `\"commit_first\"`",
            self.list(dirty)
        );
        Err(Error::new(Code::Conflict, detail))
    }

    /// Commits the user's own work first, if there is any.
    fn commit_dirt(&self, state_dir: &Path, order: &Order, choice: &Choice, head: &Head) -> Result<Option<Made>, Stop> {
        let private = Private::new(state_dir)?;
        let content = Source { paths: choice.others.iter().collect(), contents: &choice.own_lines };
        let first = self.build(&private, &content, head)?;
        if first == self.tree_of(head.commit.as_deref())? {
            return Ok(None);
        }
        // This commit is only made if the next commit will not be empty.
        self.check_filters(&choice.paths)?;
        self.stage(&private.index(), &choice.paths)?;
        if self.write_tree(&private.index())? == first {
            return Err(nothing(choice).into());
        }
        self.build(&private, &content, head)?;
        let step = CommitStep { part: Part::Before, message: None, author: None, co_author: None };
        self.seal(&private, head, order, &step).map(Some)
    }

    /// The tree of a commit, in a private index.
    fn build(&self, private: &Private, content: &Source, head: &Head) -> Result<String> {
        let index = private.index();
        self.read_tree(&index, head.commit.as_deref())?;
        let paths = || content.paths.iter().copied().chain(content.contents.iter().map(|it| &it.path));
        self.check_filters(paths())?;
        if !content.paths.is_empty() {
            self.stage(&index, content.paths.iter().copied())?;
        }
        if !content.contents.is_empty() {
            self.stage_contents(&index, content.contents)?;
        }
        self.write_tree(&index)
    }

    /// Makes the commit from the private index, and moves HEAD to it.
    fn seal(&self, private: &Private, head: &Head, order: &Order, step: &CommitStep) -> Result<Made, Stop> {
        if self.signs && !self.git.trusted {
            let detail = "nothing was committed: `commit.gpgSign` is set, and the program that signs may not run: trust \
                          the workspace with `semdex trust`, or commit with git";
            return Err(Error::new(Code::Untrusted, detail).into());
        }
        self.pre_commit(private)?;
        // The hook may have added more to the index, as it may for `git commit`.
        let tree = self.write_tree(&private.index())?;
        let differences = self.differences(&self.tree_of(head.commit.as_deref())?, &tree)?;
        if differences.is_empty() {
            let detail = "the hook `pre-commit` left nothing to commit";
            return Err(Error::new(Code::NothingToCommit, detail).into());
        }
        let mut message = match step.message {
            Some(message) => message.to_owned(),
            None => (order.compose)(step.part, &self.altered(&differences), &self.subjects(head)?),
        };
        if let Some(co_author) = step.co_author {
            message = with_co_author(message, co_author);
        }
        if !message.ends_with('\n') {
            message.push('\n');
        }
        let message = self.commit_msg(private, message)?;
        let commit = self.commit_tree(&tree, head, &message, step.author)?;
        self.make(private, head, &commit, &message, &differences)?;
        self.post_commit();
        let files = differences.iter().map(|it| self.naming.shown(&it.path)).collect();
        let branch = head.branch.as_deref().map(|it| text(it.strip_prefix(b"refs/heads/").unwrap_or(it)));
        Ok(Made { commit, files, message, branch, left_out: Vec::new(), before: None })
    }

    /// The first lines of the last commits.
    fn subjects(&self, head: &Head) -> Result<Vec<String>> {
        let Some(commit) = &head.commit else { return Ok(Vec::new()) };
        let run = self.run(&["log", "-30", "--no-merges", "--no-show-signature", "--format=%s"]);
        Ok(text(&run.with(commit).output()?).lines().map(str::to_owned).collect())
    }

    fn commit_tree(&self, tree: &str, head: &Head, message: &str, author: Option<&Author>) -> Result<String> {
        let mut run = self.run(&["commit-tree"]).with(tree);
        if let Some(parent) = &head.commit {
            run = run.with("-p").with(parent);
        }
        if self.signs {
            run = run.with("-S").within(SIGNING);
        }
        if let Some(author) = author {
            run = run.variable("GIT_AUTHOR_NAME", &author.name).variable("GIT_AUTHOR_EMAIL", &author.mail);
        }
        let ended = run.with("-F").with("-").input(message.as_bytes().to_vec()).ended()?;
        if ended.is_well() {
            return Ok(text(ended.line()));
        }
        let mut error = failed("commit-tree", &ended);
        error.detail = if error.detail.contains("ident") || error.detail.contains("tell me who you are") {
            format!(
                "nothing was committed: git does not know who commits: set `git config user.name` and `user.email` ({})",
                ended.words
            )
        } else {
            format!("nothing was committed: {}", error.detail)
        };
        Err(error)
    }

    /// Moves HEAD to the commit, and brings its files into the user's index. It cannot be interrupted halfway.
    fn make(
        &self,
        private: &Private,
        head: &Head,
        commit: &str,
        message: &str,
        differences: &[Difference],
    ) -> Result<(), Stop> {
        let places = Places::new(&self.directory, &private.id);
        let heads = self.head_locks(head);
        private.record(&Record {
            top: self.top.clone(),
            directory: self.directory.clone(),
            commit: commit.to_owned(),
            index: places.index.clone(),
            lock: places.lock.clone(),
            twin: places.twin.clone(),
            heads: heads.clone(),
        })?;
        let index = places.index.clone();
        let mut lock = IndexLock::take(places)?;
        fault::point("git.locked");
        // While the lock is held, nobody switches branches or begins a merge.
        if self.head()? != *head {
            return Err(Stop::Moved(Error::new(
                Code::Conflict,
                "nothing was committed: HEAD was moved during this request",
            )));
        }
        if let Some(operation) = self.operation() {
            let detail = format!("nothing was committed: a {operation} was begun during this request");
            return Err(Error::new(Code::Conflict, detail).into());
        }
        let next = private.next_index();
        let written = copy_index(&index, &next)?;
        self.update_next(&next, differences)?;
        lock.fill(&next, written)?;
        private.begin_to_move()?;
        fault::point("git.filled");
        self.move_head(head, commit, message, private)?;
        fault::point("git.moved");
        lock.publish().map_err(|error| {
            Error::new(Code::Internal, format!("{commit} was committed, but the index could not be written: {error}"))
        })?;
        Ok(())
    }

    fn move_head(&self, head: &Head, commit: &str, message: &str, private: &Private) -> Result<(), Stop> {
        let initial = if head.commit.is_none() { " (initial)" } else { "" };
        let log = format!("commit{initial}: {}", logged_subject(message));
        for attempt in 1.. {
            // An empty old value means that there is no commit yet.
            let old = head.commit.as_deref().unwrap_or_default();
            let run = self.run(&["update-ref", "-m"]).with(&log).with("HEAD").with(commit).with(old).whole();
            let ended = match run.ended() {
                Ok(ended) => ended,
                Err(error) => {
                    if let Some(begun) = private.moved_since() {
                        clear_heads(&self.head_locks(head), commit, begun);
                    }
                    return Err(error.into());
                }
            };
            if ended.is_well() {
                return Ok(());
            }
            let said = |word: &str| ended.words.contains(word);
            if said("but expected") || said("reference already exists") {
                let detail = format!("nothing was committed: HEAD was moved during this request: {}", ended.words);
                return Err(Stop::Moved(Error::new(Code::Conflict, detail)));
            }
            if !said("File exists") {
                return Err(failed("update-ref", &ended).into());
            }
            if attempt >= MOVES {
                let locks = self.head_locks(head);
                let held = locks.iter().find(|it| it.exists());
                return Err(held.map_or_else(|| failed("update-ref", &ended), |it| taken(it)).into());
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// The references that git locks to move HEAD: HEAD itself and its branch.
    fn head_locks(&self, head: &Head) -> Vec<std::path::PathBuf> {
        use std::os::unix::ffi::OsStrExt as _;
        let lock = |of: &[u8]| std::ffi::OsStr::from_bytes(&[of, b".lock"].concat()).to_owned();
        let branch = head.branch.iter().map(|it| self.common.join(lock(it)));
        branch.chain([self.directory.join("HEAD.lock")]).collect()
    }

    /// The changed files, with their texts unless they are too long.
    fn altered(&self, differences: &[Difference]) -> Vec<Altered> {
        let of = |side: &Option<(String, String)>, kind: &str| -> Option<String> {
            let (_, object) = side.as_ref().filter(|it| it.0.starts_with(kind))?;
            let size = self.run(&["cat-file", "-s"]).with(object).line().ok()?;
            if text(&size).parse::<usize>().ok()? > BYTES_READ {
                return None;
            }
            String::from_utf8(self.run(&["cat-file", "blob"]).with(object).output().ok()?).ok()
        };
        let altered = |(number, it): (usize, &Difference)| {
            let read = |side, kind| if number < FILES_READ { of(side, kind) } else { None };
            Altered {
                file: self.naming.shown(&it.path),
                existed: it.old.is_some(),
                exists: it.new.is_some(),
                old: read(&it.old, FILE),
                new: read(&it.new, FILE),
                leads_to: read(&it.new, LINK),
            }
        };
        differences.iter().enumerate().map(altered).collect()
    }
}

/// Copies the user's index, and returns its time of modification. Git uses that time to find files that may have
/// changed in the same second, so it is preserved.
fn copy_index(index: &Path, next: &Path) -> Result<Option<SystemTime>> {
    let copy = || -> std::io::Result<SystemTime> {
        let written = fs::metadata(index)?.modified()?;
        fs::copy(index, next)?;
        Ok(written)
    };
    match copy() {
        Ok(written) => Ok(Some(written)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let detail = format!("nothing was committed: the index cannot be read: {error}");
            Err(Error::new(Code::PermissionDenied, detail))
        }
    }
}

fn nothing(choice: &Choice) -> Error {
    let detail = match choice.left_out.first() {
        Some(it) => format!("there is nothing to commit: of `{}`: {}", it.file, it.reason),
        None => "there is nothing to commit: these files are as the last commit has them".to_owned(),
    };
    Error::new(Code::NothingToCommit, detail)
}

/// Keeps the commit of the user's own work in the result, if one was made.
fn with_first(stop: Stop, first: Option<&Made>) -> Stop {
    let Some(first) = first else { return stop };
    let add = |mut error: Error| {
        error.detail = format!("{}; what was dirty before was committed first, as {}", error.detail, first.commit);
        error
    };
    // A file that is dirty now was clean before, so a retry would not help.
    match stop {
        Stop::Moved(error) | Stop::Failed(error) => Stop::Failed(add(error)),
    }
}

/// The subject for the log of references. It is an argument of git, whose length the system limits.
fn logged_subject(message: &str) -> String {
    let subject = message.lines().next().unwrap_or_default();
    match subject.len() {
        0..=LONGEST_LOGGED => subject.to_owned(),
        _ => format!("{}…", &subject[..subject.floor_char_boundary(LONGEST_LOGGED)]),
    }
}

/// The message with the trailer, unless it has it already.
fn with_co_author(mut message: String, co_author: &str) -> String {
    let trailer = format!("Co-authored-by: {co_author}");
    if message.lines().any(|it| it.eq_ignore_ascii_case(&trailer)) {
        return message;
    }
    let is_trailer = |line: &str| {
        let token = line.split_once(": ").map_or("", |it| it.0);
        !token.is_empty() && token.chars().all(|it| it.is_ascii_alphanumeric() || it == '-')
    };
    while message.ends_with('\n') {
        message.pop();
    }
    let last = message.rsplit_once("\n\n").map(|it| it.1);
    let follows = last.is_some_and(|it| it.lines().all(is_trailer));
    message.push_str(if follows { "\n" } else { "\n\n" });
    message + &trailer + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_of_references_has_the_begin_of_a_long_subject() {
        assert_eq!(logged_subject("fix: it\n\nbody\n"), "fix: it");
        assert_eq!(logged_subject(""), "");
        let long = "é".repeat(100_000);
        let logged = logged_subject(&long);
        assert!(logged.len() <= LONGEST_LOGGED + 3 && logged.ends_with("é…"), "{logged}");
    }

    #[test]
    fn a_co_author_is_named_once_and_among_the_trailers() {
        let with = |message: &str| with_co_author(message.to_owned(), "B <b@x>");
        assert_eq!(with("fix: a"), "fix: a\n\nCo-authored-by: B <b@x>\n");
        assert_eq!(with("fix: a\n\nWhy.\n"), "fix: a\n\nWhy.\n\nCo-authored-by: B <b@x>\n");
        let trailers = "fix: a\n\nSigned-off-by: A <a@x>\n";
        assert_eq!(with(trailers), format!("{trailers}Co-authored-by: B <b@x>\n"));
        assert_eq!(with(&with("fix: a")), with("fix: a"));
    }
}
