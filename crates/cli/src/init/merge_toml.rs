//! Adds an entry to a TOML file that a person wrote, and removes it: every other byte remains.

use std::iter;
use std::ops::Range;

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The text with a table below these keys. A table that is there gets its missing fields.
pub(crate) fn into_toml(text: &str, keys: &[&str], value: &Value) -> Result<String, String> {
    let document = parse(text)?;
    let entry = toml::Table::try_from(value).map_err(|error| error.to_string())?;
    let mut known = Some(&document);
    for key in keys {
        known = match known.and_then(|it| it.get(*key)) {
            None => None,
            Some(toml::Value::Table(table)) => Some(table),
            Some(_) => return Err(format!("its `{key}` is no table")),
        };
    }
    let Some(known) = known else { return with_table(text, keys, entry) };
    entry.into_iter().try_fold(text.to_owned(), |text, (key, value)| match known.get(&key) {
        Some(present) if *present == value => Ok(text),
        Some(_) => Err(format!("it has another `{key}`")),
        None => with_field(&text, keys, &key, &value),
    })
}

/// The values of a text.
pub(super) fn parse(text: &str) -> Result<toml::Table, String> {
    text.parse::<toml::Table>().map_err(|error| format!("it is not TOML ({})", error.message()))
}

/// Adds a table, which can always be done at the end of a file, unless a table around it is inline.
fn with_table(text: &str, keys: &[&str], entry: toml::Table) -> Result<String, String> {
    let merged = match inline_table(text, keys) {
        Some((opening, below)) => within(text, opening, below, &toml::Value::Table(entry)),
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
    parse(&merged).map(|_| merged).map_err(|why| format!("it could not be merged safely: {why}"))
}

/// Adds a field to a table.
fn with_field(text: &str, keys: &[&str], key: &str, value: &toml::Value) -> Result<String, String> {
    let all: Vec<&str> = keys.iter().copied().chain([key]).collect();
    let merged = match inline_table(text, &all) {
        Some((opening, below)) => within(text, opening, below, value),
        None => {
            let header = header(text, keys).ok_or_else(|| format!("its `{}` has no `{key}`", keys.join(".")))?;
            let (before, rest) = text.split_at(line_end(text, header.end));
            let gap = if before.ends_with('\n') { "" } else { "\n" };
            format!("{before}{gap}{key} = {value}\n{rest}")
        }
    };
    parse(&merged).map(|_| merged).map_err(|why| format!("it could not be merged safely: {why}"))
}

/// Adds a value to an inline table, on the line of its bracket: before TOML 1.1 an inline table must be one line.
fn within(text: &str, opening: usize, below: &[&str], value: &toml::Value) -> String {
    let (before, rest) = text.split_at(opening + 1);
    let (end, rest) = match rest.trim_start() {
        empty if empty.starts_with('}') => (" ", empty),
        _ => (",", rest),
    };
    format!("{before} {} = {value}{end}{rest}", below.join("."))
}

/// Where the innermost inline table on the path of the keys begins, and the keys below it. Nothing can be added to it
/// from outside.
fn inline_table<'k, 's>(text: &str, keys: &'k [&'s str]) -> Option<(usize, &'k [&'s str])> {
    let document = DeTable::parse(text).ok()?;
    let mut table = document.get_ref();
    let mut found = None;
    for (depth, key) in keys.iter().enumerate() {
        let Some(value) = table.get(*key) else { break };
        let Some(below) = value.get_ref().as_table() else { break };
        if is_inline(text, value) {
            found = Some((value.span().start, keys.get(depth + 1..)?));
        }
        table = below;
    }
    found
}

/// Whether a table is written inline. The span of any other table is its header, or its key before a dot.
fn is_inline(text: &str, value: &Spanned<DeValue<'_>>) -> bool {
    value.get_ref().is_table() && text.get(value.span()).is_some_and(|it| it.starts_with('{'))
}

/// The header of a table.
fn header(text: &str, keys: &[&str]) -> Option<Range<usize>> {
    let document = DeTable::parse(text).ok()?;
    let (last, around) = keys.split_last()?;
    let around = around.iter().try_fold(document.get_ref(), |it, key| it.get(*key)?.get_ref().as_table())?;
    Some(around.get(*last)?.span()).filter(|it| text.get(it.clone()).is_some_and(|it| it.starts_with('[')))
}

