//! What the mall knows, and how it decides.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::orders::{Order, Orders};
use crate::{Fault, Options};

/// Units sold beyond the stock by [`Fault::Oversells`].
const OVERSOLD: i64 = 10;
/// From an order to its repetition by [`Fault::RepeatsOrders`].
const REPEATED_AFTER: Duration = Duration::from_millis(500);
/// One claim in so many goes wrong by a fault that is not about all.
const EVERY: u64 = 10;

/// The mall's state.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) options: Options,
    pub(crate) orders: Orders,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    codes: HashMap<String, String>,
    /// Users by token.
    users: HashMap<String, u64>,
    /// Units sold by sale.
    sold: HashMap<u64, i64>,
    buyers: HashSet<(u64, u64)>,
    orders: u64,
    refusals: u64,
    last_claim: (String, String),
}

/// The decision on a claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Decision {
    Accepted { order: u64 },
    SoldOut,
    AlreadyBought,
}

impl State {
    pub(crate) fn new(options: Options, orders: Orders) -> Self {
        Self { options, orders, inner: Mutex::default() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Draws a code for a phone number.
    pub(crate) fn new_code(&self, phone: &str) -> String {
        let mut inner = self.inner();
        let code = format!("{:06}", (inner.codes.len() * 7_919) % 1_000_000);
        inner.codes.insert(phone.to_owned(), code.clone());
        code
    }

    /// Spends a code. Returns the new user's token.
    pub(crate) fn log_in(&self, phone: &str, code: &str) -> Option<String> {
        let mut inner = self.inner();
        if inner.codes.get(phone).map(String::as_str) != Some(code) {
            return None;
        }
        inner.codes.remove(phone);
        let user = inner.users.len() as u64 + 1;
        let token = format!("token-{user:08}");
        inner.users.insert(token.clone(), user);
        Some(token)
    }

    pub(crate) fn note_claim(&self, header: String, body: String) {
        self.inner().last_claim = (header, body);
    }

    pub(crate) fn last_claim(&self) -> (String, String) {
        self.inner().last_claim.clone()
    }

    pub(crate) fn user(&self, token: &str) -> Option<u64> {
        self.inner().users.get(token).copied()
    }

    pub(crate) fn claim(&self, user: u64, sale: u64) -> Decision {
        let Options { units, fault, .. } = self.options;
        let units = if fault == Fault::Oversells { units + OVERSOLD } else { units };
        let mut inner = self.inner();
        let sold = inner.sold.get(&sale).copied().unwrap_or(0);
        let has_bought = inner.buyers.contains(&(sale, user)) && fault != Fault::SellsTwice;
        if sold >= units || has_bought {
            inner.refusals += 1;
            if fault == Fault::OrdersOnItsOwn && inner.refusals.is_multiple_of(EVERY) {
                inner.orders += 1;
                self.orders.write(Order { id: inner.orders, user, sale });
            }
            return if sold >= units { Decision::SoldOut } else { Decision::AlreadyBought };
        }
        inner.sold.insert(sale, sold + 1);
        inner.buyers.insert((sale, user));
        inner.orders += 1;
        let order = inner.orders;
        let is_tenth = order.is_multiple_of(EVERY);
        if fault != Fault::LosesOrders || !is_tenth {
            self.orders.write(Order { id: order, user, sale });
        }
        if fault == Fault::RepeatsOrders && is_tenth {
            self.orders.write_later(Order { id: order, user, sale }, REPEATED_AFTER);
        }
        Decision::Accepted { order }
    }
}
