//! Fuzz target of cursors: what a reply gave goes on there, whatever else is refused.

use proptest::prelude::any;

use super::fit::{Part, next_cursor, positions};
use crate::fuzz::{fuzz, mutated};

const CURSORS: &[&str] = &["c1-20", "c2-20.3", "c3-0.0.18446744073709551615", "before-01J0000000000000000000000"];
const SIGNS: &[&str] = &["c", "1", "2", "-", ".", "+", "0", "99999999999999999999", "before-", "٣"];

#[test]
fn fuzz_cursors() {
    let given = (any::<(usize, usize)>(), any::<(usize, usize)>());
    fuzz("cursors", (mutated(CURSORS, SIGNS), given), |(cursor, (a, b))| {
        // Whatever comes, nothing but positions comes of it.
        let _ = positions::<1>(Some(&cursor));
        let _ = positions::<2>(Some(&cursor));
        let _ = positions::<3>(Some(&cursor));
        let parts = [a, b].map(|(from, total)| Part::after(from, total));
        for part in parts {
            part.lines("a\nb\n");
        }
        if let Some(cursor) = next_cursor(&parts) {
            assert_eq!(positions::<2>(Some(&cursor)).unwrap(), parts.map(|it| it.from + it.count));
        }
    });
}
