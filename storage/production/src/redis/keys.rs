//! The names of all keys in Redis.
//!
//! | key | type | content |
//! | --- | --- | --- |
//! | `{mallbox:NN}:sale:ID` | hash | a sale's window, pause flag, units, taken units, and fencing token |
//! | `{mallbox:NN}:buyers:ID` | hash | user → order that holds the user's unit |
//! | `{mallbox:NN}:further:ID` | sorted set | further orders with a unit, by user, such as dead letters |
//! | `{mallbox:NN}:loading:ID` | string | name of the sale's loader |
//! | `{mallbox:NN}:loading:KIND:ID` | hash, sorted set, set | loaded so far, and `released` orders |
//! | `{mallbox:NN}:pass:ID:NONCE` | string | order that spent a pass of the sale, until the pass expires |
//! | `{mallbox:NN}:passes` | string | the partition's epoch of passes, a random number |
//! | `{mallbox:NN}:room:ID` | hash | flow of the waiting room of a sale |
//! | `{mallbox:NN}:room:waiting:ID` | sorted set | users who wait, by rank |
//! | `{mallbox:NN}:room:past:ID` | hash | user → end of the admission, or `left` |
//! | `{mallbox:NN}:sales` | set | the partition's loaded sales that were not forgotten |
//! | `{mallbox:NN}:sales:token` | string | greatest fencing token of the partition's forgotten sales |
//! | `{mallbox:NN}:log` | stream | accepted claims, consumed by the group `workers` |
//! | `{mallbox:NN}:pending` | hash | order → claim, for every claim in the log |
//! | `{mallbox:NN}:pending:users` | sorted set | the same claims by user, in lexical order |
//! | `{mallbox:NN}:refused` | hash | order → how often the database refused the claim |
//! | `{mallbox:NN}:lock:NAME` | hash | a lock |
//! | `{mallbox:NN}:token` | string | the partition's last fencing token |
//! | `{mallbox:NN}:epoch:compared` | string | id of the epoch's server, if compared a moment ago |
//! | `{mallbox:deadlines}:server` | string | id of the server whose deadlines were restored |
//! | `{mallbox:deadlines}:server:checked` | string | set if the id was compared a moment ago |
//! | `{mallbox:deadlines}:due` | sorted set | unpaid order → deadline |
//! | `{mallbox:signs}:DAY` | string | bitmap of the users who signed on the day |
//! | `{mallbox:signs}:DAY:loaded` | string | id of the server with the complete bitmap |
//! | `{mallbox:signs}:in-hand` | string | scratch space of a running script |
//! | `{mallbox:visits:WHAT}:DAY` | string | HyperLogLog of the visitors of a shop or the mall |
//! | `{mallbox:visits:WHAT}:DAY:views` | string | number of views |
//! | `mallbox:visits:salt:DAY` | string | the day's salt for the hashes of anonymous visitors |
//! | `{mallbox:shops}:places` | hash | shop → type and exact location |
//! | `{mallbox:shops}:geo`, `{mallbox:shops}:geo:TYPE` | sorted set | shops by location: all, or of a type |
//! | `{mallbox:shops}:changes` | stream | shops put, moved or removed within the last minute |
//! | `{mallbox:shops}:server`, `{mallbox:shops}:server:checked` | string | as for deadlines |
//! | `{mallbox:feeds:NN}:USER` | sorted set | a reader's inbox: notes by time of writing |
//! | `{mallbox:feeds:NN}:USER:state` | hash | state of the inbox |
//! | `mallbox:session:HASH` | hash | a session |
//! | `{mallbox:sessions}:ended` | stream | sessions that ended within the last minute |
//! | `{mallbox:sessions}:readers` | sorted set | instances that keep copies of sessions |
//! | `mallbox:tokens:USER` | sorted set | a user's session tokens |
//! | `mallbox:cache:KIND:ID` | hash | cached copy, expiry, and number of invalidations |
//! | `{mallbox:codes}:of:PHONE:REQUESTER` | hash | login codes for one requester: code and counter |
//! | `{mallbox:codes}:ticket:PHONE:HASH` | hash | a login code bound to a ticket |
//! | `{mallbox:codes}:known:PHONE` | hash | known requesters, each with its wrong attempts |
//! | `{mallbox:codes}:phone:PHONE` | hash | counters of a phone's unknown requesters |
//! | `{mallbox:codes}:mall` | hash | the mall's codes of the day |
//! | `{mallbox:events}:NAME` | stream | events for the programs of a subscriber |
//! | `mallbox:limit:KEY` | string | a rate limit |
//!
//! NN is the partition: a sale's by voucher id, a reader's by user id, a lock's by name. Redis Cluster
//! assigns keys to nodes by the part in braces.

