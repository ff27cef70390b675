//! HTTP headers between hubs, for what a protocol has no field for: the hubs passed, the origin of the call there, the deadline, the
//! priority, and the W3C trace context. Used by every protocol over HTTP that has no fields of its own for them.

use interlingua_model::{Call, Deadline, DeadlineBy, HubId, Limits, Priority, Time, Trace, Via};

/// The tag of a skill that was taken from another hub. It is not taken again: two hubs that know each other would go on
/// giving each other their own skills back.
pub const IMPORTED: &str = "imported";

pub const VIA: &str = "interlingua-via";
/// What the call came in by at the hubs before, and what they let it do: see `Origin::tell`.
pub const ORIGIN: &str = "interlingua-origin";
pub const DEADLINE: &str = "interlingua-deadline";
pub const PRIORITY: &str = "interlingua-priority";
pub const TRACEPARENT: &str = "traceparent";
pub const TRACESTATE: &str = "tracestate";
pub const BAGGAGE: &str = "baggage";

/// The headers as they came; a header that is not text counts as absent.
#[derive(Debug, Clone, Copy, Default)]
pub struct Headers<'a> {
    pub via: Option<&'a str>,
    pub origin: Option<&'a str>,
    pub deadline: Option<&'a str>,
    pub priority: Option<&'a str>,
    pub traceparent: Option<&'a str>,
    pub tracestate: Option<&'a str>,
    pub baggage: Option<&'a str>,
}

/// What they say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    pub via: Option<Via>,
    /// As they came.
    pub origins: Vec<String>,
    pub deadline: Option<Deadline>,
    pub priority: Priority,
    pub trace: Option<Trace>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadHop {
    #[error("Interlingua-Deadline must be an RFC 3339 time, or a span such as 1500ms or 30s")]
    Deadline,
    #[error("Interlingua-Priority must be 0 to 9")]
    Priority,
}

impl<'a> Headers<'a> {
    /// Asks for each of them by its name.
    pub fn read(text: impl Fn(&str) -> Option<&'a str>) -> Headers<'a> {
        Headers {
            via: text(VIA),
            origin: text(ORIGIN),
            deadline: text(DEADLINE),
            priority: text(PRIORITY),
            traceparent: text(TRACEPARENT),
            tracestate: text(TRACESTATE),
            baggage: text(BAGGAGE),
        }
    }

    /// `now` is what a relative deadline counts from.
    pub fn decode(&self, now: Time) -> Result<Hop, BadHop> {
        let deadline = self.deadline.map(|text| time(text, now).ok_or(BadHop::Deadline)).transpose()?;
        let priority = match self.priority {
            None => Priority::NORMAL,
            Some(text) => text.trim().parse().ok().and_then(Priority::new).ok_or(BadHop::Priority)?,
        };
        Ok(Hop {
            via: self.via.and_then(via),
            origins: self.origin.map(str::to_owned).into_iter().collect(),
            deadline: deadline.map(|at| Deadline { at, set_by: DeadlineBy::Caller }),
            priority,
            trace: self.trace(),
        })
    }

    fn trace(&self) -> Option<Trace> {
        if self.traceparent.is_none() && self.tracestate.is_none() && self.baggage.is_none() {
            return None;
        }
        Some(Trace {
            parent: self.traceparent.map(Into::into),
            state: self.tracestate.map(Into::into),
            baggage: self.baggage.map(Into::into),
        })
    }
}

impl Hop {
    /// Puts what was said into a call.
    pub fn apply(&self, call: &mut Call) {
        call.via.clone_from(&self.via);
        self.origins.iter().for_each(|origin| call.told(origin));
        call.trace.clone_from(&self.trace);
        call.limits = Limits { deadline: self.deadline, priority: self.priority, ..call.limits.clone() };
    }
}

/// Hubs passed, separated by commas. More than the limit are not kept: a full list is refused whatever follows in it.
pub fn via(text: &str) -> Option<Via> {
    let hubs: Vec<HubId> = text
        .split(',')
        .map(str::trim)
        .filter(|hub| !hub.is_empty())
        .take(usize::from(Via::LIMIT))
        .map(HubId::from)
        .collect();
    (!hubs.is_empty()).then_some(Via { hubs, limit: Via::LIMIT })
}

fn time(text: &str, now: Time) -> Option<Time> {
    let text = text.trim();
    // The next hub is told a date. A time that has none would be told as a span, which starts anew at every hub.
    let dated = |millis: u64| jiff::Timestamp::from_millisecond(i64::try_from(millis).ok()?).ok().map(|_| Time(millis));
    let span = |digits: &str, unit: u64| dated(now.0.checked_add(digits.parse::<u64>().ok()?.checked_mul(unit)?)?);
    if let Some(digits) = text.strip_suffix("ms") {
        return span(digits, 1);
    }
    if let Some(digits) = text.strip_suffix('s') {
        return span(digits, 1000);
    }
    let stamp: jiff::Timestamp = text.parse().ok()?;
    u64::try_from(stamp.as_millisecond()).ok().map(Time)
}

/// The headers of a call on its way to a peer. The hub that sends it has put itself last in its `via` already.
pub fn encode(call: &Call) -> Vec<(&'static str, String)> {
    let mut headers = Vec::new();
    if let Some(via) = &call.via {
        headers.push((VIA, via.hubs.iter().map(HubId::as_str).collect::<Vec<_>>().join(", ")));
    }
    headers.push((ORIGIN, call.origin.tell()));
    if let Some(deadline) = call.limits.deadline {
        headers.push((DEADLINE, deadline.at.to_string()));
    }
    if call.limits.priority != Priority::NORMAL {
        headers.push((PRIORITY, call.limits.priority.level().to_string()));
    }
    if let Some(trace) = &call.trace {
        let fields = [(TRACEPARENT, &trace.parent), (TRACESTATE, &trace.state), (BAGGAGE, &trace.baggage)];
        headers.extend(fields.into_iter().filter_map(|(name, text)| Some((name, text.as_deref()?.to_owned()))));
    }
    headers
}

#[cfg(test)]
mod tests {
    use interlingua_model::{Ask, Input, Target};

