//! Compresses the files of `web/` for the binary: a page requested ten thousand times is compressed once.
//!
//! A debug build reads `web/` itself, to show a change after a reload.
//! `cfg(compressed_pages)` tells the two builds apart.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use brotli::CompressorWriter;
use flate2::Compression;
use flate2::write::GzEncoder;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=src/build.rs");
    println!("cargo::rustc-check-cfg=cfg(compressed_pages)");
    let variable = |name| std::env::var_os(name).map(PathBuf::from).unwrap_or_default();
    if variable("PROFILE").as_os_str() != "release" {
        return Ok(());
    }
    println!("cargo::rerun-if-changed=web");
    println!("cargo::rustc-cfg=compressed_pages");
    let to = variable("OUT_DIR").join("web");
    if to.exists() {
        // Remove files since deleted from `web/`.
        fs::remove_dir_all(&to)?;
    }
    compress(&variable("CARGO_MANIFEST_DIR").join("web"), &to)
}

/// Copies every file of a folder, and writes compressed `.br` and `.gz` copies beside each.
fn compress(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let from = entry?.path();
        let to = to.join(from.file_name().unwrap_or_default());
        if from.is_dir() {
            compress(&from, &to)?;
            continue;
        }
        let content = fs::read(&from)?;
        fs::write(&to, &content)?;
        let beside = |ending: &str| fs::File::create(format!("{}.{ending}", to.display()));
        CompressorWriter::new(beside("br")?, 1 << 16, 11, 22).write_all(&content)?;
        let mut gzip = GzEncoder::new(beside("gz")?, Compression::best());
        gzip.write_all(&content)?;
        gzip.finish()?;
    }
    Ok(())
}
