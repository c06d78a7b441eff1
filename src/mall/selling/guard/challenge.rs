//! Challenges: their tokens, and the riddles that tokens stand for.
//!
//! A riddle follows from the token's random number and the mall's key. Nothing is stored, and a client cannot
//! compute the answer from the token.

use std::time::Duration;

use mallbox_storage::{ChallengeKind, ChallengeKinds, Guard, Timestamp};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use tokio::sync::Semaphore;

use super::holder::Holder;
use super::keys::GuardKey;
use super::token::{Fields, Purpose, Token};
use super::work;
use crate::language::Language;
use crate::mall::base::hmac::hmac_sha256;
use crate::mall::base::{Failure, Refusal};
use crate::mall::selling::challenge_service::{ServiceResponse, Widget};
use crate::mall::selling::challenges::{picture, slider};

const BYTES: usize = 28;
/// Lifetime of a challenge.
pub(super) const CHALLENGE_TTL: Duration = Duration::from_secs(120);
/// Longest wait for a turn to draw.
const DRAWING_WAIT_MAX: Duration = Duration::from_millis(500);

/// The kind that joins a guard with nothing but the service: it takes neither sight nor a keyboard.
pub(super) const STAND_IN: ChallengeKind = ChallengeKind::Work;

/// What a visitor has to solve.
#[derive(Debug)]
pub enum Puzzle {
    /// A proof of work.
    Work {
        /// Salt of the hash.
        salt: String,
        /// Leading zero bits that the hash needs.
        bits: u8,
    },
    /// Characters to be typed.
    Picture {
        /// The picture, as PNG.
        png: Vec<u8>,
        /// Number of characters.
        characters: usize,
    },
    /// A piece to be moved to its gap.
    Slider(slider::Drawing),
    /// A check of the external service, which the page loads from there.
    Service(Widget),
}

/// A visitor's answer to a challenge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The number of a proof of work.
    Work(String),
    /// The characters of a picture.
    Text(String),
    /// The place of the piece, and how the pointer got there.
    Slider {
        /// Left edge of the piece, in pixels.
        left: u32,
        /// Samples of the pointer: milliseconds since the press, and pixels to the right and down.
        track: Vec<[i32; 3]>,
    },
    /// What the external service gave to the page.
    Service(ServiceResponse),
}

/// A challenge as its token says it.
pub(super) struct Sealed {
    pub(super) kind: ChallengeKind,
    pub(super) language: Language,
    pub(super) bits: u8,
    pub(super) nonce: [u8; 16],
    pub(super) expires: Timestamp,
    /// Number of the challenge among those that one claim needs, from 1.
    pub(super) round: u8,
}

/// A challenge's token read from a request.
pub(super) struct ChallengeToken(Token<BYTES>);

/// A challenge with its secret: what is needed to draw it, and to judge an answer.
pub(super) struct Riddle {
    kind: ChallengeKind,
    language: Language,
    bits: u8,
    salt: String,
    seed: [u8; 32],
}

impl Sealed {
    /// Writes the token.
    pub(super) fn text(&self, key: &GuardKey, holder: &Holder) -> String {
        let mut fields = [0; BYTES];
        fields[0] = number_of_kind(self.kind);
        fields[1] = u8::from(self.language == Language::En);
        fields[2] = self.bits;
        fields[3..19].copy_from_slice(&self.nonce);
        fields[19..27].copy_from_slice(&self.expires.as_millis().to_be_bytes());
        fields[27] = self.round;
        Token::seal(key, Purpose::Challenge, &fields, &holder.0)
    }

    /// Returns the time from the challenge to an answer at `now`, in milliseconds.
    pub(super) fn solve_ms(&self, now: Timestamp) -> u32 {
        u32::try_from(now.since(self.expires - CHALLENGE_TTL).as_millis()).unwrap_or(u32::MAX)
    }

    /// Returns the riddle behind the token.
    pub(super) fn riddle(&self, key: &GuardKey, holder: &Holder) -> Riddle {
        Riddle {
            kind: self.kind,
            language: self.language,
            bits: self.bits,
            salt: mallbox_storage::hex(&self.nonce),
            seed: hmac_sha256(key.secret(), &[b"riddle", &self.nonce, &holder.0]),
        }
    }
}

