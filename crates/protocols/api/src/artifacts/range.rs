//! Range requests (RFC 9110, sections 13 and 14): one range, or everything. A request for several ranges gets everything, as the section
//! allows.

use http::HeaderMap;
use http::header::{IF_NONE_MATCH, IF_RANGE, RANGE};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Whole,
    /// From the first up to, and not with, the last.
    Part(u64, u64),
    /// There are no such bytes.
    Beyond,
    /// The reader has them.
    Nothing,
}

pub(super) fn wanted(headers: &HeaderMap, etag: &str, len: u64) -> Wanted {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    if text(IF_NONE_MATCH).is_some_and(|tags| matches(tags, etag)) {
        return Wanted::Nothing;
    }
    // Of something else than the reader has a part of, it needs the whole.
    if text(IF_RANGE).is_some_and(|tag| tag.trim() != etag) {
        return Wanted::Whole;
    }
    text(RANGE).map_or(Wanted::Whole, |range| part(range, len))
}

fn matches(tags: &str, etag: &str) -> bool {
    tags.split(',').map(str::trim).any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
}

/// A range that cannot be read is as good as none.
fn part(range: &str, len: u64) -> Wanted {
    let Some((first, last)) = range.trim().strip_prefix("bytes=").and_then(|range| range.split_once('-')) else {
        return Wanted::Whole;
    };
    let number = |text: &str| text.trim().parse::<u64>().ok();
    match (first.trim().is_empty(), number(first), last.trim().is_empty(), number(last)) {
        (true, _, false, Some(0)) => Wanted::Beyond,
        (true, _, false, Some(_)) if len == 0 => Wanted::Beyond,
        (true, _, false, Some(suffix)) => Wanted::Part(len.saturating_sub(suffix), len),
        (false, Some(first), true, _) if first < len => Wanted::Part(first, len),
        (false, Some(first), false, Some(last)) if first > last => Wanted::Whole,
        (false, Some(first), false, Some(last)) if first < len => Wanted::Part(first, last.saturating_add(1).min(len)),
        (false, Some(_), true, _) | (false, Some(_), false, Some(_)) => Wanted::Beyond,
        _ => Wanted::Whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(headers: &[(http::HeaderName, &str)]) -> Wanted {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(name, value.parse().expect("a header"));
        }
        wanted(&map, "\"a\"", 10)
    }

    #[test]
    fn one_range_is_understood_and_the_rest_is_the_whole() {
        for (range, expected) in [
            ("bytes=0-3", Wanted::Part(0, 4)),
            ("bytes=4-", Wanted::Part(4, 10)),
            ("bytes=-3", Wanted::Part(7, 10)),
            ("bytes=-30", Wanted::Part(0, 10)),
            ("bytes=8-99999999999999999999", Wanted::Whole),
            ("bytes=8-18446744073709551615", Wanted::Part(8, 10)),
            ("bytes=10-", Wanted::Beyond),
            ("bytes=10-12", Wanted::Beyond),
            ("bytes=-0", Wanted::Beyond),
            ("bytes=3-1", Wanted::Whole),
            ("bytes=0-1,3-4", Wanted::Whole),
            ("lines=1-2", Wanted::Whole),
            ("bytes=-", Wanted::Whole),
            ("", Wanted::Whole),
        ] {
            assert_eq!(asked(&[(RANGE, range)]), expected, "{range}");
        }
    }

    #[test]
    fn what_the_reader_has_is_not_sent_and_a_part_of_another_is_no_part() {
        assert_eq!(asked(&[(IF_NONE_MATCH, "\"b\", W/\"a\"")]), Wanted::Nothing);
        assert_eq!(asked(&[(IF_NONE_MATCH, "*")]), Wanted::Nothing);
        assert_eq!(asked(&[(IF_NONE_MATCH, "\"b\"")]), Wanted::Whole);
        assert_eq!(asked(&[(RANGE, "bytes=1-"), (IF_RANGE, "\"a\"")]), Wanted::Part(1, 10));
        assert_eq!(asked(&[(RANGE, "bytes=1-"), (IF_RANGE, "\"b\"")]), Wanted::Whole);
    }
}
