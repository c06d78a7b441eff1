//! `mallbox learn`.

use clap::Args;

use crate::bench;
use crate::language::{Language, sentence};

/// The flags of `learn`.
#[derive(Args, Debug)]
pub struct Learn {
    /// Loopback port of the page; 0 = any free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
}

/// Serves the page until interrupted.
///
/// # Errors
/// A port that is taken.
pub fn run(learn: &Learn, l: Language) -> anyhow::Result<()> {
    bench::serve_learn(learn.port, |url, missing| {
        println!("{}", sentence!(l, "打开 {url}", "open {url}"));
        if missing.is_empty() {
            println!(
                "{}",
                sentence!(
                    l,
                    "页面上的按钮会在本机另起Redis和MariaDB，一次跑一项；按Ctrl-C全部结束",
                    "its buttons run a Redis and a MariaDB of their own, one job at a time; Ctrl-C ends everything"
                )
            );
        } else {
            let missing = missing.join(if l == Language::Zh { "、" } else { ", " });
            println!(
                "{}",
                sentence!(
                    l,
                    "没有安装{missing}：可以阅读，但运行按钮不可用",
                    "{missing}: not installed; everything can be read, nothing can be run"
                )
            );
        }
    })
}
