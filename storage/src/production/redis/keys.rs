//! The names of everything that is kept in Redis.
//!
//! | key | type | holds |
//! | --- | --- | --- |
//! | `{mallbox:NN}:sale:ID` | hash | a sale's window, pause, units and how many are taken |
//! | `{mallbox:NN}:buyers:ID` | hash | user → the order by which they hold a unit |
//! | `{mallbox:NN}:further:ID` | sorted set | orders by user that hold a unit beside their user's entry: dead letters |
//! | `{mallbox:NN}:loading:ID…` | string, hash, sets | who loads a sale, and what has been loaded so far |
//! | `{mallbox:NN}:sales` | set | the sales of the partition that were loaded and not forgotten |
//! | `{mallbox:NN}:log` | stream | accepted claims, consumed by the group `workers` |
//! | `{mallbox:NN}:pending` | hash | order → claim, of all that is in the log |
//! | `{mallbox:NN}:pending:users` | sorted set | the same by user, in lexical order |
//! | `{mallbox:NN}:refused` | hash | order → how often the record refused its claim |
//! | `{mallbox:NN}:lock:NAME`, `{mallbox:NN}:token` | hash, string | a lock; the last fencing token |
//! | `{mallbox:NN}:epoch:compared` | string | the server of the epoch in force, which was compared a moment ago |
//! | `{mallbox:deadlines}:server`, `{mallbox:shops}:server`, `…:checked` | string | which server was put right last; that it was compared a moment ago |
//! | `{mallbox:deadlines}:due` | sorted set | unpaid order → when it ends |
//! | `{mallbox:signs}:DAY`, `…:DAY:loaded` | string | a bit a user who signed on the day; the server that had all of them from the record |
//! | `{mallbox:visits:WHAT}:DAY`, `…:DAY:views` | string | the visitors of a shop or of the mall, as a HyperLogLog; a count |
//! | `mallbox:visits:salt:DAY` | string | what is mixed into the bits of strangers on that day |
//! | `{mallbox:shops}:places` | hash | shop → its type and its place, to the last digit |
//! | `{mallbox:shops}:geo`, `{mallbox:shops}:geo:TYPE` | sorted set | shops by place: all, and those of a type |
//! | `{mallbox:feeds:NN}:USER`, `…:USER:state` | sorted set, hash | a reader's inbox: notes by when they were written |
//! | `mallbox:session:HASH`, `mallbox:tokens:USER` | hash, sorted set | a session; a user's tokens |
//! | `mallbox:cache:KIND:ID` | hash | a copy of something in the record, until when, and how often it was forgotten |
//! | `mallbox:code:PHONE`, `mallbox:limit:KEY` | hash, string | login codes; a rate limit |
//!
//! NN is the partition: a sale's by its voucher's id, a reader's by theirs, a lock's by its name. The part in braces is what Redis Cluster deals
//! keys to nodes by.

use std::sync::Arc;

use crate::{CacheKey, Day, OpenError, OrderId, PARTITIONS, Phone, ShopTypeId, UserId, Visited, VoucherId};

/// The keys of one mall.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    prefix: Arc<str>,
}

/// A sale's.
pub(super) struct SaleKeys {
    pub(super) sale: String,
    pub(super) buyers: String,
    pub(super) further: String,
    /// Who loads it.
    pub(super) loading: String,
    pub(super) loaded_buyers: String,
    pub(super) loaded_further: String,
    pub(super) released: String,
}

impl SaleKeys {
    /// Those that change when a unit comes back or is taken outside of a claim.
    pub(super) fn of_units(&self) -> [&str; 7] {
        let Self { sale, buyers, further, loading, loaded_buyers, loaded_further, released } = self;
        [sale, buyers, further, loading, loaded_buyers, loaded_further, released]
    }
}

/// A partition's log.
#[derive(Clone, Debug)]
pub(super) struct LogKeys {
    pub(super) log: String,
    pub(super) pending: String,
    pub(super) by_user: String,
    pub(super) refused: String,
}

pub(super) fn partition_of(voucher: VoucherId) -> u64 {
    voucher.get() % PARTITIONS
}

pub(super) fn partition_of_order(order: OrderId) -> u64 {
    order.get() % PARTITIONS
}

