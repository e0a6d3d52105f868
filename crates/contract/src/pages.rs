//! Pages of replies about changes. A change cannot be repeated to read the next page, so its reply is kept for a while
//! under an id that its cursors carry. The crate `ops` keeps it.

use super::budget::{Part, foreign_cursor, next_cursor, positions};
use semdex_model::Result;

/// Which ranges of the lists of a reply are in the page, and the id under which the whole reply is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Pages<const N: usize> {
    id: Option<String>,
    /// The heading of the whole reply. A page may show none of what is broken, and must not deny it.
    head: Option<String>,
    pub(super) parts: [Part; N],
}

impl<const N: usize> Pages<N> {
    /// The whole of lists of these lengths, kept under an id.
    pub(super) fn kept(id: &str, lengths: [usize; N]) -> Pages<N> {
        Pages { id: Some(id.to_owned()), head: None, parts: lengths.map(|it| Part::after(0, it)) }
    }

    /// The same with the heading of the whole reply.
    pub(super) fn headed(self, head: String) -> Pages<N> {
        Pages { head: Some(head), ..self }
    }

    /// The heading of the whole reply. None if the reply is not kept.
    pub(super) fn head(&self) -> Option<&str> {
        self.head.as_deref()
    }

    /// Continues lists of these lengths at a cursor, and returns the positions.
    pub(super) fn resume(&mut self, cursor: &str, lengths: [usize; N]) -> Result<[usize; N]> {
        let from = positions_in::<N>(cursor)?;
        self.parts = std::array::from_fn(|at| Part::after(from[at], lengths[at]));
        Ok(self.parts.map(|it| it.from))
    }

    pub(super) fn next_cursor(&self) -> Option<String> {
        let cursor = next_cursor(&self.parts)?;
        Some(format!("{cursor}{NAMED}{}", self.id.as_deref()?))
    }
}

impl<const N: usize> Default for Pages<N> {
    fn default() -> Self {
        Pages { id: None, head: None, parts: [Part::default(); N] }
    }
}

/// Separates the positions of a cursor from the id of the kept reply.
const NAMED: char = '@';

/// The id of the kept reply that a cursor continues.
pub fn kept_under(cursor: &str) -> Result<&str> {
    cursor.split_once(NAMED).map(|it| it.1).ok_or_else(|| foreign_cursor(cursor))
}

fn positions_in<const N: usize>(cursor: &str) -> Result<[usize; N]> {
    positions(cursor.split(NAMED).next()).map_err(|_| foreign_cursor(cursor))
}

/// A reply whose pages all have the heading of the whole.
pub(crate) trait Headed {
    fn heading(&self) -> String;
}

/// A reply that is kept so that a client can read its next pages.
pub trait Kept: Sized {
    /// Sets the id under which the whole reply is kept. Its cursors carry the id.
    fn keep_under(&mut self, id: &str);

    /// The rest of the reply after a cursor.
    fn after(self, cursor: &str) -> Result<Self>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_names_the_reply_that_it_continues() {
        let parts = [Part { from: 1, count: 2, total: 9, is_limited: false }];
        let pages = Pages { id: Some("01X".to_owned()), head: None, parts };
        let cursor = pages.next_cursor().unwrap();
        assert_eq!(cursor, "c1-3@01X");
        assert_eq!(kept_under(&cursor).unwrap(), "01X");
        assert_eq!(positions_in::<1>(&cursor).unwrap(), [3]);
        assert!(kept_under("c1-3").is_err() && positions_in::<2>(&cursor).is_err());
    }
}
