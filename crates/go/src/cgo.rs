//! What gopls cannot know while cgo is off, as it is where the workspace is not trusted: the files that need cgo are no part
//! of their packages, so that others seem to lack what these declare. Such errors are not reported, and their files are
//! said to be known in part.

use std::collections::{BTreeMap, BTreeSet};

use super::external_symbols;
use super::modules::base_name;
use super::queries::GoplsQueries;
use semdex_engine::files::File;
use semdex_model::{Coverage, Diagnostic, Missing, MissingCode, Severity};

/// The pseudo-package by which a file asks for cgo.
pub(crate) const PSEUDO: &str = "C";
/// Errors of a name that nothing declares, in its own package.
const NOT_DECLARED: &str = "UndeclaredName";
/// The same in another package.
const NOT_EXPORTED: &str = "UndeclaredImportedName";
/// Errors of a type that lacks something.
const LACKING: &[&str] = &["MissingFieldOrMethod", "InvalidIfaceAssign", "ImpossibleAssert", "InvalidTypeArg"];
/// An import of which nothing could be loaded; `go list` says the same without a code.
const NOT_IMPORTED: &str = "BrokenImport";
const IMPORTING: &[&str] = &["error while importing ", "could not import "];
/// Of a package that has such files alone.
const EXCLUDED: &str = "build constraints exclude all Go files";
const PARSER: &str = "syntax";

/// What needs cgo, and the files of which not all is known because of it.
#[derive(Debug, Default)]
pub(crate) struct Doubts(BTreeMap<String, BTreeSet<String>>);

impl Doubts {
    /// Takes out what may be no error where cgo runs.
    pub(crate) fn sort_out(&mut self, queries: &GoplsQueries<'_>, file: &File, found: &mut Vec<Diagnostic>) {
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
        // Dependencies are looked at only where something is lacking.
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

    /// Says of which files not all is known.
    pub(crate) fn tell(self, coverage: &mut Coverage) {
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
