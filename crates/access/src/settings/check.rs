//! Validation of the `access` section beyond its types: names and credentials that occur twice, roles without a member.

use std::collections::{HashMap, HashSet};

use super::{Access, Around, Shows, issuers};
use interlingua_settings::Found;

impl Access {
    pub fn check(&self, around: &Around<'_>, found: &mut Found) {
        // There may be a hundred thousand of them.
        let (mut names, mut shown) = (HashSet::new(), HashMap::new());
        for (index, token) in self.tokens.iter().enumerate() {
            let path = format!("access.tokens.{index}");
            let named = !token.name.is_empty() && token.name.len() <= 128 && !token.name.contains(char::is_control);
            found.require(named, &path, "a caller's name is 1 to 128 characters");
            if let Some((issuer, _)) = token.name.split_once('/')
                && self.issuers.contains_key(issuer)
            {
                let text = format!(
                    "`{issuer}/…` are those whom the issuer `{issuer}` vouches for; call this caller something else"
                );
                found.refuse(&path, text);
            }
            if !names.insert(token.name.as_str()) {
                found.refuse(&path, format!("there are two callers named `{}`", token.name));
            }
            let first = *shown.entry((token.shows, token.digest)).or_insert(index);
            if first != index {
                let other = &self.tokens[first].name;
                found.refuse(&path, format!("`{other}` and `{}` have the same token", token.name));
            }
        }
        self.check_roles(around, found);
        issuers::check(&self.issuers, around.hub_url, found);
        self.check_certificates(around, found);
    }

    fn check_roles(&self, around: &Around<'_>, found: &mut Found) {
        const KINDS: [&str; 6] = ["user:", "agent:", "device:", "orchestrator:", "hub:", "role:"];
        for (role, members) in &self.roles {
            let path = format!("access.roles.{role}");
            found.require(!role.is_empty() && role.len() <= 128, &path, "a role's name is 1 to 128 characters");
            let written =
                |member: &&String| !KINDS.iter().any(|kind| member.len() > kind.len() && member.starts_with(kind));
            for member in members.iter().filter(written) {
                let text = format!(
                    "`{member}` is nobody: write `user:NAME`, `agent:NAME`, `device:ID`, `orchestrator:ID`, `hub:ID` or `role:NAME`"
                );
                found.refuse(&path, text);
            }
            let agents = members.iter().filter_map(|member| member.strip_prefix("agent:"));
            for name in agents.filter(|name| !around.is_agent(name)) {
                found.warn(&path, around.no_such_agent(name, &format!("orchestrator:{name}")));
            }
        }
        let used = !self.roles.is_empty() || self.tokens.iter().any(|token| !token.roles.is_empty());
        if used && self.policy.is_none() {
            found.warn("access", "roles mean nothing without the rules of a `policy`");
        }
    }

    /// Client certificates need a listener that asks for them.
    fn check_certificates(&self, around: &Around<'_>, found: &mut Found) {
        let named = self.tokens.iter().any(|token| token.shows == Shows::Certificate);
        if named && !around.asks_certificates {
            found.warn("access.tokens", "nobody is asked for a certificate: set `tls.clients`");
        }
    }
}
