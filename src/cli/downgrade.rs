//! `mallbox downgrade`: makes a stopped mall's directory readable by the version before.

use std::path::PathBuf;

use clap::Args;

use super::mall_directory;
use super::messages::UsageError;
use super::output::print;
use super::running_mall::block_on;
use crate::language::{Language, sentence};

/// The flags of `downgrade`.
#[derive(Args)]
pub(super) struct Downgrade {
    /// The directory of a stopped mall.
    #[arg(long, env = "MALLBOX_DATA", default_value = ".", value_name = "DIR")]
    data: PathBuf,
}

/// Rewrites the order log and the schema of the database.
///
/// # Errors
/// One sentence: the directory holds no mall, is in use, or cannot be read or written.
pub(super) fn run(downgrade: &Downgrade, l: Language) -> anyhow::Result<()> {
    let dir = &downgrade.data;
    if !mall_directory::is_mall(dir) {
        return Err(UsageError::NoMall(dir.clone()).into());
    }
    block_on(async { Ok(mallbox_storage_embedded::downgrade(dir).await?) })?;
    let dir = dir.display();
    print(&sentence!(
        l,
        "{dir}现在可以由上一个版本打开，待处理的抢购和登录状态都在。请用上一个版本的程序启动；这个版本再次启动时会重新升级\n",
        "The version before can open {dir} now, with all pending claims and sessions. Start it with that \
         version's program; a start of this version upgrades the directory again\n"
    ));
    Ok(())
}
