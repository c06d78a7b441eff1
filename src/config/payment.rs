//! The flags of the payment gateway.

use clap::{Args, ValueEnum};
use mallbox_storage::PaymentMode;

use super::values::HiddenText;

/// The flags of payments that `serve` and `demo` share.
#[derive(Args, Clone, Debug)]
pub struct PaymentConfig {
    /// Payment mode of new orders, stored in the mall. Default: the stored mode; in a new mall `none` with
    /// --web, otherwise `counter` for `serve` and `sandbox` for `demo`. `webhook` needs --payment-url.
    #[arg(long, env = "MALLBOX_PAYMENT", value_name = "none|sandbox|counter|webhook")]
    pub payment: Option<PaymentChoice>,
    /// The URL of the payment gateway for payment mode `webhook`: https://, or http:// on this machine.
    #[arg(long, env = "MALLBOX_PAYMENT_URL", hide_env_values = true, value_name = "URL")]
    pub payment_url: Option<HiddenText>,
    /// The secret that signs requests to the gateway of --payment-url, and its callbacks: at least 16
    /// characters. Better put the secret into the environment variable than on the command line.
    #[arg(long, env = "MALLBOX_PAYMENT_SECRET", hide_env_values = true, value_name = "SECRET")]
    pub payment_secret: Option<HiddenText>,
    /// The URL at which the payment gateway and browsers reach the mall, such as
    /// `https://mall.example.com`: for callbacks, and for the way back from the gateway's page.
    #[arg(long, env = "MALLBOX_PUBLIC_URL", value_name = "URL")]
    pub public_url: Option<String>,
}

/// Payment mode of new orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum PaymentChoice {
    /// No payment: an order is final, as in hm-dianping.
    None,
    /// Imaginary money: buyers mark their orders as paid; an unpaid order is cancelled at its deadline.
    Sandbox,
    /// Operators record the payment at the counter; an unpaid order is cancelled a day after its sale.
    Counter,
    /// Money of a payment gateway; an unpaid order is cancelled at its deadline.
    Webhook,
}

impl From<PaymentChoice> for PaymentMode {
    fn from(choice: PaymentChoice) -> Self {
        match choice {
            PaymentChoice::None => Self::None,
            PaymentChoice::Sandbox => Self::Sandbox,
            PaymentChoice::Counter => Self::Counter,
            PaymentChoice::Webhook => Self::Webhook,
        }
    }
}
