//! The dialect of a mall: how to claim, and what its answers say.

use mallbox_storage::VoucherId;
use serde::{Deserialize, Serialize};

use super::answers::{AnswerRules, Rule};
use super::faults::{DialectError, check_placeholders, check_request, is_path};
use super::log_in::LogInRecipe;
use super::orders::OrdersRecipe;
use super::template::{Placeholder, RequestTemplate};

/// The dialects in the program, by name.
const KNOWN: [(&str, &str); 3] = [
    ("mallbox", include_str!("dialects/mallbox.toml")),
    ("hm-dianping", include_str!("dialects/hm-dianping.toml")),
    ("hm-dianping-go", include_str!("dialects/hm-dianping-go.toml")),
];

/// The dialect of a mall.
#[derive(Clone, Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Dialect {
    /// Comes before every path, unless the target has a path of its own.
    #[serde(default)]
    pub(in crate::bench) prefix: String,
    pub(in crate::bench) claim: RequestTemplate,
    pub(in crate::bench) answers: AnswerRules,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::bench) log_in: Option<LogInRecipe>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::bench) orders: Option<OrdersRecipe>,
}

/// A request, cut in two where the user's token belongs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::bench) struct CutRequest {
    pub(in crate::bench) before: String,
    pub(in crate::bench) after: String,
}

impl Dialect {
    /// Returns the names of the dialects in the program.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        KNOWN.iter().map(|(name, _)| *name).collect()
    }

    /// Returns a dialect in the program by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::parse(Self::text(name)?).ok()
    }

    /// Returns the dialect `mallbox`, without reading its text.
    pub(in crate::bench) fn mallbox() -> Self {
        let contains = |text: &str| vec![Rule { contains: Some(text.to_owned()), ..Rule::default() }];
        Self {
            prefix: "/api".to_owned(),
            claim: RequestTemplate {
                method: "POST".to_owned(),
                path: "/voucher-order/seckill/{sale}".to_owned(),
                headers: [("authorization".to_owned(), "{token}".to_owned())].into(),
                body: String::new(),
            },
            answers: AnswerRules {
                sold_out: contains("SOLD_OUT"),
                already_bought: contains("ALREADY_BOUGHT"),
                accepted: contains(r#""success":true"#),
            },
            log_in: None,
            orders: None,
        }
    }

    /// Returns the text of a dialect in the program, as a model for others.
    #[must_use]
    pub fn text(name: &str) -> Option<&'static str> {
        KNOWN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }

    /// Returns what comes before every path, unless the target has a path of its own.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Reads the text of a dialect.
    ///
    /// # Errors
    /// [`DialectError`] with the first fault.
    pub fn parse(text: &str) -> Result<Self, DialectError> {
        let dialect: Self = toml::from_str(text).map_err(|error| DialectError::Syntax {
            line: error_line(text, &error),
            message: error.message().to_owned(),
        })?;
        dialect.check()?;
        Ok(dialect)
    }

    /// Returns the request for a claim in a sale, for the mall at a host and with a prefix.
    pub(in crate::bench) fn claim(&self, (host, prefix): (&str, &str), sale: VoucherId) -> CutRequest {
        let request = self.claim.request(host, prefix, &[(Placeholder::Sale, &sale.to_string())]);
        let text = String::from_utf8_lossy(&request);
        let (before, after) = text.split_once(Placeholder::Token.word()).unwrap_or((&text, ""));
        CutRequest { before: before.to_owned(), after: after.to_owned() }
    }

    /// Checks a dialect that was not read by [`parse`](Self::parse).
    pub(in crate::bench) fn check(&self) -> Result<(), DialectError> {
        check_placeholders("prefix", &self.prefix, &[])?;
        if !self.prefix.is_empty() && !is_path(&self.prefix) {
            return Err(DialectError::Text { field: "prefix".to_owned(), text: self.prefix.clone() });
        }
        if let Some((list, fault)) = self.answers.fault() {
            return Err(DialectError::Rule { list, fault });
        }
        check_request("claim", &self.claim, &[Placeholder::Sale, Placeholder::Token])?;
        let claim: Vec<&str> = self.claim.texts().collect();
        let occurrences = |placeholder: Placeholder| {
            claim.iter().map(|text| text.matches(placeholder.word()).count()).sum::<usize>()
        };
        // The body's length may not depend on the token: a request is cut in two at the token.
        if occurrences(Placeholder::Token) != 1 || self.claim.body.contains(Placeholder::Token.word()) {
            return Err(DialectError::NotOnce { part: "claim", placeholder: Placeholder::Token.word() });
        }
        if occurrences(Placeholder::Sale) == 0 {
            return Err(DialectError::NotOnce { part: "claim", placeholder: Placeholder::Sale.word() });
        }
        self.log_in.as_ref().map_or(Ok(()), LogInRecipe::check)?;
        self.orders.as_ref().map_or(Ok(()), OrdersRecipe::check)
    }
}

