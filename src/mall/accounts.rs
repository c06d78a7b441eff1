//! People: logging in, and what they tell about themselves.

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{
    Card, CodeCheck, CodeIssue, Limit, Page, Pass, Phone, Role, Timestamp, TokenHash, User, UserId,
};
use sha2::{Digest, Sha256};

use super::passwords::Passwords;
use super::sms::{Inbox, SmsSender};
use super::{Context, Failure, Mistake, Random, Refusal, clean_text, wall_time};

/// What somebody logs in with.
#[derive(Clone, Copy)]
pub enum Proof<'a> {
    /// The code that was sent to the phone.
    Code(&'a str),
    /// The password that was set before.
    Password(&'a str),
}

/// A person as others see them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Brief {
    /// Who.
    pub id: UserId,
    /// The name others see.
    pub nick_name: String,
    /// Path of the picture, `""` if none.
    pub icon: String,
}

/// A person's card, with how many follow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FullCard {
    /// Who.
    pub user: UserId,
    /// What they tell about themselves.
    pub card: Card,
    /// How many follow them. 0 as long as the mall has no follows.
    pub fans: u64,
    /// How many they follow. 0 as long as the mall has no follows.
    pub followee: u64,
}

/// What a person changes about themselves: what is `None` stays. Credits and level are not theirs to change.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CardEdit {
    /// The name others see: 1 to 32 characters.
    pub nick_name: Option<String>,
    /// Path of the picture on this mall, `""` for none.
    pub icon: Option<String>,
    /// City, at most 64 characters.
    pub city: Option<String>,
    /// A few words, at most 128 characters.
    pub introduce: Option<String>,
    /// `false` = male, as hm-dianping has it.
    pub gender: Option<bool>,
    /// `2000-01-31`; `""` takes it back.
    pub birthday: Option<String>,
}

/// Logs people in and out, and keeps what they tell about themselves.
pub struct Accounts {
    context: Context,
    random: Arc<Random>,
    passwords: Passwords,
    sms: Arc<dyn SmsSender>,
    inbox: Option<Arc<Inbox>>,
}

/// Passwords tried per phone, right ones included, since a limit on wrong ones would have to be looked at first and
/// counted later, which a crowd of concurrent tries slips through. One more every two minutes.
const PASSWORD_TRIES: Limit = Limit { count: 5, per: Duration::from_secs(600) };

impl Accounts {
    /// `inbox` is what `GET /demo/inbox` reads; `sms` must then send to it too.
    #[must_use]
    pub fn new(
        context: Context,
        random: Arc<Random>,
        sms: Arc<dyn SmsSender>,
        inbox: Option<Arc<Inbox>>,
    ) -> Self {
        Self { context, passwords: Passwords::new(random.clone()), random, sms, inbox }
    }

    /// Sends a login code to a phone.
    ///
    /// The code is stored before it is sent. If sending fails, that code still counts for the limits: the next one
    /// can be asked for after the usual gap, since the gateway may have taken this one.
    ///
    /// # Errors
    /// [`Mistake::Phone`]; [`Mistake::CodeTooSoon`] with the seconds to wait; [`Refusal::Busy`] if sending failed.
    pub async fn send_code(&self, phone: &str, now: Timestamp) -> Result<(), Failure> {
        let phone = Phone::parse(phone).ok_or(Mistake::Phone)?;
        let code = self.random.code();
        let rules = &self.context.settings.codes;
        match self.context.storage.sessions.issue_code(&phone, &code, rules, now).await? {
            CodeIssue::Issued => {}
            CodeIssue::TooSoon { retry_after } | CodeIssue::TooMany { retry_after } => {
                return Err(Mistake::CodeTooSoon(whole_seconds(retry_after)).into());
            }
        }
        self.sms.send(&phone, &code).await.map_err(|error| {
            tracing::error!(%error, "a login code could not be sent");
            Refusal::Busy.into()
        })
    }

