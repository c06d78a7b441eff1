//! The page of `mallbox learn`, on the servers of this machine.

use std::process::Command;

use tempfile::TempDir;

use crate::harness::{Browser, Page, Place as _, Screen};
use crate::process::{Process, mallbox};

/// Adds results of the comparisons to the catalogue: a run takes minutes.
const COMPARED: &str = concat!(
    "const sections = { queues: ",
    include_str!("learn/queues.json"),
    ", feeds: ",
    include_str!("learn/feeds.json"),
    ", caches: ",
    include_str!("learn/caches.json"),
    r#" };
const original = window.fetch;
window.fetch = async (...call) => {
    const response = await original(...call);
    if (!String(call[0]).endsWith("/api/learn") || !response.ok) return response;
    const catalogue = await response.json();
    for (const comparison of catalogue.comparisons) comparison.section = sections[comparison.name];
    return new Response(JSON.stringify(catalogue), response);
};"#
);
/// The views, each with its address within the page and a text in both languages.
const VIEWS: [(&str, [&str; 2]); 6] = [
    ("#/", ["整架梯子", "The whole ladder"]),
    ("#/redis-locks", ["Redis锁", "Locks in Redis"]),
    ("#/redis-locks/6b/stopped_before_release", ["出错处", "Mistake"]),
    ("#/compared-queues", ["每秒处理完的消息", "Messages done per second"]),
    ("#/compared-feeds", ["永远没人看到", "nobody ever sees it"]),
    ("#/compared-caches", ["旧值留下", "old value stays"]),
];

/// More controls than lie between the last one of a timeline and its beginning.
const STEPS_BACK: usize = 20;

/// A rung's section; its table has a name like it.
const REGION: &[&str] = &["region"];

/// A running `mallbox learn`.
struct Learn {
    process: Process,
    url: String,
    key: String,
    _dir: TempDir,
}

impl Learn {
    fn start() -> Self {
        let dir = TempDir::new().unwrap();
        let process = Process::start(mallbox(&["learn", "--lang", "en"]).current_dir(dir.path()));
        let line = process.line();
        let (url, key) = line.strip_prefix("open ").unwrap().split_once("/#key=").unwrap();
        Self { url: url.to_owned(), key: key.to_owned(), process, _dir: dir }
    }

    fn browser(&self, screen: Screen) -> Browser {
        Browser::at(&self.url).on(screen).running(COMPARED)
    }

    /// Opens the printed address.
    #[track_caller]
    fn open(&self, browser: &Browser) -> Page {
        browser.open(&format!("/#key={}", self.key))
    }
}

impl Drop for Learn {
    fn drop(&mut self) {
        // Like Ctrl-C: the servers end, and the directory is empty afterwards.
        let id = self.process.child.id().to_string();
        let _ = Command::new("kill").args(["-s", "INT", &id]).status();
        let _ = self.process.child.wait();
    }
}

/// Checks every view in a language: 0 = Chinese, 1 = English.
#[track_caller]
fn look(page: &Page, language: usize) {
    for (address, says) in VIEWS {
        page.is_light();
        page.go(&format!("/{address}"));
        page.sees(says[language]);
        page.fits();
        page.is_accessible();
        page.is_dark();
        page.has_contrast();
    }
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn ladder_and_comparison_are_accessible_on_a_phone_and_a_desktop() {
    let learn = Learn::start();
    let page = learn.open(&learn.browser(Screen::Phone));
    page.sees("从第6b级开始");
    page.go("/#/redis-locks/6b");
    let rung = page.find(REGION, "6b ");
    rung.button("运行").click();
    rung.sees("运行完毕");
    look(&page, 0);
    page.button("English").click();
    look(&page, 1);
    let page = learn.open(&learn.browser(Screen::Desktop));
    page.sees("整架梯子");
    look(&page, 0);
    page.button("English").click();
    look(&page, 1);
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn rung_is_run_and_its_timeline_read_by_the_keyboard_alone() {
    let learn = Learn::start();
    let page = learn.open(&learn.browser(Screen::Desktop).in_english());
    page.tab_to(&page.link("Begin with rung 6b"));
    page.press("Enter");
    page.is_at("/#/redis-locks/6b");
    let rung = page.find(REGION, "6b ");
    page.tab_to(&rung.button("Skip to run and verdicts"));
    page.press("Enter");
    page.tab_to(&rung.button("Run"));
    page.press("Enter");
    rung.sees("The run is over.");
    rung.button("Run").is_focused();
    rung.row("stopped before the release").sees("fails as expected");
    page.tab_to(&rung.link("Timeline: stopped before the release"));
    page.press("Enter");
    page.is_at("/#/redis-locks/6b/stopped_before_release");
    page.sees("T1 / ");
    for (key, event) in
        [("ArrowDown", "T2 / "), ("ArrowDown", "T3 / "), ("ArrowUp", "T2 / "), ("Home", "T1 / ")]
    {
        page.press(key);
        page.sees(event);
    }
    page.tab_to(&page.button("Mistake"));
    page.press("Enter");
    page.sees("DEL lock:order:1");
    page.press("End");
    let last = page.run("document.querySelectorAll('.tl-stage + details li').length").to_string();
    page.sees(&format!("T{last} / {last}"));
    let back = page.link("Back to the rung");
    for _ in 0..STEPS_BACK {
        if back.has_focus() {
            break;
        }
        page.press("Shift+Tab");
    }
    back.is_focused();
    page.press("Enter");
    page.is_at("/#/redis-locks/6b");
    rung.heading("Verdicts").is_focused();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn comparison_shows_its_progress_and_is_cancelled() {
    let learn = Learn::start();
    let page = learn.open(&Browser::at(&learn.url).on(Screen::Phone).in_english());
    page.sees("The whole ladder");
    page.go("/#/compared-queues");
    page.sees("Not run yet.");
    page.button("Run the comparison").click();
    let job = page.part("The current run");
    job.sees("1 of 80, list: backlog");
    let progress =
        page.run("(({ value, max }) => [value >= 1, max])(document.querySelector('#job progress'))");
    assert_eq!(progress, serde_json::json!([true, 80]));
    page.button("Run the comparison").is_disabled();
    page.fits();
    page.is_accessible();
    job.button("Cancel").click();
    page.part("Run and verdicts").sees("The run was cancelled.");
    job.is_gone();
    page.button("Run the comparison").is_enabled();
    page.sees("Not run yet.");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn page_with_a_wrong_key_says_where_the_right_one_is() {
    let learn = Learn::start();
    let page = Browser::at(&learn.url).in_english().open("/#key=guessed");
    page.forgive("401");
    page.find(&["alert"], "").sees("This page needs the key in the address");
    page.is_accessible();
    page.fits();
    page.go(&format!("/#key={}", learn.key));
    page.sees("The whole ladder");
    page.find(&["alert"], "").is_gone();
}
