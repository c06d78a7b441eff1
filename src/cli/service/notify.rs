//! Notifications to the service manager: what the mall is doing, and when it is ready.

use sd_notify::NotifyState;

use crate::language::{Language, sentence};

/// Reports that the mall is being opened. A start may take minutes: a store is rebuilt, a schema migrated.
pub(in crate::cli) fn opening(l: Language) {
    notify(&[NotifyState::Status(&sentence!(l, "正在打开商城", "opening the mall"))]);
}

/// Reports that the mall serves at `address`.
pub(in crate::cli) fn ready(address: impl std::fmt::Display, l: Language) {
    let status = sentence!(l, "正在运行：http://{address}/", "serving at http://{address}/");
    notify(&[NotifyState::Ready, NotifyState::Status(&status)]);
}

/// Reports the begin of an orderly stop. From now on the manager's watchdog expects nothing.
pub(in crate::cli) fn stopping(l: Language) {
    let status = sentence!(l, "正在停止：等待处理中的请求", "stopping: draining requests in flight");
    notify(&[NotifyState::Stopping, NotifyState::Status(&status)]);
}

/// Sends a notification. Without a manager it goes nowhere; a failure changes nothing for the mall.
pub(super) fn notify(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "could not notify the service manager");
    }
}
