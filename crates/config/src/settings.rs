//! The configuration files: the user's `config.toml`, and a workspace's `semdex.toml`. The workspace's file is part of
//! code that the user may not have read. Therefore it cannot extend the directories that requests may open. Its
//! settings that start programs count only if the workspace is trusted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fmt, io};

use rustix::fs::CWD;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};

use super::ConfigError;
use super::builds::{Builds, GoBuild, RustBuild};
use super::defaults;
use super::gate::GateKeys;
use super::languages::{self, LanguageKeys};

/// The settings in force in one workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Larger files are not indexed.
    pub max_file_bytes: u64,
    /// The soft limit on gopls's memory, in bytes.
    pub go_memory_limit: Option<u64>,
    /// The builds of Go code besides the default build.
    pub go_builds: Builds<GoBuild>,
    /// Whether `go vet` runs in the background. Never in a workspace that is not trusted.
    pub go_vet: bool,
    /// Settings of the Rust engine.
    pub rust: RustSettings,
    /// The configured keys of languages that language servers serve, by language name.
    pub languages: BTreeMap<String, LanguageKeys>,
    /// `Name <mail>`: a co-author that commits name.
    pub co_author: Option<String>,
}

/// How much of the journal is kept. Older changes are deleted first, then the oldest until the rest fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalBounds {
    /// Older changes are deleted.
    pub keep: Duration,
    /// The most recorded bytes. Beyond them the oldest changes are deleted.
    pub max_bytes: u64,
}

/// `[rust]`: what the analysis may run and assume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RustSettings {
    /// Never in a workspace that is not trusted.
    pub build_scripts: bool,
    /// Never in a workspace that is not trusted.
    pub proc_macros: bool,
    /// Which cargo features are on.
    pub features: Features,
    /// Whether dry runs use a second database. `None`: if the machine has enough memory.
    pub second_database: Option<bool>,
    /// The builds of Rust code besides the default build.
    pub builds: Builds<RustBuild>,
    /// The most builds of a Cargo workspace that are chosen; 0: none.
    pub max_builds: usize,
    /// Whether `cargo check` confirms or refutes rust-analyzer's diagnostics in the background. Never in a workspace
    /// that is not trusted.
    pub confirm: bool,
    /// Whether the check is clippy, which has lints of its own. Never in a workspace that is not trusted.
    pub clippy: bool,
}

impl RustSettings {
    /// Whether an engine that was started with one of these settings also works with `other`.
    pub fn start_the_same(&self, other: &RustSettings) -> bool {
        let started = |it: &RustSettings| RustSettings { confirm: false, clippy: false, ..it.clone() };
        started(self) == started(other)
    }
}

/// Which cargo features are on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Features {
    /// Cargo's default features.
    #[default]
    Default,
    /// Every feature of every crate.
    All,
    /// The default features and these.
    Named(Vec<String>),
}

/// Offsets have 32 bits. This leaves a wide margin.
const LARGEST_MAX_FILE_BYTES: u64 = 1 << 30;
/// The most bytes of a configuration file.
const LONGEST_FILE: usize = 1 << 20;

impl Settings {
    pub(super) fn new(workspace: &Keys, user: &Keys, trusted: bool) -> Settings {
        let max_file_bytes = workspace.limits.max_file_bytes.or(user.limits.max_file_bytes);
        let if_trusted = |own: Option<bool>, users: Option<bool>, default| trusted && own.or(users).unwrap_or(default);
        Settings {
            max_file_bytes: max_file_bytes.map_or(defaults::MAX_FILE_BYTES, |FileSize(bytes)| bytes),
            go_memory_limit: workspace.go.memory_limit.or(user.go.memory_limit).map(|Size(bytes)| bytes),
            go_builds: workspace.go.builds.as_ref().or(user.go.builds.as_ref()).cloned().unwrap_or_default(),
            go_vet: if_trusted(workspace.go.vet, user.go.vet, defaults::GO_VET),
            rust: RustSettings {
                build_scripts: if_trusted(
                    workspace.rust.build_scripts,
                    user.rust.build_scripts,
                    defaults::BUILD_SCRIPTS,
                ),
                proc_macros: if_trusted(workspace.rust.proc_macros, user.rust.proc_macros, defaults::PROC_MACROS),
                confirm: if_trusted(workspace.rust.confirm, user.rust.confirm, defaults::CONFIRM),
                clippy: if_trusted(workspace.rust.clippy, user.rust.clippy, defaults::CLIPPY),
                second_database: workspace.rust.second_database.or(user.rust.second_database),
                builds: workspace.rust.builds.as_ref().or(user.rust.builds.as_ref()).cloned().unwrap_or_default(),
                max_builds: workspace.rust.max_builds.or(user.rust.max_builds).unwrap_or(defaults::MAX_BUILDS),
                features: workspace.rust.features.as_ref().or(user.rust.features.as_ref()).cloned().unwrap_or_default(),
            },
            languages: languages::merged(&workspace.languages, &user.languages, trusted),
            co_author: workspace.git.co_author.as_ref().or(user.git.co_author.as_ref()).cloned(),
        }
    }
}

