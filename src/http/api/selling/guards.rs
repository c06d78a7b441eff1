//! Challenges and passes of guarded sales: `/sale/{id}/challenge`, `/sale/{id}/pass`.

use axum::extract::State;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mallbox_storage::{ChallengeKind, Guard, VoucherId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Json, JsonIfAny, Login, Now, Path};
use crate::http::request::guard_headers::FromDevice;
use crate::http::response::envelope::{Answer, Reply};
use crate::http::response::messages::millis;
use crate::language::{Language, both};
use crate::mall::Refusal;
use crate::mall::base::{Failure, GuardRefusal};
use crate::mall::selling::challenge_service::Widget;
use crate::mall::selling::guard::{self, Challenge, IssuedPass, Puzzle};

/// Maximum number of samples of a pointer.
const TRACK_MAX: usize = 500;

/// Returns the routes of challenges and passes.
pub fn routes() -> Calls {
    Calls::of(both("秒杀", "Flash sales"))
        .post("/sale/{voucherId}/challenge", challenge, both("领取验证题", "A challenge of a guarded sale"))
        .explained(both(
            "只有设了防护的秒杀（`guarded`）才需要。每题只能答一次，两分钟内有效。请保存`deviceTicket`，\
                之后放在请求头`x-device-ticket`里。开抢一分多钟之前返回`NOT_OPEN`。",
            "Only for sales with a guard (`guarded`). A challenge takes one answer within two minutes. Keep \
                `deviceTicket` and send it as the header `x-device-ticket` from then on. Refused with \
                `NOT_OPEN` until about a minute before the begin.",
        ))
        .post("/sale/{voucherId}/pass", pass, both("提交答案，换取通行码", "A pass for the answer to a challenge"))
        .explained(both(
            "通行码放在抢购请求的请求头`x-sale-pass`里，抢到才算用掉。`NOT_OPEN`表示还没到发放时间，\
                `passInMs`毫秒后用同一个答案再来；`CHALLENGE_FAILED`表示须另取一题。",
            "Send the pass as the header `x-sale-pass` of the claim; only a unit uses it up. After `NOT_OPEN` \
                send the same answer again in `passInMs` milliseconds; after `CHALLENGE_FAILED` ask for \
                another challenge.",
        ))
}

#[derive(Deserialize, Default, JsonSchema)]
struct ChallengeBody {
    /// `picture`, `slider`, `work` or `service`; default: the kind that the sale prefers.
    #[schemars(example = &"picture")]
    kind: Option<String>,
}

/// A challenge. One of `picture`, `slider`, `work` and `service` is there.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ChallengeAnswer {
    /// To be sent with the answer.
    challenge: String,
    /// `picture`, `slider`, `work` or `service`. While the external service is away, another kind comes in
    /// place of `service`.
    #[schemars(example = &"picture")]
    kind: &'static str,
    /// Kinds that can be asked for instead, in the order of the sale's preference.
    kinds: Vec<&'static str>,
    #[schemars(example = 120_000)]
    expires_in_ms: u64,
    /// The ticket of the client's device, to be kept.
    device_ticket: String,
    /// Milliseconds until passes are issued; 0 = now.
    pass_in_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    work: Option<WorkAnswer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    picture: Option<PictureAnswer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    slider: Option<SliderAnswer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<ServiceAnswer>,
}

/// A check of an external service, shown by the service's script.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ServiceAnswer {
    /// `hcaptcha`, `turnstile` or `geetest`.
    #[schemars(example = &"turnstile")]
    name: &'static str,
    /// Public key of the site at the service; GeeTest calls it `captchaId`.
    site_key: String,
    /// URL of the service's script.
    script_url: String,
}

/// A proof of work: find a number for which SHA-256 of `salt:number` begins with `bits` zero bits.
#[derive(Serialize, JsonSchema)]
struct WorkAnswer {
    salt: String,
    #[schemars(example = 18)]
    bits: u8,
}

/// Characters to be typed.
#[derive(Serialize, JsonSchema)]
struct PictureAnswer {
    /// The picture as a `data:` URL.
    image: String,
    width: u32,
    height: u32,
    characters: usize,
}

/// A piece to be moved to its gap. Lengths in pixels of the background.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SliderAnswer {
    /// The picture with the gap as a `data:` URL.
    background: String,
    /// The piece as a `data:` URL.
    piece: String,
    width: u32,
    height: u32,
    piece_width: u32,
    piece_height: u32,
    /// Distance of the piece from the top.
    top: u32,
}

#[derive(Deserialize, JsonSchema)]
struct PassBody {
    /// `challenge` of the response to the call for a challenge.
    challenge: String,
    answer: AnswerBody,
}

/// The answer to a challenge: `work`, or `text`, or `left` and `track`, or `response`, or `geetest`.
#[derive(Deserialize, JsonSchema)]
struct AnswerBody {
    /// The number of a proof of work.
    #[schemars(example = &"48213")]
    work: Option<String>,
    /// The characters of a picture; spaces and case do not count.
    #[schemars(example = &"7kmhx")]
    text: Option<String>,
    /// Left edge of the piece, in pixels of the background.
    #[schemars(example = 143)]
    left: Option<u32>,
    /// Samples of the pointer, at most 500: milliseconds since the press, pixels to the right, pixels down.
    track: Option<Vec<[i32; 3]>>,
    /// The response token of hCaptcha or Turnstile.
    response: Option<String>,
    /// The result of GeeTest's `getValidate()`.
    geetest: Option<GeeTestBody>,
}

