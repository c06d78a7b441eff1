//! `mallbox kiosk key`: gives the kiosk the key of a trusted kiosk.
//!
//! The key is in a file that the browser's account can read, never on a command line: other accounts can read
//! those.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::Path;

use super::account;
use super::files::{KEY, UNIT};
use super::record::Record;
use super::system;
use super::writing::{self, Access};
use crate::cli::messages::{CommandFailure, KioskFailure, KioskMisuse, UsageError};
use crate::cli::output::{print, warn};
use crate::language::{Language, sentence};

/// What stands before the key in a link of the console.
pub(super) const FRAGMENT: &str = "#kiosk-key=";

/// Reads a link or a key from standard input, stores the key, and restarts a running kiosk.
///
/// # Errors
/// One sentence for the user of the command line.
pub(super) fn run(l: Language) -> anyhow::Result<()> {
    system::check_root("key")?;
    let record = Record::read().map_err(|error| CommandFailure::CannotRead(KEY.into()).with_cause(error))?;
    if record.is_none() {
        return Err(CommandFailure::Kiosk(KioskFailure::NotInstalled).into());
    }
    if io::stdin().is_terminal() {
        warn(&sentence!(
            l,
            "请粘贴管理后台显示的链接，再按回车",
            "paste the link that the console shows, then press Enter"
        ));
    }
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map_err(|error| CommandFailure::NoInput.with_cause(error))?;
    let key = key_in(line.trim()).ok_or(UsageError::Kiosk(KioskMisuse::Key))?;
    let stored = account::group()
        .and_then(|group| writing::put(Path::new(KEY), &format!("{key}\n"), Access::Group(group), true))
        .and_then(|()| if system::is_booted() { restart() } else { Ok(()) });
    stored.map_err(|error| CommandFailure::CannotWrite(KEY.into()).with_cause(error))?;
    print(&sentence!(
        l,
        "密钥已保存；终端正在运行的话，已用它重新启动\n",
        "the key is stored; a running kiosk was restarted with it\n"
    ));
    Ok(())
}

fn restart() -> io::Result<()> {
    system::run("systemctl", &["try-restart", UNIT])
}

/// Returns the key of a link, or the text itself.
fn key_in(text: &str) -> Option<&str> {
    let key = text.split_once(FRAGMENT).map_or(text, |(_, key)| key);
    let is_key = key.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    // 192 random bits; a shorter text is another one.
    (is_key && (16..=200).contains(&key.len())).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_taken_from_a_link() {
        let key = "0123456789abcdef_-XYZ";
        assert_eq!(key_in(key), Some(key));
        assert_eq!(key_in(&format!("http://127.0.0.1:8080/?kiosk{FRAGMENT}{key}")), Some(key));
        for wrong in ["", "short", "http://127.0.0.1:8080/?kiosk", "http://127.0.0.1:8080/?kiosk#kiosk-key="]
        {
            assert_eq!(key_in(wrong), None, "{wrong}");
        }
    }
}
