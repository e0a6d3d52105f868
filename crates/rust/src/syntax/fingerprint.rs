//! Fingerprints of contents: 128-bit hashes, so that equal fingerprints mean equal contents without a comparison.

use std::hash::{Hash, Hasher};

/// Equal for equal contents; for other contents equal only by chance, with a probability of 2^-128.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Fingerprint([u8; 16]);

impl Fingerprint {
    pub(crate) fn of(value: impl Hash) -> Fingerprint {
        let mut fingerprinter = Fingerprinter::default();
        value.hash(&mut fingerprinter);
        fingerprinter.fingerprint()
    }
}

/// Computes the fingerprint of contents that implement `Hash`.
#[derive(Debug, Default)]
pub(crate) struct Fingerprinter(blake3::Hasher);

impl Fingerprinter {
    /// The fingerprint of everything that was hashed so far.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        let mut bytes = [0; 16];
        self.0.finalize_xof().fill(&mut bytes);
        Fingerprint(bytes)
    }

    /// Whether nothing was hashed.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.count() == 0
    }
}

impl Hasher for Fingerprinter {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Half of the fingerprint, as the trait requires.
    fn finish(&self) -> u64 {
        let Fingerprint(bytes) = self.fingerprint();
        u64::from_le_bytes(std::array::from_fn(|at| bytes[at]))
    }
}
