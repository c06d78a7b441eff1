//! Lists of public names kept in a file: a test compares the names in the code with those clients rely on.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Compares `names` with the list in `file`, a path below the crate's root. `MALLBOX_REWRITE_NAMES=1` writes
/// the list anew after an intended change.
///
/// # Panics
/// If a name is gone or new.
pub fn compare(file: &str, names: &BTreeSet<String>) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os("MALLBOX_REWRITE_NAMES").is_some() {
        let list: String = names.iter().map(|name| format!("{name}\n")).collect();
        fs::write(&file, list).expect("the list can be written");
    }
    let text = fs::read_to_string(&file).expect("the list is there");
    let kept: BTreeSet<String> = text.lines().map(str::to_owned).collect();
    let (gone, new): (Vec<_>, Vec<_>) = (kept.difference(names).collect(), names.difference(&kept).collect());
    assert!(
        !names.is_empty() && gone.is_empty() && new.is_empty(),
        "{}: gone: {gone:?}; new: {new:?}; MALLBOX_REWRITE_NAMES=1 writes it anew",
        file.display()
    );
}
