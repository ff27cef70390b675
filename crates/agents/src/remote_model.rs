//! A model behind an HTTP API, with a streamed response.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use crate::providers::{Listener, Provider};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderName, HeaderValue, Request, Response, StatusCode, Uri};
use interlingua_machines::llm::{Event, Failure, FailureKind, Model, Prompt, Speaking, Speech};
use interlingua_model::{Fault, FaultKind, Secret};

use interlingua_hub::Hub;
use interlingua_net::client::answers::Coming;
use interlingua_net::client::guard::Reach;
use interlingua_net::client::http::{Body, Pool, whole};
pub(crate) use interlingua_net::client::tls::{self, Trust};
pub(crate) use interlingua_net::client::transport_error::{TransportError, Why};

pub(super) struct RemoteModel {
    pub(super) provider: Provider,
    /// The provider's name for the model.
    pub(super) model: String,
    /// Ends with a slash.
    base: String,
    key: Option<Secret>,
    pool: Pool,
}

impl RemoteModel {
    pub(super) fn new(
        provider: Provider,
        model: &str,
        base: &str,
        key: Option<Secret>,
        hub: &Hub,
    ) -> Result<RemoteModel, Fault> {
        let base = if base.ends_with('/') { base.to_owned() } else { format!("{base}/") };
        let uri: Uri = base.parse().map_err(|_| Fault::hub(FaultKind::InvalidInput, "base_url is no URL"))?;
        let pool =
            Pool::new(tls::config(&Trust::of(None, &uri))?, hub.supervisor(), Reach::address(hub, &uri), hub.answers());
        Ok(RemoteModel { provider, model: model.to_owned(), base, key, pool })
    }

    fn request(&self, prompt: &Prompt) -> Result<Request<Body>, Failure> {
        let asked = self.provider.encode(&self.model, prompt);
        let unfit = || Failure::new(FailureKind::Refused, "the model's address or key cannot be sent");
        let mut request =
            Request::post(format!("{}{}", self.base, asked.path)).header(CONTENT_TYPE, "application/json");
        for (name, value) in asked.headers {
            request = request.header(name, value);
        }
        if let Some(key) = self.key.as_ref().and_then(Secret::text) {
            let (name, before) = self.provider.key_header();
            let mut value = HeaderValue::from_str(&format!("{before}{key}")).map_err(|_| unfit())?;
            value.set_sensitive(true);
            request = request.header(HeaderName::from_static(name), value);
        }
        request.body(whole(asked.body)).map_err(|_| unfit())
    }

    /// Sends the request; an answer that is none is a failure of its status.
    async fn begun(self: Arc<Self>, prompt: Prompt) -> Result<Coming, Failure> {
        let response = self.pool.send(self.request(&prompt)?).await.map_err(|lost| unreached(&lost))?;
        match response.status() {
            StatusCode::OK => Ok(response.into_body()),
            status => Err(Failure::status(status.as_u16(), retry_after(&response))),
        }
    }
}

fn retry_after(response: &Response<Coming>) -> Option<&str> {
    response.headers().get(RETRY_AFTER)?.to_str().ok()
}

fn unreached(lost: &TransportError) -> Failure {
    tracing::debug!(error = %lost, "a model's provider cannot be reached");
    match lost.why {
        Why::Certificate => {
            Failure::new(FailureKind::Refused, "the certificate of the model's provider is not trusted")
        }
        Why::Refused => Failure::new(FailureKind::Refused, "the model's address is one that this hub does not call"),
        Why::Connection | Why::TooLarge | Why::Slow | Why::Busy => {
            Failure::new(FailureKind::Down, "the model's provider cannot be reached")
        }
    }
}

impl Model for RemoteModel {
    fn speak(self: Arc<Self>, prompt: Prompt) -> Speech {
        let listener = Listener::new(self.provider);
        Box::new(Answer { listener, at: At::Asking(Box::pin(self.begun(prompt))) })
    }
}

struct Answer {
    listener: Listener,
    at: At,
}

enum At {
    Asking(Pin<Box<dyn Future<Output = Result<Coming, Failure>> + Send>>),
    Reading(Coming),
    Closed,
}

impl Speaking for Answer {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        loop {
            if let Some(event) = self.listener.next_event() {
                return Poll::Ready(Some(event));
            }
            match &mut self.at {
                At::Closed => return Poll::Ready(None),
                At::Asking(asking) => match ready!(asking.as_mut().poll(cx)) {
                    Ok(body) => self.at = At::Reading(body),
                    Err(failure) => {
                        self.at = At::Closed;
                        return Poll::Ready(Some(Event::Error(failure)));
                    }
                },
                At::Reading(body) => match ready!(body.poll_frame(cx, self.listener.unfinished())) {
                    Some(Ok(frame)) => self.listener.feed(&frame.into_data().unwrap_or_else(|_| Bytes::new())),
                    // A connection that breaks ends the answer where it is, like one that closes.
                    Some(Err(_)) | None => self.at = At::Closed,
                },
            }
        }
    }
}
