//! Tests of the harness: it detects failures, and acts like a user.

use std::time::Duration;

use mallbox::fixture::{Fault, Mall};

use crate::harness::{Browser, Page, Place as _, Screen, until};
use crate::people::demo;

/// An empty page, with its own mall.
struct BlankPage {
    page: Page,
    browser: Browser,
    mall: Mall,
}

impl BlankPage {
    fn on(screen: Screen) -> Self {
        let mall = demo().start().unwrap();
        let browser = Browser::at(&mall.url()).on(screen);
        let page = browser.open("/healthz");
        // The browser requests the icon by itself unless a document says otherwise.
        page.forgive("/favicon.ico");
        Self { page, browser, mall }
    }

    /// Sets the content of the page.
    fn with(self, html: &str) -> Self {
        let html = serde_json::to_string(&format!("<meta name=viewport content='width=device-width'>{html}"));
        self.page.run(&format!("document.body.innerHTML = {}; 0", html.unwrap()));
        self
    }

    /// Makes the page request a code. Returns the status, or 0 without a response.
    fn asks_for_a_code(&self, phone: &str) -> u64 {
        let path = format!("/api/user/code?phone={phone}");
        let script = format!("fetch('{path}', {{ method: 'POST' }}).then(({{ status }}) => status, () => 0)");
        self.page.run(&script).as_u64().unwrap()
    }
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
#[should_panic(expected = "console: out of noodles")]
fn error_on_the_console_fails_a_test() {
    BlankPage::on(Screen::Desktop).page.run("console.error('out of', 'noodles')");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
#[should_panic(expected = "no such bowl")]
fn uncaught_exception_fails_a_test() {
    let sheet = BlankPage::on(Screen::Desktop);
    sheet.page.run("Promise.reject(new Error('no such bowl')); 0");
    sheet.page.run("new Promise((done) => setTimeout(done))");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
#[should_panic(expected = "/no-such-thing.png")]
fn asset_that_is_not_there_fails_a_test() {
    let sheet = BlankPage::on(Screen::Desktop);
    sheet.page.run("new Promise((done) => { const image = new Image(); image.onerror = done; image.src = '/no-such-thing.png'; }).then(() => 0)");
    sheet.page.rests();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
#[should_panic(expected = "has to be scrolled sideways")]
fn page_that_is_too_wide_fails_a_test() {
    BlankPage::on(Screen::Phone).with("<p style='width: 500px'>wide</p>").page.fits();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
#[should_panic(expected = "button-name")]
fn button_without_a_name_fails_a_test() {
    BlankPage::on(Screen::Phone).with("<button></button>").page.is_accessible();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn what_is_covered_is_pressed_when_it_is_free() {
    const COVER: &str = "<button onclick='document.title = \"sold\"'>buy</button>\
        <div style='position: fixed; inset: 0' onclick='document.title = \"missed\"'></div>";
    let sheet = BlankPage::on(Screen::Phone).with(COVER);
    sheet.page.run("setTimeout(() => document.querySelector('div').remove(), 300)");
    sheet.page.button("buy").click();
    until("it is pressed", || match sheet.page.run("document.title") {
        title if title == "sold" => Ok(()),
        title => Err(title.to_string()),
    });
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn button_replaced_under_a_press_is_pressed_again() {
    const REPLACED: &str = "<div onpointerdown='if (!this.isNew) { this.isNew = true; this.innerHTML += \"\" }'>\
        <button onclick='document.title += \"sold\"'>buy</button></div>";
    for screen in Screen::ALL {
        let sheet = BlankPage::on(screen).with(REPLACED);
        sheet.page.run("document.title = ''");
        sheet.page.button("buy").click();
        assert_eq!(sheet.page.run("document.title"), "sold");
    }
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn page_comes_to_rest_although_the_former_document_was_left_during_a_request() {
    let sheet = BlankPage::on(Screen::Phone);
    let shop = Fault::at_endpoint("GET /shop/{id}").delay(Duration::from_secs(60));
    let shop = sheet.mall.faults().add(shop).unwrap();
    let hangs = || sheet.mall.faults().list().iter().any(|fault| fault.met > 0);
    sheet.page.run("fetch('/api/shop/1', { keepalive: true }); 0");
    until("the request hangs", || hangs().then_some(()).ok_or("it is not there".into()));
    sheet.page.go("/readyz");
    sheet.page.rests();
    assert!(sheet.mall.faults().cancel(shop));
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn fingers_and_mice_press_what_is_meant() {
    const SHELF: &str = "<ul>\
        <li aria-label=noodles><button onclick='document.title = \"noodles\"'>buy</button></li>\
        <li aria-label=tea><button onclick='document.title = \"tea\"'>buy</button></li></ul>\
        <label>name <input></label><label><input type=checkbox>hot</label>\
        <label>size <select><option>small<option>large</select></label>";
    for screen in Screen::ALL {
        let sheet = BlankPage::on(screen).with(SHELF);
        let page = &sheet.page;
        page.part("tea").button("buy").click();
        assert_eq!(page.run("document.title"), "tea");
        page.button("buy").first().click();
        assert_eq!(page.run("document.title"), "noodles");
        page.field("name").fill("安妮");
        page.field("name").fill("小明");
        assert_eq!(page.field("name").value(), "小明");
        page.choice("hot").click();
        assert_eq!(page.run("document.querySelector('[type=checkbox]').checked"), true);
        page.field("size").choose("large");
        assert_eq!(page.field("size").value(), "large");
        let touched = page.run("matchMedia('(pointer: coarse)').matches && navigator.maxTouchPoints > 0");
        assert_eq!(touched, screen.is_touched());
    }
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn keyboard_alone_will_do() {
    let sheet = BlankPage::on(Screen::Desktop).with(
        "<a href='#a'>one</a><form onsubmit='event.preventDefault(); document.title = this[0].value'>\
        <label>phone <input></label><button>go</button></form>",
    );
    let page = &sheet.page;
    page.tab_to(&page.field("phone"));
    page.types("139 0000");
    page.press("Enter");
    assert_eq!(page.run("document.title"), "139 0000");
    page.press("Shift+Tab");
    page.link("one").is_focused();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn two_browsers_share_nothing() {
    let sheet = BlankPage::on(Screen::Phone);
    sheet.page.run("localStorage.setItem('token', 'anne'); 0");
    let same = sheet.browser.open("/healthz");
    same.forgive("/favicon.ico");
    assert_eq!(same.run("localStorage.getItem('token')"), "anne");
    let other = Browser::at(&sheet.mall.url()).dark().in_english().located(120.15, 30.33).open("/healthz");
    other.forgive("/favicon.ico");
    assert!(other.run("localStorage.getItem('token')").is_null());
    for (page, dark, language) in [(&same, false, "zh-CN"), (&other, true, "en-US")] {
        assert_eq!(page.run("matchMedia('(prefers-color-scheme: dark)').matches"), dark);
        assert_eq!(page.run("navigator.language"), language);
        assert_eq!(page.run("document.visibilityState"), "visible");
    }
    let place = "new Promise((tell, fail) => navigator.geolocation.getCurrentPosition(tell, fail)).then((at) => at.coords.longitude)";
    assert_eq!(other.run(place), 120.15);
    other.print_preview();
    assert_eq!(other.run("matchMedia('print').matches"), true);
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn requests_are_cut_before_the_mall_or_after_it() {
    let sheet = BlankPage::on(Screen::Phone);
    // Phones the mall has sent a code to, newest first.
    let sent = || sheet.mall.inbox().unwrap().into_iter().map(|(phone, _)| phone.as_str().to_owned());
    let (anne, ben, carl) = ("13800000001", "13800000002", "13800000003");
    sheet.page.cut("/user/code");
    assert_eq!(sheet.asks_for_a_code(anne), 0);
    sheet.page.was_cut();
    assert_eq!(sent().next(), None);
    sheet.page.lose_answer("/user/code");
    assert_eq!(sheet.asks_for_a_code(ben), 0);
    assert!(sent().eq([ben]));
    sheet.page.go_offline();
    assert_eq!(sheet.asks_for_a_code(carl), 0);
    sheet.page.go_online();
    assert_eq!(sheet.asks_for_a_code(anne), 200);
    assert!(sent().eq([anne, ben]));
}
