//! The gateway's own ledger: payments, and the money that moved.

use serde_json::Value;

use crate::OnCreation;

/// A payment at the gateway.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Payment {
    /// Id given by the mall.
    pub id: String,
    /// The order to pay for.
    pub order: String,
    /// Amount in cents.
    pub amount: i64,
    /// `pending`, `captured`, `declined`, `refunded` or `reversed`.
    pub state: &'static str,
    /// Number of requests to create the payment.
    pub creations: u32,
    /// Number of requests to refund the payment.
    pub refunds: u32,
    /// Title for the buyer.
    pub title: String,
    /// Where the buyer pays.
    pub pay_url: String,
    pub(crate) callback: Option<String>,
    pub(crate) return_url: Option<String>,
}

/// Money that moved, in cents.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Money {
    /// Taken from buyers.
    pub captured: i64,
    /// Given back to buyers: refunded, or reversed.
    pub returned: i64,
}

impl Money {
    /// Returns the money that the mall has.
    #[must_use]
    pub fn kept(self) -> i64 {
        self.captured - self.returned
    }
}

/// Payments, oldest first, and callbacks not accepted yet.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    payments: Vec<Payment>,
    money: Money,
    callbacks: Vec<(String, &'static str)>,
    /// Base of the pages for buyers.
    pub(crate) base: String,
}

impl Ledger {
    pub(crate) fn payments(&self) -> Vec<Payment> {
        self.payments.clone()
    }

    pub(crate) fn money(&self) -> Money {
        self.money
    }

    pub(crate) fn get(&self, id: &str) -> Option<&Payment> {
        self.payments.iter().find(|payment| payment.id == id)
    }

    fn get_mut(&mut self, id: &str) -> Option<&mut Payment> {
        self.payments.iter_mut().find(|payment| payment.id == id)
    }

    /// Creates a payment, or returns the payment created or closed before under this id.
    pub(crate) fn create(&mut self, id: &str, body: &Value, then: OnCreation) -> Result<Payment, u16> {
        if body["currency"] != "CNY" || body["amount"].as_i64().is_none_or(|amount| amount < 0) {
            return Err(422);
        }
        if self.get(id).is_none() {
            self.insert(id, body, "pending");
            match then {
                OnCreation::Waits => {}
                OnCreation::Captures => drop(self.decide(id, "captured")),
                OnCreation::Declines => drop(self.decide(id, "declined")),
            }
        }
        let amount = body["amount"].as_i64();
        let payment = self.get_mut(id).ok_or(500_u16)?;
        payment.creations += 1;
        if Some(payment.amount) == amount { Ok(payment.clone()) } else { Err(409) }
    }

    fn insert(&mut self, id: &str, body: &Value, state: &'static str) {
        let text = |name: &str| body[name].as_str().map(str::to_owned);
        self.payments.push(Payment {
            id: id.to_owned(),
            order: text("order").unwrap_or_default(),
            amount: body["amount"].as_i64().unwrap_or_default(),
            state,
            creations: 0,
            refunds: 0,
            title: text("title").unwrap_or_default(),
            pay_url: format!("{}/pay/{id}", self.base),
            callback: text("callback"),
            return_url: text("returnUrl"),
        });
    }

    /// Decides a pending payment. Returns false if it is decided already.
    pub(crate) fn decide(&mut self, id: &str, state: &str) -> bool {
        let state = if state == "captured" { "captured" } else { "declined" };
        let Some(payment) = self.get_mut(id).filter(|payment| payment.state == "pending") else {
            return false;
        };
        payment.state = state;
        let amount = payment.amount;
        if state == "captured" {
            self.money.captured += amount;
        }
        self.callbacks.push((id.to_owned(), state));
        true
    }

    /// Returns captured money to the buyer. Returns false if no money is there.
    pub(crate) fn give_back(&mut self, id: &str, state: &'static str) -> bool {
        let Some(payment) = self.get_mut(id).filter(|payment| payment.state == "captured") else {
            return false;
        };
        payment.state = state;
        let amount = payment.amount;
        self.money.returned += amount;
        self.callbacks.push((id.to_owned(), state));
        true
    }

    /// Closes a payment. A payment not created yet can never be created afterwards.
    pub(crate) fn close(&mut self, id: &str, body: &Value) -> Result<Payment, u16> {
        if self.get(id).is_none() {
            self.insert(id, body, "declined");
        }
        let payment = self.get_mut(id).ok_or(500_u16)?;
        if payment.state == "pending" {
            payment.state = "declined";
        }
        Ok(payment.clone())
    }

    /// Refunds a captured payment; a repeat changes nothing.
    pub(crate) fn refund(&mut self, id: &str, body: &Value) -> Result<Payment, u16> {
        let payment = self.get_mut(id).ok_or(404_u16)?;
        payment.refunds += 1;
        if body["amount"].as_i64() != Some(payment.amount) {
            return Err(422);
        }
        if !["captured", "refunded", "reversed"].contains(&payment.state) {
            return Err(409);
        }
        self.give_back(id, "refunded");
        self.get(id).cloned().ok_or(500)
    }

    /// Takes the callbacks to be sent.
    pub(crate) fn take_callbacks(&mut self) -> Vec<(Payment, &'static str)> {
        let waiting = std::mem::take(&mut self.callbacks);
        waiting.into_iter().filter_map(|(id, state)| Some((self.get(&id)?.clone(), state))).collect()
    }

    /// Puts a callback back that was not accepted.
    pub(crate) fn repeat_callback(&mut self, id: &str, state: &'static str) {
        self.callbacks.push((id.to_owned(), state));
    }
}
