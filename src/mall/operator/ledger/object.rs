//! Objects of findings.

use std::fmt;

use serde::Serialize;

use crate::language::{Bilingual, Language, both, sentence};

/// Declares the kinds of objects with their Chinese and English names.
macro_rules! kinds {
    ($($kind:ident = $zh:literal, $en:literal;)+) => {
        /// Kind of an object.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
        #[serde(rename_all = "camelCase")]
        #[expect(missing_docs, reason = "each is named for what it is")]
        pub enum Kind {
            $($kind,)+
        }

        impl Kind {
            const fn name(self) -> Bilingual {
                match self { $(Self::$kind => both($zh, $en),)+ }
            }
        }
    };
}

kinds! {
    Mall = "商城", "mall";
    Sale = "秒杀", "sale";
    Voucher = "优惠券", "voucher";
    Order = "订单", "order";
    Payment = "付款", "payment";
    CashEntry = "现金记录", "cash entry";
    CashSession = "班次", "cash session";
    CashReport = "Z报表", "Z report";
    DeadLetter = "死信", "dead letter";
    WaitingEntry = "候补记录", "waiting entry";
    User = "用户", "user";
    Shop = "店铺", "shop";
    StockChange = "库存变更", "stock change";
    Note = "笔记", "note";
    Comment = "评论", "comment";
    Like = "点赞", "like";
    Follow = "关注", "follow";
    Report = "举报", "report";
    Review = "评价", "review";
    VoteLine = "“有用”流水", "vote line";
    VoteMark = "“有用”标记", "mark of a vote";
    RetryKind = "重试任务的种类", "kind of retries";
    RetryTask = "重试任务", "retry task";
    ArchivedDay = "归档", "archived day";
    Picture = "图片", "picture";
    SignIn = "签到", "sign-in";
    CreditLine = "积分记录", "credit line";
    AuditEntry = "审计记录", "audit entry";
    Table = "数据表", "table";
}

/// An object of the mall. The id is a string, because order ids exceed the exact range of JSON numbers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Object {
    /// Kind of the object.
    pub kind: Kind,
    /// Id, or the parts of a composite key separated by spaces; absent for the mall.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

impl Object {
    /// The mall as a whole.
    pub(super) const MALL: Self = Self { kind: Kind::Mall, id: None };

    pub(super) fn new(kind: Kind, id: impl fmt::Display) -> Self {
        Self { kind, id: Some(id.to_string()) }
    }

    /// Returns the voucher id if the object is a sale.
    pub(super) fn sale(&self) -> Option<u64> {
        let id = self.id.as_ref().filter(|_| self.kind == Kind::Sale)?;
        id.parse().ok()
    }

    /// Returns the beginning of a sentence about the object.
    pub(super) fn text(&self, l: Language) -> String {
        let kind = self.kind.name().spoken(l);
        match &self.id {
            Some(id) => sentence!(l, "{kind}{id}：", "{kind} {id}: "),
            None => String::new(),
        }
    }
}
