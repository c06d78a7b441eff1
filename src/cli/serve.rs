//! `mallbox serve`: a mall in a directory, or one of many processes of a mall in Redis and MySQL.

use std::sync::Arc;

use super::house::{self, BootOptions};
use super::log;
use super::words::UsageError;
use crate::config::{self, ServeConfig};
use crate::http::{Bound, HostNames};
use crate::language::Language;
use crate::mall::sms::{Console, SmsSender, Webhook};

/// Serves until stopped.
///
/// # Errors
/// One sentence for the user of the command line.
pub(super) fn run(config: ServeConfig, l: Language) -> anyhow::Result<()> {
    if config.print_config {
        super::print(&config::example(&super::serve_command()));
        return Ok(());
    }
    let place = config.place().map_err(UsageError::Where)?;
    if let Some(dir) = place.dir() {
        if house::is_demo(dir) && !config.demo_data {
            return Err(UsageError::IsADemo(dir.to_owned()).into());
        }
        house::check_dir(dir)?;
    }
    house::check_is_dir("--web", config.site.web.as_deref())?;
    house::check_is_dir("--uploads", config.uploads.as_deref())?;
    let uploads = place.dir().map(house::uploads).or_else(|| config.uploads.clone());
    let sms: Arc<dyn SmsSender> = match config.sms.as_str() {
        "console" => Arc::new(Console::default()),
        url => Arc::new(Webhook::new(url).map_err(|error| UsageError::BadGateway(error.to_string()))?),
    };
    log::start(config.site.log_format);
    // Bind before opening anything: a port in use is reported immediately, and the directory stays unchanged.
    let bound = Bound::to(config.site.listen)?;
    let (zone, settings) = (config.site.zone.clone(), config.settings());
    let plan = BootOptions { place, create_if_missing: true, zone, settings, sms, inbox: None };
    house::block_on(async {
        let house = house::open(plan).await?;
        let hosts = match config.site.host.as_slice() {
            [] => HostNames::Any,
            names => HostNames::known(names),
        };
        house.serve(bound, uploads, (&config.site, hosts), l, "").await
    })
}
