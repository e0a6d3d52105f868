//! Arguments as agents send them: some write a list as JSON text, a number or a boolean in quotes, `6.0` for `6`, and
//! an empty text for a field that they do not use. If the schema of the call leaves one meaning, the call gets the
//! value in the right form, and the reply notes it. Anything else stays as it is, and the call refuses it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Map, Number, Value};

use super::tools::TOOLS;
use semdex_contract::Call;

/// How many fields the note names.
const MOST_NAMED: usize = 10;

/// The schemas of the calls that are tools.
static SCHEMAS: LazyLock<BTreeMap<&str, Value>> =
    LazyLock::new(|| TOOLS.iter().map(|it| (it.call().name, it.call().schema())).collect());

/// The arguments as the call takes them, and a note about what was read in another form than it was sent.
pub(crate) fn read(call: &Call, arguments: Map<String, Value>) -> (Map<String, Value>, Option<String>) {
    let Some(schema) = SCHEMAS.get(call.name) else { return (arguments, None) };
    let mut reader = Reader::default();
    let arguments = reader.object(schema, arguments, "");
    (arguments, reader.note())
}

#[derive(Default)]
struct Reader {
    /// What was read in another form, each with its path.
    read: Vec<String>,
    /// The paths of empty fields that were left out.
    empty: Vec<String>,
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
            if !required(&name) && is_unused(of_field, &value) {
                self.empty.push(format!("`{path}`"));
                continue;
            }
            all.insert(name, self.value(of_field, value, &path));
        }
        all
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
            let Ok(value) = serde_json::from_str::<Value>(bare) else { return Value::String(text) };
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
        let (read, note) = read(call, sent);
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
    fn everything_else_stays_as_it_is() {
        for (call, sent) in [
            ("edit", json!({"file": "a", "search_context": "6", "replacement": "", "content": ""})),
            ("edit", json!({"dry_run": "yes", "near_line": "six", "autofix": 95.5, "edits": "[", "unknown": ""})),
            ("edit", json!({"near_line": "6.5", "file": 6, "dry_run": 1, "format": null})),
            ("write", json!({"name": "a.json", "content": "{\"a\": [1]}"})),
            ("write", json!({"name": "", "content": {"a": 1}})),
            ("verify", json!({"packages": "a", "tests": []})),
        ] {
            check(call, sent.clone(), sent, &[]);
        }
    }
}
