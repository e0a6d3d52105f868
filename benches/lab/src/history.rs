//! Which files changed together, and which changed lately, by the last commits of the repository. They are read in the
//! background. Without a repository there is no history.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};


/// So many commits are read.
const MOST_COMMITS: usize = 1000;
/// A commit of more files says nothing about which of them belong together.
const MOST_FILES: usize = 30;
/// After so many commits a change counts half as recent.
const HALF_LIFE: f64 = 50.0;
/// How often HEAD is compared.
const INTERVAL: Duration = Duration::from_secs(5);
/// How long the first reader waits.
const PATIENCE: Duration = Duration::from_millis(250);

/// The last commits, as far as they are known.
#[derive(Debug, Default)]
pub struct ChangeHistory {
    /// The files of each commit, the newest first.
    commits: Vec<Vec<u32>>,
    numbers: HashMap<String, u32>,
    names: Vec<String>,
    /// The commits of each file.
    of_file: Vec<Vec<u32>>,
}

impl ChangeHistory {
    /// The history of these commits, the newest first. Each has the names of its files.
    pub fn new<'a>(commits: impl Iterator<Item = Vec<&'a str>>) -> ChangeHistory {
        let mut history = ChangeHistory::default();
        for (number, files) in commits.enumerate() {
            let is_large = files.len() > MOST_FILES;
            let of_commit = files.iter().filter(|_| !is_large).map(|it| history.note(it, number as u32)).collect();
            history.commits.push(of_commit);
        }
        history
    }

    fn note(&mut self, file: &str, commit: u32) -> u32 {
        let next = self.names.len() as u32;
        let number = *self.numbers.entry(file.to_owned()).or_insert(next);
        if number == next {
            self.names.push(file.to_owned());
            self.of_file.push(Vec::new());
        }
        if let Some(commits) = self.of_file.get_mut(number as usize) {
            commits.push(commit);
        }
        number
    }

    /// Whether no commit is known.
    pub fn is_empty(&self) -> bool {
        self.commits.is_empty()
    }

    /// How recently a file changed, from 0 to 1.
    pub fn recency(&self, file: &str) -> f64 {
        let commits = self.numbers.get(file).and_then(|it| self.of_file.get(*it as usize));
        let last = commits.and_then(|it| it.first());
        last.map_or(0.0, |it| 0.5_f64.powf(f64::from(*it) / HALF_LIFE))
    }

    /// The files that changed together with a file: the share of its commits, less for files that change often.
    pub fn changed_with(&self, file: &str) -> HashMap<&str, f64> {
        let mut sums: HashMap<u32, f64> = HashMap::new();
        let Some(own) = self.numbers.get(file) else { return HashMap::new() };
        let commits = self.of_file.get(*own as usize).map(Vec::as_slice).unwrap_or_default();
        for commit in commits.iter().filter_map(|it| self.commits.get(*it as usize)) {
            for other in commit.iter().filter(|it| *it != own) {
                *sums.entry(*other).or_default() += 1.0 / (commit.len() as f64 - 1.0).max(1.0);
            }
        }
        let score = |(other, sum): (u32, f64)| {
            let others = self.of_file.get(other as usize).map_or(1, Vec::len);
            // Two common commits are a coincidence more often than five.
            let norm = ((commits.len() as f64 + 2.0) * (others as f64 + 2.0)).sqrt();
            Some((self.names.get(other as usize)?.as_str(), sum / norm))
        };
        sums.into_iter().filter_map(score).collect()
    }
}

