//! The files that a request names. Their paths can determine the workspace of a request that names none.

use super::call_table::Request;

impl Request {
    /// The files in the fields of the request, unchanged.
    pub fn files(&self) -> Vec<&str> {
        match self {
            Request::Open(it) => one(Some(&it.file)),
            Request::SymbolAt(it) => one(Some(&it.file)),
            Request::Write(it) => one(Some(&it.name)),
            Request::PutOverlay(it) => one(Some(&it.file)),
            Request::DeleteOverlay(it) => one(Some(&it.file)),
            Request::Describe(it) => one(it.file.as_deref()),
            Request::Symbols(it) => one(it.file.as_deref()),
            Request::Usages(it) | Request::Callers(it) => one(it.file.as_deref()),
            Request::Callees(it) | Request::Implementations(it) => one(it.file.as_deref()),
            Request::Diagnostics(it) => one(it.file.as_deref()),
            Request::Regressions(it) => one(it.file.as_deref()),
            Request::Impact(it) => one(it.file.as_deref()),
            Request::Changes(it) => one(it.file.as_deref()),
            Request::Rename(it) => one(it.file.as_deref()),
            Request::Edit(it) => {
                let several = it.edits.iter().flatten().filter_map(|it| it.file.as_deref());
                it.file.as_deref().into_iter().chain(several).collect()
            }
            Request::Baseline(it) => all(it.files.as_deref()),
            Request::Commit(it) => all(it.files.as_deref()),
            Request::StartRun(it) => all(it.files.as_deref()),
            Request::Map(it) => all(Some(it.focus())),
            Request::Explore(it) => all(it.focus.as_deref()),
            Request::Gate(_)
            | Request::Stats(_)
            | Request::Undo(_)
            | Request::Git(_)
            | Request::Verify(_)
            | Request::ListOverlays(_)
            | Request::Run(_)
            | Request::CancelRun(_)
            | Request::ListWorkspaces(_)
            | Request::OpenWorkspace(_)
            | Request::CloseWorkspace(_)
            | Request::Status(_)
            | Request::Health(_) => Vec::new(),
        }
    }
}

fn one(file: Option<&str>) -> Vec<&str> {
    file.into_iter().collect()
}

fn all(files: Option<&[String]>) -> Vec<&str> {
    files.unwrap_or_default().iter().map(String::as_str).collect()
}
