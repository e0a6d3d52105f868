//! Arguments as agents send them: some write a list as JSON text, a number or a boolean in quotes, `6.0` for `6`, and
//! an empty text for a field that they do not use. If the schema of the call leaves one meaning, the call gets the
//! value in the right form, and the reply notes it. JSON text that is broken is refused with the place where it breaks.
//! Anything else stays as it is, and the call refuses it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Map, Number, Value};

use super::tools::TOOLS;
use semdex_contract::{Call, Name};
use semdex_model::{Code, Error, Result};

/// How many fields the note names.
const MOST_NAMED: usize = 10;

/// The schemas of the calls that are tools.
static SCHEMAS: LazyLock<BTreeMap<&str, Value>> =
    LazyLock::new(|| TOOLS.iter().map(|it| (it.call().name, it.call().schema())).collect());

/// The arguments as the call takes them, and a note about what was read in another form than it was sent.
pub(crate) fn read(call: &Call, arguments: Map<String, Value>) -> Result<(Map<String, Value>, Option<String>)> {
    let Some(schema) = SCHEMAS.get(call.name) else { return Ok((arguments, None)) };
    let mut reader = Reader::default();
    let mut arguments = reader.object(schema, arguments, "");
    if call.name == Name::Edit.call().name {
        reader.drop_idle_texts(&mut arguments, "");
        for (at, item) in arguments.get_mut("edits").and_then(Value::as_array_mut).into_iter().flatten().enumerate() {
            if let Value::Object(item) = item {
                reader.drop_idle_texts(item, &format!("edits[{at}]."));
            }
        }
    }
    match reader.broken {
        Some(detail) => Err(Error::new(Code::InvalidRequest, detail)),
        None => Ok((arguments, reader.note())),
    }
}

#[derive(Default)]
struct Reader {
    /// What was read in another form, each with its path.
    read: Vec<String>,
    /// The paths of empty fields that were left out.
    empty: Vec<String>,
    /// Why a field that is JSON text cannot be read.
    broken: Option<String>,
}

impl Reader {
    fn object(&mut self, schema: &Value, fields: Map<String, Value>, path: &str) -> Map<String, Value> {
        let required = |name: &str| schema["required"].as_array().is_some_and(|it| it.iter().any(|it| it == name));
        let mut all = Map::new();
        for (name, value) in fields {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let Some(of_field) = schema["properties"].get(&name) else {
                all.insert(name, value);
                continue;
            };
            let read = self.read.len();
            let value = self.value(of_field, value, &path);
            if !required(&name) && is_unused(of_field, &value) {
                self.read.truncate(read);
                self.empty.push(format!("`{path}`"));
                continue;
            }
            all.insert(name, value);
        }
        all
    }

    /// Leaves out an empty `content` and `replacement` of an edit that says by another field what it writes. Both have
    /// a meaning when they are empty, but not there.
    fn drop_idle_texts(&mut self, edit: &mut Map<String, Value>, path: &str) {
        for (name, others) in [
            ("content", &["edits", "patch", "fix", "search_context", "symbol", "delete", "move_to"][..]),
            ("replacement", &["edits", "patch", "fix", "content", "delete", "move_to"]),
        ] {
            let is_said = |it: &&str| edit.get(*it).is_some_and(|it| !matches!(it, Value::Null | Value::Bool(false)));
            let has_mode = name == "content" && is_said(&"mode");
            if edit.get(name).is_some_and(|it| it == "") && !has_mode && others.iter().any(is_said) {
                edit.remove(name);
                self.empty.push(format!("`{path}{name}`"));
            }
        }
    }

    /// The value in a form that the schema has, if it has one meaning there.
    fn value(&mut self, schema: &Value, value: Value, path: &str) -> Value {
        let forms = Forms::of(schema);
        match value {
            Value::Array(items) if let Some(form) = forms.array => self.items(form, items, path),
            Value::Object(fields) if let Some(form) = forms.object => Value::Object(self.object(form, fields, path)),
            Value::Object(fields)
                if let Some(form) = forms.array.filter(|it| Forms::of(&it["items"]).object.is_some()) =>
            {
                self.read.push(format!("`{path}` as a list of one"));
                self.items(form, vec![Value::Object(fields)], path)
            }
            Value::String(text) if !forms.is_string => self.text(&forms, schema, text, path),
            Value::Number(number) if forms.is_integer && !forms.is_number => match integral(&number) {
                Some(whole) => {
                    self.read.push(format!("`{path}` {number} as {whole}"));
                    Value::Number(whole)
                }
                None => Value::Number(number),
            },
            other => other,
        }
    }

