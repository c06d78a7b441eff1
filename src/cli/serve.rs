//! `mallbox serve`: a mall that keeps everything in one directory.

use std::sync::Arc;

use mallbox_storage::EmbeddedOptions;

use super::house::{self, Plan};
use super::{Usage, log};
use crate::config::ServeConfig;
use crate::http::Bound;
use crate::mall::sms::{Console, SmsSender, Webhook};

/// Serves until it is told to stop.
///
/// # Errors
/// One sentence for whoever typed the command.
pub(super) fn run(config: ServeConfig) -> anyhow::Result<()> {
    let usage = |text: String| anyhow::Error::new(Usage(text));
    let Some(dir) = config.data.clone() else {
        return Err(usage(
            "serve needs --data DIR, the directory in which the mall keeps everything".to_owned(),
        ));
    };
    if house::is_demo(&dir) && !config.demo_data {
        let dir = dir.display();
        return Err(usage(format!(
            "{dir} was made by `mallbox demo`, and its people are invented; add --demo-data to serve it all the same"
        )));
    }
    house::check_dir(&dir)?;
    house::check_web(&config.site)?;
    let sms: Arc<dyn SmsSender> = match config.sms.as_str() {
        "console" => Arc::new(Console::default()),
        url => Arc::new(Webhook::new(url).map_err(|error| usage(error.to_string()))?),
    };
    log::start(config.site.log_format);
    // Before anything is read: a port that is taken is told at once, and the directory stays as it is.
    let bound = Bound::to(config.site.listen)?;
    let mut place = EmbeddedOptions::new(&dir);
    place.durability = config.durability.into();
    place.accept_lost_log = config.accept_lost_log;
    let plan = Plan { place, zone: config.site.zone.clone(), settings: config.settings(), sms, inbox: None };
    house::block_on(async {
        let app = house::open(plan).await?;
        house::serve(app, bound, &dir, &config.site, "").await
    })
}
