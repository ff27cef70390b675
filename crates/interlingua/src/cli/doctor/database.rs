//! The database of a hub on PostgreSQL: whether the hub could use it, and what its safety depends on. Nothing is made there.

use interlingua_store_postgres::inspect;

use super::{Finding, Verdict, finding};
use crate::config::Config;

const WHAT: &str = "database";

/// Nothing for a hub that keeps its data in a directory.
pub(super) fn database(config: &Config) -> Vec<Finding> {
    let Some(postgres) = &config.store.postgres else { return Vec::new() };
    let bad = |detail: String| vec![finding(WHAT, Verdict::Bad, detail)];
    let options = match postgres.options() {
        Ok(options) => options,
        Err(problem) => return bad(problem),
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return bad(format!("not looked at: {}", error.kind())),
    };
    match runtime.block_on(inspect(&options)) {
        Err(fault) => bad(fault.to_string()),
        Ok(found) if found.warnings.is_empty() => {
            vec![finding(WHAT, Verdict::Good, format!("PostgreSQL {}", found.version))]
        }
        Ok(found) => found
            .warnings
            .into_iter()
            .map(|warning| finding(WHAT, Verdict::Warning, format!("PostgreSQL {}: {warning}", found.version)))
            .collect(),
    }
}
