//! The environment of `mallbox` as a child process.

use std::process::Command;

/// Removes the settings of malls from the environment of a command.
pub fn without_settings(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("MALLBOX_") {
            command.env_remove(&name);
        }
    }
}
