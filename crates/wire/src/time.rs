//! Time formats of other programs.

use interlingua_model::{Text, Time};

/// ISO 8601 in UTC as Python writes it: six digits of a second, or none when they are all zero, and `+00:00`.
pub fn stamp(now: Time) -> Text {
    let millis = i64::try_from(now.0).unwrap_or(i64::MAX);
    let Ok(at) = jiff::Timestamp::from_millisecond(millis) else { return "".into() };
    let text = if now.0.is_multiple_of(1000) { format!("{at:.0}") } else { format!("{at:.6}") };
    text.replace('Z', "+00:00").into()
}
