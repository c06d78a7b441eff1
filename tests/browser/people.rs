//! Malls for these tests, and who comes to them.

use mallbox::fixture::{Builder, Mall};

use crate::harness::Browser;

/// The demo's mall on an evening that stands still: what runs by itself would make pictures differ.
pub fn evening() -> Builder {
    Mall::builder().start_at("2026-11-21T20:00:00").frozen()
}

/// The browser of somebody who logged in some time ago; of anybody else if the phone is empty.
pub fn browser_of(mall: &Mall, phone: &str) -> Browser {
    let browser = Browser::at(&mall.url());
    if phone.is_empty() {
        return browser;
    }
    browser.keeping("mallbox-token", &mall.log_in(phone).unwrap().token)
}