use std::sync::Arc;

use mallbox_storage::{
    CacheKey, Day, OpenError, OrderId, PARTITIONS, Phone, Requester, ShopTypeId, TicketHash, UserId,
    VisitTarget, VoucherId, hex,
};

/// The key names of one mall.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    prefix: Arc<str>,
}

/// The keys of a sale.
pub(super) struct SaleKeys {
    pub(super) sale: String,
    pub(super) buyers: String,
    pub(super) further: String,
    /// Key of the loader's name.
    pub(super) loading: String,
    pub(super) loaded_buyers: String,
    pub(super) loaded_further: String,
    pub(super) released: String,
}

impl SaleKeys {
    /// Returns the keys of scripts that take or release a unit outside of a claim.
    pub(super) fn of_units(&self) -> [&str; 7] {
        let Self { sale, buyers, further, loading, loaded_buyers, loaded_further, released } = self;
        [sale, buyers, further, loading, loaded_buyers, loaded_further, released]
    }
}

/// The keys of a partition's log.
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
    /// Creates key names that begin with `prefix`, possibly after a brace.
    pub(super) fn new(prefix: &str) -> Result<Self, OpenError> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
        if prefix.is_empty() || !prefix.bytes().all(is_plain) {
            let detail = format!("invalid prefix {prefix:?}: only letters, digits and - _ . : are allowed");
            return Err(OpenError::BadUrl { what: "Redis", detail });
        }
        Ok(Self { prefix: prefix.into() })
    }

    /// Returns a key from its name without the prefix, which may begin with a brace.
    pub(super) fn with_prefix(&self, name: &str) -> String {
        match name.strip_prefix('{') {
            Some(rest) => format!("{{{}:{rest}", self.prefix),
            None => format!("{}:{name}", self.prefix),
        }
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

    /// Returns the key of the mark of a spent pass.
    pub(super) fn pass_mark(&self, voucher: VoucherId, nonce: u64) -> String {
        self.within(partition_of(voucher), &format!("pass:{voucher}:{nonce:x}"))
    }

    /// Returns the keys of the waiting room of a sale: its flow, the users who wait, and all earlier users.
    pub(super) fn room(&self, voucher: VoucherId) -> [String; 3] {
        ["room", "room:waiting", "room:past"]
            .map(|kind| self.within(partition_of(voucher), &format!("{kind}:{voucher}")))
    }

    /// Returns the key of a partition's epoch of passes.
    pub(super) fn pass_epoch(&self, partition: u64) -> String {
        self.within(partition, "passes")
    }

    /// Returns the key of a partition's set of sales.
    pub(super) fn sales(&self, partition: u64) -> String {
        self.within(partition, "sales")
    }

    /// Returns the key of the greatest fencing token of a partition's forgotten sales. One key serves all, so
    /// that none is left behind per sale.
    pub(super) fn token_of_forgotten(&self, partition: u64) -> String {
        self.within(partition, "sales:token")
    }

    /// Returns the key of the server id that was compared with the epoch in force a moment ago.
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

    /// Returns the keys of a lock and of the last fencing token in the lock's partition. One counter rises
    /// for all locks of the partition, and leaves no key behind per lock name.
    pub(super) fn lock(&self, name: &str) -> [String; 2] {
        let partition = u64::from(crc32fast::hash(name.as_bytes())) % PARTITIONS;
        [self.within(partition, &format!("lock:{name}")), self.within(partition, "token")]
    }

    /// Returns the pub/sub channel for the names of released locks.
    pub(super) fn freed_locks(&self) -> String {
        format!("{}:locks:freed", self.prefix)
    }

    pub(super) fn deadlines(&self) -> String {
        format!("{{{}:deadlines}}:due", self.prefix)
    }

    /// Returns the keys of the server whose deadlines were restored, and of the recent comparison.
    pub(super) fn server_of_deadlines(&self) -> [String; 2] {
        ["server", "server:checked"].map(|name| format!("{{{}:deadlines}}:{name}", self.prefix))
    }

    /// Returns the keys of a day's bitmap, and of the server with the complete bitmap. All days share a slot,
    /// because queries span several days.
    pub(super) fn signs(&self, day: Day) -> [String; 2] {
        let key = format!("{{{}:signs}}:{day}", self.prefix);
        let loaded = format!("{key}:loaded");
        [key, loaded]
    }

    /// Returns the key of the scratch space of a running script.
    pub(super) fn signs_in_hand(&self) -> String {
        format!("{{{}:signs}}:in-hand", self.prefix)
    }

    /// Returns the keys of a day's visitors and views. All days of one shop share a slot, because queries
    /// span several days.
    pub(super) fn visits(&self, of: VisitTarget, day: Day) -> [String; 2] {
        let what = match of {
            VisitTarget::Mall => "mall".to_owned(),
            VisitTarget::Shop(shop) => shop.to_string(),
        };
        let visitors = format!("{{{}:visits:{what}}}:{day}", self.prefix);
        let views = format!("{visitors}:views");
        [visitors, views]
    }

    /// Returns the key of a day's salt for the hashes of anonymous visitors.
    pub(super) fn salt(&self, day: Day) -> String {
        format!("{}:visits:salt:{day}", self.prefix)
    }

    /// Returns the key of the exact shop locations.
    pub(super) fn shop_places(&self) -> String {
        format!("{{{}:shops}}:places", self.prefix)
    }

    /// Returns the key of the stream of changed shops.
    pub(super) fn shop_changes(&self) -> String {
        format!("{{{}:shops}}:changes", self.prefix)
    }

    /// Returns the key of the geo set of a shop type, or of all shops.
    pub(super) fn shops_by_place(&self, kind: Option<ShopTypeId>) -> String {
        match kind {
            None => format!("{{{}:shops}}:geo", self.prefix),
            Some(kind) => format!("{{{}:shops}}:geo:{kind}", self.prefix),
        }
    }

    /// Returns the keys of a reader's inbox and of its state.
    pub(super) fn inbox(&self, reader: UserId) -> [String; 2] {
        let inbox = format!("{{{}:feeds:{:02}}}:{reader}", self.prefix, reader.get() % PARTITIONS);
        let state = format!("{inbox}:state");
        [inbox, state]
    }

    /// Returns the keys of the server whose locations were restored, and of the recent comparison.
    pub(super) fn server_of_shops(&self) -> [String; 2] {
        ["server", "server:checked"].map(|name| format!("{{{}:shops}}:{name}", self.prefix))
    }

    pub(super) fn session(&self, token: &str) -> String {
        format!("{}:session:{token}", self.prefix)
    }

    /// Returns the keys of the stream of ended sessions, and of the instances that read the stream.
    pub(super) fn ended_sessions(&self) -> [String; 2] {
        ["ended", "readers"].map(|name| format!("{{{}:sessions}}:{name}", self.prefix))
    }

    pub(super) fn tokens(&self, user: UserId) -> String {
        format!("{}:tokens:{user}", self.prefix)
    }

    /// Returns the key of a phone's codes for one requester. All keys of codes share a slot.
    pub(super) fn codes_of(&self, phone: &Phone, requester: Requester) -> String {
        self.codes(&format!("of:{}:{}", phone.as_str(), hex(&requester.0)))
    }

    /// Returns the key of a code bound to a ticket.
    pub(super) fn code_of_ticket(&self, phone: &Phone, ticket: TicketHash) -> String {
        self.codes(&format!("ticket:{}:{}", phone.as_str(), hex(&ticket.0)))
    }

    /// Returns the key of a phone's known requesters.
    pub(super) fn known_requesters(&self, phone: &Phone) -> String {
        self.codes(&format!("known:{}", phone.as_str()))
    }

    /// Returns the key of a phone's counters.
    pub(super) fn code_counters(&self, phone: &Phone) -> String {
        self.codes(&format!("phone:{}", phone.as_str()))
    }

    /// Returns the key of the mall's codes of the day.
    pub(super) fn codes_of_mall(&self) -> String {
        self.codes("mall")
    }

    fn codes(&self, name: &str) -> String {
        format!("{{{}:codes}}:{name}", self.prefix)
    }

    /// Returns the key of a cached copy.
    pub(super) fn cached(&self, key: &CacheKey) -> String {
        format!("{}{key}", self.all_cached())
    }

    /// Returns the prefix of the keys of all cached copies.
    pub(super) fn all_cached(&self) -> String {
        format!("{}:cache:", self.prefix)
    }

    /// Returns the pub/sub channel for the keys of invalidated copies.
    pub(super) fn forgotten(&self) -> String {
        format!("{}:cache:forgotten", self.prefix)
    }

    /// Returns the key of a stream of events.
    pub(super) fn event_stream(&self, name: &str) -> String {
        format!("{{{}:events}}:{name}", self.prefix)
    }

    pub(super) fn limit(&self, key: &str) -> String {
        format!("{}:limit:{key}", self.prefix)
    }
}
