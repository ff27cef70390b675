//! Percent-encoding of text as one component of a URL (RFC 3986, section 2.1): everything but the unreserved characters is escaped.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Characters that are escaped in a component.
pub const RESERVED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The text with everything but letters, digits, `-`, `.`, `_` and `~` escaped.
pub fn encoded(text: &str) -> String {
    utf8_percent_encode(text, &RESERVED).to_string()
}

/// `None` for a broken escape, or a text that is not UTF-8: the library would keep the one and replace the other.
pub fn decoded(text: &str) -> Option<String> {
    let is_whole = |after: &str| after.as_bytes().get(..2).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit));
    let plain = text.split('%').skip(1).all(is_whole).then(|| percent_decode_str(text))?;
    plain.decode_utf8().ok().map(Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::{decoded, encoded};

    #[test]
    fn what_could_end_a_component_or_begin_another_is_escaped() {
        assert_eq!(encoded("a-Z_0.9~"), "a-Z_0.9~");
        assert_eq!(encoded("a/b?c=d&e#f %é"), "a%2Fb%3Fc%3Dd%26e%23f%20%25%C3%A9");
    }

    #[test]
    fn a_broken_escape_is_no_text() {
        assert_eq!(decoded("a%2fb+%C3%a9").as_deref(), Some("a/b+é"));
        for bad in ["%", "%2", "%2%41", "%%41", "%zz", "%+f", "%ff", "a%é"] {
            assert_eq!(decoded(bad), None, "{bad}");
        }
    }
}