/// The text without what is below these keys: a table, with the tables in it, or a value. Comments before and behind it
/// stay.
pub(crate) fn out_of_toml(text: &str, keys: &[&str]) -> Result<String, String> {
    let mut wanted = parse(text)?;
    let document = DeTable::parse(text).map_err(|error| error.message().to_owned())?;
    let Some((last, around)) = keys.split_last() else { return Ok(text.to_owned()) };
    let (mut table, mut has_inline, mut is_within) = (document.get_ref(), false, false);
    for key in around {
        let Some(value) = table.get(*key) else { return Ok(text.to_owned()) };
        is_within = is_inline(text, value);
        has_inline |= is_within;
        match value.get_ref().as_table() {
            Some(below) => table = below,
            None => return Ok(text.to_owned()),
        }
    }
    let Some((key, value)) = table.get_key_value(*last) else { return Ok(text.to_owned()) };
    let mut cuts = match (is_within, has_inline) {
        (true, _) => iter::once(within_line(text, key.span().start, value.span().end)).collect(),
        (false, true) => Vec::new(),
        (false, false) => lines(text, key.span().start, value),
    };
    cuts.sort_unstable_by_key(|it| it.start);
    let mut kept = text.to_owned();
    for cut in cuts.into_iter().rev() {
        kept.replace_range(cut, "");
    }
    without(&mut wanted, keys);
    let mut now = kept.parse::<toml::Table>().unwrap_or_default();
    without(&mut now, keys);
    let is_gone = header_or_value(&kept, keys).is_none();
    match is_gone && now == wanted {
        true => Ok(kept),
        false => Err(format!("`{}` is written in a form that is not understood: remove it by hand", keys.join("."))),
    }
}

/// The lines of a value, or of a table and the tables in it, each with the empty line before its header.
fn lines(text: &str, from: usize, value: &Spanned<DeValue<'_>>) -> Vec<Range<usize>> {
    let span = value.span();
    let is_header = text.get(span.clone()).is_some_and(|it| it.starts_with('['));
    let below = |table: &DeTable<'_>| -> Vec<Range<usize>> {
        table.iter().flat_map(|(key, value)| lines(text, key.span().start, value)).collect()
    };
    match value.get_ref() {
        DeValue::Table(table) if !is_inline(text, value) => {
            let below = below(table);
            if !is_header {
                return below;
            }
            // The fields below the header are one piece with it.
            let is_table = |it: &Range<usize>| text.get(it.clone()).is_some_and(|it| it.trim_start().starts_with('['));
            let end = below.iter().filter(|it| !is_table(it)).map(|it| it.end).max();
            let start = line_start(text, span.start);
            let gap = usize::from(text.get(..start).is_some_and(|it| it.ends_with("\n\n")));
            let own = start - gap..end.unwrap_or_else(|| line_end(text, span.end));
            below.into_iter().filter(is_table).chain([own]).collect()
        }
        // Tables with a header in two brackets.
        DeValue::Array(tables) if tables.first().is_some_and(|it| it.get_ref().is_table() && it.span() == span) => {
            tables.iter().flat_map(|it| lines(text, it.span().start, it)).collect()
        }
        _ => iter::once(line_start(text, from)..line_end(text, span.end)).collect(),
    }
}

/// A value in an inline table, with one comma.
fn within_line(text: &str, from: usize, to: usize) -> Range<usize> {
    let before = text.get(..from).unwrap_or_default().trim_end();
    let behind = text.get(to..).unwrap_or_default();
    let comma = to + behind.len() - behind.trim_start().len();
    match (text.get(comma..).is_some_and(|it| it.starts_with(',')), before.ends_with(',')) {
        (true, _) => before.len()..comma + 1,
        (false, true) => before.len() - 1..to,
        (false, false) => before.len()..to,
    }
}

fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|it| it.rfind('\n')).map_or(0, |it| it + 1)
}

/// The end of a line, with its line break.
fn line_end(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|it| it.find('\n')).map_or(text.len(), |it| at + it + 1)
}

