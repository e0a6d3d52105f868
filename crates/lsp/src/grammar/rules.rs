//! The declarations of each language, as node kinds of its grammar.

use super::{Bodies, Grammar};
use semdex_model::SymbolKind::{
    self, Const, Enum, Field, Function, Interface, Macro, Method, Module, Struct, Trait, Type, Union, Variable, Variant,
};

/// A node kind that declares something.
#[derive(Debug)]
pub(crate) struct Rule {
    pub node: &'static str,
    pub kind: SymbolKind,
    pub name: Name,
    /// The field with the body, which is collapsed or searched for further declarations.
    pub body: Option<&'static str>,
    /// Whether it only counts outside of functions.
    pub outside: bool,
}

/// Where the name of a declaration is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    Field(&'static str),
    /// At the end of C's declarators.
    Declarator,
    /// In this field of each child of this kind.
    Each(&'static str, &'static str),
    /// The first child of this kind.
    Child(&'static str),
}

const NAME: Name = Name::Field("name");

const fn rule(node: &'static str, kind: SymbolKind, body: &'static str) -> Rule {
    Rule { node, kind, name: NAME, body: Some(body), outside: false }
}

const fn plain(node: &'static str, kind: SymbolKind, name: Name) -> Rule {
    Rule { node, kind, name, body: None, outside: true }
}

const PYTHON: &[Rule] = &[
    rule("class_definition", Struct, "body"),
    rule("function_definition", Function, "body"),
    plain("assignment", Variable, Name::Field("left")),
    plain("type_alias_statement", Type, Name::Field("left")),
];

const SCRIPT: &[Rule] = &[
    rule("function_declaration", Function, "body"),
    rule("generator_function_declaration", Function, "body"),
    rule("function_signature", Function, "body"),
    rule("class_declaration", Struct, "body"),
    rule("abstract_class_declaration", Struct, "body"),
    rule("interface_declaration", Interface, "body"),
    rule("enum_declaration", Enum, "body"),
    rule("type_alias_declaration", Type, "body"),
    rule("internal_module", Module, "body"),
    rule("module", Module, "body"),
    rule("method_definition", Method, "body"),
    rule("method_signature", Method, "body"),
    rule("abstract_method_signature", Method, "body"),
    rule("variable_declarator", Variable, "value"),
    plain("public_field_definition", Field, NAME),
    plain("field_definition", Field, Name::Field("property")),
    plain("property_signature", Field, NAME),
    plain("enum_assignment", Variant, NAME),
];

const C: &[Rule] = &[
    Rule { node: "function_definition", kind: Function, name: Name::Declarator, body: Some("body"), outside: false },
    plain("declaration", Variable, Name::Declarator),
    plain("field_declaration", Field, Name::Declarator),
    plain("type_definition", Type, Name::Declarator),
    rule("struct_specifier", Struct, "body"),
    rule("class_specifier", Struct, "body"),
    rule("union_specifier", Union, "body"),
    rule("enum_specifier", Enum, "body"),
    rule("namespace_definition", Module, "body"),
    rule("concept_definition", Trait, "body"),
    plain("alias_declaration", Type, NAME),
    plain("enumerator", Variant, NAME),
    plain("preproc_def", Macro, NAME),
    plain("preproc_function_def", Macro, NAME),
];

const JAVA: &[Rule] = &[
    rule("class_declaration", Struct, "body"),
    rule("record_declaration", Struct, "body"),
    rule("interface_declaration", Interface, "body"),
    rule("annotation_type_declaration", Interface, "body"),
    rule("enum_declaration", Enum, "body"),
    rule("method_declaration", Method, "body"),
    rule("constructor_declaration", Method, "body"),
    plain("field_declaration", Field, Name::Each("variable_declarator", "name")),
    plain("constant_declaration", Const, Name::Each("variable_declarator", "name")),
    plain("enum_constant", Variant, NAME),
];

const C_SHARP: &[Rule] = &[
    rule("class_declaration", Struct, "body"),
    rule("struct_declaration", Struct, "body"),
    rule("record_declaration", Struct, "body"),
    rule("interface_declaration", Interface, "body"),
    rule("enum_declaration", Enum, "body"),
    rule("namespace_declaration", Module, "body"),
    rule("method_declaration", Method, "body"),
    rule("constructor_declaration", Method, "body"),
    rule("delegate_declaration", Type, "body"),
    plain("property_declaration", Field, NAME),
    plain("enum_member_declaration", Variant, NAME),
    plain("variable_declarator", Field, NAME),
];

const RUBY: &[Rule] = &[
    rule("class", Struct, "body"),
    rule("module", Module, "body"),
    rule("method", Method, "body"),
    rule("singleton_method", Method, "body"),
    plain("assignment", Const, Name::Field("left")),
];

const PHP: &[Rule] = &[
    rule("class_declaration", Struct, "body"),
    rule("interface_declaration", Interface, "body"),
    rule("trait_declaration", Trait, "body"),
    rule("enum_declaration", Enum, "body"),
    rule("function_definition", Function, "body"),
    rule("method_declaration", Method, "body"),
    plain("property_element", Field, NAME),
    plain("const_element", Const, Name::Child("name")),
    plain("enum_case", Variant, NAME),
];

const BASH: &[Rule] = &[rule("function_definition", Function, "body"), plain("variable_assignment", Variable, NAME)];

static TSX: Grammar = Grammar {
    parsing: || tree_sitter_typescript::LANGUAGE_TSX.into(),
    rules: SCRIPT,
    bodies: Bodies::Braces,
    other: None,
    has_errors: true,
};

static CPP_GRAMMAR: Grammar = Grammar {
    parsing: || tree_sitter_cpp::LANGUAGE.into(),
    rules: C,
    bodies: Bodies::Braces,
    other: None,
    has_errors: false,
};

macro_rules! grammars {
    ($($name:literal: $parsing:path, $rules:expr, $bodies:ident, $other:expr, $has_errors:literal;)*) => {
        pub(crate) fn of(language: &str) -> Option<&'static Grammar> {
            match language {
                $($name => {
                    static GRAMMAR: Grammar = Grammar {
                        parsing: || $parsing.into(),
                        rules: $rules,
                        bodies: Bodies::$bodies,
                        other: $other,
                        has_errors: $has_errors,
                    };
                    Some(&GRAMMAR)
                })*
                _ => None,
            }
        }
    };
}

grammars! {
    "python": tree_sitter_python::LANGUAGE, PYTHON, Python, None, true;
    "typescript": tree_sitter_typescript::LANGUAGE_TYPESCRIPT, SCRIPT, Braces, Some(&TSX), true;
    "javascript": tree_sitter_javascript::LANGUAGE, SCRIPT, Braces, None, true;
    "c": tree_sitter_c::LANGUAGE, C, Braces, Some(&CPP_GRAMMAR), false;
    "cpp": tree_sitter_cpp::LANGUAGE, C, Braces, None, false;
    "java": tree_sitter_java::LANGUAGE, JAVA, Braces, None, true;
    "csharp": tree_sitter_c_sharp::LANGUAGE, C_SHARP, Braces, None, true;
    "ruby": tree_sitter_ruby::LANGUAGE, RUBY, Ruby, None, true;
    "php": tree_sitter_php::LANGUAGE_PHP, PHP, Braces, None, true;
    "bash": tree_sitter_bash::LANGUAGE, BASH, Shell, None, true;
}
