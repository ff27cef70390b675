//! Protobuf codec: reads Protocol Buffers fields by number in place, and writes them to one buffer.
//!
//! No schema is known here, and nothing is copied. Groups, which no message of `proto3` has, are refused.

/// Why bytes are no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadProtobuf {
    #[error("it ends too early")]
    Ends,
    #[error("a number has more than 64 bits")]
    TooLong,
    #[error("a field has no valid number")]
    Number,
    #[error("a field is of a kind it cannot be of")]
    Kind,
    #[error("a text is not UTF-8")]
    Utf8,
    #[error("a field is there twice that can be there once")]
    Twice,
    #[error("it is nested too deeply")]
    TooDeep,
    #[error("a number is not a finite one")]
    NotFinite,
}

/// One field's content, as its kind on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'m> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'m [u8]),
    Fixed32(u32),
}

/// The fields of one message, in the order they came. After an error there are no more.
#[derive(Debug, Clone)]
pub struct Fields<'m> {
    rest: &'m [u8],
}

const MAX_NUMBER: u64 = (1 << 29) - 1;

impl<'m> Fields<'m> {
    pub fn of(message: &'m [u8]) -> Fields<'m> {
        Fields { rest: message }
    }

    fn varint(&mut self) -> Result<u64, BadProtobuf> {
        let mut value = 0_u64;
        for (index, &byte) in self.rest.iter().take(10).enumerate() {
            let bits = u64::from(byte & 0x7f);
            if index == 9 && bits > 1 {
                return Err(BadProtobuf::TooLong);
            }
            value |= bits << (7 * index);
            if byte & 0x80 == 0 {
                self.rest = &self.rest[index + 1..];
                return Ok(value);
            }
        }
        Err(if self.rest.len() < 10 { BadProtobuf::Ends } else { BadProtobuf::TooLong })
    }

    fn take(&mut self, count: usize) -> Result<&'m [u8], BadProtobuf> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(BadProtobuf::Ends)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], BadProtobuf> {
        self.take(N)?.try_into().map_err(|_| BadProtobuf::Ends)
    }

    fn field(&mut self) -> Result<(u32, Value<'m>), BadProtobuf> {
        let tag = self.varint()?;
        let number = tag >> 3;
        if number == 0 || number > MAX_NUMBER {
            return Err(BadProtobuf::Number);
        }
        let value = match tag & 7 {
            0 => Value::Varint(self.varint()?),
            1 => Value::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| BadProtobuf::Ends)?;
                Value::Bytes(self.take(length)?)
            }
            5 => Value::Fixed32(u32::from_le_bytes(self.array()?)),
            _ => return Err(BadProtobuf::Kind),
        };
        Ok((u32::try_from(number).map_err(|_| BadProtobuf::Number)?, value))
    }
}

impl<'m> Iterator for Fields<'m> {
    type Item = Result<(u32, Value<'m>), BadProtobuf>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

/// A message being written. What is asked for is written, defaults too: what to leave out is the schema's business.
#[derive(Debug)]
pub struct Writer<'o> {
    out: &'o mut Vec<u8>,
}

impl<'o> Writer<'o> {
    pub fn new(out: &'o mut Vec<u8>) -> Writer<'o> {
        Writer { out }
    }

    pub fn varint(&mut self, number: u32, value: u64) {
        self.tag(number, 0);
        self.raw(value);
    }

    pub fn double(&mut self, number: u32, value: f64) {
        self.tag(number, 1);
        self.out.extend_from_slice(&value.to_le_bytes());
    }

    pub fn bytes(&mut self, number: u32, bytes: &[u8]) {
        self.tag(number, 2);
        self.raw(bytes.len() as u64);
        self.out.extend_from_slice(bytes);
    }

    /// A message inside this one. Its length goes before it, and is known after.
    pub fn message<E>(&mut self, number: u32, fill: impl FnOnce(&mut Writer<'_>) -> Result<(), E>) -> Result<(), E> {
        self.tag(number, 2);
        let start = self.out.len();
        fill(&mut Writer { out: self.out })?;
        let length = self.out.len() - start;
        self.raw(length as u64);
        let prefix = self.out.len() - start - length;
        self.out[start..].rotate_right(prefix);
        Ok(())
    }

    fn tag(&mut self, number: u32, kind: u64) {
        self.raw(u64::from(number) << 3 | kind);
    }

    fn raw(&mut self, mut value: u64) {
        loop {
            let bits = u8::try_from(value & 0x7f).unwrap_or_default();
            value >>= 7;
            if value == 0 {
                return self.out.push(bits);
            }
            self.out.push(bits | 0x80);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(bytes: &[u8]) -> Result<Vec<(u32, Value<'_>)>, BadProtobuf> {
        Fields::of(bytes).collect()
    }

    #[test]
    fn what_is_written_is_read() {
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out);
        writer.varint(1, 150);
        writer.varint(2, u64::MAX);
        writer.double(3, 1.5);
        let filled: Result<(), ()> = writer.message(4, |inner| {
            inner.bytes(1, &[b'x'; 200]);
            Ok(())
        });
        assert_eq!(filled, Ok(()));
        // The encoding guide's own example.
        assert_eq!(out[..3], [0x08, 0x96, 0x01]);
        let read = fields(&out).expect("it is a message");
        assert_eq!(read[..2], [(1, Value::Varint(150)), (2, Value::Varint(u64::MAX))]);
        assert_eq!(read[2], (3, Value::Fixed64(1.5_f64.to_bits())));
        let (4, Value::Bytes(inner)) = read[3] else { panic!("{read:?}") };
        assert_eq!(fields(inner), Ok(vec![(1, Value::Bytes(&[b'x'; 200]))]));
    }

    #[test]
    fn hostile_bytes_are_refused_where_they_are() {
        for (bytes, problem) in [
            (&[0x08][..], BadProtobuf::Ends),
            (&[0x0a, 0x05, b'x'], BadProtobuf::Ends),
            (&[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], BadProtobuf::Ends),
            (&[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], BadProtobuf::TooLong),
            (&[0x00, 0x00], BadProtobuf::Number),
            (&[0x0b], BadProtobuf::Kind),
            (&[0x0d, 1, 2], BadProtobuf::Ends),
        ] {
            assert_eq!(fields(bytes), Err(problem), "{bytes:?}");
        }
    }
}
