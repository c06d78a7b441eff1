//! Users, shops and vouchers: the services on a real back end, with a clock controlled by the tests.
#![expect(clippy::unwrap_used, reason = "helpers of a test binary: a failure is a failed test")]

mod accounts;
mod cards;
mod passwords;
mod rights;
mod shops;
mod vouchers;
mod world;
