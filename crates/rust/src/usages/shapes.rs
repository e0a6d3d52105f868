//! How a name is used at a place that could not be resolved, as far as its syntax shows.

use ra_ap_hir::Semantics;
use ra_ap_ide::RootDatabase;
use ra_ap_syntax::ast::HasArgList;
use ra_ap_syntax::{AstNode as _, Direction, SyntaxElement, SyntaxKind, SyntaxNode, SyntaxToken, T, ast};

use crate::syntax::attributes::attributes_of;
use crate::syntax::is_read_by_tools;

/// How a name is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `x.name(…)`, with the number of arguments if it is certain.
    MethodCall(Option<usize>),
    /// `x.name` without a call.
    FieldAccess,
    /// `name: …` or `name` in a struct's expression or pattern.
    RecordField,
    /// `name!`.
    MacroCall,
    /// In a `use` or `extern crate`.
    Import,
    /// A segment of a path.
    Segment {
        /// What precedes it, up to the `::`.
        qualifier: Qualifier,
        /// Nothing follows it in the path.
        is_last: bool,
        what: PathUse,
    },
    /// The name of a new item.
    Declaration(SyntaxKind),
    /// What names no symbol: the variable of a macro (`$name`), and a part of the pattern of a macro's rule, or of an
    /// attribute of the language in a macro (`#[cfg(…)]`).
    NoName,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Qualifier {
    None,
    /// As text: the path before `::`, if it is one.
    Some(Option<ast::Path>),
}

/// What a whole path is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathUse {
    /// It is called with so many arguments, if that is certain.
    Call(Option<usize>),
    Value,
    Type,
    Pattern,
    Record,
    Attribute,
    Other,
}

/// Where the code around a place is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Around {
    /// Where it is written.
    Code,
    /// In the input of a macro or attribute.
    MacroInput,
    /// In the definition of a macro.
    MacroDefinition { is_exported: bool },
}

/// What the syntax of a place shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Site {
    pub(crate) around: Around,
    /// All uses that the name has there. Empty if its use is unknown.
    pub(crate) shapes: Vec<Shape>,
}

/// What the syntax around a token shows. `sema` expands macros, if the file is in one crate only.
pub(crate) fn site(sema: Option<&Semantics<'_, RootDatabase>>, token: &SyntaxToken) -> Site {
    let trees: Vec<SyntaxNode> =
        token.parent_ancestors().take_while(|it| it.kind() == SyntaxKind::TOKEN_TREE).collect();
    if let Some(outer) = trees.last() {
        if trees.iter().any(is_language_attribute) {
            return Site { around: Around::MacroInput, shapes: vec![Shape::NoName] };
        }
        let definition = outer.parent().and_then(ast::Macro::cast);
        let Some(definition) = definition else {
            return Site { around: Around::MacroInput, shapes: expanded(sema, token) };
        };
        let is_exported = match &definition {
            ast::Macro::MacroRules(it) => attributes(it.syntax()).any(|it| it.contains("macro_export")),
            ast::Macro::MacroDef(_) => true,
        };
        let shapes = match definition {
            ast::Macro::MacroRules(_) => in_rule(token, &trees),
            ast::Macro::MacroDef(_) => Vec::new(),
        };
        return Site { around: Around::MacroDefinition { is_exported }, shapes };
    }
    if !is_as_written(token) {
        return Site { around: Around::MacroInput, shapes: expanded(sema, token) };
    }
    Site { around: Around::Code, shapes: token.parent().map(|it| shapes_of(&it)).unwrap_or_default() }
}

/// Whether no attribute around a token may change the code.
fn is_as_written(token: &SyntaxToken) -> bool {
    // Attributes of these belong to the macros of the item around them.
    let is_part = |it: &SyntaxNode| {
        use SyntaxKind::{GENERIC_PARAM_LIST, MATCH_ARM, PARAM, RECORD_FIELD, SELF_PARAM, TUPLE_FIELD, VARIANT};
        matches!(it.kind(), GENERIC_PARAM_LIST | MATCH_ARM | PARAM | RECORD_FIELD | SELF_PARAM | TUPLE_FIELD | VARIANT)
    };
    token.parent_ancestors().filter(|it| !is_part(it)).all(|it| attributes(&it).all(|it| leaves_code(&it)))
}

