//! Requests that no HTTP client would write: sent as bytes, answered with a 4xx or a close.

/// Bytes of one request.
#[derive(Debug)]
pub struct HttpCase {
    pub name: &'static str,
    pub bytes: Vec<u8>,
}

/// Every case; `host` is the hub's own `host:port`.
pub fn cases(host: &str) -> Vec<HttpCase> {
    let case = |name, text: String| HttpCase { name, bytes: text.into_bytes() };
    let post = |headers: &str, body: &str| {
        format!("POST /nlip HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n{headers}\r\n{body}")
    };
    let many: String = (0..10_000).map(|number| format!("X-H{number}: 1\r\n")).collect();
    vec![
        case("no request line", "\r\n\r\n\r\n".into()),
        case("a request line of a megabyte", format!("GET /{} HTTP/1.1\r\nHost: {host}\r\n\r\n", "a".repeat(1 << 20))),
        case("a method nobody knows", format!("BREW /nlip HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\n\r\n")),
        case("HTTP/9.9", format!("GET / HTTP/9.9\r\nHost: {host}\r\n\r\n")),
        case("no host", "POST /nlip HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}".into()),
        case("two hosts", format!("GET /nlip HTTP/1.1\r\nHost: {host}\r\nHost: evil.example\r\n\r\n")),
        case("ten thousand headers", post(&many, "")),
        case("a header of a megabyte", post(&format!("X-Long: {}\r\n", "a".repeat(1 << 20)), "")),
        case("a NUL in a header", post("X-Nul: a\0b\r\nContent-Length: 0\r\n", "")),
        case("two lengths", post("Content-Length: 2\r\nContent-Length: 40\r\n", "{}")),
        case("a negative length", post("Content-Length: -1\r\n", "{}")),
        case("a length of ten gibibytes", post("Content-Length: 10737418240\r\n", "{}")),
        case("a length beyond 64 bits", post("Content-Length: 99999999999999999999999\r\n", "{}")),
        case("a chunk with no length", post("Transfer-Encoding: chunked\r\n", "zz\r\n{}\r\n0\r\n\r\n")),
        case("a chunk beyond 64 bits", post("Transfer-Encoding: chunked\r\n", "fffffffffffffffff\r\n{}")),
        case("an encoding nobody knows", post("Transfer-Encoding: gzip\r\n", "{}")),
        case("TLS by mistake", "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}".into()),
        case("an HTTP/2 preface and then rubbish", format!("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n{}", "x".repeat(100))),
    ]
}
