//! `mallbox kiosk`: turns a computer with a screen into the kiosk of a shop.
//!
//! Reasons and figures: `src/decisions/0091-kiosk-computer.md`.

mod account;
mod address;
mod browser;
mod files;
mod install;
mod key;
mod plan;
mod record;
mod remove;
mod system;
mod watch;
mod writing;

use clap::{Args, Subcommand};

use crate::language::Language;

/// Subcommands of `kiosk`.
#[derive(Subcommand)]
pub(super) enum Kiosk {
    /// Sets this computer up: after power-on it shows the mall's kiosk page on the whole screen, also after a
    /// crash of the page, the browser or the mall. Needs root, Debian, and the packages cage and chromium.
    Install(install::Install),
    /// Gives the kiosk the key of a trusted kiosk: reads the link that the console shows from standard input.
    Key,
    /// Removes what `kiosk install` has set up, with the browser's profile. Files changed by hand stay.
    Remove(Remove),
    /// Runs the browser, and ends when its page has crashed, the page is another one, or the browser hangs.
    /// The unit mallbox-kiosk.service starts this.
    Watch(watch::Watch),
}

/// The flags of `kiosk remove`.
#[derive(Args)]
pub(super) struct Remove {
    /// Removes files that were changed by hand as well.
    #[arg(long)]
    force: bool,
}

/// Runs the subcommand. Returns whether nothing was left undone.
///
/// # Errors
/// One sentence for the user of the command line.
pub(super) fn run(kiosk: &Kiosk, l: Language) -> anyhow::Result<bool> {
    match kiosk {
        Kiosk::Install(install) => install::run(install, l),
        Kiosk::Key => key::run(l).map(|()| true),
        Kiosk::Remove(remove) => remove::run(remove.force, l),
        Kiosk::Watch(watch) => watch::run(watch).map(|()| true),
    }
}
