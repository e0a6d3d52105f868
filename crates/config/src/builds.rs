//! `[rust] builds` and `[go] builds`: which builds are analysed besides the default build.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The builds that are analysed besides the default build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Builds<T> {
    /// Builds are chosen from the conditions in the code: those that compile most of what the default build leaves out.
    pub are_chosen: bool,
    /// These builds, whatever is chosen.
    pub listed: Vec<T>,
}

/// A further build of a Cargo workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RustBuild {
    /// Default: the features of the default build.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub features: Option<BuildFeatures>,
    /// The target triple. Default: the host's.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "triple")]
    pub target: Option<String>,
    /// Flags that are set besides: `loom`, `key=value`; `not(debug_assertions)` for one that is not set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cfg: Vec<Flag>,
}

/// The features of a further build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildFeatures {
    /// Every feature of every crate.
    All,
    /// No feature, not even the default features.
    None,
    /// The default features and these.
    Named(Vec<String>),
}

/// A `cfg` flag that a build sets or does not set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    /// The name of the flag, or the key.
    pub name: String,
    /// The value of a key.
    pub value: Option<String>,
    /// Whether it is set.
    pub is_set: bool,
}

/// A further build of a Go workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GoBuild {
    /// The value of GOOS. Default: that of the default build.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "word")]
    pub goos: Option<String>,
    /// The value of GOARCH. Default: that of the default build.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "word")]
    pub goarch: Option<String>,
    /// Build tags besides those of the default build.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "words")]
    pub tags: Vec<String>,
}

impl<T> Default for Builds<T> {
    fn default() -> Builds<T> {
        Builds { are_chosen: true, listed: Vec::new() }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Builds<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Builds<T>, D::Error> {
        struct List<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for List<T> {
            type Value = Builds<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("[\"auto\"], [\"default\"] or a list of tables")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Builds<T>, A::Error> {
                let mut found = Builds { are_chosen: false, listed: Vec::new() };
                while let Some(entry) = entries.next_element()? {
                    match entry {
                        Entry::Auto => found.are_chosen = true,
                        Entry::Default => {}
                        Entry::Build(it) => found.listed.push(it),
                    }
                }
                Ok(found)
            }
        }

        deserializer.deserialize_any(List(PhantomData))
    }
}

impl<T: Serialize> Serialize for Builds<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(untagged)]
        enum Shown<'a, T> {
            Word(&'static str),
            Build(&'a T),
        }
        let word = match (self.are_chosen, self.listed.is_empty()) {
            (true, _) => Some("auto"),
            (false, true) => Some("default"),
            (false, false) => None,
        };
        serializer.collect_seq(word.map(Shown::Word).into_iter().chain(self.listed.iter().map(Shown::Build)))
    }
}

enum Entry<T> {
    Auto,
    Default,
    Build(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entry<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Entry<T>, D::Error> {
        struct One<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for One<T> {
            type Value = Entry<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"auto\", \"default\" or a table")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Entry<T>, E> {
                match text {
                    "auto" => Ok(Entry::Auto),
                    "default" => Ok(Entry::Default),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Entry<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(table)).map(Entry::Build)
            }
        }

        deserializer.deserialize_any(One(PhantomData))
    }
}

impl<'de> Deserialize<'de> for BuildFeatures {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<BuildFeatures, D::Error> {
        struct Names;

        impl<'de> Visitor<'de> for Names {
            type Value = BuildFeatures;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"all\", \"none\" or a list of names")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<BuildFeatures, E> {
                match text {
                    "all" => Ok(BuildFeatures::All),
                    "none" => Ok(BuildFeatures::None),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut names: A) -> Result<BuildFeatures, A::Error> {
                let mut all = Vec::new();
                while let Some(name) = names.next_element()? {
                    all.push(name);
                }
                Ok(BuildFeatures::Named(all))
            }
        }

        deserializer.deserialize_any(Names)
    }
}

impl Serialize for BuildFeatures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            BuildFeatures::All => serializer.serialize_str("all"),
            BuildFeatures::None => serializer.serialize_str("none"),
            BuildFeatures::Named(names) => serializer.collect_seq(names),
        }
    }
}

