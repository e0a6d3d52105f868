//! The tools: which calls of the contract a model may make, and the description of each. All definitions together stay
//! below 8,000 characters, those that clients always load below 4,500, because they are part of every conversation. So
//! fields that a model seldom needs are accepted, but not described. Clients that load tools on demand search the names,
//! descriptions and hints: they use the words that a model looks for (references, callers, definition, symbol).

use std::sync::Arc;

use rmcp::model::{MetaObject, Tool as Definition, ToolAnnotations};
use serde_json::{Map, Value, json};

use semdex_contract::{Call, Effect, Name};
use semdex_model::{Code, Error};

pub(crate) struct Tool {
    pub name: Name,
    description: &'static str,
    load: Load,
    required: &'static [&'static str],
    fields: &'static [Field],
    /// Whether a change may lose existing content.
    is_destructive: bool,
}

/// When clients that load tools on demand load a tool.
#[derive(Debug, Clone, Copy)]
enum Load {
    Always,
    /// If a search finds it: these words are searched besides the description.
    Found(&'static str),
}

/// A field, its type, and its meaning if the name does not say it.
type Field = (&'static str, Type, &'static str);

#[derive(Debug, Clone, Copy)]
enum Type {
    Text,
    Integer,
    Boolean,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of texts.
    Texts,
    /// A list of objects.
    List(&'static [Field]),
}

use Type::{Boolean, Integer, List, Text, Texts, Word};

const FILE: Field = ("file", Text, "Relative to the root");
const NARROWS: Field = ("file", Text, "Narrows a short name");
const PACKAGE: Field = ("package", Text, "Crate, module or import path");
const SYMBOL: Field = ("symbol", Text, "Path or name: `Searcher::new`");
const MAX_TOKENS: Field = ("max_tokens", Integer, "");
const CURSOR: Field = ("cursor", Text, "");
const DRY_RUN: Field = ("dry_run", Boolean, "Write nothing");
const ON_BREAK: Field = ("on_break", Word(&["report", "reject"]), "");
const AT: Field = ("at", Word(&["body", "whole", "before", "after", "delete"]), "Part of `symbol` to replace");
const SEARCH: Field = ("search_context", Text, "Unique text to replace");
const REPLACEMENT: Field = ("replacement", Text, "");
const EXPECTED_HASH: Field = ("expected_hash", Text, "Of text seen");
const ON_CONFLICT: Field = ("on_conflict", Word(&["refuse", "merge"]), "");
const ELISIONS: Field = ("elisions", Word(&["refuse", "keep"]), "");
const REPEAT: Field = ("repeat", Boolean, "Even if made already");
const WORKSPACE: Field = ("workspace", Text, "");

pub(crate) const TOOLS: &[Tool] = &[
    Tool {
        name: Name::Explore,
        description: "Ask first: a question, an error, a stack trace or an issue's text gives the code that it is about, with lines, users and tests.",
        load: Load::Always,
        required: &["query"],
        fields: &[("query", Text, ""), ("focus", Texts, "Files or symbols"), MAX_TOKENS, CURSOR],
        is_destructive: false,
    },
    Tool {
        name: Name::Open,
        description: "Outline of a source file: signatures with lines and usage counts, what it uses and who uses it.",
        load: Load::Found("outline of a file, document symbols"),
        required: &["file"],
        fields: &[FILE, MAX_TOKENS, CURSOR],
        is_destructive: false,
    },
    Tool {
        name: Name::Describe,
        description: "Definition of a symbol, also of dependencies: source, docs, examples, usages, implementations. Only `package`: an overview. Only `file`: its text.",
        load: Load::Found("go to definition, find symbol"),
        required: &[],
        fields: &[SYMBOL, PACKAGE, FILE, MAX_TOKENS],
        is_destructive: false,
    },
    Tool {
        name: Name::Usages,
        description: "Find references: callers and all other places that refer to a symbol, resolved by the compiler; none is missed where the reply says complete. Use in place of grep.",
        load: Load::Always,
        required: &["symbol"],
        fields: &[SYMBOL, PACKAGE, NARROWS, MAX_TOKENS, CURSOR],
        is_destructive: false,
    },
    Tool {
        name: Name::Map,
        description: "The most important signatures, ranked by use, about `focus` and `query`.",
        load: Load::Found("symbol navigation, overview"),
        required: &[],
        fields: &[("focus", Texts, "Files or symbols"), ("query", Text, ""), MAX_TOKENS],
        is_destructive: false,
    },
    Tool {
        name: Name::Edit,
        description: "Edits code and reports each place that it breaks. Either `file`, `search_context` and `replacement`, or `symbol`, `at` and `replacement`; several, all or none, in `edits`, also whole files; or a `patch`. The reply has a token for `undo`.",
        load: Load::Always,
        required: &[],
        fields: &[
            FILE,
            SEARCH,
            ("symbol", Text, "Edit this symbol, with `at`"),
            AT,
            REPLACEMENT,
            ("near_line", Integer, "Of matches"),
            (
                "edits",
                List(&[
                    ("file", Text, ""),
                    ("search_context", Text, ""),
                    ("symbol", Text, ""),
                    ("at", Word(&["body", "whole", "before", "after", "delete"]), ""),
                    REPLACEMENT,
                    ("content", Text, "Of a whole file"),
                    ("mode", Word(&["create", "overwrite", "append"]), ""),
                    ("delete", Boolean, "The file"),
                    ("move_to", Text, "New name of the file"),
                ]),
                "All match the same state",
            ),
            ("patch", Text, "Unified diff, `*** Begin Patch`, or SEARCH/REPLACE blocks"),
            EXPECTED_HASH,
            ON_CONFLICT,
            ELISIONS,
            REPEAT,
            DRY_RUN,
            ON_BREAK,
            ("fix_imports", Boolean, ""),
            ("format", Boolean, ""),
            MAX_TOKENS,
        ],
        is_destructive: true,
    },
    Tool {
        name: Name::Write,
        description: "Writes a file (`overwrite`, `create`) or adds lines at its end (`append`), and reports what it breaks.",
        load: Load::Found("create file"),
        required: &["name", "content", "mode"],
        fields: &[
            ("name", Text, "The file"),
            ("content", Text, ""),
            ("mode", Word(&["append", "overwrite", "create"]), ""),
            ("declare", Boolean, "Add its `mod` line"),
            EXPECTED_HASH,
            ON_CONFLICT,
            DRY_RUN,
            ON_BREAK,
        ],
        is_destructive: true,
    },
    Tool {
        name: Name::Rename,
        description: "Renames a symbol and all references, in one change.",
        load: Load::Found("rename symbol, refactor"),
        required: &["symbol", "new_name"],
        fields: &[SYMBOL, ("new_name", Text, ""), NARROWS, DRY_RUN],
        is_destructive: true,
    },
    Tool {
        name: Name::Impact,
        description: "What breaks if a symbol is removed, renamed, or changes its signature or visibility: callers and tests.",
        load: Load::Always,
        required: &["symbol", "change"],
        fields: &[SYMBOL, ("change", Word(&["remove", "rename", "signature", "visibility"]), ""), NARROWS, MAX_TOKENS],
        is_destructive: false,
    },
    Tool {
        name: Name::Diagnostics,
        description: "Errors and warnings, without a build.",
        load: Load::Always,
        required: &[],
        fields: &[FILE, ("severity", Text, "As `error,warning`"), MAX_TOKENS],
        is_destructive: false,
    },
    Tool {
        name: Name::Verify,
        description: "Runs compiler, linter or tests: errors and failed tests with output.",
        load: Load::Found("run tests, build"),
        required: &["kind"],
        fields: &[
            ("kind", Word(&["check", "lint", "test"]), ""),
            ("tests", Texts, ""),
            ("change", Text, "Token: only what it reaches"),
        ],
        is_destructive: false,
    },
    Tool {
        name: Name::Undo,
        description: "Takes back a change, by its token, or a git commit, by its hash.",
        load: Load::Found("revert"),
        required: &[],
        fields: &[("change", Text, ""), ("commit", Text, ""), DRY_RUN],
        is_destructive: true,
    },
];

/// Phrases of refusals about calls that are not tools, and their replacements.
const IN_PLACE_OF_CALLS: &[(&str, &str)] = &[
    ("`symbols` with `query` finds names by their parts, `map` by", "`map` with `query` finds names by"),
    ("`changes` lists", "`semdex changes` lists"),
    ("(`delete_overlay`)", "(`semdex overlay delete`)"),
    ("`open_workspace` opens", "`semdex workspaces open` opens"),
];

/// Rephrases a refusal for a client that has the tools and a command line.
pub(crate) fn refusal(text: &str) -> String {
    IN_PLACE_OF_CALLS.iter().fold(text.to_owned(), |text, (call, other)| text.replace(call, other))
}

/// The definitions, with the workspace among the fields if there are several.
pub(crate) fn all(several_workspaces: bool) -> Vec<Definition> {
    TOOLS.iter().map(|it| it.definition(several_workspaces)).collect()
}

pub(crate) fn named(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|it| it.call().name == name)
}

pub(crate) fn names() -> String {
    TOOLS.iter().map(|it| format!("`{}`", it.call().name)).collect::<Vec<_>>().join(", ")
}

/// The names of the tools that only read, or of those that change files or run programs of the workspace.
pub fn names_by_effect(only_reads: bool) -> impl Iterator<Item = &'static str> {
    TOOLS.iter().filter(move |it| it.only_reads() == only_reads).map(|it| it.call().name)
}