    fn items(&mut self, schema: &Value, items: Vec<Value>, path: &str) -> Value {
        let item = |(at, it)| self.value(&schema["items"], it, &format!("{path}[{at}]"));
        Value::Array(items.into_iter().enumerate().map(item).collect())
    }

    /// A text where the schema has none.
    fn text(&mut self, forms: &Forms<'_>, schema: &Value, text: String, path: &str) -> Value {
        let bare = text.trim();
        if (forms.array.is_some() && bare.starts_with(['[', '{'])) || (forms.object.is_some() && bare.starts_with('{'))
        {
            let value = match serde_json::from_str::<Value>(bare) {
                Ok(value) => value,
                Err(error) => {
                    let near = before_error(bare, &error);
                    let detail = format!("`{path}` is a text whose JSON breaks: {error}, after `{near}`");
                    self.broken.get_or_insert(detail);
                    return Value::String(text);
                }
            };
            self.read.push(format!("`{path}` from JSON text"));
            return self.value(schema, value, path);
        }
        let word = ["true", "false"].into_iter().find(|it| forms.is_boolean && it.eq_ignore_ascii_case(bare));
        let value = match (word, bare.parse::<Number>()) {
            (Some(word), _) => Value::Bool(word == "true"),
            (None, Ok(number)) if forms.is_number => Value::Number(number),
            (None, Ok(number)) if forms.is_integer => match integral(&number).unwrap_or(number) {
                whole if !whole.is_f64() => Value::Number(whole),
                _ => return Value::String(text),
            },
            _ => return Value::String(text),
        };
        self.read.push(format!("`{path}` \"{bare}\" as {value}"));
        value
    }

    fn note(self) -> Option<String> {
        let mut said = self.read;
        let more = said.len().saturating_sub(MOST_NAMED);
        said.truncate(MOST_NAMED);
        if more > 0 {
            said.push(format!("{more} more"));
        }
        if !self.empty.is_empty() {
            let named: Vec<&str> = self.empty.iter().take(MOST_NAMED).map(String::as_str).collect();
            let more = if self.empty.len() > named.len() { ", …" } else { "" };
            said.push(format!("{}{more} empty, as not given", named.join(", ")));
        }
        (!said.is_empty()).then(|| format!("\nnote: arguments were read as {}\n", said.join("; ")))
    }
}

/// The end of the text before an error of the JSON parser.
fn before_error<'t>(text: &'t str, error: &serde_json::Error) -> &'t str {
    const SHOWN: usize = 40;
    let lines: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let end = text.floor_char_boundary(lines + error.column());
    &text[text.floor_char_boundary(end.saturating_sub(SHOWN))..end]
}

/// Whether a field is certainly not used: an empty text where the schema does not allow one by its name, or an empty
/// list where it needs an item.
fn is_unused(schema: &Value, value: &Value) -> bool {
    let forms = Forms::of(schema);
    match value {
        Value::String(text) => text.is_empty() && !forms.takes_empty,
        Value::Array(items) => items.is_empty() && forms.array.is_some_and(|it| it["minItems"].as_u64() > Some(0)),
        _ => false,
    }
}

/// The whole number that a number with a fraction of zero is.
fn integral(number: &Number) -> Option<Number> {
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    let value = number.as_f64().filter(|it| number.is_f64() && it.fract() == 0.0 && it.abs() <= LARGEST)?;
    format!("{value:.0}").parse().ok()
}

/// The JSON types that a schema allows.
#[derive(Debug, Default, Clone, Copy)]
struct Forms<'a> {
    is_string: bool,
    is_boolean: bool,
    is_integer: bool,
    is_number: bool,
    /// An empty text is a value. The schema says so by `minLength: 0`.
    takes_empty: bool,
    array: Option<&'a Value>,
    object: Option<&'a Value>,
}

