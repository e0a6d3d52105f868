//! Conversions at the interface to a language server: URIs and paths, UTF-16 positions and byte offsets, and the
//! content of its answers. Answers are read leniently: servers omit required fields and add unknown ones.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use semdex_engine::files::File;
use semdex_lsp_client::file_uri;
use semdex_model::{OutlineItem, Severity, Span, SymbolKind};

/// A range of the protocol: lines from 0, columns in UTF-16 units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Range {
    pub start: (u32, u32),
    pub end: (u32, u32),
}

/// A place in a file by its URI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location {
    pub uri: String,
    pub range: Range,
}

/// The root of a workspace, which converts between URIs and file names of the workspace.
#[derive(Debug, Clone)]
pub(crate) struct Root {
    directory: PathBuf,
    /// With links resolved, since a server may answer with that form.
    real: Option<PathBuf>,
}

impl Root {
    pub(crate) fn new(directory: PathBuf) -> Root {
        let real = directory.canonicalize().ok();
        Root { directory, real }
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// `""` is the root itself.
    pub(crate) fn uri(&self, file: &str) -> String {
        if file.is_empty() {
            return file_uri::of_path(&self.directory);
        }
        file_uri::of_path(&self.directory.join(file))
    }

    /// Relative with `/` inside the workspace, otherwise absolute.
    pub(crate) fn file(&self, uri: &str) -> Option<String> {
        let path = file_uri::path(uri)?;
        let names = [Some(&self.directory), self.real.as_ref()];
        let inside = names.into_iter().flatten().find_map(|it| path.strip_prefix(it).ok());
        inside.unwrap_or(&path).to_str().map(str::to_owned)
    }
}

pub(crate) fn position(file: &File, offset: usize) -> Value {
    let mut offset = offset.min(file.text.len());
    while !file.text.is_char_boundary(offset) {
        offset -= 1;
    }
    let (line, character) = file.lines().utf16_of_offset(offset);
    json!({"line": line, "character": character})
}

pub(crate) fn lsp_range(file: &File, span: Span) -> Value {
    json!({"start": position(file, span.start), "end": position(file, span.end)})
}

pub(crate) fn span(file: &File, range: Range) -> Span {
    let at = |(line, column)| file.lines().offset_of_utf16(&file.text, line, column);
    let start = at(range.start);
    Span::new(start, at(range.end).max(start))
}

pub(crate) fn range(value: &Value) -> Option<Range> {
    let at = |name: &str| {
        let position = value.get(name)?;
        let number = |name: &str| u32::try_from(position.get(name)?.as_u64()?).ok();
        Some((number("line")?, number("character")?))
    };
    Some(Range { start: at("start")?, end: at("end")? })
}

/// `Location`, `LocationLink`, a list of either, or null.
pub(crate) fn locations(value: &Value) -> Vec<Location> {
    let one = |it: &Value| {
        let uri = it.get("uri").or_else(|| it.get("targetUri"))?.as_str()?.to_owned();
        let range = it.get("range").or_else(|| it.get("targetSelectionRange")).or_else(|| it.get("targetRange"))?;
        Some(Location { uri, range: self::range(range)? })
    };
    match value {
        Value::Array(all) => all.iter().filter_map(one).collect(),
        it => one(it).into_iter().collect(),
    }
}

/// The text of a hover or of documentation: a string, `MarkupContent`, `MarkedString`, or a list of these.
pub(crate) fn markup(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(markup).collect::<Vec<_>>().join("\n\n"),
        Value::Object(it) => {
            match (it.get("language").and_then(Value::as_str), it.get("value").and_then(Value::as_str)) {
                (Some(language), Some(value)) => format!("```{language}\n{value}\n```"),
                (None, Some(value)) => value.to_owned(),
                _ => markup(it.get("contents")?)?,
            }
        }
        _ => return None,
    };
    Some(text.trim().to_owned()).filter(|it| !it.is_empty())
}

pub(crate) fn severity(diagnostic: &Value) -> Severity {
    match diagnostic.get("severity").and_then(Value::as_u64) {
        Some(2) => Severity::Warning,
        Some(3) => Severity::Info,
        Some(4) => Severity::Hint,
        _ => Severity::Error,
    }
}