/// Returns the line of an error in TOML, counted from 1.
pub fn error_line(text: &str, error: &toml::de::Error) -> Option<usize> {
    let before = error.span().and_then(|span| text.get(..span.start))?;
    Some(before.matches('\n').count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dialects_in_the_program_can_be_used() {
        for name in Dialect::names() {
            assert!(Dialect::named(name).is_some(), "{name}");
        }
        assert!(Dialect::named("latin").is_none());
        let read = Dialect::named("mallbox").unwrap();
        assert_eq!(format!("{read:?}"), format!("{:?}", Dialect::mallbox()));
    }

    #[test]
    fn a_dialect_survives_being_written_down() {
        for name in Dialect::names() {
            let dialect = Dialect::named(name).unwrap();
            let json = serde_json::to_string(&dialect).unwrap();
            let again: Dialect = serde_json::from_str(&json).unwrap();
            assert_eq!(format!("{again:?}"), format!("{dialect:?}"), "{name}");
        }
    }

    /// A dialect with a claim, and further lines.
    fn with(claim: &str, rest: &str) -> Result<(), DialectError> {
        let answers = "sold-out = []\nalready-bought = []\naccepted = [{ status = 200 }]";
        Dialect::parse(&format!("[claim]\n{claim}\n[answers]\n{answers}\n{rest}")).map(|_| ())
    }

    const CLAIM: &str = "path = '/buy/{sale}'\nheaders = { token = '{token}' }";
    const SUBMIT: &str = "submit = { path = '/login' }\ntoken = '/data'";

    #[test]
    fn faults_name_their_place() {
        let stranger = |part, placeholder| Err(DialectError::Stranger { part, placeholder });
        let not_once = |placeholder| Err(DialectError::NotOnce { part: "claim", placeholder });
        let one_code = DialectError::NotOneSource { part: "log-in.code", choice: "redis, at, is" };
        let one_orders = DialectError::NotOneSource { part: "orders", choice: "sql, http" };
        let text = |field: &str, text: &str| {
            Err(DialectError::Text { field: field.to_owned(), text: text.to_owned() })
        };
        let log_in = |lines: &str| with(CLAIM, &format!("[log-in]\n{lines}"));
        assert_eq!(with(CLAIM, ""), Ok(()));
        assert_eq!(with("path = '/buy/{sale}'", ""), not_once("{token}"));
        assert_eq!(with("path = '/buy/{sale}'\nbody = '{token}'", ""), not_once("{token}"));
        assert_eq!(with("path = '/{token}'\nheaders = { a = '{token}' }", ""), not_once("{token}"));
        assert_eq!(with("path = '/{token}'", ""), not_once("{sale}"));
        assert_eq!(with("path = '/{sale}/{token}/{phone}'", ""), stranger("claim", "{phone}"));
        assert_eq!(with("path = 'buy'", ""), text("claim.path", "buy"));
        assert_eq!(log_in(&format!("code = {{ is = '1' }}\n{SUBMIT}")), Ok(()));
        assert_eq!(log_in(&format!("code = {{}}\n{SUBMIT}")), Err(one_code.clone()));
        assert_eq!(log_in(&format!("code = {{ is = '1', redis = 'a' }}\n{SUBMIT}")), Err(one_code));
        assert_eq!(
            log_in(&format!("code = {{ at = 'data' }}\n{SUBMIT}")),
            Err(DialectError::Pointer("data".into()))
        );
        assert_eq!(
            log_in("submit = { path = '/login/{sale}' }\ntoken = '/data'"),
            stranger("log-in.submit", "{sale}")
        );
        assert_eq!(with(CLAIM, "[orders]"), Err(one_orders));
        assert_eq!(with(CLAIM, "[orders]\nsql = 'SELECT {token}'"), stranger("orders", "{token}"));
        let syntax = Dialect::parse("[claim]\npath = '/'\npaht = 7").map(|_| ()).unwrap_err();
        assert!(
            matches!(&syntax, DialectError::Syntax { line: Some(3), message } if message.contains("paht")),
            "{syntax:?}"
        );
    }
}
