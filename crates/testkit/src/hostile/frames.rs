//! WebSocket traffic that breaks RFC 6455, or follows it in ways that few clients do.

use crate::raw::{Fin, Opcode, frame};

/// Bytes to send after the handshake.
#[derive(Debug)]
pub struct FrameCase {
    pub name: &'static str,
    pub bytes: Vec<u8>,
    /// The code with which the server closes (RFC 6455, section 7.4.1).
    pub code: u16,
}

/// Traffic after which the server must close: the protocol is broken (RFC 6455, sections 5.1, 5.4, 5.5 and 7.4).
pub fn broken() -> Vec<FrameCase> {
    const BROKEN: u16 = 1002;
    let case = |name, bytes: Vec<u8>| FrameCase { name, bytes, code: BROKEN };
    let mut reserved_bit = frame(Fin::Last, Opcode::Text, b"x");
    reserved_bit[0] |= 0x40;
    let mut reserved_opcode = frame(Fin::Last, Opcode::Text, b"x");
    reserved_opcode[0] = 0x83;
    vec![
        case("a frame without mask", vec![0x81, 0x01, b'x']),
        case("a reserved bit", reserved_bit),
        case("a reserved opcode", reserved_opcode),
        case("a ping in fragments", frame(Fin::More, Opcode::Ping, b"x")),
        case("a ping of 126 bytes", frame(Fin::Last, Opcode::Ping, &[0; 126])),
        case("a continuation of nothing", frame(Fin::Last, Opcode::Continuation, b"x")),
        case(
            "a message begun inside another",
            [frame(Fin::More, Opcode::Text, b"{"), frame(Fin::Last, Opcode::Text, b"}")].concat(),
        ),
        case("a close frame of one byte", frame(Fin::Last, Opcode::Close, b"x")),
        FrameCase { code: 1007, ..case("text that is not UTF-8", frame(Fin::Last, Opcode::Text, b"\xFF\xFE")) },
        FrameCase {
            code: 1009,
            ..case(
                "a frame said to be 2^62 bytes",
                [&[0x82, 0xFF, 0x40, 0, 0, 0, 0, 0, 0, 0], [1, 2, 3, 4].as_slice(), b"x"].concat(),
            )
        },
        case("not a frame at all", b"GET / HTTP/1.1\r\n\r\n".to_vec()),
    ]
}

/// A message in `count` fragments of about equal size, a ping between each: legal, and to be put together.
pub fn fragments(opcode: Opcode, message: &[u8], count: usize) -> Vec<u8> {
    let size = message.len().div_ceil(count).max(1);
    let pieces: Vec<&[u8]> = message.chunks(size).collect();
    let mut bytes = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        let opcode = if at == 0 { opcode } else { Opcode::Continuation };
        let fin = if at + 1 == pieces.len() { Fin::Last } else { Fin::More };
        bytes.extend(frame(fin, opcode, piece));
        if fin == Fin::More {
            bytes.extend(frame(Fin::Last, Opcode::Ping, b"still here"));
        }
    }
    bytes
}

/// A message begun and never ended: `count` fragments of one byte.
pub fn endless(count: usize) -> Vec<u8> {
    let more = frame(Fin::More, Opcode::Continuation, b" ").repeat(count);
    [frame(Fin::More, Opcode::Text, b"{"), more].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_begin_with_the_opcode_and_end_with_fin() {
        let bytes = fragments(Opcode::Text, b"abc", 3);
        let expected = [
            frame(Fin::More, Opcode::Text, b"a"),
            frame(Fin::Last, Opcode::Ping, b"still here"),
            frame(Fin::More, Opcode::Continuation, b"b"),
            frame(Fin::Last, Opcode::Ping, b"still here"),
            frame(Fin::Last, Opcode::Continuation, b"c"),
        ];
        assert_eq!(bytes, expected.concat());
    }
}
