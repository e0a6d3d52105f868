//! `Example` functions: the symbol that each is for, and its code as documentation shows it.

use super::modules::parent;
use super::symbol_paths::{inner_path, is_test_file};
use crate::LANGUAGE;
use semdex_engine::files::{File, Files};
use semdex_model::{Example, ExampleOrigin, OutlineItem, Symbol, SymbolKind};

/// The examples for a symbol of the workspace, from the tests in its directory.
pub(crate) fn examples(files: &Files, symbol: &Symbol) -> Vec<Example> {
    let directory = parent(&symbol.place.file);
    let beside = files.below(directory).filter(|it| parent(&it.path) == directory && LANGUAGE.takes(&it.path));
    let bits: Vec<&str> = match symbol.kind {
        SymbolKind::Package => Vec::new(),
        _ => inner_path(symbol).split('.').collect(),
    };
    examples_in(beside.map(|it| &**it), &bits)
}

/// The examples for `["Type", "Method"]`, `["Func"]`, or the package itself (`[]`) in some of its files.
pub(crate) fn examples_in<'f>(files: impl Iterator<Item = &'f File>, bits: &[&str]) -> Vec<Example> {
    let base = bits.join("_");
    let mut examples = Vec::new();
    for file in files.filter(|it| is_test_file(&it.path) && it.text.contains("func Example")) {
        for item in &file.outline().items {
            let is_example = item.test && item.kind == SymbolKind::Function;
            let rest = item.name.strip_prefix("Example").filter(|_| is_example);
            if rest.is_some_and(|it| is_for(it, &base)) {
                examples.push(example(file, item));
            }
        }
    }
    examples
}

/// `ExampleType_Method_suffix`: a suffix begins with a lower-case letter.
fn is_for(rest: &str, base: &str) -> bool {
    let Some(suffix) = rest.strip_prefix(base) else { return false };
    suffix.is_empty() || suffix.strip_prefix('_').is_some_and(|it| it.starts_with(char::is_lowercase))
}

/// A file with one example, no test, and other declarations that the example needs is shown whole, as in `go doc`.
fn is_whole_file(file: &File) -> bool {
    let items = &file.outline().items;
    let is_test = |it: &&OutlineItem| it.test && it.kind == SymbolKind::Function;
    let mut tests = items.iter().filter(is_test);
    let only = tests.next().is_some_and(|it| it.name.starts_with("Example")) && tests.next().is_none();
    only && items.len() > 1
}

fn example(file: &File, item: &OutlineItem) -> Example {
    let body = item.body.and_then(|it| file.text.get(it.start..it.end)).unwrap_or_default();
    let code = if is_whole_file(file) { file.text.trim().to_owned() } else { dedented(body) };
    Example {
        origin: ExampleOrigin::Example,
        file: file.path.to_string(),
        line: file.lines().line(item.name_span.start),
        title: item.name.clone(),
        code,
    }
}

/// A body's lines without the indentation that all of them share.
fn dedented(body: &str) -> String {
    let lines: Vec<&str> = body.lines().map(str::trim_end).collect();
    let first = lines.iter().position(|it| !it.is_empty()).unwrap_or(lines.len());
    let last = lines.iter().rposition(|it| !it.is_empty()).map_or(first, |it| it + 1);
    let lines = &lines[first..last];
    let indent = |it: &&str| it.len() - it.trim_start_matches(['\t', ' ']).len();
    let shared = lines.iter().filter(|it| !it.is_empty()).map(indent).min().unwrap_or(0);
    let cut: Vec<&str> = lines.iter().map(|it| it.get(shared..).unwrap_or_default()).collect();
    cut.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build_constraints::BuildContext;
    use crate::layout::Layout;
    use crate::tests::fixture::files;

    #[test]
    fn examples_by_name() {
        let files = files(
            "
//- a/a.go
package a

type T struct{}
func (T) M() {}
func F() {}
//- a/example_test.go
package a_test

func ExampleT() {}

func ExampleT_M() {
	if x {
		a.M()
	}

	// Output: 1
}

func ExampleT_M_second() { b() }
func ExampleT_other() {}
func ExampleF() {}
func ExampleFoo() {}
func Example() {}
",
        );
        let files = std::sync::Arc::new(files);
        let layout = Layout::of(files.clone(), &BuildContext::host());
        let titles: Vec<(String, Vec<String>)> = layout
            .symbols("a/a.go")
            .iter()
            .map(|it| (it.name.clone(), examples(&files, it).into_iter().map(|it| it.title).collect()))
            .collect();
        let expected = [
            ("T", vec!["ExampleT", "ExampleT_other"]),
            ("M", vec!["ExampleT_M", "ExampleT_M_second"]),
            ("F", vec!["ExampleF"]),
        ];
        assert_eq!(titles, expected.map(|(name, it)| (name.to_owned(), it.into_iter().map(str::to_owned).collect())));
        let method = &examples(&files, &layout.symbols("a/a.go")[1])[0];
        assert_eq!(method.code, "if x {\n\ta.M()\n}\n\n// Output: 1");
        assert_eq!((method.line, method.file.as_str()), (5, "a/example_test.go"));
    }
}