impl<'a> Forms<'a> {
    fn of(schema: &'a Value) -> Forms<'a> {
        let mut forms = Forms::default();
        forms.add(schema);
        forms
    }

    fn add(&mut self, schema: &'a Value) {
        let types = match &schema["type"] {
            Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
            one => Vec::from_iter(one.as_str()),
        };
        for name in types {
            match name {
                "string" => {
                    self.is_string = true;
                    self.takes_empty |= schema["minLength"] == 0;
                }
                "boolean" => self.is_boolean = true,
                "integer" => self.is_integer = true,
                "number" => self.is_number = true,
                "array" => self.array = Some(schema),
                "object" => self.object = Some(schema),
                _ => {}
            }
        }
        for several in ["oneOf", "anyOf", "allOf"] {
            schema[several].as_array().into_iter().flatten().for_each(|it| self.add(it));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(call: &str, sent: Value, wanted: Value, noted: &[&str]) {
        let call = Call::named(call).unwrap();
        let Value::Object(sent) = sent else { panic!("{sent}") };
        let (read, note) = read(call, sent).unwrap();
        assert_eq!(Value::Object(read), wanted);
        let note = note.unwrap_or_default();
        assert!(noted.iter().all(|it| note.contains(it)) && noted.is_empty() == note.is_empty(), "{note}");
    }

    #[test]
    fn what_has_one_meaning_is_read() {
        let edits = json!([{"file": "a", "search_context": "[1]", "replacement": "", "near_line": 6}]);
        let sent = json!([{"file": "a", "search_context": "[1]", "replacement": "", "near_line": "6", "symbol": ""}]);
        check(
            "edit",
            json!({"edits": sent.to_string(), "dry_run": "True", "autofix": 95.0, "fix": "", "at": ""}),
            json!({"edits": edits, "dry_run": true, "autofix": 95}),
            &[
                "`edits` from JSON text",
                "`edits[0].near_line` \"6\" as 6",
                "`dry_run` \"True\" as true",
                "`autofix` 95.0 as 95",
            ],
        );
        check("edit", json!({"edits": sent[0]}), json!({"edits": edits}), &["`edits` as a list of one"]);
        check("edit", json!({"edits": [sent[0].to_string()]}), json!({"edits": edits}), &["`edits[0]` from JSON text"]);
        check(
            "edit",
            json!({"file": "a", "edits": [], "patch": ""}),
            json!({"file": "a"}),
            &["`edits`, `patch` empty"],
        );
        let text = json!({"file": "a", "search_context": "6", "replacement": ""});
        let mut with_empty = text.clone();
        (with_empty["content"], with_empty["edits"]) = (json!(""), json!("[]"));
        check("edit", with_empty, text.clone(), &["`content`", "`edits`", "empty, as not given"]);
        let (edits, patch) = (json!({"edits": [text]}), json!({"patch": "x"}));
        for wanted in [&edits, &patch] {
            let mut sent = wanted.clone();
            (sent["replacement"], sent["content"]) = (json!(""), json!(""));
            check("edit", sent, wanted.clone(), &["`content`, `replacement` empty"]);
        }
        let mut within = edits.clone();
        within["edits"][0]["content"] = json!("");
        check("edit", within, edits, &["`edits[0].content` empty"]);
        check(
            "verify",
            json!({"packages": "[\"a\"]", "timeout_ms": "6.0"}),
            json!({"packages": ["a"], "timeout_ms": 6}),
            &["note"],
        );
        check(
            "usages",
            json!({"symbol": "a", "limit": "3", "file": ""}),
            json!({"symbol": "a", "limit": 3}),
            &["`limit`", "`file`"],
        );
        check("usages", json!({"symbol": ""}), json!({}), &["`symbol`"]);
        check(
            "write",
            json!({"name": "a", "content": "", "dry_run": ""}),
            json!({"name": "a", "content": ""}),
            &["`dry_run`"],
        );
    }

    #[test]
    fn broken_json_is_refused_with_its_place() {
        let edits = "[{\"file\": \"a\",\n \"search_context\": \"ä\" \"replacement\": \"\"}]";
        for (sent, wanted) in [
            (json!({"edits": edits}), &["`edits`", "line 2 column 25", "after `", "\"search_context\": \"ä\" \"`"][..]),
            (json!({"edits": "["}), &["`edits`", "EOF", "line 1 column 1"]),
            (json!({"edits": ["{\"file\": \"a"]}), &["`edits[0]`", "EOF", "{\"file\": \"a`"]),
        ] {
            let Value::Object(sent) = sent else { panic!("{sent}") };
            let error = read(Call::named("edit").unwrap(), sent).unwrap_err();
            assert_eq!(error.code, Code::InvalidRequest);
            assert!(wanted.iter().all(|it| error.detail.contains(it)), "{}", error.detail);
        }
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        for (call, sent) in [
            ("edit", json!({"file": "a", "content": "", "mode": "overwrite"})),
            ("edit", json!({"dry_run": "yes", "near_line": "six", "autofix": 95.5, "edits": "x", "unknown": ""})),
            ("edit", json!({"near_line": "6.5", "file": 6, "dry_run": 1, "format": null})),
            ("write", json!({"name": "a.json", "content": "{\"a\": [1]}"})),
            ("write", json!({"name": "", "content": {"a": 1}})),
            ("verify", json!({"packages": "a", "tests": []})),
        ] {
            check(call, sent.clone(), sent, &[]);
        }
    }
}
