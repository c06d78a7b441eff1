//! `mallbox serve`: a mall that keeps everything in one directory.

use std::sync::Arc;

use mallbox_storage::EmbeddedOptions;

use super::house::{self, Plan};
use super::log;
use super::words::Misuse;
use crate::config::{self, ServeConfig};
use crate::http::Bound;
use crate::language::Language;
use crate::mall::sms::{Console, SmsSender, Webhook};

/// Serves until it is told to stop.
///
/// # Errors
/// One sentence for whoever typed the command.
pub(super) fn run(config: ServeConfig, l: Language) -> anyhow::Result<()> {
    if config.print_config {
        super::say(&config::example(&super::serve_command()));
        return Ok(());
    }
    let dir = config.data.clone().ok_or(Misuse::NoData)?;
    if house::is_demo(&dir) && !config.demo_data {
        return Err(Misuse::IsADemo(dir).into());
    }
    house::check_dir(&dir)?;
    house::check_web(&config.site)?;
    let sms: Arc<dyn SmsSender> = match config.sms.as_str() {
        "console" => Arc::new(Console::default()),
        url => Arc::new(Webhook::new(url).map_err(|error| Misuse::BadGateway(error.to_string()))?),
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
        house::serve(app, bound, &dir, &config.site, l, "").await
    })
}