/// The keys that both files may contain, which are all keys of a workspace's file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Keys {
    pub gate: GateKeys,
    pub limits: Limits,
    pub go: Go,
    pub rust: Rust,
    pub git: Git,
    pub languages: BTreeMap<String, LanguageKeys>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct UserDocument {
    pub gate: GateKeys,
    pub limits: Limits,
    pub go: Go,
    pub rust: Rust,
    pub git: Git,
    pub languages: BTreeMap<String, LanguageKeys>,
    pub journal: Journal,
    pub log: Log,
    pub workspaces: Workspaces,
    pub answers: Answers,
    pub runs: Runs,
}

impl UserDocument {
    /// The keys for workspaces whose own file does not set them.
    pub(super) fn into_keys(self) -> Keys {
        let UserDocument { gate, limits, go, rust, git, languages, .. } = self;
        Keys { gate, limits, go, rust, git, languages }
    }
}

/// Only in the user's file, since one server answers for all workspaces.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Answers {
    max_tokens: Option<usize>,
}

impl Answers {
    /// The most tokens of a reply in Markdown if the request sets no budget. `None`: no limit.
    pub(super) fn max_tokens(&self) -> Option<usize> {
        Some(self.max_tokens.unwrap_or(defaults::MAX_TOKENS)).filter(|it| *it > 0)
    }
}

/// Only in the user's file: a workspace must not choose which model reads its files.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Runs {
    pub model: Option<String>,
}

/// Only in the user's file, since all workspaces share the journal.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Journal {
    keep_days: Option<u32>,
    max_bytes: Option<Size>,
}

/// Logging of the whole process.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Log {
    slow_ms: Option<u64>,
}

impl Log {
    pub(super) fn slow(&self) -> Duration {
        Duration::from_millis(self.slow_ms.unwrap_or(defaults::SLOW_MS))
    }
}

