//! Object reader: finds the members of a JSON object in one pass over its frame.
//!
//! A frame whose keys may come in any order (a JSON-RPC request with `params` before `method`) cannot be decoded on the way:
//! what a value means is known only at the end. So its objects are opened one level deep, every value is checked once and
//! remembered by its span, and a decoder takes what it knows as slices. Nothing is copied, nothing is checked twice.

use std::borrow::Cow;

use bytes::Bytes;
use interlingua_model::Json;
use interlingua_model::json::{BadJson, Kind, Reader};

/// One value, and where its members are when it is an object.
#[derive(Debug, Clone)]
pub struct Members {
    whole: Option<Json>,
    list: Vec<Member>,
}

#[derive(Debug, Clone)]
struct Member {
    /// Within `whole`, without the quotes.
    key: (usize, usize),
    /// The key as it is meant, when it was written with escapes.
    unescaped: Option<Box<str>>,
    value: (usize, usize),
}

impl Members {
    /// No value at all.
    pub const fn absent() -> Members {
        Members { whole: None, list: Vec::new() }
    }

    /// Reads one value of `frame`, on which `reader` stands.
    pub fn read<'a>(frame: &Bytes, reader: &mut Reader<'a>) -> Result<Members, BadJson> {
        if reader.kind()? != Kind::Object {
            let span = reader.skip()?;
            return Ok(Members { whole: Some(Json::slice(frame, span)), list: Vec::new() });
        }
        // `kind` has passed the white space.
        let start = reader.position();
        let mut list = Vec::with_capacity(8);
        reader.object::<BadJson>(|key, reader| {
            let (at, unescaped) = match &key {
                Cow::Borrowed(text) => {
                    // A borrowed key is a part of the frame.
                    let at = text.as_ptr() as usize - frame.as_ptr() as usize - start;
                    ((at, at + text.len()), None)
                }
                Cow::Owned(text) => ((0, 0), Some(text.as_str().into())),
            };
            let (from, to) = reader.skip()?;
            list.push(Member { key: at, unescaped, value: (from - start, to - start) });
            Ok(())
        })?;
        let whole = Json::slice(frame, (start, reader.position()));
        Ok(Members { whole: Some(whole), list })
    }

    /// Opens a value that was checked before.
    pub fn of(json: &Json) -> Members {
        Members::read(json.as_bytes(), &mut Reader::of(json)).unwrap_or_else(|_| Members::absent())
    }

    pub fn is_absent(&self) -> bool {
        self.whole.is_none()
    }

    pub fn is_object(&self) -> bool {
        self.whole.as_ref().is_some_and(Json::is_object)
    }

    /// The value itself.
    pub fn json(&self) -> Option<&Json> {
        self.whole.as_ref()
    }

    fn bytes(&self) -> &[u8] {
        self.whole.as_ref().map(|whole| &whole.as_bytes()[..]).unwrap_or_default()
    }

    fn key<'a>(&'a self, member: &'a Member) -> &'a str {
        match &member.unescaped {
            Some(text) => text,
            None => std::str::from_utf8(&self.bytes()[member.key.0..member.key.1]).unwrap_or_default(),
        }
    }

    fn find(&self, key: &str) -> Option<&Member> {
        self.list.iter().find(|member| match &member.unescaped {
            Some(text) => **text == *key,
            None => &self.bytes()[member.key.0..member.key.1] == key.as_bytes(),
        })
    }

    pub fn has(&self, key: &str) -> bool {
        self.find(key).is_some()
    }

    /// A member as it was written; a slice of the frame.
    pub fn get(&self, key: &str) -> Option<Json> {
        let member = self.find(key)?;
        Some(Json::slice(self.whole.as_ref()?.as_bytes(), member.value))
    }

    /// Where the value of a member is, within [`Members::json`].
    pub fn span(&self, key: &str) -> Option<(usize, usize)> {
        self.find(key).map(|member| member.value)
    }

    fn raw(&self, key: &str) -> Option<&[u8]> {
        let (from, to) = self.find(key)?.value;
        Some(&self.bytes()[from..to])
    }

    /// A member that is text; anything else counts as absent. Borrowed when it was written without escapes.
    pub fn text(&self, key: &str) -> Option<Cow<'_, str>> {
        Reader::new(self.raw(key)?, 0).and_then(|mut reader| reader.string()).ok()
    }

    pub fn bool(&self, key: &str) -> Option<bool> {
        match self.raw(key)? {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    /// A member that is a number; one too large for the type counts as absent.
    pub fn number<N: std::str::FromStr>(&self, key: &str) -> Option<N> {
        let raw = self.raw(key)?;
        if !matches!(raw.first(), Some(b'-' | b'0'..=b'9')) {
            return None;
        }
        std::str::from_utf8(raw).ok()?.parse().ok()
    }

    /// A member that is an object, opened.
    pub fn object(&self, key: &str) -> Option<Members> {
        self.get(key).filter(Json::is_object).map(|json| Members::of(&json))
    }

    /// The elements of a member that is a list.
    pub fn list(&self, key: &str) -> Option<Vec<Json>> {
        self.get(key).and_then(|json| elements(&json))
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// In the order they were written.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|member| self.key(member))
    }

    /// In the order they were written.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Json)> {
        let bytes = self.whole.as_ref().map(Json::as_bytes);
        self.list.iter().filter_map(move |member| Some((self.key(member), Json::slice(bytes?, member.value))))
    }
}

/// The elements of a list that was checked before; `None` when it is not one.
pub fn elements(json: &Json) -> Option<Vec<Json>> {
    let bytes = json.as_bytes();
    let mut elements = Vec::new();
    let read = Reader::of(json).array::<BadJson>(|_, reader| {
        elements.push(Json::slice(bytes, reader.skip()?));
        Ok(())
    });
    read.is_ok().then_some(elements)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(text: &'static str) -> Members {
        let frame = Bytes::from_static(text.as_bytes());
        Members::read(&frame, &mut Reader::new(&frame, 16).expect("UTF-8")).expect("JSON")
    }

    #[test]
    fn members_are_found_whatever_their_spelling_and_order() {
        let found = members(r#" { "b" : 12345678901234567890.0, "n\u0061me": "a\"b", "o": {"x": [1, 2]}, "t": true }"#);
        assert_eq!(found.get("b").expect("there").as_str(), "12345678901234567890.0");
        assert_eq!(found.text("name").as_deref(), Some("a\"b"));
        assert_eq!(found.bool("t"), Some(true));
        assert_eq!(found.object("o").and_then(|o| o.list("x")).map(|list| list.len()), Some(2));
        assert_eq!(found.iter().map(|(key, _)| key.to_owned()).collect::<Vec<_>>(), ["b", "name", "o", "t"]);
        assert!(found.text("b").is_none() && found.number::<u64>("name").is_none() && !found.has("x"));
    }

    #[test]
    fn a_value_that_is_no_object_has_no_members_and_a_broken_one_is_refused() {
        assert_eq!(members("[1]").json().map(Json::as_str), Some("[1]"));
        assert!(!members("[1]").is_object() && Members::absent().is_absent());
        for bad in [r#"{"a":1,"a":2}"#, r#"{"a":1,"\u0061":2}"#, r#"{"a":}"#, r#"{"a":[}"#] {
            let frame = Bytes::from_static(bad.as_bytes());
            let read = Members::read(&frame, &mut Reader::new(&frame, 16).expect("UTF-8"));
            assert!(read.is_err(), "{bad}");
        }
    }
}
