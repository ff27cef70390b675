//! Invariants of forms for any bytes: the file in one is the same however its body is cut, and an authorization response survives a round
//! trip.

use interlingua_model::percent;
use interlingua_nlip::fuzzing;
use interlingua_wire::oauth::callback::{Callback, Outcome};

const BOUNDARY: &str = "B";

/// The first byte says where the body is cut; the rest is the body of a form with the boundary `B`.
pub(crate) fn multipart(data: &[u8]) {
    let [cut, body @ ..] = data else { return };
    let whole = fuzzing::form_file(BOUNDARY, &[body]);
    let (head, tail) = body.split_at(usize::from(*cut) % (body.len() + 1));
    assert_eq!(fuzzing::form_file(BOUNDARY, &[head, tail]), whole, "cut at {}", head.len());
    let bytes: Vec<&[u8]> = body.chunks(1).collect();
    assert_eq!(fuzzing::form_file(BOUNDARY, &bytes), whole, "byte by byte");
    if let Some(file) = &whole {
        assert!(file.len() < body.len(), "a file is shorter than its form");
        let delimiter = format!("\r\n--{BOUNDARY}").into_bytes();
        assert!(!file.windows(delimiter.len()).any(|part| part == delimiter), "a boundary is part of the file");
    }
    written(body);
    if let Ok(text) = std::str::from_utf8(body)
        && let Some(boundary) = fuzzing::boundary(text)
    {
        assert!((1..=70).contains(&boundary.len()));
        let _ = fuzzing::form_file(&boundary, &[body]);
    }
}

/// A form that holds these bytes as its file gives them back.
fn written(file: &[u8]) {
    let delimiter = format!("\r\n--{BOUNDARY}").into_bytes();
    if file.windows(delimiter.len()).any(|part| part == delimiter) {
        return;
    }
    let head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"contents\"; filename=\"a\"\r\n\r\n");
    let body = [head.as_bytes(), file, &delimiter, b"--\r\n"].concat();
    assert_eq!(fuzzing::form_file(BOUNDARY, &[&body]).as_deref(), Some(file));
}

pub(crate) fn callback(data: &[u8]) {
    let Ok(query) = std::str::from_utf8(data) else { return };
    let Ok(callback) = Callback::decode(query) else { return };
    assert!(!callback.state.is_empty());
    let mut again = format!("state={}", percent::encoded(&callback.state));
    if let Some(issuer) = &callback.issuer {
        again.push_str(&format!("&iss={}", percent::encoded(issuer)));
    }
    match &callback.outcome {
        Outcome::Code(code) => {
            assert_eq!(format!("{code:?}"), "Secret(…)", "a code is printed");
            let code = code.text().expect("it came as text");
            again.push_str(&format!("&code={}", percent::encoded(code)));
        }
        Outcome::Refused(error) => again.push_str(&format!("&error={}", percent::encoded(error))),
    }
    if again.len() <= 16_384 {
        assert_eq!(Callback::decode(&again).as_ref(), Ok(&callback), "{query}");
    }
}
