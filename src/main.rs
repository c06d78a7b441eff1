//! The binary: runs the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    mallbox::cli::main()
}
