//! Priority of a message between agents, from 1 to 10 as they write it.

use interlingua_model::Priority;

/// 1 to 10 as the hub's 0 to 9; `None` outside.
pub fn priority(level: u64) -> Option<Priority> {
    match u8::try_from(level).ok()? {
        level @ 1..=4 => Priority::new(level - 1),
        level @ 5..=9 => Priority::new(level),
        10 => Priority::new(9),
        _ => None,
    }
}

/// The hub's 0 to 9 as 1 to 10.
pub fn level(priority: Priority) -> u64 {
    match priority.level() {
        level @ 0..=3 => u64::from(level) + 1,
        4 => 4,
        level @ 5..=8 => level.into(),
        _ => 10,
    }
}
