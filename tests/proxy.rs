//! A mall behind a reverse proxy: whose calls are counted as whose, with headers written by the test and with
//! the real nginx, configured as the manual says.

#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

#[path = "common/http.rs"]
mod http;
#[path = "common/process.rs"]
mod process;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use mallbox_test_patience::Deadline;
use mallbox_test_servers::free_port;
use serde_json::Value;
use tempfile::TempDir;

use process::{Process, address_in, mallbox};

const OPERATOR: &str = "13900000001";
/// Time limit of anything awaited.
const TIMEOUT: Duration = Duration::from_secs(30);
const LIST: &str = "/api/shop-type/list";
/// The demo's sale that is open.
const SALE: u64 = 51;

/// A mall with a limit of one call per second and address, which trusts 127.0.0.1.
struct Mall {
    process: Process,
    address: SocketAddr,
    dir: TempDir,
    /// The last byte of the next unused client address.
    next: AtomicU32,
}

impl Mall {
    fn start(flags: &[&str]) -> Self {
        Self::start_in(TempDir::new().unwrap(), flags)
    }

    /// Starts a mall with the demo's sales.
    fn with_sales(flags: &[&str]) -> Self {
        let dir = TempDir::new().unwrap();
        let mut demo = mallbox(&["demo", "--listen", "127.0.0.1:0", "--data"]);
        let demo = Process::start(demo.arg(dir.path().join("mall")));
        demo.line();
        drop(demo);
        Self::start_in(dir, &[&["--demo-data"], flags].concat())
    }

    fn start_in(dir: TempDir, flags: &[&str]) -> Self {
        let mut command = mallbox(&["serve", "--listen", "127.0.0.1:0", "--calls-per-second", "1", "--data"]);
        command.arg(dir.path().join("mall")).args(["--trusted-proxy", "127.0.0.1"]).args(flags);
        let process = Process::start(&mut command);
        Self { address: address_in(&process.line()), process, dir, next: AtomicU32::new(1) }
    }

    /// Returns an address that no call came from yet.
    fn unused_address(&self) -> String {
        let number = self.next.fetch_add(1, Relaxed);
        format!("198.51.{}.{}", number / 250, number % 250 + 1)
    }

    /// Sends a request as the proxy does, for a client at `address`.
    fn call(&self, method: &str, path: &str, address: &str, token: &str, body: &str) -> (u16, Value) {
        let headers = format!("x-forwarded-for: {address}\r\nauthorization: {token}\r\n");
        let answer = ask(TcpStream::connect(self.address).unwrap(), &request(method, path, &headers, body));
        (statuses(&answer)[0], body_of(&answer))
    }

    /// Returns the number of requests so far, this one excluded.
    fn requests(&self) -> u64 {
        let answer = ask(TcpStream::connect(self.address).unwrap(), &request("GET", "/metrics", "", ""));
        let counts = answer.lines().filter(|line| line.starts_with("mallbox_requests_total{"));
        counts.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
    }

    /// Logs an operator in, each call from an address of its own. Returns the token.
    fn operator(&self) -> String {
        let (status, body) = self.call(
            "POST",
            &format!("/api/user/code?phone={OPERATOR}&ticket=true"),
            &self.unused_address(),
            "",
            "",
        );
        assert_eq!(status, 200, "{body}");
        let code = self.process.code(OPERATOR);
        let form = serde_json::json!({"phone": OPERATOR, "code": code, "ticket": body["data"]}).to_string();
        let (_, body) = self.call("POST", "/api/user/login", &self.unused_address(), "", &form);
        let mut grant = mallbox(&["user", "grant", OPERATOR, "--data"]);
        let granted = grant.arg(self.dir.path().join("mall")).output().unwrap();
        assert!(granted.status.success(), "{granted:?}");
        body["data"].as_str().unwrap_or_else(|| panic!("{body}")).to_owned()
    }
}

fn request(method: &str, path: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nhost: mall.example.com\r\nconnection: close\r\n{headers}\
         content-length: {length}\r\n\r\n{body}"
    )
}

/// Sends a request and reads until the server closes the connection.
fn ask(stream: TcpStream, request: &str) -> String {
    String::from_utf8_lossy(&http::exchange(stream, request.as_bytes()).unwrap()).into_owned()
}

/// Connects from a chosen address of this machine.
fn connect_from(address: [u8; 4], to: SocketAddr) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    let connected = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::from((address, 0))).unwrap();
        socket.connect(to).await.unwrap().into_std().unwrap()
    });
    connected.set_nonblocking(false).unwrap();
    connected
}

/// Returns the status of each response.
fn statuses(answer: &str) -> Vec<u16> {
    answer.split("HTTP/1.1 ").skip(1).map(|answer| answer[..3].parse().unwrap()).collect()
}

