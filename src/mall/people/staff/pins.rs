//! PINs: their form, and the form in which they are stored.

use std::fmt;

use mallbox_storage::{StoreError, hex};
use tokio::sync::OnceCell;

use crate::mall::base::hmac::hmac_sha256;
use crate::mall::base::kept_secret::kept_secret;
use crate::mall::base::{Context, Failure, Random, StaffRefusal};
use crate::mall::people::Passwords;
use crate::mall::people::passwords::Priority;

/// Setting with the secret of the stored PINs.
const SECRET: &str = "staff pin secret";

/// A secret outside of the database that stored PINs depend on; empty if there is none.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct StaffKey(String);

impl StaffKey {
    /// Shortest secret, in characters: nobody finds one by trying.
    pub const SECRET_MIN_CHARS: usize = 16;

    /// Wraps a secret. All instances of a mall must have the same.
    #[must_use]
    pub fn new(secret: String) -> Self {
        Self(secret)
    }
}

/// A text in the form of a PIN: 6 to 12 digits.
#[derive(Clone, PartialEq, Eq)]
pub struct Pin(String);

impl fmt::Debug for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pin(…)")
    }
}

impl Pin {
    /// Reads a typed PIN; `None` for anything but 6 to 12 digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_pin = (6..=12).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        is_pin.then(|| Self(text.to_owned()))
    }

    /// Returns whether the PIN is among the first that anybody tries: few different digits, a run up or down,
    /// a repeated block, a date of the years 1900 to 2099, or a date with two digits of the year.
    fn is_guessable(&self) -> bool {
        let digits = self.0.as_bytes();
        let mut different = digits.to_vec();
        different.sort_unstable();
        different.dedup();
        let runs = |step: fn(u8) -> u8| {
            let wrapped = |digit: u8| b'0' + step(digit - b'0') % 10;
            digits.windows(2).all(|pair| wrapped(pair[0]) == pair[1])
        };
        let is_repeated = |block: usize| {
            digits.len().is_multiple_of(block) && digits.chunks(block).all(|part| part == &digits[..block])
        };
        let is_year = |digits: &[u8]| digits.starts_with(b"19") || digits.starts_with(b"20");
        let is_date = match digits.len() {
            6 => is_short_date(digits),
            8 => is_year(digits) || is_year(&digits[4..]),
            _ => false,
        };
        different.len() < 3
            || runs(|digit| digit + 1)
            || runs(|digit| digit + 9)
            || (1..=4).any(is_repeated)
            || is_date
    }
}

/// Returns whether six digits are a date: year, month and day, or day, month and year, or month, day and
/// year.
fn is_short_date(digits: &[u8]) -> bool {
    let pair = |at: usize| (digits[at] - b'0') * 10 + (digits[at + 1] - b'0');
    let is_day = |month: u8, day: u8| match month {
        2 => (1..=29).contains(&day),
        4 | 6 | 9 | 11 => (1..=30).contains(&day),
        1..=12 => (1..=31).contains(&day),
        _ => false,
    };
    let (first, second, third) = (pair(0), pair(2), pair(4));
    is_day(second, third) || is_day(second, first) || is_day(first, second)
}

/// The PIN of a new person, or a person's new PIN.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NewPin {
    /// Chosen by the person.
    Chosen(Pin),
    /// Made by the mall.
    Made(Pin),
}

impl NewPin {
    /// Takes a chosen PIN, or makes one of eight digits.
    ///
    /// # Errors
    /// [`StaffRefusal::PinForm`]; [`StaffRefusal::PinGuessable`].
    pub fn of(chosen: Option<&str>, random: &Random) -> Result<Self, StaffRefusal> {
        let Some(chosen) = chosen else {
            // One of 25 made PINs could be a date.
            let made = std::iter::repeat_with(|| Pin(random.pin())).find(|pin| !pin.is_guessable());
            return made.map(Self::Made).ok_or(StaffRefusal::PinForm);
        };
        let pin = Pin::parse(chosen).ok_or(StaffRefusal::PinForm)?;
        if pin.is_guessable() { Err(StaffRefusal::PinGuessable) } else { Ok(Self::Chosen(pin)) }
    }

