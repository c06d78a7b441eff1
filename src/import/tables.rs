//! Tables of an hm-dianping database, with the columns known to the mall.

use std::collections::BTreeMap;

use mallbox_storage::ImportSequence;

use super::dump::{Found, Survey, Wanted};

/// Largest id accepted; larger ids would leave no room for the mall's own.
pub(super) const LARGEST_ID: u64 = 1 << 62;

/// Table of a row in the dump.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Table {
    /// Table `tb_shop_type`: the shop types.
    ShopType,
    /// Table `tb_shop`: the shops.
    Shop,
    /// Table `tb_user`: the users.
    User,
    /// Table `tb_user_info`: the profiles of users.
    Card,
    /// Table `tb_voucher`: the vouchers.
    Voucher,
    /// Table `tb_seckill_voucher`: the flash sales.
    Sale,
    /// Table `tb_voucher_order`: the orders.
    Order,
    /// Table `tb_blog`: the notes.
    Note,
    /// Table `tb_blog_comments`: the comments on notes.
    Comment,
    /// Follow relations: `tb_follow`.
    Follow,
    /// Daily sign-ins: `tb_sign`.
    Sign,
}

/// Every [`Table`], in the order of [`TABLES`].
pub const KINDS: [Table; 11] = {
    use Table::{Card, Comment, Follow, Note, Order, Sale, Shop, ShopType, Sign, User, Voucher};
    [ShopType, Shop, User, Card, Voucher, Sale, Order, Note, Comment, Follow, Sign]
};

/// Tables wanted from a dump. The first column identifies a row.
pub const TABLES: &[Wanted] = &[
    Wanted {
        name: "tb_shop_type",
        columns: &["id", "name", "icon", "sort", "create_time", "update_time"],
        needed: &["id", "name"],
    },
    Wanted {
        name: "tb_shop",
        columns: &[
            "id",
            "name",
            "type_id",
            "images",
            "area",
            "address",
            "x",
            "y",
            "avg_price",
            "sold",
            "comments",
            "score",
            "open_hours",
            "create_time",
            "update_time",
        ],
        needed: &["id", "name", "x", "y"],
    },
    Wanted {
        name: "tb_user",
        columns: &["id", "phone", "password", "nick_name", "icon", "create_time", "update_time"],
        needed: &["id", "phone"],
    },
    Wanted {
        name: "tb_user_info",
        columns: &[
            "user_id",
            "city",
            "introduce",
            "fans",
            "followee",
            "gender",
            "birthday",
            "credits",
            "level",
            "create_time",
            "update_time",
        ],
        needed: &["user_id"],
    },
    Wanted {
        name: "tb_voucher",
        columns: &[
            "id",
            "shop_id",
            "title",
            "sub_title",
            "rules",
            "pay_value",
            "actual_value",
            "type",
            "status",
            "create_time",
            "update_time",
        ],
        needed: &["id", "title", "pay_value"],
    },
    Wanted {
        name: "tb_seckill_voucher",
        columns: &["voucher_id", "stock", "create_time", "begin_time", "end_time", "update_time"],
        needed: &["voucher_id", "stock", "begin_time", "end_time"],
    },
    Wanted {
        name: "tb_voucher_order",
        columns: &[
            "id",
            "user_id",
            "voucher_id",
            "pay_type",
            "status",
            "create_time",
            "pay_time",
            "use_time",
            "refund_time",
            "update_time",
        ],
        needed: &["id", "user_id", "voucher_id", "status"],
    },
    Wanted {
        name: "tb_blog",
        columns: &[
            "id",
            "shop_id",
            "user_id",
            "title",
            "images",
            "content",
            "liked",
            "comments",
            "create_time",
            "update_time",
        ],
        needed: &["id", "user_id", "content"],
    },
    Wanted {
        name: "tb_blog_comments",
        columns: &[
            "id",
            "user_id",
            "blog_id",
            "parent_id",
            "answer_id",
            "content",
            "liked",
            "status",
            "create_time",
            "update_time",
        ],
        needed: &["id", "user_id", "blog_id", "content"],
    },
    Wanted {
        name: "tb_follow",
        columns: &["id", "user_id", "follow_user_id", "create_time"],
        needed: &["user_id", "follow_user_id"],
    },
    Wanted {
        name: "tb_sign",
        columns: &["id", "user_id", "year", "month", "date", "is_backup"],
        needed: &["user_id", "date"],
    },
];

impl Table {
    /// Returns the columns required to understand a row; every other column has a neutral default.
    pub(super) fn needed(self) -> &'static [&'static str] {
        TABLES[self as usize].needed
    }

    /// Returns whether rows are identified by an id rather than by a pair.
    pub(super) fn has_id(self) -> bool {
        !matches!(self, Self::Follow | Self::Sign)
    }

    /// Returns the id sequence of the mall that corresponds to the table's ids.
    fn ids(self) -> Option<ImportSequence> {
        match self {
            Self::Shop => Some(ImportSequence::Shops),
            Self::User => Some(ImportSequence::Users),
            Self::Voucher => Some(ImportSequence::Vouchers),
            Self::Note => Some(ImportSequence::Notes),
            Self::Comment => Some(ImportSequence::Comments),
            _ => None,
        }
    }

    /// Returns the table's name in hm-dianping.
    #[must_use]
    pub fn name(self) -> &'static str {
        TABLES[self as usize].name
    }
}

/// Returns the next ids that the tables of the file would have assigned.
pub(super) fn next_ids(survey: &Survey) -> BTreeMap<ImportSequence, u64> {
    let next = |(table, found): (Table, &Found)| {
        let next = found.next_id.filter(|next| (1..=LARGEST_ID).contains(next));
        table.ids().zip(next)
    };
    KINDS.into_iter().zip(&survey.found).filter_map(next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_table_stands_in_its_place() {
        for (place, table) in KINDS.into_iter().enumerate() {
            assert_eq!(table as usize, place);
        }
        assert_eq!(KINDS.len(), TABLES.len());
        assert_eq!((Table::Card.name(), Table::Sign.name()), ("tb_user_info", "tb_sign"));
    }
}
