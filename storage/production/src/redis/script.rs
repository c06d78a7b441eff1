//! Lua scripts, called by hash. Each file in `lua/` documents a script's effect, keys and arguments.

use std::sync::LazyLock;

use redis::{Cmd, ToRedisArgs};

/// A Lua script and the SHA-1 hash of the code.
pub(super) struct Script {
    code: &'static str,
    hash: String,
}

macro_rules! scripts {
    ($($name:ident = $($file:literal),+;)+) => {
        $(pub(super) static $name: LazyLock<Script> =
            LazyLock::new(|| Script::new(concat!($(include_str!(concat!("lua/", $file))),+)));)+
    };
}

scripts! {
    SERVER_ID = "server_id.lua";
    CLAIM = "fence_cached.lua", "claim.lua";
    PASS_EPOCH = "pass_epoch.lua";
    PUT = "fence.lua", "put.lua";
    LOAD = "fence.lua", "load.lua";
    SWITCH_ON = "fence.lua", "switch_on.lua";
    RELEASE = "fence.lua", "release.lua";
    RESERVE = "fence.lua", "reserve.lua";
    UNITS = "fence.lua", "units.lua";
    FORGET_SALE = "fence.lua", "forget_sale.lua";
    TAKE = "fence.lua", "take.lua";
    DONE = "fence.lua", "done.lua";
    PUT_BACK = "fence.lua", "put_back.lua";
    RECLAIM = "fence.lua", "reclaim.lua";
    RESCUE = "fence.lua", "rescue.lua";
    FIND_PENDING = "fence_cached.lua", "find_pending.lua";
    PENDING_OF_USER = "fence_cached.lua", "pending_of_user.lua";
    LOG_STATE = "log_state.lua";
    SET_DEADLINES = "fence.lua", "set_deadlines.lua";
    DUE = "fence.lua", "due.lua";
    NEXT_DEADLINE = "fence.lua", "known_server.lua", "next_deadline.lua";
    PUT_RIGHT = "put_right.lua";
    ISSUE_CODE = "issue_code.lua";
    CHECK_CODE = "check_code.lua";
    REMEMBER_REQUESTER = "remember_requester.lua";
    INDEX_SESSION = "index_session.lua";
    EXTEND_SESSION = "extend_session.lua";
    ENDED_SESSIONS = "ended_sessions.lua";
    BEGIN_SESSION = "begin_session.lua";
    END_SESSION = "end_session.lua";
    MOVE_SHOP = "announce_shops.lua", "move_shop.lua";
    ADD_SHOPS = "announce_shops.lua", "add_shops.lua";
    CHANGED_SHOPS = "known_server.lua", "changed_shops.lua";
    SHOPS_NEAR = "known_server.lua", "shops_near.lua";
    COUNT_SHOPS = "known_server.lua", "count_shops.lua";
    SHOP_PLACES = "known_server.lua", "shop_places.lua";
    PASS = "pass.lua";
    KEEP = "keep.lua";
    FORGET = "forget.lua";
    LOCK = "lock.lua";
    RENEW_LOCK = "renew_lock.lua";
    UNLOCK = "unlock.lua";
    RAISE_TOKEN = "raise_token.lua";
    NOTE_SIGN = "note_sign.lua";
    LOAD_SIGNS = "load_signs.lua";
    COUNT_SIGNS = "count_signs.lua";
    READ_INBOX = "inbox.lua", "read_inbox.lua";
    BEGIN_INBOX = "inbox.lua", "begin_inbox.lua";
    FILL_INBOX = "inbox.lua", "fill_inbox.lua";
    PUSH_TO_INBOXES = "inbox.lua", "push_to_inboxes.lua";
    SIGNED_ALL = "signed_all.lua";
    NOTE_VISITS = "note_visits.lua";
    COUNT_VISITS = "count_visits.lua";
    DAY_SALT = "day_salt.lua";
    VISIT_ROOM = "visit_room.lua";
    LEAVE_ROOM = "leave_room.lua";
    APPEND_EVENTS = "append_events.lua";
}

impl Script {
    fn new(code: &'static str) -> Self {
        Self { code, hash: redis::Script::new(code).get_hash().to_owned() }
    }

    /// Creates a call with `keys`: every key that the script touches, all with one hash tag.
    pub(super) fn on<K: AsRef<str>>(&'static self, keys: impl IntoIterator<Item = K>) -> Call {
        let keys: Vec<Vec<u8>> = keys.into_iter().map(|key| key.as_ref().as_bytes().to_vec()).collect();
        Call { script: self, key_count: keys.len(), parts: keys }
    }
}

/// A script call with keys and arguments.
#[derive(Clone)]
pub(super) struct Call {
    script: &'static Script,
    key_count: usize,
    /// Keys, followed by the arguments.
    parts: Vec<Vec<u8>>,
}

impl Call {
    pub(super) fn arg(mut self, arg: impl ToRedisArgs) -> Self {
        arg.write_redis_args(&mut self.parts);
        self
    }

    pub(super) fn by_hash(&self) -> Cmd {
        self.command("EVALSHA", &self.script.hash)
    }

    pub(super) fn in_full(&self) -> Cmd {
        self.command("EVAL", self.script.code)
    }

    fn command(&self, name: &str, script: &str) -> Cmd {
        let mut command = redis::cmd(name);
        command.arg(script).arg(self.key_count).arg(&self.parts);
        command
    }
}
