//! Parts of messages: times to wait, and details of clients.

use std::borrow::Cow;

use crate::language::Language;

/// Words a time to wait, rounded up to whole minutes or hours where seconds say nothing.
pub(super) fn waiting(seconds: u64, l: Language) -> String {
    let (number, zh, en) = match seconds {
        0..120 => (seconds, "秒", "s"),
        120..7_200 => (seconds.div_ceil(60), "分钟", "min"),
        _ => (seconds.div_ceil(3_600), "小时", "h"),
    };
    match l {
        Language::Zh => format!("{number}{zh}"),
        Language::En => format!("{number} {en}"),
    }
}

/// Truncates a detail, because a detail may quote the client's input.
pub(super) fn shortened(detail: &str) -> Cow<'_, str> {
    const DETAIL_MAX_CHARS: usize = 200;
    match detail.char_indices().nth(DETAIL_MAX_CHARS) {
        Some((end, _)) => format!("{}…", &detail[..end]).into(),
        None => detail.into(),
    }
}
