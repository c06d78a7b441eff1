//! Loads that authors of flash sales published with their figures, so that their tables can be repeated.

/// A published load: so many claims, each of another user, over so many connections in a closed loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Preset {
    /// Word on the command line.
    pub name: &'static str,
    /// What the authors did, and what they measured.
    pub published: &'static str,
    /// Where they say so.
    pub source: &'static str,
    /// Connections, one for each of their threads.
    pub connections: u16,
    /// Claims; users who click again in their load are other users here.
    pub claims: u32,
    /// Units of the sale; 0 = unlimited.
    pub units: u64,
}

/// All published loads, the smallest first.
pub const PRESETS: [Preset; 4] = [
    Preset {
        name: "thousand-threads",
        published: "JMeter, 1,000 threads at once, 100 units; the usual exercise for hm-dianping",
        source: "https://jishuzhan.net/article/1991831503500804097",
        connections: 1_000,
        claims: 1_000,
        units: 100,
    },
    Preset {
        name: "onecoupon",
        published: "JMeter, 100 threads, 400 loops",
        source: "https://nageoffer.com/onecoupon/pressure-test-seckill/",
        connections: 100,
        claims: 40_000,
        units: 0,
    },
    Preset {
        name: "flashflow",
        published: "autocannon, 100 connections, 5 s, 100 units; 89,000 requests, 17,772 /s (Node, Redis, RabbitMQ)",
        source: "https://github.com/SushanthMusham/flashflow",
        connections: 100,
        claims: 89_000,
        units: 100,
    },
    Preset {
        name: "artemis",
        published: "JMeter, 300 threads, 1,000 loops; 8,528 requests /s and 5,366 orders /s (Tomcat, Artemis, Oracle)",
        source: "https://github.com/yesc/artemis-disruptor-miaosha",
        connections: 300,
        claims: 300_000,
        units: 0,
    },
];

impl Preset {
    /// Finds a preset by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        PRESETS.into_iter().find(|preset| preset.name == name)
    }

    /// Says what the authors published, for the begin of a bench.
    pub(super) fn text(self) -> String {
        let Self { name, published, source, .. } = self;
        format!("{name}: {published}, on another machine than yours; {source}")
    }
}
