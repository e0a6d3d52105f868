//! The parts of a function's body whose types depend on each other only through the names of variables.
//!
//! A statement uses what other statements declare, and types flow between them through the variables that both name.
//! They do not flow through a variable that is declared with an explicit full type, nor through a parameter, an item or
//! `self`. What a statement returns depends on the function's head. If some statements change, or their names change
//! their meaning, only statements with the same variables may be affected, transitively. A statement in a block of
//! another statement is separate, as long as it neither decides the block's type nor is in a closure.
//!
//! A macro is assumed to name only its input, including names in strings, and to declare nothing. This is assumed only
//! for macros with the names of the standard library's. If a changed or dependent statement contains another macro, the
//! whole body is invalidated; likewise if items within the body differ, or it cannot be parsed.

use std::collections::{BTreeSet, HashMap};

use ra_ap_syntax::{
    AstNode as _, AstToken as _, Edition, NodeOrToken, SyntaxElement, SyntaxKind, SyntaxNode, SyntaxToken, ast,
};

use super::arguments::{is_declared_in_full, may_be_local};
use crate::syntax::positions::span;
use semdex_model::Span;
use semdex_text::words::words;

/// Macros that name variables only in their input, and declare nothing.
const PLAIN_MACROS: &[&str] = &[
    "assert",
    "assert_eq",
    "assert_ne",
    "cfg",
    "column",
    "concat",
    "dbg",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "env",
    "eprint",
    "eprintln",
    "file",
    "format",
    "format_args",
    "include_bytes",
    "include_str",
    "line",
    "matches",
    "module_path",
    "option_env",
    "panic",
    "print",
    "println",
    "stringify",
    "todo",
    "unimplemented",
    "unreachable",
    "vec",
    "write",
    "writeln",
];

/// Prefix with which a body is parsed.
const HEAD: &str = "fn f() ";

/// Represents the value of a `loop` or labelled block among the names of variables.
const BROKEN_OFF: &str = "break";

/// Parts of a body, each after the part that contains it.
pub(crate) struct Statements(Vec<Statement>);

#[derive(Default)]
struct Statement {
    /// The part that contains it, and the index of the block in that part.
    within: Option<(usize, usize)>,
    blocks: usize,
    /// Its tokens, without those in its blocks.
    tokens: Vec<(Span, String)>,
    /// Names that may be variables of other parts.
    named: BTreeSet<String>,
    /// Variables that are declared here.
    declared: BTreeSet<String>,
    /// The declared variables without an explicit full type.
    inferred: BTreeSet<String>,
    holds_items: bool,
    /// A macro in it may do anything.
    is_opaque: bool,
}

/// For each range of a body after a change the corresponding range before it, if it keeps its meaning; `None` if
/// everything may have changed. Text outside all ranges names nothing.
pub(crate) fn unchanged(before: &str, after: &str) -> Option<Vec<(Option<Span>, Span)>> {
    let (old, new) = (Statements::read(before)?, Statements::read(after)?);
    let partners = partners(&old.0, &new.0);
    let mut is_stale = vec![true; old.0.len()];
    partners.iter().flatten().for_each(|it| is_stale[*it] = false);
    let came = new.0.iter().zip(&partners).filter(|it| it.1.is_none()).map(|it| it.0);
    old.spread(&mut is_stale, came, &new.inferred())?;
    let mut stretches = Vec::new();
    for (statement, partner) in new.0.iter().zip(&partners) {
        match partner.filter(|it| !is_stale[*it]) {
            Some(partner) => join(&mut stretches, &old.0[partner].tokens, &statement.tokens),
            None => stretches.extend(statement.runs(after).map(|it| (None, it))),
        }
    }
    stretches.sort_unstable_by_key(|it| it.1);
    Some(stretches)
}

/// The statements before a change that correspond to those after it.
fn partners(old: &[Statement], new: &[Statement]) -> Vec<Option<usize>> {
    let is_same_text = |a: &Statement, b: &Statement| {
        a.tokens.len() == b.tokens.len() && a.tokens.iter().zip(&b.tokens).all(|(a, b)| a.1 == b.1)
    };
    let both = old.len().min(new.len());
    let first =
        (0..both).take_while(|&it| is_same_text(&old[it], &new[it]) && old[it].within == new[it].within).count();
    let last = (1..=both - first).take_while(|&it| is_same_text(&old[old.len() - it], &new[new.len() - it])).count();
    // A single changed statement still has the same blocks.
    let is_one = old.len() == new.len() && first + last + 1 == old.len();
    let place = |it: usize| match it {
        _ if it < first || is_one && it == first => Some(it),
        _ if it >= new.len() - last => Some(it + old.len() - new.len()),
        _ => None,
    };
    let mut stays = vec![false; new.len()];
    let mut partners = Vec::with_capacity(new.len());
    for (at, statement) in new.iter().enumerate() {
        let is_same_place = |partner: &usize| match (old[*partner].within, statement.within) {
            (Some(a), Some(b)) => stays[b.0] && place(b.0) == Some(a.0) && a.1 == b.1,
            (a, b) => a == b,
        };
        let partner = place(at).filter(is_same_place);
        stays[at] = partner.is_some();
        partners.push(partner.filter(|it| !(is_one && *it == first)));
    }
    partners
}

