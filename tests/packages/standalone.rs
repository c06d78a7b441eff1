//! Static binaries, as images carry them: in a root that holds nothing else.

use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, ensure};

use crate::common::http;
use crate::common::server::Server;

/// The account of `.packaging/image/Dockerfile`.
pub const ACCOUNT: u32 = 65_532;

/// Returns the static binaries that `MALLBOX_STATIC` names, separated by colons, each with the processor that
/// it is for: `x86_64=FILE`.
pub fn binaries() -> anyhow::Result<Vec<(String, PathBuf)>> {
    let named = std::env::var("MALLBOX_STATIC").context("MALLBOX_STATIC names the binaries")?;
    let pairs = named.split(':').map(|pair| pair.split_once('=').context("PROCESSOR=FILE"));
    pairs.map(|pair| pair.map(|(arch, file)| (arch.to_owned(), PathBuf::from(file)))).collect()
}

/// Returns a command that runs a program in `root` as [`ACCOUNT`], under an emulator for another processor.
fn inside(root: &Path, processor: &str) -> anyhow::Result<Vec<String>> {
    let root_text = root.to_str().context("a path in UTF-8")?.to_owned();
    let mut words = vec![format!("--userspec={ACCOUNT}:{ACCOUNT}"), root_text];
    if processor != std::env::consts::ARCH {
        let emulator = format!("qemu-{processor}-static");
        fs::copy(Path::new("/usr/bin").join(&emulator), root.join("emulator")).context(emulator)?;
        words.push("/emulator".to_owned());
    }
    words.push("/usr/bin/mallbox".to_owned());
    Ok(words)
}

#[test]
#[cfg_attr(
    not(feature = "static-tests"),
    ignore = "tests/packages/run builds the static binaries, and turns it on"
)]
fn a_static_binary_sells_in_an_empty_root_and_keeps_it_through_a_kill() -> anyhow::Result<()> {
    for (processor, binary) in binaries()? {
        let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
        let (root, log) = (site.path().join("root"), site.path().join("mallbox.log"));
        fs::create_dir_all(root.join("usr/bin"))?;
        fs::create_dir(root.join("data"))?;
        chown(root.join("data"), Some(ACCOUNT), Some(ACCOUNT))?;
        let began = Instant::now();
        fs::copy(&binary, root.join("usr/bin/mallbox")).with_context(|| binary.display().to_string())?;
        let words = inside(&root, &processor)?;
        let words =
            |more: &[&str]| [words.clone(), more.iter().copied().map(str::to_owned).collect()].concat();
        let serve = words(&["demo", "--data", "/data/mall", "--listen", "127.0.0.1:0", "--lang", "en"]);
        let serve: Vec<&str> = serve.iter().map(String::as_str).collect();
        let server = Server::start_program("chroot", &serve, &log).context(processor.clone())?;
        let order = buy(&server)?;
        println!("{processor}: {:?} from the file to the first sale", began.elapsed());
        server.kill()?;
        let server = Server::start_program("chroot", &serve, &log)?;
        let token = log_in(&server)?;
        let mine = http::ask(server.address, "GET", "/api/voucher-order/of/me", &token)?;
        ensure!(mine.text.contains(&order), "{processor}: order {order} is not in {}", mine.text);
        server.stop()?;
        let verify = Command::new("chroot").args(words(&["verify", "--data", "/data/mall"])).output()?;
        ensure!(verify.status.success(), "{processor}: {}", String::from_utf8_lossy(&verify.stdout));
    }
    Ok(())
}

/// Buys in the demo's running sale. Returns the order's id.
fn buy(server: &Server) -> anyhow::Result<String> {
    let token = log_in(server)?;
    let reply = http::ask(server.address, "POST", "/api/voucher-order/seckill/51", &token)?;
    Ok(reply.body["dataText"].as_str().with_context(|| reply.text.clone())?.to_owned())
}

/// Logs the demo's customer in, with the code from the demo's inbox.
fn log_in(server: &Server) -> anyhow::Result<String> {
    const PHONE: &str = "13900000002";
    http::ask(server.address, "POST", &format!("/api/user/code?phone={PHONE}"), "")?;
    let inbox = http::ask(server.address, "GET", &format!("/api/demo/inbox?phone={PHONE}"), "")?;
    let code = inbox.body["data"]["code"].as_str().with_context(|| inbox.text.clone())?;
    let form = format!(r#"{{"phone":"{PHONE}","code":"{code}"}}"#);
    let reply = http::send(server.address, "POST", "/api/user/login", "", &form)?;
    Ok(reply.body["data"].as_str().with_context(|| reply.text.clone())?.to_owned())
}
