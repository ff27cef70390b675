//! OAuth scope challenge. A tool that an issuer's token could reach with another scope: HTTP 403 that names it (authorization, scope
//! challenge).

use crate::decode::{Method, Refused};
use axum::response::Response;
use interlingua_model::Proof;
use interlingua_wire::rpc::{self, Id};

use super::ask::Asker;
use super::http;
use interlingua_endpoint::oauth::resource;

impl Asker {
    /// The refusal of a call that only lacks a scope.
    pub(super) fn wants_scopes(&self, id: &Id, method: &Method) -> Option<Response> {
        let Method::Call(invoke) = method else { return None };
        // Only an issuer gives other scopes.
        if self.by.links().iter().all(|link| link.proof != Proof::Jwt) {
            return None;
        }
        let listing = self.listing();
        let entry = listing.tool(&invoke.name).ok()?;
        let scopes = resource::missing_scopes(&self.shared, &self.by, &entry.skill);
        if scopes.is_empty() {
            return None;
        }
        let error = rpc::Error::new(rpc::INVALID_REQUEST, "this token lacks a scope");
        let mut response = http::refused(Some(id), &Refused { error, status: 403 });
        resource::wants_scopes(&self.shared, &self.scope.path(), &scopes, &mut response);
        Some(response)
    }
}
