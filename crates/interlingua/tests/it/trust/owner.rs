//! The hub's own Owner with no configuration: the socket in the data directory, or the token, and nothing else.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use interlingua_testkit::{Hub, as_another_user, skipped};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use super::{OWN_PAGE, WORD, echo, owner_token, post, program, was_let_in, with_token};
use crate::support::logged;

async fn hub() -> Hub {
    Hub::builder(program()).start().await
}

#[tokio::test]
async fn who_shows_the_token_is_the_owner_and_a_page_without_it_is_not() {
    let hub = hub().await;
    assert!(was_let_in(&post(&hub, &echo(), &[]).await), "the kit shows it");
    let origin = format!("http://{}", hub.address());
    let by_origin = [("origin", origin.as_str())];
    for signs in [OWN_PAGE, &by_origin[..], &[("sec-fetch-dest", "empty")]] {
        let answer = post(&hub, &echo(), signs).await;
        assert!(!was_let_in(&answer) && !answer.text().contains(WORD), "{signs:?}: {}", answer.text());
    }
}

#[tokio::test]
async fn a_page_with_the_token_is_the_owner() {
    let hub = hub().await;
    let bearer = format!("Bearer {}", owner_token(&hub));
    let headers: Vec<(&str, &str)> = OWN_PAGE.iter().copied().chain([("authorization", bearer.as_str())]).collect();
    assert!(was_let_in(&post(&hub, &echo(), &headers).await));
    let message = with_token(echo(), &owner_token(&hub));
    assert!(was_let_in(&post(&hub, &message, OWN_PAGE).await), "or inside the message");
}

#[tokio::test]
async fn the_socket_in_the_data_directory_is_the_owners() {
    let hub = hub().await;
    let body = echo().to_string();
    let head = format!(
        "POST /nlip HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nsec-fetch-site: same-origin\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let mut socket = UnixStream::connect(hub.data().join("hub.sock")).await.expect("the socket is there");
    socket.write_all(format!("{head}{body}").as_bytes()).await.expect("taken");
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains(WORD), "{answer}");
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).permissions().mode() & 0o777
}

#[tokio::test]
async fn what_makes_an_owner_is_for_the_owner_alone_to_read() {
    let mut hub = hub().await;
    let data = hub.data();
    assert_eq!(mode(&data), 0o700);
    assert_eq!(mode(&data.join("token")), 0o600);
    assert_eq!(mode(&data.join("hub.sock")), 0o600);
    let first = owner_token(&hub);
    // A file somebody opened to everyone is closed again, and that is said: only a rotation makes a new token.
    std::fs::set_permissions(data.join("token"), PermissionsExt::from_mode(0o644)).expect("ours");
    hub.restart().await;
    assert_eq!(mode(&data.join("token")), 0o600);
    logged(&hub, &["WARN", "owner_token_open"]).await;
    assert_eq!(owner_token(&hub), first);
}

#[tokio::test]
async fn another_user_of_this_machine_is_a_stranger() {
    if let Err(missing) = as_another_user("curl") {
        return skipped(&missing);
    }
    let hub = hub().await;
    let as_nobody = |arguments: &[&str]| {
        let mut command = as_another_user(arguments[0]).expect("as before");
        command.args(&arguments[1..]).output().expect("setpriv runs")
    };
    let (url, body) = (hub.url("/nlip"), echo().to_string());
    let curl = ["curl", "--silent", "--header", "content-type: application/json", "--data", &body, &url];
    let bearer = format!("authorization: Bearer {}", owner_token(&hub));
    let mine = Command::new(curl[0]).args(["--header", &bearer]).args(&curl[1..]).output().expect("curl runs");
    assert!(String::from_utf8_lossy(&mine.stdout).contains(WORD), "the same command, with the token");
    let theirs = as_nobody(&curl);
    let said = String::from_utf8_lossy(&theirs.stdout);
    assert!(said.contains("\"error\"") && !said.contains(WORD), "{said}");
    for secret in ["token", "hub.sock"] {
        let path = hub.data().join(secret);
        assert!(!as_nobody(&["test", "-r", &path.to_string_lossy()]).status.success(), "{secret} can be read");
    }
}
