//! Thresholds of a sale: whom it is for, besides the member level.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Thresholds of a sale. Claims of users below are refused.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Thresholds {
    /// Least age of the account, in hours.
    pub account_hours: u16,
    /// Whether the session has to be one that began with an SMS code.
    pub sms_code: bool,
}

impl Thresholds {
    /// Returns the thresholds unless they let everybody pass.
    #[must_use]
    pub fn unless_none(self) -> Option<Self> {
        (self != Self::default()).then_some(self)
    }

    /// Returns the least age of the account.
    #[must_use]
    pub fn account_age(&self) -> Duration {
        Duration::from_secs(3_600) * u32::from(self.account_hours)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::SaleSetting as _;

    #[test]
    fn thresholds_are_stored_as_text_by_names() {
        let thresholds = Thresholds { account_hours: 72, sms_code: true };
        let text = r#"{"accountHours":72,"smsCode":true}"#;
        assert_eq!((thresholds.to_row(), Thresholds::in_row(text)), (text.to_owned(), Some(thresholds)));
        for wrong in [r#"{"accountHours":72}"#, r#"{"accountHours":-1,"smsCode":true}"#, ""] {
            assert_eq!(Thresholds::in_row(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn thresholds_that_everybody_passes_are_none() {
        assert_eq!(Thresholds::default().unless_none(), None);
        for thresholds in [
            Thresholds { account_hours: 1, sms_code: false },
            Thresholds { account_hours: 0, sms_code: true },
        ] {
            assert_eq!(thresholds.unless_none(), Some(thresholds));
        }
    }
}
