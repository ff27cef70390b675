//! Webhook: receives a POST and decides by its response. Any status but 2xx is a failure.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{Request, Uri};
use interlingua_model::{Fault, FaultKind};

use super::message;
use interlingua_hub::Hub;
use interlingua_hub::hooks::{Hook, HookCall, HookNote, PendingVerdict, When};
use interlingua_net::client::guard::Reach;
use interlingua_net::client::http::{Pool, read, whole};
pub(crate) use interlingua_net::client::tls::{self, Trust};
use interlingua_net::client::transport_error::TransportError;

const JSON: &str = "application/json";

pub(super) struct Address {
    uri: Uri,
    pool: Pool,
}

impl Address {
    pub(super) fn new(hub: &Hub, address: &str) -> Result<Address, Fault> {
        let uri: Uri = address.parse().map_err(Fault::internal)?;
        let pool =
            Pool::new(tls::config(&Trust::of(None, &uri))?, hub.supervisor(), Reach::address(hub, &uri), hub.answers());
        Ok(Address { uri, pool })
    }
}

impl Hook for Address {
    fn ask(&self, told: HookCall) -> PendingVerdict<'_> {
        Box::pin(async move { message::decode(self.asked(message::encode(&told)).await?, told.when) })
    }

    fn inform(&self, told: HookNote) -> PendingVerdict<'_> {
        Box::pin(async move { message::decode(self.asked(message::encode_note(&told)).await?, When::Notification) })
    }
}

impl Address {
    async fn asked(&self, question: Bytes) -> Result<Bytes, Fault> {
        let request = Request::post(&self.uri).header(CONTENT_TYPE, JSON).header(ACCEPT, JSON);
        let request = request.body(whole(question)).map_err(Fault::internal)?;
        let lost = |lost: TransportError| Fault::hub(FaultKind::Unreachable, format!("a hook's address: {lost}"));
        let response = self.pool.send(request).await.map_err(lost)?;
        let status = response.status();
        if !status.is_success() {
            return Err(Fault::hub(FaultKind::PeerFailed, format!("a hook's address answered {status}")));
        }
        read(response, usize::MAX).await.map_err(lost)
    }
}
