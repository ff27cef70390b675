//! A pull reader over bytes. It checks what it passes: grammar (RFC 8259), UTF-8, depth, number of values, duplicate keys (compared after
//! unescaping) and lone surrogates. A value that was checked before is walked without checking it again.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use smallvec::SmallVec;

use super::Json;

/// Deeper input is refused, whatever its size.
pub const DEFAULT_DEPTH: usize = 128;

/// No configuration allows deeper input.
pub const MAX_DEPTH: usize = 1_024;

/// A message of more values is refused, whatever its size: decoded values take many times their bytes. [`set_most_values`] changes the
/// number.
pub const MOST_VALUES: usize = 1_000_000;

/// One bound for the process, whose memory it is about.
static VALUES: AtomicUsize = AtomicUsize::new(MOST_VALUES);

/// How many values a message may have.
pub fn most_values() -> usize {
    VALUES.load(Ordering::Relaxed)
}

/// From the next message on.
pub fn set_most_values(most: usize) {
    VALUES.store(most, Ordering::Relaxed);
}

/// Above this many keys an object's keys are compared by hash instead of one by one.
const FEW_KEYS: usize = 12;

/// What is wrong, and at which byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{problem} at byte {at}")]
pub struct BadJson {
    /// The byte at which the problem was noticed, from 0.
    pub at: usize,
    /// What is wrong.
    pub problem: Problem,
}

/// What can be wrong with JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The bytes are not UTF-8 (RFC 8259 section 8.1).
    #[error("not UTF-8")]
    NotUtf8,
    /// A value is not complete.
    #[error("the input ends too early")]
    Ends,
    /// A byte that the grammar does not allow here.
    #[error("unexpected byte")]
    Unexpected,
    /// More arrays and objects within one another than the reader allows.
    #[error("nested too deeply")]
    TooDeep,
    /// More values than [`most_values`].
    #[error("more than {} values", most_values())]
    TooMany,
    /// Two readers could take different ones, so neither is taken (RFC 8259 section 4).
    #[error("the same key twice in one object")]
    DuplicateKey,
    /// An escape of half a character.
    #[error("half of a surrogate pair")]
    LoneSurrogate,
    /// A backslash with something after it that the grammar does not know.
    #[error("bad escape")]
    BadEscape,
    /// A control character that is not escaped.
    #[error("control character in a string")]
    ControlCharacter,
    /// A number with a leading zero, a lonely sign or no digits.
    #[error("bad number")]
    BadNumber,
    /// Bytes after the end of the value.
    #[error("something follows the value")]
    Trailing,
}

/// The kind of the next value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// Reads one value after another. A clone looks ahead.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Was all of it checked before?
    checked: bool,
    depth: usize,
    /// How many more values may come.
    values: usize,
}

