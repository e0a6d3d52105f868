//! Fuzzing with the stable compiler: helpers for the fuzz targets of all crates.
//!
//! A target is a test named `fuzz_…` that passes its name, a strategy and a property to [`fuzz`]; the property panics
//! where it does not hold. Targets are in the `fuzz.rs` of the crate or module whose parser they cover. Most use
//! [`mutated`], with some valid texts and the tokens of their language, or [`two_states`] for code that compares two
//! versions.
//!
//! ```text
//! #[test]
//! fn fuzz_trust_files() {
//!     const TEXTS: &[&str] = &[r#"{"/a": {"trusted": true}}"#];
//!     const TOKENS: &[&str] = &["{", "}", "\"trusted\"", "null"];
//!     fuzz("trust_files", mutated(TEXTS, TOKENS), |text| drop(parse(&text)));
//! }
//! ```
//!
//! Under `cargo test`, each target runs for one second from a fixed seed. `make fuzz` runs each for ten minutes from a
//! new seed, by the variables `SEMDEX_FUZZ_SECONDS` and `SEMDEX_FUZZ_SEED`. proptest generates and shrinks the inputs.
//! It keeps the seeds of failures in `fuzz/seeds/`, and every later run tries these first.

use std::fmt::Debug;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::sample::{Index, select};
use proptest::strategy::{BoxedStrategy, Just, Strategy, Union};
use proptest::test_runner::{Config, FileFailurePersistence, RngAlgorithm, TestError, TestRng, TestRunner};

/// How long each target runs, in seconds.
const SECONDS: &str = "SEMDEX_FUZZ_SECONDS";
/// The first random seed.
const SEED: &str = "SEMDEX_FUZZ_SEED";
/// The number of inputs per seed.
const BATCH: u32 = 64;
/// The most time that a property may take for one input, on a loaded machine without optimisation.
const PATIENCE: Duration = Duration::from_secs(20);

/// Checks a property for as many inputs as the time allows. The property panics where it does not hold. A failure
/// prints the seed and the smallest input that was found.
pub fn fuzz<T: Debug>(target: &'static str, strategy: impl Strategy<Value = T>, property: impl Fn(T)) {
    let asked = std::env::var(SECONDS).ok().and_then(|it| it.parse().ok());
    let until = Instant::now() + Duration::from_secs(asked.unwrap_or(1));
    let first = std::env::var(SEED).ok().and_then(|it| it.parse().ok()).unwrap_or_else(|| match asked {
        Some(_) => SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs()),
        None => 0,
    });
    let kept = format!("{}/../../fuzz/seeds/{target}.txt", env!("CARGO_MANIFEST_DIR"));
    let kept: &'static str = kept.leak();
    let mut executions = 0_u64;
    let started = Instant::now();
    for batch in 0.. {
        let mut config = Config { cases: BATCH, max_shrink_iters: 4096, max_shrink_time: 60_000, ..Config::default() };
        config.failure_persistence = Some(Box::new(FileFailurePersistence::Direct(kept)));
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&(first.wrapping_add(batch)).to_le_bytes());
        let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
        let outcome = runner.run(&strategy, |input| {
            let begun = Instant::now();
            property(input);
            assert!(begun.elapsed() < PATIENCE, "took {:?}", begun.elapsed());
            Ok(())
        });
        executions += u64::from(BATCH);
        match outcome {
            Ok(()) => {}
            Err(TestError::Fail(reason, input)) => panic!("{target}: {reason}\n{SEED}={first}, input: {input:#?}"),
            Err(error) => panic!("{target}: {error}"),
        }
        if Instant::now() >= until {
            break;
        }
    }
    eprintln!("fuzz {target}: {executions} executions in {} s, {SEED}={first}", started.elapsed().as_secs());
}

/// One random change of a text.
#[derive(Debug, Clone)]
enum Mutation {
    Insert(Index, String),
    Remove(Index, usize),
    /// Inserts a part of the text elsewhere, this many times.
    Copy(Index, usize, Index, usize),
    Replace(Index, usize, String),
    Truncate(Index),
}

