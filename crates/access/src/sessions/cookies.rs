//! The cookie of a session (RFC 6265, and the name prefixes of its revision). Cookies know no port, so its name ends in the hub's id: two hubs of one host do not
//! replace each other's.

use http::HeaderMap;
use http::header::COOKIE;
use interlingua_model::Digest;
use interlingua_model::address::Written;

const NAME: &str = "interlingua-";
/// A page of another port may set cookies of the same name; so many are looked at.
const MOST: usize = 16;

/// How a hub sets its cookie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cookie {
    name: String,
    attributes: String,
}

/// The cookie of a hub that browsers reach at this address.
pub fn named(hub: &str, base: &str) -> Cookie {
    let fits =
        !hub.is_empty() && hub.len() <= 64 && hub.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let id = if fits { hub.to_owned() } else { Digest::of(hub.as_bytes()).to_string() };
    let written = Written::of(base);
    let path = written.and_then(|written| written.rest.split(['?', '#']).next()).unwrap_or_default();
    let path = path.trim_end_matches('/');
    let path = if path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b';') { path } else { "" };
    let secure = written.is_some_and(|written| written.scheme.eq_ignore_ascii_case("https"));
    let prefix = match (secure, path) {
        (true, "") => "__Host-",
        (true, _) => "__Secure-",
        (false, _) => "",
    };
    let secure = if secure { "; Secure" } else { "" };
    Cookie {
        name: format!("{prefix}{NAME}{id}"),
        attributes: format!("; Path={path}/; HttpOnly; SameSite=Strict{secure}"),
    }
}

impl Cookie {
    /// The header that sets it.
    pub fn set(&self, value: &str) -> String {
        format!("{}={value}{}", self.name, self.attributes)
    }

    /// The header that removes it.
    pub fn removed(&self) -> String {
        format!("{}=; Max-Age=0{}", self.name, self.attributes)
    }
}

/// Values of all cookies that could be a session's: what they are worth is decided by what is stored.
pub(crate) fn values(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let all = headers.get_all(COOKIE).iter().filter_map(|header| header.to_str().ok());
    let pairs = all.flat_map(|header| header.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|(name, _)| bare(name).starts_with(NAME)).map(|(_, value)| value).take(MOST)
}

fn bare(name: &str) -> &str {
    name.strip_prefix("__Host-").or_else(|| name.strip_prefix("__Secure-")).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_name_and_path_follow_the_address_of_the_hub() {
        assert_eq!(
            named("abc", "http://127.0.0.1:7447").set("v"),
            "interlingua-abc=v; Path=/; HttpOnly; SameSite=Strict"
        );
        assert_eq!(
            named("abc", "https://hub.example").set("v"),
            "__Host-interlingua-abc=v; Path=/; HttpOnly; SameSite=Strict; Secure"
        );
        assert_eq!(
            named("abc", "https://example.com/hub/").set("v"),
            "__Secure-interlingua-abc=v; Path=/hub/; HttpOnly; SameSite=Strict; Secure"
        );
        assert_eq!(named("abc", "http://127.0.0.1:1").removed().split(';').nth(1), Some(" Max-Age=0"));
        let odd = named("a b;c", "https://hub.example").set("v");
        assert!(odd.starts_with("__Host-interlingua-") && !odd.contains("a b"), "{odd}");
    }

    #[test]
    fn attack_cookies_of_other_pages_do_not_hide_the_right_one() {
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, "a=1; interlingua-abc=wrong; interlingua-abc=right".parse().expect("a header"));
        headers.append(COOKIE, "__Host-interlingua-abc=other".parse().expect("a header"));
        assert_eq!(values(&headers).collect::<Vec<_>>(), ["wrong", "right", "other"]);
    }
}
