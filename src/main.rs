//! The binary: runs the command line.

use std::process::ExitCode;

/// musl's own allocator has one lock for all threads (`src/decisions/0080-packages.md`).
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    mallbox::cli::main()
}
