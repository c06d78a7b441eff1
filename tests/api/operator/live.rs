//! Live metrics: the event stream of `/ops/live`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use mallbox::fixture::Fault;
use mallbox::mall::Settings;
use mallbox_test_patience as patience;
use serde_json::{Value, json};

use super::world::{World, sale};

/// The mall's time limit of a request, which must not end a stream.
const DEADLINE: Duration = Duration::from_millis(1_500);

fn world() -> World {
    telling(3, Duration::from_millis(40))
}

/// Returns a mall with a number of stream places and an interval between events.
fn telling(live_places: usize, live_every: Duration) -> World {
    let settings = Settings { inbox: true, live_every, live_places, ..Settings::default() };
    World::with("/api", |mall| mall.settings(settings.without_limits()))
}

/// An open event stream.
pub struct Stream {
    lines: BufReader<TcpStream>,
    head: String,
}

impl Stream {
    pub fn open(w: &World, token: &str) -> Self {
        Self::over(w.connect(), token)
    }

    /// Opens another stream of operators.
    pub fn of(w: &World, path: &str, token: &str) -> Self {
        Self::at(w.connect(), path, token)
    }

    fn over(stream: TcpStream, token: &str) -> Self {
        Self::at(stream, "/ops/live", token)
    }

    fn at(mut stream: TcpStream, path: &str, token: &str) -> Self {
        let request = format!("GET /api{path} HTTP/1.1\r\nhost: localhost\r\nauthorization: {token}\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut lines = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") && lines.read_line(&mut head).unwrap() > 0 {}
        Self { lines, head }
    }

    pub fn status(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or("none")
    }

    /// Reads the next event: name, if any, and data. `None` at the end of the stream.
    fn next(&mut self) -> Option<(Option<String>, Value)> {
        let mut name = None;
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Some(event) = line.strip_prefix("event: ") {
                name = Some(event.trim_end().to_owned());
            } else if let Some(data) = line.strip_prefix("data: ") {
                return Some((name, serde_json::from_str(data).unwrap()));
            } else if line == "0\r\n" {
                // The last chunk: the response ended properly.
                return None;
            }
        }
    }

    pub fn figures(&mut self) -> Value {
        match self.next() {
            Some((None, figures)) => figures,
            other => panic!("no figures: {other:?}"),
        }
    }

    /// Reads metrics until they meet the condition.
    fn until(&mut self, is_so: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        loop {
            let figures = self.figures();
            if is_so(&figures) {
                return figures;
            }
            assert!(patience::is_within(began.elapsed(), Duration::from_secs(10)), "never so: {figures}");
        }
    }

    /// Returns the code of the final event, which must come within a few events.
    fn end(&mut self) -> String {
        let began = Instant::now();
        while patience::is_within(began.elapsed(), Duration::from_secs(5)) {
            if let Some((Some(name), end)) = self.next() {
                assert_eq!(name, "end");
                assert_eq!(self.next(), None, "nothing after the end");
                return end["code"].as_str().unwrap().to_owned();
            }
        }
        panic!("the stream did not end");
    }
}

/// Returns voucher 2 as the stream shows it.
fn sale_two(stock: u64, taken: u64, state: &str) -> Value {
    json!({
        "voucherId": 2, "title": "100元秒杀券", "stock": stock, "units": stock + taken, "taken": taken, "state": state,
    })
}

