//! Adds an entry to a configuration file that a person wrote: every existing byte remains.

use serde_json::{Value, json};
use toml::de::DeTable;

/// The text with `value` below these keys, or added to the list there, if the last key holds a list.
pub(crate) fn into_json(text: &str, keys: &[&str], value: &Value, is_listed: bool) -> Result<String, String> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let document: Value =
        serde_json::from_str(text).map_err(|error| format!("it is not plain JSON, which can be merged ({error})"))?;
    let wanted = wanted(&document, keys, value, is_listed)?;
    if wanted == document {
        return Ok(text.to_owned());
    }
    // The existing keys determine the depth; everything below them is new.
    let mut at = 0;
    let mut known = &document;
    for key in keys {
        match known.get(key) {
            Some(below) if below.is_object() || below.is_array() && is_listed => (known, at) = (below, at + 1),
            _ => break,
        }
    }
    let mut new = value.clone();
    if is_listed && at < keys.len() {
        new = json!([new]);
    }
    for key in keys.iter().skip(at + 1).rev() {
        new = json!({ *key: new });
    }
    let open = opening(text, &keys[..at]).ok_or("its structure is not understood")?;
    let indent = "  ".repeat(at + 1);
    let pretty =
        serde_json::to_string_pretty(&new).map_err(|error| error.to_string())?.replace('\n', &format!("\n{indent}"));
    let item = match keys.get(at) {
        Some(key) => format!("\n{indent}\"{key}\": {pretty}"),
        None => format!("\n{indent}{pretty}"),
    };
    let rest = &text[open + 1..];
    let is_empty = rest.trim_start().starts_with(['}', ']']);
    let merged = if is_empty {
        format!("{}{item}\n{}{}", &text[..=open], "  ".repeat(at), rest.trim_start())
    } else {
        format!("{}{item},{rest}", &text[..=open])
    };
    match serde_json::from_str::<Value>(&merged) {
        Ok(now) if same(&now, &wanted) => Ok(merged),
        _ => Err("it could not be merged safely".to_owned()),
    }
}

/// Equal except for the order of lists: a new item is inserted before the existing ones.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().all(|it| b.contains(it)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, it)| b.get(key).is_some_and(|other| same(it, other)))
        }
        _ => a == b,
    }
}

fn wanted(document: &Value, keys: &[&str], value: &Value, is_listed: bool) -> Result<Value, String> {
    let mut wanted = document.clone();
    let mut below = &mut wanted;
    for (depth, key) in keys.iter().enumerate() {
        let is_last = depth + 1 == keys.len();
        let Some(object) = below.as_object_mut() else { return Err(format!("what holds `{key}` is no object")) };
        let empty = if is_last && is_listed { json!([]) } else { json!({}) };
        let is_there = object.contains_key(*key);
        below = object.entry(*key).or_insert(empty);
        if !is_last {
            continue;
        }
        if let (true, Some(list)) = (is_listed, below.as_array_mut()) {
            if !list.contains(value) {
                list.push(value.clone());
            }
        } else if !is_there {
            *below = value.clone();
        } else if below != value {
            return Err(format!("it has another `{key}`"));
        }
    }
    Ok(wanted)
}

/// Where the object or list below these keys begins. The text is valid JSON.
fn opening(text: &str, keys: &[&str]) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut found, mut at) = (0usize, 0usize, 0usize);
    let mut last: Option<String> = None;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                let end = closing_quote(bytes, at)?;
                last = serde_json::from_str(&text[at..=end]).ok();
                at = end;
            }
            b'{' | b'[' => {
                let is_next =
                    depth == found && (found == 0 && depth == 0 || last.as_deref() == keys.get(found - 1).copied());
                if is_next && found == keys.len() {
                    return Some(at);
                }
                depth += 1;
                if is_next {
                    found += 1;
                }
                last = None;
            }
            b'}' | b']' => {
                depth -= 1;
                last = None;
            }
            b',' => last = None,
            _ => {}
        }
        at += 1;
    }
    None
}

fn closing_quote(bytes: &[u8], open: usize) -> Option<usize> {
    let mut at = open + 1;
    while *bytes.get(at)? != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    Some(at)
}

/// A table can always be added at the end of a file, unless a table around it is inline.
pub(crate) fn into_toml(text: &str, keys: &[&str], value: &Value) -> Result<String, String> {
    let parse = |text: &str| text.parse::<toml::Table>().map_err(|error| error.message().to_owned());
    let document = parse(text).map_err(|why| format!("it is not TOML ({why})"))?;
    let entry = toml::Table::try_from(value).map_err(|error| error.to_string())?;
    let mut known = Some(&document);
    for (depth, key) in keys.iter().enumerate() {
        match known.and_then(|it| it.get(*key)) {
            None => known = None,
            Some(toml::Value::Table(table)) if depth + 1 == keys.len() => {
                return if *table == entry { Ok(text.to_owned()) } else { Err(format!("it has another `{key}`")) };
            }
            Some(toml::Value::Table(table)) => known = Some(table),
            Some(_) => return Err(format!("its `{key}` is no table")),
        }
    }
    let merged = match inline_table(text, keys) {
        Some((opening, below)) => {
            let (before, rest) = text.split_at(opening + 1);
            let (end, rest) = match rest.trim_start() {
                empty if empty.starts_with('}') => (" ", empty),
                _ => (",", rest),
            };
            // On the line of the bracket: before TOML 1.1 an inline table must be one line.
            format!("{before} {} = {}{end}{rest}", below.join("."), toml::Value::Table(entry))
        }
        None => {
            let body = toml::to_string(&entry).map_err(|error| error.to_string())?;
            let gap = if text.is_empty() {
                ""
            } else if text.ends_with('\n') {
                "\n"
            } else {
                "\n\n"
            };
            format!("{text}{gap}[{}]\n{body}", keys.join("."))
        }
    };
    parse(&merged).map(|_| merged).map_err(|why| format!("it could not be merged safely ({why})"))
}

