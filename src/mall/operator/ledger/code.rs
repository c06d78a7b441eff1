//! Codes of the ledger check's findings: a stable code for programs, and a bilingual term for people.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::language::{Bilingual, both};

/// Declares every code once: name, object, and term in Chinese and English.
macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident = $name:literal, $zh:literal, $en:literal;)+) => {
        /// Kind of a finding. Names are never reused for another meaning; new names may be added.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Code {
            $($(#[$doc])* $code,)+
        }

        impl Code {
            /// All codes, in the order of the manual.
            pub const ALL: &[Self] = &[$(Self::$code,)+];

            /// Returns the name used in reports.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$code => $name,)+ }
            }

            /// Returns the bilingual name of the compared term.
            #[must_use]
            pub const fn term(self) -> Bilingual {
                match self { $(Self::$code => both($zh, $en),)+ }
            }
        }
    };
}

codes! {
    /// initial + added = remaining + pending + held.
    SaleEquation = "SALE_EQUATION", "初始 + 追加", "initial + added";
    /// stock = initial + added − held.
    SaleStock = "SALE_STOCK", "订单事务记录的库存", "stock kept by the order transactions";
    /// Units in memory or Redis = initial + added.
    SaleUnitsInMemory = "SALE_UNITS_IN_MEMORY", "内存中的总数", "units in memory";
    /// Units taken in memory or Redis = pending + held.
    SaleTakenInMemory = "SALE_TAKEN_IN_MEMORY", "内存中已售的数量", "units taken in memory";
    /// At most as many live orders per sale and user as the sale ever allowed.
    SaleDoubleBuyers = "SALE_DOUBLE_BUYERS", "有效订单超过限购数的用户", "users with more live orders than the sale allows";
    /// A sale has a voucher.
    SaleVoucher = "SALE_VOUCHER", "秒杀的优惠券", "sale's voucher";
    /// A sale is limited in initial units and stock, or in neither.
    SaleLimit = "SALE_LIMIT", "是否限量", "whether a sale is limited";
    /// A change of stock belongs to a sale and is as requested.
    StockChange = "STOCK_CHANGE", "库存变更", "change of stock";
    /// A voucher's price and status.
    VoucherValues = "VOUCHER_VALUES", "优惠券的价格和状态", "voucher's price and status";
    /// A voucher has a shop.
    VoucherShop = "VOUCHER_SHOP", "优惠券的店铺", "voucher's shop";
    /// An order has a user.
    OrderUser = "ORDER_USER", "订单的用户", "order's user";
    /// An order has a voucher.
    OrderVoucher = "ORDER_VOUCHER", "订单的优惠券", "order's voucher";
    /// An order of a sale has that sale.
    OrderSale = "ORDER_SALE", "订单的秒杀", "order's sale";
    /// A live order of a sale, and no other, takes its user's place.
    OrderSlot = "ORDER_SLOT", "订单在秒杀中的名额", "order's place in its sale";
    /// A live order lies between the first and the last of its sale.
    OrderRange = "ORDER_RANGE", "秒杀的订单号范围", "range of its sale's orders";
    /// The user of a live order holds a unit in memory or Redis.
    OrderBuyer = "ORDER_BUYER", "内存中的买家", "order's buyer in memory";
    /// An order's status and payment mode are known.
    OrderStatus = "ORDER_STATUS", "订单的状态", "order's status";
    /// An order costs what its voucher costs.
    OrderPrice = "ORDER_PRICE", "订单的金额", "order's price";
    /// An order's id encodes its second and its voucher.
    OrderId = "ORDER_ID", "订单号与下单时间和优惠券", "order's id, instant and voucher";
    /// An order has the instants of its status, in order.
    OrderInstants = "ORDER_INSTANTS", "订单的支付、核销、退款时间", "order's instants";
    /// An unpaid order's deadline is after the order.
    OrderDeadline = "ORDER_DEADLINE", "订单的支付期限", "order's deadline";
    /// A payment has an order.
    PaymentOrder = "PAYMENT_ORDER", "付款的订单", "payment's order";
    /// A payment's state is known.
    PaymentState = "PAYMENT_STATE", "付款的状态", "payment's state";
    /// Paid, used and refunding orders have a captured payment.
    PaymentMissing = "PAYMENT_MISSING", "已支付订单的到账付款", "captured payment of a paid order";
    /// An order has one open payment.
    PaymentTwice = "PAYMENT_TWICE", "订单未关闭的付款", "open payments of an order";
    /// A payment's amount is its order's price.
    PaymentAmount = "PAYMENT_AMOUNT", "付款金额", "payment's amount";
    /// A payment goes through the gateway of its order's mode.
    PaymentGateway = "PAYMENT_GATEWAY", "付款的渠道", "payment's gateway";
    /// An unpaid order has no captured payment.
    PaymentOnUnpaid = "PAYMENT_ON_UNPAID", "未支付订单的到账付款", "captured payment of an unpaid order";
    /// Money of a cancelled order goes back.
    PaymentOnCancelled = "PAYMENT_ON_CANCELLED", "已取消订单的到账付款", "captured payment of a cancelled order";
    /// Money of a refunded order has gone back.
    PaymentOnRefunded = "PAYMENT_ON_REFUNDED", "已退款订单的到账付款", "captured payment of a refunded order";
    /// A refunded order has a payment that was given back.
    RefundMissing = "REFUND_MISSING", "已退款订单的退款", "refund of a refunded order";
    /// An order without payment has no payment rows.
    PaymentUnasked = "PAYMENT_UNASKED", "免支付订单的付款", "payment of an order without payment";
    /// Order and payment changed at the same instant.
    PaymentInstant = "PAYMENT_INSTANT", "订单与付款的时间", "instant of order and payment";
    /// The background job watches a payment while its money is in flight.
    PaymentUnwatched = "PAYMENT_UNWATCHED", "付款的跟进标记", "payment's mark for the background job";
    /// An entry of a cash session is the payment or refund of an order at the counter, or has a reason.
    CashEntry = "CASH_ENTRY", "现金记录", "cash entry";
    /// A cash session has the sums of its entries; a closed session has a Z report, an open session none.
    CashSession = "CASH_SESSION", "班次的合计", "sums of a cash session";
    /// Z reports have no gaps, their sessions' entries, and their digests in the audit log.
    CashReport = "CASH_REPORT", "Z报表", "Z report";
    /// A dead letter has a user.
    LetterUser = "LETTER_USER", "死信的用户", "dead letter's user";
    /// A dead letter has a sale.
    LetterSale = "LETTER_SALE", "死信的秒杀", "dead letter's sale";
    /// A dead letter's state and reason are known.
    LetterState = "LETTER_STATE", "死信的状态和原因", "dead letter's state and reason";
    /// A closed or oversold dead letter holds no unit.
    LetterUnit = "LETTER_UNIT", "死信占用的名额", "dead letter's unit";
    /// A dead letter has an instant of closing if it is closed.
    LetterInstants = "LETTER_INSTANTS", "死信的处理时间", "dead letter's instants";
    /// A dead letter is an order if and only if it was replayed.
    LetterOrder = "LETTER_ORDER", "死信与订单", "dead letter and order";
    /// An order is in the list of its user, once.
    OrderListed = "ORDER_LISTED", "用户订单列表中的订单", "order in its user's list";
    /// A purchase's order is of the same user and voucher.
    PurchaseOrder = "PURCHASE_ORDER", "购买请求的订单", "purchase's order";
    /// An outbox entry releases the unit of a closed order or dead letter.
    OutboxOrder = "OUTBOX_ORDER", "待归还名额的订单", "order of a unit on its way back";
    /// An entry of a waiting list has a user and a sale, and a promoted entry its order.
    WaitingEntry = "WAITING_ENTRY", "候补记录", "entry of a waiting list";
    /// A sale for which users wait accepts no claims.
    SaleWaiting = "SALE_WAITING", "候补期间的抢购", "claims of a sale with waiting users";
    /// The counter of order ids is above every id in use.
    OrderNumbers = "ORDER_NUMBERS", "订单号的最高水位", "order ids' high-water mark";
    /// Missing rows of a table from which a mall deletes nothing.
    RowsGone = "ROWS_GONE", "缺失的行", "rows that are gone";
    /// A user's role and block.
    UserRights = "USER_RIGHTS", "用户的角色和封禁", "user's role and block";
    /// A deleted user has no personal data left.
    DeletedUser = "DELETED_USER", "已注销用户的资料", "deleted user's data";
    /// A card has a user.
    CardUser = "CARD_USER", "资料的用户", "card's user";
    /// A shop has a type.
    ShopType = "SHOP_TYPE", "店铺的类型", "shop's type";
    /// A note has an author.
    NoteUser = "NOTE_USER", "笔记的作者", "note's author";
    /// A note's status is known.
    NoteStatus = "NOTE_STATUS", "笔记的状态", "note's status";
    /// A note's count of comments.
    NoteComments = "NOTE_COMMENTS", "评论数", "count of comments";
    /// A note's or comment's count of likes.
    Likes = "LIKES", "点赞数", "count of likes";
    /// A note's picture has a note.
    NotePicture = "NOTE_PICTURE", "图片的笔记", "picture's note";
    /// A comment has a note.
    CommentNote = "COMMENT_NOTE", "评论的笔记", "comment's note";
    /// A comment has an author.
    CommentUser = "COMMENT_USER", "评论的作者", "comment's author";
    /// A reply stands below a comment of its note.
    CommentParent = "COMMENT_PARENT", "回复的评论", "comment above an answer";
    /// A comment's status is known.
    CommentStatus = "COMMENT_STATUS", "评论的状态", "comment's status";
    /// A like has a user and a target.
    LikeTarget = "LIKE_TARGET", "点赞的用户和对象", "like's user and target";
    /// A follow has two users.
    FollowUser = "FOLLOW_USER", "关注的用户", "follow's users";
    /// A report has a user and a target.
    ReportTarget = "REPORT_TARGET", "举报的用户和对象", "report's user and target";
    /// A picture has an owner and its bytes.
    Picture = "PICTURE", "图片的所有者和内容", "picture's owner and bytes";
    /// Sign-ins belong to existing users.
    SignInUser = "SIGN_IN_USER", "签到的用户", "users of sign-ins";
    /// A review has an author and a shop, and valid values.
    Review = "REVIEW", "评价", "review";
    /// A review's order is a used order of its author at its shop.
    ReviewOrder = "REVIEW_ORDER", "评价的订单", "review's order";
    /// The review of a picture exists.
    ReviewPicture = "REVIEW_PICTURE", "评价的图片", "review's picture";
    /// A shop stores number and stars of its reviews.
    ShopReviews = "SHOP_REVIEWS", "店铺的评价数和星数", "shop's reviews and stars";
    /// A shop's score and comment count follow from its reviews.
    ShopScore = "SHOP_SCORE", "店铺的评分和评论数", "shop's score and comments";
    /// A review's vote lines follow one another without gaps.
    VoteLine = "VOTE_LINE", "“有用”流水的序号和余数", "vote line's number and sum";
    /// Nobody's vote counts twice.
    VoteTwice = "VOTE_TWICE", "重复的“有用”", "vote counted twice";
    /// A review's votes are the sum of its newest line.
    VoteSum = "VOTE_SUM", "评价的“有用”数", "review's votes";
    /// A mark belongs to a vote that counts.
    VoteMark = "VOTE_MARK", "“有用”的标记", "mark of a vote";
    /// The totals of a kind of retry task are those of its tasks.
    RetryTotals = "RETRY_TOTALS", "重试任务的总数", "totals of the retry queue";
    /// A retry task has a kind, and one task of each group can run.
    RetryTask = "RETRY_TASK", "重试任务的状态", "state of a retry task";
    /// An archived day has its file, as the mall wrote it.
    ArchiveFile = "ARCHIVE_FILE", "归档文件", "file of the archive";
    /// A line in table and archive is the same.
    ArchiveLine = "ARCHIVE_LINE", "归档的流水", "archived line";
    /// A line of the credits ledger has a user.
    CreditUser = "CREDIT_USER", "积分记录的用户", "user of a credit line";
    /// A user's credits are the sum of the user's lines.
    CreditSum = "CREDIT_SUM", "积分总数", "sum of credits";
    /// A user's lines follow one another without gaps.
    CreditLine = "CREDIT_LINE", "积分记录的序号和余额", "credit line's number and sum";
    /// Credits of an order belong to a paid or used order; a refund takes them back.
    CreditOrder = "CREDIT_ORDER", "积分记录的订单", "credit line's order";
    /// An operator's action is by a user.
    AuditUser = "AUDIT_USER", "审计记录的用户", "user of an audit entry";
    /// The audit log's chain of hashes.
    AuditChain = "AUDIT_CHAIN", "审计日志", "audit log";
    /// Pages of the database match their checksums.
    DatabasePages = "DATABASE_PAGES", "数据库页的校验和", "checksums of the database's pages";
    /// The order log can be written.
    OrderLog = "ORDER_LOG", "订单日志", "order log";
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl JsonSchema for Code {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "LedgerCode".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let names: Vec<_> = Self::ALL.iter().map(|code| code.name()).collect();
        schemars::json_schema!({ "type": "string", "enum": names })
    }
}
