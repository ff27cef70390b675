//! gRPC around the messages of [`super::proto`]: frames, status, deadlines (the gRPC protocol over HTTP/2, and section 10).
//!
//! No message is compressed, in either direction.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bytes::{Buf, Bytes, BytesMut};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

use super::Version;
use super::fault::Error;
pub use super::invalid::BadFrame;
use super::json::base64;
use interlingua_wire::protobuf::{Fields, Value, Writer};

/// The service of each generation, which is the first step of its methods' paths.
pub const fn service(version: Version) -> &'static str {
    match version {
        Version::V1 => "lf.a2a.v1.A2AService",
        Version::V03 => "a2a.v1.A2AService",
    }
}

/// The generation whose service a path belongs to.
pub fn version_of(path: &str) -> Option<Version> {
    let service = path.strip_prefix('/').and_then(|rest| rest.split_once('/')).map(|(service, _)| service);
    [Version::V1, Version::V03].into_iter().find(|version| service == Some(self::service(*version)))
}

/// Does a path belong to one of the services?
pub fn is_path(path: &str) -> bool {
    version_of(path).is_some()
}

pub const MEDIA: &str = "application/grpc";

/// `application/grpc`, alone or with the format this is: protocol buffers.
pub fn is_media(content_type: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case(MEDIA) || kind.eq_ignore_ascii_case("application/grpc+proto")
}

const HEAD: usize = 5;

/// A message in its frame.
pub fn frame(message: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(message.len() + HEAD);
    out.push(0);
    // A message of 4 GiB was refused long before.
    out.extend_from_slice(&u32::try_from(message.len()).unwrap_or(u32::MAX).to_be_bytes());
    out.extend_from_slice(message);
    out.into()
}

/// Takes frames apart as they come.
#[derive(Debug)]
pub struct Frames {
    read: BytesMut,
    limit: usize,
}

impl Frames {
    /// No message may be larger than `limit`.
    pub fn new(limit: usize) -> Frames {
        Frames { read: BytesMut::new(), limit }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        self.read.extend_from_slice(bytes);
    }

    /// The next message; `None` until it is whole.
    pub fn take(&mut self) -> Result<Option<Bytes>, BadFrame> {
        let Some(&[flag, a, b, c, d]) = self.read.first_chunk::<HEAD>() else { return Ok(None) };
        match flag {
            0 => {}
            1 => return Err(BadFrame::Compressed),
            _ => return Err(BadFrame::Malformed),
        }
        let length = usize::try_from(u32::from_be_bytes([a, b, c, d])).map_err(|_| BadFrame::TooLarge)?;
        if length > self.limit {
            return Err(BadFrame::TooLarge);
        }
        if self.read.len() - HEAD < length {
            return Ok(None);
        }
        self.read.advance(HEAD);
        Ok(Some(self.read.split_to(length).freeze()))
    }

    /// How many bytes are there of a message that is not whole.
    pub fn unfinished(&self) -> usize {
        self.read.len()
    }

    /// Nothing is left over.
    pub fn is_empty(&self) -> bool {
        self.read.is_empty()
    }
}

/// The one message of a body.
pub fn unframe(body: &Bytes) -> Result<Bytes, BadFrame> {
    let Some(&[flag, a, b, c, d]) = body.first_chunk::<HEAD>() else { return Err(BadFrame::Malformed) };
    match flag {
        0 => {}
        1 => return Err(BadFrame::Compressed),
        _ => return Err(BadFrame::Malformed),
    }
    let length = usize::try_from(u32::from_be_bytes([a, b, c, d])).map_err(|_| BadFrame::TooLarge)?;
    if body.len() - HEAD != length {
        return Err(BadFrame::Malformed);
    }
    Ok(body.slice(HEAD..))
}

/// `grpc-timeout`: at most eight digits and a unit.
pub fn timeout(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let count: u64 = digits.parse().ok()?;
    Some(match unit {
        "H" => Duration::from_secs(count * 3600),
        "M" => Duration::from_secs(count * 60),
        "S" => Duration::from_secs(count),
        "m" => Duration::from_millis(count),
        "u" => Duration::from_micros(count),
        "n" => Duration::from_nanos(count),
        _ => return None,
    })
}

/// `grpc-timeout` of a time to wait; one that is too long to say is not said.
pub fn write_timeout(wait: Duration) -> Option<String> {
    let millis = wait.as_millis();
    match millis {
        0..=99_999_999 => Some(format!("{millis}m")),
        _ => Some(wait.as_secs()).filter(|seconds| *seconds <= 99_999_999).map(|seconds| format!("{seconds}S")),
    }
}