#[test]
fn metrics_are_sent_as_they_change_and_for_longer_than_a_call_may_take() {
    let w = world();
    let mut stream = Stream::open(&w, &w.operator);
    assert_eq!(stream.status(), "200");
    for header in ["content-type: text/event-stream", "cache-control: no-store", "x-accel-buffering: no"] {
        assert!(stream.head.contains(header), "{}", stream.head);
    }
    let began = Instant::now();
    let first = stream.figures();
    assert_eq!(first.get("lately"), None);
    for (name, want) in [
        ("time", json!("2026-11-21T20:00:00")),
        ("ready", json!(true)),
        ("troubles", json!([])),
        ("durability", json!(w.durability())),
        ("accepted", json!(0)),
        ("refused", json!({})),
        ("backlog", json!(0)),
        ("visits", json!({"uv": 0, "pv": 0})),
        ("sales", json!([sale_two(2, 0, "OPEN")])),
    ] {
        assert_eq!(first[name], want, "{name}");
    }
    assert!(first["memoryBytes"].as_u64().unwrap() > 1 << 20 && first["connections"].as_u64().unwrap() > 0);

    for (token, code) in [(&w.customer, None), (&w.customer, Some("ALREADY_BOUGHT")), (&w.other, None)] {
        let response = w.call("POST", "/voucher-order/seckill/2", token, "");
        assert_eq!(response.body.get("code").and_then(Value::as_str), code);
    }
    assert_eq!(w.call("POST", "/voucher-order/seckill/2", &w.operator, "").body["code"], "SOLD_OUT");
    let after = stream.until(|figures| figures["persisted"] == 2 && figures["refused"]["sold_out"] == 1);
    assert_eq!(after["accepted"], 2);
    assert_eq!(after["refused"], json!({"already_bought": 1, "sold_out": 1}));
    assert_eq!(after["sales"], json!([sale_two(0, 2, "SOLD_OUT")]));
    for token in [&w.customer, &w.other, &w.customer] {
        w.ok("GET", "/shop/1", token);
    }
    w.ok("GET", "/stats/visits", &w.operator);
    stream.until(|figures| figures["visits"] == json!({"uv": 2, "pv": 3}));
    let quiet = stream.until(|figures| figures["lately"]["accepted"] == 0);
    assert!(quiet["lately"]["millis"].as_u64().unwrap() > 0, "{quiet}");
    assert!(
        quiet["lately"].get("claimMillis").is_none() || quiet["lately"]["refused"] != json!({}),
        "{quiet}"
    );
    assert_eq!(w.call("POST", "/voucher-order/seckill/2", &w.operator, "").body["code"], "SOLD_OUT");
    let lately = stream.until(|figures| figures["lately"]["refused"]["sold_out"] == 1)["lately"].clone();
    let [p50, p90, p99] = ["p50", "p90", "p99"].map(|p| lately["claimMillis"][p].as_f64().unwrap());
    assert!(0.0 < p50 && p50 <= p90 && p90 <= p99 && p99 <= 1500.0, "{lately}");

    // Another sale opens by the clock alone.
    for _ in 0..3 {
        w.advance(Duration::from_secs(20 * 60));
        assert_eq!(w.call("GET", "/user/me", &w.operator, "").status, 200);
    }
    let later = stream.until(|figures| figures["time"] == "2026-11-21T21:00:00");
    let unlimited = json!({
        "voucherId": 3, "title": "100元秒杀券", "stock": -1, "units": -1, "taken": 0, "state": "OPEN",
    });
    assert_eq!(later["sales"][1], unlimited);
    while began.elapsed() < DEADLINE + Duration::from_millis(500) {
        stream.figures();
    }
}

/// Returns the parts by name, and whether each is healthy.
fn parts(figures: &Value) -> Vec<(&str, bool)> {
    let parts = figures["parts"].as_array().unwrap().iter();
    parts.map(|part| (part["name"].as_str().unwrap(), part["ok"] == true)).collect()
}

#[test]
fn each_part_is_named_with_the_owner_of_its_trouble() {
    let w = world();
    let mut stream = Stream::open(&w, &w.operator);
    let well = stream.figures();
    if w.is_on_servers() {
        // The mall's clock is frozen, and Redis' is not.
        assert_eq!(parts(&well), [("Redis", true), ("MySQL", true), ("clock", false)]);
        return;
    }
    assert_eq!(parts(&well), [("disk", true), ("order log", true), ("SQLite", true)]);
    assert_eq!(well["parts"][1], json!({"name": "order log", "ok": true, "durability": w.durability()}));
    w.mall.faults().add(Fault::of_disk().full()).unwrap();
    let full = stream.until(|figures| figures["ready"] == false);
    assert_eq!(parts(&full)[..2], [("disk", false), ("order log", true)]);
    let words = full["parts"][0]["troubles"][0].as_str().unwrap();
    assert!(words.contains("disk full"), "{words}");
    assert_eq!(full["troubles"][0], words);
    w.mall.faults().cancel_all();
    stream.until(|figures| parts(figures).iter().all(|(_, ok)| *ok));
}

