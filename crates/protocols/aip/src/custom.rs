//! Custom message types, which the protocol itself does not have. Both ends must have agreed on them; this module only recognises, opens
//! and answers them. The rules of every frame apply to them too: one JSON object with `type` and `status`.

use bytes::Bytes;
use interlingua_model::json::Reader;
use interlingua_model::{Json, Text};

use super::invalid::{Invalid, Problem};
use super::say::Stamp;
use super::wire::{Limits, Status};
use interlingua_wire::members::Members;
use interlingua_wire::object::Object;
use interlingua_wire::time::stamp;

/// What a frame says of itself and its sender, beside what it has to say.
const ENVELOPE: [&str; 8] =
    ["type", "status", "client_type", "client_id", "target_id", "session_id", "timestamp", "request_id"];

/// A frame of some kind, opened one level deep.
#[derive(Debug, Clone)]
pub struct Custom {
    pub kind: Text,
    members: Members,
}

impl Custom {
    pub fn decode(frame: &Bytes, limits: &Limits) -> Result<Custom, Invalid> {
        if frame.len() > limits.bytes {
            return Err(Invalid::at("", Problem::TooLarge { limit: limits.bytes }));
        }
        let mut reader = Reader::new(frame, limits.depth)?;
        let members = Members::read(frame, &mut reader)?;
        reader.end()?;
        if !members.is_object() {
            return Err(Invalid::at("", Problem::NotAnObject));
        }
        let kind = members.text("type").filter(|kind| !kind.is_empty()).map(|kind| Text::from(&*kind));
        let kind = kind.ok_or_else(|| Invalid::at("type", Problem::Missing))?;
        Ok(Custom { kind, members })
    }

    pub fn members(&self) -> &Members {
        &self.members
    }

    /// What it has to say.
    pub fn arguments(&self) -> Json {
        Object::json(|out| {
            for (key, value) in self.members.iter().filter(|(key, _)| !ENVELOPE.contains(key)) {
                out.value(key, &value);
            }
        })
    }

    /// A frame of the same kind. The sender's `request_id` comes back as `response_id`.
    pub fn answer(&self, status: Status, error: Option<&str>, result: Option<&Json>, by: &mut Stamp<'_>) -> Bytes {
        let text = |key: &str| self.members.text(key);
        let response = text("request_id").map_or_else(|| by.id(), |id| Text::from(&*id));
        let frame = Object::json(|out| {
            out.text("type", &self.kind);
            out.text("status", status.as_str());
            out.text_or_null("error", error);
            out.text_or_null("session_id", text("session_id").as_deref());
            out.text("timestamp", &stamp(by.now));
            out.text("response_id", &response);
            match result {
                Some(result) => out.value("result", result),
                None => out.null("result"),
            }
        });
        frame.as_bytes().clone()
    }
}

#[cfg(test)]
mod tests {
    use interlingua_model::Time;

    use super::*;

    fn read(text: &str) -> Result<Custom, Invalid> {
        Custom::decode(&Bytes::copy_from_slice(text.as_bytes()), &Limits::default())
    }

    #[test]
    fn g_5_a_message_of_another_kind_is_opened_and_answered_in_its_own_kind() {
        let custom =
            read(r#"{"type":"weather","status":"ok","client_id":"d","request_id":"r","city":"Oslo","days":[1]}"#)
                .expect("a frame");
        assert_eq!(custom.arguments().as_str(), r#"{"city":"Oslo","days":[1]}"#);
        let mut stamp = Stamp { now: Time(1_794_724_084_000), mint: &mut || 1 };
        let answer = custom.answer(Status::Completed, None, Some(&custom.arguments()), &mut stamp);
        assert_eq!(
            std::str::from_utf8(&answer).expect("text"),
            r#"{"type":"weather","status":"completed","error":null,"session_id":null,"timestamp":"2026-11-15T06:28:04+00:00","response_id":"r","result":{"city":"Oslo","days":[1]}}"#
        );
        let unnamed =
            read(r#"{"type":"weather"}"#).expect("a frame").answer(Status::Failed, Some("no"), None, &mut stamp);
        assert!(std::str::from_utf8(&unnamed).is_ok_and(|text| text.contains(r#""response_id":"00000000-"#)));
    }

    #[test]
    fn what_is_no_object_with_a_kind_is_none() {
        for bad in ["[]", "7", "{}", r#"{"type":""}"#, r#"{"type":7}"#, r#"{"type":"a"} x"#, ""] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
