//! The weights of the ranking, in one table.

/// The weights of the ranking. Each is relative to the words of the text, which weigh 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// A word of the query in the name of a declaration, in occurrences in its text.
    pub name: f64,
    /// A word of the query in the path of the file, in occurrences in its text.
    pub path: f64,
    /// The file as a whole, as text.
    pub file: f64,
    /// A declaration whose exact name the query has.
    pub named: f64,
    /// A place, a file or a frame of a stack trace that the query names.
    pub placed: f64,
    /// The declarations that the best ones use, and those that use them.
    pub linked: f64,
    /// Files that changed together with the best ones.
    pub changed_together: f64,
    /// Files that changed lately.
    pub recent: f64,
    /// The factor of tests.
    pub test: f64,
    /// The factor of prose and of files that no engine analyses.
    pub prose: f64,
    /// The length penalty of BM25 for sections.
    pub length: f64,
    /// The length penalty does not favour sections that are shorter than this part of the mean.
    pub shortest: f64,
    /// How much it counts which part of the query a section has: an exponent.
    pub coverage: f64,
    /// The factor of prose if the query is a question: documentation answers it.
    pub asked_prose: f64,
    /// How much the sum of all sections counts in the rank of a file, besides its best section.
    pub breadth: f64,
    /// How much the rank of its file counts for the place of a section in the answer: an exponent.
    pub share: f64,
    /// Of so many of the best files, the best section comes before all else.
    pub first: f64,
    /// How much the better one of the sections beside a section counts for its place in the answer.
    pub around: f64,
    /// How much the best section of a file counts for the place of the other ones.
    pub whole: f64,
    /// The words of the first line of the query.
    pub title: f64,
    /// The words in fenced blocks of the query.
    pub fenced: f64,
    /// The factor of templates and components: markup with code.
    pub markup: f64,
}

/// What `benches/localisation` found on 28 November 2026, as far as its fits to parts of the data agree. A weight that is
/// zero, or the same as what it was a part of, gained nothing.
pub const WEIGHTS: Weights = Weights {
    name: 8.0,
    path: 2.0,
    file: 0.25,
    named: 0.4,
    placed: 1.2,
    linked: 0.6,
    changed_together: 0.1,
    recent: 0.05,
    test: 0.4,
    prose: 0.25,
    length: 0.75,
    shortest: 0.0,
    coverage: 0.0,
    asked_prose: 0.25,
    breadth: 0.5,
    share: 0.8,
    first: 3.0,
    around: 0.15,
    whole: 0.0,
    title: 2.0,
    fenced: 1.0,
    markup: 0.25,
};
