//! Log-ins at a mall by the recipe of its dialect.

use anyhow::{Context as _, bail};
use indicatif::ProgressBar;
use mallbox_storage_production::foreign;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::faults::{DialectError, check_placeholders, check_pointer, check_request};
use super::target::Target;
use super::template::{Placeholder, RequestTemplate, filled, is_header_value};
use crate::bench::load::{Exchanged, exchange};

/// Users logged in together: few enough that no code expires meanwhile.
const BATCH: usize = 1_000;

/// How a user logs in. `{phone}` is the user's phone number, `{code}` the login code.
#[derive(Clone, Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::bench) struct LogInRecipe {
    /// Asks for a login code.
    ask: Option<RequestTemplate>,
    /// Where the code is found.
    code: Option<CodeSource>,
    /// Logs in.
    submit: RequestTemplate,
    /// JSON pointer to the token in the response.
    token: String,
}

/// Where a login code is found: exactly one of the fields.
#[derive(Clone, Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct CodeSource {
    /// Key in the mall's Redis.
    redis: Option<String>,
    /// JSON pointer into the response to `ask`.
    at: Option<String>,
    /// The code itself.
    is: Option<String>,
}

impl LogInRecipe {
    pub(super) fn check(&self) -> Result<(), DialectError> {
        if let Some(ask) = &self.ask {
            check_request("log-in.ask", ask, &[Placeholder::Phone])?;
        }
        check_request("log-in.submit", &self.submit, &[Placeholder::Phone, Placeholder::Code])?;
        check_pointer(&self.token)?;
        match &self.code {
            None => Ok(()),
            Some(CodeSource { redis: Some(key), at: None, is: None }) => {
                check_placeholders("log-in.code", key, &[Placeholder::Phone])
            }
            Some(CodeSource { redis: None, at: Some(pointer), is: None }) => check_pointer(pointer),
            Some(CodeSource { redis: None, at: None, is: Some(_) }) => Ok(()),
            Some(_) => Err(DialectError::NotOneSource { part: "log-in.code", choice: "redis, at, is" }),
        }
    }

    /// Returns whether the codes are read from the mall's Redis.
    pub(in crate::bench) fn needs_redis(&self) -> bool {
        self.code.as_ref().is_some_and(|code| code.redis.is_some())
    }

    /// Logs `users` users in, with the phone numbers 19900000000 and up, and returns their tokens.
    pub(in crate::bench) fn tokens(
        &self,
        target: &Target,
        redis: Option<&str>,
        users: usize,
        bar: &ProgressBar,
    ) -> anyhow::Result<Vec<String>> {
        let mut tokens = Vec::with_capacity(users);
        while tokens.len() < users {
            let last = users.min(tokens.len() + BATCH);
            let phones: Vec<String> = (tokens.len()..last).map(|number| format!("199{number:08}")).collect();
            tokens.extend(self.log_in(target, redis, &phones)?);
            bar.set_position(tokens.len() as u64);
        }
        Ok(tokens)
    }

    fn log_in(&self, target: &Target, redis: Option<&str>, phones: &[String]) -> anyhow::Result<Vec<String>> {
        let asked = match &self.ask {
            Some(ask) => send(target, ask, phones, |phone, _| vec![(Placeholder::Phone, phone)])?,
            None => Vec::new(),
        };
        let codes = self.codes(&asked, redis, phones)?;
        let answers = send(target, &self.submit, phones, |phone, number| {
            vec![
                (Placeholder::Phone, phone),
                (Placeholder::Code, codes.get(number).map_or("", String::as_str)),
            ]
        })?;
        let token = |(phone, answer): (&String, &Exchanged)| {
            let token = text_at(&answer.body, &self.token).with_context(|| {
                format!("the log-in of {phone} has no token at {}: {}", self.token, answer)
            })?;
            if token.is_empty() || !is_header_value(&token) {
                bail!(
                    "the token of {phone} cannot be sent in a header: it has other than visible ASCII characters"
                );
            }
            Ok(token)
        };
        phones.iter().zip(&answers).map(token).collect()
    }

    /// Returns the login codes; none if the log-in needs none.
    fn codes(
        &self,
        asked: &[Exchanged],
        redis: Option<&str>,
        phones: &[String],
    ) -> anyhow::Result<Vec<String>> {
        let missing = |number: usize| match asked.get(number) {
            Some(answer) => {
                format!(
                    "no login code for {}; the request for a code was answered with {answer}",
                    phones[number]
                )
            }
            None => format!("no login code for {}, and the dialect does not ask for one", phones[number]),
        };
        let Some(source) = &self.code else { return Ok(Vec::new()) };
        if let Some(code) = &source.is {
            return Ok(vec![code.clone(); phones.len()]);
        }
        if let Some(pointer) = &source.at {
            let code = |number: usize| {
                let answer = asked.get(number);
                answer.and_then(|answer| text_at(&answer.body, pointer)).with_context(|| missing(number))
            };
            return (0..phones.len()).map(code).collect();
        }
        let (Some(key), Some(redis)) = (&source.redis, redis) else {
            bail!("the login codes are read from the mall's Redis: pass --redis URL");
        };
        let keys: Vec<String> =
            phones.iter().map(|phone| filled(key, &[(Placeholder::Phone, phone.as_str())])).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let codes = runtime.block_on(foreign::read_strings(redis, &keys))?;
        let code = |(number, code): (usize, Option<String>)| {
            code.with_context(|| format!("{} (key {})", missing(number), keys[number]))
        };
        codes.into_iter().enumerate().map(code).collect()
    }
}

/// Sends a request for each phone number. Every request must be answered.
fn send<'a>(
    target: &Target,
    template: &RequestTemplate,
    phones: &'a [String],
    values: impl Fn(&'a str, usize) -> Vec<(Placeholder, &'a str)>,
) -> anyhow::Result<Vec<Exchanged>> {
    let requests = (0..)
        .zip(phones)
        .map(|(number, phone)| template.request(&target.host, &target.prefix, &values(phone, number)));
    let answers = exchange(&target.load(phones.len()), requests.collect())?;
    let answered = |(phone, answer): (&String, Result<Exchanged, _>)| {
        answer.with_context(|| format!("{} {} for {phone}", template.method, template.path))
    };
    phones.iter().zip(answers).map(answered).collect()
}

/// Returns the string or number at a JSON pointer.
fn text_at(body: &[u8], pointer: &str) -> Option<String> {
    match serde_json::from_slice::<Value>(body).ok()?.pointer(pointer)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
