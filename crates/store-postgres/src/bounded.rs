//! A bound on what the server may send: the answer to one request, from one `ReadyForQuery` to the next. The library collects an
//! answer whole and believes the length that a message states, so that a server could take all memory.
//!
//! The bytes are only counted: tag (1), length (4, which counts itself), content. A length that cannot be, or a sum above the
//! bound, ends the connection with an error.

use std::future::{Ready, ready};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};

/// The longest write (`super::MOST_BYTES`) comes back in one row, after a page of shorter ones.
const MOST_ANSWER: u64 = 320 * 1024 * 1024;
/// The server waits for the next request after this message.
const READY_FOR_QUERY: u8 = b'Z';
const HEAD: usize = 5;

/// Where in the stream of messages a reader stands.
#[derive(Debug, Default)]
pub(super) struct Count {
    head: [u8; HEAD],
    /// Bytes of the head that were seen.
    seen: usize,
    /// Bytes of the message that are still to come.
    left: usize,
    answer: u64,
}

impl Count {
    pub(super) fn add(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            if self.left > 0 {
                let passed = self.left.min(bytes.len());
                self.left -= passed;
                bytes = &bytes[passed..];
                continue;
            }
            let taken = (HEAD - self.seen).min(bytes.len());
            self.head[self.seen..self.seen + taken].copy_from_slice(&bytes[..taken]);
            self.seen += taken;
            bytes = &bytes[taken..];
            if self.seen == HEAD {
                self.seen = 0;
                self.begin()?;
            }
        }
        Ok(())
    }

    /// The bytes of the current answer, with those of its last message that are still to come.
    pub(super) fn answer(&self) -> u64 {
        self.answer
    }

    fn begin(&mut self) -> io::Result<()> {
        let [tag, length @ ..] = self.head;
        let length = u32::from_be_bytes(length);
        let Some(content) = length.checked_sub(4) else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a message of the database has no length"));
        };
        self.answer = if tag == READY_FOR_QUERY { u64::from(length) } else { self.answer + u64::from(length) + 1 };
        if self.answer > MOST_ANSWER {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "an answer of the database is too large"));
        }
        self.left = usize::try_from(content).unwrap_or(usize::MAX);
        Ok(())
    }
}

/// A stream whose answers are bounded.
#[derive(Debug)]
pub(super) struct Bounded<S> {
    inner: S,
    count: Count,
}

impl<S> Bounded<S> {
    pub(super) fn new(inner: S) -> Bounded<S> {
        Bounded { inner, count: Count::default() }
    }

    pub(super) fn get_ref(&self) -> &S {
        &self.inner
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Bounded<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(cx, buf);
        if let Poll::Ready(Ok(())) = polled {
            self.count.add(&buf.filled()[before..])?;
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Bounded<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

/// No TLS, in the place of a TLS connector: with direct negotiation the library hands it the connection before any byte was
/// sent, and speaks over what comes back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plain;

impl<S: AsyncRead + AsyncWrite + Unpin> MakeTlsConnect<S> for Plain {
    type Stream = Bounded<S>;
    type TlsConnect = Plain;
    type Error = io::Error;

    fn make_tls_connect(&mut self, _host: &str) -> io::Result<Plain> {
        Ok(Plain)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsConnect<S> for Plain {
    type Stream = Bounded<S>;
    type Error = io::Error;
    type Future = Ready<io::Result<Bounded<S>>>;

    fn connect(self, stream: S) -> Self::Future {
        ready(Ok(Bounded::new(stream)))
    }
}

/// Only for what [`Plain`] made: there is no certificate to bind to.
impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Bounded<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(tag: u8, content: usize) -> Vec<u8> {
        let length = u32::try_from(content + 4).unwrap();
        [&[tag][..], &length.to_be_bytes(), &vec![7; content]].concat()
    }

    #[test]
    fn messages_are_counted_wherever_they_are_cut() {
        let stream = [message(b'R', 4), message(b'D', 300), message(b'C', 0), message(b'Z', 1)].concat();
        for piece in 1..stream.len() {
            let mut count = Count::default();
            for bytes in stream.chunks(piece) {
                count.add(bytes).unwrap();
            }
            assert_eq!((count.left, count.seen, count.answer), (0, 0, 5), "pieces of {piece}");
        }
    }

    #[test]
    fn attack_a_length_that_cannot_be_and_an_answer_without_end_are_refused() {
        assert!(Count::default().add(&[b'D', 0, 0, 0, 3]).is_err());
        assert!(Count::default().add(&[b'D', 0x7f, 0xff, 0xff, 0xff]).is_err());
        assert!(Count::default().add(&[b'D', 0xff, 0xff, 0xff, 0xff]).is_err());
        // Many small rows and no end of them.
        let row = message(b'D', 1024 * 1024);
        let mut count = Count::default();
        let refused = (0..400).find(|_| count.add(&row).is_err());
        assert_eq!(refused, Some(319), "at the bound, not at the end of memory");
        // Each answer for itself.
        let mut count = Count::default();
        for _ in 0..400 {
            count.add(&row).unwrap();
            count.add(&message(b'Z', 1)).unwrap();
        }
    }
}
