//! Adds values to a JSON file that a person wrote, and removes them: every other byte remains, comments too.

use serde_json::{Value, json};

/// The text with `value` below these keys, or added to the list there, if the last key holds a list. A value that is an
/// object gets its missing fields.
pub(crate) fn into_json(text: &str, keys: &[&str], value: &Value, is_listed: bool) -> Result<String, String> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let document = parse(text)?;
    if let (Value::Object(fields), false) = (value, is_listed)
        && keys.iter().try_fold(&document, |below, key| below.get(key)).is_some_and(Value::is_object)
    {
        return fields.iter().try_fold(text.to_owned(), |text, (key, value)| {
            let below: Vec<&str> = keys.iter().copied().chain([key.as_str()]).collect();
            into_json(&text, &below, value, false)
        });
    }
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
    let plain = without_comments(text);
    let node = Node::read(&plain).and_then(|it| it.below(&keys[..at])).ok_or("its structure is not understood")?;
    // A comment behind the bracket belongs to it.
    let open = node.span.0 + 1 + comment_behind(text, &plain, node.span.0 + 1);
    // An empty object or list that was there gets the item behind its bracket: `out_of_json` leaves it there.
    let is_beside = at > 0 && node.children.is_empty() && open == node.span.0 + 1;
    let indent = "  ".repeat(if is_beside { at } else { at + 1 });
    let pretty =
        serde_json::to_string_pretty(&new).map_err(|error| error.to_string())?.replace('\n', &format!("\n{indent}"));
    let item = match keys.get(at) {
        Some(key) => format!("\n{indent}\"{key}\": {pretty}"),
        None => format!("\n{indent}{pretty}"),
    };
    let (before, rest) = text.split_at(open);
    let merged = if is_beside {
        format!("{before}{}{rest}", item.trim_start())
    } else if node.children.is_empty() {
        let rest = if rest.trim_start().starts_with(['}', ']']) { rest.trim_start() } else { rest };
        format!("{before}{item}\n{}{rest}", "  ".repeat(at))
    } else {
        format!("{before}{item},{rest}")
    };
    match parse(&merged) {
        Ok(now) if same(&now, &wanted) => Ok(merged),
        _ => Err("it could not be merged safely".to_owned()),
    }
}

/// The text without what `found` finds in the value below these keys, until it finds nothing: the value itself, or a
/// part of it. An object or list on the way that is left empty is removed too, if it is laid out as `into_json` adds
/// one, and has no comment.
pub(crate) fn out_of_json<'k>(
    text: &str,
    keys: &[&'k str],
    found: impl Fn(&Value) -> Option<Vec<Step<'k>>>,
) -> Result<String, String> {
    const UNCLEAR: &str = "its structure is not understood";
    let mut text = text.to_owned();
    loop {
        if text.trim().is_empty() {
            return Ok(text);
        }
        let document = parse(&text)?;
        let coded = blanked(&text, false);
        let root = Node::read(&without_comments(&text)).ok_or(UNCLEAR)?;
        let value = keys.iter().try_fold(&document, |below, key| below.get(key));
        let Some(part) = value.and_then(&found) else { return Ok(text) };
        let mut own: Vec<Step<'_>> = keys.iter().copied().map(Step::Key).chain(part).collect();
        while own.len() > 1 {
            let around = root.at(&own[..own.len() - 1]).ok_or(UNCLEAR)?;
            if !around.is_frame(&text, &coded) {
                break;
            }
            own.pop();
        }
        let (last, around) = own.split_last().ok_or(UNCLEAR)?;
        let node = root.at(around).ok_or(UNCLEAR)?;
        let at = node.position(last).ok_or(UNCLEAR)?;
        let mut cuts = node.cut(&text, &coded, at);
        cuts.sort_unstable();
        for (from, to) in cuts.into_iter().rev() {
            text.replace_range(from..to, "");
        }
        let mut wanted = document;
        remove(&mut wanted, &own).ok_or(UNCLEAR)?;
        if parse(&text).ok() != Some(wanted) {
            return Err("it could not be changed safely".to_owned());
        }
    }
}

