//! A proxy that breaks what passes through it: connections that are cut, stall, go half open, are slow or refused.

use std::net::SocketAddr;
use std::sync::Arc;
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
    /// A proxy on a free loopback port.
    pub async fn before(server: SocketAddr) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let weather = Arc::new(watch::Sender::new(Weather::Fair));
        let seen = weather.clone();
        let mut accepting = JoinSet::new();
        accepting.spawn(async move {
            let mut carried = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                carried.spawn(carry(client, server, seen.clone()));
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

async fn carry(client: TcpStream, server: SocketAddr, weather: Arc<watch::Sender<Weather>>) {
    if *weather.borrow() == Weather::Cut {
        return;
    }
    let Ok(server) = TcpStream::connect(server).await else { return };
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let up = pass(from_client, to_server, weather.subscribe(), |weather| weather == Weather::Stalled);
    let down = pass(from_server, to_client, weather.subscribe(), |weather| {
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
        if to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}
