//! Checks of single rows: each is a query in the SQL that SQLite and MySQL share.

/// Declares every check with the query for the ids of the rows that fail it.
macro_rules! checks {
    ($($(#[$doc:meta])* $check:ident = $sql:literal;)+) => {
        /// A rule that every row of a table keeps, whatever happens to a mall.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum RowCheck {
            $($(#[$doc])* $check,)+
        }

        impl RowCheck {
            /// Every check.
            pub const ALL: &[Self] = &[$(Self::$check,)+];

            /// Selects the ids of the rows that fail it, each as one value.
            pub(crate) const fn sql(self) -> &'static str {
                match self { $(Self::$check => $sql,)+ }
            }
        }
    };
}

checks! {
    /// Role and block of a user are among those that a mall writes.
    UserRights = "SELECT id FROM users WHERE role NOT IN (0, 1) OR (blocked_ms IS NULL) <> (block_reason IS NULL)";
    /// A card belongs to a user.
    CardUser = "SELECT user_id AS id FROM user_info WHERE NOT EXISTS (SELECT 1 FROM users WHERE users.id = user_id)";
    /// A shop has a type. Not so in a mall that was imported.
    ShopType = "SELECT id FROM shops WHERE NOT EXISTS (SELECT 1 FROM shop_types WHERE shop_types.id = type_id)";
    /// A voucher has a shop. Not so in a mall that was imported.
    VoucherShop = "SELECT id FROM vouchers WHERE NOT EXISTS (SELECT 1 FROM shops WHERE shops.id = shop_id)";
    /// A voucher's price and status are among those that a mall writes.
    VoucherValues = "SELECT id FROM vouchers WHERE pay_value < 0 OR actual_value < 0 OR status NOT IN (1, 2, 3)";
    /// A sale has a voucher.
    SaleVoucher = "SELECT voucher_id AS id FROM sales WHERE NOT EXISTS (SELECT 1 FROM vouchers WHERE vouchers.id = voucher_id)";
    /// A sale is limited in its initial units and its stock, or in neither.
    SaleLimit = "SELECT voucher_id AS id FROM sales WHERE (initial IS NULL) <> (stock IS NULL)";
    /// A change of stock is of a sale, and did no more than it was asked for.
    StockChange = "SELECT CONCAT(voucher_id, ' ', request) AS id FROM stock_changes
        WHERE NOT EXISTS (SELECT 1 FROM sales WHERE sales.voucher_id = stock_changes.voucher_id)
          OR (applied <> asked AND NOT (asked < applied AND applied <= 0))";
    /// A purchase's order is there, of the same user and voucher.
    PurchaseOrder = "SELECT order_id AS id FROM purchases WHERE NOT EXISTS (SELECT 1 FROM orders WHERE orders.id = order_id
        AND orders.user_id = purchases.user_id AND orders.voucher_id = purchases.voucher_id)";
    /// A unit on its way back is of a closed order of a sale, or of a dead letter that is voided or a double without a unit.
    OutboxOrder = "SELECT order_id AS id FROM outbox_releases AS o WHERE NOT EXISTS
          (SELECT 1 FROM sales WHERE sales.voucher_id = o.voucher_id)
        OR NOT EXISTS (SELECT 1 FROM orders WHERE orders.id = o.order_id AND orders.user_id = o.user_id
          AND orders.voucher_id = o.voucher_id AND orders.status IN (4, 6))
        AND NOT EXISTS (SELECT 1 FROM dead_letters AS d WHERE d.order_id = o.order_id AND d.user_id = o.user_id
          AND d.voucher_id = o.voucher_id
          AND (d.state = 2 OR d.reason = 'DOUBLE' AND d.holds_unit = 0))";
    /// A note has an author.
    NoteUser = "SELECT id FROM notes WHERE NOT EXISTS (SELECT 1 FROM users WHERE users.id = user_id)";
    /// A note's status is one that a mall writes.
    NoteStatus = "SELECT id FROM notes WHERE status NOT IN (0, 1, 2, 3)";
    /// A note counts its comments.
    NoteComments = "SELECT notes.id AS id FROM notes LEFT JOIN
        (SELECT note_id, SUM(CASE WHEN status < 2 THEN 1 ELSE 0 END) - SUM(CASE WHEN imported = 1 THEN 1 ELSE 0 END) AS changed
         FROM note_comments GROUP BY note_id) AS counted ON note_id = notes.id
        WHERE notes.comments <> COALESCE(changed, 0)";
    /// A note counts its likes.
    NoteLikes = "SELECT notes.id AS id FROM notes LEFT JOIN
        (SELECT target_id, COUNT(*) AS liked FROM likes WHERE kind = 0 GROUP BY target_id) AS counted ON target_id = id
        WHERE likes <> COALESCE(counted.liked, 0)";
    /// A note's picture is of a note.
    NotePicture = "SELECT CONCAT(note_id, ' ', name) AS id FROM note_pictures
        WHERE NOT EXISTS (SELECT 1 FROM notes WHERE notes.id = note_id)";
    /// A comment is below a note.
    CommentNote = "SELECT id FROM note_comments WHERE NOT EXISTS (SELECT 1 FROM notes WHERE notes.id = note_id)";
    /// A comment has an author.
    CommentUser = "SELECT id FROM note_comments WHERE NOT EXISTS (SELECT 1 FROM users WHERE users.id = user_id)";
    /// An answer stands below a comment of the same note that is no answer itself.
    CommentParent = "SELECT id FROM note_comments AS c WHERE parent_id <> 0 AND NOT EXISTS
        (SELECT 1 FROM note_comments AS p WHERE p.id = c.parent_id AND p.note_id = c.note_id AND p.parent_id = 0)";
    /// A comment's status is one that a mall writes.
    CommentStatus = "SELECT id FROM note_comments WHERE status NOT IN (0, 1, 2, 3) OR imported NOT IN (0, 1)";
    /// A comment counts its likes.
    CommentLikes = "SELECT id FROM note_comments LEFT JOIN
        (SELECT target_id, COUNT(*) AS liked FROM likes WHERE kind = 1 GROUP BY target_id) AS counted ON target_id = id
        WHERE likes <> COALESCE(counted.liked, 0)";
    /// A like is by a user and of a note or comment.
    Like = "SELECT CONCAT(kind, ' ', target_id, ' ', user_id) AS id FROM likes WHERE kind NOT IN (0, 1)
        OR NOT EXISTS (SELECT 1 FROM users WHERE users.id = user_id)
        OR kind = 0 AND NOT EXISTS (SELECT 1 FROM notes WHERE notes.id = target_id)
        OR kind = 1 AND NOT EXISTS (SELECT 1 FROM note_comments WHERE note_comments.id = target_id)";
    /// A follow is of two users.
    Follow = "SELECT CONCAT(user_id, ' ', followee_id) AS id FROM follows
        WHERE NOT EXISTS (SELECT 1 FROM users WHERE users.id = user_id)
          OR NOT EXISTS (SELECT 1 FROM users WHERE users.id = followee_id)";
    /// An author with many fans is a user.
    AuthorUser = "SELECT user_id AS id FROM authors_with_many_fans AS a WHERE NOT EXISTS
        (SELECT 1 FROM users WHERE users.id = a.user_id)";
    /// A report is by a user and of a note or comment.
    Report = "SELECT id FROM reports WHERE kind NOT IN (0, 1)
        OR NOT EXISTS (SELECT 1 FROM users WHERE users.id = user_id)
        OR kind = 0 AND NOT EXISTS (SELECT 1 FROM notes WHERE notes.id = target_id)
        OR kind = 1 AND NOT EXISTS (SELECT 1 FROM note_comments WHERE note_comments.id = target_id)";
    /// A picture has an owner, a known kind, and as many bytes as it says.
    Picture = "SELECT id FROM pictures LEFT JOIN picture_contents ON picture_id = id
        WHERE content IS NULL OR LENGTH(content) <> bytes OR kind NOT IN (1, 2)
          OR NOT EXISTS (SELECT 1 FROM users WHERE users.id = owner_id)";
    /// A picture's bytes are of a picture.
    PictureContent = "SELECT picture_id AS id FROM picture_contents
        WHERE NOT EXISTS (SELECT 1 FROM pictures WHERE pictures.id = picture_id)";
    /// An operator's action is by a user.
    AuditUser = "SELECT number AS id FROM audit WHERE user_id IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM users WHERE users.id = user_id)";
    /// A sign-in, as it moves in, is by a user.
    SignInUser = "SELECT CONCAT(day, ' ', user_id) AS id FROM sign_ins WHERE NOT EXISTS
        (SELECT 1 FROM users WHERE users.id = user_id) OR made_up NOT IN (0, 1)";
}

impl RowCheck {
    /// Whether it holds in a mall that was imported, too: a dump may have shops of no type, and vouchers of no
    /// shop, and nothing is made up for these.
    #[must_use]
    pub fn holds_when_imported(self) -> bool {
        !matches!(self, Self::ShopType | Self::VoucherShop)
    }
}
