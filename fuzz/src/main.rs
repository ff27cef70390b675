//! All targets in one program: `FUZZ_TARGET` names the one that runs, the arguments are libFuzzer's.
#![no_main]

use std::sync::LazyLock;

use interlingua_fuzz::Target;

static CHOSEN: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    interlingua_fuzz::target(&name).unwrap_or_else(|| panic!("FUZZ_TARGET={name:?} is no target"))
});

libfuzzer_sys::fuzz_target!(init: { LazyLock::force(&CHOSEN); }, |data: &[u8]| (CHOSEN.check)(data));