/// The code of a diagnostic: a number, a string or an object.
pub(crate) fn code(diagnostic: &Value) -> Option<String> {
    match diagnostic.get("code")? {
        Value::String(code) => Some(code.clone()).filter(|it| !it.is_empty()),
        Value::Number(code) => Some(code.to_string()),
        Value::Object(it) => it.get("value").map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned)),
        _ => None,
    }
}

/// The edits of one document, with its URI.
pub(crate) type DocumentEdits = (String, Vec<(Range, String)>);

/// The understood parts of a `WorkspaceEdit`.
#[derive(Debug)]
pub(crate) struct WorkspaceEdit {
    pub files: Vec<DocumentEdits>,
    /// Renamed files, by their URIs.
    pub moves: Vec<(String, String)>,
    /// Whether `files` is complete: no file is created, moved or deleted, and no snippet has placeholders.
    pub is_texts_alone: bool,
}

/// Reads a `WorkspaceEdit` in either of its forms.
pub(crate) fn workspace_edit(value: &Value) -> WorkspaceEdit {
    let mut is_texts_alone = true;
    let mut edits = |it: Option<&Value>| -> Vec<(Range, String)> {
        let one = |it: &Value| Some((range(it.get("range")?)?, it.get("newText")?.as_str()?.to_owned()));
        let is_snippet = |it: &Value| it.get("insertTextFormat").and_then(Value::as_u64) == Some(2);
        let all = it.and_then(Value::as_array);
        let read: Vec<_> = all.into_iter().flatten().filter_map(one).collect();
        is_texts_alone &= all.is_some_and(|all| all.len() == read.len() && !all.iter().any(is_snippet));
        read
    };
    let mut files = Vec::new();
    let mut moves = Vec::new();
    let mut others = 0;
    let text = |it: &Value, name: &str| it.get(name).and_then(Value::as_str).map(str::to_owned);
    if let Some(changes) = value.get("documentChanges").and_then(Value::as_array) {
        for change in changes {
            if change.get("kind").and_then(Value::as_str) == Some("rename") {
                moves.extend(text(change, "oldUri").zip(text(change, "newUri")));
                others += 1;
            } else if let Some(uri) = change.get("textDocument").and_then(|it| text(it, "uri")) {
                files.push((uri, edits(change.get("edits"))));
            } else {
                others += 1;
            }
        }
    } else if let Some(changes) = value.get("changes").and_then(Value::as_object) {
        files.extend(changes.iter().map(|(uri, it)| (uri.clone(), edits(Some(it)))));
    } else {
        others += 1;
    }
    WorkspaceEdit { files, moves, is_texts_alone: is_texts_alone && others == 0 }
}

/// Converts `DocumentSymbol[]` or `SymbolInformation[]` to declarations.
pub(crate) fn document_symbols(file: &File, answer: &Value, container: &[String]) -> Vec<OutlineItem> {
    let one = |it: &Value| {
        let name = it.get("name")?.as_str()?.split(['(', ' ']).next().unwrap_or_default().to_owned();
        let whole = range(it.get("range").or_else(|| it.pointer("/location/range"))?)?;
        let selected = it.get("selectionRange").and_then(range);
        let full = span(file, whole);
        let selected = selected.map_or(full, |it| span(file, it));
        let written = file.text.get(selected.start..selected.end)?;
        let found = written.find(&name).map(|it| selected.start + it);
        let at = found.unwrap_or(selected.start);
        let mut own = container.to_vec();
        if let Some(outer) = it.get("containerName").and_then(Value::as_str).filter(|it| !it.is_empty()) {
            own = vec![outer.to_owned()];
        }
        let inner: Vec<String> = own.iter().cloned().chain([name.clone()]).collect();
        let children = it.get("children").map(|it| document_symbols(file, it, &inner)).unwrap_or_default();
        let signature = file.lines().line_text(&file.text, file.lines().line(at)).trim().trim_end_matches('{').trim();
        Some(OutlineItem {
            kind: symbol_kind(it.get("kind").and_then(Value::as_u64).unwrap_or_default()),
            container: own,
            signature: signature.to_owned(),
            docs: None,
            span: full,
            name_span: found.map_or(selected, |it| Span::new(it, it + name.len())),
            body: None,
            public: true,
            test: false,
            children,
            name,
        })
    };
    answer.as_array().map(|it| it.iter().filter_map(one).collect()).unwrap_or_default()
}

