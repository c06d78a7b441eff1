//! What the ledger check can find: a stable code for programs, and a sentence part in each language for people.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::language::{Both, both};

/// Declares every code once: its name, the object it is about, and its term in Chinese and English.
macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident = $name:literal, $zh:literal, $en:literal;)+) => {
        /// Kind of a finding. A name is never reused for something else; new ones may be added.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Code {
            $($(#[$doc])* $code,)+
        }

        impl Code {
            /// Every code, in the order of the manual.
            pub const ALL: &[Self] = &[$(Self::$code,)+];

            /// The name in the report.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$code => $name,)+ }
            }

            /// What was compared, for people.
            #[must_use]
            pub const fn term(self) -> Both {
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
    /// At most one live order per sale and user.
    SaleDoubleBuyers = "SALE_DOUBLE_BUYERS", "持有两张有效订单的用户", "users with two live orders";
    /// Paid, used and refunding orders have a captured payment.
    PaymentMissing = "PAYMENT_MISSING", "已支付订单缺少到账的付款", "paid orders without a captured payment";
    /// Money of a cancelled order goes back.
    PaymentOnCancelled = "PAYMENT_ON_CANCELLED", "已取消订单仍有到账的付款", "captured payments on cancelled orders";
    /// The counter of order ids is above every id in use.
    OrderNumbers = "ORDER_NUMBERS", "订单号的最高水位", "order ids' high-water mark";
    /// A note's count of comments.
    NoteComments = "NOTE_COMMENTS", "评论数与评论不符的笔记", "notes that miscount their comments";
    /// A note's or comment's count of likes.
    Likes = "LIKES", "点赞数与点赞不符的笔记和评论", "notes and comments that miscount their likes";
    /// The audit log's chain of hashes.
    AuditChain = "AUDIT_CHAIN", "审计日志", "audit log";
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
