//! Fingerprints of what a text says: 128 bits, so that equal ones stand for equal contents without comparing these.

use std::hash::{Hash, Hasher};

/// Equal for equal contents; of others equal by chance alone, once in 2^128.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Fingerprint([u8; 16]);

impl Fingerprint {
    pub(crate) fn of(value: impl Hash) -> Fingerprint {
        let mut fingerprinter = Fingerprinter::default();
        value.hash(&mut fingerprinter);
        fingerprinter.fingerprint()
    }
}

/// Takes in contents by their `Hash`.
#[derive(Debug, Default)]
pub(crate) struct Fingerprinter(blake3::Hasher);

impl Fingerprinter {
    /// Of all that was taken in so far.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        let mut bytes = [0; 16];
        self.0.finalize_xof().fill(&mut bytes);
        Fingerprint(bytes)
    }

    /// Whether nothing was taken in.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.count() == 0
    }
}

impl Hasher for Fingerprinter {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The half of the fingerprint, as the trait has it.
    fn finish(&self) -> u64 {
        let Fingerprint(bytes) = self.fingerprint();
        u64::from_le_bytes(std::array::from_fn(|at| bytes[at]))
    }
}
