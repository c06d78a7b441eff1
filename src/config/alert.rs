//! The flags of alerts.

use std::path::Path;

use clap::Args;

use super::values::HiddenText;
use crate::mall::operator::alerts::{AlertReceiver, MallLabel};

/// The flags of alerts.
#[derive(Args, Clone, Debug)]
pub struct AlertConfig {
    /// The URL that the mall's state is posted to at the start, whenever it changes, and when a start fails:
    /// https://, or http:// on this machine. Better put a URL with a key into the environment variable than
    /// on the command line.
    #[arg(long, env = "MALLBOX_ALERT_URL", hide_env_values = true, value_name = "URL")]
    pub alert_url: Option<HiddenText>,
    /// Signs the requests to --alert-url: HMAC-SHA-256 with a timestamp, in the header x-mallbox-signature.
    /// Better put the secret into the environment variable than on the command line.
    #[arg(long, env = "MALLBOX_ALERT_SECRET", hide_env_values = true, value_name = "SECRET")]
    pub alert_secret: Option<HiddenText>,
}

impl AlertConfig {
    /// Returns the receiver of alerts of the mall in `directory`, or of a mall on servers; `None` without
    /// --alert-url.
    ///
    /// # Errors
    /// The reason, in one sentence, if the URL cannot be used.
    pub fn receiver(&self, directory: Option<&Path>) -> Result<Option<AlertReceiver>, String> {
        let Some(url) = &self.alert_url else { return Ok(None) };
        let mall = MallLabel {
            machine: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            directory: directory.map(|path| path.display().to_string()),
        };
        let receiver = AlertReceiver::new(&url.0, mall)?;
        Ok(Some(match &self.alert_secret {
            Some(secret) => receiver.signed_with(&*secret.0),
            None => receiver,
        }))
    }
}
