//! A stored baseline: the errors and warnings of one moment, each with the text of its line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use semdex_model::{Diagnostic, Place, Severity};

/// The diagnostics of one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Baseline {
    /// A ULID.
    pub id: String,
    /// The workspace's root.
    pub workspace: String,
    /// Milliseconds since 1970.
    pub made_at: i64,
    /// The revision of that moment.
    pub revision: u64,
    /// The baseline has all files: every diagnostic of a file that is not listed is new.
    pub is_whole: bool,
    /// What was missing when it was computed.
    pub lacking: Vec<String>,
    /// The diagnostics of each file. A baseline that is not whole also lists files without diagnostics.
    pub files: BTreeMap<String, Vec<Kept>>,
}

/// A diagnostic and the text of its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The diagnostic.
    pub diagnostic: Diagnostic,
    /// The text of its line.
    pub text: String,
}

/// A [`Kept`] of one file as it is stored.
#[derive(Serialize, Deserialize)]
struct Record {
    error: bool,
    code: Option<String>,
    message: String,
    source: String,
    symbol: Option<String>,
    /// start, end, line, end line, column
    at: [usize; 5],
    text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    build: Option<String>,
}

/// Serializes the errors and warnings of one file.
pub(super) fn write(kept: &[Kept]) -> serde_json::Result<String> {
    let records: Vec<Record> = kept
        .iter()
        .map(|Kept { diagnostic: it, text }| Record {
            error: it.severity == Severity::Error,
            code: it.code.clone(),
            message: it.message.clone(),
            source: it.source.clone(),
            symbol: it.symbol.clone(),
            at: [it.place.start, it.place.end, it.place.line, it.place.end_line, it.place.column],
            text: text.clone(),
            build: it.build.clone(),
        })
        .collect();
    serde_json::to_string(&records)
}

pub(super) fn read(file: &str, written: &str) -> serde_json::Result<Vec<Kept>> {
    let records: Vec<Record> = serde_json::from_str(written)?;
    Ok(records.into_iter().map(|it| it.kept(file)).collect())
}

impl Record {
    fn kept(self, file: &str) -> Kept {
        let [start, end, line, end_line, column] = self.at;
        let diagnostic = Diagnostic {
            place: Place { file: file.to_owned(), start, end, line, end_line, column },
            severity: if self.error { Severity::Error } else { Severity::Warning },
            code: self.code,
            message: self.message,
            source: self.source,
            symbol: self.symbol,
            confirmed: None,
            build: self.build,
        };
        Kept { diagnostic, text: self.text }
    }
}
