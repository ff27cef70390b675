//! OAuth scope challenge: HTTP 403 that names the scope with which the issuer's token could call a tool (authorization, scope challenge).

use crate::decode::Invalid;
use axum::response::Response;
use interlingua_wire::rpc::Id;

use super::ask::Asker;
use super::http;
use interlingua_endpoint::oauth::resource;

impl Asker {
    /// The response to a request that cannot be carried out.
    pub(super) fn refusal(&self, id: &Id, mut invalid: Invalid) -> Response {
        let scopes = match &mut invalid {
            Invalid::Scopes(scopes) => std::mem::take(scopes),
            Invalid::Refused(_) | Invalid::Fault { .. } => Vec::new(),
        };
        let mut response = http::ended_response(id, self.refused(invalid));
        if !scopes.is_empty() {
            resource::wants_scopes(&self.shared, &self.scope.path(), &scopes, &mut response);
        }
        response
    }
}