    /// Begins a session and answers its token.
    ///
    /// A phone that nobody has becomes a new user if the code is right. A code is used up by being right, whatever
    /// happens after. A phone without a user or without a password is refused like a wrong password, and as slowly.
    ///
    /// # Errors
    /// [`Mistake::Phone`], [`Mistake::Code`], [`Mistake::NoCode`], [`Mistake::Password`];
    /// [`Refusal::RateLimited`] for too many passwords tried.
    pub async fn log_in(&self, phone: &str, proof: Proof<'_>, now: Timestamp) -> Result<String, Failure> {
        let phone = Phone::parse(phone).ok_or(Mistake::Phone)?;
        let user = match proof {
            Proof::Code(code) => self.user_by_code(&phone, code, now).await?,
            Proof::Password(password) => self.user_by_password(&phone, password, now).await?,
        };
        let token = self.random.token();
        let ttl = self.context.settings.session_ttl;
        self.context.storage.sessions.begin(hash_of(&token), user, ttl, now).await?;
        Ok(token)
    }

    async fn user_by_code(&self, phone: &Phone, code: &str, now: Timestamp) -> Result<UserId, Failure> {
        let storage = &self.context.storage;
        match storage.sessions.check_code(phone, code, &self.context.settings.codes, now).await? {
            CodeCheck::Right => {}
            CodeCheck::Wrong => return Err(Mistake::Code.into()),
            CodeCheck::NoCode => return Err(Mistake::NoCode.into()),
        }
        Ok(storage.users.find_or_create(phone, &self.random.nick_name(), now).await?.id)
    }

    async fn user_by_password(
        &self,
        phone: &Phone,
        password: &str,
        now: Timestamp,
    ) -> Result<UserId, Failure> {
        self.count_password_try(phone, now).await?;
        let user = self.context.storage.users.by_phone(phone).await?.map(|user| user.id);
        // Ids begin with 1: the look-up of nobody's password takes the time of anybody's.
        let stored = self.context.storage.users.password(user.unwrap_or(UserId::new(0))).await?;
        let right = self.passwords.matches(password, stored).await?;
        user.filter(|_| right).ok_or_else(|| Mistake::Password.into())
    }

    async fn count_password_try(&self, phone: &Phone, now: Timestamp) -> Result<(), Failure> {
        let key = format!("password:{}", phone.as_str());
        match self.context.storage.rate_limits.pass(&key, PASSWORD_TRIES, now).await? {
            Pass::Allowed => Ok(()),
            Pass::Refused { retry_after } => Err(Refusal::RateLimited { retry_after }.into()),
        }
    }

    /// Ends a session; no error if there is none.
    ///
    /// # Errors
    /// Only if the store is in trouble: the session may then still be live.
    pub async fn log_out(&self, token: &str) -> Result<(), Failure> {
        if is_token(token) {
            self.context.storage.sessions.end(hash_of(token)).await?;
        }
        Ok(())
    }