fn body_of(answer: &str) -> Value {
    let (_, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    serde_json::from_str(body).unwrap_or_default()
}

/// Repeats an attempt until it returns true.
fn until(what: &str, mut attempt: impl FnMut() -> bool) {
    let deadline = Deadline::after(TIMEOUT);
    while !attempt() {
        assert!(!deadline.is_over(), "never so: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn clients_behind_a_trusted_proxy_are_limited_one_by_one() {
    let mall = Mall::start(&[]);
    // Counted as one address, most of these would be refused.
    for _ in 0..60 {
        assert_eq!(mall.call("GET", LIST, &mall.unused_address(), "", "").0, 200);
    }
    let busy = mall.unused_address();
    until("one client is refused", || mall.call("GET", LIST, &busy, "", "").0 == 429);
    // Whatever a client writes is to the left of the proxy's entry.
    let spoofed = || format!("{}, {busy}", mall.unused_address());
    until("and refused under other names", || mall.call("GET", LIST, &spoofed(), "", "").0 == 429);
    assert_eq!(mall.call("GET", LIST, &mall.unused_address(), "", "").0, 200, "the others are not");
    // The other header is not read: one address again.
    let other = || format!("forwarded: for={}\r\n", mall.unused_address());
    until("the other header is ignored", || {
        let stream = TcpStream::connect(mall.address).unwrap();
        statuses(&ask(stream, &request("GET", LIST, &other(), "")))[0] == 429
    });
}

#[test]
fn headers_of_a_peer_that_is_no_trusted_proxy_are_not_read() {
    let mall = Mall::start(&["--proxy-header", "forwarded"]);
    for peer in [[127, 0, 0, 2], [127, 0, 0, 3]] {
        until("a client that names another address each time is refused", || {
            let headers = format!("forwarded: for={}\r\n", mall.unused_address());
            let stream = connect_from(peer, mall.address);
            statuses(&ask(stream, &request("GET", LIST, &headers, "")))[0] == 429
        });
    }
    for _ in 0..20 {
        let headers = format!("forwarded: for=\"{}:4711\";proto=https\r\n", mall.unused_address());
        let stream = TcpStream::connect(mall.address).unwrap();
        assert_eq!(statuses(&ask(stream, &request("GET", LIST, &headers, "")))[0], 200);
    }
}

#[test]
fn an_address_of_a_shared_network_makes_ten_times_as_many_calls() {
    let mall = Mall::start(&["--shared-network", "203.0.113.0/24,2001:db8:1::/48"]);
    // In one connection, so that many calls fit into a second.
    let calls = |address: &str, number: usize| {
        let last = request("GET", LIST, &format!("x-forwarded-for: {address}\r\n"), "");
        let kept = last.replace("connection: close\r\n", "");
        let stream = TcpStream::connect(mall.address).unwrap();
        statuses(&ask(stream, &(kept.repeat(number - 1) + &last)))
    };
    for shared in ["203.0.113.7", "203.0.113.8", "2001:db8:1::9"] {
        assert_eq!(calls(shared, 10), [200; 10], "{shared}");
    }
    until("there is a limit all the same", || calls("203.0.113.7", 60).contains(&429));
    until("an address elsewhere is refused", || calls("203.0.114.7", 10).contains(&429));
}

#[test]
fn visitors_behind_a_trusted_proxy_are_counted_apart() {
    let mall = Mall::start(&[]);
    let token = mall.operator();
    let visitors = [mall.unused_address(), mall.unused_address(), mall.unused_address()];
    for visitor in &visitors {
        assert_eq!(mall.call("GET", LIST, visitor, "", "").0, 200);
    }
    until("three visitors are counted", || {
        let (status, body) = mall.call("GET", "/api/stats/visits", &mall.unused_address(), &token, "");
        assert_eq!(status, 200, "{body}");
        body["data"]["pv"] == 3 && body["data"]["uv"] == 3
    });
}

/// nginx with the configuration of the manual.
struct Nginx {
    child: Child,
    plain: u16,
    tls: u16,
    dir: TempDir,
}

impl Nginx {
    fn start(mall: SocketAddr) -> Self {
        let (dir, plain, tls) = (TempDir::new().unwrap(), free_port().unwrap(), free_port().unwrap());
        let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        certify(dir.path());
        let mut site = manual_configuration();
        for (manual, here) in [
            ("server 127.0.0.1:8080;", format!("server {mall};")),
            ("listen 80;", format!("listen {plain};")),
            ("listen 443 ssl", format!("listen {tls} ssl")),
            ("/etc/ssl/mall.example.com.pem", path("cert.pem")),
            ("/etc/ssl/mall.example.com.key", path("key.pem")),
            ("/var/log/nginx/mall.log", path("access.log")),
            ("/var/cache/nginx/mall", path("cache")),
        ] {
            assert_eq!(site.matches(manual).count(), 1, "{manual}: {site}");
            site = site.replace(manual, &here);
        }
        // The machine may be without IPv6.
        let site: String = site
            .lines()
            .filter(|line| !line.contains("[::]"))
            .fold(String::new(), |all, line| all + line + "\n");
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("{name}_temp_path {};\n", path(name)))
            .concat();
        let configuration = format!(
            "daemon off;\nmaster_process off;\npid {};\nerror_log stderr;\nevents {{}}\n\
             http {{\naccess_log off;\n{temporary}{site}}}\n",
            path("nginx.pid")
        );
        std::fs::write(path("nginx.conf"), configuration).unwrap();
        let child = Command::new("nginx")
            .args(["-p", &path(""), "-e", "stderr", "-c", &path("nginx.conf")])
            .stdin(Stdio::null())
            .env("PATH", format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default()))
            .spawn()
            .expect("nginx is installed");
        let mut nginx = Self { child, plain, tls, dir };
        until("nginx listens", || {
            assert!(nginx.child.try_wait().unwrap().is_none(), "nginx refused the manual's configuration");
            TcpStream::connect((Ipv4Addr::LOCALHOST, tls)).is_ok()
        });
        nginx
    }

    /// Returns a TLS client that connects from an address of this machine.
    fn client(&self, from: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("openssl");
        command.args(["s_client", "-connect", &format!("127.0.0.1:{}", self.tls)]);
        command.args(["-servername", "mall.example.com", "-bind", &format!("{from}:0")]).args(arguments);
        command.args(["-CAfile"]).arg(self.dir.path().join("cert.pem"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command
    }

    /// Sends bytes over TLS and reads until nginx closes the connection.
    fn ask(&self, from: &str, request: &str) -> String {
        let mut client = self.client(from, &["-quiet"]).spawn().unwrap();
        let mut input = client.stdin.take().unwrap();
        input.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        client.stdout.take().unwrap().read_to_end(&mut answer).unwrap();
        drop(input);
        client.wait().unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the nginx configuration of the manual, which is the same in both languages but for comments.
fn manual_configuration() -> String {
    let [en, zh] = ["proxy.md", "proxy.zh.md"].map(|page| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("web/manual").join(page);
        let page = std::fs::read_to_string(path).unwrap();
        let block = page.split("```nginx\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        let bare = block.lines().map(|line| line.split('#').next().unwrap_or_default().trim_end());
        bare.collect::<Vec<_>>().join("\n")
    });
    assert_eq!(en, zh);
    en
}

/// Makes a self-signed certificate.
fn certify(dir: &Path) {
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "1",
            "-subj",
            "/CN=mall.example.com",
        ])
        .args(["-keyout", "key.pem", "-out", "cert.pem"])
        .current_dir(dir)
        .output()
        .expect("openssl is installed");
    assert!(made.status.success(), "{made:?}");
}

#[test]
#[cfg_attr(not(feature = "proxy-tests"), ignore = "needs nginx and openssl, which tests/run installs")]
fn nginx_as_the_manual_configures_it_serves_the_mall_and_tells_clients_apart() {
    let mall = Mall::start(&["--host", "mall.example.com"]);
    let nginx = Nginx::start(mall.address);
    let token = mall.operator();

    // Plain HTTP leads to HTTPS, which speaks HTTP/2.
    let plain = TcpStream::connect((Ipv4Addr::LOCALHOST, nginx.plain)).unwrap();
    let moved = ask(plain, &request("GET", "/mall/", "", ""));
    assert!(moved.contains("Location: https://mall.example.com/mall/"), "{moved}");
    let offered = nginx.client("127.0.0.1", &["-alpn", "h2"]).stdin(Stdio::null()).output().unwrap();
    let offered = String::from_utf8_lossy(&offered.stdout).into_owned();
    assert!(offered.contains("ALPN protocol: h2"), "{offered}");

    // Each client has a limit of its own, and no header of a client changes that.
    for last in 10..18 {
        let answer = nginx.ask(&format!("127.0.0.{last}"), &request("GET", LIST, "", ""));
        assert_eq!(statuses(&answer), [200], "{answer}");
    }
    until("a client is refused, whatever addresses its headers name", || {
        let kept = |_| {
            let headers = format!("x-forwarded-for: {}\r\n", mall.unused_address());
            request("GET", LIST, &headers, "").replace("connection: close\r\n", "")
        };
        let many: String = (0..8).map(kept).collect();
        let answer = nginx.ask("127.0.0.20", &(many + &request("GET", LIST, "", "")));
        statuses(&answer).contains(&429)
    });

    // A body beyond nginx's own default reaches the mall, which refuses its content.
    let form = format!(
        "--b\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.png\"\r\n\r\n{}\r\n--b--\r\n",
        "x".repeat(3 << 20)
    );
    let headers = format!("authorization: {token}\r\ncontent-type: multipart/form-data; boundary=b\r\n");
    let answer = nginx.ask("127.0.0.30", &request("POST", "/api/upload/blog", &headers, &form));
    assert_eq!(body_of(&answer)["code"], "PICTURE_INVALID", "{answer}");

    // The log of accesses has the path, and nothing of the query.
    let phone = "13900000077";
    let answer = nginx.ask("127.0.0.40", &request("POST", &format!("/api/user/code?phone={phone}"), "", ""));
    assert_eq!(statuses(&answer), [200], "{answer}");
    let log = nginx.dir.path().join("access.log");
    until("the access is logged", || {
        let log = std::fs::read_to_string(&log).unwrap();
        assert!(!log.contains(phone), "{log}");
        log.contains(r#""POST /api/user/code" 200"#)
    });

    // Events arrive one by one.
    let mut client = nginx.client("127.0.0.31", &["-quiet"]).spawn().unwrap();
    let mut input = client.stdin.take().unwrap();
    let watch = request("GET", "/api/ops/live", &format!("authorization: {token}\r\n"), "");
    input.write_all(watch.as_bytes()).unwrap();
    let lines = BufReader::new(client.stdout.take().unwrap()).lines().map_while(Result::ok);
    let events = lines.filter(|line| line.starts_with("data:")).take(2).count();
    client.kill().unwrap();
    client.wait().unwrap();
    assert_eq!(events, 2);
}

/// A crowd opens the storefront and a sale: the mall is asked once a second for the document, and once in 30
/// seconds for the sale. What depends on the moment or on the user is never kept. `MALLBOX_VISITORS` sets the
/// size of the crowd.
#[test]
#[cfg_attr(not(feature = "proxy-tests"), ignore = "needs nginx and openssl, which tests/run installs")]
fn nginx_answers_a_crowd_by_itself_and_keeps_nothing_of_a_user() {
    let mall = Mall::with_sales(&["--host", "mall.example.com"]);
    let nginx = Nginx::start(mall.address);
    let visitors: usize = std::env::var("MALLBOX_VISITORS").map_or(800, |number| number.parse().unwrap());
    // As many as nginx allows in a connection.
    let batch = (visitors / 8).clamp(1, 1_000);
    let page = format!("/api/sale/{SALE}/page");
    let (before, began) = (mall.requests(), Instant::now());
    for path in ["/", &page] {
        let last = request("GET", path, "accept-encoding: gzip\r\n", "");
        let kept = last.replace("connection: close\r\n", "");
        for client in 0..visitors.div_ceil(batch) {
            let answer =
                nginx.ask(&format!("127.0.1.{}", client % 250 + 1), &(kept.repeat(batch - 1) + &last));
            assert_eq!(statuses(&answer), vec![200; batch], "{path}");
            assert!(!answer.to_lowercase().contains("x-accel-expires"), "{path}");
        }
    }
    let (asked, took) = (mall.requests() - before, began.elapsed());
    println!("{visitors} visitors in {took:?}: {asked} requests reached the mall");
    // The document and the sale, and the test's own request.
    let most = took.as_secs() + 1 + took.as_secs() / 30 + 1 + 1;
    assert!((3..=most).contains(&asked), "{asked} of {most}");

    // Whoever has the document already gets no second copy.
    let document = nginx.ask("127.0.2.1", &request("GET", "/", "", ""));
    let tag = document.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap();
    let known = format!("if-none-match: {tag}\r\n");
    assert_eq!(statuses(&nginx.ask("127.0.2.2", &request("GET", "/", &known, ""))), [304]);

    // The live state of a sale, and whatever belongs to a user, comes from the mall.
    let token = mall.operator();
    let before = mall.requests();
    for client in 3..6 {
        let answer =
            nginx.ask(&format!("127.0.2.{client}"), &request("GET", &format!("/api/sale/{SALE}"), "", ""));
        assert_eq!(statuses(&answer), [200], "{answer}");
    }
    assert_eq!(mall.requests() - before, 3 + 1);
    let own = |headers: &str, client: &str| nginx.ask(client, &request("GET", "/api/user/me", headers, ""));
    let answer = own(&format!("authorization: {token}\r\n"), "127.0.2.6");
    assert_eq!(statuses(&answer), [200], "{answer}");
    assert_eq!(statuses(&own("", "127.0.2.7")), [401]);
}
