//! [`Import`] in the record.

use async_trait::async_trait;

use crate::{Import, Importing, StoreError};

pub(super) struct MysqlImport;

#[async_trait]
impl Import for MysqlImport {
    async fn begin(&self) -> Result<Option<Box<dyn Importing>>, StoreError> {
        let source = "a mall moves in from elsewhere on the embedded back end alone".into();
        Err(StoreError::Refused { op: "import", source })
    }
}
