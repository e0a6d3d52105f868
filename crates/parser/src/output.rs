//! The output of the parser: the real one, or one error that contains all tokens of a refused input.

use std::sync::atomic::{AtomicUsize, Ordering};

use real::{Step, SyntaxKind};

use crate::Input;

/// The message of a refused expansion.
pub const TOO_DEEP: &str = "nested too deeply to be analysed";
/// The message of a macro call that was not matched to its end.
pub const TOO_LONG: &str = "the macro call is too long to be analysed";

static REFUSED: AtomicUsize = AtomicUsize::new(0);

/// The number of inputs since the process started that were nested too deeply.
pub fn refused() -> usize {
    REFUSED.load(Ordering::Relaxed)
}

/// The real output, or the input that was not parsed.
pub struct Output(Parsed);

enum Parsed {
    Real(real::Output),
    Refused(Refused),
}

pub(crate) struct Refused {
    /// The node around the error.
    pub(crate) root: Option<SyntaxKind>,
    tokens: Vec<SyntaxKind>,
}

impl From<real::Output> for Output {
    fn from(parsed: real::Output) -> Output {
        Output(Parsed::Real(parsed))
    }
}

impl Output {
    /// Wraps all tokens into one error, and counts it: where it is may not be found again.
    pub(crate) fn refused(root: Option<SyntaxKind>, input: &Input) -> Output {
        REFUSED.fetch_add(1, Ordering::Relaxed);
        Output::error(root, input, input.len())
    }

    /// Ends the list of a macro call that is too long: an error that takes one token. If it took all, the rest of the
    /// list would become an expression, as a tuple of thousands of parts.
    pub(crate) fn cut(input: &Input) -> Output {
        Output::error(None, input, 1)
    }

    fn error(root: Option<SyntaxKind>, input: &Input, length: usize) -> Output {
        Output(Parsed::Refused(Refused { root, tokens: input.tokens.iter().take(length).map(|it| it.kind).collect() }))
    }

    pub fn iter(&self) -> impl Iterator<Item = Step<'_>> {
        let (real, refused) = match &self.0 {
            Parsed::Real(it) => (Some(it.iter()), None),
            Parsed::Refused(it) => (None, Some(it.iter())),
        };
        real.into_iter().flatten().chain(refused.into_iter().flatten())
    }

    pub(crate) fn as_real(&self) -> Result<&real::Output, &Refused> {
        match &self.0 {
            Parsed::Real(it) => Ok(it),
            Parsed::Refused(it) => Err(it),
        }
    }
}

impl Refused {
    fn iter(&self) -> impl Iterator<Item = Step<'_>> {
        let root = self.root.map(|kind| Step::Enter { kind });
        let begin = [Step::Error { msg: TOO_DEEP }, Step::Enter { kind: SyntaxKind::ERROR }];
        let tokens = self.tokens.iter().map(|&kind| Step::Token { kind, n_input_tokens: 1 });
        let end = self.root.map(|_| Step::Exit);
        root.into_iter().chain(begin).chain(tokens).chain([Step::Exit]).chain(end)
    }
}
