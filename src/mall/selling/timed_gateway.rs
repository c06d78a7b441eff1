//! Gateways with a time limit on every call. Each payment goes through its own gateway.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mallbox_storage::{Payment, PaymentMode};

use super::counter_till::CounterTill;
use super::http_gateway::{Bill, CreatedPayment, HttpGateway};
use super::payments::{GatewayError, GatewayState, Payments};
use crate::mall::base::sparse_log::SparseLog;

/// Timeout of a gateway call: a request to the mall must get its response within 1.5 s.
const GATEWAY_TIMEOUT: Duration = Duration::from_millis(800);

/// The gateways of a mall. Calls over HTTP are on the heap: the futures of all callers would be as large.
pub(super) struct TimedGateway {
    at_once: Arc<dyn Payments>,
    hosted: Option<HttpGateway>,
    silence: SparseLog,
    failures: AtomicU64,
}

/// The gateway of a payment.
enum Route<'a> {
    /// Captures or declines in the call.
    AtOnce(&'a dyn Payments),
    /// A gateway over HTTP.
    Hosted(&'a HttpGateway),
}

impl TimedGateway {
    pub(super) fn new(at_once: Arc<dyn Payments>, hosted: Option<HttpGateway>) -> Self {
        Self { at_once, hosted, silence: SparseLog::default(), failures: AtomicU64::new(0) }
    }

    /// Returns the gateway over HTTP, if there is one.
    pub(super) fn hosted(&self) -> Option<&HttpGateway> {
        self.hosted.as_ref()
    }

    /// Returns the number of failed calls so far.
    pub(super) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    fn of(&self, payment: &Payment) -> Result<Route<'_>, GatewayError> {
        Ok(match payment.gateway {
            PaymentMode::Counter => Route::AtOnce(&CounterTill),
            PaymentMode::None | PaymentMode::Sandbox => Route::AtOnce(&*self.at_once),
            PaymentMode::Webhook => {
                let missing = || GatewayError("the mall was started without --payment-url".to_owned());
                Route::Hosted(self.hosted.as_ref().ok_or_else(missing)?)
            }
        })
    }

    /// Charges a payment, or creates the payment at a gateway over HTTP.
    pub(super) async fn charge(
        &self,
        payment: &Payment,
        bill: &Bill,
    ) -> Result<CreatedPayment, GatewayError> {
        let call = async {
            match self.of(payment)? {
                Route::AtOnce(gateway) => {
                    let state = gateway.charge(payment.id, payment.amount).await?;
                    Ok(CreatedPayment { state, pay_url: None })
                }
                Route::Hosted(gateway) => Box::pin(gateway.create(payment, bill)).await,
            }
        };
        self.wait(payment, call).await
    }

    /// Returns the state of a payment at a gateway over HTTP; closes a payment at any other gateway.
    pub(super) async fn query(&self, payment: &Payment) -> Result<GatewayState, GatewayError> {
        let call = async {
            match self.of(payment)? {
                Route::AtOnce(gateway) => gateway.close(payment.id).await,
                Route::Hosted(gateway) => Box::pin(gateway.query(payment)).await,
            }
        };
        self.wait(payment, call).await
    }

    pub(super) async fn refund(&self, payment: &Payment) -> Result<(), GatewayError> {
        let call = async {
            match self.of(payment)? {
                Route::AtOnce(gateway) => gateway.refund(payment.id, payment.amount).await,
                Route::Hosted(gateway) => Box::pin(gateway.refund(payment)).await,
            }
        };
        self.wait(payment, call).await
    }

    /// Closes a payment. The state is final: never `Pending`.
    pub(super) async fn close(&self, payment: &Payment) -> Result<GatewayState, GatewayError> {
        let call = async {
            match self.of(payment)? {
                Route::AtOnce(gateway) => gateway.close(payment.id).await,
                Route::Hosted(gateway) => Box::pin(gateway.close(payment)).await,
            }
        };
        self.wait(payment, call).await
    }

    async fn wait<T>(
        &self,
        payment: &Payment,
        call: impl Future<Output = Result<T, GatewayError>>,
    ) -> Result<T, GatewayError> {
        let in_time = tokio::time::timeout(GATEWAY_TIMEOUT, call).await;
        let too_late = || Err(GatewayError(format!("no response within {} ms", GATEWAY_TIMEOUT.as_millis())));
        let answer = in_time.unwrap_or_else(|_| too_late());
        if let Err(error) = &answer {
            self.failures.fetch_add(1, Ordering::Relaxed);
            if let Some(times) = self.silence.again() {
                let (order, payment) = (payment.order.get(), payment.id.get());
                tracing::warn!(order, payment, %error, times, "the payment gateway did not respond; retrying");
            }
        }
        answer
    }
}
