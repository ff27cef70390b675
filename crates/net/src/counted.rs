//! Memory accounting of WebSockets (backpressure): counts the bytes of a message while they are read. The library returns whole messages
//! only, so endless fragments, or one long frame that never ends, would otherwise be unbounded.
//!
//! Only the headers of frames are parsed here (RFC 6455 section 5.2). A message that is not small takes its part of the body budget
//! ([`crate::body_budget`]), and must end in time once it was begun: pings and pongs in between do not extend the time.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use crate::connection_limits::Place;
use interlingua_hub::byte_budget::{ByteBudget, HeldBytes, Reservation, SMALL};

const BLANK_LINE: &[u8; 4] = b"\r\n\r\n";
/// How many bytes of a message earn it a second more.
const SPEED: u64 = 64 * 1024;
/// How much longer so many bytes may take.
pub(crate) fn earned(bytes: u64) -> Duration {
    Duration::from_secs(bytes / SPEED)
}

/// How much is read at once, so that room is asked for before much has come.
const PIECE: usize = 64 * 1024;

/// How much one side of a WebSocket may send.
#[derive(Debug, Clone)]
pub struct Allowance {
    pub room: Arc<ByteBudget>,
    /// How long a whole message may take, besides what it earns.
    pub message_time: Duration,
}

/// Why no more is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// There is no room for it.
    Busy,
    /// It was begun and does not end.
    Slow,
}

/// The stream below a WebSocket.
pub struct Counted<S> {
    stream: S,
    allowance: Allowance,
    /// How much of the blank line is there that ends the head before the frames; absent once it is passed.
    head: Option<usize>,
    frames: Frames,
    /// Of the message that comes.
    claim: Option<Box<Reservation>>,
    /// What messages hold that are whole and were not handed out yet, by their number; small ones hold nothing.
    whole: VecDeque<(u64, Arc<HeldBytes>)>,
    /// How many were handed out.
    handed: u64,
    /// Since when a message comes.
    since: Option<Instant>,
    overdue: Option<Pin<Box<Sleep>>>,
    refused: Option<Refusal>,
    /// Of a socket that is one of many on its connection.
    _place: Option<Place>,
}

impl<S> std::fmt::Debug for Counted<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Counted").field("frames", &self.frames).finish_non_exhaustive()
    }
}

impl<S> Counted<S> {
    pub(super) fn new(stream: S, allowance: Allowance, place: Option<Place>) -> Counted<S> {
        Counted {
            stream,
            allowance,
            head: None,
            frames: Frames::default(),
            claim: None,
            whole: VecDeque::new(),
            handed: 0,
            since: None,
            overdue: None,
            refused: None,
            _place: place,
        }
    }

    /// Of a socket that is about to be opened: frames follow the head of the answer.
    pub fn behind_a_head(stream: S, allowance: Allowance) -> Counted<S> {
        Counted { head: Some(0), ..Counted::new(stream, allowance, None) }
    }