    /// Whose live session this is, extended by the call. A dead, unknown or malformed token is nobody's.
    ///
    /// Every request with a token comes through here: one SHA-256 and one look-up in memory.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn who(&self, token: &str, now: Timestamp) -> Result<Option<UserId>, Failure> {
        if !is_token(token) {
            return Ok(None);
        }
        let ttl = self.context.settings.session_ttl;
        Ok(self.context.storage.sessions.find(hash_of(token), ttl, now).await?)
    }

    /// A user as others see them; `None` for no user.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn brief(&self, user: UserId) -> Result<Option<Brief>, Failure> {
        let user = self.context.storage.users.get(user).await?;
        Ok(user.map(|user| Brief { id: user.id, nick_name: user.nick_name, icon: user.icon }))
    }

    /// A user's card; `None` for no user.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn card(&self, user: UserId) -> Result<Option<FullCard>, Failure> {
        let card = self.context.storage.users.card(user).await?;
        Ok(card.map(|card| FullCard { user, card, fans: 0, followee: 0 }))
    }

    /// Changes one's name, picture and card. Markup is taken out of the texts.
    ///
    /// # Errors
    /// [`Mistake::Missing`] for an empty name, [`Mistake::OutOfRange`] with the value's name; nothing changed then.
    pub async fn put_card(&self, user: UserId, edit: &CardEdit, now: Timestamp) -> Result<(), Failure> {
        let users = &self.context.storage.users;
        let (Some(mut is), Some(mut card)) = (users.get(user).await?, users.card(user).await?) else {
            return Err(Refusal::NotFound("user").into());
        };
        if let Some(name) = &edit.nick_name {
            is.nick_name = text_within("nickName", clean_text::line(name), 32)?;
            if is.nick_name.is_empty() {
                return Err(Mistake::Missing("nickName").into());
            }
        }
        if let Some(icon) = &edit.icon {
            is.icon = picture_path(icon)?.to_owned();
        }
        if let Some(city) = &edit.city {
            card.city = text_within("city", clean_text::line(city), 64)?;
        }
        if let Some(introduce) = &edit.introduce {
            card.introduce = text_within("introduce", clean_text::lines(introduce), 128)?;
        }
        card.gender = edit.gender.unwrap_or(card.gender);
        if let Some(birthday) = &edit.birthday {
            card.birthday = self.birthday(birthday, now)?;
        }
        if !users.put_card(user, &is.nick_name, &is.icon, &card, now).await? {
            return Err(Refusal::NotFound("user").into());
        }
        Ok(())
    }

    fn birthday(&self, text: &str, now: Timestamp) -> Result<Option<String>, Mistake> {
        if text.is_empty() {
            return Ok(None);
        }
        let today = wall_time::day(now, &self.context.zone);
        // Both have four digits, two and two: they sort as they follow each other.
        if !wall_time::is_day(text) || *text > *today {
            return Err(Mistake::OutOfRange("birthday"));
        }
        Ok(Some(text.to_owned()))
    }

    /// Sets a password. Who has one already must give it; tries are limited like those of logging in.
    ///
    /// # Errors
    /// [`Mistake::PasswordLength`]; [`Mistake::Password`] if the old one is missing or wrong.
    pub async fn set_password(
        &self,
        user: UserId,
        old: Option<&str>,
        new: &str,
        now: Timestamp,
    ) -> Result<(), Failure> {
        Passwords::check_length(new)?;
        let users = &self.context.storage.users;
        let is = users.get(user).await?.ok_or(Refusal::NotFound("user"))?;
        let stored = users.password(user).await?.filter(|stored| Passwords::is_hash(stored));
        if stored.is_some() {
            let old = old.ok_or(Mistake::Password)?;
            self.count_password_try(&is.phone, now).await?;
            if !self.passwords.matches(old, stored).await? {
                return Err(Mistake::Password.into());
            }
        }
        let hash = self.passwords.hash(new).await?;
        if !users.put_password(user, &hash, now).await? {
            return Err(Refusal::NotFound("user").into());
        }
        Ok(())
    }

    /// What a user may do, as the record has it now; a customer's rights for no user.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn role(&self, user: UserId) -> Result<Role, Failure> {
        Ok(self.context.storage.users.get(user).await?.map_or(Role::Customer, |user| user.role))
    }

    /// The last code that was sent to a phone; `None` if there was none, or if this mall has no inbox.
    ///
    /// # Errors
    /// [`Mistake::Phone`].
    pub fn inbox(&self, phone: &str) -> Result<Option<String>, Failure> {
        let phone = Phone::parse(phone).ok_or(Mistake::Phone)?;
        Ok(self.inbox.as_ref().and_then(|inbox| inbox.last(&phone)))
    }

    /// Makes the user with this phone an operator. A phone that nobody has becomes a user first, so that a new
    /// mall's operator can be named before their first login.
    ///
    /// # Errors
    /// [`Mistake::Phone`].
    pub async fn grant(&self, phone: &str, now: Timestamp) -> Result<User, Failure> {
        let phone = Phone::parse(phone).ok_or(Mistake::Phone)?;
        let users = &self.context.storage.users;
        let user = users.find_or_create(&phone, &self.random.nick_name(), now).await?;
        users.put_role(user.id, Role::Operator, now).await?;
        Ok(User { role: Role::Operator, ..user })
    }

    /// Takes the operator's role from the user with this phone. Works at their next request.
    ///
    /// # Errors
    /// [`Mistake::Phone`]; [`Refusal::NotFound`] if nobody has it.
    pub async fn revoke(&self, phone: &str, now: Timestamp) -> Result<User, Failure> {
        let phone = Phone::parse(phone).ok_or(Mistake::Phone)?;
        let users = &self.context.storage.users;
        let user = users.by_phone(&phone).await?.ok_or(Refusal::NotFound("user"))?;
        users.put_role(user.id, Role::Customer, now).await?;
        Ok(User { role: Role::Customer, ..user })
    }

    /// All users by id, or those of one role.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn list(&self, role: Option<Role>, page: Page) -> Result<Vec<User>, Failure> {
        Ok(self.context.storage.users.list(role, page).await?)
    }

    /// Ends every session of a user and answers how many there were.
    ///
    /// # Errors
    /// Only if the store is in trouble: some may then still be live.
    pub async fn end_sessions(&self, user: UserId) -> Result<u64, Failure> {
        Ok(self.context.storage.sessions.end_all(user).await?)
    }
}

