//! How JSON is written: strings with the shortest escapes, and the one spelling of a value by which two are compared.

use super::reader::{BadJson, Kind, Reader};

/// The canonical spelling of bytes that were checked before.
pub(super) fn canonical(checked: &[u8], out: &mut Vec<u8>) {
    if let Ok(mut reader) = Reader::new(checked, usize::MAX) {
        let _ = write_canonical(&mut reader, out);
    }
}

fn write_canonical(reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<(), BadJson> {
    match reader.kind()? {
        Kind::Null => {
            reader.null()?;
            out.extend_from_slice(b"null");
        }
        Kind::Bool => out.extend_from_slice(if reader.bool()? { b"true" } else { b"false" }),
        Kind::Number => out.extend_from_slice(reader.number()?.as_bytes()),
        Kind::String => write_string(&reader.string()?, out),
        Kind::Array => {
            out.push(b'[');
            reader.array::<BadJson>(|index, reader| {
                if index > 0 {
                    out.push(b',');
                }
                write_canonical(reader, out)
            })?;
            out.push(b']');
        }
        Kind::Object => {
            let mut members = Vec::new();
            reader.object::<BadJson>(|key, reader| {
                let mut value = Vec::new();
                write_canonical(reader, &mut value)?;
                members.push((key, value));
                Ok(())
            })?;
            members.sort_unstable();
            out.push(b'{');
            for (index, (key, value)) in members.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_string(key, out);
                out.push(b':');
                out.extend_from_slice(value);
            }
            out.push(b'}');
        }
    }
    Ok(())
}

/// A JSON string with the shortest escapes.
pub fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut from = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&bytes[from..at]);
        from = at + 1;
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            control => out.extend_from_slice(format!("\\u{control:04x}").as_bytes()),
        }
    }
    out.extend_from_slice(&bytes[from..]);
    out.push(b'"');
}
