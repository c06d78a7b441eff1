//! The page that `mallbox bench report` makes, opened from the disk.

use std::path::Path;

use mallbox_test_foreign_mall::{DIALECT, Fault, ForeignMall, Options};
use tempfile::TempDir;

use crate::harness::{Browser, Page, Place as _, Screen};
use crate::process::mallbox;

/// Measures a mall with a fault. Returns whether the bench found nothing wrong.
fn measure(dir: &Path, fault: Fault, result: &str) -> bool {
    let dialect = dir.join("my-mall");
    std::fs::write(&dialect, DIALECT).unwrap();
    let mall = ForeignMall::start(&Options { units: 20, fault, ..Options::default() });
    let (dialect, result) = (dialect.to_str().unwrap(), dir.join(result));
    let target = ["bench", "load", "--target", &mall.url(), "--dialect", dialect, "--voucher", "1"];
    let load = ["--users", "60", "--units", "20", "--json", result.to_str().unwrap()];
    let output = mallbox(&[&target[..], &load].concat()).output().unwrap();
    assert!(result.exists(), "{}", String::from_utf8_lossy(&output.stderr));
    output.status.success()
}

/// Makes a page of results in a directory.
fn report(dir: &Path, results: &[&str]) {
    let page = dir.join("report.html");
    let page = page.to_str().unwrap();
    let mut command = mallbox(&[&["bench", "report", "--output", page], results].concat());
    let output = command.current_dir(dir).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn open(dir: &Path, screen: Screen) -> Page {
    Browser::at(&format!("file://{}", dir.display())).on(screen).in_english().open("/report.html")
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn report_of_two_malls_names_the_one_that_oversold() {
    let dir = TempDir::new().unwrap();
    assert!(measure(dir.path(), Fault::None, "fine.json"));
    assert!(!measure(dir.path(), Fault::Oversells, "oversold.json"));
    report(dir.path(), &["fine.json", "oversold.json"]);
    for screen in [Screen::Phone, Screen::Desktop] {
        let page = open(dir.path(), screen);
        page.sees("mallbox benchmark report");
        page.sees("Oversold");
        page.fits();
        page.is_accessible();
        page.button("中文").click();
        page.sees("超卖");
        page.is_accessible();
    }
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn report_of_a_ramp_draws_every_rate_and_has_it_as_a_table() {
    let dir = TempDir::new().unwrap();
    let ramp = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser/report/ramp.json");
    report(dir.path(), &[ramp]);
    let page = open(dir.path(), Screen::Desktop);
    page.sees("Achieved against offered rate");
    let trials: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(ramp).unwrap()).unwrap();
    let trials = trials["runs"][0]["trials"].as_array().unwrap().len();
    let rows = page.run("document.querySelector('#rates table tbody').rows.length");
    assert_eq!(rows, trials);
    page.print_preview();
    page.fits();
}
