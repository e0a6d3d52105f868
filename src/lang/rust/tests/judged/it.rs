//! A test that names both.

use judged::shapes::{Area, Kind, Square, kind_of};
use judged::user::{Line, grow, made};

#[test]
fn squares() {
    let mut square = Square::new(3);
    assert_eq!(square.grow(1, 1), 1);
    assert_eq!(grow(&mut square), 5);
    assert_eq!(square.area(2), Line.area(14));
    assert!(matches!(kind_of(&made()), Kind::Small));
    assert_eq!(square.clone(), square);
}