impl Keys {
    /// Every key begins with `prefix`, perhaps after a brace.
    pub(super) fn new(prefix: &str) -> Result<Self, OpenError> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
        if prefix.is_empty() || !prefix.bytes().all(is_plain) {
            let detail = format!("the prefix {prefix:?} may only hold letters, digits and - _ . :");
            return Err(OpenError::BadUrl { what: "Redis", detail });
        }
        Ok(Self { prefix: prefix.into() })
    }

    fn within(&self, partition: u64, name: &str) -> String {
        format!("{{{}:{partition:02}}}:{name}", self.prefix)
    }

    pub(super) fn sale(&self, voucher: VoucherId) -> SaleKeys {
        let key = |kind: &str| self.within(partition_of(voucher), &format!("{kind}:{voucher}"));
        SaleKeys {
            sale: key("sale"),
            buyers: key("buyers"),
            further: key("further"),
            loading: key("loading"),
            loaded_buyers: key("loading:buyers"),
            loaded_further: key("loading:further"),
            released: key("loading:released"),
        }
    }

    /// The sales that a partition has.
    pub(super) fn sales(&self, partition: u64) -> String {
        self.within(partition, "sales")
    }

    /// The server that was compared with the epoch in force a moment ago.
    pub(super) fn epoch_compared(&self, partition: u64) -> String {
        self.within(partition, "epoch:compared")
    }

    pub(super) fn log(&self, partition: u64) -> LogKeys {
        LogKeys {
            log: self.within(partition, "log"),
            pending: self.within(partition, "pending"),
            by_user: self.within(partition, "pending:users"),
            refused: self.within(partition, "refused"),
        }
    }

    /// A lock, and the last token of its partition: one counter for many locks rises for each of them, and leaves no
    /// key behind for every name there ever was.
    pub(super) fn lock(&self, name: &str) -> [String; 2] {
        let partition = u64::from(crc32fast::hash(name.as_bytes())) % PARTITIONS;
        [self.within(partition, &format!("lock:{name}")), self.within(partition, "token")]
    }

    /// The channel on which the name of a lock is said that has become free.
    pub(super) fn freed_locks(&self) -> String {
        format!("{}:locks:freed", self.prefix)
    }

    pub(super) fn deadlines(&self) -> String {
        format!("{{{}:deadlines}}:due", self.prefix)
    }

    /// Which server has deadlines that were put right.
    pub(super) fn server_of_deadlines(&self) -> [String; 2] {
        ["server", "server:checked"].map(|name| format!("{{{}:deadlines}}:{name}", self.prefix))
    }

    /// Who signed on a day, and that all of them are there. Days are looked at together, so they are in one place.
    pub(super) fn signs(&self, day: Day) -> [String; 2] {
        let key = format!("{{{}:signs}}:{day}", self.prefix);
        let loaded = format!("{key}:loaded");
        [key, loaded]
    }

    /// For the length of a script.
    pub(super) fn signs_in_hand(&self) -> String {
        format!("{{{}:signs}}:in-hand", self.prefix)
    }

    /// Who came on a day, and how often they looked. The days of one thing are looked at together.
    pub(super) fn visits(&self, of: Visited, day: Day) -> [String; 2] {
        let what = match of {
            Visited::Mall => "mall".to_owned(),
            Visited::Shop(shop) => shop.to_string(),
        };
        let visitors = format!("{{{}:visits:{what}}}:{day}", self.prefix);
        let views = format!("{visitors}:views");
        [visitors, views]
    }

    /// What is mixed into the bits of strangers.
    pub(super) fn salt(&self, day: Day) -> String {
        format!("{}:visits:salt:{day}", self.prefix)
    }

    /// Where each shop is.
    pub(super) fn shop_places(&self) -> String {
        format!("{{{}:shops}}:places", self.prefix)
    }

    /// The shops of a type by place, or all of them.
    pub(super) fn shops_by_place(&self, kind: Option<ShopTypeId>) -> String {
        match kind {
            None => format!("{{{}:shops}}:geo", self.prefix),
            Some(kind) => format!("{{{}:shops}}:geo:{kind}", self.prefix),
        }
    }

    /// What is new for a reader, and its state.
    pub(super) fn inbox(&self, reader: UserId) -> [String; 2] {
        let inbox = format!("{{{}:feeds:{:02}}}:{reader}", self.prefix, reader.get() % PARTITIONS);
        let state = format!("{inbox}:state");
        [inbox, state]
    }

    /// Which server has places that were put right.
    pub(super) fn server_of_shops(&self) -> [String; 2] {
        ["server", "server:checked"].map(|name| format!("{{{}:shops}}:{name}", self.prefix))
    }

    pub(super) fn session(&self, token: &str) -> String {
        format!("{}:session:{token}", self.prefix)
    }

    pub(super) fn tokens(&self, user: UserId) -> String {
        format!("{}:tokens:{user}", self.prefix)
    }

    pub(super) fn code(&self, phone: &Phone) -> String {
        format!("{}:code:{}", self.prefix, phone.as_str())
    }

    /// A copy of something in the record.
    pub(super) fn cached(&self, key: &CacheKey) -> String {
        format!("{}{key}", self.all_cached())
    }

    /// What the keys of all copies begin with.
    pub(super) fn all_cached(&self) -> String {
        format!("{}:cache:", self.prefix)
    }

    /// The channel on which the key of a copy is said that is forgotten.
    pub(super) fn forgotten(&self) -> String {
        format!("{}:cache:forgotten", self.prefix)
    }

    pub(super) fn limit(&self, key: &str) -> String {
        format!("{}:limit:{key}", self.prefix)
    }
}
