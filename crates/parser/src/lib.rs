//! rust-analyzer's parser, with bounds on the depth of its input and on the repetitions of macros.
//!
//! A stack overflow ends the process. The parser descends by recursion, and so does all code that walks a tree. Files
//! are measured before rust-analyzer receives them. The output of macros is parsed inside rust-analyzer, so this crate
//! replaces its parser. Input that is nested too deeply becomes an error without structure, which ends the expansion, and
//! so does what is left of a macro call that is too long.
//! Everything else is re-exported from the real parser.

mod input;
mod lexed_str;
pub mod nesting;
mod output;
mod repetition;
mod stack;

use std::cell::Cell;
use std::fmt;

use crate::repetition::Fragment;

thread_local! {
    /// Whether the last fragment of a macro call was refused because the call is too long.
    static TOO_MANY: Cell<bool> = const { Cell::new(false) };
}

// Definitions in this file take precedence over glob imports.
pub use real::*;

pub use crate::input::Input;
pub use crate::lexed_str::LexedStr;
pub use crate::output::{Output, TOO_DEEP, TOO_LONG, refused};

/// Like the real type.
#[derive(Debug)]
pub enum TopEntryPoint {
    SourceFile,
    MacroStmts,
    MacroItems,
    Pattern,
    Type,
    Expr,
    MetaItem,
}

impl TopEntryPoint {
    pub fn parse(&self, input: &Input) -> Output {
        let (real, root) = match self {
            TopEntryPoint::SourceFile => (real::TopEntryPoint::SourceFile, Some(SyntaxKind::SOURCE_FILE)),
            TopEntryPoint::MacroStmts => (real::TopEntryPoint::MacroStmts, Some(SyntaxKind::MACRO_STMTS)),
            TopEntryPoint::MacroItems => (real::TopEntryPoint::MacroItems, Some(SyntaxKind::MACRO_ITEMS)),
            TopEntryPoint::Pattern => (real::TopEntryPoint::Pattern, None),
            TopEntryPoint::Type => (real::TopEntryPoint::Type, None),
            TopEntryPoint::Expr => (real::TopEntryPoint::Expr, None),
            TopEntryPoint::MetaItem => (real::TopEntryPoint::MetaItem, None),
        };
        let is_expansion = !matches!(self, TopEntryPoint::SourceFile);
        if input.is_too_deep() || is_expansion && !stack::has_room_for(input.len()) {
            return Output::refused(root, input);
        }
        real.parse(&input.real).into()
    }
}

/// Like the real type.
pub enum PrefixEntryPoint {
    Vis,
    Block,
    Stmt,
    Pat,
    PatTop,
    Ty,
    Expr,
    Path,
    Item,
    MetaItem,
}

impl PrefixEntryPoint {
    /// Input that is nested too deeply is consumed as a whole, so that a caller that parses item after item reaches the
    /// end.
    pub fn parse(&self, input: &Input) -> Output {
        let fragment = repetition::fragment(input);
        TOO_MANY.set(fragment == Fragment::TooMany);
        // The depth of the rest of an input is not greater than that of the whole.
        match fragment {
            Fragment::TooMany => return Output::cut(input),
            Fragment::First if input.is_too_deep() => return Output::refused(None, input),
            Fragment::First | Fragment::Next => {}
        }
        let real = match self {
            PrefixEntryPoint::Vis => real::PrefixEntryPoint::Vis,
            PrefixEntryPoint::Block => real::PrefixEntryPoint::Block,
            PrefixEntryPoint::Stmt => real::PrefixEntryPoint::Stmt,
            PrefixEntryPoint::Pat => real::PrefixEntryPoint::Pat,
            PrefixEntryPoint::PatTop => real::PrefixEntryPoint::PatTop,
            PrefixEntryPoint::Ty => real::PrefixEntryPoint::Ty,
            PrefixEntryPoint::Expr => real::PrefixEntryPoint::Expr,
            PrefixEntryPoint::Path => real::PrefixEntryPoint::Path,
            PrefixEntryPoint::Item => real::PrefixEntryPoint::Item,
            PrefixEntryPoint::MetaItem => real::PrefixEntryPoint::MetaItem,
        };
        real.parse(&input.real).into()
    }
}

/// rust-analyzer prints it into the error of a macro call. There is no other way to tell that the call is too long.
impl fmt::Debug for PrefixEntryPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if TOO_MANY.get() {
            return write!(f, "fewer tokens: {TOO_LONG}");
        }
        f.write_str(match self {
            PrefixEntryPoint::Vis => "Vis",
            PrefixEntryPoint::Block => "Block",
            PrefixEntryPoint::Stmt => "Stmt",
            PrefixEntryPoint::Pat => "Pat",
            PrefixEntryPoint::PatTop => "PatTop",
            PrefixEntryPoint::Ty => "Ty",
            PrefixEntryPoint::Expr => "Expr",
            PrefixEntryPoint::Path => "Path",
            PrefixEntryPoint::Item => "Item",
            PrefixEntryPoint::MetaItem => "MetaItem",
        })
    }
}

/// Like the real type.
pub struct Reparser {
    real: real::Reparser,
    node: SyntaxKind,
}

impl Reparser {
    pub fn for_node(node: SyntaxKind, first_child: Option<SyntaxKind>, parent: Option<SyntaxKind>) -> Option<Reparser> {
        Some(Reparser { real: real::Reparser::for_node(node, first_child, parent)?, node })
    }

    pub fn parse(self, tokens: &Input) -> Output {
        if tokens.is_too_deep() {
            return Output::refused(Some(self.node), tokens);
        }
        self.real.parse(&tokens.real).into()
    }
}
