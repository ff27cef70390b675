//! Browser for sign-in tests: opens a link of the hub, continues to the authorization server, and comes back with its answer and the hub's
//! cookie.

use bytes::Bytes;
use http::Uri;
use http_body_util::Full;

use crate::{Answer, Connection, request, within};

/// What a browser says when a person follows a link from elsewhere.
const VISIT: [(&str, &str); 3] =
    [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];

/// Signs in by a link of the hub's; the page the person sees last.
pub async fn sign_in(link: &str) -> Answer {
    match begin(link).await {
        Ok((back, cookie)) => visit(&back, Some(&cookie)).await,
        Err(page) => page,
    }
}

/// The first half: the address that the authorization server sends the person back to, and the hub's cookie. The error is the
/// page where the way ended.
pub async fn begin(link: &str) -> Result<(String, String), Answer> {
    let page = visit(link, None).await;
    let text = page.text();
    let next = text.split_once("href=\"").and_then(|(_, rest)| rest.split_once('"')).map(|(next, _)| next);
    let cookie = page.header("set-cookie").and_then(|cookie| cookie.split(';').next()).map(str::to_owned);
    let (Some(next), Some(cookie)) = (next, cookie) else { return Err(page) };
    let asked = visit(&next.replace("&amp;", "&"), None).await;
    match asked.header("location") {
        Some(back) => Ok((back.to_owned(), cookie)),
        None => Err(asked),
    }
}

/// One page.
pub async fn visit(address: &str, cookie: Option<&str>) -> Answer {
    let uri: Uri = address.parse().unwrap_or_else(|error| panic!("{address}: {error}"));
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let host = uri.authority().unwrap_or_else(|| panic!("no host in {address}")).to_string();
    let found = within("a name", tokio::net::lookup_host(&host)).await.expect("the name is known");
    let mut connection = None;
    for address in found {
        if let Ok(made) = Connection::try_http1(address).await {
            connection = Some(made);
            break;
        }
    }
    let mut connection = connection.unwrap_or_else(|| panic!("nobody is at {address}"));
    let mut sent = request(http::Method::GET, path).header("host", host);
    for (name, value) in VISIT {
        sent = sent.header(name, value);
    }
    if let Some(cookie) = cookie {
        sent = sent.header("cookie", cookie);
    }
    connection.send(sent.body(Full::<Bytes>::default()).expect("a request")).await
}
