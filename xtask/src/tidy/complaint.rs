//! What a rule says about a line that breaks it.

use std::fmt;

/// A violation of a rule, with what to do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Complaint {
    file: String,
    /// From one.
    line: usize,
    message: String,
}

impl Complaint {
    pub(crate) fn new(file: &str, line: usize, message: impl Into<String>) -> Self {
        Complaint { file: file.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

#[cfg(test)]
#[track_caller]
pub(crate) fn fails(complaints: impl IntoIterator<Item = Complaint>, with: &str) {
    let complaints: Vec<String> = complaints.into_iter().map(|it| it.to_string()).collect();
    let one = complaints.len() == 1 && complaints[0].contains(with);
    assert!(one, "wanted one complaint with {with:?}, got {complaints:#?}");
}

#[cfg(test)]
#[track_caller]
pub(crate) fn passes(complaints: impl IntoIterator<Item = Complaint>) {
    let complaints: Vec<String> = complaints.into_iter().map(|it| it.to_string()).collect();
    assert!(complaints.is_empty(), "wanted no complaint, got {complaints:#?}");
}
