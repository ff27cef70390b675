//! A line to the server that is cut at a piece: what one end wrote at once, which for this driver is one message or more
//! of one step of the protocol.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// How many pieces still pass in either direction before the line is cut, once; negative when it is not to be cut.
#[derive(Debug)]
pub(super) struct Pieces {
    pub(super) up: AtomicI64,
    pub(super) down: AtomicI64,
}

/// Is this piece the one? The counter is then spent.
fn cuts(counter: &AtomicI64) -> bool {
    counter.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| (left >= 0).then_some(left - 1)) == Ok(0)
}

pub(super) struct Line {
    pub(super) address: SocketAddr,
    pub(super) pieces: Arc<Pieces>,
    _accepting: JoinSet<()>,
}

impl Line {
    pub(super) async fn to(server: SocketAddr) -> Line {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let pieces = Arc::new(Pieces { up: AtomicI64::new(-1), down: AtomicI64::new(-1) });
        let (seen, mut accepting) = (pieces.clone(), JoinSet::new());
        accepting.spawn(async move {
            let mut carried = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                carried.spawn(carry(client, server, seen.clone()));
            }
        });
        Line { address, pieces, _accepting: accepting }
    }
}

async fn carry(client: TcpStream, server: SocketAddr, pieces: Arc<Pieces>) {
    let Ok(server) = TcpStream::connect(server).await else { return };
    let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
    tokio::select! {
        () = pass(from_client, to_server, &pieces.up) => {}
        () = pass(from_server, to_client, &pieces.down) => {}
    }
}

async fn pass(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, left: &AtomicI64) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        if cuts(left) || to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}
