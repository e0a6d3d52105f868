//! Everything about one symbol, and about one crate.

use ra_ap_hir::{Crate, Module, ModuleDef, ScopeDef};
use ra_ap_ide::FileId;
use ra_ap_ide_db::defs::Definition;

use super::paths::module_definition;
use super::symbols::is_test_at;
use super::usages::Found;
use super::view::{Context, View};
use crate::lang::Result;
use crate::model::{
    Answer, Code, Description, Error, Example, ExampleOrigin, Language, Package, Symbol, SymbolQuery, UsagePage, Window,
};

/// Of the tests that use a symbol the shortest are shown.
const MAX_TEST_EXAMPLES: usize = 3;
const MAX_TEST_LINES: usize = 60;

impl View {
    /// A symbol with its source, documentation, examples and usages.
    pub fn describe(self, query: &SymbolQuery, window: Window) -> Result<Answer<(Description, UsagePage)>> {
        self.ask(|it| {
            let (symbol, definition) = it.resolve(query)?;
            let found = it.found_of(definition);
            let usages = it.page(&found.value, definition, window);
            let description = it.description(&symbol, definition, &found.value);
            Ok(Answer { value: (description, usages), coverage: found.coverage })
        })
    }

    /// A crate by its name, or a module by its path.
    pub fn package(self, name: &str) -> Result<Answer<Package>> {
        self.ask(|it| {
            let name = name.replace('-', "_");
            let found = it.walk(&name).into_iter().find_map(|definition| match definition {
                Definition::Module(module) => Some(module),
                Definition::Crate(krate) => Some(krate.root_module(it.db)),
                _ => None,
            });
            match found {
                Some(module) => Ok(Answer { value: it.package(module), coverage: it.coverage(false) }),
                None => Err(it.unknown_package(&name).into()),
            }
        })
    }
}

impl<'db> Context<'db> {
    fn unknown_package(&self, name: &str) -> Error {
        let mut near: Vec<(f64, String)> = Crate::all(self.db)
            .into_iter()
            .map(|krate| self.crate_name(krate))
            .map(|it| (strsim::normalized_damerau_levenshtein(&it, name), it))
            .filter(|it| it.0 > 0.5)
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        let suggestions: Vec<String> = near.into_iter().take(5).map(|it| it.1).collect();
        let meant = suggestions.first().map(|it| format!(": did you mean `{it}`?")).unwrap_or_default();
        let detail = format!("there is no crate or module `{name}` in reach of this workspace{meant}");
        Error::new(Code::UnknownPackage, detail).suggesting(suggestions)
    }

    fn description(&self, symbol: &Symbol, definition: Definition<'db>, found: &Found) -> Description {
        let file = self.find_file(&symbol.place.file).and_then(|id| self.file(id));
        let source = file.and_then(|file| {
            let is_whole_file = symbol.place.start == 0 && symbol.place.end == file.text.len();
            let text = if is_whole_file && symbol.declared_at.is_some() {
                file.outline().skeleton.clone()
            } else {
                file.text.get(symbol.place.start..symbol.place.end)?.to_owned()
            };
            Some(text)
        });
        let docs = symbol.docs.clone().or_else(|| {
            let krate = definition.krate(self.db)?;
            definition.docs(self.db, None, self.display(krate)).map(|it| it.as_str().to_owned())
        });
        let mut examples = docs.as_deref().map(|docs| doctests(symbol, docs)).unwrap_or_default();
        examples.extend(self.test_examples(found));
        Description {
            symbol: symbol.clone(),
            source,
            docs,
            examples,
            implementations: self.implementations_of(definition),
        }
    }

    /// The shortest tests that use it.
    fn test_examples(&self, found: &Found) -> Vec<Example> {
        let mut examples: Vec<(FileId, Example)> = Vec::new();
        for usage in found.items.iter().filter(|it| is_test_at(&it.file, it.at.start)) {
            let file = &usage.file;
            let chain = file.outline().enclosing(usage.at.start);
            let Some(test) = chain.last().filter(|it| it.test && it.children.is_empty()) else { continue };
            let line = file.lines().line(test.span.start);
            let lines = file.lines().line(test.span.end).saturating_sub(line) + 1;
            let is_known = examples.iter().any(|(id, it)| *id == usage.id && it.line == line);
            if lines > MAX_TEST_LINES || is_known {
                continue;
            }
            let example = Example {
                origin: ExampleOrigin::Test,
                file: file.path.to_string(),
                line,
                title: test.name.clone(),
                code: file.text.get(test.span.start..test.span.end).unwrap_or_default().to_owned(),
            };
            examples.push((usage.id, example));
        }
        examples.sort_by_key(|(_, it)| it.code.len());
        examples.truncate(MAX_TEST_EXAMPLES);
        let titled = |(id, example): (FileId, Example)| {
            let offset = self.file(id).map_or(0, |it| it.lines().offset(&it.text, example.line, 1).unwrap_or(0));
            let path = self.file(id).and_then(|it| self.enclosing_path(&it, id, offset));
            Example { title: path.unwrap_or(example.title), ..example }
        };
        examples.into_iter().map(titled).collect()
    }

