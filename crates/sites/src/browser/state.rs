//! Storage state of a context, exported and restored: cookies, and the local storage of origins. With it a session moves to another process
//! or survives a restart of the hub.
//!
//! Deliberately absent: databases in the page, caches and service workers, which logins seldom need, and the storage of origins on which no
//! call has ended.

use std::collections::BTreeMap;
use std::time::Duration;

use interlingua_model::address::{Address, Origin};
use interlingua_model::json::Tree;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::Instant;

use super::page::{Failed, Page};

/// Taking out and putting back are short, or something is wrong.
const PATIENCE: Duration = Duration::from_secs(30);
/// Origins whose storage is kept.
const MAX_ORIGINS: usize = 16;
/// One state as it is written.
pub(super) const MAX_BYTES: usize = 1024 * 1024;

/// No `Debug`: every cookie may be a login.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct BrowserState {
    cookies: Vec<Cookie>,
    /// By origin: keys and values.
    storage: BTreeMap<String, Vec<(String, String)>>,
}

/// As the browser says it; what is not needed to set it again is left out.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cookie {
    name: String,
    value: String,
    domain: String,
    path: String,
    #[serde(default)]
    expires: f64,
    #[serde(default)]
    http_only: bool,
    #[serde(default)]
    secure: bool,
    #[serde(default)]
    session: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    same_site: Option<String>,
}

impl Cookie {
    /// One without a dot before its domain is for that host alone: naming an address instead of a domain says so.
    fn param(&self) -> Tree {
        let mut param = json!({
            "name": self.name, "value": self.value, "path": self.path, "httpOnly": self.http_only, "secure": self.secure,
        });
        if self.domain.starts_with('.') {
            param["domain"] = self.domain.as_str().into();
        } else {
            let scheme = if self.secure { "https" } else { "http" };
            param["url"] = format!("{scheme}://{}{}", self.domain, self.path).into();
        }
        if !self.session && self.expires > 0.0 {
            param["expires"] = self.expires.into();
        }
        if let Some(same_site) = &self.same_site {
            param["sameSite"] = same_site.as_str().into();
        }
        param
    }
}

impl Page {
    /// All cookies, the storage of the origin the page is on, and that of others as it was `before`.
    pub(super) async fn take_out(&mut self, before: &BrowserState) -> Result<BrowserState, Failed> {
        #[derive(Deserialize)]
        struct All {
            cookies: Vec<Cookie>,
        }
        let until = Instant::now() + PATIENCE;
        let link = self.chromium.link.clone();
        let asked = link.ask::<All>(None, "Storage.getCookies", json!({"browserContextId": self.context}));
        let All { cookies } = tokio::time::timeout_at(until, asked).await.map_err(|_| Failed::Late)??;
        let mut storage = before.storage.clone();
        // A page that is nowhere keeps nothing, and says that it cannot.
        let shown = self.engine("stored", &json!({}), until).await?;
        if let (true, Some(origin)) = (shown.ok, origin_of(&shown.href)) {
            storage.remove(&origin);
            if !shown.stored.is_empty() && storage.len() < MAX_ORIGINS {
                storage.insert(origin, shown.stored);
            }
        }
        Ok(BrowserState { cookies, storage })
    }

    /// Puts a state into a context that has none, as far as it belongs to these origins. No site is asked for anything.
    pub(super) async fn put_back(&mut self, state: &BrowserState, origins: &[Origin]) -> Result<(), Failed> {
        let until = Instant::now() + PATIENCE;
        let link = self.chromium.link.clone();
        let cookies: Vec<Tree> = state.cookies.iter().map(Cookie::param).collect();
        if !cookies.is_empty() {
            let given = json!({"cookies": cookies, "browserContextId": self.context});
            let set = link.ask::<Tree>(None, "Storage.setCookies", given);
            tokio::time::timeout_at(until, set).await.map_err(|_| Failed::Late)??;
        }
        let theirs = |origin: &str| Address::parse(origin).is_ok_and(|address| origins.contains(&address.origin));
        let storage: Vec<_> = state.storage.iter().filter(|(origin, _)| theirs(origin)).collect();
        if storage.is_empty() {
            return Ok(());
        }
        link.ask::<Tree>(Some(&self.session), "Fetch.enable", json!({})).await?;
        for (origin, items) in storage {
            self.navigate(origin, until).await?;
            self.engine("store", &json!({"items": items}), until).await?;
        }
        link.ask::<Tree>(Some(&self.session), "Fetch.disable", json!({})).await?;
        self.navigate("about:blank", until).await
    }
}

/// `scheme://host:port`, which is also an address of that origin.
fn origin_of(href: &str) -> Option<String> {
    Address::parse(href).ok().map(|address| address.origin.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w_51_a_cookie_of_one_host_stays_that_hosts_and_one_of_a_domain_the_domains() {
        let told = json!({"name": "a", "value": "1", "domain": "shop.example", "path": "/x", "expires": -1.0, "size": 2,
            "httpOnly": true, "secure": true, "session": true, "sameSite": "Lax", "priority": "Medium"});
        let mut cookie: Cookie = serde_json::from_value(told).unwrap();
        let param = cookie.param();
        assert_eq!((&param["url"], param.get("domain")), (&json!("https://shop.example/x"), None));
        assert_eq!((&param["httpOnly"], param.get("expires")), (&json!(true), None));
        cookie.domain = ".shop.example".to_owned();
        (cookie.session, cookie.expires) = (false, 2e9);
        let param = cookie.param();
        assert_eq!(
            (&param["domain"], param.get("url"), &param["expires"]),
            (&json!(".shop.example"), None, &json!(2e9))
        );
    }
}
