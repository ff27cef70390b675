//! Maps the envelope's priority (0 to 10, default 0) to the hub's (0 to 9, normal 5).

use interlingua_model::Priority;

/// Nothing said is normal; the rest is spread over what is above.
pub fn decode(priority: u8) -> Priority {
    let level = match priority {
        0 => 5,
        1..=2 => 6,
        3..=5 => 7,
        6..=7 => 8,
        8..=u8::MAX => 9,
    };
    Priority::new(level).unwrap_or(Priority::NORMAL)
}

/// The envelope cannot say less than normal: all of that is 0.
pub fn encode(priority: Priority) -> u8 {
    match priority.level() {
        0..=5 => 0,
        6 => 2,
        7 => 5,
        8 => 7,
        9..=u8::MAX => 10,
    }
}
