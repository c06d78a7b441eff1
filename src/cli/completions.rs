//! `mallbox completions` and `mallbox man-pages`: what a package installs for shells and for man(1), made
//! from the definitions of the commands.

use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::{Shell, generate};

use super::messages::CommandFailure;
use super::output::print;
use crate::language::{Language, sentence};

/// The flags of `completions`.
#[derive(Args)]
pub(super) struct Completions {
    /// The shell.
    shell: Shell,
}

/// Prints a script that completes commands and flags.
pub(super) fn run(Completions { shell }: &Completions, mut command: Command) {
    let mut script = Vec::new();
    let name = command.get_name().to_owned();
    generate(*shell, &mut command, name, &mut script);
    print(&String::from_utf8_lossy(&script));
}

/// The flags of `man-pages`.
#[derive(Args)]
pub(super) struct ManPages {
    /// The directory of the pages, such as /usr/local/share/man/man1; made if missing.
    dir: PathBuf,
}

/// Writes a page for each command: `mallbox.1`, `mallbox-serve.1`. Replaces pages of these names.
///
/// # Errors
/// One sentence for the user of the command line.
pub(super) fn write_man_pages(
    ManPages { dir }: &ManPages,
    command: Command,
    l: Language,
) -> anyhow::Result<()> {
    let written = std::fs::create_dir_all(dir).and_then(|()| clap_mangen::generate_to(command, dir));
    written.map_err(|error| CommandFailure::CannotWrite(dir.clone()).with_cause(error))?;
    let dir = dir.display();
    print(&sentence!(
        l,
        "手册页在{dir}；用`man {dir}/mallbox.1`查看\n",
        "the pages are in {dir}; read them with `man {dir}/mallbox.1`\n"
    ));
    Ok(())
}