/// What a `grpc-message` escapes: all that is no plain ASCII, and the sign of an escape.
const MESSAGE: AsciiSet = CONTROLS.add(b'%');

/// As a `grpc-message` is written.
pub fn escape(text: &str) -> String {
    utf8_percent_encode(text, &MESSAGE).to_string()
}

/// What [`escape`] wrote. What is no escape is taken as it stands.
pub fn unescape(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

const ERROR_INFO: &str = "type.googleapis.com/google.rpc.ErrorInfo";
const BAD_REQUEST: &str = "type.googleapis.com/google.rpc.BadRequest";
const RETRY_INFO: &str = "type.googleapis.com/google.rpc.RetryInfo";

/// `grpc-status-details-bin`: a `google.rpc.Status` with the same details the other bindings tell.
pub fn details(error: &Error) -> String {
    let mut out = Vec::with_capacity(256);
    let mut status = Writer::new(&mut out);
    status.varint(1, error.row.grpc.number().into());
    status.bytes(2, error.message.as_bytes());
    let (reason, domain) = error.reason();
    any(&mut status, ERROR_INFO, |info| {
        info.bytes(1, reason.as_bytes());
        info.bytes(2, domain.as_bytes());
        within(info, 3, |entry| {
            entry.bytes(1, b"reason");
            entry.bytes(2, reason.as_bytes());
        });
    });
    if !error.fields.is_empty() {
        any(&mut status, BAD_REQUEST, |request| {
            for field in &error.fields {
                within(request, 1, |violation| {
                    violation.bytes(1, field.path.as_bytes());
                    violation.bytes(2, field.problem.as_bytes());
                });
            }
        });
    }
    if let Some(after) = error.retry {
        any(&mut status, RETRY_INFO, |retry| {
            within(retry, 1, |span| {
                span.varint(1, after.as_secs());
                span.varint(2, after.subsec_nanos().into());
            });
        });
    }
    STANDARD_NO_PAD.encode(out)
}

fn any(status: &mut Writer<'_>, kind: &str, fill: impl FnOnce(&mut Writer<'_>)) {
    within(status, 3, |any| {
        any.bytes(1, kind.as_bytes());
        within(any, 2, fill);
    });
}

fn within(writer: &mut Writer<'_>, number: u32, fill: impl FnOnce(&mut Writer<'_>)) {
    let Ok(()) = writer.message(number, |inner| {
        fill(inner);
        Ok::<(), std::convert::Infallible>(())
    });
}

/// The `reason` of the `ErrorInfo` in `grpc-status-details-bin`, where there is one: what a client goes by.
pub fn reason(details: &str) -> Option<String> {
    let status = base64(details).ok()?;
    let reason = fields(detail(&status, ERROR_INFO)?, 1).next()?;
    std::str::from_utf8(reason).ok().map(str::to_owned)
}

/// The delay of its `RetryInfo`.
pub fn retry(details: &str) -> Option<Duration> {
    let status = base64(details).ok()?;
    let delay = fields(detail(&status, RETRY_INFO)?, 1).next()?;
    let number = |wanted: u32| {
        let mut all = Fields::of(delay).filter_map(Result::ok).filter(|(number, _)| *number == wanted);
        all.find_map(|(_, value)| if let Value::Varint(number) = value { Some(number) } else { None })
    };
    let nanos = number(2).unwrap_or_default();
    Some(Duration::new(
        number(1).unwrap_or_default(),
        u32::try_from(nanos).ok().filter(|nanos| *nanos < 1_000_000_000)?,
    ))
}

/// The content of the detail of this type.
fn detail<'s>(status: &'s [u8], kind: &str) -> Option<&'s [u8]> {
    let any = fields(status, 3).find(|any| fields(any, 1).next() == Some(kind.as_bytes()))?;
    fields(any, 2).next()
}

fn fields(message: &[u8], wanted: u32) -> impl Iterator<Item = &[u8]> {
    Fields::of(message).filter_map(Result::ok).filter_map(move |(number, value)| match value {
        Value::Bytes(bytes) if number == wanted => Some(bytes),
        Value::Bytes(_) | Value::Varint(_) | Value::Fixed64(_) | Value::Fixed32(_) => None,
    })
}
