//! The ports for operators: the database, and files of the archive.

use std::sync::Arc;

use mallbox_storage::OperatorPorts;

use crate::disk::Disk;
use crate::sign_in_index::SignInIndex;
use crate::sqlite::{Database, EmbeddedArchive, EmbeddedAudit, EmbeddedImport, EmbeddedLedgerRows};

/// Creates the ports for the data directory `dir`. An import adds its sign-ins to `signed`.
pub(crate) fn ports(database: &Database, dir: Disk, signed: Arc<SignInIndex>) -> OperatorPorts {
    OperatorPorts {
        audit: Arc::new(EmbeddedAudit::new(database.clone())),
        archive: Arc::new(EmbeddedArchive::new(database.clone(), dir)),
        ledger: Arc::new(EmbeddedLedgerRows::new(database.clone())),
        import: Arc::new(EmbeddedImport::new(database.clone(), signed)),
    }
}
