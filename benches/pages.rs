//! Time until a page is visible, bytes transferred for it, and layout shift.
//!
//! `cargo bench --bench pages [-- ROUNDS]` opens the first page in Chromium, in a fresh profile each round,
//! and then a second time in the same profile. A plain text page is opened as well, as the baseline of the
//! browser on this machine. Times are milliseconds since navigation started: the median, the quickest and
//! the slowest. Sizes are those of the first visit, headers included, as the browser counts them.
#![expect(clippy::unwrap_used, reason = "a bench that cannot run has nothing to say")]

#[path = "../tests/browser/harness/mod.rs"]
#[expect(dead_code, unused_imports, reason = "tests do more with a browser")]
mod harness;

use harness::{Browser, Page, Screen};
use mallbox::fixture::Mall;
use serde::Deserialize;

/// The pages to open: name, path, screen.
const PAGES: [(&str, &str, Screen); 3] = [
    ("plain text", "/healthz", Screen::Phone),
    ("home, phone", "/", Screen::Phone),
    ("home, desk", "/", Screen::Desktop),
];
const MEASURE_SCRIPT: &str = r#"(async () => {
    const seen = (type) => new Promise((tell) => {
        new PerformanceObserver((list) => tell(list.getEntries())).observe({ type, buffered: true });
        setTimeout(() => tell([]), 200);
    });
    const paint = (name) => performance.getEntriesByName(name)[0]?.startTime ?? 0;
    const loaded = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
    return {
        first: paint("first-paint"), content: paint("first-contentful-paint"),
        largest: (await seen("largest-contentful-paint")).at(-1)?.startTime ?? 0,
        moved: (await seen("layout-shift")).reduce((sum, { value }) => sum + value, 0),
        requests: loaded.length, bytes: loaded.reduce((sum, { transferSize }) => sum + transferSize, 0),
    };
})()"#;

/// Measurements of one page load.
#[derive(Deserialize)]
struct Loading {
    /// Milliseconds to first paint, to first contentful paint, and to largest contentful paint.
    first: f64,
    content: f64,
    largest: f64,
    /// Sum of the layout shifts as browsers count them; 0 is none.
    moved: f64,
    requests: u64,
    /// Bytes transferred over the wire.
    bytes: f64,
}

fn main() {
    let rounds = std::env::args().filter_map(|arg| arg.parse::<usize>().ok()).next().unwrap_or(20);
    let mall = Mall::start().unwrap();
    println!(
        "{:14} {:>16} {:>16} {:>16} {:>6} {:>9} {:>8}",
        "", "first paint", "content", "largest", "moved", "requests", "KB"
    );
    for (name, path, screen) in PAGES {
        let (mut fresh, mut again) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let browser = Browser::at(&mall.url()).on(screen);
            for loadings in [&mut fresh, &mut again] {
                let page = browser.open(path);
                // Only the plain text page makes the browser request the icon.
                page.forgive("/favicon.ico");
                loadings.push(measure(&page));
            }
        }
        print_row(name, &fresh, true);
        print_row("  again", &again, false);
    }
}

fn measure(page: &Page) -> Loading {
    page.rests();
    serde_json::from_value(page.run(MEASURE_SCRIPT)).unwrap()
}

fn print_row(name: &str, loadings: &[Loading], is_first: bool) {
    let times = |of: fn(&Loading) -> f64| {
        let mut all: Vec<f64> = loadings.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        format!("{:.0} ({:.0}-{:.0})", all[all.len() / 2], all[0], all[all.len() - 1])
    };
    let moved = loadings.iter().map(|loading| loading.moved).fold(0.0, f64::max);
    let [first, content, largest] =
        [times(|one| one.first), times(|one| one.content), times(|one| one.largest)];
    print!("{name:14} {first:>16} {content:>16} {largest:>16} {moved:>6.3}");
    if is_first {
        let most = |of: fn(&Loading) -> f64| loadings.iter().map(of).fold(0.0, f64::max);
        let requests = loadings.iter().map(|one| one.requests).max().unwrap_or_default();
        print!(" {requests:>9} {:>8.1}", most(|one| one.bytes) / 1e3);
    }
    println!();
}
