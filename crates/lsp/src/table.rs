//! The language servers as data: the embedded table, overridden by the configuration files.

use std::collections::{BTreeMap, HashMap};
use std::sync::{LazyLock, Mutex};

use super::grammar::{Grammar, LspSyntax};
use semdex_config::LanguageKeys;
use semdex_engine::unpoisoned;
use semdex_model::{Language, LanguageId};

/// A test parses it. If a row did not parse, only the configured languages would be left.
static BUILT_IN: LazyLock<BTreeMap<String, LanguageKeys>> =
    LazyLock::new(|| toml::from_str(include_str!("servers.toml")).unwrap_or_default());

/// One language and its server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub name: String,
    pub keys: LanguageKeys,
}

impl Row {
    pub(crate) fn title(&self) -> &str {
        self.keys.title.as_deref().unwrap_or(&self.name)
    }

    /// The server's name in the status.
    pub(crate) fn server(&self) -> &str {
        let program = || self.keys.command.as_ref().and_then(|it| it.first()).map(|it| base_name(it));
        self.keys.server.as_deref().or_else(program).unwrap_or(&self.name)
    }

    /// How to install the server, as a sentence.
    pub(crate) fn install(&self) -> String {
        match &self.keys.install {
            Some(how) if how.starts_with("see ") => how.clone(),
            Some(how) => format!("install it with `{how}`"),
            None => format!("install it, or name another in `[languages.{}] command`", self.name),
        }
    }

    /// Whether requests of this method are never cancelled.
    pub(crate) fn is_uncancelled(&self, method: &str) -> bool {
        self.keys.uncancelled.iter().flatten().any(|it| it == method)
    }

    /// The protocol's language ID of a file.
    pub(crate) fn language_id(&self, file: &str) -> Option<&str> {
        let name = file.rsplit('/').next().unwrap_or(file);
        let by_name = || self.keys.file_names.as_ref()?.get(name);
        let by_extension = || self.keys.extensions.as_ref()?.get(name.rsplit_once('.')?.1);
        by_name().or_else(by_extension).map(String::as_str)
    }

    /// Whether the server reads files of this name: source files and root markers.
    pub(crate) fn is_read(&self, name: &str) -> bool {
        self.language_id(name).is_some() || self.marks_root(name)
    }

    /// Whether a file of this name makes a directory a root of the server.
    fn marks_root(&self, name: &str) -> bool {
        self.keys.roots.iter().flatten().any(|root| root == name)
    }

    /// The language as a model type. Rows with the same values share one.
    fn language(&self) -> LanguageId {
        static KNOWN: Mutex<Option<HashMap<String, LanguageId>>> = Mutex::new(None);
        let list = |it: &Option<BTreeMap<String, String>>| -> Vec<String> {
            it.as_ref().map(|it| it.keys().cloned().collect()).unwrap_or_default()
        };
        let (extensions, file_names) = (list(&self.keys.extensions), list(&self.keys.file_names));
        let indent = self.keys.indent.as_deref().unwrap_or("    ");
        let key = format!("{} {} {extensions:?} {file_names:?} {indent:?}", self.name, self.title());
        let mut known = unpoisoned::lock(&KNOWN);
        *known.get_or_insert_default().entry(key).or_insert_with(|| {
            // Leaked once for each different row, so it lives as long as the process.
            let text = |it: &str| -> &'static str { Box::leak(it.to_owned().into_boxed_str()) };
            let texts = |it: Vec<String>| -> &'static [&'static str] {
                Box::leak(it.iter().map(|it| text(it)).collect::<Vec<_>>().into_boxed_slice())
            };
            let extensions = texts(extensions);
            let syntax = LspSyntax { grammar: Grammar::of(&self.name), extensions };
            LanguageId(Box::leak(Box::new(Language {
                name: text(&self.name),
                title: text(self.title()),
                extensions,
                file_names: texts(file_names),
                indent: text(indent),
                syntax: Box::leak(Box::new(syntax)),
            })))
        })
    }
}

/// The languages of one server. The first row determines how it is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Service {
    pub rows: Vec<Row>,
    pub languages: Vec<LanguageId>,
}

impl Service {
    pub(crate) fn main(&self) -> Option<&Row> {
        self.rows.first()
    }

    /// Whether a file is a root marker and not a source file, so that it may configure the server.
    pub(crate) fn is_configuration(&self, file: &str) -> bool {
        self.row_of(file).is_none() && self.rows.iter().any(|it| it.is_read(base_name(file)))
    }

    /// The row of a file.
    pub(crate) fn row_of(&self, file: &str) -> Option<&Row> {
        self.rows.iter().find(|it| it.language_id(file).is_some())
    }

    /// Whether the server reads this file only from disk, because it is a root marker and not a source file.
    pub(crate) fn is_manifest(&self, file: &str) -> bool {
        self.row_of(file).is_none() && self.rows.iter().any(|it| it.marks_root(base_name(file)))
    }
}

/// All services: the built-in ones overridden by the configuration, in the order of their names.
pub(crate) fn services(configured: &BTreeMap<String, LanguageKeys>) -> Vec<Service> {
    let mut all = BUILT_IN.clone();
    for (name, keys) in configured {
        let base = all.remove(name).unwrap_or_default();
        let merged = match &keys.command {
            Some(command) => keys.clone().over(other_program(command, base)),
            None => keys.clone().over(base),
        };
        all.insert(name.clone(), merged);
    }
    let rows: Vec<Row> = all
        .into_iter()
        .filter(|(_, keys)| keys.enabled != Some(false) && !(keys.extensions.is_none() && keys.file_names.is_none()))
        .map(|(name, keys)| Row { name, keys })
        .collect();
    let of = |main: &Row| {
        let shares = rows.iter().filter(|it| it.keys.shares.as_ref() == Some(&main.name));
        let rows: Vec<Row> = std::iter::once(main).chain(shares).cloned().collect();
        let languages = rows.iter().map(Row::language).collect();
        Service { rows, languages }
    };
    let is_main = |it: &&Row| it.keys.shares.as_ref().is_none_or(|main| !rows.iter().any(|row| row.name == *main));
    rows.iter().filter(is_main).map(of).collect()
}

