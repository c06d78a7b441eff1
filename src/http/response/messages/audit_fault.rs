//! The words for a fault of the audit log.

use mallbox_storage::{AuditFault, AuditFaultKind};

use crate::language::Language;

/// Describes a fault of the audit log.
pub(in crate::http) fn of_audit_fault(fault: AuditFault, l: Language) -> String {
    let AuditFault { number, what } = fault;
    let zh = match (l, what) {
        (Language::En, _) => return fault.to_string(),
        (Language::Zh, AuditFaultKind::Changed) => "校验不符：该条或前一条被改过",
        (Language::Zh, AuditFaultKind::Missing) => "缺失",
        (Language::Zh, AuditFaultKind::CutOff) => "缺失：日志末尾被截断",
        (Language::Zh, AuditFaultKind::NotTheHead) => "不是最后一条：日志末尾被改过",
    };
    format!("第{number}条{zh}")
}
