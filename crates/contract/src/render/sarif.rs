//! Diagnostics as a log of SARIF 2.1.0, with a run for each tool. Columns count Unicode characters, as declared in the
//! run; files are relative to `SRCROOT`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{Diagnostic, DiagnosticsReply, Severity};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
const ROOT: &str = "SRCROOT";

/// The log with the diagnostics of the reply.
pub fn sarif(found: &DiagnosticsReply) -> Value {
    let mut by_tool: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    let mut rules: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (at, diagnostic) in found.items.items.iter().enumerate() {
        let text = found.lines.get(at).map_or("", String::as_str);
        let rules = rules.entry(&diagnostic.source).or_default();
        let rule = diagnostic.code.as_deref().map(|code| {
            rules.iter().position(|it| *it == code).unwrap_or_else(|| {
                rules.push(code);
                rules.len() - 1
            })
        });
        by_tool.entry(&diagnostic.source).or_default().push(result(diagnostic, rule, text));
    }
    // A log without results still names the tool that ran.
    if by_tool.is_empty() {
        by_tool.insert("semdex", Vec::new());
    }
    let runs: Vec<Value> = by_tool
        .into_iter()
        .map(|(tool, results)| {
            let rules: Vec<Value> = rules.remove(tool).unwrap_or_default().iter().map(|it| json!({"id": it})).collect();
            json!({
                "tool": {"driver": {"name": tool, "rules": rules}},
                "columnKind": "unicodeCodePoints",
                "invocations": [invocation(found)],
                "results": results,
            })
        })
        .collect();
    json!({"$schema": SCHEMA, "version": "2.1.0", "runs": runs})
}

/// Whether the analysis is complete, and what is missing.
fn invocation(found: &DiagnosticsReply) -> Value {
    let notifications: Vec<Value> = found
        .meta
        .missing
        .iter()
        .map(|it| json!({"level": "warning", "message": {"text": it.detail}, "descriptor": {"id": it.code}}))
        .collect();
    json!({"executionSuccessful": found.meta.complete, "toolExecutionNotifications": notifications})
}

fn result(diagnostic: &Diagnostic, rule: Option<usize>, text: &str) -> Value {
    let place = &diagnostic.place;
    let level = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info | Severity::Hint => "note",
    };
    let mut region = json!({"startLine": place.line, "endLine": place.end_line});
    let from = place.column.saturating_sub(1);
    if let Some(before) = text.get(..from) {
        let column = before.chars().count() + 1;
        region["startColumn"] = column.into();
        let inside = text.get(from..(from + place.end.saturating_sub(place.start)).min(text.len()));
        if let Some(inside) = inside.filter(|_| place.line == place.end_line) {
            region["endColumn"] = (column + inside.chars().count()).into();
        }
    }
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": {"uri": uri(&place.file), "uriBaseId": ROOT},
            "region": region,
        },
    });
    if let Some(symbol) = &diagnostic.symbol {
        location["logicalLocations"] = json!([{"fullyQualifiedName": symbol}]);
    }
    // Equal as long as the file, the message and the text of the line are equal.
    let same = format!("{}\n{}\n{}", place.file, diagnostic.message, text.trim());
    let fingerprint = blake3::hash(same.as_bytes()).to_hex().to_string();
    let mut result = json!({
        "level": level,
        "message": {"text": diagnostic.message},
        "locations": [location],
        "partialFingerprints": {"messageAndLine/v1": fingerprint},
        "properties": {"confirmed": diagnostic.confirmed, "build": diagnostic.build},
    });
    if let (Some(code), Some(rule)) = (&diagnostic.code, rule) {
        result["ruleId"] = code.as_str().into();
        result["ruleIndex"] = rule.into();
    }
    result
}

/// A file's name as a relative URI reference.
fn uri(file: &str) -> String {
    let mut uri = String::with_capacity(file.len());
    for byte in file.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(byte.into()),
            other => uri += &format!("%{other:02X}"),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Listing;
    use crate::{Counts, Place};

    #[test]
    fn columns_count_characters_and_names_are_escaped() {
        assert_eq!(uri("src/a b%ä.rs"), "src/a%20b%25%C3%A4.rs");
        // `ä = x`: the x is the fifth character, the sixth byte.
        let place = Place { file: "a.py".to_owned(), start: 5, end: 6, line: 1, end_line: 1, column: 6 };
        let diagnostic = Diagnostic {
            place,
            severity: Severity::Hint,
            code: Some("F821".to_owned()),
            message: "no x".to_owned(),
            source: "ruff".to_owned(),
            symbol: None,
            confirmed: None,
            build: None,
            fixes: Vec::new(),
        };
        let found = |lines: &[&str]| DiagnosticsReply {
            items: Listing::after(0, vec![diagnostic.clone(); lines.len()]),
            counts: Counts::default(),
            total: lines.len(),
            next_cursor: None,
            fallback: None,
            meta: semdex_model::Meta {
                overlays: Vec::new(),
                workspace: "w".to_owned(),
                revision: semdex_model::Revision(1),
                state: semdex_model::State::Ready,
                coverage: Default::default(),
            }
            .into(),
            lines: lines.iter().map(|it| (*it).to_owned()).collect(),
        };
        let log = sarif(&found(&["ä = x"]));
        let run = &log["runs"][0];
        let result = &run["results"][0];
        let region = &result["locations"][0]["physicalLocation"]["region"];
        assert_eq!((&region["startColumn"], &region["endColumn"]), (&json!(5), &json!(6)), "{log}");
        assert_eq!(
            (&result["level"], &result["ruleId"], &result["ruleIndex"]),
            (&json!("note"), &json!("F821"), &json!(0))
        );
        assert_eq!(run["tool"]["driver"], json!({"name": "ruff", "rules": [{"id": "F821"}]}));
        let none = sarif(&found(&[]));
        assert_eq!(
            (&none["runs"][0]["results"], &none["runs"][0]["tool"]["driver"]["name"]),
            (&json!([]), &json!("semdex"))
        );
    }
}
