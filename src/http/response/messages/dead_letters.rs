//! Texts about dead letters, in Chinese and in English.

use mallbox_storage::{DeadReason, DeadState};

use super::parts::shortened;

/// Describes why a dead letter cannot become an order. `words` are the database's.
pub(super) fn still_dead(reason: DeadReason, words: &str) -> (String, String) {
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

/// Describes the state of a dead letter that excludes a step.
pub(super) fn dead_letter_stands(state: DeadState) -> (String, String) {
    let (zh, en) = match state {
        DeadState::Open => ("死信尚待处理", "The dead letter is waiting for a decision."),
        DeadState::Replayed => ("死信已转为订单", "The dead letter has already become an order."),
        DeadState::Voided => ("死信已作废", "The dead letter has already been voided."),
    };
    (zh.to_owned(), en.to_owned())
}
