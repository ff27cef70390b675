//! Connection floods, in every protocol: one address takes its share of the connections and no more, and clients from elsewhere are served.
//! Limits of callers and calls are tested elsewhere (`trust/limits.rs`, `nlip_client`); slow ones in `slow.rs`.

use std::net::SocketAddr;

use interlingua_testkit::{Hub, within};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::{assert_well, under_watch};

const CONFIG: &str = "limits: { connections: 12, connections_per_address: 8 }\n";
/// The beginning of HTTP/2, and settings that say nothing.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

async fn hub() -> Hub {
    Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config(CONFIG).start().await
}

/// What each wire begins with, so that the hub has something to say to it.
fn beginnings(hub: &Hub) -> Vec<(&'static str, Vec<u8>)> {
    let (host, bearer) = (hub.address(), hub.bearer_line());
    let upgrade = |path: &str| {
        format!(
            "GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\
             sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n{bearer}\r\n"
        )
    };
    vec![
        ("HTTP", format!("GET /healthz HTTP/1.1\r\nhost: {host}\r\n\r\n").into_bytes()),
        ("NLIP", upgrade("/nlip/ws/text").into_bytes()),
        ("AIP", upgrade("/ws").into_bytes()),
        ("HTTP/2", PREFACE.to_vec()),
    ]
}

/// A connection from another address of this machine.
async fn from(address: &str, to: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(SocketAddr::new(address.parse().expect("an address"), 0)).expect("an address of this machine");
    within("a connection", socket.connect(to)).await.expect("the system takes it")
}

/// Whether the hub has anything to say to it.
async fn is_held(stream: &mut TcpStream, beginning: &[u8]) -> bool {
    let mut byte = [0];
    let said = async {
        stream.write_all(beginning).await?;
        stream.read(&mut byte).await
    };
    within("an answer or an end", said).await.is_ok_and(|read| read == 1)
}

#[tokio::test]
async fn one_address_takes_its_share_of_the_places_on_whatever_wire_and_others_are_served() {
    let hub = hub().await;
    let beginnings = beginnings(&hub);
    let flood = async {
        let (mut held, mut turned_away) = (Vec::new(), 0);
        for (_, beginning) in beginnings.iter().cycle().take(40) {
            let mut stream = from("127.0.0.2", hub.address()).await;
            if is_held(&mut stream, beginning).await {
                held.push(stream);
            } else {
                turned_away += 1;
            }
        }
        (held, turned_away)
    };
    let (held, turned_away) = under_watch(&hub, flood).await;
    assert_eq!((held.len(), turned_away), (8, 32));
    assert_well(&hub).await;
    for (wire, beginning) in &beginnings {
        assert!(is_held(&mut from("127.0.0.3", hub.address()).await, beginning).await, "{wire} from elsewhere");
    }
    drop(held);
    crate::support::until("its places to be free again", async || {
        is_held(&mut from("127.0.0.2", hub.address()).await, &beginnings[0].1).await
    })
    .await;
}

/// HTTP/2 puts many requests on one connection: how many, the hub says first (RFC 9113 section 6.5.2).
#[tokio::test]
async fn one_connection_of_http_2_has_so_many_streams_and_no_more() {
    let hub = hub().await;
    let mut stream = from("127.0.0.2", hub.address()).await;
    stream.write_all(PREFACE).await.expect("written");
    let mut head = [0; 9];
    within("the settings", stream.read_exact(&mut head)).await.expect("a frame");
    assert_eq!(head[3], 4, "the first frame has the settings: {head:?}");
    let mut settings = vec![0; usize::from(u16::from_be_bytes([head[1], head[2]]))];
    within("the settings", stream.read_exact(&mut settings)).await.expect("a frame");
    let most = settings.chunks(6).find(|setting| setting[..2] == [0, 3]).expect("a bound on streams");
    assert_eq!(most[2..], 256_u32.to_be_bytes());
}
