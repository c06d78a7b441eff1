//! The secret that the stored PINs of staff depend on, outside of the database and of its backups.
//!
//! Reasons: `src/decisions/0088-staff.md`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use super::messages::CommandFailure;
use crate::mall::Random;
use crate::mall::people::staff::StaffKey;

/// File in the data directory of a mall.
pub(super) const FILE: &str = "staff-pin.key";

/// Returns the secret of `--staff-secret`, or else the secret in the directory, which the first call creates.
/// A mall on servers without the flag has none.
///
/// # Errors
/// [`CommandFailure::CannotRead`] or [`CommandFailure::CannotWrite`] for the file.
pub(super) fn of(dir: Option<&Path>, secret: Option<&str>) -> anyhow::Result<StaffKey> {
    match (secret, dir) {
        (Some(secret), _) => Ok(StaffKey::new(secret.to_owned())),
        (None, None) => Ok(StaffKey::default()),
        (None, Some(dir)) => {
            let file = dir.join(FILE);
            match fs::read_to_string(&file) {
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
    fs::rename(&new, dir.join(FILE))?;
    File::open(dir)?.sync_all()
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
        assert!(of(path, Some("a secret")).unwrap() == StaffKey::new("a secret".to_owned()));
        assert!(of(None, None).unwrap() == StaffKey::default());
        let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(dir.path().join(FILE)).unwrap());
        assert_eq!(mode & 0o777, 0o600);
        assert!(fs::read_dir(dir.path()).unwrap().count() == 1, "nothing else is left behind");
        fs::remove_file(dir.path().join(FILE)).unwrap();
        fs::create_dir(dir.path().join(FILE)).unwrap();
        assert!(of(path, None).is_err(), "a secret that cannot be read is not replaced");
    }
}
