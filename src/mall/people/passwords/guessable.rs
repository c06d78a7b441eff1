//! Passwords that are guessed first.

use zxcvbn::{Score, zxcvbn};

use crate::mall::base::InputError;

/// Words that everybody who attacks this mall tries first, besides what belongs to the user.
const LOCAL_WORDS: [&str; 10] = [
    "mallbox",
    "dianping",
    "heimadianping",
    "operator",
    "kiosk",
    "miaosha",
    // Words and numbers of love: among the commonest passwords in Chinese, and missing from lists in English.
    "woaini",
    "5201314",
    "1314520",
    "1314521",
];

/// Refuses a new password that falls within a million guesses: the commonest passwords and their usual
/// changes, rows of keys, dates, repetitions, and words from `own` (phone number, name) or the mall's name.
///
/// Takes about a millisecond. Sets no rule about kinds of characters.
///
/// # Errors
/// [`InputError::PasswordGuessable`].
pub(super) fn check(password: &str, own: &[&str]) -> Result<(), InputError> {
    let known: Vec<&str> = own.iter().chain(&LOCAL_WORDS).copied().collect();
    // The score is 0 or 1 below 10^6 guesses.
    if zxcvbn(password, &known).score() >= Score::Two { Ok(()) } else { Err(InputError::PasswordGuessable) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_guessed_first_is_refused() {
        for bad in [
            "12345678",
            "password",
            "Passw0rd!",
            "iloveyou1",
            "qwertyuiop",
            "1qaz2wsx",
            "aaaaaaaaaaaa",
            "19900101",
            "5201314520",
            "woaini1314",
            "mallbox1",
            "Mallbox2026",
            "dianping123",
        ] {
            assert_eq!(check(bad, &[]), Err(InputError::PasswordGuessable), "{bad}");
        }
    }

    #[test]
    fn what_belongs_to_the_user_is_refused_to_that_user_only() {
        let own = ["13987612345", "xiaoyu_hangzhou"];
        for bad in ["13987612345", "xiaoyu_hangzhou", "Xiaoyu_hangzhou1"] {
            assert_eq!(check(bad, &own), Err(InputError::PasswordGuessable), "{bad}");
            assert_eq!(check(bad, &[]), Ok(()), "{bad}");
        }
    }

    #[test]
    fn long_phrases_of_any_script_are_taken() {
        for good in
            ["correct horse", "battery staple", "八个汉字也是密码", "k7#Vq2!m", "mallbox is where I shop"]
        {
            assert_eq!(check(good, &["13987612345"]), Ok(()), "{good}");
        }
        assert_eq!(check(&"四十个字的密码也行吗".repeat(7), &[]), Ok(()));
    }
}
