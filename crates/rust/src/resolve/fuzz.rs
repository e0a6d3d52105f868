//! Fuzz target of symbol paths as requests write them.

use super::requested::{RequestedPath, bare, fits_end, last_name, segments, split_ordinal, split_qualified};
use semdex_testing::fuzz::{fuzz, mutated};

const PATHS: &[&str] = &[
    "krate::m::Type::f",
    "<krate::m::Type as krate::m::Trait>::f",
    "<Type<A, [u8; 4]> as From<(A, fn() -> B)>>::from~2",
    "<&mut Path as Trait>::f()",
    "mod@a::struct@B::name!",
    "bin@tool::main",
    "Vec::<u8>::with_capacity",
];
const SIGNS: &[&str] = &[
    "::", ":", "<", ">", "->", "(", ")", "[", "]", " as ", "@", "mod@", "fn", "!", "()", "~", "~2", "&", "&mut ", " ",
    ",", "T", "r#", "é", "<T as U>",
];

#[test]
fn fuzz_rust_paths() {
    fuzz("rust_paths", (mutated(PATHS, SIGNS), mutated(PATHS, SIGNS)), |(path, other)| {
        let Ok(written) = RequestedPath::parse(&path) else { return };
        assert!(path.contains(&written.path) && path.contains(bare(&path)));
        for segment in segments(&written.path) {
            assert!(path.contains(segment.name) && path.contains(segment.arguments), "{segment:?}");
        }
        last_name(&path);
        split_ordinal(&path);
        if let Some((ty, of)) = split_qualified(&path) {
            assert!(path.contains(ty) && path.contains(of), "{ty}, {of}");
        }
        fits_end(&path, &other);
        fits_end(&path, bare(&path));
    });
}
