//! Reads one file from a form (RFC 7578), as the reference server's clients send it: the field `contents`, or `file`. It is streamed: only
//! a possible beginning of a boundary is held back.

use interlingua_model::{Fault, FaultKind};

/// How long the head of one field may be.
const MAX_HEAD: usize = 16 * 1024;
/// The fields that may hold the content.
const FIELDS: [&str; 2] = ["contents", "file"];

/// The boundary of a form, if this content type is one.
pub(crate) fn boundary(content_type: &str) -> Option<String> {
    let (kind, parameters) = content_type.split_once(';')?;
    if !kind.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let value = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("boundary").then(|| value.trim().trim_matches('"').to_owned())
    })?;
    (1..=70).contains(&value.len()).then_some(value)
}

#[derive(Debug)]
pub(crate) struct Multipart {
    /// What ends a field: CRLF, two dashes, the boundary.
    delimiter: Vec<u8>,
    held: Vec<u8>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before a field's head is complete.
    Head,
    /// In a field; is it the one that is wanted?
    Field { wanted: bool },
    /// The wanted field was read.
    Done,
}

impl Multipart {
    pub(crate) fn new(boundary: &str) -> Multipart {
        let delimiter = format!("\r\n--{boundary}").into_bytes();
        // The first boundary has no line before it.
        Multipart { delimiter, held: b"\r\n".to_vec(), state: State::Head }
    }

    /// The content in this piece of the body.
    pub(crate) fn take(&mut self, piece: &[u8]) -> Result<Vec<u8>, Fault> {
        let mut content = Vec::new();
        self.held.extend_from_slice(piece);
        loop {
            match self.state {
                State::Done => {
                    self.held.clear();
                    return Ok(content);
                }
                State::Head => match self.head()? {
                    Some(wanted) => self.state = State::Field { wanted },
                    None => return Ok(content),
                },
                State::Field { wanted } => {
                    let ended = self.field(wanted, &mut content);
                    if !ended {
                        return Ok(content);
                    }
                    self.state = if wanted { State::Done } else { State::Head };
                }
            }
        }
    }

    /// Reads a delimiter and the head behind it: is it the field that is wanted?
    fn head(&mut self) -> Result<Option<bool>, Fault> {
        let Some(end) = find(&self.held, b"\r\n\r\n") else {
            return if self.held.len() > MAX_HEAD { Err(bad("a field's head is too long")) } else { Ok(None) };
        };
        let head = String::from_utf8_lossy(&self.held[..end]).into_owned();
        if !self.held.starts_with(&self.delimiter) {
            return Err(bad("the form does not begin with its boundary"));
        }
        self.held.drain(..end + 4);
        let disposition = head.lines().find(|line| line.to_ascii_lowercase().starts_with("content-disposition:"));
        let name = disposition.and_then(|line| {
            line.split(';').find_map(|part| part.trim().strip_prefix("name=").map(|name| name.trim_matches('"')))
        });
        Ok(Some(name.is_some_and(|name| FIELDS.contains(&name))))
    }

    /// Takes what is certainly of this field; true when its end was found.
    fn field(&mut self, wanted: bool, content: &mut Vec<u8>) -> bool {
        let (end, ended) = match find(&self.held, &self.delimiter) {
            Some(end) => (end, true),
            None => (self.held.len().saturating_sub(self.delimiter.len()), false),
        };
        let taken = self.held.drain(..end);
        if wanted {
            content.extend(taken);
        }
        ended
    }

    /// A form that ends before its file does stored nothing.
    pub(crate) fn end(&self) -> Result<(), Fault> {
        match self.state {
            State::Done => Ok(()),
            State::Head | State::Field { .. } => Err(bad("the form has no whole field 'contents' or 'file'")),
        }
    }
}

fn bad(problem: &'static str) -> Fault {
    Fault::caller(FaultKind::Malformed, problem)
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: &[u8] = b"--B\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nhello\r\n--B\r\n\
        Content-Disposition: form-data; name=\"contents\"; filename=\"a.bin\"\r\nContent-Type: x/y\r\n\r\n\
        \x00one\r\n--not the boundary\r\ntwo\r\n--B--\r\n";
    const CONTENT: &[u8] = b"\x00one\r\n--not the boundary\r\ntwo";

    fn read(pieces: impl Iterator<Item = Vec<u8>>) -> Result<Vec<u8>, Fault> {
        let mut form = Multipart::new("B");
        let mut content = Vec::new();
        for piece in pieces {
            content.extend(form.take(&piece)?);
        }
        form.end().map(|()| content)
    }

    #[test]
    fn the_file_is_the_same_however_the_body_is_cut() {
        for size in 1..FORM.len() {
            assert_eq!(read(FORM.chunks(size).map(<[u8]>::to_vec)).expect("a form"), CONTENT, "pieces of {size}");
        }
    }

    #[test]
    fn a_form_without_the_file_or_without_its_end_is_refused() {
        assert!(read(std::iter::once(FORM[..FORM.len() - 8].to_vec())).is_err());
        assert!(
            read(std::iter::once(b"--B\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n1\r\n--B--\r\n".to_vec()))
                .is_err()
        );
        assert!(read(std::iter::once(b"nonsense\r\n\r\n".to_vec())).is_err());
        assert!(read(std::iter::repeat_n(b"--B\r\nx".to_vec(), 10_000)).is_err());
    }

    #[test]
    fn the_boundary_is_read_from_the_content_type() {
        assert_eq!(boundary("multipart/form-data; boundary=\"a b\"").as_deref(), Some("a b"));
        assert_eq!(boundary("application/octet-stream"), None);
    }
}