impl ChallengeToken {
    /// Reads a token. `None` for a text that is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        Token::parse(text).map(Self)
    }

    /// Returns the id of the token's key.
    pub(super) fn key(&self) -> u32 {
        self.0.key()
    }

    /// Returns the challenge, if the token is genuine and was given to this holder. It may have expired.
    pub(super) fn open(&self, key: &GuardKey, holder: &Holder) -> Option<Sealed> {
        let mut fields = Fields::of(self.0.open(key, Purpose::Challenge, &holder.0)?);
        let [kind, language, bits] = fields.next()?;
        Some(Sealed {
            kind: kind_of_number(kind)?,
            language: if language == 0 { Language::Zh } else { Language::En },
            bits,
            nonce: fields.next()?,
            expires: Timestamp::from_millis(i64::from_be_bytes(fields.next()?)),
            round: u8::from_be_bytes(fields.next()?),
        })
    }
}

/// Returns the number of a kind in tokens, from 1.
pub(super) fn number_of_kind(kind: ChallengeKind) -> u8 {
    match kind {
        ChallengeKind::Picture => 1,
        ChallengeKind::Slider => 2,
        ChallengeKind::Work => 3,
        ChallengeKind::Service => 4,
    }
}

/// Returns the kind of a number in tokens.
pub(super) fn kind_of_number(number: u8) -> Option<ChallengeKind> {
    ChallengeKind::ALL.into_iter().find(|kind| number_of_kind(*kind) == number)
}

impl Answer {
    /// Returns the variation of the pointer's speed of a right answer, in thousandths; `None` without a
    /// track.
    pub(super) fn track_spread(&self) -> Option<u16> {
        match self {
            Self::Slider { track, .. } => slider::track_spread(track),
            _ => None,
        }
    }
}

impl Riddle {
    /// Returns whether an answer solves the riddle. No answer solves a check of the external service, which
    /// judges by itself.
    pub(super) fn is_solved_by(&self, answer: &Answer) -> bool {
        match (self.kind, answer) {
            (ChallengeKind::Work, Answer::Work(number)) => work::is_proof(&self.salt, number, self.bits),
            (ChallengeKind::Picture, Answer::Text(text)) => {
                picture::normalised(text) == picture::normalised(&self.text(&mut self.random()))
            }
            (ChallengeKind::Slider, Answer::Slider { left, track }) => {
                slider::is_solved(slider::Place::draw(&mut self.random()), *left, track)
            }
            _ => false,
        }
    }

    /// Returns an answer that solves the riddle, for tests; an empty response for a check of the external
    /// service.
    pub(super) fn answer(&self) -> Answer {
        match self.kind {
            ChallengeKind::Work => Answer::Work(work::find(&self.salt, self.bits).unwrap_or_default()),
            ChallengeKind::Picture => Answer::Text(self.text(&mut self.random())),
            ChallengeKind::Slider => {
                let (left, track) = slider::solution(slider::Place::draw(&mut self.random()));
                Answer::Slider { left, track }
            }
            ChallengeKind::Service => Answer::Service(ServiceResponse::Token(String::new())),
        }
    }

    fn puzzle(&self) -> Puzzle {
        let mut random = self.random();
        match self.kind {
            // A check of the service is not drawn: see `Guards::puzzle`.
            ChallengeKind::Work | ChallengeKind::Service => {
                Puzzle::Work { salt: self.salt.clone(), bits: self.bits }
            }
            ChallengeKind::Picture => {
                let text = self.text(&mut random);
                Puzzle::Picture { png: picture::draw(&text, &mut random), characters: text.chars().count() }
            }
            ChallengeKind::Slider => {
                let place = slider::Place::draw(&mut random);
                Puzzle::Slider(slider::draw(place, &mut random))
            }
        }
    }

    fn text(&self, random: &mut StdRng) -> String {
        picture::text(self.language, random)
    }

    fn random(&self) -> StdRng {
        StdRng::from_seed(self.seed)
    }
}

/// Returns the kinds whose answers a guard accepts.
pub(super) fn accepted_kinds(guard: &Guard) -> ChallengeKinds {
    if guard.kinds == ChallengeKinds::one(ChallengeKind::Service) {
        return ChallengeKinds::new(&[ChallengeKind::Service, STAND_IN]).unwrap_or(guard.kinds);
    }
    guard.kinds
}

