//! Computes the depth of a syntax tree from its tokens, before the tree exists. A tree is as deep as the open brackets
//! and the chains around them: `!!!!x`, `a.b().c()` and `a + b + c` add a level with each link. Each language decides
//! which tokens open, close, link and separate.

/// The brackets and chains that are open at a token. `B` distinguishes kinds of brackets.
#[derive(Debug)]
pub struct Nesting<B> {
    /// Each bracket with the chain around it.
    open: Vec<Open<B>>,
    chain: Chain,
    /// The depth of everything that is open.
    depth: usize,
}

#[derive(Debug)]
struct Open<B> {
    bracket: B,
    weight: usize,
    around: Chain,
}

/// The levels that were nested without a bracket since the last separator.
#[derive(Debug, Default, Clone, Copy)]
struct Chain {
    links: usize,
    /// The number of levels that a separator does not end.
    kept: usize,
}

impl<B> Default for Nesting<B> {
    fn default() -> Nesting<B> {
        Nesting { open: Vec::new(), chain: Chain::default(), depth: 0 }
    }
}

impl<B> Nesting<B> {
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The next token is `levels` below the previous one.
    pub fn link(&mut self, levels: usize) {
        self.chain.links += levels;
        self.depth += levels;
    }

    /// The next token is on the same level as the previous one, except for the links that were kept.
    pub fn separate(&mut self) {
        self.restart(self.chain.kept);
    }

    /// The next token is on the level at which the chain began.
    pub fn end(&mut self) {
        self.restart(0);
    }

    fn restart(&mut self, kept: usize) {
        self.depth -= self.chain.links - kept;
        self.chain = Chain { links: kept, kept };
    }

    /// No separator ends the current links.
    pub fn keep(&mut self) {
        self.chain.kept = self.chain.links;
    }

    /// Opens a bracket that counts as `weight` levels.
    pub fn open(&mut self, bracket: B, weight: usize) {
        self.open.push(Open { bracket, weight, around: std::mem::take(&mut self.chain) });
        self.depth += weight;
    }

    pub fn innermost(&self) -> Option<&B> {
        self.open.last().map(|it| &it.bracket)
    }

    /// The innermost bracket that matches, and the number of brackets that are open around it.
    pub fn find(&self, is_asked: impl Fn(&B) -> bool) -> Option<(usize, &B)> {
        let at = self.open.iter().rposition(|it| is_asked(&it.bracket))?;
        Some((at, &self.open.get(at)?.bracket))
    }

    /// Closes brackets until `count` are open.
    pub fn close_to(&mut self, count: usize) {
        while self.open.len() > count
            && let Some(open) = self.open.pop()
        {
            self.depth -= self.chain.links + open.weight;
            self.chain = open.around;
        }
    }

    /// Closes the innermost bracket.
    pub fn close(&mut self) {
        self.close_to(self.open.len().saturating_sub(1));
    }
}
