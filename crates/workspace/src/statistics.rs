//! How many errors and warnings each file had at which revision since the start, for all clients and for each session
//! of an agent. In memory, and bounded: the oldest entries are dropped first.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::journal;
use semdex_model::{Diagnostic, Revision, Severity};

const SESSIONS: usize = 128;
const FILES: usize = 2000;
const HISTORY: usize = 100;
/// At most this many uses of tools are remembered, by their names.
const COUNTED: usize = 256;

/// The statistics of a workspace.
#[derive(Debug)]
pub struct Statistics(Mutex<All>);

#[derive(Debug)]
struct All {
    together: Session,
    /// The most recently active session comes last.
    sessions: VecDeque<(String, Session)>,
}

/// The statistics of a session, or of all clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Milliseconds since 1970.
    pub since: i64,
    /// Edits of files that hooks reported.
    pub edits: u64,
    /// The history of each file.
    pub files: BTreeMap<String, History>,
    /// Files that its edits touched or broke.
    pub broken: BTreeSet<String>,
    /// Edited files whose errors were not known when its hook asked.
    pub pending: BTreeSet<String>,
    /// Edited files for which it is not known yet what their edits broke in other files.
    pub searched: BTreeSet<String>,
    /// Errors that its edits caused in other files, found after their hooks had answered.
    pub late: Vec<Diagnostic>,
    counted: VecDeque<String>,
}

/// The history of a file, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History(VecDeque<(u64, Seen)>);

/// How many diagnostics of each severity a file had: errors, warnings, infos, hints.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// Diagnostics of severity error.
    pub errors: usize,
    /// Diagnostics of severity warning.
    pub warnings: usize,
    /// Diagnostics of severity info.
    pub infos: usize,
    /// Diagnostics of severity hint.
    pub hints: usize,
}

impl Seen {
    /// Counts diagnostics.
    pub fn of<'a>(diagnostics: impl Iterator<Item = &'a Diagnostic>) -> Seen {
        let mut seen = Seen::default();
        for diagnostic in diagnostics {
            match diagnostic.severity {
                Severity::Error => seen.errors += 1,
                Severity::Warning => seen.warnings += 1,
                Severity::Info => seen.infos += 1,
                Severity::Hint => seen.hints += 1,
            }
        }
        seen
    }
}

impl History {
    /// The latest numbers.
    pub fn last(&self) -> Seen {
        self.0.back().map(|it| it.1).unwrap_or_default()
    }

    /// The numbers, each with its revision.
    pub fn iter(&self) -> impl Iterator<Item = (u64, Seen)> + '_ {
        self.0.iter().copied()
    }

    fn newest(&self) -> u64 {
        self.0.back().map_or(0, |it| it.0)
    }

    /// Adds the numbers of a revision. The last numbers of a revision count.
    fn note(&mut self, revision: u64, seen: Seen) {
        self.0.retain(|it| it.0 < revision);
        if self.0.len() == HISTORY {
            self.0.pop_front();
        }
        self.0.push_back((revision, seen));
    }
}

impl Session {
    fn new() -> Session {
        Session {
            since: journal::now(),
            edits: 0,
            files: BTreeMap::new(),
            broken: BTreeSet::new(),
            pending: BTreeSet::new(),
            searched: BTreeSet::new(),
            late: Vec::new(),
            counted: VecDeque::new(),
        }
    }

    fn note(&mut self, revision: Revision, file: &str, seen: Seen) {
        if !self.files.contains_key(file)
            && self.files.len() >= FILES
            && let Some(oldest) = self.files.iter().min_by_key(|it| it.1.newest()).map(|it| it.0.clone())
        {
            self.files.remove(&oldest);
        }
        self.files.entry(file.to_owned()).or_default().note(revision.0, seen);
    }
}

impl Default for Statistics {
    fn default() -> Statistics {
        Statistics(Mutex::new(All { together: Session::new(), sessions: VecDeque::new() }))
    }
}

