//! The ports for operators, all in MySQL.

use std::sync::Arc;

use mallbox_storage::OperatorPorts;

use crate::mysql::MysqlPorts;

/// Bundles the ports of MySQL.
pub(crate) fn ports(mysql: &MysqlPorts) -> OperatorPorts {
    OperatorPorts {
        audit: Arc::clone(&mysql.audit),
        archive: Arc::clone(&mysql.archive),
        ledger: Arc::clone(&mysql.ledger),
        import: Arc::clone(&mysql.import),
    }
}