impl Journal {
    pub(super) fn bounds(&self) -> JournalBounds {
        let days = u64::from(self.keep_days.unwrap_or(defaults::KEEP_DAYS));
        JournalBounds {
            keep: Duration::from_secs(days * 24 * 60 * 60),
            max_bytes: self.max_bytes.map_or(defaults::MAX_JOURNAL_BYTES, |Size(bytes)| bytes),
        }
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Limits {
    max_file_bytes: Option<FileSize>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Go {
    memory_limit: Option<Size>,
    builds: Option<Builds<GoBuild>>,
    vet: Option<bool>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Rust {
    build_scripts: Option<bool>,
    proc_macros: Option<bool>,
    features: Option<Features>,
    second_database: Option<bool>,
    builds: Option<Builds<RustBuild>>,
    max_builds: Option<usize>,
    confirm: Option<bool>,
    clippy: Option<bool>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Git {
    #[serde(deserialize_with = "name_and_mail")]
    co_author: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Workspaces {
    #[serde(deserialize_with = "absolute_paths")]
    pub roots: Vec<PathBuf>,
}

/// Bytes, as a number or in the notation of `GOMEMLIMIT`: `512MiB`.
#[derive(Debug, Clone, Copy)]
struct Size(u64);

/// A [`Size`] that fits into the offsets of a file.
#[derive(Debug, Clone, Copy)]
struct FileSize(u64);

pub(super) fn read_user(path: &Path) -> Result<UserDocument, ConfigError> {
    let read = semdex_fs::read_file(path, LONGEST_FILE);
    parse(path, &read.map_err(|source| unreadable(path, source))?)
}

pub(super) fn read_user_if_any(path: &Path) -> Result<UserDocument, ConfigError> {
    match read_user(path) {
        Err(ConfigError::Unreadable { source, .. }) if is_absent(&source) => Ok(UserDocument::default()),
        other => other,
    }
}

pub(super) fn read_workspace_if_any(path: &Path) -> Result<Keys, ConfigError> {
    // Links are not followed, since they could lead to a file outside the workspace.
    match semdex_fs::read_at(CWD, path, LONGEST_FILE) {
        Ok(content) => parse(path, &content.bytes),
        Err(error) => match io::Error::from(error) {
            error if is_absent(&error) => Ok(Keys::default()),
            source => Err(unreadable(path, source)),
        },
    }
}

/// The valid keys of a workspace's file that is wrong: an error in one key does not hide the rest.
pub(super) fn read_valid_keys(path: &Path) -> Keys {
    let content = semdex_fs::read_at(CWD, path, LONGEST_FILE).ok();
    let text = content.and_then(|it| String::from_utf8(it.bytes).ok()).unwrap_or_default();
    let Ok(document) = text.parse::<toml::Table>() else { return Keys::default() };
    let mut valid = toml::Table::new();
    let is_valid = |it: &toml::Table| toml::Value::Table(it.clone()).try_into::<Keys>().is_ok();
    for (section, value) in document {
        let toml::Value::Table(keys) = value else { continue };
        let mut of_section = toml::Table::new();
        for (key, value) in keys {
            let alone = toml::Table::from_iter([(key.clone(), value.clone())]);
            if is_valid(&toml::Table::from_iter([(section.clone(), toml::Value::Table(alone))])) {
                of_section.insert(key, value);
            }
        }
        let mut with_section = valid.clone();
        with_section.insert(section, toml::Value::Table(of_section));
        if is_valid(&with_section) {
            valid = with_section;
        }
    }
    toml::Value::Table(valid).try_into().unwrap_or_default()
}

fn unreadable(path: &Path, source: io::Error) -> ConfigError {
    let source = match source.kind() {
        io::ErrorKind::InvalidInput | io::ErrorKind::FileTooLarge | io::ErrorKind::IsADirectory => {
            io::Error::other("not a regular file of at most 1 MiB")
        }
        _ => source,
    };
    ConfigError::Unreadable { path: path.to_path_buf(), source }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn parse<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, ConfigError> {
    let text = std::str::from_utf8(bytes).map_err(|error| unreadable(path, io::Error::other(error)))?;
    toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let key = key_at(text, before.len()).map(|it| format!("{it}: ")).unwrap_or_default();
        let detail = format!("{key}{}", with_nearest(&in_words(error.message())));
        ConfigError::Invalid { path: path.to_path_buf(), line, detail }
    })
}

/// The table and the key of a line: `[answers] max_tokens`. `None` for a line that is no key or head of a table.
fn key_at(text: &str, at: usize) -> Option<String> {
    let end = text.get(at..)?.find('\n').map_or(text.len(), |it| at + it);
    let mut lines = text.get(..end)?.lines().rev().map(str::trim);
    let own = lines.next()?;
    let head = |line: &str| line.starts_with('[').then(|| line.split('#').next().unwrap_or(line).trim().to_owned());
    if let Some(head) = head(own) {
        return Some(head).filter(|it| it.ends_with(']'));
    }
    let (key, _) = own.split_once('=')?;
    let table = lines.find_map(|it| head(it).filter(|it| it.ends_with(']') && !it.contains('=')));
    Some(table.map(|it| it + " ").unwrap_or_default() + key.trim())
}

/// Serde's message without the names of Rust's types.
fn in_words(message: &str) -> String {
    const WORDS: &[(&str, &str)] = &[
        ("expected usize", "expected a whole number, 0 or more"),
        ("expected u64", "expected a whole number, 0 or more"),
        ("expected u32", "expected a whole number, 0 or more"),
        ("expected u16", "expected a whole number, 0 or more"),
        ("expected a sequence", "expected a list"),
        ("expected a map", "expected a table"),
        ("unknown field", "unknown key"),
    ];
    WORDS.iter().fold(message.to_owned(), |text, (of_serde, words)| text.replace(of_serde, words))
}

/// Adds the most similar known key to serde's message on an unknown key. The message quotes the unknown key, then the
/// known ones.
fn with_nearest(message: &str) -> String {
    const OF_THE_USER: [&str; 5] = ["answers", "journal", "log", "runs", "workspaces"];
    let mut quoted = message.split('`').skip(1).step_by(2);
    // The user's own file knows them.
    if message.starts_with("unknown key") && quoted.clone().next().is_some_and(|it| OF_THE_USER.contains(&it)) {
        return format!("{message}. It belongs in the user's own file: `semdex config` prints its name");
    }
    let nearest = match quoted.next() {
        Some(unknown) if message.starts_with("unknown key") => quoted
            .map(|known| (strsim::jaro_winkler(unknown, known), known))
            .filter(|(score, _)| *score > 0.7)
            .max_by(|(left, _), (right, _)| left.total_cmp(right)),
        _ => None,
    };
    match nearest {
        Some((_, known)) => format!("{message}. Did you mean `{known}`?"),
        None => message.to_owned(),
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Size, D::Error> {
        struct Bytes;

        impl Visitor<'_> for Bytes {
            type Value = Size;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of bytes, as 1048576 or \"512MiB\"")
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Size, E> {
                let bytes = u64::try_from(number).ok().filter(|bytes| *bytes > 0);
                bytes.map(Size).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Signed(number), &self))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Size, E> {
                size(text).map(Size).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
            }
        }

        deserializer.deserialize_any(Bytes)
    }
}

fn size(text: &str) -> Option<u64> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(digits)?;
    let factor: u64 = match unit {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1 << 40,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor).filter(|bytes| *bytes > 0)
}

impl<'de> Deserialize<'de> for FileSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<FileSize, D::Error> {
        match Size::deserialize(deserializer)? {
            Size(bytes) if bytes > LARGEST_MAX_FILE_BYTES => Err(D::Error::custom("a file's size is limited to 1 GiB")),
            Size(bytes) => Ok(FileSize(bytes)),
        }
    }
}

impl<'de> Deserialize<'de> for Features {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Features, D::Error> {
        struct Names;

