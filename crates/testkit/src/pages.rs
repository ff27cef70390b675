//! Web server with a few pages by path, and a log of requests.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// The server. Dropped, it is gone.
#[derive(Debug)]
pub struct Pages {
    port: u16,
    asked: Lines,
    closed: Lines,
    serving: tokio::task::JoinHandle<()>,
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// What is at a path.
#[derive(Debug, Clone)]
pub enum Page {
    /// The whole response after the version.
    Answer(String),
    /// Nothing, ever: the connection is held until whoever asked closes it, which is counted.
    Held,
}

impl From<String> for Page {
    fn from(answer: String) -> Page {
        Page::Answer(answer)
    }
}

type Answers = HashMap<String, Page>;
type Lines = Arc<Mutex<Vec<String>>>;

/// A page.
pub fn html(body: &str) -> String {
    answer("200 OK", "text/html; charset=utf-8", "", body)
}

/// Any answer.
pub fn answer(status: &str, media: &str, headers: &str, body: &str) -> String {
    format!("{status}\r\nContent-Type: {media}\r\nContent-Length: {}\r\n{headers}\r\n{body}", body.len())
}

impl Pages {
    /// Serves these pages on a free port.
    pub async fn start<const N: usize>(pages: [(&str, impl Into<Page>); N]) -> Pages {
        let pages: Arc<Answers> =
            Arc::new(pages.into_iter().map(|(path, page)| (path.to_owned(), page.into())).collect());
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("it works on loopback");
        let port = listener.local_addr().expect("it works on loopback").port();
        let (asked, closed) = (Lines::default(), Lines::default());
        let (log, gone) = (Arc::clone(&asked), Arc::clone(&closed));
        let serving = tokio::runtime::Handle::current().spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (pages, log, gone) = (Arc::clone(&pages), Arc::clone(&log), Arc::clone(&gone));
                tokio::runtime::Handle::current().spawn(async move {
                    let mut head = Vec::new();
                    let mut chunk = [0; 4096];
                    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
                        match stream.read(&mut chunk).await {
                            Ok(count @ 1..) => head.extend_from_slice(&chunk[..count]),
                            _ => return,
                        }
                    }
                    let head = String::from_utf8_lossy(&head).into_owned();
                    let target = head.split(' ').nth(1).unwrap_or("/").to_owned();
                    let path = target.split('?').next().unwrap_or("/").to_owned();
                    let cookie = head.lines().find(|line| line.to_ascii_lowercase().starts_with("cookie:"));
                    log.lock().expect("it works on loopback").push(format!("{target} {}", cookie.unwrap_or_default()));
                    let none = || answer("404 Not Found", "text/plain", "", "no").into();
                    match pages.get(&path).cloned().unwrap_or_else(none) {
                        Page::Answer(page) => {
                            let _ = stream.write_all(format!("HTTP/1.1 {page}").as_bytes()).await;
                        }
                        Page::Held => {
                            while matches!(stream.read(&mut chunk).await, Ok(1..)) {}
                            gone.lock().expect("it works on loopback").push(path);
                        }
                    }
                });
            }
        });
        Pages { port, asked, closed, serving }
    }

    /// Where it is, without a path.
    pub fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Every request so far: target and cookie.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("it works on loopback").clone()
    }

    /// How often a page that is held was given up by whoever asked for it.
    pub fn closed(&self, path: &str) -> usize {
        self.closed.lock().expect("it works on loopback").iter().filter(|gone| *gone == path).count()
    }
}