/// The result of GeeTest's `getValidate()`. Other fields are ignored.
#[derive(Deserialize, JsonSchema)]
struct GeeTestBody {
    lot_number: String,
    captcha_output: String,
    pass_token: String,
    gen_time: String,
}

impl From<GeeTestBody> for guard::ServiceResponse {
    fn from(body: GeeTestBody) -> Self {
        let GeeTestBody { lot_number, captcha_output, pass_token, gen_time } = body;
        Self::GeeTest(guard::GeeTestResponse { lot_number, captcha_output, pass_token, gen_time })
    }
}

impl AnswerBody {
    fn answer(self) -> Result<guard::Answer, Refusal> {
        let Self { work, text, left, track, response, geetest } = self;
        match (work, text, (left, track), response, geetest) {
            (Some(number), None, (None, None), None, None) => Ok(guard::Answer::Work(number)),
            (None, Some(text), (None, None), None, None) => Ok(guard::Answer::Text(text)),
            (None, None, (Some(left), Some(track)), None, None) if track.len() <= TRACK_MAX => {
                Ok(guard::Answer::Slider { left, track })
            }
            (None, None, (None, None), Some(token), None) => {
                Ok(guard::Answer::Service(guard::ServiceResponse::Token(token)))
            }
            (None, None, (None, None), None, Some(result)) => Ok(guard::Answer::Service(result.into())),
            _ => Err(Refusal::BadValue("answer")),
        }
    }
}

/// A pass.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PassAnswer {
    /// To be sent as the header `x-sale-pass` of the claim.
    pass: String,
    #[schemars(example = 60_000)]
    expires_in_ms: u64,
}

/// The guard of a sale, for its page.
#[derive(Serialize, JsonSchema)]
pub(super) struct PageGuard {
    /// Kinds of challenges, in the order of the sale's preference.
    kinds: Vec<&'static str>,
}

impl PageGuard {
    pub(super) fn new(guard: &Guard) -> Self {
        Self { kinds: names(guard) }
    }
}

/// Returns the names of the kinds of challenges that a sale accepts.
pub(in crate::http) fn names(guard: &Guard) -> Vec<&'static str> {
    guard.kinds.iter().map(ChallengeKind::name).collect()
}

fn data_url(png: &[u8]) -> String {
    format!("data:image/png;base64,{}", STANDARD.encode(png))
}

impl ChallengeAnswer {
    fn new(challenge: Challenge) -> Self {
        let Challenge { token, puzzle, guard, expires_in, device_ticket, pass_in } = challenge;
        let (mut work, mut picture, mut slider, mut service) = (None, None, None, None);
        let kind = match puzzle {
            Puzzle::Work { salt, bits } => {
                work = Some(WorkAnswer { salt, bits });
                ChallengeKind::Work
            }
            Puzzle::Picture { png, characters } => {
                let (width, height) = guard::PICTURE_SIZE;
                picture = Some(PictureAnswer { image: data_url(&png), width, height, characters });
                ChallengeKind::Picture
            }
            Puzzle::Slider(drawing) => {
                let (width, height) = guard::SLIDER_SIZE;
                let (piece_width, piece_height) = guard::PIECE_SIZE;
                slider = Some(SliderAnswer {
                    background: data_url(&drawing.background),
                    piece: data_url(&drawing.piece),
                    width,
                    height,
                    piece_width,
                    piece_height,
                    top: drawing.top,
                });
                ChallengeKind::Slider
            }
            Puzzle::Service(Widget { service: name, site_key, script_url }) => {
                service = Some(ServiceAnswer { name, site_key, script_url });
                ChallengeKind::Service
            }
        };
        Self {
            challenge: token,
            kind: kind.name(),
            kinds: names(&guard),
            expires_in_ms: millis(expires_in),
            device_ticket,
            pass_in_ms: millis(pass_in),
            work,
            picture,
            slider,
            service,
        }
    }
}

async fn challenge(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    device: FromDevice,
    Path(voucher): Path<u64>,
    JsonIfAny(body): JsonIfAny<ChallengeBody>,
) -> Reply<ChallengeAnswer> {
    let wanted = match body.kind {
        None => None,
        Some(name) => {
            Some(ChallengeKind::of_name(&name).ok_or_else(|| Failure::from(GuardRefusal::KindNotAllowed))?)
        }
    };
    let spoken = (Language::current(), now);
    let challenge =
        app.sales.challenge(device.visitor(user), VoucherId::new(voucher), wanted, spoken).await?;
    Ok(Answer::ok(ChallengeAnswer::new(challenge)))
}

async fn pass(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    device: FromDevice,
    Path(voucher): Path<u64>,
    Json(body): Json<PassBody>,
) -> Reply<PassAnswer> {
    let answer = body.answer.answer()?;
    let solved = (body.challenge.as_str(), &answer);
    let IssuedPass { pass, expires_in } =
        app.sales.pass(device.visitor(user), VoucherId::new(voucher), solved, now).await?;
    Ok(Answer::ok(PassAnswer { pass, expires_in_ms: millis(expires_in) }))
}