        impl<'de> Visitor<'de> for Names {
            type Value = Features;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"all\" or a list of names")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Features, E> {
                match text {
                    "all" => Ok(Features::All),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut names: A) -> Result<Features, A::Error> {
                let mut all = Vec::new();
                while let Some(name) = names.next_element()? {
                    all.push(name);
                }
                Ok(Features::Named(all))
            }
        }

        deserializer.deserialize_any(Names)
    }
}

/// A co-author in the notation of git commits.
fn name_and_mail<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let parts = text.strip_suffix('>').and_then(|it| it.split_once(" <"));
    let is_plain = |it: &str| !it.trim().is_empty() && !it.contains(['<', '>', '\n', '\r']);
    match parts {
        Some((name, mail)) if is_plain(name) && is_plain(mail) => Ok(Some(text)),
        _ => Err(D::Error::custom(format!("`{text}` is not of the form `Name <mail>`"))),
    }
}

/// Paths in the user's file must be absolute, since there is no directory to which they would be relative.
fn absolute_paths<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
    let paths = Vec::<PathBuf>::deserialize(deserializer)?;
    match paths.iter().find(|path| !path.is_absolute()) {
        Some(path) => Err(D::Error::custom(format!("`{}` is not an absolute path", path.display()))),
        None => Ok(paths),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn parse<T>(text: &str, read: impl Fn(&Path) -> Result<T, ConfigError>) -> Result<T, String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("semdex.toml");
        fs::write(&path, text).unwrap();
        read(&path).map_err(|error| error.to_string().replace(directory.path().to_str().unwrap(), ""))
    }

    fn settings(workspace: &str, user: &str, trusted: bool) -> Settings {
        let own = parse(workspace, read_workspace_if_any).unwrap();
        let document = parse(user, read_user).unwrap();
        let user = Keys {
            limits: document.limits,
            go: document.go,
            rust: document.rust,
            git: document.git,
            languages: document.languages,
            ..Keys::default()
        };
        Settings::new(&own, &user, trusted)
    }

    #[test]
    fn what_is_wrong_is_named_by_its_table_and_key() {
        for (text, expected) in [
            (
                "[answers]\nmax_tokens = \"x\"\n",
                ":2: [answers] max_tokens: invalid type: string \"x\", expected a whole number, 0 or more",
            ),
            (
                "[log]\n# of the user\nslow_ms = -1\n",
                ":3: [log] slow_ms: invalid value: integer `-1`, expected a whole number",
            ),
            (
                "[languages.python]\ncommand = 3\n",
                ":2: [languages.python] command: invalid type: integer `3`, expected a list",
            ),
            ("[go]\nmemory_limt = 3\n", ":2: [go] memory_limt: unknown key `memory_limt`, expected"),
            ("[answer]\nmax_tokens = 3\n", ":1: [answer]: unknown key `answer`, expected one of"),
            ("[[x\n", ":1: unclosed array table"),
        ] {
            let error = parse(text, read_user).map(drop).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn what_is_wrong_hides_no_other_key() {
        let valid = |text: &str| {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("semdex.toml");
            fs::write(&path, text).unwrap();
            let keys = read_valid_keys(&path);
            let size = keys.limits.max_file_bytes.map(|it| it.0);
            (size, keys.rust.build_scripts, keys.languages.into_keys().collect::<Vec<_>>())
        };
        let python = vec!["python".to_owned()];
        assert_eq!(
            valid(
                "other = 1\n[limits]\nmax_file_bytes = 5\n[rust]\nbuild_scripts = 1\n[languages.python]\nenabled = false\n\
                   [languages.nim]\nenabled = 3\n"
            ),
            (Some(5), None, python)
        );
        assert_eq!(
            valid("[limits]\nmax_file_byte = 5\n[rust]\nbuild_scripts = false\nno_key = 1\n"),
            (None, Some(false), Vec::new())
        );
        assert_eq!(valid("[limits\nmax_file_bytes = 5\n"), (None, None, Vec::new()));
    }

    #[test]
    fn the_workspace_counts_before_the_user_before_the_defaults() {
        let defaults = Settings {
            max_file_bytes: 10 * 1024 * 1024,
            go_memory_limit: None,
            go_builds: Builds::default(),
            go_vet: false,
            rust: RustSettings {
                build_scripts: true,
                proc_macros: true,
                features: Features::Default,
                second_database: None,
                builds: Builds::default(),
                max_builds: 4,
                confirm: false,
                clippy: false,
            },
            languages: BTreeMap::new(),
            co_author: None,
        };
        assert_eq!(settings("", "", true), defaults);

        let user = "[limits]\nmax_file_bytes = 100\n[go]\nmemory_limit = '2GiB'\n[rust]\nbuild_scripts = false\nfeatures = ['a']";
        let found = settings("", user, true);
        assert_eq!((found.max_file_bytes, found.go_memory_limit), (100, Some(2 << 30)));
        assert_eq!(found.rust.features, Features::Named(vec!["a".to_owned()]));
        assert_eq!((found.rust.build_scripts, found.rust.proc_macros), (false, true));

        let own =
            "[limits]\nmax_file_bytes = '1KiB'\n[rust]\nbuild_scripts = true\nproc_macros = false\nfeatures = 'all'";
        let found = settings(own, user, true);
        assert_eq!((found.max_file_bytes, found.go_memory_limit), (1024, Some(2 << 30)));
        assert_eq!(
            found.rust,
            RustSettings {
                build_scripts: true,
                proc_macros: false,
                features: Features::All,
                second_database: None,
                builds: Builds::default(),
                max_builds: 4,
                confirm: false,
                clippy: false,
            }
        );
    }

    #[test]
    fn tools_that_run_code_want_trust() {
        let asks = "[rust]\nconfirm = true\nclippy = true\n[go]\nvet = true";
        let all = |it: Settings| [it.rust.confirm, it.rust.clippy, it.go_vet];
        assert_eq!(all(settings(asks, "", true)), [true; 3]);
        assert_eq!(all(settings("[go]\nvet = false", asks, true)), [true, true, false]);
        assert_eq!(all(settings(asks, asks, false)), [false; 3]);
    }

    #[test]
    fn commits_name_a_co_author() {
        let key = |mail: &str| format!("[git]\nco_author = 'A B <{mail}>'");
        assert_eq!(settings("", &key("a@x"), true).co_author.as_deref(), Some("A B <a@x>"));
        assert_eq!(settings(&key("b@x"), &key("a@x"), false).co_author.as_deref(), Some("A B <b@x>"));
    }

    #[test]
    fn answers_are_bounded_unless_the_user_lifts_it() {
        let bound = |text: &str| parse(text, read_user).unwrap().answers.max_tokens();
        assert_eq!(bound(""), Some(defaults::MAX_TOKENS));
        assert_eq!(bound("[answers]\nmax_tokens = 900"), Some(900));
        assert_eq!(bound("[answers]\nmax_tokens = 0"), None);
    }

    #[test]
    fn the_journal_is_bounded_by_the_user_alone() {
        let bounds = |text: &str| parse(text, read_user).unwrap().journal.bounds();
        let day = Duration::from_secs(24 * 60 * 60);
        assert_eq!(bounds(""), JournalBounds { keep: 30 * day, max_bytes: 1 << 30 });
        let own = "[journal]\nkeep_days = 2\nmax_bytes = '5MiB'";
        assert_eq!(bounds(own), JournalBounds { keep: 2 * day, max_bytes: 5 << 20 });
        assert!(parse(own, read_workspace_if_any).unwrap_err().contains("unknown key `journal`"));
    }

    #[test]
    fn nothing_is_started_where_it_is_not_trusted() {
        let all = "[rust]\nbuild_scripts = true\nproc_macros = true";
        let found = settings(all, all, false);
        assert_eq!((found.rust.build_scripts, found.rust.proc_macros), (false, false));
    }

    #[test]
    fn errors_name_the_line_and_the_nearest_key() {
        for (text, expected) in [
            (
                "[limits]\n\nmax_file_byte = 1",
                "/semdex.toml:3: [limits] max_file_byte: unknown key `max_file_byte`, expected `max_file_bytes`. Did you mean `max_file_bytes`?",
            ),
            ("[rust]\nbuild_script = true", "Did you mean `build_scripts`?"),
            (
                "\n[rusty]",
                "/semdex.toml:2: [rusty]: unknown key `rusty`, expected one of `gate`, `limits`, `go`, `rust`, `git`, `languages`. Did you mean `rust`?",
            ),
            (
                "[workspaces]\nroots = ['/']",
                "/semdex.toml:1: [workspaces]: unknown key `workspaces`, expected one of `gate`, `limits`, `go`, `rust`, `git`, `languages`",
            ),
            ("[log]\nslow_ms = 3", "`languages`. It belongs in the user's own file: `semdex config` prints its name"),
            (
                "[go]\nmemory_limit = 'lots'",
                "/semdex.toml:2: [go] memory_limit: invalid value: string \"lots\", expected a number of bytes",
            ),
            ("[go]\nmemory_limit = 0", "/semdex.toml:2: [go] memory_limit: invalid value"),
            ("[go]\nmemory_limit = '99999999999TiB'", "/semdex.toml:2: [go] memory_limit: invalid value"),
            (
                "[limits]\nmax_file_bytes = '2GiB'",
                "/semdex.toml:2: [limits] max_file_bytes: a file's size is limited to 1 GiB",
            ),
            (
                "[rust]\nfeatures = 'some'",
                "/semdex.toml:2: [rust] features: invalid value: string \"some\", expected \"all\" or a list",
            ),
            ("[rust]\nfeatures = [1]", "/semdex.toml:2: [rust] features: invalid type: integer `1`, expected a string"),
            ("[git]\nco_author = 'A'", "/semdex.toml:2: [git] co_author: `A` is not of the form `Name <mail>`"),
            ("[rust]\n[rust]", "/semdex.toml:2: [rust]: duplicate key"),
            ("x = é", "/semdex.toml:1: "),
        ] {
            let error = parse(text, read_workspace_if_any).unwrap_err();
            assert!(error.contains(expected), "{text}\n{error}\n{expected}");
        }
        let error = parse("[workspaces]\nroots = ['src']", read_user).unwrap_err();
        assert!(error.contains(":2: [workspaces] roots: `src` is not an absolute path"), "{error}");
    }

    #[test]
    fn only_a_regular_file_of_the_workspace_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("semdex.toml");
        assert!(read_workspace_if_any(&path).is_ok(), "a missing file says nothing");
        assert!(read_workspace_if_any(&path.join("below")).is_ok());
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        let error = read_workspace_if_any(&path).unwrap_err().to_string();
        assert!(error.contains("not a regular file"), "{error}");
        fs::remove_file(&path).unwrap();
        rustix::fs::mkfifoat(CWD, &path, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
        let error = read_workspace_if_any(&path).unwrap_err().to_string();
        assert!(error.contains("not a regular file"), "{error}");
    }
}
