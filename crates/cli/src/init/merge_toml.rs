//! Adds an entry to a TOML file that a person wrote, and removes it: every other byte remains.

use serde_json::Value;
use toml::de::DeTable;

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

/// The text without the table below these keys, and the tables in it. An inline table stays.
pub(crate) fn out_of_toml(text: &str, keys: &[&str]) -> Result<String, String> {
    let own = keys.join(".");
    let header = |line: &str| {
        let name = line.trim_start().strip_prefix('[')?.split(']').next()?.trim().to_owned();
        Some(name.trim_start_matches('[').to_owned())
    };
    let is_own = |name: &str| name == own || name.starts_with(&format!("{own}."));
    let mut kept = String::with_capacity(text.len());
    let mut is_in = false;
    for line in text.split_inclusive('\n') {
        if let Some(name) = header(line) {
            is_in = is_own(&name);
            if is_in && kept.ends_with("\n\n") {
                kept.pop();
            }
        }
        if !is_in {
            kept.push_str(line);
        }
    }
    let document = kept.parse::<toml::Table>().map_err(|error| format!("it is not TOML ({})", error.message()))?;
    let mut below = Some(&toml::Value::Table(document.clone())).cloned();
    for key in keys {
        below = below.and_then(|it| it.get(*key).cloned());
    }
    match below {
        None => Ok(kept),
        Some(_) => Err(format!("`{own}` is written inline: remove it by hand")),
    }
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
        assert_eq!(out_of_toml(&more, keys).unwrap(), format!("{text}\n[z]\nb = 2\n").replace("\n\n[z]", "\n[z]"));
        assert!(out_of_toml("mcp_servers = { semdex = { command = \"x\" } }\n", keys).unwrap_err().contains("inline"));
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
