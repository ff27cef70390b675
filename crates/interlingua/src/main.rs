//! The program.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    interlingua::telemetry::panics::withhold();
    // One crypto library for TLS, digests and seals. It can only have been chosen before by someone who embeds us.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    interlingua::config::policy::install(&interlingua_policy::Cedar);
    interlingua::cli::run()
}
