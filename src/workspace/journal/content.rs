//! Contents as they are kept: compressed, the new one against the old one, so that a change takes about as much as
//! what is different.

use std::io::{self, Read, Write};
use std::sync::Arc;

use zstd::stream::{read, write};

/// A quick one: an edit waits for it.
const LEVEL: i32 = 1;
/// The least that zstd takes.
const LEAST_WINDOW_LOG: u32 = 10;

/// Compresses a text that whoever reads it will have another text beside.
pub fn pack(text: &str, beside: Option<&str>) -> io::Result<Vec<u8>> {
    let beside = beside.unwrap_or_default();
    let mut encoder = write::Encoder::with_ref_prefix(Vec::new(), LEVEL, beside.as_bytes())?;
    if !beside.is_empty() {
        // Level 1 alone would look back too little to find what stayed the same.
        encoder.window_log((usize::BITS - (text.len() + beside.len()).leading_zeros()).max(LEAST_WINDOW_LOG))?;
        encoder.long_distance_matching(true)?;
    }
    encoder.write_all(text.as_bytes())?;
    encoder.finish()
}

pub fn unpack(packed: &[u8], beside: Option<&str>) -> io::Result<Arc<str>> {
    let mut decoder = read::Decoder::with_ref_prefix(packed, beside.unwrap_or_default().as_bytes())?;
    let mut text = String::new();
    decoder.read_to_string(&mut text)?;
    Ok(Arc::from(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_packed_comes_back() {
        let lines =
            |from: usize, to: usize| (from..to).map(|it| format!("line {it} {}\n", it * it)).collect::<String>();
        let (old, new) = (lines(0, 200_000), format!("{}and more\n", lines(7, 200_000)));
        for (text, beside) in [("", None), ("a", Some("")), ("", Some("a")), (&new, None), (&new, Some(old.as_str()))] {
            let packed = pack(text, beside).unwrap();
            assert_eq!(&*unpack(&packed, beside).unwrap(), text);
        }
        let (alone, beside) = (pack(&new, None).unwrap(), pack(&new, Some(&old)).unwrap());
        assert!(beside.len() * 50 < alone.len(), "{} against {}", beside.len(), alone.len());
        assert!(unpack(b"nonsense", None).is_err());
    }
}