    use super::*;

    const NOW: Time = Time(1_000_000);

    fn decode(headers: Headers<'_>) -> Hop {
        headers.decode(NOW).expect("good headers")
    }

    #[test]
    fn without_headers_everything_is_ordinary() {
        let hop = decode(Headers::default());
        assert_eq!(
            hop,
            Hop { via: None, origins: Vec::new(), deadline: None, priority: Priority::NORMAL, trace: None }
        );
    }

    #[test]
    fn a_deadline_is_a_time_or_a_span_and_is_the_callers() {
        for (text, at) in [("1500ms", 1_001_500), ("30s", 1_030_000), ("1970-01-01T00:16:41Z", 1_001_000)] {
            let deadline = decode(Headers { deadline: Some(text), ..Headers::default() }).deadline;
            assert_eq!(deadline, Some(Deadline { at: Time(at), set_by: DeadlineBy::Caller }), "{text}");
        }
        for text in ["soon", "", "-1s", "99999999999999999999s", "18446744073709551615s"] {
            let headers = Headers { deadline: Some(text), ..Headers::default() };
            assert_eq!(headers.decode(NOW), Err(BadHop::Deadline), "{text}");
        }
    }

    #[test]
    fn a_priority_outside_the_range_is_refused() {
        assert_eq!(decode(Headers { priority: Some("9"), ..Headers::default() }).priority.level(), 9);
        for text in ["10", "-1", "high"] {
            let headers = Headers { priority: Some(text), ..Headers::default() };
            assert_eq!(headers.decode(NOW), Err(BadHop::Priority), "{text}");
        }
    }

    #[test]
    fn what_is_sent_to_the_next_hub_is_read_there_and_names_us_last() {
        let headers = Headers {
            via: Some("a, b"),
            origin: Some("mcp; trust=peer; deny=destroys"),
            deadline: Some("30s"),
            priority: Some("7"),
            traceparent: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
            tracestate: None,
            baggage: Some("k=v"),
        };
        let origin = interlingua_model::Origin::program();
        let mut call = Call::new("m", origin, Ask::Invoke { target: Target::Words, input: Input::text("hi") });
        decode(headers).apply(&mut call);
        call.via = Some(Via::through(call.via.as_ref(), &HubId::from("c")).expect("no loop"));
        let sent = encode(&call);
        let get = |name: &str| sent.iter().find(|(given, _)| *given == name).map(|(_, text)| text.as_str());
        assert_eq!(get(VIA), Some("a, b, c"));
        assert_eq!(get(ORIGIN), Some("local, mcp; trust=peer; deny=destroys"));
        let again = decode(Headers {
            via: get(VIA),
            origin: get(ORIGIN),
            deadline: get(DEADLINE),
            priority: get(PRIORITY),
            traceparent: get(TRACEPARENT),
            tracestate: get(TRACESTATE),
            baggage: get(BAGGAGE),
        });
        assert_eq!(again.deadline, call.limits.deadline);
        assert_eq!(again.priority, call.limits.priority);
        assert_eq!(again.trace, call.trace);
    }

    #[test]
    fn a_deadline_that_no_calendar_has_is_none() {
        assert_eq!(time("184473709551615s", Time(1_000)), None);
        assert_eq!(time("30s", Time(1_000)), Some(Time(31_000)));
    }

    #[test]
    fn a_list_of_hubs_longer_than_the_limit_stays_full() {
        let many = vec!["h"; 5000].join(",");
        assert_eq!(via(&many).expect("hubs").hubs.len(), usize::from(Via::LIMIT));
        assert_eq!(via(" , "), None);
    }
}
