//! What types cannot say of the peers a hub calls: addresses, programs, credentials that would travel in the open.

use interlingua_core::glob;
use interlingua_core::site::Origin;
use interlingua_drivers::jws::Signer;

use super::check::{Found, authorities, is_open, url};
use super::{
    AipPeer, Binding, McpCredentials, McpPeer, NlipPeer, NlwebPeer, OAuth, OAuthGrant, Peer, SkillSettings, Speaks,
    check_a2a,
};

pub(super) fn peer(name: &str, peer: &Peer, found: &mut Found) {
    origins(&format!("peers.{name}.origins"), peer, found);
    skills(name, peer, found);
    match &peer.speaks {
        Speaks::Nlip(nlip) => nlip_peer(&format!("peers.{name}.nlip"), nlip, found),
        Speaks::Mcp(mcp) => mcp_peer(&format!("peers.{name}.mcp"), mcp, found),
        Speaks::Aip(aip) => aip_peer(&format!("peers.{name}.aip"), aip, found),
        Speaks::Nlweb(nlweb) => nlweb_peer(&format!("peers.{name}.nlweb"), nlweb, found),
        // Its definition is read, and checked, with the configuration.
        Speaks::Site(_) => {}
        Speaks::A2a(a2a) => check_a2a::peer(&format!("peers.{name}.a2a"), a2a, found),
    }
}

/// What others may name on its behalf: only those that name anything.
fn origins(path: &str, peer: &Peer, found: &mut Found) {
    let names = match &peer.speaks {
        Speaks::Nlip(_) | Speaks::A2a(_) | Speaks::Nlweb(_) => true,
        Speaks::Mcp(mcp) => mcp.url.is_some(),
        Speaks::Aip(_) | Speaks::Site(_) => false,
    };
    found.require(
        names || peer.origins.is_empty(),
        path,
        "this peer names no other addresses: `origins` are of no use",
    );
    for given in &peer.origins {
        if let Err(problem) = Origin::parse(given) {
            found.refuse(path, format!("expected an origin, such as `https://files.example:9443`: {problem}"));
        }
    }
}

/// A pattern that names nothing, or one that an earlier pattern leaves nothing to, says something else than it seems to.
fn skills(name: &str, peer: &Peer, found: &mut Found) {
    let mut before: Vec<(&str, &SkillSettings)> = Vec::new();
    for (pattern, settings) in &peer.skills {
        let path = format!("peers.{name}.skills.{pattern}");
        let fits = !pattern.is_empty() && !pattern.contains(|c: char| c.is_control() || c.is_whitespace());
        found.require(fits, &path, "expected the name of a skill, without its peer; `*` stands for any letters");
        let says = settings.effects.is_some() || !settings.phrases.is_empty();
        found.require(says, &path, "expected `effects`, `phrases`, or both");
        let is_pattern = pattern.contains('*');
        let hides = |earlier: &SkillSettings| {
            let effects = settings.effects.is_some() && earlier.effects.is_some();
            effects || (!settings.phrases.is_empty() && !earlier.phrases.is_empty())
        };
        let covered =
            before.iter().find(|(earlier, said)| is_pattern && glob::matches(earlier, pattern) && hides(said));
        if let Some((earlier, _)) = covered {
            found.refuse(&path, format!("`{earlier}` before it fits all of these; put the narrower one first"));
        }
        if is_pattern {
            before.push((pattern, settings));
        }
    }
}

fn mcp_peer(path: &str, mcp: &McpPeer, found: &mut Found) {
    match (&mcp.command, &mcp.url) {
        (Some(command), None) => {
            found.require(!command.trim().is_empty(), &format!("{path}.command"), "expected a program");
            let signs_in = mcp.oauth.is_some() || mcp.credentials == McpCredentials::Caller;
            let http_only = mcp.token.is_some() || !mcp.headers.is_empty() || mcp.ca.is_some() || signs_in;
            found.require(
                !http_only,
                path,
                "`token`, `headers`, `oauth`, `credentials` and `ca` are for a server with a `url`; give a program `env`",
            );
        }
        (None, Some(given)) => {
            let program_only =
                !mcp.args.is_empty() || !mcp.env.is_empty() || !mcp.pass.is_empty() || mcp.idle.is_some();
            found.require(!program_only, path, "`args`, `env`, `pass` and `idle` are for a program: a `command`");
            mcp_url(path, mcp, given, found);
        }
        (None, None) | (Some(_), Some(_)) => {
            found.refuse(path, "expected either a `command` to start or the `url` of a server");
        }
    }
}