impl<'a> Reader<'a> {
    /// Checks UTF-8 at once (a byte order mark is passed over); `depth` levels of arrays and objects are allowed, and [`most_values`] in
    /// them.
    pub fn new(bytes: &'a [u8], depth: usize) -> Result<Reader<'a>, BadJson> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| BadJson { at: error.valid_up_to(), problem: Problem::NotUtf8 })?;
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Ok(Reader { bytes, at, checked: false, depth, values: most_values() })
    }

    /// Over text without a bound on its size: it was stored, or comes from a document that was bounded as a whole.
    pub(super) fn whatever_its_size(text: &'a [u8]) -> Reader<'a> {
        Reader { bytes: text, at: 0, checked: false, depth: MAX_DEPTH, values: usize::MAX }
    }

    /// Over a value that was checked before.
    pub fn of(json: &'a Json) -> Reader<'a> {
        Reader::written(json.as_bytes())
    }

    /// Over text that this program wrote, or checked.
    pub fn written(text: &'a [u8]) -> Reader<'a> {
        Reader { bytes: text, at: 0, checked: true, depth: usize::MAX, values: usize::MAX }
    }

    /// The position of the reader, in bytes.
    pub fn position(&self) -> usize {
        self.at
    }

    /// A part of the input as text. It is UTF-8: that was checked first, here or when the value came.
    fn text(&self, from: usize, to: usize) -> Result<&'a str, BadJson> {
        std::str::from_utf8(&self.bytes[from..to]).map_err(|_| BadJson { at: from, problem: Problem::NotUtf8 })
    }

    fn bad<T>(&self, problem: Problem) -> Result<T, BadJson> {
        Err(BadJson { at: self.at, problem })
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    fn next_byte(&mut self) -> Result<u8, BadJson> {
        self.space();
        match self.bytes.get(self.at) {
            Some(&byte) => Ok(byte),
            None => self.bad(Problem::Ends),
        }
    }

    fn take(&mut self, byte: u8) -> Result<(), BadJson> {
        if self.next_byte()? != byte {
            return self.bad(Problem::Unexpected);
        }
        self.at += 1;
        Ok(())
    }

    /// The kind of the next value, without passing it.
    pub fn kind(&mut self) -> Result<Kind, BadJson> {
        Ok(match self.next_byte()? {
            b'n' => Kind::Null,
            b't' | b'f' => Kind::Bool,
            b'"' => Kind::String,
            b'[' => Kind::Array,
            b'{' => Kind::Object,
            b'-' | b'0'..=b'9' => Kind::Number,
            _ => return self.bad(Problem::Unexpected),
        })
    }

    /// Nothing but white space may be left.
    pub fn end(&mut self) -> Result<(), BadJson> {
        self.space();
        if self.at < self.bytes.len() { self.bad(Problem::Trailing) } else { Ok(()) }
    }

    /// Calls `each` with every key; it must read exactly one value.
    pub fn object<E: From<BadJson>>(
        &mut self,
        mut each: impl FnMut(Cow<'a, str>, &mut Reader<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.take(b'{')?;
        self.enter()?;
        let mut keys = Keys::default();
        if self.next_byte()? == b'}' {
            self.at += 1;
        } else {
            loop {
                let at = {
                    self.space();
                    self.at
                };
                self.one_more()?;
                let key = self.string()?;
                if !self.checked && !keys.insert(key.clone()) {
                    return Err(BadJson { at, problem: Problem::DuplicateKey }.into());
                }
                self.take(b':')?;
                each(key, self)?;
                if !self.more(b'}')? {
                    break;
                }
            }
        }
        self.depth += 1;
        Ok(())
    }

    /// Calls `each` before every element; it must read exactly one value.
    pub fn array<E: From<BadJson>>(
        &mut self,
        mut each: impl FnMut(usize, &mut Reader<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.take(b'[')?;
        self.enter()?;
        if self.next_byte()? == b']' {
            self.at += 1;
        } else {
            let mut index = 0;
            loop {
                self.one_more()?;
                each(index, self)?;
                index += 1;
                if !self.more(b']')? {
                    break;
                }
            }
        }
        self.depth += 1;
        Ok(())
    }

    fn enter(&mut self) -> Result<(), BadJson> {
        if self.depth == 0 {
            return self.bad(Problem::TooDeep);
        }
        self.depth -= 1;
        Ok(())
    }

    /// Before a value of an array or object.
    fn one_more(&mut self) -> Result<(), BadJson> {
        if self.values == 0 {
            return self.bad(Problem::TooMany);
        }
        self.values -= 1;
        Ok(())
    }

    /// After an element: is there another one?
    fn more(&mut self, close: u8) -> Result<bool, BadJson> {
        let byte = self.next_byte()?;
        if byte != b',' && byte != close {
            return self.bad(Problem::Unexpected);
        }
        self.at += 1;
        Ok(byte == b',')
    }

    /// A string, unescaped; borrowed when it has no escapes.
    pub fn string(&mut self) -> Result<Cow<'a, str>, BadJson> {
        self.take(b'"')?;
        let start = self.at;
        self.plain()?;
        if self.bytes[self.at] == b'"' {
            let text = self.text(start, self.at)?;
            self.at += 1;
            return Ok(Cow::Borrowed(text));
        }
        let mut text = String::from(self.text(start, self.at)?);
        loop {
            match self.bytes[self.at] {
                b'"' => {
                    self.at += 1;
                    return Ok(Cow::Owned(text));
                }
                _ => text.push(self.escape()?),
            }
            let start = self.at;
            self.plain()?;
            text.push_str(self.text(start, self.at)?);
        }
    }

    /// Passes bytes up to a quote or backslash.
    fn plain(&mut self) -> Result<(), BadJson> {
        let rest = &self.bytes[self.at..];
        match rest.iter().position(|&byte| byte == b'"' || byte == b'\\' || byte < 0x20) {
            None => {
                self.at = self.bytes.len();
                self.bad(Problem::Ends)
            }
            Some(offset) => {
                self.at += offset;
                if rest[offset] < 0x20 { self.bad(Problem::ControlCharacter) } else { Ok(()) }
            }
        }
    }

    fn escape(&mut self) -> Result<char, BadJson> {
        let Some(&byte) = self.bytes.get(self.at + 1) else { return self.bad(Problem::Ends) };
        let simple = match byte {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(),
            _ => return self.bad(Problem::BadEscape),
        };
        self.at += 2;
        Ok(simple)
    }

    fn unicode(&mut self) -> Result<char, BadJson> {
        let first = self.hex(self.at + 2)?;
        let (code, length) = match first {
            0xD800..=0xDBFF => {
                let pair = self.bytes.get(self.at + 6..self.at + 8) == Some(b"\\u");
                let second = if pair { self.hex(self.at + 8)? } else { 0 };
                if !(0xDC00..=0xDFFF).contains(&second) {
                    return self.bad(Problem::LoneSurrogate);
                }
                (0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00), 12)
            }
            _ => (first, 6),
        };
        match char::from_u32(code) {
            Some(character) => {
                self.at += length;
                Ok(character)
            }
            None => self.bad(Problem::LoneSurrogate),
        }
    }

    fn hex(&self, at: usize) -> Result<u32, BadJson> {
        let Some(digits) = self.bytes.get(at..at + 4) else { return self.bad(Problem::Ends) };
        digits.iter().try_fold(0, |code, &digit| match (digit as char).to_digit(16) {
            Some(value) => Ok(code * 16 + value),
            None => self.bad(Problem::BadEscape),
        })
    }

    /// `true` or `false`.
    pub fn bool(&mut self) -> Result<bool, BadJson> {
        match self.next_byte()? {
            b't' => self.word("true").map(|()| true),
            _ => self.word("false").map(|()| false),
        }
    }

    /// `null`.
    pub fn null(&mut self) -> Result<(), BadJson> {
        self.next_byte()?;
        self.word("null")
    }

    fn word(&mut self, word: &str) -> Result<(), BadJson> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return self.bad(Problem::Unexpected);
        }
        self.at += word.len();
        Ok(())
    }

    /// A number, as written.
    pub fn number(&mut self) -> Result<&'a str, BadJson> {
        self.space();
        let bytes = self.bytes;
        let start = self.at;
        let mut at = start + usize::from(bytes.get(start) == Some(&b'-'));
        let digits = |mut at: usize| {
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            at
        };
        let whole = digits(at);
        if whole == at || (bytes[at] == b'0' && whole > at + 1) {
            return self.bad(Problem::BadNumber);
        }
        at = whole;
        if bytes.get(at) == Some(&b'.') {
            let fraction = digits(at + 1);
            if fraction == at + 1 {
                return self.bad(Problem::BadNumber);
            }
            at = fraction;
        }
        if let Some(b'e' | b'E') = bytes.get(at) {
            let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
            let exponent = digits(at + 1 + sign);
            if exponent == at + 1 + sign {
                return self.bad(Problem::BadNumber);
            }
            at = exponent;
        }
        self.at = at;
        self.text(start, at)
    }

    /// Passes one value, checking it unless that was done; returns its span.
    pub fn skip(&mut self) -> Result<(usize, usize), BadJson> {
        self.space();
        let start = self.at;
        if self.checked {
            self.pass_checked()?
        } else {
            self.pass()?
        }
        Ok((start, self.at))
    }

    fn pass(&mut self) -> Result<(), BadJson> {
        match self.kind()? {
            Kind::Null => self.null()?,
            Kind::Bool => drop(self.bool()?),
            Kind::Number => drop(self.number()?),
            Kind::String => self.pass_string()?,
            Kind::Array => self.array::<BadJson>(|_, reader| reader.pass())?,
            Kind::Object => self.object::<BadJson>(|_, reader| reader.pass())?,
        }
        Ok(())
    }

    /// Passes a string and checks it, without making anything of it.
    fn pass_string(&mut self) -> Result<(), BadJson> {
        self.take(b'"')?;
        loop {
            self.plain()?;
            if self.bytes[self.at] == b'"' {
                self.at += 1;
                return Ok(());
            }
            self.escape()?;
        }
    }

    /// Passes a value that was checked before: only its end is looked for.
    fn pass_checked(&mut self) -> Result<(), BadJson> {
        let mut open = 0_usize;
        loop {
            match self.next_byte()? {
                b'"' => self.pass_checked_string()?,
                b'{' | b'[' => {
                    open += 1;
                    self.at += 1;
                }
                b'}' | b']' if open == 0 => return self.bad(Problem::Unexpected),
                b'}' | b']' => {
                    open -= 1;
                    self.at += 1;
                }
                b',' | b':' => self.at += 1,
                _word => {
                    let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t');
                    let rest = &self.bytes[self.at..];
                    self.at += rest.iter().position(ends).unwrap_or(rest.len());
                }
            }
            if open == 0 {
                return Ok(());
            }
        }
    }

    fn pass_checked_string(&mut self) -> Result<(), BadJson> {
        self.at += 1;
        loop {
            let rest = &self.bytes[self.at.min(self.bytes.len())..];
            match rest.iter().position(|&byte| byte == b'"' || byte == b'\\') {
                None => return self.bad(Problem::Ends),
                Some(offset) if rest[offset] == b'"' => {
                    self.at += offset + 1;
                    return Ok(());
                }
                Some(offset) => self.at += offset + 2,
            }
        }
    }
}

/// The keys seen so far in one object.
#[derive(Default)]
struct Keys<'a> {
    few: SmallVec<[Cow<'a, str>; FEW_KEYS]>,
    many: Option<HashSet<Cow<'a, str>>>,
}

impl<'a> Keys<'a> {
    /// False when the key was there.
    fn insert(&mut self, key: Cow<'a, str>) -> bool {
        if let Some(many) = &mut self.many {
            return many.insert(key);
        }
        if self.few.contains(&key) {
            return false;
        }
        if self.few.len() == FEW_KEYS {
            let mut many: HashSet<Cow<'a, str>> = self.few.drain(..).collect();
            many.insert(key);
            self.many = Some(many);
        } else {
            self.few.push(key);
        }
        true
    }
}