impl Statistics {
    /// A client has queried a file.
    pub fn note(&self, revision: Revision, file: &str, seen: Seen) {
        self.lock().together.note(revision, file, seen);
    }

    /// A client has queried all files: those that are not listed have no diagnostics.
    pub fn note_all(&self, revision: Revision, found: &BTreeMap<&str, Seen>) {
        let mut all = self.lock();
        let gone: Vec<String> =
            all.together.files.keys().filter(|it| !found.contains_key(it.as_str())).cloned().collect();
        for file in gone {
            all.together.note(revision, &file, Seen::default());
        }
        for (file, seen) in found {
            all.together.note(revision, file, *seen);
        }
    }

    /// The hook of a session has queried a file.
    pub fn note_in(&self, session: Option<&str>, revision: Revision, file: &str, seen: Seen) {
        let mut all = self.lock();
        all.together.note(revision, file, seen);
        if let Some(session) = session {
            all.session(session).note(revision, file, seen);
        }
    }

    /// An edit of a session touched or broke these files: they count at its end.
    pub fn note_broken<'a>(&self, session: &str, files: impl Iterator<Item = &'a str>) {
        let mut all = self.lock();
        let session = all.session(session);
        for file in files {
            if session.broken.len() < FILES {
                session.broken.insert(file.to_owned());
            }
        }
    }

    /// The errors of these files were not known when the hook of a session asked.
    pub fn note_pending(&self, session: &str, files: &[String]) {
        let mut all = self.lock();
        let pending = &mut all.session(session).pending;
        let room = FILES.saturating_sub(pending.len());
        let new: Vec<String> = files.iter().filter(|it| !pending.contains(*it)).take(room).cloned().collect();
        pending.extend(new);
    }

    /// The files whose errors were not known to the hooks of a session.
    pub fn pending(&self, session: &str) -> Vec<String> {
        let all = self.lock();
        let known = all.sessions.iter().find(|it| it.0 == session);
        known.map(|it| it.1.pending.iter().cloned().collect()).unwrap_or_default()
    }

    /// What the edits of these files broke in other files is still searched for, for a session.
    pub fn note_searched(&self, session: &str, files: &[String]) {
        let mut all = self.lock();
        let searched = &mut all.session(session).searched;
        let room = FILES.saturating_sub(searched.len());
        searched.extend(files.iter().take(room).cloned());
    }

    /// The search for what the edits of these files broke in other files is over, for a session.
    pub fn note_found(&self, session: &str, files: &[String]) {
        if let Some((_, known)) = self.lock().sessions.iter_mut().find(|it| it.0 == session) {
            known.searched.retain(|it| !files.contains(it));
        }
    }

    /// An edit of a session caused these errors in other files, which its hook could not wait for.
    pub fn note_late(&self, session: &str, found: Vec<Diagnostic>) {
        self.note_broken(session, found.iter().map(|it| it.place.file.as_str()));
        let mut all = self.lock();
        let late = &mut all.session(session).late;
        let new = found.into_iter().filter(|it| !late.contains(it)).take(FILES - late.len().min(FILES));
        let new: Vec<Diagnostic> = new.collect();
        late.extend(new);
    }

    /// The errors that were found after the hooks of a session had answered.
    pub fn late(&self, session: &str) -> Vec<Diagnostic> {
        let all = self.lock();
        let known = all.sessions.iter().find(|it| it.0 == session);
        known.map(|it| it.1.late.clone()).unwrap_or_default()
    }

    /// A session has been told the errors of these files, and these errors that were found late.
    pub fn settle(&self, session: &str, files: &[String], late: &[Diagnostic]) {
        let mut all = self.lock();
        if let Some((_, known)) = all.sessions.iter_mut().find(|it| it.0 == session) {
            known.pending.retain(|it| !files.contains(it));
            known.late.retain(|it| !late.contains(it));
        }
    }

    /// The hook of a session reports an edit, with the name of the tool's use if it has one. In a batch only edits
    /// count that were not reported separately.
    pub fn count_edit(&self, session: Option<&str>, tool_use: Option<&str>, in_batch: bool) {
        let mut all = self.lock();
        if let Some(session) = session {
            let session = all.session(session);
            if let Some(tool_use) = tool_use {
                if in_batch && session.counted.iter().any(|it| it == tool_use) {
                    return;
                }
                if session.counted.len() == COUNTED {
                    session.counted.pop_front();
                }
                session.counted.push_back(tool_use.to_owned());
            } else if in_batch {
                return;
            }
            session.edits += 1;
        }
        all.together.edits += 1;
    }

    /// The statistics of a session, or of all clients. `None` for an unknown session.
    pub fn of(&self, session: Option<&str>) -> Option<Session> {
        let all = self.lock();
        match session {
            Some(session) => all.sessions.iter().find(|it| it.0 == session).map(|it| it.1.clone()),
            None => Some(all.together.clone()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, All> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl All {
    fn session(&mut self, name: &str) -> &mut Session {
        let known = self.sessions.iter().position(|it| it.0 == name).and_then(|at| self.sessions.remove(at));
        if self.sessions.len() == SESSIONS {
            self.sessions.pop_front();
        }
        let at = self.sessions.len();
        self.sessions.push_back(known.unwrap_or_else(|| (name.to_owned(), Session::new())));
        &mut self.sessions[at].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(errors: usize) -> Seen {
        Seen { errors, ..Seen::default() }
    }

    #[test]
    fn each_session_has_its_files_and_all_are_bounded() {
        let statistics = Statistics::default();
        for revision in 0..250 {
            statistics.note_in(Some("a"), Revision(revision), "x", errors(1));
            statistics.count_edit(Some("a"), None, false);
        }
        statistics.note(Revision(250), "y", errors(2));
        // The same revision counts once.
        statistics.note_in(Some("b"), Revision(250), "x", errors(3));
        statistics.note_in(Some("b"), Revision(250), "x", errors(4));
        let of_a = statistics.of(Some("a")).unwrap();
        assert_eq!((of_a.edits, of_a.files.len(), of_a.files["x"].iter().count()), (250, 1, HISTORY));
        assert_eq!(statistics.of(Some("b")).unwrap().files["x"].iter().collect::<Vec<_>>(), [(250, errors(4))]);
        assert_eq!(statistics.of(Some("c")), None);
        let all = statistics.of(None).unwrap();
        assert_eq!((all.edits, all.files["x"].last(), all.files["y"].last()), (250, errors(4), errors(2)));

        for file in 0..FILES + 10 {
            statistics.note_in(Some("c"), Revision(file as u64), &file.to_string(), errors(0));
        }
        let of_c = statistics.of(Some("c")).unwrap();
        assert!(of_c.files.len() == FILES && !of_c.files.contains_key("0"), "the oldest went");
        for session in 0..SESSIONS {
            statistics.count_edit(Some(&format!("s{session}")), None, false);
        }
        assert_eq!(statistics.of(Some("a")), None, "the oldest session went");
    }

    #[test]
    fn the_use_of_a_tool_in_a_batch_counts_once() {
        let statistics = Statistics::default();
        statistics.count_edit(Some("a"), Some("1"), false);
        statistics.count_edit(Some("a"), Some("1"), true);
        statistics.count_edit(Some("a"), Some("2"), true);
        assert_eq!(statistics.of(Some("a")).unwrap().edits, 2);
    }

    #[test]
    fn a_file_that_is_clean_again_says_so() {
        let statistics = Statistics::default();
        statistics.note(Revision(1), "x", errors(1));
        statistics.note_all(Revision(2), &BTreeMap::from([("y", errors(1))]));
        let all = statistics.of(None).unwrap();
        assert_eq!((all.files["x"].last(), all.files["y"].last()), (errors(0), errors(1)));
    }
}
