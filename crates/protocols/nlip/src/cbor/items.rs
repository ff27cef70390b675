//! Data items of a frame, one after another. `ciborium-ll` reads headers; the announced lengths are checked against the frame and never
//! trusted.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use bytes::Bytes;
use ciborium_ll::{Decoder, Header};
use interlingua_model::json::most_values;

use crate::invalid::{Invalid, Problem};

/// Ends an item of indefinite length.
const BREAK: u8 = 0xff;

#[derive(Debug)]
pub(super) struct Items<'a> {
    frame: &'a Bytes,
    at: usize,
    depth: usize,
    /// How many more items may come in arrays and maps.
    values: usize,
}

impl<'a> Items<'a> {
    pub(super) fn new(frame: &'a Bytes, depth: usize) -> Items<'a> {
        Items { frame, at: 0, depth, values: most_values() }
    }

    fn bad<T>(&self) -> Result<T, Invalid> {
        Err(Invalid::whole(Problem::BadCbor { at: self.at }))
    }

    /// The header of the next item. Tags mean nothing in a message, and would let two readers differ.
    pub(super) fn header(&mut self) -> Result<Header, Invalid> {
        let mut rest = &self.frame[self.at..];
        let before = rest.len();
        // A simple value in two bytes is none of those a message may hold, or is not well-formed (RFC 8949 section 3.3).
        if rest.first() == Some(&0xf8) {
            return self.bad();
        }
        let Ok(header) = Decoder::from(&mut rest).pull() else { return self.bad() };
        match header {
            Header::Tag(_) => return Err(Invalid::whole(Problem::Tag)),
            // Where one may stand it has been passed before a header is asked for.
            Header::Break => return self.bad(),
            _ => {}
        }
        self.at += before - rest.len();
        Ok(header)
    }

    fn take(&mut self, length: usize) -> Result<Range<usize>, Invalid> {
        match self.at.checked_add(length) {
            Some(end) if end <= self.frame.len() => {
                let range = self.at..end;
                self.at = end;
                Ok(range)
            }
            _ => self.bad(),
        }
    }

    /// At the end of an item of indefinite length: passes the break.
    fn broke(&mut self) -> bool {
        let broke = self.frame.get(self.at) == Some(&BREAK);
        self.at += usize::from(broke);
        broke
    }

    fn utf8(&self, range: Range<usize>) -> Result<&'a str, Invalid> {
        std::str::from_utf8(&self.frame[range]).map_err(|_| Invalid::whole(Problem::NotUtf8))
    }

    /// The text announced by a header; borrowed unless it came in pieces.
    pub(super) fn text(&mut self, length: Option<usize>) -> Result<Cow<'a, str>, Invalid> {
        if let Some(length) = length {
            let range = self.take(length)?;
            return self.utf8(range).map(Cow::Borrowed);
        }
        let mut text = String::new();
        while !self.broke() {
            let Header::Text(Some(length)) = self.header()? else { return self.bad() };
            let range = self.take(length)?;
            text.push_str(self.utf8(range)?);
        }
        Ok(Cow::Owned(text))
    }

    /// The byte string announced by a header; a slice of the frame unless it came in pieces.
    pub(super) fn bytes(&mut self, length: Option<usize>) -> Result<Bytes, Invalid> {
        if let Some(length) = length {
            let range = self.take(length)?;
            return Ok(self.frame.slice(range));
        }
        let mut bytes = Vec::new();
        while !self.broke() {
            let Header::Bytes(Some(length)) = self.header()? else { return self.bad() };
            let range = self.take(length)?;
            bytes.extend_from_slice(&self.frame[range]);
        }
        Ok(bytes.into())
    }

    /// Calls `each` before every element; it must read exactly one item.
    pub(super) fn array(
        &mut self,
        length: Option<usize>,
        mut each: impl FnMut(usize, &mut Self) -> Result<(), Invalid>,
    ) -> Result<(), Invalid> {
        self.enter()?;
        let mut index = 0;
        while !self.ended(length, index) {
            self.one_more()?;
            each(index, self)?;
            index += 1;
        }
        self.depth += 1;
        Ok(())
    }

    /// Calls `each` with every key; it must read exactly one item. Keys are text and occur once.
    pub(super) fn map(
        &mut self,
        length: Option<usize>,
        mut each: impl FnMut(Cow<'a, str>, &mut Self) -> Result<(), Invalid>,
    ) -> Result<(), Invalid> {
        self.enter()?;
        let mut keys = HashSet::new();
        while !self.ended(length, keys.len()) {
            self.one_more()?;
            let Header::Text(key) = self.header()? else { return self.bad() };
            let key = self.text(key)?;
            if !keys.insert(key.clone()) {
                return Err(Invalid::whole(Problem::SameKeyTwice));
            }
            each(key, self)?;
        }
        self.depth += 1;
        Ok(())
    }

    fn one_more(&mut self) -> Result<(), Invalid> {
        self.values = self.values.checked_sub(1).ok_or_else(|| Invalid::whole(Problem::TooManyValues))?;
        Ok(())
    }

    fn ended(&mut self, length: Option<usize>, read: usize) -> bool {
        match length {
            Some(length) => read >= length,
            None => self.broke(),
        }
    }

    fn enter(&mut self) -> Result<(), Invalid> {
        match self.depth.checked_sub(1) {
            Some(depth) => self.depth = depth,
            None => return Err(Invalid::whole(Problem::TooDeep)),
        }
        Ok(())
    }

    /// Passes what a header announced.
    pub(super) fn skip(&mut self, header: Header) -> Result<(), Invalid> {
        match header {
            Header::Positive(_) | Header::Negative(_) | Header::Float(_) | Header::Simple(_) => Ok(()),
            Header::Bytes(length) => self.bytes(length).map(drop),
            Header::Text(length) => self.text(length).map(drop),
            Header::Array(length) => self.array(length, |_, items| {
                let header = items.header()?;
                items.skip(header)
            }),
            Header::Map(length) => self.map(length, |_, items| {
                let header = items.header()?;
                items.skip(header)
            }),
            Header::Tag(_) | Header::Break => self.bad(),
        }
    }

    /// Nothing may follow the message: a frame holds exactly one.
    pub(super) fn end(&self) -> Result<(), Invalid> {
        if self.at < self.frame.len() { Err(Invalid::whole(Problem::Trailing)) } else { Ok(()) }
    }

    pub(super) fn malformed(&self) -> Invalid {
        Invalid::whole(Problem::BadCbor { at: self.at })
    }
}
