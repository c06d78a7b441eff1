//! Every screen there is, in every size: it opens without a complaint, fits, and everybody can use it.
//!
//! With `SCREENSHOTS` naming a folder it also leaves a picture of each there; `tests/look` does that.

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::harness::{Browser, Screen};
use crate::people::{browser_of, evening};

/// A screen: its name, whose phone looks, where it is, and what it says in Chinese and in English when it is there.
type Entry = (&'static str, &'static str, &'static str, [&'static str; 2]);

/// Every one. A new screen belongs here.
const SCREENS: &[Entry] = &[
    ("home", NOBODY, "/", ["限时秒杀", "Flash sales"]),
    ("nowhere", NOBODY, "/#/no-such-page", ["没有这个页面", "There is no such page"]),
    ("api", NOBODY, "/api.html", ["登录", "Log in"]),
];
const NOBODY: &str = "";

/// Opens every screen and looks at it.
fn look(way: &str, dressed: impl Fn(Browser) -> Browser) {
    let mall = evening().start().unwrap();
    let language = usize::from(way == "english");
    let look = |(name, phone, path, says): &Entry| {
        let page = dressed(browser_of(&mall, phone)).open(path);
        page.sees(says[language]);
        page.is_accessible();
        page.fits();
        if let Some(folder) = env::var_os("SCREENSHOTS") {
            page.take_picture(&Path::new(&folder).join(format!("{name}-{way}.png")));
        }
    };
    // All of them, however many fail.
    let bad = SCREENS.iter().filter(|entry| catch_unwind(AssertUnwindSafe(|| look(entry))).is_err());
    assert_eq!(
        bad.map(|(name, ..)| *name).collect::<Vec<_>>(),
        [""; 0],
        "screens that are not as they should be"
    );
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn screens_on_a_phone() {
    look("phone", |browser| browser.on(Screen::Phone));
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn screens_on_a_tablet() {
    look("tablet", |browser| browser.on(Screen::Tablet));
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn screens_on_a_desk() {
    look("desktop", |browser| browser.on(Screen::Desktop));
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn screens_in_the_dark() {
    look("dark", Browser::dark);
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn screens_in_english() {
    look("english", Browser::in_english);
}
