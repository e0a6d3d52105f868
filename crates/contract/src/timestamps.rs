//! Timestamps in replies.

use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use time::{OffsetDateTime, PrimitiveDateTime};

const FORMAT: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");

/// Formats milliseconds since 1970 as RFC 3339 in UTC: `2026-01-02T03:04:05.678Z`. Times after the year 9999 become the
/// last moment of that year.
pub fn rfc3339(milliseconds: i64) -> String {
    let nanoseconds = i128::from(milliseconds) * 1_000_000;
    let time = OffsetDateTime::from_unix_timestamp_nanos(nanoseconds).unwrap_or(PrimitiveDateTime::MAX.assume_utc());
    time.format(FORMAT).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::rfc3339;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (milliseconds, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_709_251_200_000, "2024-03-01T00:00:00.000Z"),
            (1_795_337_045_678, "2026-11-22T08:44:05.678Z"),
            (4_107_542_399_000, "2100-02-28T23:59:59.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (i64::MAX, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(rfc3339(milliseconds), expected);
        }
    }
}
