//! A user's browser: a separate profile with its own screen, colour scheme and language.

use std::env;
use std::sync::Arc;

use serde_json::{Value, json};

use super::chromium::Chromium;
use super::page::Page;

/// Kind of screen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Screen {
    Phone,
    Tablet,
    Desktop,
    /// An upright touch screen.
    Kiosk,
}

impl Screen {
    /// The screens of visitors' own devices.
    pub const ALL: [Self; 3] = [Self::Phone, Self::Tablet, Self::Desktop];

    /// Returns whether input is by touch instead of a mouse.
    pub fn is_touched(self) -> bool {
        self != Self::Desktop
    }

    /// Returns the size of the window, as dense as the device only for screenshots: drawing nine times the
    /// pixels takes long without a GPU.
    pub(super) fn metrics(self) -> Value {
        let (width, height, density) = match self {
            Self::Phone => (390, 844, 3),
            Self::Tablet => (820, 1180, 2),
            Self::Desktop => (1440, 900, 1),
            Self::Kiosk => (1080, 1920, 1),
        };
        let density = if env::var_os("SCREENSHOTS").is_some() { density } else { 1 };
        json!({ "width": width, "height": height, "deviceScaleFactor": density, "mobile": self.is_touched() })
    }
}

/// An empty browser: no cookies, no storage, no cache.
pub struct Browser {
    profile: Arc<Profile>,
    url: String,
    screen: Screen,
    scheme: &'static str,
    language: &'static str,
    place: Option<(f64, f64)>,
    kept: Vec<(&'static str, String)>,
    first: Vec<&'static str>,
}

impl Browser {
    /// Returns a browser for the mall at `url`: a phone, light, in Chinese, without a location.
    pub fn at(url: &str) -> Self {
        Self {
            profile: Arc::new(Profile::new()),
            url: url.to_owned(),
            screen: Screen::Phone,
            scheme: "light",
            language: "zh-CN",
            place: None,
            kept: Vec::new(),
            first: Vec::new(),
        }
    }

    /// Sets the screen.
    pub fn on(self, screen: Screen) -> Self {
        Self { screen, ..self }
    }

    /// Sets the preferred colour scheme to dark.
    pub fn dark(self) -> Self {
        Self { scheme: "dark", ..self }
    }

    /// Sets the preferred language to English.
    pub fn in_english(self) -> Self {
        Self { language: "en-US", ..self }
    }

    /// Shares a location with pages: longitude and latitude.
    pub fn located(self, x: f64, y: f64) -> Self {
        Self { place: Some((x, y)), ..self }
    }

    /// Stores an item in local storage, as left by an earlier visit.
    pub fn keeping(mut self, name: &'static str, value: &str) -> Self {
        self.kept.push((name, value.to_owned()));
        self
    }

    /// Runs a script in every page before the page's own scripts.
    pub fn running(mut self, script: &'static str) -> Self {
        self.first.push(script);
        self
    }

    /// Opens a path of the mall in a new page.
    #[track_caller]
    pub fn open(&self, path: &str) -> Page {
        let page = self.blank();
        let keep =
            self.kept.iter().map(|(name, value)| format!("localStorage.setItem({name:?}, {value:?});"));
        let script = json!({ "source": keep.collect::<String>() });
        let script = page.ask("Page.addScriptToEvaluateOnNewDocument", &script);
        page.go(path);
        page.ask("Page.removeScriptToEvaluateOnNewDocument", &script);
        page
    }

    /// Opens an empty page, for a test with preparations before the first navigation.
    #[track_caller]
    pub fn blank(&self) -> Page {
        let Profile { chromium, id } = &*self.profile;
        let target = json!({ "url": "about:blank", "browserContextId": id, "newWindow": true });
        let made = chromium.command("", "Target.createTarget", &target).unwrap();
        let attach = json!({ "targetId": made["targetId"], "flatten": true });
        let attached = chromium.command("", "Target.attachToTarget", &attach).unwrap();
        let session = attached["sessionId"].as_str().unwrap();
        let page = Page::new(&self.profile, session, &self.url, self.screen.is_touched());
        self.dress(&page);
        page
    }

    /// Applies screen, colour scheme, language and location to a page.
    fn dress(&self, page: &Page) {
        let Profile { chromium, id } = &*self.profile;
        let agent = chromium.command("", "Browser.getVersion", &json!({})).unwrap()["userAgent"].clone();
        let speaks = json!({ "userAgent": agent, "acceptLanguage": self.language });
        page.is_on(self.screen);
        page.ask("Emulation.setTouchEmulationEnabled", &json!({ "enabled": self.screen.is_touched() }));
        page.prefers(self.scheme);
        page.ask("Emulation.setUserAgentOverride", &speaks);
        page.ask("Emulation.setFocusEmulationEnabled", &json!({ "enabled": true }));
        for script in &self.first {
            page.ask("Page.addScriptToEvaluateOnNewDocument", &json!({ "source": script }));
        }
        if let Some((x, y)) = self.place {
            let grant = json!({ "permissions": ["geolocation"], "browserContextId": id });
            chromium.command("", "Browser.grantPermissions", &grant).unwrap();
            let place = json!({ "longitude": x, "latitude": y, "accuracy": 5 });
            page.ask("Emulation.setGeolocationOverride", &place);
        }
    }
}

/// The profile shared by one user's pages. Deleted with the last of browser and pages.
pub(super) struct Profile {
    pub(super) chromium: &'static Chromium,
    id: String,
}

impl Profile {
    fn new() -> Self {
        let chromium = Chromium::shared();
        let made = chromium.command("", "Target.createBrowserContext", &json!({})).unwrap();
        Self { chromium, id: made["browserContextId"].as_str().unwrap().to_owned() }
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        let id = json!({ "browserContextId": self.id });
        let _ = self.chromium.command("", "Target.disposeBrowserContext", &id);
    }
}
