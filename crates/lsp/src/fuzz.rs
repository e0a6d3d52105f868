//! Fuzz targets: all forms of a server's answers, read against a text, and the import graph.

use std::sync::Arc;

use serde_json::Value;

use super::capabilities::Capabilities;
use super::import_graph::ImportGraph;
use super::wire::{self, Root};
use semdex_engine::Registry;
use semdex_engine::files::{File, Files};
use semdex_model::OutlineItem;
use semdex_testing::fuzz::{JSON, fuzz, mutated, words_of};

const ANSWERS: &[&str] = &[
    r#"[{"uri":"file:///w/a.py","range":{"start":{"line":1,"character":2},"end":{"line":1,"character":3}}}]"#,
    r#"{"targetUri":"file:///w/b%20c.py","targetRange":{"start":{"line":0,"character":0},"end":{"line":9,"character":0}},"targetSelectionRange":null}"#,
    r#"{"contents":["a",{"language":"ts","value":"b"},{"kind":"markdown","value":"c"}],"range":null}"#,
    r#"[{"name":"f(x)","kind":12,"range":{"start":{"line":0,"character":0},"end":{"line":2,"character":1}},"selectionRange":{"start":{"line":0,"character":4},"end":{"line":0,"character":5}},"children":[{"name":"é","kind":13,"location":{"uri":"u","range":{"start":{"line":1,"character":1},"end":{"line":1,"character":2}}},"containerName":"g"}]}]"#,
    r#"{"documentChanges":[{"textDocument":{"uri":"file:///w/a.py","version":null},"edits":[{"range":{"start":{"line":0,"character":1},"end":{"line":0,"character":2}},"newText":"n"}]},{"kind":"rename","oldUri":"file:///w/a","newUri":"file:///w/b"}]}"#,
    r#"{"changes":{"file:///w/a.py":[{"range":{"start":{"line":3,"character":0},"end":{"line":1,"character":0}},"newText":""}]}}"#,
    r#"{"items":[{"message":"m","severity":2,"code":{"value":"x"},"range":{"start":{"line":4294967295,"character":4294967295},"end":{"line":0,"character":0}}}]}"#,
    r#"{"registrations":[{"id":"1","method":"textDocument/references","registerOptions":{}}],"unregisterations":[{"id":"1"}]}"#,
    r#"{"referencesProvider":true,"textDocumentSync":{"save":{"includeText":true}},"codeActionProvider":{"resolveProvider":true}}"#,
];
const SIGNS: &[&str] = &[
    "\"uri\"",
    "\"range\"",
    "\"start\"",
    "\"line\"",
    "\"character\"",
    "4294967296",
    "file:///",
    "%",
    "%00",
    "%ff",
    "..",
    "é",
    "𝒳",
    "\"children\"",
    "\"name\"",
];
const TEXT: &str = "def é(x):\n\ty = '𝒳'\r\n    return y\n";

#[test]
fn fuzz_answers_of_language_servers() {
    let file = File::new(None, "a.py", TEXT);
    let root = Root::new("/w".into());
    fuzz("lsp_answers", mutated(ANSWERS, words_of(&[JSON, SIGNS])), |text| {
        let Ok(answer) = serde_json::from_str::<Value>(&text) else { return };
        let is_inside = |span: semdex_model::Span| assert!(TEXT.get(span.start..span.end).is_some(), "{span:?}");
        for it in wire::locations(&answer) {
            is_inside(wire::span(&file, it.range));
            let _ = root.file(&it.uri);
        }
        let files = wire::workspace_edit(&answer).files;
        files.iter().flat_map(|it| &it.1).for_each(|it| is_inside(wire::span(&file, it.0)));
        let _ = (wire::markup(&answer), wire::code(&answer), wire::severity(&answer));
        fn check(items: &[OutlineItem], is_inside: &impl Fn(semdex_model::Span)) {
            for item in items {
                is_inside(item.span);
                is_inside(item.name_span);
                check(&item.children, is_inside);
            }
        }
        check(&wire::document_symbols(&file, &answer, &[]), &is_inside);
        let mut capabilities = Capabilities::new(answer.clone());
        capabilities.take("client/registerCapability", &answer);
        capabilities.take("client/unregisterCapability", &answer);
        let _ = (capabilities.has("textDocument/references"), capabilities.wants_saves());
    });
}

const IMPORTS: &[&str] = &[
    "import { a } from './a';\nexport * from \"../b\";\nconst c = require('b/c.js');\nimport(`./${a}`);\n",
    "/// <reference path=\"a.ts\" />\n/** @type {import('./c').T} */\nimport x = require(\"..\");\ndeclare global {}\n",
    "from . import (m,  # it\n    n as o)\nfrom ..pkg.m import *\nimport pkg.m as p, b\n",
    "def f():\n    from .m import g; import pkg\n",
];
const OF_IMPORTS: &[&str] = &[
    "import ", "from ", "require(", "'./", "\"..", "export ", "* as ", "//", "/*", "(", ")", "${", ".", "/", "#", "é",
];

#[test]
fn fuzz_imports() {
    let languages = Registry::new(Vec::new(), crate::kinds).languages().clone();
    let text = || mutated(IMPORTS, words_of(&[OF_IMPORTS]));
    fuzz("imports", (text(), text(), text()), |(one, two, three)| {
        let mut files = Files::new(languages.clone());
        let texts =
            [("a.ts", &one), ("b/index.ts", &two), ("b/c.js", &one), ("pkg/__init__.py", &two), ("pkg/m.py", &one)];
        texts.iter().for_each(|it| drop(files.insert(Arc::new(files.file(it.0, it.1.as_str())))));
        let own = |files: &Files| files.iter().cloned().collect::<Vec<_>>();
        let before = ImportGraph::new(&files, &own(&files), None);
        files.insert(Arc::new(files.file("b/index.ts", three.as_str())));
        let (anew, after) =
            (ImportGraph::new(&files, &own(&files), None), ImportGraph::new(&files, &own(&files), Some(&before)));
        for file in files.iter() {
            let seeing = anew.seeing([&*file.path]);
            assert_eq!(seeing, after.seeing([&*file.path]), "{}", file.path);
            assert!(seeing.is_none_or(|it| it.contains(&file.path)));
        }
    });
}