impl Tool {
    pub(crate) fn call(&self) -> &'static Call {
        self.name.call()
    }

    /// Whether it changes nothing. `verify` runs programs of the workspace, which may do anything.
    fn only_reads(&self) -> bool {
        self.call().effect == Effect::Read && self.name != Name::Verify
    }

    /// The refusal of arguments without a required choice. The contract refuses other missing fields; some choices have
    /// a default there, which a model does not know.
    pub(crate) fn missing_choice(&self, arguments: &Map<String, Value>) -> Option<Error> {
        self.fields.iter().find_map(|(name, ty, _)| {
            let Word(words) = ty else { return None };
            let is_given = arguments.get(*name).is_some_and(|it| !it.is_null());
            let is_missing = self.required.contains(name) && !is_given;
            let choices = words.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
            is_missing.then(|| Error::new(Code::InvalidRequest, format!("missing field `{name}`: one of {choices}")))
        })
    }

    pub(crate) fn definition(&self, several_workspaces: bool) -> Definition {
        let mut schema = object(self.fields.iter().chain(several_workspaces.then_some(&WORKSPACE)));
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), json!(self.required));
        }
        let is_read = self.only_reads();
        let mut annotations = ToolAnnotations::new().read_only(is_read).open_world(false);
        if !is_read {
            annotations = annotations.destructive(self.is_destructive);
        }
        let (key, value) = match self.load {
            Load::Always => ("anthropic/alwaysLoad", json!(true)),
            Load::Found(words) => ("anthropic/searchHint", json!(words)),
        };
        let meta = MetaObject(Map::from_iter([(key.to_owned(), value)]));
        Definition::new(self.call().name, self.description, Arc::new(schema))
            .with_annotations(annotations)
            .with_meta(meta)
    }
}

