//! Programs other people wrote, from PyPI: `nlip-sdk` as a client, `nlip-server` as a peer.

use interlingua_testkit::{Peer, run_script};

/// The checks themselves are tried on the reference pair, so that a failure elsewhere is not the checker's.
#[tokio::test]
async fn the_reference_client_holds_against_the_reference_server() {
    let reference = Peer::nlip_server("nlip_server.echo:app").await;
    let url = format!("http://{}/nlip/", reference.address());
    let said = run_script("nlip/client.py", &[&url, "--common"]).await;
    assert!(said.contains("5 of 5 checks hold"), "{said}");
}
