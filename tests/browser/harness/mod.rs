//! A browser for tests. `Browser` is somebody's, with a profile of its own; a `Page` is what they see in it.
//!
//! ```ignore
//! let page = Browser::at(&mall.url()).open("/#/shop/1");
//! page.button("抢购").click();
//! page.sees("已抢到");
//! ```
//!
//! Everything is found by role and name, and waited for. A test fails on any error that a page meets, unless it
//! was forgiven because the test caused it.

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
