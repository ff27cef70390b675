//! Invariants of the routing envelope for any bytes: what can be read can be written, read again, sent through the Ecma message and
//! decoded; the rest is refused.

use bytes::Bytes;
use interlingua_envelope::decode::{Context, decode};
use interlingua_envelope::ecma::{from_ecma, to_ecma};
use interlingua_envelope::names::Table;
use interlingua_envelope::translators::Translators;
use interlingua_envelope::wire::{Limits, read};
use interlingua_model::Time;

pub(crate) fn json(data: &[u8]) {
    let limits = Limits::default();
    let Ok(carried) = read(&Bytes::copy_from_slice(data), &limits) else { return };
    let again = read(&carried.value.to_bytes(), &limits).expect("what was written can be read");
    assert_eq!(again.value, carried.value);
    let back = from_ecma(&to_ecma(&again.value), &limits).expect("an envelope comes back from its message");
    assert_eq!(back.value, again.value);
    let (names, translators) = (Table::default(), Translators::default());
    let context = Context { names: &names, translators: &translators, now: Time(0), default_timeout: None, peer: None };
    let _ = decode(back.value, &context);
}
