//! Response of a gRPC call, as it arrives: messages, and then the status, in the trailers, or in the head of an answer without messages
//! (the gRPC protocol over HTTP/2, "Responses").

use bytes::Bytes;

use super::decode;
use super::fault::Refusal;
use crate::Version;
use crate::grpc::{BadFrame, Frames, is_media};
use crate::invalid::{Invalid, Problem};
use crate::method::Method;
use crate::wire::Update;

/// How a call ended, as its server says.
pub type Status = Result<(), Refusal>;

const STATUS: &str = "grpc-status";
const MESSAGE: &str = "grpc-message";
const DETAILS: &str = "grpc-status-details-bin";
/// What a status is that is no number.
const UNKNOWN: u32 = 2;
/// Codes of a call that broke off on its way rather than at the agent: a proxy or the server's own end says so.
const BROKEN: [&str; 2] = ["1", "14"];

/// The status, where headers or trailers have one.
pub fn status<'h>(header: impl Fn(&'static str) -> Option<&'h str>) -> Option<Status> {
    match header(STATUS)?.trim() {
        "0" => Some(Ok(())),
        code => {
            let code = code.parse().unwrap_or(UNKNOWN);
            Some(Err(Refusal::of_grpc(code, header(MESSAGE).unwrap_or_default(), header(DETAILS))))
        }
    }
}

/// Is this the head of an answer of gRPC at all? What is none says so by its status of HTTP.
pub fn head(status: u16, content_type: &str) -> Result<Result<(), Refusal>, Invalid> {
    match status {
        200 if is_media(content_type) => Ok(Ok(())),
        200 => Err(Invalid::whole(Problem::Shape("an answer of gRPC is wanted"))),
        other => Ok(Err(Refusal::of_status(other, None))),
    }
}

/// Why there is no next message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bad {
    TooLarge,
    Invalid(Invalid),
}

/// Where the messages end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// There are no more.
    Done,
    Refused(Refusal),
    /// Nobody said that this is the end, or it was said on the way here.
    Broken(&'static str),
}

/// The messages of one call.
#[derive(Debug)]
pub struct Messages {
    frames: Frames,
    method: Method,
    version: Version,
    depth: usize,
    status: Option<Status>,
    heard: bool,
}

impl Messages {
    /// `head`: the status, where the head of the answer has it.
    pub fn new(method: Method, version: Version, limit: usize, depth: usize, head: Option<Status>) -> Messages {
        Messages { frames: Frames::new(limit), method, version, depth, status: head, heard: false }
    }

    pub fn push(&mut self, bytes: &Bytes) {
        self.frames.push(bytes);
    }

    /// How many bytes are there of a message that is not whole.
    pub fn unfinished(&self) -> usize {
        self.frames.unfinished()
    }

    /// The trailers have come.
    pub fn ends(&mut self, status: Option<Status>) {
        self.status = status.or(self.status.take());
    }

    /// The next message; `None` until it is whole.
    pub fn take(&mut self) -> Result<Option<Update>, Bad> {
        let message = match self.frames.take() {
            Ok(None) => return Ok(None),
            Ok(Some(message)) => message,
            Err(BadFrame::TooLarge) => return Err(Bad::TooLarge),
            Err(bad @ (BadFrame::Compressed | BadFrame::Malformed)) => return Err(Bad::Invalid(bad.into())),
        };
        self.heard = true;
        decode::grpc(&message, self.method, self.version, self.depth).map(Some).map_err(Bad::Invalid)
    }

    /// Nothing more comes.
    pub fn end(&mut self) -> End {
        match self.status.take() {
            None => End::Broken("the answer ended without a status"),
            Some(Ok(())) if !self.frames.is_empty() => End::Broken("the answer ended within a message"),
            Some(Ok(())) => End::Done,
            Some(Err(refusal)) if self.heard && BROKEN.contains(&&*refusal.code) => {
                End::Broken("the answer was broken off")
            }
            Some(Err(refusal)) => End::Refused(refusal),
        }
    }
}
