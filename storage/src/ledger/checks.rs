//! Single-row checks of the ledger: one query per check, in the common SQL of SQLite and MySQL.

/// Declares every check with the query for the ids of violating rows.
macro_rules! checks {
    ($($(#[$doc:meta])* $check:ident = $sql:literal;)+) => {
        /// Invariant of every row of a table.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum RowCheck {
            $($(#[$doc])* $check,)+
        }

        impl RowCheck {
            /// All checks, in order of declaration.
            pub const ALL: &[Self] = &[$(Self::$check,)+];

            /// Returns the query for the ids of violating rows, one value per row.
            pub const fn sql(self) -> &'static str {
                match self { $(Self::$check => $sql,)+ }
            }
        }
    };
}

checks! {
    /// Role and block of a user are valid.
    UserRights = "SELECT id FROM users WHERE role NOT IN (0, 1) OR (blocked_ms IS NULL) <> (block_reason IS NULL)";
    /// A deleted user has no phone, name, avatar, password, role, block or profile left.
    DeletedUser = "SELECT id FROM users WHERE deleted_ms IS NOT NULL AND (phone <> CONCAT('deleted ', id)
          OR nick_name <> '' OR icon <> '' OR password IS NOT NULL OR role <> 0 OR blocked_ms IS NOT NULL
          OR EXISTS (SELECT 1 FROM user_info WHERE user_info.user_id = users.id
            AND (city <> '' OR introduce <> '' OR gender <> 0 OR birthday IS NOT NULL)))";
    /// The user of a card exists.
    CardUser = "SELECT user_id AS id FROM user_info WHERE NOT EXISTS (SELECT 1 FROM users WHERE users.id = user_id)";
    /// The type of a shop exists. Not guaranteed in an imported mall.
    ShopType = "SELECT id FROM shops WHERE NOT EXISTS (SELECT 1 FROM shop_types WHERE shop_types.id = type_id)";
    /// The shop of a voucher exists. Not guaranteed in an imported mall.
    VoucherShop = "SELECT id FROM vouchers WHERE NOT EXISTS (SELECT 1 FROM shops WHERE shops.id = shop_id)";
    /// Prices and status of a voucher are valid.
    VoucherValues = "SELECT id FROM vouchers WHERE pay_value < 0 OR actual_value < 0 OR status NOT IN (1, 2, 3)";
    /// The voucher of a sale exists.
    SaleVoucher = "SELECT voucher_id AS id FROM sales WHERE NOT EXISTS (SELECT 1 FROM vouchers WHERE vouchers.id = voucher_id)";
    /// Initial units and stock of a sale are both limited or both unlimited.
    SaleLimit = "SELECT voucher_id AS id FROM sales WHERE (initial IS NULL) <> (stock IS NULL)";
    /// The sale of a stock change exists, and the change applied the units requested, or removed fewer.
    StockChange = "SELECT CONCAT(voucher_id, ' ', request) AS id FROM stock_changes
        WHERE NOT EXISTS (SELECT 1 FROM sales WHERE sales.voucher_id = stock_changes.voucher_id)
          OR (applied <> asked AND NOT (asked < applied AND applied <= 0))";
    /// An order is in the list of its user, and the list contains no others. MySQL keeps the list itself; a
    /// directory has its own check, and rebuilds a damaged list at the next start.
    OrderListed = "SELECT id FROM orders WHERE 1 = 0";
    /// The order of a purchase exists, with the same user and voucher.
    PurchaseOrder = "SELECT order_id AS id FROM purchases WHERE NOT EXISTS (SELECT 1 FROM orders WHERE orders.id = order_id
        AND orders.user_id = purchases.user_id AND orders.voucher_id = purchases.voucher_id)";
    /// An outbox entry belongs to a sale, and to a closed order, a voided dead letter or a `DOUBLE` dead
    /// letter without a unit.
    OutboxOrder = "SELECT order_id AS id FROM outbox_releases AS o WHERE NOT EXISTS
          (SELECT 1 FROM sales WHERE sales.voucher_id = o.voucher_id)
        OR NOT EXISTS (SELECT 1 FROM orders WHERE orders.id = o.order_id AND orders.user_id = o.user_id
          AND orders.voucher_id = o.voucher_id AND orders.status IN (4, 6))
        AND NOT EXISTS (SELECT 1 FROM dead_letters AS d WHERE d.order_id = o.order_id AND d.user_id = o.user_id
          AND d.voucher_id = o.voucher_id
          AND (d.state = 2 OR d.reason = 'DOUBLE' AND d.holds_unit = 0))
        AND NOT EXISTS (SELECT 1 FROM waiting_entries AS w WHERE w.voucher_id = o.voucher_id
          AND w.user_id = o.user_id AND w.order_id = o.order_id AND w.state IN (0, 4, 5))";
    /// An entry of a cash session belongs to a session, and is the payment or refund of an order at the
    /// counter, or has a reason.
    CashEntry = "SELECT CONCAT(session_id, ' ', number) AS id FROM cash_entries AS e WHERE kind NOT IN (1, 2, 3, 4)
        OR amount < 0 OR NOT EXISTS (SELECT 1 FROM cash_sessions WHERE cash_sessions.id = e.session_id)
        OR kind IN (3, 4) AND (order_id IS NOT NULL OR reason = '')
        OR kind IN (1, 2) AND NOT EXISTS (SELECT 1 FROM orders AS o WHERE o.id = e.order_id AND o.payment_mode = 1
          AND o.pay_value = e.amount AND (e.kind = 1 AND o.paid_ms = e.at_ms
            OR e.kind = 2 AND o.status = 6 AND o.refunded_ms = e.at_ms))";
    /// A cash session has numbers and sums of its entries; a closed session has a report, an open one none.
    CashSession = "SELECT s.id AS id FROM cash_sessions AS s LEFT JOIN
        (SELECT session_id, COUNT(*) AS entries, MAX(number) AS last,
           SUM(CASE WHEN kind = 1 THEN amount ELSE 0 END) AS sales, SUM(CASE WHEN kind = 1 THEN 1 ELSE 0 END) AS sale_count,
           SUM(CASE WHEN kind = 2 THEN amount ELSE 0 END) AS refunds, SUM(CASE WHEN kind = 2 THEN 1 ELSE 0 END) AS refund_count,
           SUM(CASE WHEN kind = 3 THEN amount ELSE 0 END) AS paid_in, SUM(CASE WHEN kind = 3 THEN 1 ELSE 0 END) AS paid_in_count,
           SUM(CASE WHEN kind = 4 THEN amount ELSE 0 END) AS paid_out, SUM(CASE WHEN kind = 4 THEN 1 ELSE 0 END) AS paid_out_count
         FROM cash_entries GROUP BY session_id) AS c ON c.session_id = s.id
        WHERE s.float_cents < 0 OR COALESCE(c.entries, 0) <> COALESCE(c.last, 0)
          OR s.sales <> COALESCE(c.sales, 0) OR s.sale_count <> COALESCE(c.sale_count, 0)
          OR s.refunds <> COALESCE(c.refunds, 0) OR s.refund_count <> COALESCE(c.refund_count, 0)
          OR s.paid_in <> COALESCE(c.paid_in, 0) OR s.paid_in_count <> COALESCE(c.paid_in_count, 0)
          OR s.paid_out <> COALESCE(c.paid_out, 0) OR s.paid_out_count <> COALESCE(c.paid_out_count, 0)
          OR s.open_till IS NOT NULL AND s.open_till <> s.till
          OR s.open_till IS NULL
            AND NOT EXISTS (SELECT 1 FROM cash_reports AS r WHERE r.session_id = s.id AND r.number > 0)
          OR s.open_till IS NOT NULL AND EXISTS (SELECT 1 FROM cash_reports AS r WHERE r.session_id = s.id)";
    /// An entry of a waiting list has a user and a sale, and a promoted entry its order.
    WaitingEntry = "SELECT number AS id FROM waiting_entries AS w WHERE state NOT IN (0, 1, 2, 3, 4, 5)
        OR NOT EXISTS (SELECT 1 FROM users WHERE users.id = w.user_id)
        OR NOT EXISTS (SELECT 1 FROM sales WHERE sales.voucher_id = w.voucher_id)
        OR state IN (1, 2) AND order_id IS NULL
        OR state = 2 AND NOT EXISTS (SELECT 1 FROM orders WHERE orders.id = w.order_id
          AND orders.user_id = w.user_id AND orders.voucher_id = w.voucher_id)";
    /// A sale for which users wait accepts no claims.
    SaleWaiting = "SELECT voucher_id AS id FROM sales WHERE waiting NOT IN (0, 1)
        OR waiting = 0 AND EXISTS (SELECT 1 FROM waiting_entries AS w
          WHERE w.voucher_id = sales.voucher_id AND w.state IN (0, 1))";
    /// The author of a note exists.
    NoteUser = "SELECT id FROM notes WHERE NOT EXISTS (SELECT 1 FROM users WHERE users.id = user_id)";
    /// The status of a note is valid.
    NoteStatus = "SELECT id FROM notes WHERE status NOT IN (0, 1, 2, 3)";
    /// The comment count of a note matches the comments.
    NoteComments = "SELECT notes.id AS id FROM notes LEFT JOIN
        (SELECT note_id, SUM(CASE WHEN status < 2 THEN 1 ELSE 0 END) - SUM(CASE WHEN imported = 1 THEN 1 ELSE 0 END) AS changed
         FROM note_comments GROUP BY note_id) AS counted ON note_id = notes.id
        WHERE notes.comments <> COALESCE(changed, 0)";
    /// The like count of a note matches the likes.
    NoteLikes = "SELECT notes.id AS id FROM notes LEFT JOIN
        (SELECT target_id, COUNT(*) AS liked FROM likes WHERE kind = 0 GROUP BY target_id) AS counted ON target_id = id
        WHERE likes <> COALESCE(counted.liked, 0)";
    /// The note of a note picture exists.
    NotePicture = "SELECT CONCAT(note_id, ' ', name) AS id FROM note_pictures
        WHERE NOT EXISTS (SELECT 1 FROM notes WHERE notes.id = note_id)";
    /// The note of a comment exists.
    CommentNote = "SELECT id FROM note_comments WHERE NOT EXISTS (SELECT 1 FROM notes WHERE notes.id = note_id)";
    /// The author of a comment exists.
    CommentUser = "SELECT id FROM note_comments WHERE NOT EXISTS (SELECT 1 FROM users WHERE users.id = user_id)";
    /// The parent of a reply is a top-level comment on the same note.
    CommentParent = "SELECT id FROM note_comments AS c WHERE parent_id <> 0 AND NOT EXISTS
        (SELECT 1 FROM note_comments AS p WHERE p.id = c.parent_id AND p.note_id = c.note_id AND p.parent_id = 0)";
    /// The status of a comment is valid.
    CommentStatus = "SELECT id FROM note_comments WHERE status NOT IN (0, 1, 2, 3) OR imported NOT IN (0, 1)";
    /// The like count of a comment matches the likes.
    CommentLikes = "SELECT id FROM note_comments LEFT JOIN
        (SELECT target_id, COUNT(*) AS liked FROM likes WHERE kind = 1 GROUP BY target_id) AS counted ON target_id = id
        WHERE likes <> COALESCE(counted.liked, 0)";
    /// User and target of a like exist.
    Like = "SELECT CONCAT(kind, ' ', target_id, ' ', user_id) AS id FROM likes WHERE kind NOT IN (0, 1)
        OR NOT EXISTS (SELECT 1 FROM users WHERE users.id = user_id)
        OR kind = 0 AND NOT EXISTS (SELECT 1 FROM notes WHERE notes.id = target_id)
        OR kind = 1 AND NOT EXISTS (SELECT 1 FROM note_comments WHERE note_comments.id = target_id)";
    /// Both users of a follow exist.
    Follow = "SELECT CONCAT(user_id, ' ', followee_id) AS id FROM follows
        WHERE NOT EXISTS (SELECT 1 FROM users WHERE users.id = user_id)
          OR NOT EXISTS (SELECT 1 FROM users WHERE users.id = followee_id)";
    /// An author marked as having many fans is a user.
    AuthorUser = "SELECT user_id AS id FROM authors_with_many_fans AS a WHERE NOT EXISTS
        (SELECT 1 FROM users WHERE users.id = a.user_id)";
    /// User and target of a report exist.
    Report = "SELECT id FROM reports WHERE kind NOT IN (0, 1, 2)
        OR NOT EXISTS (SELECT 1 FROM users WHERE users.id = user_id)
        OR kind = 0 AND NOT EXISTS (SELECT 1 FROM notes WHERE notes.id = target_id)
        OR kind = 1 AND NOT EXISTS (SELECT 1 FROM note_comments WHERE note_comments.id = target_id)
        OR kind = 2 AND NOT EXISTS (SELECT 1 FROM reviews WHERE reviews.id = target_id)";
    /// Author and shop of a review exist; state, stars, tags and origin are valid; text and pictures of a
    /// deleted review are erased.
    Review = "SELECT id FROM reviews WHERE status NOT IN (0, 1, 2, 3) OR is_folded NOT IN (0, 1)
          OR half_stars NOT BETWEEN 2 AND 10 OR tags NOT BETWEEN 0 AND 7 OR is_edited NOT IN (0, 1)
          OR origin NOT IN (0, 1, 2) OR (origin = 0) <> (order_id IS NOT NULL)
          OR (reply IS NULL) <> (reply_ms IS NULL)
          OR status = 3 AND (content <> '' OR images <> '' OR reply IS NOT NULL)
          OR NOT EXISTS (SELECT 1 FROM users WHERE users.id = user_id)
          OR NOT EXISTS (SELECT 1 FROM shops WHERE shops.id = shop_id)";
    /// The order of a review is a used order of its author for a voucher of its shop.
    ReviewOrder = "SELECT id FROM reviews WHERE order_id IS NOT NULL AND NOT EXISTS
        (SELECT 1 FROM orders JOIN vouchers ON vouchers.id = orders.voucher_id WHERE orders.id = reviews.order_id
          AND orders.user_id = reviews.user_id AND orders.status = 3 AND vouchers.shop_id = reviews.shop_id)";
    /// The review of a review picture exists.
    ReviewPicture = "SELECT CONCAT(review_id, ' ', name) AS id FROM review_pictures
        WHERE NOT EXISTS (SELECT 1 FROM reviews WHERE reviews.id = review_id)";
    /// Number and stars of the reviews stored with a shop are those of its reviews that count.
    ShopReviews = "SELECT shops.id AS id FROM shops LEFT JOIN
        (SELECT shop_id, COUNT(*) AS reviews, SUM(half_stars) AS stars FROM reviews
         WHERE status < 2 AND is_folded = 0 GROUP BY shop_id) AS counted ON counted.shop_id = shops.id
        WHERE review_count <> COALESCE(counted.reviews, 0) OR half_star_sum <> COALESCE(counted.stars, 0)";
    /// Score and comment count of a shop follow from its reviews and what was imported. Between 2tS and
    /// 2t(S + 1), with t reviews in all: S is the mean rounded half up.
    ShopScore = "SELECT id FROM (SELECT id, score, comments, imported_score, imported_comments, review_count,
            CASE WHEN imported_comments < 0 THEN 0 WHEN imported_comments > 1000000000 THEN 1000000000
              ELSE imported_comments END AS weight,
            CASE WHEN imported_score < 0 THEN 0 WHEN imported_score > 50 THEN 50 ELSE imported_score END AS claimed,
            half_star_sum FROM shops) AS s
        WHERE (review_count = 0 AND (score <> imported_score OR comments <> imported_comments))
          OR (review_count > 0 AND (score NOT BETWEEN 0 AND 50
            OR imported_comments < 9000000000000000000 AND comments <> imported_comments + review_count
            OR 2 * (claimed * weight + half_star_sum * 5) + weight + review_count < 2 * (weight + review_count) * score
            OR 2 * (claimed * weight + half_star_sum * 5) + weight + review_count
               >= 2 * (weight + review_count) * (score + 1)))";
    /// The review of a vote exists, and the voter, unless the line closed the votes. A line without the line
    /// before is left to the check of the archive, once there is one.
    VoteLine = "SELECT CONCAT(l.review_id, ' ', l.number) AS id FROM vote_lines AS l
          LEFT JOIN vote_lines AS p ON p.review_id = l.review_id AND p.number = l.number - 1
        WHERE l.number < 1 OR l.sum_after < 0
          OR l.number > 1 AND p.number IS NULL AND NOT EXISTS (SELECT 1 FROM archived_days WHERE ledger = 'votes')
          OR (l.number = 1 OR p.number IS NOT NULL) AND l.sum_after <> l.amount + COALESCE(p.sum_after, 0)
          OR l.cause NOT IN (0, 1, 2) OR l.cause = 0 AND l.amount <> -1 OR l.cause = 1 AND l.amount <> 1
          OR l.cause = 2 AND (l.sum_after <> 0 OR l.user_id <> 0)
          OR NOT EXISTS (SELECT 1 FROM reviews WHERE reviews.id = l.review_id)
          OR l.cause < 2 AND NOT EXISTS (SELECT 1 FROM users WHERE users.id = l.user_id)";
    /// Nobody counts twice: between two votes of a user for a review, the first was taken back or closed.
    /// Left to the check of the archive, once there is one.
    VoteTwice = "SELECT CONCAT(l.review_id, ' ', l.number) AS id FROM vote_lines AS l WHERE l.cause = 1
        AND NOT EXISTS (SELECT 1 FROM archived_days WHERE ledger = 'votes') AND EXISTS
        (SELECT 1 FROM vote_lines AS p WHERE p.review_id = l.review_id AND p.user_id = l.user_id
          AND p.number < l.number AND p.cause = 1 AND NOT EXISTS
            (SELECT 1 FROM vote_lines AS d WHERE d.review_id = l.review_id AND d.number > p.number
              AND d.number < l.number AND (d.cause = 0 AND d.user_id = l.user_id OR d.cause = 2)))";
    /// The votes stored with a review are those of its newest line.
    VoteSum = "SELECT reviews.id AS id FROM reviews LEFT JOIN vote_lines AS l
          ON l.review_id = reviews.id AND l.number = reviews.vote_lines
        WHERE votes <> COALESCE(l.sum_after, 0) OR reviews.vote_lines > 0 AND l.number IS NULL
          OR EXISTS (SELECT 1 FROM vote_lines AS n WHERE n.review_id = reviews.id AND n.number > reviews.vote_lines)
          OR closed_line <> COALESCE((SELECT MAX(c.number) FROM vote_lines AS c
               WHERE c.review_id = reviews.id AND c.cause = 2), 0)
             AND NOT EXISTS (SELECT 1 FROM archived_days WHERE ledger = 'votes')
          OR votes > 0 AND (status > 1 OR is_folded = 1)";
    /// A mark belongs to a vote that counts.
    VoteMark = "SELECT CONCAT(review_id, ' ', user_id) AS id FROM vote_marks AS m WHERE NOT EXISTS
        (SELECT 1 FROM reviews JOIN vote_lines AS l ON l.review_id = reviews.id
         WHERE reviews.id = m.review_id AND l.user_id = m.user_id AND l.cause = 1 AND l.number > closed_line
           AND l.number = (SELECT MAX(o.number) FROM vote_lines AS o
             WHERE o.review_id = m.review_id AND o.user_id = m.user_id))";
    /// The totals of a kind of task are those of its rows.
    RetryTotals = "SELECT retry_kinds.kind AS id FROM retry_kinds LEFT JOIN
        (SELECT kind, SUM(CASE WHEN failed_ms IS NULL THEN 1 ELSE 0 END) AS opened,
           SUM(CASE WHEN failed_ms IS NULL THEN LENGTH(payload) ELSE 0 END) AS bytes,
           SUM(CASE WHEN failed_ms IS NULL THEN 0 ELSE 1 END) AS failed FROM retry_tasks GROUP BY kind) AS counted
          ON counted.kind = retry_kinds.kind
        WHERE open_tasks <> COALESCE(opened, 0) OR open_bytes <> COALESCE(bytes, 0)
          OR failed_tasks <> COALESCE(failed, 0)";
    /// A task has a kind. A failed task cannot be leased, and of each group of open tasks exactly one can.
    RetryTask = "SELECT id FROM retry_tasks WHERE NOT EXISTS (SELECT 1 FROM retry_kinds WHERE retry_kinds.kind = retry_tasks.kind)
          OR failed_ms IS NOT NULL AND ready_ms IS NOT NULL
          OR failed_ms IS NULL AND ready_ms IS NULL AND task_group IS NULL
        UNION ALL SELECT MIN(id) AS id FROM retry_tasks WHERE failed_ms IS NULL AND task_group IS NOT NULL
        GROUP BY kind, task_group HAVING COUNT(ready_ms) <> 1";
    /// A picture has an owner, a valid kind, and contents of the stored length.
    Picture = "SELECT id FROM pictures LEFT JOIN picture_contents ON picture_id = id
        WHERE content IS NULL OR LENGTH(content) <> bytes OR kind NOT IN (1, 2)
          OR NOT EXISTS (SELECT 1 FROM users WHERE users.id = owner_id)";
    /// The picture of picture contents exists.
    PictureContent = "SELECT picture_id AS id FROM picture_contents
        WHERE NOT EXISTS (SELECT 1 FROM pictures WHERE pictures.id = picture_id)";
    /// The operator of an audit entry exists. A staff member has an id in the range given here, and no
    /// row.
    AuditUser = "SELECT number AS id FROM audit WHERE user_id IS NOT NULL
        AND user_id NOT BETWEEN 4503599627370496 AND 4503603922337791
        AND NOT EXISTS (SELECT 1 FROM users WHERE users.id = user_id)";
    /// The user of a sign-in exists, and the made-up flag is valid. In SQLite the table holds imported rows
    /// only.
    SignInUser = "SELECT CONCAT(day, ' ', user_id) AS id FROM sign_ins WHERE NOT EXISTS
        (SELECT 1 FROM users WHERE users.id = user_id) OR made_up NOT IN (0, 1)";
    /// The user of a credit line has a card, which holds the sum.
    CreditUser = "SELECT CONCAT(user_id, ' ', number) AS id FROM credit_lines WHERE NOT EXISTS
        (SELECT 1 FROM user_info WHERE user_info.user_id = credit_lines.user_id)";
    /// A user's credits are the sum of the user's lines.
    CreditSum = "SELECT user_info.user_id AS id FROM user_info LEFT JOIN
        (SELECT user_id, SUM(amount) AS total FROM credit_lines GROUP BY user_id) AS counted
          ON counted.user_id = user_info.user_id
        WHERE credits <> COALESCE(counted.total, 0)";
    /// A user's lines are numbered without gaps, and each continues the sum of the line before. Only refunds
    /// take credits back.
    CreditLine = "SELECT CONCAT(l.user_id, ' ', l.number) AS id FROM credit_lines AS l
          LEFT JOIN credit_lines AS p ON p.user_id = l.user_id AND p.number = l.number - 1
        WHERE l.number < 1 OR l.number > 1 AND p.number IS NULL
          OR l.sum_after <> l.amount + COALESCE(p.sum_after, 0)
          OR l.kind NOT IN (0, 1, 2, 3) OR (l.kind = 3) <> (l.amount < 0)";
    /// Credits of an order belong to a paid, used or refunding order of the user; or to a refunded order, and
    /// then the same amount was taken back.
    CreditOrder = "SELECT CONCAT(l.user_id, ' ', l.number) AS id FROM credit_lines AS l
          LEFT JOIN orders AS o ON o.id = l.reference AND o.user_id = l.user_id
          LEFT JOIN credit_lines AS r
            ON r.user_id = l.user_id AND r.reference = l.reference AND r.kind = 5 - l.kind
        WHERE l.kind IN (2, 3) AND (o.id IS NULL OR o.status NOT IN (2, 3, 5, 6)
          OR (o.status = 6) <> (r.number IS NOT NULL)
          OR l.kind = 3 AND (r.number IS NULL OR r.amount <> -l.amount))";
}

impl RowCheck {
    /// Returns whether the check also applies to an imported mall. A dump may contain shops without a type
    /// and vouchers without a shop, and the import invents no substitutes.
    #[must_use]
    pub fn holds_when_imported(self) -> bool {
        !matches!(self, Self::ShopType | Self::VoucherShop)
    }
}
