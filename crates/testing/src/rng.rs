//! A small deterministic generator of texts for randomized tests.

/// A linear congruential generator: a seed gives the same texts on every machine.
pub struct Rng(u64);

impl Rng {
    /// A generator that starts from this seed.
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// A number below `bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }

    /// An element of a non-empty slice.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// At most `longest` characters from an alphabet.
    pub fn text(&mut self, alphabet: &str, longest: usize) -> String {
        let alphabet: Vec<char> = alphabet.chars().collect();
        (0..self.below(longest + 1)).map(|_| *self.pick(&alphabet)).collect()
    }

    /// The text with at most `edits` characters replaced, removed or inserted.
    pub fn perturb(&mut self, text: &str, edits: usize) -> String {
        let mut characters: Vec<char> = text.chars().collect();
        for _ in 0..self.below(edits + 1) {
            let at = self.below(characters.len() + 1);
            match self.below(3) {
                0 => characters.insert(at, 'x'),
                1 if at < characters.len() => characters[at] = 'y',
                _ if at < characters.len() => drop(characters.remove(at)),
                _ => {}
            }
        }
        characters.into_iter().collect()
    }
}
