//! The id of each request, in the log, in problems and in the header of its reply: the client's own, or a generated
//! one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use axum::http::{HeaderMap, HeaderName, HeaderValue};

pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-request-id");
/// A longer id of a client is ignored.
const LONGEST: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestId(Arc<str>);

impl RequestId {
    /// The id that the client sent, if it has only plain characters; else a new one.
    pub(crate) fn of(headers: &HeaderMap) -> RequestId {
        let given = headers.get(HEADER).and_then(|it| it.to_str().ok());
        let plain = |it: &&str| {
            (1..=LONGEST).contains(&it.len())
                && it.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.'))
        };
        given.filter(plain).map_or_else(RequestId::new, |it| RequestId(it.into()))
    }

    fn new() -> RequestId {
        /// Distinguishes processes.
        static PROCESS: LazyLock<u32> = LazyLock::new(|| {
            let mut random = [0; 4];
            let _ = getrandom::fill(&mut random);
            u32::from_ne_bytes(random)
        });
        static REQUESTS: AtomicU64 = AtomicU64::new(1);
        RequestId(format!("{:08x}-{:x}", *PROCESS, REQUESTS.fetch_add(1, Ordering::Relaxed)).into())
    }

    pub(crate) fn shared(&self) -> Arc<str> {
        self.0.clone()
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn header(&self) -> HeaderValue {
        HeaderValue::from_str(&self.0).unwrap_or_else(|_| HeaderValue::from_static(""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_of_the_clients_is_taken_where_it_is_plain() {
        let of = |given: &str| {
            let headers = HeaderMap::from_iter([(HEADER, HeaderValue::from_str(given).unwrap())]);
            RequestId::of(&headers).as_str().to_owned()
        };
        assert_eq!(of("01JD8M2Q-a.b_c"), "01JD8M2Q-a.b_c");
        for odd in ["", "a b", "a=\"b\"", &"x".repeat(65)] {
            assert_ne!(of(odd), odd);
        }
        assert_ne!(RequestId::of(&HeaderMap::new()), RequestId::of(&HeaderMap::new()));
    }
}
