//! `application/x-www-form-urlencoded`, both ways.

use zeroize::Zeroizing;

/// Writes `name=value` pairs. What was written is wiped when it is dropped: it holds secrets.
#[derive(Default)]
pub(super) struct Form(Zeroizing<String>);

impl Form {
    pub(super) fn add(&mut self, name: &str, value: &str) {
        if !self.0.is_empty() {
            self.0.push('&');
        }
        encode(name, &mut self.0);
        self.0.push('=');
        encode(value, &mut self.0);
    }

    pub(super) fn into_text(self) -> Zeroizing<String> {
        self.0
    }
}

/// Everything but letters, digits and `-._~` is escaped; that reads alike in a query and in a form.
pub(super) fn encode(text: &str, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
}

/// `None` where an escape is broken or the text is not UTF-8.
pub(super) fn decode(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'+' => b' ',
            b'%' => digit(bytes.next()?)? << 4 | digit(bytes.next()?)?,
            byte => byte,
        });
    }
    String::from_utf8(out).ok()
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}
