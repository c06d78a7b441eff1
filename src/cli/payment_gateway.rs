//! The payment gateway named by the flags.

use super::messages::UsageError;
use crate::config::{PaymentChoice, SiteConfig};
use crate::mall::selling::http_gateway::{CALLBACK_PATH, HttpGateway, MallAddresses};

/// Returns the gateway of --payment-url, if given.
///
/// # Errors
/// [`UsageError`] if the flags do not fit together, or a value cannot be used.
pub(super) fn of(config: &SiteConfig) -> Result<Option<HttpGateway>, UsageError> {
    let flags = &config.payments;
    let addresses = flags.public_url.as_deref().map(|url| addresses(url, config)).transpose()?;
    let Some(url) = &flags.payment_url else {
        return match flags.payment {
            Some(PaymentChoice::Webhook) => Err(UsageError::NoPaymentUrl),
            _ => Ok(None),
        };
    };
    let secret = flags.payment_secret.as_ref().ok_or(UsageError::NoPaymentSecret)?;
    let gateway = HttpGateway::new(&url.0, &*secret.0)
        .map_err(|error| UsageError::BadPaymentGateway(error.to_string()))?;
    Ok(Some(match addresses {
        Some(addresses) => gateway.with_addresses(addresses),
        None => gateway,
    }))
}

/// Returns the mall's addresses below its public URL. With another front end at `/`, the own pages are at
/// `/mall/`.
fn addresses(public: &str, config: &SiteConfig) -> Result<MallAddresses, UsageError> {
    let wrong = || UsageError::BadPublicUrl(public.to_owned());
    let host =
        public.strip_prefix("https://").or_else(|| public.strip_prefix("http://")).ok_or_else(wrong)?;
    let is_address = !host.is_empty() && !host.starts_with('/') && !host.contains(['?', '#', '@', ' ']);
    if !is_address || !public.is_ascii() {
        return Err(wrong());
    }
    let (public, api) = (public.trim_end_matches('/'), &config.api_prefix);
    let pages = if config.web.is_some() { "/mall/" } else { "/" };
    Ok(MallAddresses {
        callback: format!("{public}{api}{CALLBACK_PATH}"),
        order_page: format!("{public}{pages}#/order/"),
    })
}
