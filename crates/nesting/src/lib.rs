//! How deep a syntax tree can be, counted by its tokens before there is a tree. A tree is as deep as the brackets that
//! are open and as the chains around them: `!!!!x`, `a.b().c()`, `a + b + c` add a level with each link. Which tokens
//! open, close, link and separate is up to each language.

/// What is open at a token. `B` tells brackets apart.
#[derive(Debug)]
pub struct Nesting<B> {
    /// Each with the chain around it.
    open: Vec<Open<B>>,
    chain: Chain,
    /// Of all that is open.
    depth: usize,
}

#[derive(Debug)]
struct Open<B> {
    bracket: B,
    weight: usize,
    around: Chain,
}

/// What may nest without a bracket, since the last separator.
#[derive(Debug, Default, Clone, Copy)]
struct Chain {
    links: usize,
    /// So many of these a separator does not end.
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

    /// What comes next is so many levels below what came before.
    pub fn link(&mut self, levels: usize) {
        self.chain.links += levels;
        self.depth += levels;
    }

    /// What comes next stands beside what came before, but for the links that were kept.
    pub fn separate(&mut self) {
        self.restart(self.chain.kept);
    }

    /// What comes next stands beside all of the chain.
    pub fn end(&mut self) {
        self.restart(0);
    }

    fn restart(&mut self, kept: usize) {
        self.depth -= self.chain.links - kept;
        self.chain = Chain { links: kept, kept };
    }

    /// No separator ends the links so far.
    pub fn keep(&mut self) {
        self.chain.kept = self.chain.links;
    }

    /// Opens a bracket that counts so many levels by itself.
    pub fn open(&mut self, bracket: B, weight: usize) {
        self.open.push(Open { bracket, weight, around: std::mem::take(&mut self.chain) });
        self.depth += weight;
    }

    pub fn innermost(&self) -> Option<&B> {
        self.open.last().map(|it| &it.bracket)
    }

    /// The innermost bracket of those asked for, and how many are open around it.
    pub fn find(&self, is_asked: impl Fn(&B) -> bool) -> Option<(usize, &B)> {
        let at = self.open.iter().rposition(|it| is_asked(&it.bracket))?;
        Some((at, &self.open.get(at)?.bracket))
    }

    /// Closes brackets until so many are open.
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