/// The attributes of a node, each as the text between its brackets.
pub(crate) fn attributes(node: &SyntaxNode) -> impl Iterator<Item = String> {
    attributes_of(node).map(|it| {
        let text = it.syntax().text().to_string();
        let inner = text.trim_start_matches(['#', '!', ' ', '\n']).trim_start_matches('[');
        inner.strip_suffix(']').unwrap_or(inner).trim().to_owned()
    })
}

/// Whether an attribute leaves its item as it is written. The output of a derive is next to the item.
pub(crate) fn leaves_code(attribute: &str) -> bool {
    if let Some(conditional) = attribute.strip_prefix("cfg_attr") {
        let inner = conditional.trim().trim_start_matches('(').trim_end_matches(')');
        let mut depth = 0;
        let is_between = |it: char| {
            match it {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth -= 1,
                _ => {}
            }
            it == ',' && depth == 0
        };
        let mut parts = inner.split(is_between).map(str::trim).filter(|it| !it.is_empty());
        let _condition = parts.next();
        return parts.all(leaves_code);
    }
    attribute.starts_with("derive(") || is_read_by_tools(attribute)
}

/// The uses of a token in the output of the macros around it. None if it may also be used in another way.
fn expanded(sema: Option<&Semantics<'_, RootDatabase>>, token: &SyntaxToken) -> Vec<Shape> {
    let Some(sema) = sema else { return Vec::new() };
    let mut shapes = Vec::new();
    for made in sema.descend_into_macros_exact(token.clone()) {
        let Some(parent) = made.parent().filter(|_| made != *token) else { return Vec::new() };
        if parent.kind() == SyntaxKind::TOKEN_TREE {
            return Vec::new();
        }
        let of_made = shapes_of(&parent);
        if of_made.is_empty() {
            return Vec::new();
        }
        shapes.extend(of_made);
    }
    shapes
}

/// The uses of a name in parsed code.
fn shapes_of(name: &SyntaxNode) -> Vec<Shape> {
    let Some(parent) = name.parent() else { return Vec::new() };
    if name.kind() == SyntaxKind::NAME {
        return match parent.kind() {
            SyntaxKind::IDENT_PAT => {
                let pattern = Shape::Segment { qualifier: Qualifier::None, is_last: true, what: PathUse::Pattern };
                let is_field = parent.parent().is_some_and(|it| it.kind() == SyntaxKind::RECORD_PAT_FIELD);
                if is_field { vec![Shape::RecordField, pattern] } else { vec![pattern] }
            }
            kind if ast::Item::can_cast(kind) => vec![Shape::Declaration(kind)],
            _ => Vec::new(),
        };
    }
    if name.kind() != SyntaxKind::NAME_REF {
        return Vec::new();
    }
    match parent.kind() {
        SyntaxKind::METHOD_CALL_EXPR => vec![Shape::MethodCall(arguments(ast::MethodCallExpr::cast(parent)))],
        SyntaxKind::FIELD_EXPR => vec![Shape::FieldAccess],
        SyntaxKind::RECORD_EXPR_FIELD | SyntaxKind::RECORD_PAT_FIELD => vec![Shape::RecordField],
        SyntaxKind::EXTERN_CRATE => vec![Shape::Import],
        SyntaxKind::PATH_SEGMENT => ast::PathSegment::cast(parent).map(|it| of_segment(&it)).unwrap_or_default(),
        _ => Vec::new(),
    }
}

fn of_segment(segment: &ast::PathSegment) -> Vec<Shape> {
    let path = segment.parent_path();
    let top = path.top_path();
    let Some(around) = top.syntax().parent() else { return Vec::new() };
    if top.syntax().ancestors().any(|it| ast::UseTree::can_cast(it.kind())) {
        return vec![Shape::Import];
    }
    let is_last = path == top;
    let qualifier = match path.qualifier() {
        Some(it) => Qualifier::Some(Some(it)),
        None if segment.coloncolon_token().is_some() => Qualifier::Some(None),
        None => Qualifier::None,
    };
    let what = match around.kind() {
        SyntaxKind::MACRO_CALL if is_last => return vec![Shape::MacroCall],
        SyntaxKind::PATH_TYPE => PathUse::Type,
        SyntaxKind::RECORD_EXPR | SyntaxKind::RECORD_PAT => PathUse::Record,
        SyntaxKind::PATH_PAT | SyntaxKind::TUPLE_STRUCT_PAT => PathUse::Pattern,
        kind if ast::Meta::can_cast(kind) => PathUse::Attribute,
        SyntaxKind::PATH_EXPR => match around.parent().and_then(ast::CallExpr::cast) {
            Some(call) if call.expr().is_some_and(|it| *it.syntax() == around) => PathUse::Call(arguments(Some(call))),
            _ => PathUse::Value,
        },
        _ => PathUse::Other,
    };
    let segment = Shape::Segment { qualifier, is_last, what };
    let is_shorthand = |it: &ast::RecordExprField| it.colon_token().is_none();
    match around.parent().and_then(ast::RecordExprField::cast) {
        Some(field) if is_shorthand(&field) => vec![Shape::RecordField, segment],
        _ => vec![segment],
    }
}