/// Ranges of two texts that are identical token by token.
fn join(stretches: &mut Vec<(Option<Span>, Span)>, old: &[(Span, String)], new: &[(Span, String)]) {
    let mut open: Option<(Span, Span)> = None;
    for ((old, _), (new, _)) in old.iter().zip(new) {
        open = match open {
            Some((a, b)) if old.start - a.end == new.start - b.end && a.end == old.start => {
                Some((Span::new(a.start, old.end), Span::new(b.start, new.end)))
            }
            other => {
                stretches.extend(other.map(|it| (Some(it.0), it.1)));
                Some((*old, *new))
            }
        };
    }
    stretches.extend(open.map(|it| (Some(it.0), it.1)));
}

impl Statements {
    /// `None` if the body cannot be parsed.
    pub(crate) fn read(body: &str) -> Option<Statements> {
        let parsed = ast::SourceFile::parse(&format!("{HEAD}{body}"), Edition::CURRENT);
        if !parsed.errors().is_empty() {
            return None;
        }
        let block = parsed.tree().syntax().children().find_map(ast::Fn::cast)?.body()?;
        let mut statements = Statements(vec![Statement::default()]);
        statements.take(block.syntax().clone().into(), 0);
        Some(statements)
    }

    /// What may change its meaning together with the name at an offset of the body; `None` for the whole body.
    pub(crate) fn dependents(&self, body: &str, at: usize) -> Option<Vec<Span>> {
        // In a comment it is not a name.
        let holds = |it: &Statement| it.tokens.iter().any(|it| it.0.contains(at));
        let mut is_stale: Vec<bool> = self.0.iter().map(holds).collect();
        self.spread(&mut is_stale, [].iter(), &BTreeSet::new())?;
        let stale = self.0.iter().zip(is_stale).filter(|it| it.1);
        Some(stale.flat_map(|it| it.0.runs(body)).collect())
    }

    fn inferred(&self) -> BTreeSet<String> {
        self.0.iter().flat_map(|it| it.inferred.iter().cloned()).collect()
    }

    /// Marks what depends on invalidated statements, which include `came`: statements that this body does not contain.
    fn spread<'a>(
        &'a self,
        is_stale: &mut [bool],
        came: impl Iterator<Item = &'a Statement>,
        inferred: &BTreeSet<String>,
    ) -> Option<()> {
        let inferred: BTreeSet<String> = self.inferred().union(inferred).cloned().collect();
        // Bodies may have very many statements, so each name is followed once.
        let mut with_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, statement) in self.0.iter().enumerate() {
            for name in statement.named.union(&statement.declared) {
                with_name.entry(name).or_default().push(at);
            }
        }
        let mut waiting: Vec<&Statement> =
            came.chain(self.0.iter().zip(&*is_stale).filter(|it| *it.1).map(|it| it.0)).collect();
        let mut is_any_reached = false;
        while let Some(statement) = waiting.pop() {
            if statement.holds_items || statement.is_opaque {
                return None;
            }
            let inferred_here = statement.named.iter().filter(|it| inferred.contains(*it));
            for name in statement.declared.iter().chain(inferred_here) {
                is_any_reached = true;
                for at in with_name.remove(&**name).into_iter().flatten() {
                    if !std::mem::replace(&mut is_stale[at], true) {
                        waiting.push(&self.0[at]);
                    }
                }
            }
        }
        // A macro that may do anything depends on every name.
        if is_any_reached && self.0.iter().any(|it| it.is_opaque) {
            return None;
        }
        Some(())
    }

    fn take(&mut self, element: SyntaxElement, statement: usize) {
        let node = match element {
            NodeOrToken::Token(token) => return self.0[statement].take(&token),
            NodeOrToken::Node(node) => node,
        };
        let own = &mut self.0[statement];
        own.holds_items |= ast::Item::can_cast(node.kind()) && !ast::MacroCall::can_cast(node.kind());
        own.is_opaque |= ast::MacroCall::cast(node.clone()).is_some_and(|it| !is_plain_macro(&it));
        if is_broken_off(&node) {
            own.named.insert(BROKEN_OFF.to_owned());
            own.inferred.insert(BROKEN_OFF.to_owned());
        }
        match ast::StmtList::cast(node.clone()).filter(is_open) {
            Some(list) => self.take_block(&list, statement),
            None => node.children_with_tokens().for_each(|it| self.take(it, statement)),
        }
    }

    /// The value of a block belongs to the statement that contains it, except in the function's own block; its other
    /// statements are separate.
    fn take_block(&mut self, list: &ast::StmtList, statement: usize) {
        let number = self.0[statement].blocks;
        self.0[statement].blocks += 1;
        let is_own = |it: &SyntaxElement| match it {
            NodeOrToken::Token(_) => true,
            NodeOrToken::Node(it) => statement != 0 && !ast::Stmt::can_cast(it.kind()),
        };
        for child in list.syntax().children_with_tokens() {
            let statement = match is_own(&child) {
                true => statement,
                false => {
                    self.0.push(Statement { within: Some((statement, number)), ..Statement::default() });
                    self.0.len() - 1
                }
            };
            self.take(child, statement);
        }
    }
}

