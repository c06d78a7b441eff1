//! `mallbox demo`: a mall to show to a friend.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use mallbox_storage::PaymentMode;
use mallbox_storage_embedded::EmbeddedOptions;

use super::listeners::Listeners;
use super::log;
use super::mall_directory;
use super::messages::UsageError;
use super::payment_gateway;
use super::running_mall;
use super::running_mall::BootOptions;
use super::runtime::block_on;
use crate::config::SiteConfig;
use crate::demo::seed::{self, Seeded};
use crate::http::{Bound, HostNames};
use crate::language::{Language, sentence};
use crate::mall::Settings;
use crate::mall::people::sms::Inbox;
use crate::place::Place;

/// The flags of `demo`.
#[derive(Args)]
pub(super) struct Demo {
    /// The directory of the demo mall; default: a folder of your data directory.
    #[arg(long, env = "MALLBOX_DEMO_DATA", value_name = "DIR")]
    data: Option<PathBuf>,
    #[command(flatten)]
    site: SiteConfig,
}

/// Time until the second sale opens: enough to read the banner and copy a line.
const SALE_OPENS_AFTER: Duration = Duration::from_secs(30);

/// Serves the demo mall until stopped.
///
/// # Errors
/// One sentence for the user of the command line.
pub(super) fn run(demo: Demo, l: Language) -> anyhow::Result<()> {
    let dir = match demo.data {
        Some(dir) => dir,
        None => own_dir().ok_or(UsageError::NoHome)?,
    };
    if mall_directory::is_mall(&dir) && !mall_directory::is_demo(&dir) {
        return Err(UsageError::NotADemo(dir).into());
    }
    running_mall::check_dir(&dir)?;
    running_mall::check_is_dir("--web", demo.site.web.as_deref())?;
    let http_gateway = payment_gateway::of(&demo.site)?;
    let printer = demo.site.printer.options().map_err(UsageError::Printer)?;
    // Dropped after the runtime of the mall.
    let _log = log::start_for_site(&demo.site)?;
    let bound = Bound::to(demo.site.listen)?;
    running_mall::mark_as_demo(&dir)?;
    let (inbox, budget) = (Arc::new(Inbox::default()), demo.site.memory.budget());
    let plan = BootOptions {
        place: Place::Embedded(EmbeddedOptions {
            cache_bytes: budget.storage_cache_bytes(),
            ..EmbeddedOptions::new(&dir)
        }),
        create_if_missing: true,
        zone: demo.site.zone.clone(),
        settings: Settings {
            inbox: true,
            counter_codes: true,
            picture_files: Some(running_mall::uploads(&dir)),
            ..Settings::default().without_limits()
        }
        .within(budget),
        sms: Arc::clone(&inbox) as _,
        inbox: Some(inbox),
        http_gateway,
        challenge_service: None,
        alerts: None,
        printer,
        staff_secret: None,
    };
    block_on(async {
        let mall = running_mall::open(plan).await?;
        mall.choose_payment(&demo.site, PaymentMode::Sandbox).await?;
        let seeded = seed::seed(&mall.app, SALE_OPENS_AFTER).await?;
        let more = what_to_try(&seeded, bound.address(), &demo.site, l);
        let hosts = HostNames::known(&demo.site.host);
        let listeners = Listeners { main: bound, operators: None };
        mall.serve(listeners, Some(running_mall::uploads(&dir)), (&demo.site, hosts), l, &more).await
    })
}

/// Returns `$XDG_DATA_HOME/mallbox/demo`, or the default place of the XDG specification.
fn own_dir() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")))?;
    Some(data.join("mallbox/demo"))
}

/// Renders command lines to copy and paste. The login code is cut out of the inbox together with its quotes,
/// which JSON needs anyway.
fn what_to_try(seeded: &Seeded, address: SocketAddr, site: &SiteConfig, l: Language) -> String {
    // With another front end at `/`, the own pages move to `/mall/`.
    let own = if site.web.is_some() { "mall/" } else { "" };
    let (site, api) = (format!("http://{address}"), format!("http://{address}{}", site.api_prefix));
    let warning = if address.ip().is_loopback() {
        String::new()
    } else {
        sentence!(
            l,
            "警告        {address}在本机之外也能访问：任何人都能读到验证码，并以管理员身份登录\n",
            "warning     {address} can be reached from other machines: anybody can read codes and log in as operator\n",
        )
    };
    let Seeded { customer, operator, running, opening, shops, .. } = seeded;
    let seconds = SALE_OPENS_AFTER.as_secs();
    let intro = sentence!(
        l,
        "演示        {shops}家店铺；秒杀{running}进行中，秒杀{opening}将于{seconds}秒后开始；人物均属虚构\n\
         登录        手机号{customer}，商家{operator}；验证码见 {api}/demo/inbox?phone={customer}\n\
         控制台      {site}/console，供商家使用\n\
         手册        {site}/mall/manual/，或`mallbox manual`\n\n\
         在浏览器里打开 {site}/{own}，或在另一个终端里试试：",
        "demo        {shops} shops; sale {running} is running, sale {opening} opens in {seconds} s; all \
         users are fictitious\n\
         login       phone {customer}, operator {operator}; the code is at {api}/demo/inbox?phone={customer}\n\
         console     {site}/console, for the operator\n\
         manual      {site}/mall/manual/, or `mallbox manual`\n\n\
         Open {site}/{own} in a browser, or try in another terminal:",
    );
    format!(
        r#"{warning}{intro}

curl -s '{api}/shop/of/type?typeId=1&current=1'
curl -s -X POST '{api}/user/code?phone={customer}' && token=$(curl -s {api}/user/login -d "{{\"phone\":\"{customer}\",\"code\":$(curl -s '{api}/demo/inbox?phone={customer}' | grep -oE '"[0-9]{{6}}"')}}" | grep -oE '[0-9a-f]{{48}}')
curl -s -X POST -H "authorization: $token" {api}/voucher-order/seckill/{running}

"#
    )
}