    fn package(&self, module: Module) -> Package {
        let db = self.db;
        let krate = module.krate(db);
        let external = !krate.origin(db).is_local();
        let root_file = self.file(module.definition_source_file_id(db).original_file(db).file_id(db));
        let root = root_file.as_ref().map(|it| it.path.to_string()).unwrap_or_default();
        let directory = |path: &str| path.rsplit_once('/').map_or(String::new(), |(it, _)| it.to_owned());
        let files = if external {
            Vec::new()
        } else {
            let own = |name: &str| {
                let id = self.file_id(name)?;
                self.sema.file_to_module_defs(id).find(|it| it.krate(db) == krate && self.is_within(*it, module))
            };
            self.files.of(Language::Rust).filter(|it| own(&it.path).is_some()).map(|it| it.path.to_string()).collect()
        };
        Package {
            name: self.module_path(module),
            version: krate.version(db),
            docs: root_file.and_then(|it| it.outline().docs.clone()),
            root: directory(&root),
            files,
            symbols: self.exported(module),
            external,
        }
    }

    fn is_within(&self, module: Module, ancestor: Module) -> bool {
        module.path_to_root(self.db).contains(&ancestor)
    }

    /// Seen from the outside: whether a dependant could name it through this module.
    fn exports(&self, module: Module, item: ModuleDef) -> bool {
        let mut dependants = module.krate(self.db).reverse_dependencies(self.db).into_iter();
        let Some(outside) = dependants.next().map(|it| it.root_module(self.db)) else { return false };
        let named = module.scope(self.db, Some(outside));
        named.into_iter().any(|(_, it)| matches!(it, ScopeDef::ModuleDef(it) if it == item))
    }

    /// What the module offers to others, re-exports included.
    fn exported(&self, module: Module) -> Vec<Symbol> {
        let db = self.db;
        let mut symbols: Vec<Symbol> = Vec::new();
        for (_, definition) in module.scope(db, None) {
            let ScopeDef::ModuleDef(item) = definition else { continue };
            if matches!(item, ModuleDef::BuiltinType(_)) {
                continue;
            }
            let definition = module_definition(item);
            let visible = definition.visibility(db) == Some(ra_ap_hir::Visibility::Public);
            let at_home = definition.module(db) == Some(module)
                || matches!(definition, Definition::Module(it) if it.parent(db) == Some(module));
            let reexported = !at_home && self.exports(module, item);
            if visible && (at_home || reexported) {
                symbols.extend(self.symbol_of(definition));
            }
        }
        symbols.sort_by(|a, b| a.place.cmp(&b.place));
        symbols.dedup_by(|a, b| a.path == b.path && a.kind == b.kind);
        symbols
    }
}

/// The code blocks of a documentation that are Rust.
fn doctests(symbol: &Symbol, docs: &str) -> Vec<Example> {
    let mut found = Vec::new();
    let mut open: Option<(bool, Vec<&str>, String)> = None;
    let mut heading = String::new();
    for line in docs.lines() {
        let trimmed = line.trim_start();
        if let Some(info) = trimmed.strip_prefix("```") {
            match open.take() {
                Some((is_rust, code, title)) if is_rust => found.push(Example {
                    origin: ExampleOrigin::Doctest,
                    file: symbol.place.file.clone(),
                    line: symbol.place.line,
                    title,
                    code: code.join("\n"),
                }),
                Some(_) => {}
                None => {
                    let known = ["rust", "should_panic", "no_run", "ignore", "compile_fail", "edition"];
                    let is_rust =
                        info.split([',', ' ']).all(|it| it.is_empty() || known.iter().any(|k| it.starts_with(k)));
                    open = Some((is_rust, Vec::new(), heading.clone()));
                }
            }
            continue;
        }
        match &mut open {
            // rustdoc hides these lines, and so do we.
            Some(_) if trimmed == "#" || trimmed.starts_with("# ") => {}
            Some((_, code, _)) => code.push(line),
            None => {
                if let Some(title) = trimmed.strip_prefix('#') {
                    title.trim_start_matches('#').trim().clone_into(&mut heading);
                }
            }
        }
    }
    found
}