fn symbol_kind(number: u64) -> SymbolKind {
    match number {
        2 | 3 => SymbolKind::Module,
        4 => SymbolKind::Package,
        5 | 23 => SymbolKind::Struct,
        6 | 9 => SymbolKind::Method,
        7 | 8 | 20 => SymbolKind::Field,
        10 => SymbolKind::Enum,
        11 => SymbolKind::Interface,
        12 => SymbolKind::Function,
        14 => SymbolKind::Const,
        22 => SymbolKind::Variant,
        26 => SymbolKind::Type,
        _ => SymbolKind::Variable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_survive_the_way_to_a_uri_and_back() {
        let root = Root::new(PathBuf::from("/w s/ü"));
        for file in ["a.py", "sp ace/#?%41.py", "日本/[x].py", "a+b&c=d;e:f@g.py", "/elsewhere/x.py"] {
            assert_eq!(root.file(&root.uri(file)).as_deref(), Some(file));
        }
        assert_eq!(root.file("untitled:x"), None);
        assert_eq!(root.file("file:///w%20s/%c3%bc/a:b.py").as_deref(), Some("a:b.py"), "escaped otherwise");
    }

    #[test]
    fn answers_are_read_in_all_their_forms() {
        let range = json!({"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 3}});
        let plain = json!({"uri": "file:///a", "range": range});
        let link = json!({"targetUri": "file:///a", "targetRange": range, "targetSelectionRange": range});
        for answer in [plain.clone(), json!([plain]), json!([link])] {
            assert_eq!(
                locations(&answer),
                [Location { uri: "file:///a".to_owned(), range: Range { start: (1, 2), end: (1, 3) } }]
            );
        }
        assert_eq!((locations(&Value::Null), locations(&json!({"uri": 1}))), (vec![], vec![]));
        assert_eq!(
            markup(&json!({"contents": ["a", {"language": "ts", "value": "b"}]})).as_deref(),
            Some("a\n\n```ts\nb\n```")
        );
        assert_eq!(code(&json!({"code": {"value": "x"}})).as_deref(), Some("x"));
        let edit = json!({"documentChanges": [{"textDocument": {"uri": "u"}, "edits": [{"range": range, "newText": "n"}]}, {"kind": "rename", "oldUri": "a", "newUri": "b"}]});
        let read = workspace_edit(&edit);
        assert_eq!((read.files[0].1.len(), read.moves.len()), (1, 1));
    }

    #[test]
    fn what_is_more_than_texts_is_not_taken_for_texts_alone() {
        let range = json!({"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 3}});
        let edits = json!([{"range": range, "newText": "x"}]);
        let plain = json!({"documentChanges": [{"textDocument": {"uri": "u", "version": null}, "edits": edits}]});
        let read = |it: &Value| {
            let edit = workspace_edit(it);
            edit.is_texts_alone.then_some(edit.files.len())
        };
        assert_eq!(read(&plain), Some(1));
        assert_eq!(read(&json!({"changes": {"u": edits}})), Some(1));
        let mut moving = plain;
        moving["documentChanges"].as_array_mut().unwrap().push(json!({"kind": "create", "uri": "v"}));
        assert_eq!(read(&moving), None);
        assert_eq!(read(&json!({})), None);
        let part = |it: Value| read(&json!({"changes": {"u": [it]}}));
        assert_eq!(part(json!({"range": range, "snippet": {"kind": "snippet", "value": "$0"}})), None);
        assert_eq!(part(json!({"range": range, "newText": "x"})), Some(1));
        assert_eq!(part(json!({"range": range, "newText": "$0", "insertTextFormat": 2})), None);
        assert_eq!(read(&json!({"changes": {"u": null}})), None);
    }
}
