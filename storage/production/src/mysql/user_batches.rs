//! Users of concurrent log-ins: found, created and read by statements that the log-ins share.
//!
//! Reasons and figures: `storage/decisions/0039-log-ins-in-batches.md`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use async_trait::async_trait;
use mallbox_storage::backend::Numbered as _;
use mallbox_storage::{BatchCall, Batcher, Phone, Role, StoreError, Timestamp, User, UserId};
use mysql_async::{Conn, Value};
use tokio::runtime::Handle;

use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;
use super::multi_row;
use super::user_rows::{by_ids, by_phones};

/// Batches of a mall's users.
pub(super) struct UserBatches {
    find_or_create: Arc<Batcher<FindOrCreate>>,
    get: Arc<Batcher<Get>>,
}

impl UserBatches {
    pub(super) fn new(database: &Database) -> Self {
        Self {
            find_or_create: Batcher::new(FindOrCreate(database.clone())),
            get: Batcher::new(Get(database.clone())),
        }
    }

    /// Returns the user of a phone, and creates the user if there is none.
    pub(super) async fn find_or_create(
        &self,
        phone: &Phone,
        nick_name: &str,
        now: Timestamp,
    ) -> Result<User, StoreError> {
        let wanted = NewUser { phone: phone.clone(), nick_name: nick_name.to_owned(), now };
        let user = match self.find_or_create.call(wanted.clone()).await {
            Err(error) if is_of_a_row(&error) => self.find_or_create.alone(wanted).await?,
            outcome => outcome?,
        };
        // Created, and deleted before it was read.
        user.ok_or_else(|| {
            MysqlError::refused("the phone is taken and free at once").into_store_error(FindOrCreate::OP)
        })
    }

    pub(super) async fn get(&self, user: UserId) -> Result<Option<User>, StoreError> {
        match self.get.call(user).await {
            Err(error) if is_of_a_row(&error) => self.get.alone(user).await,
            outcome => outcome,
        }
    }
}

/// Returns whether a row may be at fault, which need not be the row of every caller in the batch.
fn is_of_a_row(error: &StoreError) -> bool {
    !error.is_transient()
}

/// A user to create, unless the phone has one.
#[derive(Clone, Debug)]
struct NewUser {
    phone: Phone,
    nick_name: String,
    now: Timestamp,
}

struct FindOrCreate(Database);

#[async_trait]
impl BatchCall for FindOrCreate {
    const OP: &'static str = "find or create user";
    type Item = NewUser;
    type Outcome = Option<User>;

    fn runtime(&self) -> Handle {
        self.0.home()
    }

    async fn call(&self, wanted: Vec<NewUser>) -> Result<Vec<Option<User>>, StoreError> {
        let phones: Vec<&Phone> = wanted.iter().map(|new| &new.phone).collect();
        let phones = phones.as_slice();
        // Nearly every log-in is by an existing user.
        let mut found =
            self.0.read(Self::OP, |conn| boxed(async move { by_phones(conn, phones).await })).await?;
        let missing = first_of_each_phone(&wanted, &found);
        found.extend(match missing.as_slice() {
            [] => HashMap::new(),
            one @ [_] => {
                self.0.write_at_once(Self::OP, |conn| boxed(async move { create(conn, one).await })).await?
            }
            several => {
                self.0.write(Self::OP, |conn| boxed(async move { create(conn, several).await })).await?
            }
        });
        Ok(wanted.iter().map(|new| found.get(new.phone.as_str()).cloned()).collect())
    }
}

/// Returns those without a user, one per phone, by phone: processes that create the same users take the keys
/// in the same order, and so do not wait for each other in a circle.
fn first_of_each_phone<'a>(wanted: &'a [NewUser], found: &HashMap<String, User>) -> Vec<&'a NewUser> {
    let mut seen = HashSet::new();
    let without_user = wanted.iter().filter(|new| !found.contains_key(new.phone.as_str()));
    let mut missing: Vec<&NewUser> = without_user.filter(|new| seen.insert(new.phone.as_str())).collect();
    missing.sort_by(|one, other| one.phone.as_str().cmp(other.phone.as_str()));
    missing
}

/// Creates the users and returns them, or those that concurrent log-ins created first.
async fn create(conn: &mut Conn, users: &[&NewUser]) -> Result<HashMap<String, User>, MysqlError> {
    let head = "INSERT INTO users (phone, nick_name, icon, role, created_ms, updated_ms)";
    let tail = "ON DUPLICATE KEY UPDATE id = id";
    let row = |new: &&NewUser| -> [Value; 5] {
        let created = new.now.as_millis();
        [
            new.phone.as_str().into(),
            new.nick_name.as_str().into(),
            Role::Customer.number().into(),
            created.into(),
            created.into(),
        ]
    };
    let rows: Vec<[Value; 5]> = users.iter().map(row).collect();
    multi_row::insert_with(conn, head, "(?, ?, '', ?, ?, ?)", tail, &rows).await?;
    let phones: Vec<&Phone> = users.iter().map(|new| &new.phone).collect();
    by_phones(conn, &phones).await
}

struct Get(Database);

#[async_trait]
impl BatchCall for Get {
    const OP: &'static str = "user";
    type Item = UserId;
    type Outcome = Option<User>;

    fn runtime(&self) -> Handle {
        self.0.home()
    }

    async fn call(&self, ids: Vec<UserId>) -> Result<Vec<Option<User>>, StoreError> {
        let keys: Vec<u64> = ids.iter().map(|id| id.get()).collect();
        let keys = keys.as_slice();
        let found = self.0.read(Self::OP, |conn| boxed(async move { by_ids(conn, keys).await })).await?;
        Ok(ids.iter().map(|id| found.get(id).cloned()).collect())
    }
}