    /// Returns the PIN.
    #[must_use]
    pub fn pin(&self) -> &Pin {
        match self {
            Self::Chosen(pin) | Self::Made(pin) => pin,
        }
    }

    /// Returns the digits to be shown once: those of a made PIN. A chosen one is known already.
    #[must_use]
    pub fn shown(&self) -> Option<&str> {
        match self {
            Self::Chosen(_) => None,
            Self::Made(pin) => Some(&pin.0),
        }
    }
}

/// Computes the stored form of PINs.
pub(super) struct PinHasher {
    context: Context,
    passwords: Passwords,
    key: StaffKey,
    secret: OnceCell<String>,
}

impl PinHasher {
    pub(super) fn new(context: Context, passwords: Passwords, key: StaffKey) -> Self {
        Self { context, passwords, key, secret: OnceCell::new() }
    }

    /// Returns the stored form of a PIN, in hexadecimal: equal PINs have equal forms, since a PIN alone names
    /// its person. Costs one hash of a password.
    ///
    /// # Errors
    /// [`Refusal::Busy`](crate::mall::Refusal::Busy) if no slot for a hash becomes free in time;
    /// [`Failure::Store`] if the secret cannot be read.
    pub(super) async fn hash(&self, pin: &Pin) -> Result<String, Failure> {
        let secret = self.secret().await?.as_bytes();
        // Under two keys, of which the second need not be in the database.
        let keyed = hmac_sha256(secret, &[b"pin of staff:", pin.0.as_bytes()]);
        let keyed = hmac_sha256(self.key.0.as_bytes(), &[&keyed]);
        let mut salt = [0; 16];
        salt.iter_mut().zip(hmac_sha256(secret, &[b"salt of pins"])).for_each(|(to, from)| *to = from);
        let slow = self.passwords.stretched(keyed, salt, Priority::Known).await?;
        Ok(hex(&hmac_sha256(secret, &[b"stored pin:", &slow])))
    }

    async fn secret(&self) -> Result<&String, StoreError> {
        let upkeep = &*self.context.storage.base.upkeep;
        // Not from the mall's generator: a test that knows the seed expects the tokens in order.
        self.secret.get_or_try_init(|| kept_secret(upkeep, SECRET, || Random::system().secret())).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_is_six_to_twelve_digits() {
        for good in ["482913", "000123", "482913482914"] {
            assert!(Pin::parse(good).is_some(), "{good}");
        }
        for bad in ["", "48291", "4829134829134", "48291a", " 482913", "482 913", "４８２９１３", "-48291"]
        {
            assert!(Pin::parse(bad).is_none(), "{bad}");
        }
        assert_eq!(format!("{:?}", Pin::parse("482913").unwrap()), "Pin(…)", "no log shows a PIN");
    }

    #[test]
    fn pins_that_anybody_tries_first_are_refused() {
        let random = Random::seeded(1);
        let outcome = |chosen: &str| NewPin::of(Some(chosen), &random).map(|pin| pin.shown().is_some());
        for bad in [
            "000000",
            "112211",
            "123456",
            "654321",
            "890123",
            "210987",
            "482482",
            "48294829",
            "19881224",
            "24121988",
            "123123123",
            "881224",
            "241288",
            "122488",
            "010203",
            "290204",
        ] {
            assert_eq!(outcome(bad), Err(StaffRefusal::PinGuessable), "{bad}");
        }
        for good in ["482913", "135791", "881324", "300288", "48291357"] {
            assert_eq!(outcome(good), Ok(false), "{good}");
        }
        assert_eq!(outcome("4829"), Err(StaffRefusal::PinForm));
        let made = NewPin::of(None, &random).unwrap();
        assert!(made.shown().is_some_and(|digits| digits.len() == 8), "{:?}", made.shown());
    }
}
