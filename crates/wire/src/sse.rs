//! Reader of server-sent events (WHATWG HTML 9.2.6): takes bytes in pieces of any size and returns whole events.
//!
//! The lines of one event may not be longer than the limit together. Deliberately absent: the connection, and what to do about `retry` and
//! `id`, which are passed to the caller.

use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};

/// One event, ended by a blank line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    /// Empty stands for `message`.
    pub kind: String,
    /// The lines of data, joined by line feeds. An event without data is passed on too when it brought an id or a pause:
    /// readers of streams that can be resumed need both.
    pub data: Bytes,
    pub id: Option<String>,
    pub retry: Option<Duration>,
}

/// One event is larger than is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of more than {limit} bytes")]
pub struct TooLarge {
    pub limit: usize,
}

/// The byte order mark a stream may begin with.
const MARK: &[u8] = b"\xef\xbb\xbf";

#[derive(Debug)]
pub struct Parser {
    limit: usize,
    buffer: BytesMut,
    /// Up to here the buffer has no line end.
    searched: usize,
    started: bool,
    after_return: bool,
    event: Event,
    data: BytesMut,
    has_data: bool,
    /// Bytes of the event so far, so that a flood of short lines is bounded too.
    size: usize,
}

impl Parser {
    pub fn new(limit: usize) -> Parser {
        Parser {
            limit,
            buffer: BytesMut::new(),
            searched: 0,
            started: false,
            after_return: false,
            event: Event::default(),
            data: BytesMut::new(),
            has_data: false,
            size: 0,
        }
    }

    /// More bytes of the stream. Take all events with [`Parser::take`] before feeding again.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// How many bytes are there of an event that was begun and is not whole. Comments begin none.
    pub fn unfinished(&self) -> usize {
        match self.event == Event::default() && !self.has_data {
            true => self.buffer.len(),
            false => self.size.saturating_add(self.buffer.len()).max(1),
        }
    }

    /// The next whole event; `None` until more bytes come. What a stream ends with unfinished is dropped, as the
    /// specification says.
    pub fn take(&mut self) -> Result<Option<Event>, TooLarge> {
        while let Some(line) = self.line() {
            self.size = self.size.saturating_add(line.len());
            if self.size > self.limit {
                return Err(TooLarge { limit: self.limit });
            }
            if !line.is_empty() {
                self.field(&line);
            } else if let Some(event) = self.dispatch() {
                return Ok(Some(event));
            }
        }
        match self.size.saturating_add(self.buffer.len()) > self.limit {
            true => Err(TooLarge { limit: self.limit }),
            false => Ok(None),
        }
    }

    /// A line without its end, which is a line feed, a carriage return, or both.
    fn line(&mut self) -> Option<Bytes> {
        if !self.started && self.buffer.len() >= MARK.len() {
            self.started = true;
            if self.buffer.starts_with(MARK) {
                self.buffer.advance(MARK.len());
                self.searched = 0;
            }
        }
        // A line ends with its carriage return at once; a line feed behind it, whenever that comes, is part of the end.
        if self.after_return && !self.buffer.is_empty() {
            self.after_return = false;
            if self.buffer[0] == b'\n' {
                self.buffer.advance(1);
            }
        }
        let found = self.buffer[self.searched..].iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let Some(offset) = found else {
            self.searched = self.buffer.len();
            return None;
        };
        let line = self.buffer.split_to(self.searched + offset).freeze();
        self.after_return = self.buffer[0] == b'\r';
        self.buffer.advance(1);
        self.searched = 0;
        self.started = true;
        Some(line)
    }

    fn field(&mut self, line: &[u8]) {
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(0) => return,
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                if self.has_data {
                    self.data.extend_from_slice(b"\n");
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            b"event" => self.event.kind = String::from_utf8_lossy(value).into_owned(),
            b"id" if !value.contains(&0) => self.event.id = Some(String::from_utf8_lossy(value).into_owned()),
            b"retry" => {
                let digits = std::str::from_utf8(value).ok().filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
                self.event.retry = digits.and_then(|text| text.parse().ok()).map(Duration::from_millis);
            }
            _ => {}
        }
    }

    fn dispatch(&mut self) -> Option<Event> {
        self.size = 0;
        let mut event = std::mem::take(&mut self.event);
        let has_data = std::mem::take(&mut self.has_data);
        event.data = self.data.split().freeze();
        (has_data || event.id.is_some() || event.retry.is_some()).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<Event> {
        let mut parser = Parser::new(1_000);
        let mut events = Vec::new();
        for piece in pieces {
            parser.feed(piece);
            while let Some(event) = parser.take().expect("within the limit") {
                events.push(event);
            }
        }
        events
    }

    fn said(data: &'static str) -> Event {
        Event { data: Bytes::from_static(data.as_bytes()), ..Event::default() }
    }

    #[test]
    fn data_lines_are_joined_and_one_space_is_dropped() {
        assert_eq!(read(&[b"data: a\ndata:  b\ndata\n\n"]), [said("a\n b\n")]);
    }

    #[test]
    fn every_line_end_ends_a_line_wherever_the_stream_is_cut() {
        let whole = b"\xef\xbb\xbfdata: one\r\n\r\ndata: two\r\rdata: three\n\nevent: end\ndata: 4\r\n\r\n".as_slice();
        let end = Event { kind: "end".into(), ..said("4") };
        let expected = [said("one"), said("two"), said("three"), end];
        assert_eq!(read(&[whole]), expected);
        for at in 0..whole.len() {
            assert_eq!(read(&[&whole[..at], &whole[at..]]), expected, "cut at {at}");
        }
        let bytes: Vec<&[u8]> = whole.chunks(1).collect();
        assert_eq!(read(&bytes), expected);
    }

    #[test]
    fn comments_and_unknown_fields_are_passed_over_and_an_event_without_data_only_brings_id_and_pause() {
        let read = read(&[b": keep-alive\n\nfoo: bar\n\nid: 7\nretry: 250\ndata:\n\nid: 8\n\nretry: soon\n\n"]);
        let first = Event { id: Some("7".into()), retry: Some(Duration::from_millis(250)), ..Event::default() };
        let second = Event { id: Some("8".into()), ..Event::default() };
        assert_eq!(read, [first, second]);
    }

    #[test]
    fn an_event_is_bounded_in_one_line_and_in_many() {
        let mut parser = Parser::new(100);
        parser.feed(&[b'x'; 101]);
        assert_eq!(parser.take(), Err(TooLarge { limit: 100 }));
        let mut parser = Parser::new(100);
        parser.feed("data: 1\n".repeat(20).as_bytes());
        assert_eq!(parser.take(), Err(TooLarge { limit: 100 }));
        let mut parser = Parser::new(100);
        for _ in 0..50 {
            parser.feed(b"data: 1234567890\n\n");
            assert!(parser.take().expect("each is small").is_some());
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_in_any_pieces_are_read_alike(bytes: Vec<u8>, at in 0_usize..64) {
            let at = at.min(bytes.len());
            proptest::prop_assert_eq!(read(&[&bytes]), read(&[&bytes[..at], &bytes[at..]]));
        }
    }
}
