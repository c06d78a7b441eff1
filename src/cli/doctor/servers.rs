//! Checks of the servers of an existing or planned mall. Writes nothing there, and ends within seconds if a
//! server is silent.

use mallbox_storage_production::{Inspection, ProductionOptions, inspect};

use super::machine::{Finding, clock, memory, open_files};
use super::{mysql, redis};
use crate::cli::messages::CommandFailure;
use crate::language::Language;
use crate::mall::{Clock as _, SystemClock};

/// Inspects both servers at once.
///
/// # Errors
/// One sentence: a URL is invalid, or a certificate cannot be read.
pub(super) fn findings(options: &ProductionOptions, l: Language) -> anyhow::Result<Vec<Finding>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CommandFailure::NoThreads.with_cause(error))?;
    let inspection = runtime.block_on(inspect(options, &|| SystemClock.now()));
    // A look-up of a host's name may still be under way, and is not waited for.
    runtime.shutdown_background();
    let Inspection { redis_address, redis, mysql_address, mysql } = inspection?;
    let mut findings = vec![open_files(l), memory(l), clock(l)];
    findings.extend(redis::findings(&redis_address, redis.as_ref(), l));
    findings.extend(mysql::findings(&mysql_address, mysql.as_ref(), l));
    Ok(findings)
}
