//! A browser for tests. A `Browser` belongs to one user, with a separate profile; a `Page` is a page of the
//! browser.
//!
//! ```ignore
//! let page = Browser::at(&mall.url()).open("/#/shop/1");
//! page.button("抢购").click();
//! page.sees("已抢到");
//! ```
//!
//! Elements are located by role and name, and every search waits. A test fails on any error of a page, except
//! errors caused on purpose and forgiven.

mod axe;
mod browser;
mod chromium;
mod element;
mod events;
mod keyboard;
mod layout;
mod page;
mod patience;
mod picture;

pub use browser::{Browser, Screen};
pub use element::Place;
pub use page::Page;
pub use patience::until;