fn mcp_url(path: &str, mcp: &McpPeer, given: &str, found: &mut Found) {
    let uri = match url(given, &["http", "https"]) {
        Ok(uri) => uri,
        Err(message) => return found.refuse(format!("{path}.url"), message),
    };
    let secret = mcp.token.is_some() || !mcp.headers.is_empty();
    if secret && !mcp.insecure && is_open(&uri) {
        found.refuse(path, "token and headers would travel unencrypted; use https, or set `insecure: true` here");
    }
    let given = mcp.token.is_some() || mcp.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
    let signs_in = mcp.oauth.is_some() || mcp.credentials == McpCredentials::Caller;
    found.require(
        !given || !signs_in,
        path,
        "a `token` is sent as it is: `oauth` and `credentials` are for a server without",
    );
    if let Some(given) = &mcp.oauth {
        let machine = given.grant == OAuthGrant::ClientCredentials;
        let callers = mcp.credentials == McpCredentials::Caller;
        found.require(!(machine && callers), path, "`client_credentials` are the hub's own: no caller has any");
        oauth(&format!("{path}.oauth"), given, found);
    }
    for name in mcp.headers.keys() {
        let known = http::HeaderName::try_from(name.as_str());
        found.require(known.is_ok(), &format!("{path}.headers"), &format!("`{name}` is not the name of a header"));
    }
    authorities(path, mcp.ca.as_deref(), found);
}

fn oauth(path: &str, oauth: &OAuth, found: &mut Found) {
    let at = |key: &str| format!("{path}.{key}");
    let shows = oauth.client_secret.is_some() || oauth.private_key.is_some();
    found.require(
        !shows || oauth.client_id.is_some(),
        &at("client_id"),
        "a secret or a key belongs to a client: name it",
    );
    let one = oauth.client_secret.is_none() || oauth.private_key.is_none();
    found.require(one, path, "either a `client_secret` or a `private_key`, not both");
    if oauth.grant == OAuthGrant::ClientCredentials {
        found.require(shows, path, "`client_credentials` need a `client_secret` or a `private_key`");
    }
    if let Some(key) = &oauth.private_key {
        let readable = key.expose().text().and_then(Signer::from_pem).is_some();
        found.require(readable, &at("private_key"), "expected a private key in PEM form, P-256, Ed25519 or RSA");
    }
    if let Some(given) = &oauth.issuer
        && let Err(message) = url(given, &["http", "https"])
    {
        found.refuse(at("issuer"), message);
    }
    if let Some(given) = &oauth.client_metadata
        && let Err(message) = url(given, &["https"])
    {
        found.refuse(at("client_metadata"), message);
    }
    for scope in &oauth.scopes {
        let fits =
            !scope.is_empty() && scope.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\');
        found.require(fits, &at("scopes"), "a scope has no spaces and no quotation marks");
    }
}

fn aip_peer(path: &str, aip: &AipPeer, found: &mut Found) {
    let uri = match url(&aip.url, &["ws", "wss", "http", "https"]) {
        Ok(uri) => uri,
        Err(message) => return found.refuse(format!("{path}.url"), message),
    };
    if aip.key.is_some() && !aip.insecure && is_open(&uri) {
        found.refuse(
            format!("{path}.key"),
            "the key would travel unencrypted; use https or wss, or set `insecure: true` here",
        );
    }
    found.require(!aip.target.is_empty(), &format!("{path}.target"), "expected the id of a device");
    let heard = aip.heartbeat.is_none_or(|span| !span.0.is_zero());
    found.require(heard, &format!("{path}.heartbeat"), "must be longer than 0");
    authorities(path, aip.ca.as_deref(), found);
}

fn nlip_peer(path: &str, nlip: &NlipPeer, found: &mut Found) {
    let schemes: &[&str] = match nlip.binding() {
        Binding::Http => &["http", "https"],
        // A WebSocket begins as an HTTP request, so its address may be written either way.
        Binding::Ws | Binding::WsText => &["ws", "wss", "http", "https"],
    };
    let uri = match url(&nlip.url, schemes) {
        Ok(uri) => uri,
        Err(message) => return found.refuse(format!("{path}.url"), message),
    };
    if nlip.token.is_some() && !nlip.insecure && is_open(&uri) {
        found.refuse(
            format!("{path}.token"),
            "the token would travel unencrypted; use https or wss, or set `insecure: true` here",
        );
    }
    authorities(path, nlip.ca.as_deref(), found);
}

fn nlweb_peer(path: &str, nlweb: &NlwebPeer, found: &mut Found) {
    let uri = match url(&nlweb.url, &["http", "https"]) {
        Ok(uri) => uri,
        Err(message) => return found.refuse(format!("{path}.url"), message),
    };
    if nlweb.token.is_some() && !nlweb.insecure && is_open(&uri) {
        found.refuse(
            format!("{path}.token"),
            "the token would travel unencrypted; use https, or set `insecure: true` here",
        );
    }
    authorities(path, nlweb.ca.as_deref(), found);
}
