//! Messages about subscribers of events.

use super::body::{RefusalBody, fixed};
use super::made;
use crate::language::Language;
use crate::mall::base::SubscriberRefusal;

/// Returns the message of a refusal.
pub(super) fn of_refusal(refusal: SubscriberRefusal, l: Language) -> RefusalBody {
    match refusal {
        SubscriberRefusal::NameTaken => fixed!(
            l,
            "SUBSCRIBER_NAME_TAKEN",
            "已有同名的事件订阅，请换一个名称",
            "Another subscriber has this name; choose another."
        ),
        SubscriberRefusal::TooMany(most) => made(
            l,
            "SUBSCRIBERS_FULL",
            format!("最多{most}个事件订阅，请先删除不用的"),
            format!("There can be at most {most} subscribers; delete one first."),
        ),
        SubscriberRefusal::NoStreams => fixed!(
            l,
            "NO_STREAMS",
            "数据存放在目录中的商城没有Redis流，请改用webhook",
            "A mall in a directory has no Redis streams; use a webhook."
        ),
        SubscriberRefusal::Url => fixed!(
            l,
            "WEBHOOK_URL",
            "URL须以https://开头，或指向商城所在机器的http://地址，且不含用户名",
            "The URL must begin with https://, or with http:// on the mall's own machine, without a user name."
        ),
    }
}
