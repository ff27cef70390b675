//! Bytes no well-behaved client would send: half requests, slow requests, broken frames, over a plain TCP connection.

use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{connection::says_nothing, within};

/// The most that is ever read of an answer.
const READ_LIMIT: usize = 1 << 20;

/// A plain TCP connection.
#[derive(Debug)]
pub struct Raw {
    stream: TcpStream,
}

impl Raw {
    /// Connects.
    pub async fn connect(address: SocketAddr) -> Self {
        let stream = within("a connection", TcpStream::connect(address)).await;
        Self { stream: stream.unwrap_or_else(|error| panic!("nothing listens on {address}: {error}")) }
    }

    /// Writes bytes. A server may have closed already: whether all were taken is returned, not asserted.
    pub async fn write(&mut self, bytes: &[u8]) -> bool {
        within("bytes to be taken", self.stream.write_all(bytes)).await.is_ok()
    }

    /// Writes bytes in pieces with a pause after each, until all are written or the server closes.
    pub async fn write_slowly(&mut self, bytes: &[u8], piece: usize, pause: Duration) -> bool {
        for part in bytes.chunks(piece) {
            if !self.write(part).await {
                return false;
            }
            tokio::time::sleep(pause).await;
        }
        true
    }

    /// Has the server written something that was not read yet?
    pub fn has_bytes(&self) -> bool {
        let mut piece = [0; 1];
        self.stream.try_read(&mut piece).is_ok_and(|count| count > 0)
    }

    /// Says that nothing more will be written; reading goes on.
    pub async fn finish(&mut self) {
        // A connection the server has closed already is finished, too.
        let _closed_already = self.stream.shutdown().await;
    }

    /// Reads until the server closes, at most a megabyte.
    pub async fn read_to_end(&mut self) -> Vec<u8> {
        let mut read = Vec::new();
        within("the end of the connection", async {
            let mut piece = vec![0; 16 * 1024];
            while read.len() < READ_LIMIT {
                match self.stream.read(&mut piece).await {
                    Ok(0) | Err(_) => return,
                    Ok(count) => read.extend_from_slice(&piece[..count]),
                }
            }
        })
        .await;
        read
    }

    /// Reads exactly one HTTP/1.1 answer's status, with what came of the rest.
    pub async fn read_status(&mut self) -> Option<(u16, String)> {
        let mut read = Vec::new();
        within("the head of an answer", async {
            let mut piece = vec![0; 16 * 1024];
            while !read.windows(4).any(|four| four == b"\r\n\r\n") && read.len() < READ_LIMIT {
                match self.stream.read(&mut piece).await {
                    Ok(0) | Err(_) => return,
                    Ok(count) => read.extend_from_slice(&piece[..count]),
                }
            }
        })
        .await;
        let text = String::from_utf8_lossy(&read).into_owned();
        let status = text.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()?;
        Some((status, text))
    }
}

/// The opcodes of RFC 6455, section 5.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opcode {
    Continuation,
    Text,
    Binary,
    Close,
    Ping,
    Pong,
}

impl Opcode {
    fn bits(self) -> u8 {
        match self {
            Self::Continuation => 0x0,
            Self::Text => 0x1,
            Self::Binary => 0x2,
            Self::Close => 0x8,
            Self::Ping => 0x9,
            Self::Pong => 0xA,
        }
    }
}

/// Whether a frame is the last of its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fin {
    Last,
    More,
}

/// A WebSocket after its handshake, written frame by frame.
#[derive(Debug)]
pub struct WebSocketFrames {
    raw: Raw,
}

impl WebSocketFrames {
    /// Opens a WebSocket at `path`; the status when the server refuses.
    pub async fn open(address: SocketAddr, path: &str, headers: &[(&str, &str)]) -> Result<Self, u16> {
        let mut raw = Raw::connect(address).await;
        raw.write(upgrade_request(address, path, headers).as_bytes()).await;
        match raw.read_status().await {
            Some((101, _)) => Ok(Self { raw }),
            Some((status, _)) => Err(status),
            None => Err(0),
        }
    }

