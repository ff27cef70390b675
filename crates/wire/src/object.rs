//! Object writer: writes a JSON object member by member, so that checked bytes are spliced in and never parsed again.

use interlingua_model::json::write_string;
use interlingua_model::{Json, Secret};

/// An object being written. [`Object::finish`] closes it.
#[derive(Debug)]
pub struct Object<'a> {
    out: &'a mut Vec<u8>,
    empty: bool,
}

impl<'a> Object<'a> {
    pub fn open(out: &'a mut Vec<u8>) -> Object<'a> {
        out.push(b'{');
        Object { out, empty: true }
    }

    /// An object of its own.
    pub fn json(fill: impl FnOnce(&mut Object<'_>)) -> Json {
        let mut out = Vec::with_capacity(128);
        let mut object = Object::open(&mut out);
        fill(&mut object);
        object.finish();
        // Every member was written by the methods below: strings escaped, values already checked.
        Json::written(out)
    }

    pub fn finish(self) {
        self.out.push(b'}');
    }

    /// The place of the next value.
    pub fn key(&mut self, key: &str) -> &mut Vec<u8> {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        write_string(key, self.out);
        self.out.push(b':');
        self.out
    }

    pub fn object(&mut self, key: &str, fill: impl FnOnce(&mut Object<'_>)) {
        let mut object = Object::open(self.key(key));
        fill(&mut object);
        object.finish();
    }

    /// A list; `each` writes one element.
    pub fn array<T>(&mut self, key: &str, items: impl IntoIterator<Item = T>, mut each: impl FnMut(T, &mut Vec<u8>)) {
        let out = self.key(key);
        out.push(b'[');
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            each(item, out);
        }
        out.push(b']');
    }

    pub fn text(&mut self, key: &str, text: &str) {
        write_string(text, self.key(key));
    }

    pub fn number(&mut self, key: &str, number: u64) {
        self.key(key).extend_from_slice(number.to_string().as_bytes());
    }

    pub fn bool(&mut self, key: &str, value: bool) {
        self.key(key).extend_from_slice(if value { b"true" } else { b"false" });
    }

    pub fn null(&mut self, key: &str) {
        self.key(key).extend_from_slice(b"null");
    }

    pub fn value(&mut self, key: &str, json: &Json) {
        self.key(key).extend_from_slice(json.as_bytes());
    }

    /// All members of another object. Their keys must not be written again.
    pub fn splice(&mut self, object: &Json) {
        let members = object.as_str().strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or_default();
        if members.trim().is_empty() {
            return;
        }
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        self.out.extend_from_slice(members.as_bytes());
    }

    /// Null when there is none: the seed's schema dumps nulls instead of leaving members out.
    pub fn text_or_null(&mut self, key: &str, text: Option<&str>) {
        match text {
            Some(text) => self.text(key, text),
            None => self.null(key),
        }
    }

    pub fn secret_or_null(&mut self, key: &str, secret: Option<&Secret>) {
        self.text_or_null(key, secret.and_then(Secret::text));
    }
}
