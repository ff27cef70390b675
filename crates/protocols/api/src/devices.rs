//! `/api/devices`: the devices that the caller may see, and how each was in the last day. Whoever may see a skill of a device sees its
//! telemetry; for anybody else the device is treated as not found.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use http::{StatusCode, Uri};
use interlingua_model::{Fault, FaultKind, Noun, PeerId, Principal, RouteClass, Time};
use serde::Deserialize;

use super::page::{self, Paged};
use super::{Answered, Asker, answer};
use crate::Endpoint;
use crate::view::{DeviceView, PageView, SampleView, TelemetryView};
use interlingua_hub::Hub;
use interlingua_hub::devices::DAY;
use interlingua_hub::registry::Registered;
use interlingua_hub::visible::Visible;

/// How much is shown without a span.
const USUAL: u32 = 60;
const STEP: Duration = Duration::from_secs(60);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Span {
    minutes: Option<u32>,
}

pub(super) async fn list(State(shared): State<Arc<Endpoint>>, asker: Asker, uri: Uri) -> Answered {
    let query: Paged = page::query(&uri)?;
    let visible = shared.hub.visible(&asker.by);
    let after = query.after.as_deref().unwrap_or_default();
    let peers = visible.peers().filter(|peer| peer.card.peer.as_str() > after);
    let devices = peers.filter_map(|peer| view(&shared.hub, &asker.by, &visible, peer));
    let (items, next) = page::cut(devices, query.limit(), |device: &DeviceView| device.name.clone());
    answer(StatusCode::OK, &PageView { items, next })
}

pub(super) async fn read(State(shared): State<Arc<Endpoint>>, asker: Asker, Path(name): Path<String>) -> Answered {
    answer(StatusCode::OK, &find(&shared.hub, &asker.by, &name)?)
}

pub(super) async fn telemetry(
    State(shared): State<Arc<Endpoint>>,
    asker: Asker,
    Path(name): Path<String>,
    uri: Uri,
) -> Answered {
    let span: Span = page::query(&uri)?;
    let minutes = span.minutes.unwrap_or(USUAL);
    if minutes == 0 || minutes as usize > DAY {
        let fault = Fault::caller(FaultKind::InvalidInput, format!("'minutes' is from 1 to {DAY}"));
        return Err(fault.field("/minutes", "is out of range").into());
    }
    let device = find(&shared.hub, &asker.by, &name)?.name;
    let until = shared.hub.now();
    let from = Time(until.0.saturating_sub(u64::from(minutes - 1) * 60_000) / 60_000 * 60_000);
    let samples = shared.hub.devices().since(&PeerId::from(device.as_str()), from);
    let view = TelemetryView {
        device,
        from: from.to_string(),
        until: until.to_string(),
        step_seconds: STEP.as_secs() as u32,
        samples: samples.iter().map(SampleView::from).collect(),
    };
    answer(StatusCode::OK, &view)
}

fn find(hub: &Hub, by: &Principal, name: &str) -> Result<DeviceView, Fault> {
    let visible = hub.visible(by);
    let peer = visible.peers().find(|peer| peer.card.peer.as_str() == name);
    let found = peer.and_then(|peer| view(hub, by, &visible, peer));
    found.ok_or_else(|| Fault::caller(FaultKind::NotFound(Noun::Resource), "no such device"))
}

/// One without a skill that this principal may see is seen by the Owner alone.
fn view(hub: &Hub, by: &Principal, visible: &Visible<'_>, peer: &Registered) -> Option<DeviceView> {
    if peer.card.class != RouteClass::Device {
        return None;
    }
    let skills = visible.skills_of(Some(&peer.card.peer)).count();
    (skills > 0 || by.is_hub_owner()).then(|| DeviceView::new(&peer.card, hub.devices().get(&peer.card.peer), skills))
}
