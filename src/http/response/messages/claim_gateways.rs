//! Messages about claim gateways and their batches.

use super::body::{RefusalBody, fixed};
use super::made;
use crate::language::Language;
use crate::mall::ClaimGatewayRefusal;

/// Returns the message of a refusal.
pub(super) fn of_refusal(refusal: ClaimGatewayRefusal, l: Language) -> RefusalBody {
    match refusal {
        ClaimGatewayRefusal::TokenInvalid => fixed!(
            l,
            "GATEWAY_TOKEN_INVALID",
            "网关令牌无效、已过期或已撤销",
            "The gateway token is unknown, expired or revoked."
        ),
        ClaimGatewayRefusal::ClaimsDiffer => fixed!(
            l,
            "REQUEST_ID_REUSED",
            "这个requestId已用于另一批抢购，请换一个",
            "This requestId was used for other claims; choose another."
        ),
        ClaimGatewayRefusal::SaleNotNamed => fixed!(
            l,
            "SALE_NOT_GRANTED",
            "网关令牌不包含这场秒杀",
            "The gateway token does not include this sale."
        ),
        ClaimGatewayRefusal::UnknownUser => {
            fixed!(l, "UNKNOWN_USER", "用户不存在", "This user does not exist.")
        }
        ClaimGatewayRefusal::DuplicateClaim => fixed!(
            l,
            "DUPLICATE_CLAIM",
            "与这一批中前面的抢购重复",
            "This claim repeats an earlier one of the batch."
        ),
        ClaimGatewayRefusal::NameTaken => fixed!(
            l,
            "GATEWAY_NAME_TAKEN",
            "已有同名的抢购网关，请换一个名称",
            "Another claim gateway has this name; choose another."
        ),
        ClaimGatewayRefusal::TooMany(most) => made(
            l,
            "GATEWAYS_FULL",
            format!("最多{most}个有效的抢购网关，请先撤销不用的"),
            format!("There can be at most {most} claim gateways; revoke one first."),
        ),
    }
}
