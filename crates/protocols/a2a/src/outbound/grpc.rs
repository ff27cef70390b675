//! A gRPC interface: a request, its message or messages back, and a status behind them.

use std::time::Duration;

use crate::client::Ask;
use crate::client::call::{self, Bad, End, Messages, Status};
use crate::client::request::{self, GrpcRequest};
use crate::discover::Interface;
use crate::grpc;
use crate::invalid::{Invalid, Problem};
use crate::wire::Update;
use http::header::{CONTENT_TYPE, TE};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Request, Uri};

use super::events::Events;
use super::interface::{DEPTH, Heard, Trouble};
use interlingua_net::client::answers::Coming;
use interlingua_net::client::h2_pool::{H2Pool, Seat};
use interlingua_net::client::http::whole;
use interlingua_net::client::transport_error::{Begun, TransportError, Why};

const TIMEOUT: &str = "grpc-timeout";
const ACCEPT_ENCODING: &str = "grpc-accept-encoding";

/// `wait`: how long the answer is of any use.
pub(super) async fn ask(
    (interface, at): (&Interface, &Uri),
    lanes: &H2Pool,
    ask: &Ask<'_>,
    headers: &HeaderMap,
    wait: Option<Duration>,
) -> Result<Heard, Trouble> {
    let (method, version) = (ask.method(), interface.version);
    // What the hub itself wrote always fits its message.
    let call = request::grpc(ask, version, interface.tenant.as_deref()).map_err(TransportError::unconnected)?;
    let (response, seat) = lanes.send(request_of(call, at, headers, wait)?).await?;
    let (head, body) = response.into_parts();
    let media = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    call::head(head.status.as_u16(), media)?.map_err(Trouble::Refused)?;
    let told = match status(&head.headers) {
        Some(Err(refusal)) => return Err(Trouble::Refused(refusal)),
        told => told,
    };
    let messages = Messages::new(method, version, body.most(), DEPTH, told);
    let mut answer = Answer { body: Some(body), messages, _seat: seat };
    if method.streams() {
        return Ok(Heard::Stream(Box::new(Events::Grpc(answer))));
    }
    answer.only().await.map(|update| Heard::Update(Box::new(update)))
}

fn request_of(
    call: GrpcRequest,
    at: &Uri,
    headers: &HeaderMap,
    wait: Option<Duration>,
) -> Result<Request<interlingua_net::client::http::Body>, TransportError> {
    let mut parts = at.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(call.path).map_err(TransportError::unconnected)?);
    let mut request = Request::post(Uri::from_parts(parts).map_err(TransportError::unconnected)?);
    if let Some(given) = request.headers_mut() {
        given.extend(headers.clone());
        given.insert(CONTENT_TYPE, HeaderValue::from_static(grpc::MEDIA));
        given.insert(TE, HeaderValue::from_static("trailers"));
        given.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let wait = wait.and_then(grpc::write_timeout).and_then(|text| HeaderValue::try_from(text).ok());
        given.extend(wait.map(|wait| (http::HeaderName::from_static(TIMEOUT), wait)));
    }
    request.body(whole(call.body)).map_err(TransportError::unconnected)
}

fn status(headers: &HeaderMap) -> Option<Status> {
    call::status(|name| headers.get(name)?.to_str().ok())
}

/// The answer to one call, as it comes.
#[derive(Debug)]
pub(super) struct Answer {
    /// Gone once it has ended.
    body: Option<Coming>,
    messages: Messages,
    _seat: Seat,
}

impl Answer {
    /// The next message; `None` when the agent said that it was the last. Cancel safe: what was read is kept.
    pub(super) async fn next(&mut self) -> Result<Option<Update>, Trouble> {
        loop {
            match self.messages.take() {
                Ok(Some(update)) => return Ok(Some(update)),
                Ok(None) => {}
                Err(Bad::TooLarge) => {
                    return Err(TransportError::new(Begun::Perhaps, Why::TooLarge, grpc::BadFrame::TooLarge).into());
                }
                Err(Bad::Invalid(invalid)) => return Err(Trouble::Bad(invalid)),
            }
            let Some(body) = &mut self.body else { return self.end() };
            match body.frame(self.messages.unfinished()).await {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => self.messages.push(&bytes),
                    Err(frame) => self.messages.ends(frame.trailers_ref().and_then(status)),
                },
                Some(Err(lost)) => {
                    self.body = None;
                    return Err(lost.into());
                }
                None => self.body = None,
            }
        }
    }

    fn end(&mut self) -> Result<Option<Update>, Trouble> {
        match self.messages.end() {
            End::Done => Ok(None),
            End::Refused(refusal) => Err(Trouble::Refused(refusal)),
            End::Broken(why) => Err(TransportError::broken(why).into()),
        }
    }

    /// Its one message, and nothing behind it.
    async fn only(&mut self) -> Result<Update, Trouble> {
        let wanted = || Trouble::Bad(Invalid::whole(Problem::Shape("exactly one message is wanted")));
        let update = self.next().await?.ok_or_else(wanted)?;
        match self.next().await? {
            None => Ok(update),
            Some(_) => Err(wanted()),
        }
    }
}
