//! Binary WebSocket messages for an end-point that takes CBOR (RFC 8949).

/// One binary message that is no NLIP message.
#[derive(Debug)]
pub struct CborCase {
    pub name: &'static str,
    pub bytes: Vec<u8>,
}

/// Every case. Each deserves an NLIP error (ECMA-432, clause 11) or a close, and leaves the hub well.
pub fn cases() -> Vec<CborCase> {
    [heads(), contents(), messages()].into_iter().flatten().collect()
}

fn case(name: &'static str, bytes: impl Into<Vec<u8>>) -> CborCase {
    CborCase { name, bytes: bytes.into() }
}

/// Wrong from the first bytes.
fn heads() -> Vec<CborCase> {
    vec![
        case("CBOR: a lone break", [0xFF]),
        case("CBOR: nothing", []),
        case("CBOR: reserved additional information", [0xBC]),
        case("CBOR: a map cut off", [0xA3, 0x66, b'f', b'o']),
        case("CBOR: a map of 2^64-1 entries", [0xBB, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
        case("CBOR: an array of 2^63 entries", [0x9B, 0x80, 0, 0, 0, 0, 0, 0, 0]),
        case("CBOR: a text of 2^62 bytes", [0x7B, 0x40, 0, 0, 0, 0, 0, 0, 0, b'x']),
        case("CBOR: bytes of 4 GiB", [0x5A, 0xFF, 0xFF, 0xFF, 0xFF, 0]),
        case("CBOR: arrays 200,000 deep", vec![0x81; super::json::DEEP]),
        case("CBOR: endless arrays 200,000 deep", vec![0x9F; super::json::DEEP]),
        case("CBOR: tags 200,000 deep", vec![0xC6; super::json::DEEP]),
        case("CBOR: JSON by mistake", *br#"{"format":"text","subformat":"english","content":"x"}"#),
    ]
}

/// Well-formed at the top and wrong inside.
fn contents() -> Vec<CborCase> {
    let with_content = |content: &[u8]| {
        [&entries(3), &text("format"), &text("text"), &text("subformat"), &text("english"), &text("content"), content]
            .concat()
    };
    let deep = [vec![0x81; super::json::DEEP], vec![0x00]].concat();
    vec![
        case("CBOR: text that is not UTF-8", with_content(&[0x62, 0xFF, 0xFE])),
        case(
            "CBOR: text in pieces split inside a character",
            with_content(&[0x7F, 0x61, 0xE2, 0x62, 0x82, 0xAC, 0xFF]),
        ),
        case("CBOR: content 200,000 deep", with_content(&deep)),
        case("CBOR: bytes after the message", [with_content(&text("x")), vec![0x00]].concat()),
        case("CBOR: two messages in one", with_content(&text("x")).repeat(2)),
        case("CBOR: content cut off", with_content(&[0x6A, b'x'])),
    ]
}

/// Well-formed CBOR that is no message.
fn messages() -> Vec<CborCase> {
    let keys = [("format", "text"), ("Format", "text"), ("subformat", "english"), ("content", "x")];
    let twice = keys.map(|(key, value)| [text(key), text(value)].concat()).concat();
    vec![
        case("CBOR: a number", [0x01]),
        case("CBOR: an array", [0x80]),
        case("CBOR: an empty map", [0xA0]),
        case("CBOR: keys that are numbers", [0xA1, 0x01, 0x02]),
        case("CBOR: a map as key", [0xA1, 0xA0, 0x01]),
        case(
            "CBOR: format as bytes",
            [&entries(1), &text("format"), [0x44, b't', b'e', b'x', b't'].as_slice()].concat(),
        ),
        case("CBOR: keys equal but for their case", [entries(4), twice].concat()),
    ]
}

/// The head of a map.
fn entries(count: u8) -> Vec<u8> {
    vec![0xA0 | count]
}

/// A text string of at most 23 bytes.
fn text(text: &str) -> Vec<u8> {
    let length = u8::try_from(text.len()).ok().filter(|length| *length < 24).expect("a short text");
    [&[0x60 | length], text.as_bytes()].concat()
}
