//! The secret that the stored PINs of staff depend on, outside of the database and of its backups.
//!
//! Reasons: `src/decisions/0088-staff.md`.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use super::backup::naming::name_durably;
use super::messages::{CommandFailure, UsageError};
use crate::mall::Random;
use crate::mall::people::staff::StaffKey;

/// File in the data directory of a mall.
pub(super) const FILE: &str = "staff-pin.key";

/// Refuses a value of `--staff-secret` that is too short, such as an empty variable of the environment.
///
/// # Errors
/// [`UsageError::ShortStaffSecret`].
pub(super) fn check(secret: Option<&str>) -> Result<(), UsageError> {
    match secret {
        Some(secret) if is_short(secret) => Err(UsageError::ShortStaffSecret),
        _ => Ok(()),
    }
}

fn is_short(secret: &str) -> bool {
    secret.trim().chars().count() < StaffKey::SECRET_MIN_CHARS
}

/// Returns the secret of `--staff-secret`, or else the secret in the directory, which the first call creates.
/// A mall on servers without the flag has none.
///
/// # Errors
/// [`CommandFailure::CannotRead`], [`CommandFailure::CannotWrite`] or [`CommandFailure::NoStaffSecret`] for
/// the file; [`UsageError::ShortStaffSecret`].
pub(super) fn of(dir: Option<&Path>, secret: Option<&str>) -> anyhow::Result<StaffKey> {
    check(secret)?;
    match (secret, dir) {
        (Some(secret), _) => Ok(StaffKey::new(secret.to_owned())),
        (None, None) => Ok(StaffKey::default()),
        (None, Some(dir)) => {
            let file = dir.join(FILE);
            match fs::read_to_string(&file) {
                // As after a full disk or a bad copy. A new secret would void all PINs unseen.
                Ok(kept) if is_short(&kept) => Err(CommandFailure::NoStaffSecret(file).into()),
                Ok(kept) => Ok(StaffKey::new(kept.trim().to_owned())),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let made = Random::system().secret();
                    create(dir, &made)
                        .map_err(|error| CommandFailure::CannotWrite(file).with_cause(error))?;
                    Ok(StaffKey::new(made))
                }
                Err(error) => Err(CommandFailure::CannotRead(file).with_cause(error)),
            }
        }
    }
}

/// Writes the file as a whole or not at all: the lock of the directory keeps other processes away.
fn create(dir: &Path, secret: &str) -> io::Result<()> {
    let new = dir.join("staff-pin.key.new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    writeln!(file, "{secret}")?;
    file.sync_all()?;
    name_durably(&new, &dir.join(FILE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secret_of_a_directory_stays_and_a_flag_comes_first() {
        let dir = tempfile::tempdir().unwrap();
        let path = Some(dir.path());
        let made = of(path, None).unwrap();
        assert!(of(path, None).unwrap() == made && made != StaffKey::default());
        let secret = "a secret of staff";
        assert!(of(path, Some(secret)).unwrap() == StaffKey::new(secret.to_owned()));
        for short in ["", "a short secret", "               .   "] {
            assert!(of(path, Some(short)).is_err() && of(None, Some(short)).is_err(), "{short}");
        }
        assert!(of(None, None).unwrap() == StaffKey::default());
        let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(dir.path().join(FILE)).unwrap());
        assert_eq!(mode & 0o777, 0o600);
        assert!(fs::read_dir(dir.path()).unwrap().count() == 1, "nothing else is left behind");
        fs::write(dir.path().join(FILE), "\n").unwrap();
        assert!(of(path, None).is_err(), "an empty file is no secret, and is not replaced");
        assert_eq!(fs::read_to_string(dir.path().join(FILE)).unwrap(), "\n");
        fs::remove_file(dir.path().join(FILE)).unwrap();
        fs::create_dir(dir.path().join(FILE)).unwrap();
        assert!(of(path, None).is_err(), "a secret that cannot be read is not replaced");
    }
}
