//! Fault-injecting proxy: connections are cut, stall, go half open, are slow or refused, and messages of one connection are repeated on the
//! next.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// What happens to what passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weather {
    Fair,
    /// Every piece takes so long.
    Slow(Duration),
    /// Nothing passes, and nobody is told: the connections look alive from both ends.
    Stalled,
    /// What the client says arrives; what the server says does not.
    HalfOpen,
    /// Connections are cut, and new ones too.
    Cut,
    /// The last message of the client before comes again, after the first one of the next.
    Repeating,
}

/// Stands in front of a server until it is dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    weather: Arc<watch::Sender<Weather>>,
    /// Ends with it, and every connection too.
    _accepting: JoinSet<()>,
}

impl Proxy {
    /// A proxy on a free loopback port, for HTTP and WebSockets.
    pub async fn before(server: SocketAddr) -> Proxy {
        Proxy::start(server, Carried::Frames).await
    }

    /// The same for any protocol; it repeats nothing.
    pub async fn before_bytes(server: SocketAddr) -> Proxy {
        Proxy::start(server, Carried::Bytes).await
    }

    async fn start(server: SocketAddr, carried_as: Carried) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let weather = Arc::new(watch::Sender::new(Weather::Fair));
        let seen = weather.clone();
        let last: Last = Arc::default();
        let mut accepting = JoinSet::new();
        accepting.spawn(async move {
            let mut carried = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                carried.spawn(carry(client, server, seen.clone(), carried_as, last.clone()));
            }
        });
        Proxy { address, weather, _accepting: accepting }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on.
    pub fn turn(&self, weather: Weather) {
        self.weather.send_replace(weather);
    }
}

/// What a proxy knows of what it carries.
#[derive(Debug, Clone, Copy)]
enum Carried {
    /// A handshake of HTTP, then frames of a WebSocket.
    Frames,
    Bytes,
}

async fn carry(
    client: TcpStream,
    server: SocketAddr,
    weather: Arc<watch::Sender<Weather>>,
    carried: Carried,
    last: Last,
) {
    if *weather.borrow() == Weather::Cut {
        return;
    }
    let Ok(server) = TcpStream::connect(server).await else { return };
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let repeated = if *weather.borrow() == Weather::Repeating { last.lock().expect("a message").take() } else { None };
    let messages = match carried {
        Carried::Frames => Some(Messages { last, repeated, rest: Vec::new(), opened: false }),
        Carried::Bytes => None,
    };
    let up = pass(from_client, to_server, weather.subscribe(), messages, |weather| weather == Weather::Stalled);
    let down = pass(from_server, to_client, weather.subscribe(), None, |weather| {
        matches!(weather, Weather::Stalled | Weather::HalfOpen)
    });
    let mut watching = weather.subscribe();
    tokio::select! {
        () = up => {}
        () = down => {}
        _ = watching.wait_for(|weather| *weather == Weather::Cut) => {}
    }
}

async fn pass(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    mut weather: watch::Receiver<Weather>,
    mut messages: Option<Messages>,
    holds: fn(Weather) -> bool,
) {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let Ok(count @ 1..) = from.read(&mut buffer).await else { return };
        let now = match weather.wait_for(|weather| !holds(*weather)).await {
            Ok(now) => *now,
            Err(_) => return,
        };
        if let Weather::Slow(by) = now {
            tokio::time::sleep(by).await;
        }
        let passed = match &mut messages {
            Some(messages) => messages.pass(&buffer[..count]),
            None => buffer[..count].to_vec(),
        };
        if to.write_all(&passed).await.is_err() {
            return;
        }
    }
}

/// The last whole text message that a client sent, masked as it came.
type Last = Arc<Mutex<Option<Vec<u8>>>>;

/// What a client says, message by message (RFC 6455 section 5.2).
struct Messages {
    last: Last,
    /// What is said once more, after the first message.
    repeated: Option<Vec<u8>>,
    rest: Vec<u8>,
    /// The handshake is over.
    opened: bool,
}

impl Messages {
    /// What goes on to the server: whole messages only, once the handshake is over.
    fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.rest.extend_from_slice(bytes);
        let mut passed = Vec::new();
        if !self.opened {
            let Some(end) = self.rest.windows(4).position(|four| four == b"\r\n\r\n") else { return passed };
            passed.extend(self.rest.drain(..end + 4));
            self.opened = true;
        }
        while let Some(len) = frame_len(&self.rest) {
            let frame: Vec<u8> = self.rest.drain(..len).collect();
            let text = frame[0] & 0x0f == 1;
            passed.extend_from_slice(&frame);
            if text {
                passed.extend(self.repeated.take().into_iter().flatten());
                *self.last.lock().expect("a message") = Some(frame);
            }
        }
        passed
    }
}

/// How long the first frame is, if it is there whole; a client's has a mask of four bytes.
fn frame_len(bytes: &[u8]) -> Option<usize> {
    let (head, payload) = match bytes.get(1)? & 0x7f {
        126 => (4, usize::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?))),
        127 => (10, usize::try_from(u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?)).ok()?),
        short => (2, usize::from(short)),
    };
    let len = head + 4 + payload;
    (bytes.len() >= len).then_some(len)
}
