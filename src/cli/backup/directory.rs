//! What a backup of a mall in a directory contains.

use std::fs;
use std::path::Path;

use jiff::Timestamp;
use mallbox_storage_embedded::backup::{CopiedPages, copy_base, copy_database};
use serde_json::Value;

use super::contents::{Contents, claim_lines, now};
use super::plain_files::{PlainFile, plain_files};
use crate::backup::DATABASE;
use crate::backup::manifest::{FORMAT, FORMAT_OF_BASE, Header};
use crate::cli::messages::{CommandFailure, UsageError};
use crate::cli::progress::Progress;
use crate::cli::{control_calls, mall_directory};
use crate::config::PlaceConfig;
use crate::http::control::ControlCall;
use crate::language::{Language, sentence};

/// A mall in a directory.
#[derive(Clone, Copy)]
pub(super) struct DirectoryMall<'a> {
    pub(super) mall: &'a PlaceConfig,
    pub(super) dir: &'a Path,
}

/// Forms of a backup.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// By itself.
    Whole,
    /// With a database that a stream goes on from.
    Base,
}

/// What the mall says before the copying.
pub(super) struct Basis {
    pub(super) claims: Vec<Value>,
    pub(super) incarnation: Option<String>,
}

impl Basis {
    /// Returns the pending claims, a line each.
    pub(super) fn claim_lines(&self) -> serde_json::Result<Vec<u8>> {
        claim_lines(&self.claims)
    }
}

impl<'a> DirectoryMall<'a> {
    /// Names a directory that holds a mall.
    pub(super) fn new(mall: &'a PlaceConfig, dir: &'a Path) -> Result<Self, UsageError> {
        if mall_directory::is_mall(dir) {
            Ok(Self { mall, dir })
        } else {
            Err(UsageError::NoMall(dir.to_owned()))
        }
    }

    /// Copies the database to `scratch`, and lists all else.
    pub(super) fn contents(
        self,
        (form, scratch): (Form, &Path),
        progress: &mut Progress,
        l: Language,
    ) -> anyhow::Result<Contents> {
        let mut taken = now()?;
        let mut basis = self.basis(l)?;
        if form == Form::Base {
            // The check of all pages took its time: a restore to an instant is to have little from after it.
            (taken, basis) = (now()?, self.point_basis(l)?);
        }
        let copy = scratch.join("copy");
        self.copy(form, &copy, progress, l)?;
        let bytes = fs::metadata(&copy)
            .map_err(|error| CommandFailure::CannotRead(copy.clone()).with_cause(error))?
            .len();
        let database = PlainFile { name: DATABASE.to_owned(), path: copy, bytes };
        Ok(Contents {
            header: self.header((form, taken), &basis),
            claims: basis.claim_lines()?,
            copies: vec![database],
            files: plain_files(self.dir)?,
        })
    }

    /// Asks the mall, running or not, for its pending claims. Everything else that was acknowledged is in the
    /// database by then.
    fn basis(self, l: Language) -> anyhow::Result<Basis> {
        basis_in(control_calls::request(self.mall, "GET", "/control/backup", l)?)
    }

    /// Asks the running mall for its pending claims, for a point of a stream.
    pub(super) fn point_basis(self, l: Language) -> anyhow::Result<Basis> {
        let call = ControlCall { method: "GET", path: "/control/backup/point", body: "" };
        basis_in(control_calls::request_to_running(self.mall, call, l)?)
    }

    fn copy(self, form: Form, to: &Path, progress: &mut Progress, l: Language) -> anyhow::Result<()> {
        let show = |pages: CopiedPages| {
            const PAGE: u64 = 4_096;
            progress.set_bytes(3 * pages.all * PAGE);
            let (done, all) = ((pages.done * PAGE) >> 20, (pages.all * PAGE) >> 20);
            let line =
                || sentence!(l, "备份：已复制{done} / {all} MiB", "backup: {done} of {all} MiB copied");
            progress.show(pages.done * PAGE, || sentence!(l, "复制", "copying"), line);
        };
        match form {
            Form::Whole => copy_database(self.dir, to, show)?,
            Form::Base => copy_base(self.dir, to, show)?,
        }
        Ok(())
    }

    fn header(self, (form, taken): (Form, Timestamp), basis: &Basis) -> Header {
        Header {
            format: if form == Form::Base { FORMAT_OF_BASE } else { FORMAT },
            program: env!("CARGO_PKG_VERSION").to_owned(),
            taken: taken.to_string(),
            incarnation: basis.incarnation.clone(),
            is_demo: mall_directory::is_demo(self.dir),
            claims: basis.claims.len() as u64,
            bytes: 0,
            signer: None,
            is_base: form == Form::Base,
            servers: None,
            point: None,
        }
    }
}

fn basis_in(mut answer: Value) -> anyhow::Result<Basis> {
    match answer["damagedPages"].as_u64() {
        Some(0) => {}
        Some(pages) => return Err(CommandFailure::DamagedPages(pages).into()),
        None => return Err(CommandFailure::NoBackupBasis.into()),
    }
    let Value::Array(claims) = answer["claims"].take() else {
        return Err(CommandFailure::NoBackupBasis.into());
    };
    let incarnation = answer["incarnation"].as_str().map(str::to_owned);
    Ok(Basis { claims, incarnation })
}
