//! The program `interlingua`.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    without_core_dumps();
    interlingua_telemetry::panics::withhold();
    // One crypto library for TLS, digests and seals. It can only have been chosen before by someone who embeds us.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    interlingua::config::policy::install(&interlingua_policy::Cedar);
    interlingua::cli::run()
}

/// Memory holds keys and tokens: a crash does not write them to a disk. What the hub starts has the same limit.
#[expect(clippy::print_stderr, reason = "there is no log yet")]
fn without_core_dumps() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    if let Err(error) = setrlimit(Resource::Core, none) {
        eprintln!("core dumps cannot be switched off: {error}");
    }
}
