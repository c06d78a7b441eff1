//! Scripts that tell whether Redis still is the one that it was.
//!
//! A Redis that was restarted, or a replica that has become the master, may lack the end of what was answered for: how much
//! is decided by its configuration. It then knows less than the record, and would sell what is sold. Scripts are kept in
//! memory alone, and replicas are not told of them: such a server has none. So whoever finds that a script of its own is gone
//! has met a server that is not to be believed, and puts right what it holds before it goes on. Whoever else comes meanwhile
//! finds the script gone too.
//!
//! `SCRIPT FLUSH` looks just the same, and costs a look at the record.

use redis::FromRedisValue;
use tokio::sync::Mutex;

use super::link::{Link, Repeat};
use super::script::{Call, Script};
use crate::StoreError;

/// A script that a server has only if what it holds was put right since it started.
pub(super) struct Witness {
    script: Script,
    /// Held by the one who puts right.
    putting_right: Mutex<()>,
}

impl Witness {
    /// `of` names what it bears witness to, and is nobody else's.
    pub(super) fn new(code: &'static str, of: &str) -> Self {
        Self { script: Script::witness(code, of), putting_right: Mutex::default() }
    }

    /// A call of the script.
    pub(super) fn on<K: AsRef<str>>(&self, keys: impl IntoIterator<Item = K>) -> Call<'_> {
        self.script.on(keys)
    }

    /// Makes a call of it, after `put_right` if the server does not have the script.
    pub(super) async fn run<T: FromRedisValue>(
        &self,
        link: &Link,
        (op, repeat): (&'static str, Repeat),
        call: Call<'_>,
        put_right: impl Future<Output = Result<(), StoreError>>,
    ) -> Result<T, StoreError> {
        if let Some(answer) = link.run_known(op, repeat, &call).await? {
            return Ok(answer);
        }
        let _one = self.putting_right.lock().await;
        // Perhaps it was done while this one waited.
        if let Some(answer) = link.run_known(op, repeat, &call).await? {
            return Ok(answer);
        }
        put_right.await?;
        // This leaves the script there.
        link.query(op, repeat, &call.in_full()).await
    }
}
