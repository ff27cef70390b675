//! Canonical JSON (JSON Canonicalization Scheme, RFC 8785): one spelling for a value, so that a signature over it can be verified.
//!
//! Numbers are doubles there: one that no double holds is spelled as the nearest that one does.

use std::cmp::Ordering;
use std::fmt::Write as _;

use interlingua_model::Json;
use interlingua_model::json::{BadJson, Problem, Reader, Spelling, spell};

/// The canonical bytes of a value that was checked.
pub fn canonical(json: &Json) -> Result<Vec<u8>, BadJson> {
    let mut out = Vec::with_capacity(json.as_bytes().len());
    spell::<Jcs>(&mut Reader::of(json), &mut out)?;
    Ok(out)
}

struct Jcs;

impl Spelling for Jcs {
    fn number(text: &str, out: &mut Vec<u8>) -> Result<(), Problem> {
        out.extend_from_slice(number(text).ok_or(Problem::BadNumber)?.as_bytes());
        Ok(())
    }

    /// Only what must be escaped is, the shortest way (section 3.2.2.2).
    fn string(text: &str, out: &mut Vec<u8>) {
        out.push(b'"');
        for byte in text.bytes() {
            match byte {
                b'"' => out.extend_from_slice(b"\\\""),
                b'\\' => out.extend_from_slice(b"\\\\"),
                0x08 => out.extend_from_slice(b"\\b"),
                b'\t' => out.extend_from_slice(b"\\t"),
                b'\n' => out.extend_from_slice(b"\\n"),
                0x0c => out.extend_from_slice(b"\\f"),
                b'\r' => out.extend_from_slice(b"\\r"),
                control @ ..0x20 => out.extend_from_slice(format!("\\u{control:04x}").as_bytes()),
                byte => out.push(byte),
            }
        }
        out.push(b'"');
    }

    /// By the code units that names have in UTF-16 (section 3.2.3).
    fn order(one: &str, other: &str) -> Ordering {
        one.encode_utf16().cmp(other.encode_utf16())
    }
}

/// As ECMAScript spells a double (section 3.2.2.3); `None` for one beyond all doubles.
fn number(spelled: &str) -> Option<String> {
    let value: f64 = spelled.parse().ok().filter(|value: &f64| value.is_finite())?;
    if value == 0.0 {
        return Some("0".to_owned());
    }
    let (digits, exponent) = shortest(value.abs())?;
    let (count, point) = (i32::try_from(digits.len()).ok()?, exponent + 1);
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or_default());
    let mut out = String::from(if value < 0.0 { "-" } else { "" });
    if count <= point && point <= 21 {
        out.push_str(&digits);
        out.push_str(&zeros(point - count));
    } else if 0 < point && point <= 21 {
        let (whole, rest) = digits.split_at_checked(usize::try_from(point).ok()?)?;
        let _ = write!(out, "{whole}.{rest}");
    } else if -6 < point && point <= 0 {
        let _ = write!(out, "0.{}{digits}", zeros(-point));
    } else {
        let (first, rest) = digits.split_at_checked(1)?;
        let dot = if rest.is_empty() { "" } else { "." };
        let _ = write!(out, "{first}{dot}{rest}e{}{}", if exponent < 0 { "-" } else { "+" }, exponent.abs());
    }
    Some(out)
}

/// The fewest digits that are this number, and its exponent. Of two that are as near, the even one (appendix B, note 2).
fn shortest(value: f64) -> Option<(String, i32)> {
    let split = |text: String| -> Option<(String, i32)> {
        let (mantissa, exponent) = text.split_once('e')?;
        Some((mantissa.replace('.', ""), exponent.parse().ok()?))
    };
    let (digits, exponent) = split(format!("{value:e}"))?;
    let (exact, place) = split(format!("{value:.*e}", digits.len() + 20))?;
    let (lower, rest) = exact.split_at_checked(digits.len())?;
    let between = place == exponent && rest.starts_with('5') && rest[1..].bytes().all(|digit| digit == b'0');
    let even = lower.bytes().last().is_some_and(|digit| digit % 2 == 0);
    let point = exponent + 1 - i32::try_from(digits.len()).ok()?;
    let same = || format!("{lower}e{point}").parse() == Ok(value);
    Some(if between && even && same() { (lower.to_owned(), exponent) } else { (digits, exponent) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str) -> String {
        let json = Json::parse(json.to_owned().into()).expect("JSON");
        String::from_utf8(canonical(&json).expect("it has a form")).expect("UTF-8")
    }

    /// The example of section 3.2.2, and the order of section 3.2.3.
    #[test]
    fn a_41_the_examples_of_rfc_8785_hold() {
        let source = r#"{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],
            "string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}"#;
        let expected = r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#;
        assert_eq!(of(source), expected);
        let source = r#"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}"#;
        let keys: Vec<String> =
            of(source).split("\":\"").map(|part| part.rsplit('"').next().unwrap_or("").to_owned()).collect();
        assert_eq!(keys[..7], ["\\r", "1", "\u{80}", "ö", "€", "😀", "\u{fb33}"]);
    }

    /// Appendix B.
    #[test]
    fn a_41_numbers_are_spelled_as_in_appendix_b() {
        for (bits, spelled) in [
            (0x0000_0000_0000_0000_u64, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        ] {
            assert_eq!(number(&format!("{:e}", f64::from_bits(bits))).as_deref(), Some(spelled));
        }
        assert_eq!(number("1e999"), None);
    }
}