/// Whether this has the form of a token: 48 hexadecimal digits in lower case.
fn is_token(text: &str) -> bool {
    text.len() == 48 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn hash_of(token: &str) -> TokenHash {
    TokenHash(Sha256::digest(token.as_bytes()).into())
}

/// Rounded up, so that who waits so long waits long enough.
fn whole_seconds(span: Duration) -> u64 {
    span.as_secs() + u64::from(span.subsec_nanos() > 0)
}

fn text_within(name: &'static str, text: String, most: usize) -> Result<String, Mistake> {
    if text.chars().count() <= most { Ok(text) } else { Err(Mistake::OutOfRange(name)) }
}

/// A path on this mall, or `""`. Not an address elsewhere: every reader's browser would call there.
fn picture_path(text: &str) -> Result<&str, Mistake> {
    let elsewhere = text.starts_with("//") || !(text.is_empty() || text.starts_with('/'));
    let odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '"' | '\'' | '\\');
    if elsewhere || text.contains(odd) || text.chars().count() > 255 {
        return Err(Mistake::OutOfRange("icon"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_one_form() {
        let token = Random::seeded(3).token();
        assert!(is_token(&token));
        for bad in [
            "",
            "x",
            &token[1..],
            &format!("{token}0"),
            &token.replace(char::is_alphanumeric, "A"),
            &"é".repeat(24),
        ] {
            assert!(!is_token(bad), "{bad}");
        }
    }

    #[test]
    fn seconds_to_wait_are_rounded_up() {
        assert_eq!(whole_seconds(Duration::from_millis(54_001)), 55);
        assert_eq!(whole_seconds(Duration::from_secs(55)), 55);
        assert_eq!(whole_seconds(Duration::ZERO), 0);
    }

    #[test]
    fn pictures_are_paths_on_this_mall() {
        for good in ["", "/imgs/icons/a.jpg", "/imgs//types/ms.png"] {
            assert_eq!(picture_path(good), Ok(good));
        }
        for bad in [
            "//evil.example/a.png",
            "http://evil.example/a.png",
            "a.png",
            "/a b.png",
            "/a\"onerror=x",
            "javascript:x",
        ] {
            assert_eq!(picture_path(bad), Err(Mistake::OutOfRange("icon")), "{bad}");
        }
        assert!(picture_path(&format!("/{}", "x".repeat(255))).is_err());
    }
}