/// The number of arguments of a call. `None` if it depends on attributes or is not written in full.
fn arguments(call: Option<impl HasArgList>) -> Option<usize> {
    let list = call?.arg_list()?;
    let is_whole = list.r_paren_token().is_some()
        && !list.syntax().descendants().any(|it| matches!(it.kind(), SyntaxKind::ERROR | SyntaxKind::ATTR));
    is_whole.then(|| list.args().count())
}

/// The use of a token in a rule of `macro_rules!`. What a rule writes is parsed as code, so its tokens show their use,
/// unless a variable or another macro is next to them. `trees`: the token trees around it, the innermost first.
fn in_rule(token: &SyntaxToken, trees: &[SyntaxNode]) -> Vec<Shape> {
    // The outermost tree contains the rules.
    let [inner @ .., _] = trees else { return Vec::new() };
    let Some(side) = inner.last() else { return Vec::new() };
    if !follows_arrow(side) {
        // It is compared with what the macro is called with, or names a variable.
        return vec![Shape::NoName];
    }
    let before = Neighbors::new(token.clone().into(), Direction::Prev);
    let after = Neighbors::new(token.clone().into(), Direction::Next);
    if before.is(0, "$") {
        return vec![Shape::NoName];
    }
    // What is repeated may have other neighbors.
    let is_edge = |it: &Neighbors| match it.0.len() {
        0 => true,
        1 => it.is(0, ":") || it.is(0, "!"),
        _ => false,
    };
    let in_repetition = trees[0] != *side && is_repetition(&trees[0]);
    if inner[..inner.len() - 1].iter().any(is_input) || in_repetition && (is_edge(&before) || is_edge(&after)) {
        return Vec::new();
    }
    if after.is(0, "!") && !after.is(1, "=") {
        return vec![Shape::MacroCall];
    }
    if after.is(0, "$") {
        return Vec::new();
    }
    if before.is(0, ".") && !before.is(1, ".") {
        return match after.tree(0) {
            Some(arguments) if arguments.first_token().is_some_and(|it| it.kind() == T!['(']) => {
                vec![Shape::MethodCall(count_in(&arguments))]
            }
            None if after.starts_path() => vec![Shape::MethodCall(None)],
            _ => vec![Shape::FieldAccess],
        };
    }
    let keyword = before.token(0).map(|it| it.kind());
    let declares = match keyword {
        Some(T![fn]) => Some(SyntaxKind::FN),
        Some(T![struct]) => Some(SyntaxKind::STRUCT),
        Some(T![enum]) => Some(SyntaxKind::ENUM),
        Some(T![trait]) => Some(SyntaxKind::TRAIT),
        Some(T![mod]) => Some(SyntaxKind::MODULE),
        Some(T![type]) => Some(SyntaxKind::TYPE_ALIAS),
        _ => None,
    };
    if let Some(kind) = declares {
        return vec![Shape::Declaration(kind)];
    }
    let is_qualified = before.starts_path();
    let is_last = !after.starts_path();
    let qualifier = if is_qualified { Qualifier::Some(None) } else { Qualifier::None };
    let in_braces = trees[0] != *side && trees[0].first_token().is_some_and(|it| it.kind() == T!['{']);
    let is_listed = |it: &Neighbors| it.0.is_empty() || it.is(0, ",");
    let may_be_field =
        !is_qualified && (after.is(0, ":") && is_last || in_braces && is_listed(&before) && is_listed(&after));
    // An associated type gets a value in a list of generics.
    let may_be_argument = !is_qualified
        && (before.is(0, "<") || before.is(0, ","))
        && (after.is(0, "=") && !after.is(1, "=") || after.is(0, "<"));
    // A use may begin anywhere before it.
    let is_import = trees.iter().any(|it| it.children_with_tokens().any(|it| it.kind() == T![use]));
    if is_import || may_be_field || may_be_argument {
        return Vec::new();
    }
    if matches!(keyword, Some(T![let] | T![mut] | T![ref]))
        && !is_qualified
        && is_last
        && !before.is(1, "&")
        && !before.is(1, "*")
    {
        let is_called = after.tree(0).is_some();
        let what = PathUse::Pattern;
        return if is_called { Vec::new() } else { vec![Shape::Segment { qualifier, is_last, what }] };
    }
    let what = match after.tree(0) {
        Some(it) if it.first_token().is_some_and(|it| it.kind() == T!['(']) && is_last => {
            // A pattern looks the same, so it is called or matched.
            PathUse::Call(count_in(&it))
        }
        _ => PathUse::Other,
    };
    vec![Shape::Segment { qualifier, is_last, what }]
}

