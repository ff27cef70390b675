//! The floor of a WebSocket: whatever text comes goes back as it is, one task for each connection, with the hub's own allocator.

use futures_util::{SinkExt, StreamExt};
use tokio_websockets::ServerBuilder;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
#[expect(clippy::disallowed_methods, reason = "one task a connection; there is no supervisor here")]
async fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7448".to_owned());
    let listener = tokio::net::TcpListener::bind(address).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(async move {
            let Ok((_, mut socket)) = ServerBuilder::new().accept(stream).await else { return };
            while let Some(Ok(message)) = socket.next().await {
                if message.is_text() && socket.send(message).await.is_err() {
                    return;
                }
            }
        });
    }
}