/// Where the first inline table on the path of the keys begins, and the keys below it. Nothing can be added to it from
/// outside.
fn inline_table<'k, 's>(text: &str, keys: &'k [&'s str]) -> Option<(usize, &'k [&'s str])> {
    let document = DeTable::parse(text).ok()?;
    let mut table = document.get_ref();
    for (depth, key) in keys.iter().enumerate() {
        let value = table.get(*key)?;
        table = value.get_ref().as_table()?;
        // For any other table the span is its key or header.
        if text.get(value.span())?.starts_with('{') {
            return Some((value.span().start, keys.get(depth + 1..)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: &[&str] = &["mcpServers", "semdex"];

    fn check(text: &str, expected: &str) {
        let value = json!({"command": "semdex"});
        let merged = into_json(text, KEYS, &value, false).unwrap();
        assert_eq!(merged, expected);
        assert_eq!(into_json(&merged, KEYS, &value, false).unwrap(), merged, "the second time nothing is to be done");
    }

    #[test]
    fn an_entry_is_put_where_it_belongs_and_all_else_stays() {
        check("", "{\n  \"mcpServers\": {\n    \"semdex\": {\n      \"command\": \"semdex\"\n    }\n  }\n}\n");
        check(
            "{\"b\": [1, {\"mcpServers\": {}}],  \"a\": \"mcpServers\"}",
            "{\n  \"mcpServers\": {\n    \"semdex\": {\n      \"command\": \"semdex\"\n    }\n  },\"b\": [1, {\"mcpServers\": {}}],  \"a\": \"mcpServers\"}",
        );
        check(
            "{ \"x\": 1, \"mcpServers\": { \"other\": {\"command\": \"o\\\"{\"} } }\n",
            "{ \"x\": 1, \"mcpServers\": {\n    \"semdex\": {\n      \"command\": \"semdex\"\n    }, \"other\": {\"command\": \"o\\\"{\"} } }\n",
        );
    }

    #[test]
    fn a_list_gets_one_item_more() {
        let keys = &["hooks", "PreToolUse"];
        let text = "{\"hooks\": {\"PreToolUse\": [{\"matcher\": \"Bash\"}]}}";
        let merged = into_json(text, keys, &json!({"matcher": "Grep"}), true).unwrap();
        let now: Value = serde_json::from_str(&merged).unwrap();
        assert_eq!(now["hooks"]["PreToolUse"], json!([{"matcher": "Grep"}, {"matcher": "Bash"}]));
        assert_eq!(into_json(&merged, keys, &json!({"matcher": "Grep"}), true).unwrap(), merged);
        let made = into_json("{}", keys, &json!(1), true).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&made).unwrap(), json!({"hooks": {"PreToolUse": [1]}}));
    }

    #[test]
    fn what_cannot_be_merged_is_left_alone() {
        let refused = |text: &str| into_json(text, KEYS, &json!({"command": "semdex"}), false).unwrap_err();
        assert!(refused("{ // mine\n}").contains("not plain JSON"));
        assert!(refused("{\"mcpServers\": {\"semdex\": {\"command\": \"mine\"}}}").contains("another `semdex`"));
        assert!(refused("{\"mcpServers\": 3}").contains("no object"));
        assert!(refused("[]").contains("no object"));
    }

    #[test]
    fn a_table_is_added_to_toml() {
        let keys = &["mcp_servers", "semdex"];
        let value = json!({"command": "semdex", "args": ["mcp"]});
        let text = "# mine\nmodel = \"m\"\n\n[mcp_servers.other]\ncommand = \"o\"";
        let merged = into_toml(text, keys, &value).unwrap();
        assert!(merged.starts_with(text) && merged.contains("\n\n[mcp_servers.semdex]\n"), "{merged}");
        assert_eq!(into_toml(&merged, keys, &value).unwrap(), merged);
        assert!(into_toml(&merged, keys, &json!({"command": "x"})).unwrap_err().contains("another"));
        assert!(into_toml("a = ", keys, &value).unwrap_err().contains("not TOML"));
        assert!(into_toml("mcp_servers = 3", keys, &value).unwrap_err().contains("no table"));
    }

    #[test]
    fn a_table_is_added_to_one_that_is_written_inline() {
        let keys = &["mcp_servers", "semdex"];
        let value = json!({"command": "semdex", "args": ["mcp"]});
        for (before, inside, after) in [
            ("mcp_servers = {", "", "}\n"),
            ("# mine\nmcp_servers = {", " other = { command = \"x\" } ", "} # { }\nmodel = \"m\"\n"),
            ("mcp_servers={", "other.command=\"x\"", "}"),
        ] {
            let text = format!("{before}{inside}{after}");
            let merged = into_toml(&text, keys, &value).unwrap();
            assert!(merged.starts_with(before) && merged.ends_with(&format!("{inside}{after}")), "{merged}");
            assert_eq!(merged.lines().count(), text.lines().count(), "{merged}");
            let mut now: toml::Table = merged.parse().unwrap();
            let servers = now["mcp_servers"].as_table_mut().unwrap();
            assert_eq!(servers.remove("semdex"), Some(toml::Value::try_from(&value).unwrap()), "{merged}");
            assert_eq!(now, text.parse::<toml::Table>().unwrap(), "{merged}");
            assert_eq!(into_toml(&merged, keys, &value).unwrap(), merged);
            assert!(into_toml(&merged, keys, &json!({"command": "x"})).unwrap_err().contains("another"));
        }
    }
}
