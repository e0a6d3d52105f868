//! Stored contents: compressed, each new content against the old one, so that a change takes about as much space as the
//! difference.
//!
//! A common beginning and end of both texts is only counted: eight bytes give its length. The middle follows,
//! compressed with the old text as a dictionary.

use std::io::{self, Read, Write};
use std::iter::zip;
use std::sync::Arc;

use zstd::stream::{read, write};

/// A fast level: an edit waits for it.
const LEVEL: i32 = 1;
/// For a long text without an old one, which takes longest: half the time, for a few bytes more.
const LONG: usize = 64 << 10;
const LEVEL_OF_LONG: i32 = -3;
/// The minimum that zstd accepts.
const LEAST_WINDOW_LOG: u32 = 10;
const HEAD: usize = 8;

/// Compresses a text. `beside` is the text that the reader will have.
pub(crate) fn pack(text: &str, beside: Option<&str>) -> io::Result<Vec<u8>> {
    let (text, beside) = (text.as_bytes(), beside.unwrap_or_default().as_bytes());
    let start = common(text, beside);
    let (text, beside) = (&text[start..], &beside[start..]);
    let end = common_end(text, beside);
    let (text, beside) = (&text[..text.len() - end], &beside[..beside.len() - end]);
    let mut packed = Vec::with_capacity(HEAD + text.len() / 4);
    for length in [start, end] {
        let length = u32::try_from(length).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        packed.extend(length.to_le_bytes());
    }
    let level = if beside.is_empty() && text.len() > LONG { LEVEL_OF_LONG } else { LEVEL };
    let mut encoder = write::Encoder::with_ref_prefix(packed, level, beside)?;
    if !beside.is_empty() {
        // Level 1 alone would not look back far enough to find the parts that stayed the same.
        encoder.window_log((usize::BITS - (text.len() + beside.len()).leading_zeros()).max(LEAST_WINDOW_LOG))?;
        encoder.long_distance_matching(true)?;
    }
    encoder.write_all(text)?;
    encoder.finish()
}

pub(crate) fn unpack(packed: &[u8], beside: Option<&str>) -> io::Result<Arc<str>> {
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "what the journal holds of a file is damaged");
    let beside = beside.unwrap_or_default().as_bytes();
    let (head, packed) = packed.split_at_checked(HEAD).ok_or_else(damaged)?;
    let length = |bytes: &[u8]| bytes.try_into().ok().and_then(|it| usize::try_from(u32::from_le_bytes(it)).ok());
    let start = length(&head[..HEAD / 2]).ok_or_else(damaged)?;
    let end = length(&head[HEAD / 2..]).ok_or_else(damaged)?;
    let middle = beside.get(start..beside.len().saturating_sub(end)).ok_or_else(damaged)?;
    let mut text = beside[..start].to_vec();
    read::Decoder::with_ref_prefix(packed, middle)?.read_to_end(&mut text)?;
    text.extend(&beside[beside.len() - end..]);
    String::from_utf8(text).map(Arc::from).map_err(|_| damaged())
}

fn common(a: &[u8], b: &[u8]) -> usize {
    // Blocks first, because they compare much faster.
    const BLOCK: usize = 4096;
    let blocks = zip(a.chunks_exact(BLOCK), b.chunks_exact(BLOCK)).take_while(|(a, b)| a == b).count() * BLOCK;
    blocks + zip(&a[blocks..], &b[blocks..]).take_while(|(a, b)| a == b).count()
}

fn common_end(a: &[u8], b: &[u8]) -> usize {
    const BLOCK: usize = 4096;
    let blocks = zip(a.rchunks_exact(BLOCK), b.rchunks_exact(BLOCK)).take_while(|(a, b)| a == b).count() * BLOCK;
    let rest = zip(a[..a.len() - blocks].iter().rev(), b[..b.len() - blocks].iter().rev());
    blocks + rest.take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_packed_comes_back() {
        let lines =
            |from: usize, to: usize| (from..to).map(|it| format!("line {it} {}\n", it * it)).collect::<String>();
        let (old, new) = (lines(0, 200_000), format!("{}and more\n", lines(7, 200_000)));
        let once = old.replacen("line 100000 ", "changed ", 1);
        let texts = ["", "a", "aa", "ä", "äö", "aXa", &old[..9000], &old[..8192], &old, &new, &once];
        for text in texts {
            for beside in [None].into_iter().chain(texts.map(Some)) {
                let packed = pack(text, beside).unwrap();
                assert!(&*unpack(&packed, beside).unwrap() == text, "{} beside {:?}", text.len(), beside.map(str::len));
            }
        }
        let size = |text: &str, beside: Option<&str>| pack(text, beside).unwrap().len();
        assert!(
            size(&new, Some(&old)) * 50 < size(&new, None),
            "{} against {}",
            size(&new, Some(&old)),
            size(&new, None)
        );
        assert!(size(&once, Some(&old)) < 100, "{}", size(&once, Some(&old)));
    }

    #[test]
    fn what_is_damaged_is_reported() {
        let packed = pack("one two three", Some("one 2 three")).unwrap();
        for length in 0..packed.len() {
            assert!(unpack(&packed[..length], Some("one 2 three")).is_err(), "{length}");
        }
        assert!(unpack(&packed, Some("one")).is_err());
        assert!(unpack(b"nonsense and more", None).is_err());
    }
}
