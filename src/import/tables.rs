//! The tables of an hm-dianping database, and the columns that the mall knows.

use super::dump::Wanted;

/// What a row of the dump is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Table {
    /// Kinds of shop.
    ShopType,
    /// Shops.
    Shop,
    /// People.
    User,
    /// What they tell about themselves.
    Card,
    /// Vouchers.
    Voucher,
    /// Those that are sales.
    Sale,
    /// Orders.
    Order,
    /// Notes.
    Note,
    /// Comments on them.
    Comment,
    /// Who follows whom.
    Follow,
    /// Days signed in.
    Sign,
}

/// Every [`Table`], in the order of [`TABLES`].
pub const KINDS: [Table; 11] = {
    use Table::{Card, Comment, Follow, Note, Order, Sale, Shop, ShopType, Sign, User, Voucher};
    [ShopType, Shop, User, Card, Voucher, Sale, Order, Note, Comment, Follow, Sign]
};

/// What the reader looks for. The first column tells one row from another.
pub const TABLES: &[Wanted] = &[
    Wanted { name: "tb_shop_type", columns: &["id", "name", "icon", "sort", "create_time", "update_time"] },
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
    },
    Wanted {
        name: "tb_user",
        columns: &["id", "phone", "password", "nick_name", "icon", "create_time", "update_time"],
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
    },
    Wanted {
        name: "tb_seckill_voucher",
        columns: &["voucher_id", "stock", "create_time", "begin_time", "end_time", "update_time"],
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
    },
    Wanted { name: "tb_follow", columns: &["id", "user_id", "follow_user_id", "create_time"] },
    Wanted { name: "tb_sign", columns: &["id", "user_id", "year", "month", "date", "is_backup"] },
];

impl Table {
    /// The columns without which no row of it can be understood; any other has a default that says nothing.
    pub(super) fn needed(self) -> &'static [&'static str] {
        match self {
            Self::ShopType => &["id", "name"],
            Self::Shop => &["id", "name", "x", "y"],
            Self::User => &["id", "phone"],
            Self::Card => &["user_id"],
            Self::Voucher => &["id", "title", "pay_value"],
            Self::Sale => &["voucher_id", "stock", "begin_time", "end_time"],
            Self::Order => &["id", "user_id", "voucher_id", "status"],
            Self::Note => &["id", "user_id", "content"],
            Self::Comment => &["id", "user_id", "blog_id", "content"],
            Self::Follow => &["user_id", "follow_user_id"],
            Self::Sign => &["user_id", "date"],
        }
    }

    /// Its name in the dump.
    #[must_use]
    pub fn name(self) -> &'static str {
        TABLES[self as usize].name
    }
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
