//! Zero-copy results: a serialized result with space before it for the head of its message, so that a large result is not copied again only
//! because the id of its request comes first.

use bytes::Bytes;
use interlingua_wire::rpc::{self, Id};

/// The head of a message whose id is not unusually long.
const ROOM: usize = 96;

#[derive(Debug)]
pub struct Written {
    /// Room, then the result.
    bytes: Vec<u8>,
}

impl Written {
    /// Of about this size.
    pub fn with_capacity(size: usize) -> Written {
        let mut bytes = Vec::with_capacity(ROOM + size + 1);
        bytes.resize(ROOM, 0);
        Written { bytes }
    }

    /// One that `write` appends to what it is given.
    pub fn by(write: impl FnOnce(&mut Vec<u8>)) -> Written {
        let mut written = Written::with_capacity(0);
        write(written.end());
        written
    }

    /// Where it goes on.
    pub fn end(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    pub fn json(&self) -> &[u8] {
        &self.bytes[ROOM..]
    }

    /// The response message to the request of this id.
    pub fn message(mut self, id: &Id) -> Bytes {
        let mut head = Vec::with_capacity(ROOM);
        rpc::write_result(id, &mut head, |_| {});
        // A result is the last member.
        let closed = head.pop();
        match ROOM.checked_sub(head.len()) {
            Some(begin) => {
                self.bytes[begin..ROOM].copy_from_slice(&head);
                self.bytes.extend(closed);
                Bytes::from(self.bytes).slice(begin..)
            }
            None => {
                head.extend_from_slice(self.json());
                head.extend(closed);
                head.into()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_the_same_whether_its_head_fits_or_not() {
        for length in [1, 20, 60, 61, 62, 63, 64, 200] {
            let id = Id::text(&"7".repeat(length));
            let mut expected = Vec::new();
            rpc::write_result(&id, &mut expected, |out| out.extend_from_slice(b"{\"a\":[1]}"));
            let written = Written::by(|out| out.extend_from_slice(b"{\"a\":[1]}"));
            assert_eq!(written.json(), b"{\"a\":[1]}");
            assert_eq!(written.message(&id), expected, "an id of {length} bytes");
        }
    }

    #[test]
    fn a_large_result_is_not_copied() {
        let mut written = Written::with_capacity(1 << 20);
        written.end().resize(ROOM + (1 << 20), b' ');
        let before = written.json().as_ptr();
        let message = written.message(&Id::number(7));
        let head = message.len() - (1 << 20) - 1;
        assert_eq!(message[head..].as_ptr(), before);
    }
}
