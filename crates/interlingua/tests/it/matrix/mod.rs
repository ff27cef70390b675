//! Every protocol calls every other: nine callers, nine callees, eight behaviours, over real sockets.
//!
//! Callers and callees are programs other people wrote wherever a registry has one; `conformance/matrix` holds what little they
//! need, and [`page`] says whose each is. Every cell is played, also one that cannot be: then what was tried must not arrive, and
//! [`reasons`] says why. One test plays one caller, on a stage of its own, and holds its section of `docs/matrix.md`:
//!
//! ```text
//! MATRIX=write cargo nextest run --workspace -E 'test(/^matrix::calls/) | test(/^matrix::page/)'
//! ```

mod behaviour;
mod callees;
mod callers;
mod fidelity;
mod judge;
mod notes;
mod page;
mod play;
mod reasons;
mod red;
mod seen;
mod soak;
mod stage;

/// One test for each caller.
mod calls {
    use super::callers::Caller;
    use super::play::row;

    #[tokio::test]
    async fn of_nlip() {
        row(Caller::Nlip).await;
    }

    #[tokio::test]
    async fn of_mcp() {
        row(Caller::Mcp).await;
    }

    #[tokio::test]
    async fn of_mcp_in_typescript() {
        row(Caller::McpTypeScript).await;
    }

    #[tokio::test]
    async fn of_a2a() {
        row(Caller::A2a).await;
    }

    #[tokio::test]
    async fn of_aip() {
        row(Caller::Aip).await;
    }

    #[tokio::test]
    async fn of_nlweb() {
        row(Caller::Nlweb).await;
    }

    #[tokio::test]
    async fn of_the_envelope() {
        row(Caller::Envelope).await;
    }

    #[tokio::test]
    async fn of_the_bus() {
        row(Caller::Bus).await;
    }

    #[tokio::test]
    async fn of_the_command_line() {
        row(Caller::Cli).await;
    }

    #[tokio::test]
    async fn of_all_with_the_richest_message() {
        super::fidelity::played().await;
    }
}