impl Flag {
    fn parse(text: &str) -> Option<Flag> {
        let inner = text.trim().strip_prefix("not(").and_then(|it| it.strip_suffix(')'));
        let (name, value) = match inner.unwrap_or(text).split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim().trim_matches('"').to_owned())),
            None => (inner.unwrap_or(text).trim(), None),
        };
        let is_name = is_word(name) && value.as_deref().is_none_or(|it| !it.is_empty() && !it.contains(['"', '\\']));
        is_name.then(|| Flag { name: name.to_owned(), value, is_set: inner.is_none() })
    }
}

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flag = self.value.as_ref().map_or_else(|| self.name.clone(), |it| format!("{}={it}", self.name));
        if self.is_set { f.write_str(&flag) } else { write!(f, "not({flag})") }
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Flag, D::Error> {
        let text = String::deserialize(deserializer)?;
        let expected = "a cfg flag: `loom`, `key=value`, or one of these in `not(…)`";
        Flag::parse(&text).ok_or_else(|| D::Error::custom(format!("`{text}` is not {expected}")))
    }
}

impl Serialize for Flag {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|it| it.is_alphanumeric() || it == '_')
}

/// A target triple, and no path: it becomes an argument of rustc and Cargo.
fn triple<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let is_triple = text.contains('-') && text.split('-').all(|it| is_word(&it.replace('.', "_")));
    if !is_triple {
        return Err(D::Error::custom(format!("`{text}` is not a target triple as x86_64-pc-windows-msvc")));
    }
    Ok(Some(text))
}

fn word<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Some(checked(String::deserialize(deserializer)?)?))
}

fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Vec::<String>::deserialize(deserializer)?.into_iter().map(checked).collect()
}

/// A value of GOOS or GOARCH, or a build tag.
fn checked<E: Error>(text: String) -> Result<String, E> {
    if is_word(&text.replace('.', "_")) { Ok(text) } else { Err(E::custom(format!("`{text}` is not a word"))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Document<T> {
        builds: Builds<T>,
    }

    fn rust(list: &str) -> Result<Builds<RustBuild>, String> {
        let read = toml::from_str::<Document<RustBuild>>(&format!("builds = {list}"));
        read.map(|it| it.builds).map_err(|it| it.message().to_owned())
    }

    #[test]
    fn builds_are_read_and_shown() {
        assert_eq!(rust("['auto']"), Ok(Builds::default()));
        assert_eq!(rust("['default']"), Ok(Builds { are_chosen: false, listed: Vec::new() }));
        let list = "[{ features = 'all' }, { target = 'x86_64-pc-windows-msvc', features = ['a', 'b/c'] }, \
                    { features = 'none', cfg = ['loom', 'key = \"value\"', 'not(debug_assertions)'] }, 'auto']";
        let found = rust(list).unwrap();
        let expected = serde_json::json!([
            "auto",
            { "features": "all" },
            { "features": ["a", "b/c"], "target": "x86_64-pc-windows-msvc" },
            { "features": "none", "cfg": ["loom", "key=value", "not(debug_assertions)"] },
        ]);
        assert_eq!(serde_json::to_value(&found).unwrap(), expected);
        let go = "builds = [{ goos = 'windows', goarch = 'arm64' }, { tags = ['integration', 'v1.2'] }]";
        let go = toml::from_str::<Document<GoBuild>>(go).unwrap().builds;
        let expected =
            serde_json::json!([{ "goos": "windows", "goarch": "arm64" }, { "tags": ["integration", "v1.2"] }]);
        assert_eq!(serde_json::to_value(&go).unwrap(), expected);
    }

    #[test]
    fn errors_say_what_is_expected() {
        let error = |list: &str| rust(list).unwrap_err();
        assert!(error("'auto'").contains("a list of tables"), "{}", error("'auto'"));
        assert!(error("['all']").contains("\"auto\", \"default\" or a table"), "{}", error("['all']"));
        assert!(error("[{ feature = 'all' }]").contains("unknown field `feature`"), "{}", error("[{ feature = 'a' }]"));
        assert!(error("[{ features = 'some' }]").contains("\"all\", \"none\""), "{}", error("[{ features = 'some' }]"));
        for target in ["../own.json", "-Zx", "windows", "a b-c"] {
            assert!(error(&format!("[{{ target = '{target}' }}]")).contains("target triple"), "{target}");
        }
        for flag in ["", "not()", "all(unix, windows)", "a b", "key="] {
            assert!(error(&format!("[{{ cfg = ['{flag}'] }}]")).contains("is not a cfg flag"), "{flag}");
        }
        let go = toml::from_str::<Document<GoBuild>>("builds = [{ tags = ['a b'] }]").unwrap_err();
        assert!(go.message().contains("is not a word"), "{go}");
    }
}
