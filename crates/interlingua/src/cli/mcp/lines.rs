//! Line framing of standard input, bounded; and messages as lines.

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// No line is longer.
pub(super) const MAX_LINE: usize = 64 << 20;

pub(super) enum InputLine {
    Whole(Vec<u8>),
    /// It was passed over.
    TooLong,
    End,
}

/// Reads lines one after another. Cancel safe: what was read of a line stays.
pub(super) struct Lines<R> {
    reader: R,
    line: Vec<u8>,
    too_long: bool,
    max: usize,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R, max: usize) -> Lines<R> {
        Lines { reader, line: Vec::new(), too_long: false, max }
    }

    pub(super) async fn next(&mut self) -> std::io::Result<InputLine> {
        loop {
            let piece = self.reader.fill_buf().await?;
            if piece.is_empty() {
                // What has no line end at the end is no message.
                return Ok(InputLine::End);
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(piece.len());
            self.too_long |= self.line.len() + taken > self.max;
            if !self.too_long {
                self.line.extend_from_slice(&piece[..taken]);
            }
            self.reader.consume(end.map_or(taken, |end| end + 1));
            if end.is_some() {
                let line = std::mem::take(&mut self.line);
                if std::mem::take(&mut self.too_long) {
                    return Ok(InputLine::TooLong);
                }
                if !line.trim_ascii().is_empty() {
                    return Ok(InputLine::Whole(line));
                }
            }
        }
    }
}

/// A message as one line: line ends in JSON are white space between its tokens.
pub(super) fn line(message: &[u8]) -> Vec<u8> {
    let mut line: Vec<u8> =
        message.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn m_41_a_line_that_is_too_long_is_passed_over_and_the_next_is_read() {
        let input = format!("{{}}\n\n{}\n[]\nno end", "x".repeat(100));
        let mut lines = Lines::new(input.as_bytes(), 10);
        assert!(matches!(lines.next().await, Ok(InputLine::Whole(line)) if line == b"{}"));
        assert!(matches!(lines.next().await, Ok(InputLine::TooLong)));
        assert!(matches!(lines.next().await, Ok(InputLine::Whole(line)) if line == b"[]"));
        assert!(matches!(lines.next().await, Ok(InputLine::End)));
    }

    #[test]
    fn m_42_a_message_is_one_line() {
        assert_eq!(line(b"{\n\"a\":1\r\n}"), b"{ \"a\":1  }\n");
    }
}
