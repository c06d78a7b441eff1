//! A way of a comparison, as results name it.

use serde::Serialize;

/// A way, as results name it. Names of fields are those of the published file.
#[derive(Clone, Copy, Serialize)]
pub struct AboutWay {
    /// Name on the command line.
    pub way: &'static str,
    /// Commands or calls of the way.
    pub about: &'static str,
}

impl From<&mallbox_bench_queues::Way> for AboutWay {
    fn from(way: &mallbox_bench_queues::Way) -> Self {
        Self { way: way.name, about: way.about }
    }
}

impl From<&mallbox_bench_reads::Way> for AboutWay {
    fn from(way: &mallbox_bench_reads::Way) -> Self {
        Self { way: way.name, about: way.about }
    }
}
