//! A server that lies: frames that are cut off, lengths that cannot be, rows of other types, rows without end. It gets an error
//! of ours; nothing panics, and memory stays bounded.

use std::net::SocketAddr;
use std::time::Duration;

use interlingua_testkit::within;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::super::{OpenFault, Options};
use super::{at, open};

fn message(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len() + 4).unwrap();
    [&[tag][..], &length.to_be_bytes(), content].concat()
}

/// Login without a password, then readiness.
fn welcome() -> Vec<u8> {
    let status = b"server_version\x0015.4\x00";
    [message(b'R', &0_u32.to_be_bytes()), message(b'S', status), message(b'K', &[0; 8]), message(b'Z', b"I")].concat()
}

/// A server that welcomes everybody and answers every message with these bytes, then closes.
async fn server(answer: Vec<u8>) -> (SocketAddr, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut serving = JoinSet::new();
    serving.spawn(async move {
        let mut open = JoinSet::new();
        while let Ok((client, _)) = listener.accept().await {
            open.spawn(lie(client, answer.clone()));
        }
    });
    (address, serving)
}

async fn lie(mut client: TcpStream, answer: Vec<u8>) {
    let mut buffer = vec![0; 64 * 1024];
    let Ok(1..) = client.read(&mut buffer).await else { return };
    if client.write_all(&welcome()).await.is_err() {
        return;
    }
    while let Ok(1..) = client.read(&mut buffer).await {
        if client.write_all(&answer).await.is_err() {
            return;
        }
    }
}

async fn opened(address: SocketAddr) -> OpenFault {
    let options = Options { patience: Duration::from_secs(2), ..at(&format!("postgres://hub@{address}/postgres")) };
    within("an open at a server that lies", open(&options, None)).await.map(drop).unwrap_err()
}

#[tokio::test(flavor = "multi_thread")]
async fn attack_frames_that_are_cut_off_or_cannot_be_end_with_an_error() {
    let answers = [
        Vec::new(),
        vec![b'D'],
        vec![b'D', 0, 0, 0, 0],
        vec![b'D', 0xff, 0xff, 0xff, 0xff, 1, 2, 3],
        // Two gigabytes are announced: nothing is reserved for them.
        vec![b'D', 0x7f, 0xff, 0xff, 0xff, 1, 2, 3],
        message(b'D', &[0xff, 0xff]),
        message(b'T', &[0xff, 0xff, 0]),
        message(b'E', b"no end"),
        message(b'N', &[]),
        message(b'R', &99_u32.to_be_bytes()),
        message(0, b""),
        [message(b'C', b"SELECT 1\0"), message(b'Z', b"I")].concat(),
        [message(b'1', b""), message(b't', &[0, 0]), message(b'n', b""), message(b'Z', b"I")].concat(),
        [message(b'Z', b"I"), message(b'Z', b"I"), message(b'Z', b"I")].concat(),
    ];
    for answer in answers {
        let (address, _serving) = server(answer.clone()).await;
        let fault = opened(address).await;
        assert!(
            matches!(fault, OpenFault::Unreachable(_) | OpenFault::Database { .. } | OpenFault::Login(_)),
            "{answer:?}: {fault:?}"
        );
    }
}

/// One column of text.
fn description() -> Vec<u8> {
    let column = [&b"value\0"[..], &[0; 6], &25_u32.to_be_bytes(), &[0xff, 0xff], &[0; 6]].concat();
    message(b'T', &[&1_u16.to_be_bytes()[..], &column].concat())
}

fn row(value: &[u8]) -> Vec<u8> {
    let length = u32::try_from(value.len()).unwrap();
    message(b'D', &[&1_u16.to_be_bytes()[..], &length.to_be_bytes(), value].concat())
}

#[tokio::test(flavor = "multi_thread")]
async fn attack_rows_without_end_stop_at_the_bound() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut serving = JoinSet::new();
    serving.spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let mut buffer = vec![0; 64 * 1024];
            let _ = client.read(&mut buffer).await;
            let _ = client.write_all(&welcome()).await;
            let _ = client.read(&mut buffer).await;
            let _ = client.write_all(&[description(), row(b"off")].concat()).await;
            let rows = row(&vec![b'x'; 4 << 20]);
            while client.write_all(&rows).await.is_ok() {}
        }
    });
    let options = Options { patience: Duration::from_secs(120), ..at(&format!("postgres://hub@{address}/postgres")) };
    let fault = within("the bound", open(&options, None)).await.map(drop).unwrap_err();
    // Ended by the bound, and not because nobody waited any longer.
    assert!(matches!(&fault, OpenFault::Unreachable(what) if !what.contains("no answer")), "{fault:?}");
}