fn header_or_value(text: &str, keys: &[&str]) -> Option<toml::Value> {
    let document = toml::Value::Table(text.parse().ok()?);
    keys.iter().try_fold(&document, |below, key| below.get(*key)).cloned()
}

/// Removes a value, and the tables around it that it leaves empty.
fn without(table: &mut toml::Table, keys: &[&str]) {
    let Some((key, below)) = keys.split_first() else { return };
    if let (Some(toml::Value::Table(inner)), false) = (table.get_mut(*key), below.is_empty()) {
        without(inner, below);
        if !inner.is_empty() {
            return;
        }
    }
    table.remove(*key);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_table_is_removed_and_all_else_stays() {
        let keys = &["mcp_servers", "semdex"];
        let text = "# mine\nmodel = \"m\"\n\n[mcp_servers.other]\ncommand = \"o\"\n";
        let merged = into_toml(text, keys, &json!({"command": "semdex", "args": ["mcp"]})).unwrap();
        assert_eq!(out_of_toml(&merged, keys).unwrap(), text);
        assert_eq!(out_of_toml(text, keys).unwrap(), text);
        let more = format!("{merged}\n[mcp_servers.semdex.tools.edit]\na = 1\n\n[z]\nb = 2\n");
        assert_eq!(out_of_toml(&more, keys).unwrap(), format!("{text}\n[z]\nb = 2\n"));
        let noted = format!("{merged}\n# IMPORTANT: mine\n[projects.\"/srv/x\"]\ntrust_level = \"trusted\"\n");
        let expected = format!("{text}\n# IMPORTANT: mine\n[projects.\"/srv/x\"]\ntrust_level = \"trusted\"\n");
        assert_eq!(out_of_toml(&noted, keys).unwrap(), expected);
    }

    #[test]
    fn a_table_is_removed_in_any_form() {
        let keys = &["mcp_servers", "semdex"];
        for (text, left) in [
            ("[mcp_servers.\"semdex\"]\ncommand = \"x\"\n", ""),
            ("[ mcp_servers . semdex ] # it\nargs = [\n  \"[a]\",\n]\n# end\n", "# end\n"),
            ("[mcp_servers]\nsemdex = { command = \"x\" }\no.command = \"o\"\n", "[mcp_servers]\no.command = \"o\"\n"),
            ("mcp_servers.semdex.command = \"x\"\na = 1\nmcp_servers.semdex.args = []\n", "a = 1\n"),
            ("mcp_servers = { semdex = { command = \"x\" }, o = 1 }\n", "mcp_servers = { o = 1 }\n"),
            ("mcp_servers = { o = 1, semdex = { command = \"x\" } }\n", "mcp_servers = { o = 1 }\n"),
            ("mcp_servers = { semdex = { command = \"x\" } }\n", "mcp_servers = { }\n"),
            ("[mcp_servers.semdex]\na = 1\n\n[[mcp_servers.semdex.t]]\nb = 1\n\n[z]\n", "\n[z]\n"),
            ("[mcp_servers.semdex]\na = \"\"\"\n[z]\n\"\"\"\n[y]\n", "[y]\n"),
        ] {
            assert_eq!(out_of_toml(text, keys).unwrap(), left, "{text}");
            assert_eq!(out_of_toml(left, keys).unwrap(), left);
        }
        let dotted = "mcp_servers = { semdex.command = \"x\", o = 1 }\n";
        assert!(out_of_toml(dotted, keys).unwrap_err().contains("by hand"));
    }

    #[test]
    fn a_field_is_added_to_a_table_and_removed() {
        let value = json!({"command": "semdex", "mode": "approve"});
        for text in [
            "[mcp_servers.semdex]\ncommand = \"semdex\"\ntimeout = 5 # s\n\n[z]\n",
            "mcp_servers = { semdex = { command = \"semdex\" }, o = 1 }\n",
        ] {
            let merged = into_toml(text, &["mcp_servers", "semdex"], &value).unwrap();
            assert!(merged.contains("mode = \"approve\""), "{merged}");
            assert_eq!(out_of_toml(&merged, &["mcp_servers", "semdex", "mode"]).unwrap(), text);
        }
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
