//! Spelling of names and times in this protocol.

use interlingua_model::{Text, uuid_v4};

/// A task's name as it may stand in paths: every character outside `[A-Za-z0-9._-]` becomes `_`, leading dots go, and an
/// empty name becomes an id (`random` feeds it).
pub fn safe_task_name(given: Option<&str>, random: u128) -> Text {
    let safe: String = given
        .unwrap_or_default()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '_' })
        .collect();
    match safe.trim_start_matches('.') {
        "" => uuid_v4(random).into(),
        name => name.into(),
    }
}

/// A constellation has one connection to each device, named after both.
pub fn client_id(constellation: &str, device: &str) -> Text {
    format!("{constellation}@{device}").into()
}

pub fn session_id(constellation: &str, task: &str) -> Text {
    format!("{constellation}@{task}").into()
}
