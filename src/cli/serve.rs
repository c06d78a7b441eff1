//! `mallbox serve`: a mall in a directory, or one of many processes of a mall in Redis and MySQL.

use std::sync::Arc;

use mallbox_storage::PaymentMode;

use super::listeners::Listeners;
use super::log;
use super::mall_directory;
use super::messages::{UsageError, render_error};
use super::output::print;
use super::payment_gateway;
use super::running_mall;
use super::running_mall::BootOptions;
use super::runtime::block_on;
use super::service::{self, PassedSockets};
use super::staff_key;
use crate::config::{self, ServeConfig};
use crate::http::{Bound, HostNames};
use crate::language::Language;
use crate::mall::Settings;
use crate::mall::people::sms::{Console, SmsSender, Webhook};

/// Serves until stopped.
///
/// # Errors
/// One sentence for the user of the command line.
pub(super) fn run(config: ServeConfig, l: Language) -> anyhow::Result<()> {
    if config.print_config {
        print(&config::example(&serve_command()));
        return Ok(());
    }
    let place = config.place().map_err(UsageError::Where)?;
    if let Some(dir) = place.dir() {
        if mall_directory::is_demo(dir) && !config.demo_data {
            return Err(UsageError::IsADemo(dir.to_owned()).into());
        }
        running_mall::check_dir(dir)?;
    }
    running_mall::check_is_dir("--web", config.site.web.as_deref())?;
    running_mall::check_is_dir("--uploads", config.uploads.as_deref())?;
    let uploads = place.dir().map(running_mall::uploads).or_else(|| config.uploads.clone());
    let sms: Arc<dyn SmsSender> = match config.sms.0.as_str() {
        "console" => Arc::new(Console::default()),
        url => {
            let webhook = Webhook::new(url).map_err(|error| UsageError::BadGateway(error.to_string()))?;
            match &config.sms_secret {
                Some(secret) => Arc::new(webhook.signed_with(&secret.0)),
                None => Arc::new(webhook),
            }
        }
    };
    let http_gateway = payment_gateway::of(&config.site)?;
    let challenge_service = config.challenges.service().map_err(UsageError::ChallengeService)?;
    let alerts = config.alerts.receiver(place.dir()).map_err(UsageError::BadAlertUrl)?;
    let printer = config.site.printer.options().map_err(UsageError::Printer)?;
    let staff_secret = config.staff_secret.as_ref().map(|secret| secret.0.clone());
    staff_key::check(staff_secret.as_deref())?;
    let has_staff_secret = staff_secret.is_some() || place.dir().is_some();
    // Dropped after the runtime of the mall.
    let _log = log::start_for_site(&config.site)?;
    service::opening(l);
    // Bind before opening anything: a port in use is reported immediately, and the directory stays unchanged.
    let listeners = bind(&config)?;
    let zone = config.site.zone.clone();
    let settings =
        Settings { picture_files: uploads.clone(), ..config.settings() }.within(config.site.memory.budget());
    let plan = BootOptions {
        place,
        create_if_missing: true,
        zone,
        settings,
        sms,
        inbox: None,
        http_gateway,
        challenge_service,
        alerts: alerts.clone(),
        printer,
        staff_secret,
    };
    block_on(async {
        let mall = match (running_mall::open(plan).await, alerts) {
            (Err(error), Some(alerts)) => {
                alerts.report_refused_start(render_error(&error, Language::En)).await;
                return Err(error);
            }
            (opened, _) => opened?,
        };
        let usual = if config.demo_data { PaymentMode::Sandbox } else { PaymentMode::Counter };
        mall.choose_payment(&config.site, usual).await?;
        if !has_staff_secret && mall.app.context.staff().await?.members().next().is_some() {
            tracing::warn!(
                "the database holds all that the PINs of staff depend on: set --staff-secret, and give new PINs"
            );
        }
        let hosts = match config.site.host.as_slice() {
            [] => HostNames::Any,
            names => HostNames::known(names),
        };
        mall.serve(listeners, uploads, (&config.site, hosts), l, "").await
    })
}

/// Binds the addresses, or takes over the sockets of the service manager.
///
/// # Errors
/// [`UsageError::OneAddressTwice`], [`UsageError::Sockets`], [`ServerError`](crate::http::ServerError):
/// an address cannot be used.
fn bind(config: &ServeConfig) -> anyhow::Result<Listeners> {
    let (main, operators) = match service::passed_sockets().map_err(UsageError::Sockets)? {
        Some(PassedSockets { main, operators }) => (Some(main), operators),
        None => (None, None),
    };
    let address = main.as_ref().map_or(config.site.listen, Bound::address);
    if let Some(same) = config.admin_listen.filter(|admin| *admin == address && admin.port() > 0) {
        return Err(UsageError::OneAddressTwice(same).into());
    }
    let main = main.map_or_else(|| Bound::to(address), Ok)?;
    let operators = match operators {
        Some(operators) => {
            if config.admin_listen.is_some() {
                tracing::warn!(
                    "--admin-listen is not used: the service manager passed a socket for operators"
                );
            }
            Some(operators)
        }
        None => config.admin_listen.map(Bound::to).transpose()?,
    };
    Ok(Listeners { main, operators })
}

/// Returns the clap command of `serve`.
pub(super) fn serve_command() -> clap::Command {
    use clap::Args as _;
    ServeConfig::augment_args(clap::Command::new("serve"))
}
