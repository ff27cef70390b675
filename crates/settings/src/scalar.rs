//! Values written with a unit: sizes (`64MiB`), spans of time (`300s`, `24h`, `30d`) and rates (`200/s`).

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer};

/// A number of bytes. `KiB`, `MiB`, `GiB` and `TiB` count by 1024; `kB`, `MB`, `GB` and `TB` by 1000; without a unit, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

/// A span of time: `ms`, `s`, `m`, `h`, `d` or `w`; without a unit, seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub Duration);

/// A rate: a count for each `s`, `m` or `h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    pub count: u32,
    pub per: Duration,
}

/// A rate in bytes for each `s`, `m` or `h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    pub bytes: u64,
    pub per: Duration,
}

impl Size {
    pub const fn mib(count: u64) -> Size {
        Size(count << 20)
    }

    pub const fn gib(count: u64) -> Size {
        Size(count << 30)
    }

    /// As a length in memory; a size beyond what this machine can address is that bound.
    pub fn bytes(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }

    fn parse(text: &str) -> Option<Size> {
        let (number, unit) = split(text);
        let unit = match unit {
            "" | "B" => 1,
            "kB" | "KB" => 1000,
            "MB" => 1_000_000,
            "GB" => 1_000_000_000,
            "TB" => 1_000_000_000_000,
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            "TiB" => 1 << 40,
            _ => return None,
        };
        number.parse::<u64>().ok()?.checked_mul(unit).map(Size)
    }
}

impl Span {
    pub const fn seconds(count: u64) -> Span {
        Span(Duration::from_secs(count))
    }

    pub const fn hours(count: u64) -> Span {
        Span::seconds(count * 3600)
    }

    pub const fn days(count: u64) -> Span {
        Span::hours(count * 24)
    }

    pub fn parse(text: &str) -> Option<Span> {
        let (number, unit) = split(text);
        let millis = match unit {
            "ms" => 1,
            "" | "s" => 1000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            "w" => 604_800_000,
            _ => return None,
        };
        number.parse::<u64>().ok()?.checked_mul(millis).map(|total| Span(Duration::from_millis(total)))
    }
}

impl Rate {
    pub const fn per_second(count: u32) -> Rate {
        Rate { count, per: Duration::from_secs(1) }
    }

    fn parse(text: &str) -> Option<Rate> {
        let (count, per) = text.split_once('/')?;
        let count = count.trim().parse().ok().filter(|count| *count > 0)?;
        Some(Rate { count, per: unit(per)? })
    }
}

impl Flow {
    fn parse(text: &str) -> Option<Flow> {
        let (bytes, per) = text.split_once('/')?;
        let bytes = Size::parse(bytes).map(|size| size.0).filter(|bytes| *bytes > 0)?;
        Some(Flow { bytes, per: unit(per)? })
    }
}

/// The span that a letter stands for.
fn unit(letter: &str) -> Option<Duration> {
    match letter.trim() {
        "s" => Some(Duration::from_secs(1)),
        "m" => Some(Duration::from_secs(60)),
        "h" => Some(Duration::from_secs(3600)),
        _ => None,
    }
}

fn letter(unit: Duration) -> &'static str {
    match unit.as_secs() {
        60 => "m",
        3600 => "h",
        _ => "s",
    }
}

/// The digits, and what follows them.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")]
            .into_iter()
            .find(|(shift, _)| self.0 != 0 && self.0.trailing_zeros() >= *shift);
        match unit {
            Some((shift, name)) => write!(f, "{}{name}", self.0 >> shift),
            None => write!(f, "{}", self.0),
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_millis();
        let unit = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1000, "s")]
            .into_iter()
            .find(|(unit, _)| millis != 0 && millis.is_multiple_of(*unit));
        match unit {
            Some((unit, name)) => write!(f, "{}{name}", millis / unit),
            None => write!(f, "{millis}ms"),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.count, letter(self.per))
    }
}

