//! Messages about guarded sales.

use super::body::{RefusalBody, detailed, fixed};
use super::parts::waiting;
use super::{Details, millis};
use crate::language::Language;
use crate::mall::base::{GuardRefusal, whole_seconds};

/// Returns the message of a refusal.
pub(super) fn of_refusal(refusal: GuardRefusal, l: Language) -> RefusalBody {
    match refusal {
        GuardRefusal::PassRequired => {
            fixed!(l, "PASS_REQUIRED", "请先完成验证，再抢购", "This sale asks for a short check first.")
        }
        GuardRefusal::ChallengeAgain => {
            fixed!(
                l,
                "CHALLENGE_AGAIN",
                "为确保公平，请再验证一次",
                "One more check is needed for this claim."
            )
        }
        GuardRefusal::NotGuarded => {
            fixed!(l, "NOT_GUARDED", "这场秒杀不需要验证", "This sale needs no check.")
        }
        GuardRefusal::KindNotAllowed => fixed!(
            l,
            "KIND_NOT_ALLOWED",
            "这场秒杀不使用这种验证方式",
            "This sale does not accept this kind of check."
        ),
        GuardRefusal::ChallengeFailed => fixed!(
            l,
            "CHALLENGE_FAILED",
            "验证未通过，请再试一次",
            "The check was not passed; try a new one."
        ),
        GuardRefusal::ServiceAway => fixed!(
            l,
            "CHALLENGE_FAILED",
            "人机验证暂时不可用，请换一种方式再验证一次",
            "The CAPTCHA is not available at present; please take another check."
        ),
        GuardRefusal::NoService => fixed!(
            l,
            "NO_CHALLENGE_SERVICE",
            "商城没有接入外部验证服务，请先用--challenge-service配置",
            "The mall has no external challenge service; start it with --challenge-service first."
        ),
        GuardRefusal::AdmissionRequired => {
            fixed!(
                l,
                "ADMISSION_REQUIRED",
                "请先排队，轮到您再抢购",
                "This sale has a queue: wait for your turn first."
            )
        }
        GuardRefusal::NoRoom => {
            fixed!(l, "NO_WAITING_ROOM", "这场秒杀不需要排队", "This sale has no waiting room.")
        }
        GuardRefusal::TooEarly { pass_in } => {
            let span = waiting(whole_seconds(pass_in), l);
            let words = (
                format!("还没到时间，请{span}后再来验证"),
                format!("It is too early: the check opens in {span}."),
            );
            let details = Details { pass_in_ms: Some(millis(pass_in)), ..Details::default() };
            detailed(l, "NOT_OPEN", words, details)
        }
    }
}