/// Returns the number of threads that draw at once: drawing must not keep claims from the processor.
pub(super) fn drawing_threads() -> usize {
    std::thread::available_parallelism().map_or(1, |threads| threads.get().div_ceil(2))
}

/// Draws a riddle, on a thread that may block.
///
/// # Errors
/// [`Refusal::Busy`] if there is no turn to draw in time.
pub(super) async fn draw(drawing: &Semaphore, riddle: Riddle) -> Result<Puzzle, Failure> {
    if matches!(riddle.kind, ChallengeKind::Work | ChallengeKind::Service) {
        return Ok(riddle.puzzle());
    }
    let Ok(Ok(_turn)) = tokio::time::timeout(DRAWING_WAIT_MAX, drawing.acquire()).await else {
        return Err(Refusal::Busy.into());
    };
    let drawn = tokio::task::spawn_blocking(move || riddle.puzzle()).await;
    drawn.map_err(|ended| Failure::Bug(format!("drawing a challenge failed: {ended}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mall::selling::guard::device::Device;

    fn sealed(kind: ChallengeKind, number: u8) -> Sealed {
        let expires = Timestamp::from_millis(i64::from(number));
        Sealed { kind, language: Language::Zh, bits: 4, nonce: [number; 16], expires, round: number }
    }

    fn holder(user: u64, voucher: u64, device: u8) -> Holder {
        use mallbox_storage::{UserId, VoucherId};
        let device = Device::new([device; 16], Timestamp::from_millis(0));
        Holder::new(UserId::new(user), VoucherId::new(voucher), &device)
    }

    #[test]
    fn a_token_is_read_as_it_was_written_by_its_holder_alone() {
        let key = GuardKey::new(7, b"secret");
        let languages = [Language::Zh, Language::En].into_iter().cycle();
        for (kind, language) in ChallengeKind::ALL.into_iter().zip(languages) {
            let written = Sealed { language, ..sealed(kind, 9) };
            let token = ChallengeToken::parse(&written.text(&key, &holder(1, 2, 3))).unwrap();
            assert_eq!(token.key(), 7);
            let read = token.open(&key, &holder(1, 2, 3)).unwrap();
            assert_eq!(
                (read.kind, read.language, read.bits, read.nonce, read.expires, read.round),
                (kind, language, 4, written.nonce, written.expires, 9)
            );
            for other in [holder(2, 2, 3), holder(1, 3, 3), holder(1, 2, 4)] {
                assert!(token.open(&key, &other).is_none());
            }
        }
    }

    #[test]
    fn a_riddle_takes_its_own_answer_and_no_other() {
        let key = GuardKey::new(7, b"secret");
        let riddles: Vec<Riddle> = ChallengeKind::OWN
            .into_iter()
            .flat_map(|kind| (0..3).map(move |number| sealed(kind, number)))
            .map(|sealed| sealed.riddle(&key, &holder(1, 2, 3)))
            .collect();
        for (asked, riddle) in riddles.iter().enumerate() {
            for (given, other) in riddles.iter().enumerate() {
                let is_solved = riddle.is_solved_by(&other.answer());
                // A proof of four bits may fit another salt by chance: 1 in 16.
                if asked == given || riddle.kind != ChallengeKind::Work || other.kind != ChallengeKind::Work {
                    assert_eq!(is_solved, asked == given, "answer {given} for riddle {asked}");
                }
            }
        }
    }

    #[test]
    fn a_riddle_belongs_to_its_holder_and_key() {
        let text =
            |key: &GuardKey, holder| match sealed(ChallengeKind::Picture, 5).riddle(key, &holder).answer() {
                Answer::Text(text) => text,
                other => panic!("{other:?}"),
            };
        let key = GuardKey::new(7, b"secret");
        let mine = text(&key, holder(1, 2, 3));
        assert_eq!(text(&key, holder(1, 2, 3)), mine);
        assert_ne!(text(&key, holder(2, 2, 3)), mine);
        assert_ne!(text(&GuardKey::new(7, b"other"), holder(1, 2, 3)), mine);
    }
}
