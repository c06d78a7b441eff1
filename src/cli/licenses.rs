//! `mallbox licenses`: the licences of all crates, fonts and scripts in the binary, and its bill of
//! materials.
//!
//! `tests/supply_chain/` compares the texts with the crates, and writes them.

use clap::Args;

/// The flags of `licenses`.
#[derive(Args)]
pub(super) struct Licenses {
    /// Prints the software bill of materials instead: CycloneDX 1.6 as JSON.
    #[arg(long)]
    sbom: bool,
}

/// Prints the notices or the bill.
pub(super) fn run(licenses: &Licenses) {
    super::output::print(if licenses.sbom {
        include_str!("licenses/sbom.cdx.json")
    } else {
        concat!(
            include_str!("licenses/notices.txt"),
            include_str!("licenses/fonts.txt"),
            include_str!("licenses/scripts.txt")
        )
    });
}