    /// What of these bytes is behind the head.
    fn behind<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let Some(matched) = &mut self.head else { return bytes };
        for (at, byte) in bytes.iter().enumerate() {
            *matched = match *byte {
                byte if byte == BLANK_LINE[*matched] => *matched + 1,
                b'\r' => 1,
                _ => 0,
            };
            if *matched == BLANK_LINE.len() {
                self.head = None;
                return &bytes[at + 1..];
            }
        }
        &[]
    }

    /// The next message was handed out: what it holds goes with it.
    pub(crate) fn hand_out(&mut self) -> Option<Arc<HeldBytes>> {
        self.handed += 1;
        self.whole.pop_front_if(|(number, _)| *number == self.handed).map(|(_, held)| held)
    }

    /// It was not read for a while, which is not the other side's doing.
    pub fn pardon(&mut self) {
        self.since = self.since.map(|_| Instant::now());
    }

    /// Ready when what was begun is waited for no longer.
    pub(crate) fn poll_refused(&mut self, cx: &mut Context<'_>) -> Poll<Refusal> {
        if let Some(refusal) = self.refused {
            return Poll::Ready(refusal);
        }
        if let Some(claim) = &mut self.claim
            && claim.poll_dawdling(cx).is_ready()
        {
            return Poll::Ready(Refusal::Busy);
        }
        let Some(since) = self.since else { return Poll::Pending };
        let due = since + self.allowance.message_time + earned(self.frames.came);
        let overdue = self.overdue.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(due)));
        if overdue.deadline() != due {
            overdue.as_mut().reset(due);
        }
        overdue.as_mut().poll(cx).map(|()| Refusal::Slow)
    }

    fn arrived(&mut self, bytes: &[u8]) {
        let mut bytes = self.behind(bytes);
        let before = self.frames.ended;
        while !bytes.is_empty() {
            let (taken, whole) = self.frames.feed(bytes);
            bytes = &bytes[taken..];
            if self.frames.came > SMALL {
                let claim = self.claim.get_or_insert_with(|| Box::new(Reservation::new(&self.allowance.room, SMALL)));
                claim.grew_to(self.frames.came, Some(self.frames.declared));
            }
            if whole {
                self.frames.next_message();
                let held = self.claim.take().map(|claim| (self.frames.ended, claim.into_held()));
                self.whole.extend(held);
            }
        }
        // Whoever sends whole messages costs no look at the clock.
        if !self.frames.open {
            self.since = None;
        } else if self.since.is_none() || self.frames.ended != before {
            self.since = Some(Instant::now());
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Counted<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if let Some(claim) = &mut this.claim
            && ready!(claim.poll_granted(cx)).is_err()
        {
            this.refused = Some(Refusal::Busy);
        }
        // Whoever reads asks next why nothing comes.
        if this.refused.is_some() {
            return Poll::Pending;
        }
        let before = into.filled().len();
        if into.remaining() > PIECE {
            let mut piece = ReadBuf::new(into.initialize_unfilled_to(PIECE));
            ready!(Pin::new(&mut this.stream).poll_read(cx, &mut piece))?;
            let read = piece.filled().len();
            into.advance(read);
        } else {
            ready!(Pin::new(&mut this.stream).poll_read(cx, into))?;
        }
        this.arrived(&into.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Counted<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(cx, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

/// Where in the frames the bytes are. What is no frame is for the library to refuse.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    head: [u8; 14],
    have: usize,
    /// What is to come of this frame's payload.
    left: u64,
    /// The frame is part of a message, and its last.
    data: bool,
    last: bool,
    /// A message was begun.
    open: bool,
    /// How long it is, as far as its frames have said, and how much of it came.
    declared: u64,
    came: u64,
    /// How many were whole.
    ended: u64,
}

impl Frames {
    /// Reads some of these bytes: how many, and whether a message is whole with them.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> (usize, bool) {
        if self.left > 0 {
            let taken = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
            self.left -= taken as u64;
            self.came += if self.data { taken as u64 } else { 0 };
            return (taken, self.is_whole());
        }
        let wanted = (self.head_length() - self.have).min(bytes.len());
        self.head[self.have..self.have + wanted].copy_from_slice(&bytes[..wanted]);
        self.have += wanted;
        if self.have < self.head_length() {
            return (wanted, false);
        }
        self.begin();
        (wanted, self.is_whole())
    }

    /// As far as it is known.
    fn head_length(&self) -> usize {
        if self.have < 2 {
            return 2;
        }
        let length = match self.head[1] & 127 {
            126 => 4,
            127 => 10,
            _ => 2,
        };
        length + if self.head[1] & 128 == 0 { 0 } else { 4 }
    }

    fn begin(&mut self) {
        let [first, second, a, b, c, d, e, f, g, h, ..] = self.head;
        self.left = match second & 127 {
            126 => u64::from(u16::from_be_bytes([a, b])),
            127 => u64::from_be_bytes([a, b, c, d, e, f, g, h]),
            short => u64::from(short),
        };
        self.have = 0;
        self.data = first & 8 == 0;
        self.last = first & 128 != 0;
        if self.data {
            self.open = true;
            self.declared = self.declared.saturating_add(self.left);
        }
    }

    fn is_whole(&self) -> bool {
        self.left == 0 && self.data && self.last && self.open
    }

    pub(crate) fn next_message(&mut self) {
        (self.open, self.declared, self.came) = (false, 0, 0);
        self.ended += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(first: u8, length: usize) -> Vec<u8> {
        let mut frame = vec![first];
        match length {
            0..=125 => frame.push(128 | u8::try_from(length).expect("short")),
            126..=0xFFFF => {
                frame.push(128 | 126);
                frame.extend(u16::try_from(length).expect("medium").to_be_bytes());
            }
            _ => {
                frame.push(128 | 127);
                frame.extend((length as u64).to_be_bytes());
            }
        }
        frame.extend([7; 4]);
        frame.resize(frame.len() + length, b'x');
        frame
    }

    fn counted(room: &Arc<ByteBudget>) -> Counted<tokio::io::Empty> {
        let allowance = Allowance { room: room.clone(), message_time: Duration::from_secs(60) };
        Counted::new(tokio::io::empty(), allowance, None)
    }

    /// However its bytes are cut, each message holds what is its own until it is dropped.
    #[tokio::test]
    async fn frames_are_followed_however_their_bytes_are_cut() {
        const PING: u8 = 0x89;
        let large = 300_000;
        let bytes: Vec<u8> = [
            frame(0x81, 5),
            frame(0x01, 0),
            frame(PING, 125),
            frame(0x00, 70_000),
            frame(0x80, 70_000),
            frame(PING, 0),
            frame(0x82, large),
            frame(0x81, 0),
            frame(0x81, 126),
        ]
        .concat();
        for cut in [1, 2, 3, 7, 100, 4_096, 65_536, bytes.len()] {
            let room = ByteBudget::new(1 << 20);
            let mut counted = counted(&room);
            for piece in bytes.chunks(cut) {
                counted.arrived(piece);
            }
            assert_eq!((counted.frames.ended, counted.frames.open, counted.since), (5, false, None), "by {cut}");
            assert_eq!(room.taken(), 140_000 + large as u64, "by {cut}");
            let held: Vec<bool> = (0..5).map(|_| counted.hand_out().is_some()).collect();
            assert_eq!(held, [false, true, true, false, false], "by {cut}");
            assert_eq!(room.taken(), 0, "by {cut}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_message_that_does_not_end_is_overdue_whatever_comes_in_between() {
        let mut counted = counted(&ByteBudget::new(1 << 20));
        counted.arrived(&frame(0x01, 10));
        let begun = Instant::now();
        let overdue = async {
            loop {
                tokio::select! {
                    biased;
                    refusal = std::future::poll_fn(|cx| counted.poll_refused(cx)) => return refusal,
                    () = tokio::time::sleep(Duration::from_secs(5)) => {}
                }
                counted.arrived(&frame(0x89, 3));
                counted.arrived(&frame(0x00, 1));
            }
        };
        assert_eq!(overdue.await, Refusal::Slow);
        assert_eq!(begun.elapsed().as_secs(), 60);
    }
}