impl fmt::Display for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", Size(self.bytes), letter(self.per))
    }
}

/// A text, or a number without a unit.
struct Written(&'static str);

impl Visitor<'_> for Written {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_str<E>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }

    fn visit_u64<E>(self, number: u64) -> Result<String, E> {
        Ok(number.to_string())
    }
}

macro_rules! scalar {
    ($name:ident, $expected:literal, $pattern:literal) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                let text = d.deserialize_any(Written($expected))?;
                $name::parse(&text).ok_or_else(|| serde::de::Error::custom(concat!("expected ", $expected)))
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": ["string", "integer"], "pattern": $pattern })
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }
    };
}

scalar!(Size, "a size, such as `64MiB`", r"^[0-9]+ ?(B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)?$");
scalar!(Span, "a span of time, such as `300s`, `24h` or `30d`", r"^[0-9]+ ?(ms|s|m|h|d|w)?$");
scalar!(Rate, "a rate, such as `200/s`", r"^[0-9]+ ?/ ?(s|m|h)$");
scalar!(Flow, "bytes in a span, such as `10MiB/m`", r"^[0-9]+ ?(B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)? ?/ ?(s|m|h)$");

#[cfg(test)]
mod tests {
    use super::{Flow, Rate, Size, Span};
    use std::time::Duration;

    #[test]
    fn sizes_have_units_by_1024_and_by_1000() {
        assert_eq!(Size::parse("64MiB"), Some(Size(64 * 1024 * 1024)));
        assert_eq!(Size::parse("10 GB"), Some(Size(10_000_000_000)));
        assert_eq!(Size::parse("512"), Some(Size(512)));
        for bad in ["", "MiB", "-1", "1.5MiB", "64mib", "99999999999TiB", "1 Mi B"] {
            assert_eq!(Size::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn spans_of_time_have_units_and_default_to_seconds() {
        assert_eq!(Span::parse("250ms"), Some(Span(Duration::from_millis(250))));
        assert_eq!(Span::parse("300"), Some(Span::seconds(300)));
        assert_eq!(Span::parse("2w"), Some(Span::days(14)));
        for bad in ["", "h", "1y", "-5s", "1h30m"] {
            assert_eq!(Span::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn rates_are_so_many_in_each_unit() {
        assert_eq!(Rate::parse("200/s"), Some(Rate::per_second(200)));
        assert_eq!(Rate::parse("5 / m"), Some(Rate { count: 5, per: Duration::from_secs(60) }));
        for bad in ["200", "0/s", "/s", "5/d", "-1/s"] {
            assert_eq!(Rate::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn flows_are_sizes_in_each_unit() {
        assert_eq!(Flow::parse("1KiB/s"), Some(Flow { bytes: 1024, per: Duration::from_secs(1) }));
        assert_eq!(Flow::parse("10MiB / h").map(|flow| flow.to_string()).as_deref(), Some("10MiB/h"));
        for bad in ["1KiB", "0/s", "/s", "1KiB/d"] {
            assert_eq!(Flow::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_number_of_json_is_read_too() {
        assert_eq!(serde_json::from_str::<Span>("30").unwrap(), Span::seconds(30));
        assert_eq!(serde_json::from_str::<Size>("\"1KiB\"").unwrap(), Size(1024));
        let text = serde_json::from_str::<Span>("true").unwrap_err().to_string();
        assert!(text.contains("a span of time, such as `300s`, `24h` or `30d`"), "{text}");
    }

    #[test]
    fn what_is_shown_is_what_is_read() {
        for text in ["64MiB", "1023", "1KiB", "0"] {
            assert_eq!(Size::parse(text).unwrap().to_string(), text);
        }
        for text in ["300s", "1d", "25h", "7m", "1ms"] {
            let shown = Span::parse(text).unwrap().to_string();
            assert_eq!(Span::parse(&shown), Span::parse(text));
        }
        assert_eq!(Rate::parse("5/m").unwrap().to_string(), "5/m");
    }
}