impl Statement {
    /// Its ranges in the text of the body.
    fn runs(&self, body: &str) -> impl Iterator<Item = Span> {
        let is_next = |a: &(Span, String), b: &(Span, String)| body[a.0.end..b.0.start].trim().is_empty();
        self.tokens.chunk_by(is_next).filter_map(|it| Some(Span::new(it.first()?.0.start, it.last()?.0.end)))
    }

    fn take(&mut self, token: &SyntaxToken) {
        let is_doc = || ast::Comment::cast(token.clone()).is_some_and(|it| it.is_doc());
        if token.kind().is_trivia() && !is_doc() {
            return;
        }
        let at = span(token.text_range());
        self.tokens.push((Span::new(at.start - HEAD.len(), at.end - HEAD.len()), token.text().to_owned()));
        if may_be_local(token) {
            let words: Vec<String> = words(token.text()).map(|it| it.1.to_owned()).collect();
            let mut calls = token.parent_ancestors().filter_map(ast::MacroCall::cast);
            if calls.any(|it| !is_plain_macro(&it)) {
                self.declared.extend(words.iter().cloned());
                self.inferred.extend(words.iter().cloned());
            }
            self.named.extend(words);
        }
        let name = token.parent().filter(|it| ast::Name::can_cast(it.kind())).and_then(|it| it.parent());
        let Some(pattern) = name.and_then(ast::IdentPat::cast) else { return };
        let text = token.text().trim_start_matches("r#");
        // The only constant that is written like a variable in many patterns.
        if text == "None" {
            return;
        }
        self.declared.insert(text.to_owned());
        if !is_declared_in_full(&pattern) {
            self.inferred.insert(text.to_owned());
        }
    }
}

fn is_plain_macro(call: &ast::MacroCall) -> bool {
    let name = call.path().and_then(|it| it.as_single_name_ref());
    name.is_some_and(|it| PLAIN_MACROS.contains(&it.text()))
}

/// Whether a `break` decides the type of this loop or labelled block, or this is such a `break`.
fn is_broken_off(node: &SyntaxNode) -> bool {
    let is_labelled = || ast::BlockExpr::cast(node.clone()).is_some_and(|it| it.label().is_some());
    let has_value = || ast::BreakExpr::cast(node.clone()).is_some_and(|it| it.expr().is_some());
    ast::LoopExpr::can_cast(node.kind()) || is_labelled() || has_value()
}

/// Whether other code depends on the statements of a block only through their variables.
fn is_open(list: &ast::StmtList) -> bool {
    use SyntaxKind::{
        BLOCK_EXPR, CLOSURE_EXPR, EXPR_STMT, FN, FOR_EXPR, IF_EXPR, LET_ELSE, LOOP_EXPR, MATCH_ARM, MATCH_ARM_LIST,
        MATCH_EXPR, STMT_LIST, WHILE_EXPR,
    };
    if list.syntax().children().any(|it| ast::Attr::can_cast(it.kind())) {
        return false;
    }
    // A `return` in these decides their type.
    let is_closed = |it: &SyntaxNode| match ast::BlockExpr::cast(it.clone()) {
        Some(block) => block
            .modifier()
            .is_some_and(|it| !matches!(it, ast::BlockModifier::Unsafe(_) | ast::BlockModifier::Label(_))),
        None => it.kind() == CLOSURE_EXPR,
    };
    let around = || list.syntax().ancestors().skip(1);
    if around().any(|it| is_closed(&it)) || around().filter(|it| ast::Item::can_cast(it.kind())).count() != 1 {
        return false;
    }
    if list.tail_expr().is_some() {
        return true;
    }
    // A block without a value has another type if its end is not reached.
    let mut node = list.syntax().clone();
    while let Some(parent) = node.parent() {
        match parent.kind() {
            FN | EXPR_STMT | LET_ELSE | FOR_EXPR | LOOP_EXPR | WHILE_EXPR => return true,
            BLOCK_EXPR | STMT_LIST | MATCH_ARM | MATCH_ARM_LIST | IF_EXPR => {}
            MATCH_EXPR if node.kind() == MATCH_ARM_LIST => {}
            _ => return false,
        }
        node = parent;
    }
    false
}
