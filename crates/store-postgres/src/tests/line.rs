//! A line to the server that knows the messages of the protocol (frontend and backend: tag, length, content; the first message of
//! a client has no tag). It is cut at one message of a connection that writes, or nothing passes for a while.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use interlingua_testkit::proxy::Weather;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// How many messages of a writing connection still pass in either direction before it is cut, once; negative when it is not to
/// be cut.
#[derive(Debug)]
pub(super) struct Cuts {
    pub(super) up: AtomicI64,
    pub(super) down: AtomicI64,
}

/// Is this message the one? The counter is then spent.
fn cuts(counter: &AtomicI64) -> bool {
    counter.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| (left >= 0).then_some(left - 1)) == Ok(0)
}

pub(super) struct Line {
    pub(super) address: SocketAddr,
    pub(super) cuts: Arc<Cuts>,
    weather: watch::Sender<Weather>,
    _accepting: JoinSet<()>,
}

impl Line {
    pub(super) async fn to(server: SocketAddr) -> Line {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let cuts = Arc::new(Cuts { up: AtomicI64::new(-1), down: AtomicI64::new(-1) });
        let weather = watch::Sender::new(Weather::Fair);
        let (seen, sky, mut accepting) = (cuts.clone(), weather.subscribe(), JoinSet::new());
        accepting.spawn(async move {
            let mut carried = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                carried.spawn(carry(client, server, seen.clone(), sky.clone()));
            }
        });
        Line { address, cuts, weather, _accepting: accepting }
    }

    /// From now on.
    pub(super) fn turn(&self, weather: Weather) {
        self.weather.send_replace(weather);
    }
}

async fn carry(client: TcpStream, server: SocketAddr, cuts: Arc<Cuts>, sky: watch::Receiver<Weather>) {
    let Ok(server) = TcpStream::connect(server).await else { return };
    let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
    let writes = AtomicBool::new(false);
    let up =
        Direction { left: &cuts.up, writes: &writes, sky: sky.clone(), holds: |now: Weather| now == Weather::Stalled };
    let holds = |now: Weather| matches!(now, Weather::Stalled | Weather::HalfOpen);
    let down = Direction { left: &cuts.down, writes: &writes, sky, holds };
    tokio::select! {
        () = up.pass(from_client, to_server, Messages { untagged: true, rest: Vec::new() }) => {}
        () = down.pass(from_server, to_client, Messages { untagged: false, rest: Vec::new() }) => {}
    }
}

struct Direction<'a> {
    left: &'a AtomicI64,
    /// The connection is one of a lane.
    writes: &'a AtomicBool,
    sky: watch::Receiver<Weather>,
    holds: fn(Weather) -> bool,
}

impl Direction<'_> {
    async fn pass(mut self, mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, mut messages: Messages) {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = from.read(&mut buffer).await {
            messages.rest.extend_from_slice(&buffer[..count]);
            while let Some(message) = messages.next() {
                let holds = self.holds;
                let Ok(now) = self.sky.wait_for(|now| !holds(*now)).await.map(|now| *now) else { return };
                if let Weather::Slow(by) = now {
                    tokio::time::sleep(by).await;
                }
                if self.writes.load(Ordering::SeqCst) && cuts(self.left) {
                    return;
                }
                // Only lanes look at this table.
                if message.windows(10).any(|text| text == b"FROM lanes") {
                    self.writes.store(true, Ordering::SeqCst);
                }
                if to.write_all(&message).await.is_err() {
                    return;
                }
            }
        }
    }
}

struct Messages {
    untagged: bool,
    rest: Vec<u8>,
}

impl Messages {
    /// The next one, if it is there whole.
    fn next(&mut self) -> Option<Vec<u8>> {
        let tag = usize::from(!self.untagged);
        let length = self.rest.get(tag..tag + 4)?.try_into().map(u32::from_be_bytes).ok()?;
        let whole = tag + usize::try_from(length).ok()?;
        if self.rest.len() < whole {
            return None;
        }
        self.untagged = false;
        Some(self.rest.drain(..whole).collect())
    }
}