/// The row of a language whose configured command is another program. The built-in values describe only the built-in
/// program. Known other programs have values in the row. What any other program runs is unknown.
fn other_program(command: &[String], base: LanguageKeys) -> LanguageKeys {
    let program = |command: &[String]| command.first().map(|it| base_name(it).to_owned());
    let named = program(command);
    if named.is_some() && named == base.command.as_deref().and_then(program) {
        return LanguageKeys { shares: None, server: None, native: None, ..base };
    }
    let known = named.as_ref().and_then(|it| base.programs.as_ref()?.get(it)).cloned();
    let is_known = known.is_some();
    let plain = LanguageKeys {
        shares: None,
        server: None,
        native: None,
        readiness: None,
        diagnostics: None,
        ignored_codes: None,
        known_by: None,
        uncancelled: None,
        quiet_ms: None,
        saves: None,
        format: None,
        untrusted_arguments: None,
        runs_code: Some(!is_known),
        ..base
    };
    known.unwrap_or_default().over(plain)
}

pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configured(text: &str) -> Vec<Service> {
        services(&toml::from_str(text).unwrap())
    }

    fn row<'a>(services: &'a [Service], name: &str) -> Option<&'a Row> {
        services.iter().flat_map(|it| &it.rows).find(|it| it.name == name)
    }

    #[test]
    fn the_embedded_table_is_sound() {
        let table: BTreeMap<String, LanguageKeys> = toml::from_str(include_str!("servers.toml")).unwrap();
        assert!(table.len() >= 20, "{}", table.len());
        let services = services(&BTreeMap::new());
        let rows: Vec<&Row> = services.iter().flat_map(|it| &it.rows).collect();
        assert_eq!(rows.len(), table.len());
        let mut extensions: Vec<&String> =
            rows.iter().filter_map(|it| it.keys.extensions.as_ref()).flat_map(|it| it.keys()).collect();
        assert!(extensions.iter().all(|it| !it.contains('.')));
        let count = extensions.len();
        extensions.sort();
        extensions.dedup();
        assert_eq!(extensions.len(), count, "an extension belongs to one language");
        for service in &services {
            let main = service.main().unwrap();
            assert!(main.keys.command.is_some() && main.keys.install.is_some(), "{}", main.name);
        }
    }

    #[test]
    fn a_row_keeps_what_the_configuration_does_not_say() {
        let services = configured("[python]\ncommand = ['ty', 'server']\n[cpp]\nenabled = false");
        let python = row(&services, "python").unwrap();
        assert_eq!((python.server(), python.title()), ("ty", "Python"));
        assert_eq!((python.keys.runs_code, &python.keys.readiness), (Some(false), &None));
        assert!(python.keys.settings.is_some() && python.language_id("a/b.pyi") == Some("python"));
        assert!(row(&services, "cpp").is_none());
        assert_eq!(row(&services, "typescript").unwrap().language_id("x.tsx"), Some("typescriptreact"));
    }

    #[test]
    fn of_a_program_that_no_row_knows_nobody_knows_what_it_runs() {
        let runs_code = |text: &str| row(&configured(text), "yaml").unwrap().keys.runs_code;
        assert_eq!(runs_code(""), None);
        assert_eq!(runs_code("[yaml]\ncommand = ['/opt/bin/yaml-language-server', '--stdio']"), None);
        assert_eq!(runs_code("[yaml]\ncommand = ['other']"), Some(true));
        assert_eq!(runs_code("[yaml]\ncommand = ['other']\nruns_code = false"), Some(false));
    }

    #[test]
    fn a_new_language_is_one_of_the_configuration_alone() {
        let services = configured("[nim]\ncommand = ['nimlangserver']\nextensions = {nim = 'nim'}");
        let service = services.iter().find(|it| it.rows[0].name == "nim").unwrap();
        assert!(service.languages[0].takes("src/a.nim"));
        assert_eq!(service.rows[0].server(), "nimlangserver");
        assert!(row(&configured("[nim]\ncommand = ['x']"), "nim").is_none(), "of no file");
    }

    #[test]
    fn what_makes_a_root_is_read_from_the_disk_unless_it_is_a_source_that_is_sent() {
        let services = services(&BTreeMap::new());
        let readers = |file: &str| -> Vec<&str> {
            services.iter().filter(|it| it.is_manifest(file)).filter_map(|it| Some(it.main()?.server())).collect()
        };
        assert_eq!(readers("a/tsconfig.json"), ["tsc"]);
        assert_eq!(readers("a/.clangd"), ["clangd"]);
        assert_eq!(readers("pyproject.toml"), ["basedpyright"]);
        for sent in ["setup.py", "build.zig", "Gemfile", "a/tsconfig.ts", "a.json"] {
            assert_eq!(readers(sent), [""; 0], "{sent}");
        }
    }

    #[test]
    fn a_language_with_a_server_of_its_own_shares_none() {
        let services = configured("[javascript]\ncommand = ['typescript-language-server', '--stdio']");
        let service = services.iter().find(|it| it.rows[0].name == "javascript").unwrap();
        assert_eq!((service.rows.len(), service.rows[0].server()), (1, "typescript-language-server"));
        assert_eq!(services.iter().find(|it| it.rows[0].name == "typescript").unwrap().rows.len(), 1);
    }
}
