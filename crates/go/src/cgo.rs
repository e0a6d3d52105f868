//! Diagnostics that may be wrong because cgo is off, as it is in an untrusted workspace. The files that need cgo are
//! then not part of their packages, and names that they declare are unresolved elsewhere. Such errors are not reported,
//! and the coverage names the affected files.

use std::collections::{BTreeMap, BTreeSet};

use super::external_symbols;
use super::modules::base_name;
use super::queries::GoplsQueries;
use semdex_engine::files::File;
use semdex_model::{Coverage, Diagnostic, Missing, MissingCode, Severity};

/// The pseudo-package that a file imports to use cgo.
pub(crate) const PSEUDO: &str = "C";
/// Code for an undeclared name of the file's own package.
const NOT_DECLARED: &str = "UndeclaredName";
/// Code for an undeclared name of another package.
const NOT_EXPORTED: &str = "UndeclaredImportedName";
/// Codes for a type without a required field or method.
const LACKING: &[&str] = &["MissingFieldOrMethod", "InvalidIfaceAssign", "ImpossibleAssert", "InvalidTypeArg"];
/// Code for an import that could not be loaded; `go list` reports the same without a code.
const NOT_IMPORTED: &str = "BrokenImport";
const IMPORTING: &[&str] = &["error while importing ", "could not import "];
/// The message for a package in which every file needs cgo.
const EXCLUDED: &str = "build constraints exclude all Go files";
const PARSER: &str = "syntax";

/// The files that need cgo, and the files with incomplete diagnostics because of them.
#[derive(Debug, Default)]
pub(crate) struct Doubts(BTreeMap<String, BTreeSet<String>>);

impl Doubts {
    /// Removes the diagnostics that may not exist when cgo runs.
    pub(crate) fn remove_uncertain(&mut self, queries: &GoplsQueries<'_>, file: &File, found: &mut Vec<Diagnostic>) {
        if queries.session.trusted {
            return;
        }
        let layout = queries.layout;
        let asks = |it: &str| it == PSEUDO;
        let own = layout.siblings(&file.path).iter().find(|it| layout.needs_cgo(it)).cloned();
        let own = own.or_else(|| file.outline().imports.iter().any(|it| asks(&it.path)).then(|| file.path.to_string()));
        let below = own.clone().or_else(|| layout.cgo_behind(&file.path));
        let is_local = |it: &str| asks(it) || layout.files_of(it).iter().any(|it| layout.needs_cgo(it));
        let mut suspects: BTreeSet<&str> =
            file.outline().imports.iter().map(|it| it.path.as_str()).filter(|it| is_local(it)).collect();
        if let Some(cause) = &below {
            self.add(cause, &file.path);
        }
        // Search the dependencies only if a declaration is missing.
        if found.iter().any(is_of_absence) {
            let others = file.outline().imports.iter().filter(|it| !suspects.contains(it.path.as_str()));
            let others: Vec<&str> = others.map(|it| it.path.as_str()).filter(|it| !layout.is_local(it)).collect();
            let context = queries.session.context();
            for path in others {
                if external_symbols::has_file(queries.session, queries.files, path, |name, text| {
                    context.lacks_cgo(name, text)
                }) {
                    suspects.insert(path);
                    self.add(path, &file.path);
                }
            }
        }
        found.retain(|it| !is_doubtful(it, file, own.is_some(), below.is_some(), &suspects));
    }

    fn add(&mut self, cause: &str, file: &str) {
        self.0.entry(cause.to_owned()).or_default().insert(file.to_owned());
    }

    /// Adds the files with incomplete diagnostics to the coverage.
    pub(crate) fn report(self, coverage: &mut Coverage) {
        for (cause, files) in self.0 {
            let whose = match files.first() {
                Some(only) if files.len() == 1 => format!("`{only}`"),
                _ => format!("{} files that use it", files.len()),
            };
            let detail = format!(
                "{cause} needs cgo, which runs only where the workspace is trusted: what is wrong with {whose} is known in \
                 part"
            );
            coverage.lacks(Missing::new(MissingCode::Untrusted, cause, detail));
        }
    }
}

fn is_import(found: &Diagnostic) -> bool {
    found.code.as_deref() == Some(NOT_IMPORTED)
        || found.message.contains(EXCLUDED)
        || IMPORTING.iter().any(|it| found.message.starts_with(it))
}

fn is_of_absence(found: &Diagnostic) -> bool {
    let codes = [NOT_DECLARED, NOT_EXPORTED].iter().chain(LACKING);
    let is_named = found.code.as_deref().is_some_and(|code| codes.into_iter().any(|it| *it == code));
    found.severity == Severity::Error && found.source != PARSER && (is_named || is_import(found))
}

fn is_doubtful(found: &Diagnostic, file: &File, own: bool, below: bool, suspects: &BTreeSet<&str>) -> bool {
    if !is_of_absence(found) {
        return false;
    }
    if is_import(found) {
        let is_own = own && found.message.starts_with(EXCLUDED);
        return is_own
            || suspects.iter().any(|path| found.message.split([' ', '"', '(', ')', ':']).any(|word| word == *path));
    }
    match found.code.as_deref() {
        Some(NOT_DECLARED) => own,
        Some(NOT_EXPORTED) => {
            let named = found.message.strip_prefix("undefined: ").and_then(|it| it.split_once('.')).map(|it| it.0);
            let innocent = file.outline().imports.iter().filter(|it| !suspects.contains(it.path.as_str()));
            let mut innocent = innocent.map(|it| it.alias.as_deref().unwrap_or_else(|| base_name(&it.path)));
            !suspects.is_empty() && !innocent.any(|it| named == Some(it))
        }
        _ => below || !suspects.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_come_of_cgo_is_doubtful() {
        let text = "package p\n\nimport (\n\t\"fmt\"\n\t\"x.org/cg\"\n)\n\nvar a = fmt.No\n";
        let file = crate::file("p.go", text);
        let error = |code: Option<&str>, message: &str| Diagnostic {
            severity: Severity::Error,
            code: code.map(str::to_owned),
            message: message.to_owned(),
            source: "compiler".to_owned(),
            symbol: None,
            confirmed: None,
            build: None,
            place: file.lines().place("p.go", semdex_model::Span::new(0, 1)),
        };
        let suspects = BTreeSet::from(["x.org/cg"]);
        let doubtful = |code, message: &str| is_doubtful(&error(code, message), &file, false, true, &suspects);
        assert!(doubtful(Some(NOT_EXPORTED), "undefined: cg.One"));
        assert!(!doubtful(Some(NOT_EXPORTED), "undefined: fmt.No"));
        assert!(!doubtful(Some(NOT_DECLARED), "undefined: one"));
        assert!(doubtful(Some("MissingFieldOrMethod"), "c.A undefined (type cg.C has no field or method A)"));
        assert!(!doubtful(Some("WrongArgCount"), "not enough arguments in call to f"));
        assert!(doubtful(None, "error while importing x.org/cg: build constraints exclude all Go files in /w/cg"));
        assert!(doubtful(Some(NOT_IMPORTED), "could not import x.org/cg (no required module)"));
        assert!(!doubtful(Some(NOT_IMPORTED), "could not import x.org/cgx (no required module)"));
    }
}
