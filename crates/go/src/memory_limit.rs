//! The soft limit on the memory of a Go process (`GOMEMLIMIT`), and what a live heap needs.

/// A lower limit only makes a process slow: a small workspace needs as much.
const LEAST: u64 = 548 << 20;

/// The soft limit on a process's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryLimit {
    /// From the configuration.
    Configured(u64),
    /// From the user's environment; `None` if only `GOGC` is set.
    Inherited(Option<u64>),
    /// From the free memory; `None` if that is unknown.
    OfFree(Option<u64>),
}

impl MemoryLimit {
    /// The limit of a process that may use the memory that is free.
    pub(crate) fn new(configured: Option<u64>, variable: impl Fn(&str) -> Option<String>, free: Option<u64>) -> Self {
        if let Some(bytes) = configured {
            return MemoryLimit::Configured(bytes);
        }
        match (variable("GOMEMLIMIT"), variable("GOGC")) {
            (None, None) => MemoryLimit::OfFree(free.map(limit_of)),
            (limit, _) => MemoryLimit::Inherited(limit.as_deref().and_then(size)),
        }
    }

    /// The environment variable for the limit, in addition to the user's.
    pub(crate) fn variable(self) -> Option<(&'static str, String)> {
        match self {
            MemoryLimit::Configured(bytes) | MemoryLimit::OfFree(Some(bytes)) => {
                Some(("GOMEMLIMIT", bytes.to_string()))
            }
            MemoryLimit::Inherited(_) | MemoryLimit::OfFree(None) => None,
        }
    }

    pub(crate) fn bytes(self) -> Option<u64> {
        match self {
            MemoryLimit::Configured(bytes) => Some(bytes),
            MemoryLimit::Inherited(bytes) | MemoryLimit::OfFree(bytes) => bytes,
        }
    }

    /// What to do if the limit is too low.
    pub(crate) fn advice(self) -> &'static str {
        match self {
            MemoryLimit::Configured(_) => "raise `[go] memory_limit`",
            MemoryLimit::Inherited(_) => "raise `GOMEMLIMIT`, or set `[go] memory_limit`",
            MemoryLimit::OfFree(_) => "free memory, set `[go] memory_limit`, or open a smaller workspace",
        }
    }
}

/// The limit for a process that may use this much: a quarter remains for other processes and for what the limit does
/// not count.
fn limit_of(free: u64) -> u64 {
    (free / 4 * 3).max(LEAST)
}

/// The memory that a live heap needs, so that collections are not too frequent.
pub(crate) fn needed(live: u64) -> u64 {
    live.saturating_add(live / 2)
}

/// A size in the notation of `GOMEMLIMIT`; `None` without a limit.
fn size(text: &str) -> Option<u64> {
    let number = text.strip_suffix('B').unwrap_or(text);
    let units = [("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40)];
    let unit = units.iter().find_map(|(unit, shift)| Some((number.strip_suffix(unit)?, *shift)));
    let (number, shift) = unit.unwrap_or((number, 0));
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configured_limit_precedes_the_environment_and_the_free_memory() {
        let of = |configured, set: &[(&str, &str)], free| {
            let variable = |name: &str| set.iter().find(|it| it.0 == name).map(|it| it.1.to_owned());
            MemoryLimit::new(configured, variable, free)
        };
        let (small, large) = (1 << 30, 8 << 30);
        let limit = |bytes: u64| Some(("GOMEMLIMIT", bytes.to_string()));
        assert_eq!(of(Some(small), &[("GOMEMLIMIT", "2GiB")], Some(large)).variable(), limit(small));
        assert_eq!(of(None, &[("GOMEMLIMIT", "2GiB")], Some(large)), MemoryLimit::Inherited(Some(2 << 30)));
        assert_eq!(of(None, &[("GOMEMLIMIT", "2GiB")], Some(large)).variable(), None);
        assert_eq!(of(None, &[("GOGC", "50")], Some(large)), MemoryLimit::Inherited(None));
        assert_eq!(of(None, &[], Some(large)).variable(), limit(6 << 30));
        assert_eq!(of(None, &[], Some(1 << 20)).variable(), limit(LEAST));
        assert_eq!(of(None, &[], None).variable(), None);
    }

    #[test]
    fn sizes_are_read_like_go_reads_them() {
        assert_eq!(["5", "5B", "3KiB", "3MiB", "3GiB"].map(size), [5, 5, 3 << 10, 3 << 20, 3 << 30].map(Some));
        assert_eq!(["off", "", "3GB", "x"].map(size), [None; 4]);
    }
}