/// Removes a part of a value.
fn remove(value: &mut Value, steps: &[Step<'_>]) -> Option<()> {
    let (last, around) = steps.split_last()?;
    let around = around.iter().try_fold(value, |below, step| match step {
        Step::Key(key) => below.get_mut(*key),
        Step::Item(at) => below.get_mut(*at),
    })?;
    match last {
        Step::Key(key) => around.as_object_mut()?.remove(*key).map(drop),
        Step::Item(at) => around.as_array_mut().filter(|it| *at < it.len()).map(|it| drop(it.remove(*at))),
    }
}

/// A text with comments and commas at the end of lists, as several agents read it.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    serde_json::from_str(&without_comments(text))
        .map_err(|error| format!("it is not JSON, which can be merged ({error})"))
}

/// The text with blanks in place of comments and of commas before a closing bracket: all else stays at its place.
fn without_comments(text: &str) -> String {
    blanked(text, true)
}

/// The text with blanks in place of comments, also of commas before a closing bracket, `with_commas`.
fn blanked(text: &str, with_commas: bool) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let (mut at, mut comma) = (0, None);
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'"', _) => {
                comma = None;
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            (b'/', Some(b'/')) => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    bytes[at] = b' ';
                    at += 1;
                }
            }
            (b'/', Some(b'*')) => {
                let end = text.get(at + 2..).and_then(|it| it.find("*/")).map_or(bytes.len(), |it| at + it + 4);
                for byte in bytes.iter_mut().take(end).skip(at).filter(|it| **it != b'\n') {
                    *byte = b' ';
                }
                at = end.saturating_sub(1);
            }
            (b',', _) => comma = Some(at),
            (b'}' | b']', _) => {
                if let Some(comma) = comma.take().filter(|_| with_commas) {
                    bytes[comma] = b' ';
                }
            }
            (byte, _) if byte.is_ascii_whitespace() => {}
            _ => comma = None,
        }
        at += 1;
    }
    // Only whole characters were replaced, since comments begin and end with ASCII.
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// The length of a comment behind a bracket, on the same line.
fn comment_behind(text: &str, plain: &str, from: usize) -> usize {
    let line = |it: &str| it.get(from..).and_then(|it| it.lines().next()).unwrap_or_default().len();
    let is_blank = plain.get(from..from + line(plain)).is_some_and(|it| it.trim().is_empty());
    let has_comment = text.get(from..from + line(text)).is_some_and(|it| !it.trim().is_empty());
    if is_blank && has_comment { line(text) } else { 0 }
}

/// A value of a JSON text, and where it is.
#[derive(Debug)]
struct Node {
    /// The value without its key.
    span: (usize, usize),
    children: Vec<Child>,
}

#[derive(Debug)]
struct Child {
    key: Option<String>,
    /// Where the child begins: at its key, if it has one.
    from: usize,
    node: Node,
}

/// A step from a value to a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step<'k> {
    Key(&'k str),
    Item(usize),
}

impl Node {
    /// Reads a valid JSON text without comments.
    fn read(text: &str) -> Option<Node> {
        let (node, _) = Node::value(text, blank(text, 0))?;
        Some(node)
    }

    /// A value, and where it ends.
    fn value(text: &str, from: usize) -> Option<(Node, usize)> {
        let bytes = text.as_bytes();
        let is_object = match bytes.get(from)? {
            b'{' => true,
            b'[' => false,
            b'"' => {
                let end = closing_quote(bytes, from)? + 1;
                return Some((Node { span: (from, end), children: Vec::new() }, end));
            }
            _ => {
                let length = text.get(from..)?.find([',', '}', ']', ' ', '\n', '\r', '\t']);
                let end = length.map_or(text.len(), |it| from + it);
                return Some((Node { span: (from, end), children: Vec::new() }, end));
            }
        };
        let mut children = Vec::new();
        let mut at = blank(text, from + 1);
        while !matches!(bytes.get(at)?, b'}' | b']') {
            let begin = at;
            let mut key = None;
            if is_object {
                let end = closing_quote(bytes, at)?;
                key = Some(serde_json::from_str(text.get(at..=end)?).ok()?);
                at = blank(text, end + 1);
                if *bytes.get(at)? != b':' {
                    return None;
                }
                at = blank(text, at + 1);
            }
            let (node, end) = Node::value(text, at)?;
            children.push(Child { key, from: begin, node });
            at = blank(text, end);
            if *bytes.get(at)? == b',' {
                at = blank(text, at + 1);
            }
        }
        Some((Node { span: (from, at + 1), children }, at + 1))
    }