/// Whether a token tree is the right side of a rule.
fn follows_arrow(tree: &SyntaxNode) -> bool {
    let before = Neighbors::new(tree.clone().into(), Direction::Prev);
    before.is(0, "=>") || before.is(0, ">") && before.is(1, "=")
}

/// Whether a token tree is the input of a macro or an attribute.
fn is_input(tree: &SyntaxNode) -> bool {
    let before = Neighbors::new(tree.clone().into(), Direction::Prev);
    let is_named = before.token(0).is_some_and(|it| it.kind().is_any_identifier());
    before.is(0, "!") || is_named && before.is(1, "!") || before.is(0, "#")
}

/// Whether a token tree is the brackets of an attribute that names no symbol, like `#[cfg(…)]` and `#[inline]`.
fn is_language_attribute(tree: &SyntaxNode) -> bool {
    let text = tree.text().to_string();
    let inner = text.trim_start_matches('[').trim_start();
    let is_attribute = Neighbors::new(tree.clone().into(), Direction::Prev).is(0, "#");
    is_attribute && is_read_by_tools(inner) && !inner.starts_with("cfg_attr")
}

/// Whether a token tree is what `$( )` repeats.
fn is_repetition(tree: &SyntaxNode) -> bool {
    Neighbors::new(tree.clone().into(), Direction::Prev).is(0, "$")
}

/// The number of arguments in the parentheses of a call, if only their tokens show it.
fn count_in(tree: &SyntaxNode) -> Option<usize> {
    let inner = tree.children_with_tokens().filter(|it| !is_trivia(it));
    let inner: Vec<SyntaxElement> = inner.collect();
    let [_, arguments @ .., last] = inner.as_slice() else { return None };
    if last.kind() != T![')'] {
        return None;
    }
    let Some(final_one) = arguments.last() else { return Some(0) };
    let text = |it: &SyntaxElement| it.as_token().map(|it| it.text().to_owned()).unwrap_or_default();
    // Generics and closures have commas too; variables may be anything.
    if arguments.iter().any(|it| matches!(text(it).as_str(), "<" | ">" | "|" | "$" | "#")) {
        return None;
    }
    let commas = arguments.iter().filter(|it| text(it) == ",").count();
    Some(if text(final_one) == "," { commas } else { commas + 1 })
}

fn is_trivia(it: &SyntaxElement) -> bool {
    it.as_token().is_some_and(|it| it.kind().is_trivia())
}

/// The next elements of a token tree in one direction, without white space and comments.
struct Neighbors(Vec<SyntaxElement>);

impl Neighbors {
    fn new(from: SyntaxElement, direction: Direction) -> Neighbors {
        let next = |it: &SyntaxElement| match direction {
            Direction::Next => it.next_sibling_or_token(),
            Direction::Prev => it.prev_sibling_or_token(),
        };
        // The tree's own delimiters end it. Other trees are nodes.
        let is_inside =
            |it: &SyntaxElement| !matches!(it.kind(), T!['('] | T![')'] | T!['['] | T![']'] | T!['{'] | T!['}']);
        let all = std::iter::successors(next(&from), next).take_while(is_inside).filter(|it| !is_trivia(it));
        Neighbors(all.take(2).collect())
    }

    fn token(&self, at: usize) -> Option<SyntaxToken> {
        self.0.get(at).and_then(|it| it.as_token().cloned())
    }

    fn is(&self, at: usize, text: &str) -> bool {
        self.token(at).is_some_and(|it| it.text() == text)
    }

    /// Whether `::` is next.
    fn starts_path(&self) -> bool {
        self.is(0, "::") || self.is(0, ":") && self.is(1, ":")
    }

    fn tree(&self, at: usize) -> Option<SyntaxNode> {
        self.0.get(at).and_then(|it| it.as_node().cloned())
    }
}