    /// The same with a token, unless these headers say already who it is from.
    pub async fn open_showing(
        address: SocketAddr,
        path: &str,
        headers: &[(&str, &str)],
        token: Option<&str>,
    ) -> Result<Self, u16> {
        let bearer = token.map(|token| format!("Bearer {token}"));
        let mut headers = headers.to_vec();
        if let Some(bearer) = &bearer
            && says_nothing(headers.iter().map(|(name, _)| *name))
        {
            headers.push(("authorization", bearer));
        }
        Self::open(address, path, &headers).await
    }

    /// Sends one masked frame.
    pub async fn send(&mut self, fin: Fin, opcode: Opcode, payload: &[u8]) -> bool {
        self.raw.write(&frame(fin, opcode, payload)).await
    }

    /// Sends bytes that need not be a frame.
    pub async fn send_bytes(&mut self, bytes: &[u8]) -> bool {
        self.raw.write(bytes).await
    }

    /// Reads one frame: its first byte (fin and opcode) and payload. Nothing when the connection has ended.
    pub async fn read(&mut self) -> Option<(u8, Vec<u8>)> {
        within("a frame", async {
            let stream = &mut self.raw.stream;
            let first = stream.read_u8().await.ok()?;
            let length = match stream.read_u8().await.ok()? & 0x7F {
                126 => u64::from(stream.read_u16().await.ok()?),
                127 => stream.read_u64().await.ok()?,
                short => u64::from(short),
            };
            let mut payload = vec![0; usize::try_from(length).ok().filter(|length| *length <= 64 * READ_LIMIT)?];
            stream.read_exact(&mut payload).await.ok()?;
            Some((first, payload))
        })
        .await
    }

    /// Reads until the peer's close frame or the end of the connection; the close code when there was one.
    pub async fn read_close_code(&mut self) -> Option<u16> {
        loop {
            let (first, payload) = self.read().await?;
            if first & 0x0F == Opcode::Close.bits() {
                return payload.first_chunk().map(|code| u16::from_be_bytes(*code));
            }
        }
    }
}

fn upgrade_request(address: SocketAddr, path: &str, headers: &[(&str, &str)]) -> String {
    let has_host = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host"));
    let host = if has_host { String::new() } else { format!("Host: {address}\r\n") };
    let more: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!(
        "GET {path} HTTP/1.1\r\n{host}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{more}\r\n"
    )
}

/// One frame as RFC 6455, section 5.2 has it, masked as a client must.
pub fn frame(fin: Fin, opcode: Opcode, payload: &[u8]) -> Vec<u8> {
    let mask = [0x37, 0xFA, 0x21, 0x3D];
    let last = if fin == Fin::Last { 0x80 } else { 0 };
    let mut bytes = vec![last | opcode.bits()];
    match payload.len() {
        short @ 0..=125 => bytes.push(0x80 | u8::try_from(short).expect("at most 125")),
        medium @ 126..=0xFFFF => {
            bytes.push(0x80 | 126);
            bytes.extend(u16::try_from(medium).expect("at most 65535").to_be_bytes());
        }
        long => {
            bytes.push(0x80 | 127);
            bytes.extend((long as u64).to_be_bytes());
        }
    }
    bytes.extend(mask);
    bytes.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, key)| byte ^ key));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_as_the_example_of_rfc_6455_section_5_7() {
        let masked_hello = [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58];
        assert_eq!(frame(Fin::Last, Opcode::Text, b"Hello"), masked_hello);
    }

    #[test]
    fn lengths_grow_by_the_three_forms() {
        assert_eq!(frame(Fin::More, Opcode::Binary, &[0; 126])[..4], [0x02, 0xFE, 0, 126]);
        assert_eq!(frame(Fin::More, Opcode::Binary, &[0; 70_000])[..10], [0x02, 0xFF, 0, 0, 0, 0, 0, 1, 0x11, 0x70]);
    }
}
