//! The words for states of orders and dead letters.

use mallbox_storage::{Cents, DeadReason, DeadState};

use super::parts::shortened;

/// A sentence in Chinese and in English.
type Words = (String, String);

/// Describes the status of an order.
pub(super) fn order_stands(status: u8) -> Words {
    let (zh, en) = match status {
        0 => ("订单正在处理", "The order is still being processed."),
        1 => ("订单尚未支付", "The order is not paid yet."),
        2 => ("订单已支付", "The order is already paid."),
        3 => ("订单已核销", "The order is already used."),
        4 => ("订单已取消", "The order has been cancelled."),
        5 => ("订单退款中", "The order is being refunded."),
        6 => ("订单已退款", "The order has been refunded."),
        _ => ("订单状态不允许此操作", "The order's status does not allow this."),
    };
    (zh.to_owned(), en.to_owned())
}

/// Describes the price of an order whose amount was wrong.
pub(super) fn amount_differs(price: Cents) -> Words {
    let price = price.yuan();
    (format!("金额不符：订单金额是{price}元"), format!("The amount must be the order's price, {price} yuan."))
}

/// Describes why a dead letter cannot become an order yet; `words` are the database's.
pub(super) fn still_dead(reason: DeadReason, words: &str) -> Words {
    match reason {
        DeadReason::Double => (
            "该用户在这场秒杀中已有有效订单".to_owned(),
            "The user already has a live order in this sale.".to_owned(),
        ),
        DeadReason::Oversold => {
            ("没有剩余库存，请先加库存".to_owned(), "No units left; add stock first.".to_owned())
        }
        DeadReason::IdClash => {
            ("另一个订单已使用这个编号".to_owned(), "Another order already has this id.".to_owned())
        }
        DeadReason::Refused => {
            let words = shortened(words);
            (format!("数据库仍拒绝：{words}"), format!("The database still refuses it: {words}"))
        }
    }
}

/// Describes the state of a dead letter.
pub(super) fn dead_letter_stands(state: DeadState) -> Words {
    let (zh, en) = match state {
        DeadState::Open => ("死信尚待处理", "The dead letter is waiting for a decision."),
        DeadState::Replayed => ("死信已转为订单", "The dead letter has already become an order."),
        DeadState::Voided => ("死信已作废", "The dead letter has already been voided."),
    };
    (zh.to_owned(), en.to_owned())
}
