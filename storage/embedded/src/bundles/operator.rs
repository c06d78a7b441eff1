//! The ports for operators, all in the database.

use std::sync::Arc;

use mallbox_storage::OperatorPorts;

use crate::sign_in_index::SignInIndex;
use crate::sqlite::{Database, EmbeddedAudit, EmbeddedImport, EmbeddedLedgerRows};

/// Creates the ports. An import adds its sign-ins to `signed`.
pub(crate) fn ports(database: &Database, signed: Arc<SignInIndex>) -> OperatorPorts {
    OperatorPorts {
        audit: Arc::new(EmbeddedAudit::new(database.clone())),
        ledger: Arc::new(EmbeddedLedgerRows::new(database.clone())),
        import: Arc::new(EmbeddedImport::new(database.clone(), signed)),
    }
}
