//! Another hub as the attacker, and as the detour of a call.
