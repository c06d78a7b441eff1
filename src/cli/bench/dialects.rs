//! `bench dialect`: the dialects in the program.

use crate::bench::Dialect;
use crate::cli::messages::{BenchMisuse, UsageError};

/// Prints the text of a dialect; without a name, all names.
pub(super) fn print(name: Option<&str>) -> anyhow::Result<()> {
    let Some(name) = name else {
        for name in Dialect::names() {
            println!("{name}");
        }
        return Ok(());
    };
    let text = Dialect::text(name).ok_or_else(|| unknown(name))?;
    print!("{text}");
    Ok(())
}

/// Returns the refusal of a name that is neither a dialect nor a file.
pub(super) fn unknown(name: &str) -> UsageError {
    UsageError::Bench(BenchMisuse::NoDialect(name.to_owned(), Dialect::names()))
}