impl Mutation {
    fn apply(&self, text: &str) -> String {
        let at = |index: &Index| {
            let mut at = index.index(text.len() + 1);
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let stretch = |index: &Index, len: usize| {
            let start = at(index);
            let mut end = (start + len).min(text.len());
            while !text.is_char_boundary(end) {
                end += 1;
            }
            (start, end)
        };
        match self {
            Mutation::Insert(index, piece) => [&text[..at(index)], piece, &text[at(index)..]].concat(),
            Mutation::Remove(index, len) => {
                let (start, end) = stretch(index, *len);
                [&text[..start], &text[end..]].concat()
            }
            Mutation::Replace(index, len, piece) => {
                let (start, end) = stretch(index, *len);
                [&text[..start], piece, &text[end..]].concat()
            }
            Mutation::Copy(index, len, to, often) => {
                let (start, end) = stretch(index, *len);
                [&text[..at(to)], &text[start..end].repeat(*often), &text[at(to)..]].concat()
            }
            Mutation::Truncate(index) => text[..at(index)].to_owned(),
        }
    }
}

/// A piece of text: a word of the language, or an unusual character.
fn piece(words: &'static [&'static str]) -> BoxedStrategy<String> {
    Union::new_weighted(vec![
        (8, select(words).prop_map(str::to_owned).boxed()),
        (2, vec(select(words), 2..6).prop_map(|it| it.concat()).boxed()),
        (1, any::<char>().prop_map(String::from).boxed()),
        (
            1,
            select(&["\n", "\r\n", "\r", "\0", "\u{feff}", "\t", " ", "ß", "𝒳", "\u{301}", "\\"][..])
                .prop_map(str::to_owned)
                .boxed(),
        ),
    ])
    .boxed()
}

/// Tokens of JSON, and texts that are almost JSON.
pub const JSON: &[&str] =
    &["{", "}", "[", "]", ":", ",", "\"", "null", "true", "1", "-1", "95.5", "1e400", "\\ud800", "\\u0000"];

/// Concatenates lists of words.
pub fn words_of(lists: &[&[&'static str]]) -> &'static [&'static str] {
    lists.concat().leak()
}

/// Texts that consist only of such words.
pub fn soup(words: &'static [&'static str]) -> BoxedStrategy<String> {
    vec(piece(words), 0..60).prop_map(|it| it.concat()).boxed()
}

/// The given texts with a few random changes. Some results consist only of words.
pub fn mutated(texts: &'static [&'static str], words: &'static [&'static str]) -> BoxedStrategy<String> {
    let len = || Union::new_weighted(vec![(6, (0_usize..8).boxed()), (2, (8_usize..200).boxed())]);
    let index = any::<Index>;
    let mutation = Union::new_weighted(vec![
        (5, (index(), piece(words)).prop_map(|(at, piece)| Mutation::Insert(at, piece)).boxed()),
        (3, (index(), len()).prop_map(|(at, len)| Mutation::Remove(at, len)).boxed()),
        (3, (index(), len(), piece(words)).prop_map(|(at, len, piece)| Mutation::Replace(at, len, piece)).boxed()),
        (
            2,
            (index(), len(), index(), 1_usize..4)
                .prop_map(|(at, len, to, often)| Mutation::Copy(at, len, to, often))
                .boxed(),
        ),
        (1, index().prop_map(Mutation::Truncate).boxed()),
    ]);
    let changed = (select(texts), part(), vec(mutation, 0..8)).prop_map(|(text, part, mutations)| {
        mutations.iter().fold(part.of(text), |text, mutation| mutation.apply(&text))
    });
    Union::new_weighted(vec![(6, changed.boxed()), (1, soup(words))]).boxed()
}

/// Two versions of a text, for what compares or updates.
pub fn two_states(
    texts: &'static [&'static str],
    words: &'static [&'static str],
) -> impl Strategy<Value = (String, String)> {
    let pieces = vec((any::<Index>(), 0_usize..30, piece(words)), 0..5);
    (mutated(texts, words), pieces).prop_map(|(old, pieces)| {
        let change =
            |text: String, (at, len, piece): (Index, usize, String)| Mutation::Replace(at, len, piece).apply(&text);
        let new = pieces.into_iter().fold(old.clone(), change);
        (old, new)
    })
}

/// Some lines of a long text, so that one execution is short.
#[derive(Debug, Clone)]
struct Part(Option<(Index, usize)>);

fn part() -> impl Strategy<Value = Part> {
    let some = (any::<Index>(), 1_usize..80).prop_map(|it| Part(Some(it)));
    Union::new_weighted(vec![(1, Just(Part(None)).boxed()), (5, some.boxed())])
}

impl Part {
    fn of(&self, text: &str) -> String {
        let Some((from, count)) = &self.0 else { return text.to_owned() };
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let from = from.index(lines.len() + 1);
        lines[from..(from + count).min(lines.len())].concat()
    }
}
