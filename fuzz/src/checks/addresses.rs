//! Invariants of addresses for any text: an address has one meaning however often it is read, a link that is shown to a person shows its
//! target, and no address from a stranger is internal.

use std::net::IpAddr;

use interlingua_model::WebLink;
use interlingua_model::address::{Address, Origin};
use interlingua_model::percent;
use interlingua_model::public_ip::is_public;

pub(crate) fn text(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (first, second) = text.split_once('\n').unwrap_or((text, "/x?y=1"));
    component(first);
    address(first, second);
    link(first);
    if let Some(uri) = interlingua_net::fuzzing::outward(first) {
        assert!(matches!(uri.scheme_str(), Some("http" | "https")), "{first}");
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        assert!(!first.contains('@') || !uri.authority().is_some_and(|all| all.as_str().contains('@')), "{first}");
        assert!(host.parse::<IpAddr>().is_ok_and(is_public) || host.parse::<IpAddr>().is_err(), "{first} leads inside");
    }
    if let Some((cards, plain, service)) = interlingua_a2a::fuzzing::agent_address(first, second) {
        let own: http::Uri = first.parse().expect("it was read before");
        let named = |uri: &http::Uri| uri.host().map(|host| host.trim_end_matches('.').to_ascii_lowercase());
        let at_home = |uri: &http::Uri| named(uri) == named(&own);
        assert!(!cards.is_empty() && cards.iter().all(at_home), "a card is looked for elsewhere: {cards:?}");
        assert!(plain.iter().chain(&service).all(at_home), "an interface leads elsewhere: {first} {second}");
    }
}

/// A component of an address has no character that ends it, and is read back as it was.
fn component(text: &str) {
    let spelled = percent::encoded(text);
    assert!(spelled.len() <= 3 * text.len());
    assert!(spelled.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte)));
    let query = format!("state=x{spelled}&code=1");
    if let Ok(callback) = interlingua_wire::oauth::callback::Callback::decode(&query) {
        assert_eq!(callback.state, format!("x{text}"));
    } else {
        assert!(query.len() > 16_384, "{query}");
    }
}

fn address(first: &str, second: &str) {
    let Ok(address) = Address::parse(first) else { return };
    let written = address.to_string();
    assert_eq!(Address::parse(&written).as_ref(), Ok(&address), "{first}");
    assert!(written.starts_with("https://") || written.starts_with("http://"), "{written}");
    let host = &address.origin.host;
    assert!(!host.is_empty() && !host.contains(['@', '/', '\\', '#', '?', '%']), "{host}");
    assert_eq!(Origin::parse(&address.origin.to_string()).as_ref(), Ok(&address.origin), "{first}");
    if let Ok(joined) = address.join(second) {
        assert_eq!(Address::parse(&joined.to_string()), Ok(joined.clone()), "{first} {second}");
        // What names no scheme and no host stays where it is.
        let relative = second.starts_with(['/', '?', '#']) && !second.starts_with("//");
        assert!(!relative || joined.origin == address.origin, "{first} {second}");
    }
    // A browser and the hub must agree on who is spoken to.
    if let Ok(uri) = written.parse::<http::Uri>() {
        assert_eq!(uri.host().map(|host| host.trim_matches(['[', ']'])), Some(&**host), "{written}");
    }
}

fn link(text: &str) {
    let Ok(link) = WebLink::parse(text) else { return };
    let lower = link.to_ascii_lowercase();
    assert!(lower.starts_with("https://") || lower.starts_with("http://"), "{lower}");
    assert!(link.is_ascii() && link.len() == text.len());
    let json = serde_json::to_string(&link).expect("a link is text");
    let again: WebLink = serde_json::from_str(&json).expect("what was written can be read");
    assert_eq!(again, link);
    assert!(link.asked_by(&"p".into(), "").contains("://"));
}