#[test]
fn only_operators_may_watch_and_only_by_the_header() {
    let w = world();
    assert_eq!(Stream::open(&w, &w.customer).status(), "403");
    assert_eq!(Stream::open(&w, "x").status(), "401");
    let in_address =
        w.request("GET", &format!("/api/ops/live?token={0}&authorization={0}", w.operator), "", b"");
    assert_eq!((in_address.status, &in_address.body["code"]), (401, &json!("NOT_LOGGED_IN")));
    assert_eq!(w.call("POST", "/ops/live", &w.operator, "").status, 405);
}

#[test]
fn a_stream_ends_with_the_rights_of_who_watches() {
    let w = world();
    let operator = |id: u64| {
        let role = w.call("PUT", &format!("/ops/users/{id}/role"), &w.operator, r#"{"role":"operator"}"#);
        assert_eq!(role.status, 200);
    };
    operator(2);
    operator(3);
    let mut streams = [&w.customer, &w.other].map(|token| Stream::open(&w, token));
    streams.iter_mut().for_each(|stream| drop(stream.figures()));
    let [demoted, blocked] = &mut streams;
    w.call("PUT", "/ops/users/2/role", &w.operator, r#"{"role":"customer"}"#);
    assert_eq!(demoted.end(), "FORBIDDEN");
    w.call("POST", "/ops/users/3/block", &w.operator, r#"{"reason":"left"}"#);
    // The block takes effect before the sessions end; either may be noticed first.
    let end = blocked.end();
    assert!(["FORBIDDEN", "NOT_LOGGED_IN"].contains(&&*end), "{end}");

    let mut own = Stream::open(&w, &w.operator);
    own.figures();
    w.call("POST", "/user/logout", &w.operator, "");
    assert_eq!(own.end(), "NOT_LOGGED_IN");
}

#[test]
fn watching_keeps_no_session_alive() {
    let w = world();
    let mut stream = Stream::open(&w, &w.operator);
    for time in ["2026-11-21T20:14:59", "2026-11-21T20:29:59"] {
        w.advance(Duration::from_millis(15 * 60_000 - 1));
        stream.until(|figures| figures["time"] == time);
    }
    w.advance(Duration::from_millis(2));
    assert_eq!(stream.end(), "NOT_LOGGED_IN");
    assert_eq!(w.call("GET", "/user/me", &w.operator, "").status, 401);
}

#[test]
fn a_mall_that_stops_waits_for_nobody_who_watches() {
    let w = world();
    let mut stream = Stream::open(&w, &w.operator);
    stream.figures();
    let reader = std::thread::spawn(move || stream.end());
    let began = Instant::now();
    drop(w);
    assert!(patience::is_within(began.elapsed(), Duration::from_secs(3)), "{:?}", began.elapsed());
    assert_eq!(reader.join().unwrap(), "STOPPING");
}

#[test]
fn so_many_may_watch_and_no_more_until_one_leaves() {
    let w = world();
    let mut streams: Vec<_> = (0..3).map(|_| Stream::open(&w, &w.operator)).collect();
    streams.iter_mut().for_each(|stream| drop(stream.figures()));
    let full = Stream::open(&w, &w.operator);
    assert_eq!(full.status(), "503");
    assert!(full.head.contains("retry-after: 1"), "{}", full.head);
    streams.pop();
    let began = Instant::now();
    while Stream::open(&w, &w.operator).status() != "200" {
        assert!(patience::is_within(began.elapsed(), Duration::from_secs(5)), "no place became free");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Events of 5 KB, until the buffers of system and server are full. A client that never reads loses the
/// place.
#[test]
fn who_never_reads_loses_the_place() {
    let w = telling(1, Duration::from_millis(5));
    for _ in 0..99 {
        w.add("/voucher/seckill", &sale("2026-11-21T19:00:00", "2026-11-21T23:00:00", 1));
    }
    let stuck = Stream::over(w.connect_narrowly(), &w.operator);
    assert_eq!(Stream::open(&w, &w.operator).status(), "503");
    let began = Instant::now();
    while Stream::open(&w, &w.operator).status() != "200" {
        assert!(patience::is_within(began.elapsed(), Duration::from_secs(60)), "they keep their places");
        std::thread::sleep(Duration::from_millis(100));
    }
    drop(stuck);
}