fn object<'a>(fields: impl Iterator<Item = &'a Field>) -> Map<String, Value> {
    let properties: Map<String, Value> =
        fields.map(|(name, ty, description)| ((*name).to_owned(), schema(*ty, description))).collect();
    let mut object = Map::new();
    object.insert("type".to_owned(), json!("object"));
    object.insert("properties".to_owned(), Value::Object(properties));
    object
}

fn schema(ty: Type, description: &str) -> Value {
    let mut schema = match ty {
        Text => json!({"type": "string"}),
        Integer => json!({"type": "integer"}),
        Boolean => json!({"type": "boolean"}),
        Word(words) => json!({"type": "string", "enum": words}),
        Texts => json!({"type": "array", "items": {"type": "string"}}),
        List(fields) => json!({"type": "array", "items": object(fields.iter())}),
    };
    if !description.is_empty() {
        schema["description"] = json!(description);
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_definitions_together_take_at_most_8000_characters() {
        for several in [false, true] {
            let length = serde_json::to_string(&all(several)).unwrap().chars().count();
            assert!(length <= 8000, "{length} characters");
        }
    }

    #[test]
    fn the_definitions_that_are_always_loaded_take_at_most_4500_characters() {
        let is_loaded = |it: &&Tool| matches!(it.load, Load::Always);
        let loaded: Vec<&Tool> = TOOLS.iter().filter(is_loaded).collect();
        let names: Vec<&str> = loaded.iter().map(|it| it.call().name).collect();
        assert_eq!(names, ["explore", "usages", "edit", "impact", "diagnostics"]);
        for several in [false, true] {
            let definitions: Vec<Definition> = loaded.iter().map(|it| it.definition(several)).collect();
            let length = serde_json::to_string(&definitions).unwrap().chars().count();
            assert!(length <= 4500, "{length} characters");
        }
    }

    /// A refusal names these fields: a model has to know that they are there.
    #[test]
    fn what_refusals_advise_is_in_the_schema() {
        for (name, fields) in [
            ("edit", &["expected_hash", "on_conflict", "elisions", "repeat"][..]),
            ("write", &["expected_hash", "on_conflict"]),
        ] {
            let definition = serde_json::to_value(named(name).unwrap().definition(false)).unwrap();
            for field in fields {
                assert!(definition["inputSchema"]["properties"][field].is_object(), "{name} {field}");
            }
        }
    }

    /// What a model asks for, as clients search: a tool that has all the words in its name, description or hint.
    #[test]
    fn everyday_questions_find_a_tool() {
        for (question, tool) in [
            ("find references", Name::Usages),
            ("callers symbol", Name::Usages),
            ("go to definition", Name::Describe),
            ("find symbol", Name::Describe),
            ("symbol navigation", Name::Map),
            ("rename symbol", Name::Rename),
            ("what breaks", Name::Impact),
        ] {
            let tool = TOOLS.iter().find(|it| it.name as usize == tool as usize).unwrap();
            let hint = if let Load::Found(words) = tool.load { words } else { "" };
            let text = format!("{} {} {hint}", tool.call().name, tool.description).to_lowercase();
            assert!(question.split(' ').all(|it| text.contains(it)), "{question}: {text}");
        }
    }

    #[test]
    fn a_refusal_names_no_call_that_is_no_tool() {
        assert_eq!(
            refusal("no `changes` here: `changes` lists them"),
            "no `changes` here: `semdex changes` lists them"
        );
        for (call, other) in IN_PLACE_OF_CALLS {
            let call_in =
                |text: &str| semdex_contract::CALLS.iter().find(|it| text.contains(&format!("`{}`", it.name)));
            assert!(call_in(call).is_some_and(|it| named(it.name).is_none()), "{call}");
            assert!(call_in(other).is_none_or(|it| named(it.name).is_some()), "{other}");
        }
    }

    #[test]
    fn a_tool_names_only_what_its_call_takes() {
        for tool in TOOLS {
            let call = tool.call();
            let known = call.fields();
            for (name, ..) in tool.fields.iter().chain([&WORKSPACE]) {
                assert!(known.contains(&(*name).to_owned()), "{} has no `{name}`", call.name);
            }
            assert!(tool.required.iter().all(|it| tool.fields.iter().any(|(name, ..)| name == it)), "{}", call.name);
        }
    }

    /// The call reads a value of each type; another type or an unknown word is refused.
    #[test]
    fn each_field_is_of_the_type_that_the_call_reads() {
        for tool in TOOLS {
            for (name, ty, _) in tool.fields {
                for value in values(*ty) {
                    let mut arguments: Map<String, Value> =
                        tool.required.iter().map(|it| ((*it).to_owned(), sample(tool, it))).collect();
                    arguments.insert((*name).to_owned(), value.clone());
                    let read = tool.call().from_arguments(arguments);
                    assert!(read.is_ok(), "{} {name} {value}: {:?}", tool.call().name, read.err());
                }
            }
        }
    }

    fn sample(tool: &Tool, name: &str) -> Value {
        let field = tool.fields.iter().find(|(it, ..)| *it == name).unwrap();
        values(field.1).remove(0)
    }

    fn values(ty: Type) -> Vec<Value> {
        match ty {
            Text => vec![json!("a")],
            Integer => vec![json!(1000)],
            Boolean => vec![json!(true)],
            Word(words) => words.iter().map(|it| json!(it)).collect(),
            Texts => vec![json!([]), json!(["a"])],
            List(fields) => {
                let items =
                    fields.iter().flat_map(|(name, ty, _)| values(*ty).into_iter().map(move |it| json!({*name: it})));
                items.map(|it| json!([it])).collect()
            }
        }
    }
}
