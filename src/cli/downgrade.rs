//! `mallbox downgrade`: makes a stopped mall's directory readable by the version before.

use std::path::{Path, PathBuf};

use clap::Args;
use mallbox_storage_embedded::PutBack;

use super::mall_directory;
use super::messages::UsageError;
use super::output::print;
use super::runtime::block_on;
use crate::language::{Language, sentence};

/// The flags of `downgrade`.
#[derive(Args)]
pub(super) struct Downgrade {
    /// The directory of a stopped mall.
    #[arg(long, env = "MALLBOX_DATA", default_value = ".", value_name = "DIR")]
    data: PathBuf,
    /// Puts the mall back as it was before the last upgrade. What happened since is set aside with the
    /// upgraded mall.
    #[arg(long)]
    before_upgrade: bool,
}

/// Rewrites the order log and the schema of the database, or exchanges the mall for the copy from before its
/// upgrade.
///
/// # Errors
/// One sentence: the directory holds no mall or no such copy, is in use, or cannot be read or written.
pub(super) fn run(downgrade: &Downgrade, l: Language) -> anyhow::Result<()> {
    let dir = &downgrade.data;
    if !mall_directory::is_mall(dir) {
        return Err(UsageError::NoMall(dir.clone()).into());
    }
    if downgrade.before_upgrade {
        return put_back(dir, l);
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

fn put_back(dir: &Path, l: Language) -> anyhow::Result<()> {
    let Some(PutBack { schema, upgraded }) = mallbox_storage_embedded::put_back(dir)? else {
        return Err(UsageError::NeverUpgraded(dir.to_owned()).into());
    };
    let path = dir.display();
    print(&sentence!(
        l,
        "{path}已恢复到上次升级之前（数据库结构{schema}）。请用上一个版本的程序启动；这个版本再次启动时会重新升级\n",
        "{path} is as it was before its last upgrade (schema {schema}). Start it with the program of the version \
         before; a start of this version upgrades it again\n"
    ));
    if let Some(upgraded) = upgraded {
        let upgraded = upgraded.display();
        print(&sentence!(
            l,
            "升级之后的商城，连同此后发生的一切，在{upgraded}\n",
            "the upgraded mall, with everything that happened since, is in {upgraded}\n"
        ));
    }
    Ok(())
}