    fn below(self, keys: &[&str]) -> Option<Node> {
        keys.iter().try_fold(self, |node, key| {
            node.children.into_iter().find(|it| it.key.as_deref() == Some(*key)).map(|it| it.node)
        })
    }

    fn at(&self, steps: &[Step<'_>]) -> Option<&Node> {
        steps.iter().try_fold(self, |node, step| node.children.get(node.position(step)?).map(|it| &it.node))
    }

    fn position(&self, step: &Step<'_>) -> Option<usize> {
        match step {
            Step::Key(key) => self.children.iter().position(|it| it.key.as_deref() == Some(*key)),
            Step::Item(at) => Some(*at).filter(|it| *it < self.children.len()),
        }
    }

    /// Whether a list or object has one child and nothing else, on a line of its own. `coded` has no comments.
    fn is_frame(&self, text: &str, coded: &str) -> bool {
        let [child] = self.children.as_slice() else { return false };
        let outside = [(self.span.0, child.from), (child.node.span.1, self.span.1)];
        let is_code = |(from, to): (usize, usize)| text.get(from..to) == coded.get(from..to);
        text.get(self.span.0..child.from).is_some_and(|it| it.contains('\n')) && outside.into_iter().all(is_code)
    }

    /// What is removed with a child: the blanks before it, and a comma. Comments around it stay.
    fn cut(&self, text: &str, coded: &str, at: usize) -> Vec<(usize, usize)> {
        if self.is_frame(text, coded) {
            return vec![(self.span.0 + 1, self.span.1 - 1)];
        }
        let own = &self.children[at];
        let end = own.node.span.1;
        let comma = |from: usize| Some(blank(coded, from)).filter(|it| coded[*it..].starts_with(','));
        let before = at.checked_sub(1).and_then(|it| self.children.get(it));
        let comma = comma(end).or_else(|| comma(before?.node.span.1));
        let kept = text.get(..own.from).unwrap_or_default().trim_end().len();
        // What follows on the line must not become a part of a comment.
        let is_behind_comment = kept.checked_sub(1).is_some_and(|it| text.as_bytes()[it] != coded.as_bytes()[it]);
        let line = text.get(end..).and_then(|it| it.lines().next()).unwrap_or_default();
        let is_followed = !line.trim_start_matches(',').trim().is_empty();
        let from = if is_behind_comment && is_followed { own.from } else { kept };
        [(from, end)].into_iter().chain(comma.map(|it| (it, it + 1))).collect()
    }
}

fn blank(text: &str, from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    from + rest.len() - rest.trim_start().len()
}

fn closing_quote(bytes: &[u8], open: usize) -> Option<usize> {
    let mut at = open + 1;
    while *bytes.get(at)? != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    Some(at)
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
        if is_listed {
            let Some(list) = below.as_array_mut() else { return Err(format!("its `{key}` is no list")) };
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

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: &[&str] = &["mcpServers", "semdex"];

    #[track_caller]
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
    fn comments_stay() {
        let entry = "\n  \"mcpServers\": {\n    \"semdex\": {\n      \"command\": \"semdex\"\n    }\n  }";
        check("{ // mine: {\n}\n", &format!("{{ // mine: {{{entry}\n}}\n"));
        check(
            "// https://x\n{ /* a */ // b\n  \"x\": [1, 2,], // \"\n  /* é */ \"y\": 2,\n}\n",
            &format!("// https://x\n{{ /* a */ // b{entry},\n  \"x\": [1, 2,], // \"\n  /* é */ \"y\": 2,\n}}\n"),
        );
    }

    #[test]
    fn an_entry_gets_the_fields_that_it_is_missing() {
        let text = "{\"mcpServers\": {\"semdex\": {\"command\": \"semdex\", \"own\": 1}}}";
        let merged = into_json(text, KEYS, &json!({"command": "semdex", "alwaysLoad": true}), false).unwrap();
        let now: Value = serde_json::from_str(&merged).unwrap();
        assert_eq!(now["mcpServers"]["semdex"], json!({"command": "semdex", "alwaysLoad": true, "own": 1}));
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
        assert!(refused("{ mine\n}").contains("not JSON"));
        assert!(refused("{\"mcpServers\": {\"semdex\": {\"command\": \"mine\"}}}").contains("another `command`"));
        assert!(refused("{\"mcpServers\": 3}").contains("no object"));
        assert!(refused("[]").contains("no object"));
        assert!(into_json("{\"a\": 1}", &["a"], &json!(1), true).unwrap_err().contains("no list"));
    }

    /// What is removed in the tests: a value that names semdex, or such an item of a list.
    fn own<'k>(value: &Value) -> Option<Vec<Step<'k>>> {
        let is_own = |it: &Value| it.to_string().contains("semdex");
        match value {
            Value::Array(items) => items.iter().position(is_own).map(|it| vec![Step::Item(it)]),
            value => is_own(value).then(Vec::new),
        }
    }

    #[test]
    fn what_was_added_is_taken_back_to_the_byte() {
        for text in [
            "{\n  \"x\": 1\n}\n",
            "{\"mcpServers\": {\"other\": {\"command\": \"o\"}}}",
            "{ // mine\n  \"a\": {\"b\": [1]},\n}\n",
            "{\n  \"mcpServers\": {\n    // the tracker\n    \"tracker\": {\"command\": \"t\"}, // its end\n  }\n}\n",
            "{\n  \"mcpServers\": { // servers\n    \"tracker\": {\"command\": \"t\"}\n  }\n}\n",
            "{\n  \"mcpServers\": { // none yet\n  },\n  \"hooks\": {\"Stop\": []}\n}\n",
            "{\n  \"mcpServers\": {},\n  \"inputs\": []\n}\n",
            "{\"mcpServers\": {\n  }, \"hooks\": { }}\n",
            "{\"mcpServers\": {/* none */}}\n",
        ] {
            let merged = into_json(text, KEYS, &json!({"command": "semdex", "args": ["mcp"]}), false).unwrap();
            let merged = into_json(&merged, &["hooks", "Stop"], &json!({"command": "semdex hook"}), true).unwrap();
            let merged = into_json(&merged, &["hooks", "Stop"], &json!({"command": "semdex 2"}), true).unwrap();
            let back = out_of_json(&merged, KEYS, own).unwrap();
            let back = out_of_json(&back, &["hooks", "Stop"], own).unwrap();
            assert_eq!(back, text, "{merged}");
            assert_eq!(out_of_json(&back, KEYS, own).unwrap(), back);
        }
    }

    #[test]
    fn a_removal_leaves_what_is_around() {
        let of = |text: &str| out_of_json(text, &["l"], own).unwrap();
        assert_eq!(of("{\"l\": [\"semdex\", \"own\"]}"), "{\"l\": [ \"own\"]}");
        assert_eq!(of("{\"l\": [\"own\", \"semdex\"]}"), "{\"l\": [\"own\"]}");
        assert_eq!(of("{\"l\": [\"a\", // a\n\"semdex\" // s\n]}"), "{\"l\": [\"a\" // a\n // s\n]}");
        assert_eq!(of("{\"l\": [// a\n\"semdex\", \"b\"]}"), "{\"l\": [// a\n \"b\"]}");
        assert_eq!(of("{\"l\": [\n\"a\",\n\"semdex\",\n]}"), "{\"l\": [\n\"a\",\n]}");
        assert_eq!(of("{\"l\": [\"semdex\"], \"k\": 1}"), "{\"l\": [], \"k\": 1}");
        assert_eq!(of("{\"k\": 1, \"l\": [\n\"semdex\"\n]}"), "{\"k\": 1}");
        assert_eq!(of("{\n\"l\": [\n\"semdex\"\n]\n}"), "{}");
        assert_eq!(of("{\"l\": [\n// mine\n\"semdex\"\n]}"), "{\"l\": [\n// mine\n]}");
        assert_eq!(of(""), "");
        assert!(out_of_json("{\"l\": \"semdex\", \"l\": \"semdex\"}", &["l"], own).is_err(), "a key twice");
    }
}
