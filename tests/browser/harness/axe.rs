//! Accessibility of a page, as far as axe-core can check.

use std::sync::OnceLock;
use std::{env, fs};

use serde_json::Value;

use super::Page;

const RUN: &str = r#"((how) => axe.run(document, { resultTypes: ["violations"], ...how }).then(({ violations }) =>
    violations.flatMap(({ id, impact, nodes }) => nodes.map((node) =>
        `${impact} ${id}: ${node.target.join(" ")}: ${node.failureSummary}`.replace(/\s+/g, " ")))))"#;

impl Page {
    /// Fails if axe-core reports any violation.
    #[track_caller]
    pub fn is_accessible(&self) {
        self.passes("({})");
    }

    /// Fails if axe-core reports insufficient colour contrast.
    #[track_caller]
    pub fn has_contrast(&self) {
        self.passes("({ runOnly: ['color-contrast'] })");
    }

    #[track_caller]
    fn passes(&self, how: &str) {
        self.rests();
        if self.run("typeof axe") != "object" {
            self.run(&format!("{}; 0", axe()));
        }
        let Value::Array(violations) = self.run(&format!("{RUN}{how}")) else {
            panic!("axe-core says nothing")
        };
        assert_eq!(violations, [""; 0], "not everybody can use {}", self.address());
    }
}

fn axe() -> &'static str {
    static AXE: OnceLock<String> = OnceLock::new();
    AXE.get_or_init(|| {
        let file = env::var_os("AXE").expect("AXE names the file axe.min.js, which tests/run fetches");
        fs::read_to_string(file).expect("AXE names a file")
    })
}
