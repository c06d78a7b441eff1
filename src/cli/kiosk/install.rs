//! `mallbox kiosk install`: sets the kiosk up, or shows what that would change.

use clap::Args;

use super::address::{Page, PageFlags};
use super::files::{self, UNIT};
use super::plan::{self, Finding, Step};
use super::record::{self, Record};
use super::system;
use crate::cli::messages::{CommandFailure, KioskFailure};
use crate::cli::output::print;
use crate::language::{Language, columns, padded, sentence};

/// The flags of `kiosk install`.
#[derive(Args)]
pub(in crate::cli) struct Install {
    #[command(flatten)]
    page: PageFlags,
    /// Prints every file with its content and every command, and changes nothing. Needs no root.
    #[arg(long)]
    dry_run: bool,
    /// Replaces files that were changed by hand, or are somebody else's.
    #[arg(long)]
    force: bool,
}

/// Sets the kiosk up, and prints what to do next. Returns whether every file is as it should be.
///
/// # Errors
/// One sentence for the user of the command line. Nothing has changed, unless the sentence says what has.
pub(super) fn run(install: &Install, l: Language) -> anyhow::Result<bool> {
    let page = install.page.page(l)?;
    let files = files::of(&page);
    let has_mall = system::has_mall();
    let steps = plan::steps(&files, page.is_local && has_mall);
    if !install.dry_run {
        system::check_root("install")?;
        system::check_fit()?;
    }
    let record = Record::read().map_err(|error| stopped(&steps, 0, l).with_cause(error))?;
    let mut record = record.unwrap_or_default();
    if install.dry_run {
        print(&preview(&steps, &record, install.force, l)?);
        return Ok(true);
    }
    system::open_new_files();
    let outcome = take(&steps, &mut record, install.force, l)?;
    for file in files.iter().filter(|file| !outcome.foreign.iter().any(|path| path == file.path)) {
        record.settle(file.path, &file.content);
    }
    record.store().map_err(|error| stopped(&steps, steps.len(), l).with_cause(error))?;
    print(&report(&page, &outcome, has_mall, l));
    Ok(outcome.foreign.is_empty())
}

/// What the steps did.
struct Outcome {
    /// The steps taken.
    taken: Vec<String>,
    /// Files that stay, although their content is another one.
    foreign: Vec<String>,
}

/// Takes the steps that are left.
fn take(steps: &[Step<'_>], record: &mut Record, force: bool, l: Language) -> anyhow::Result<Outcome> {
    let mut outcome = Outcome { taken: Vec::new(), foreign: Vec::new() };
    for (at, step) in steps.iter().enumerate() {
        let taken = step.finding(record).and_then(|finding| match finding {
            Finding::Done => Ok(false),
            Finding::Foreign if !force => {
                outcome.foreign.push(step.words(l));
                Ok(false)
            }
            _ => step.take(record).map(|()| true),
        });
        match taken {
            Ok(true) => outcome.taken.push(step.words(l)),
            Ok(false) => {}
            Err(error) => {
                print(&done(&outcome.taken, l));
                return Err(stopped(steps, at, l).with_cause(error));
            }
        }
    }
    Ok(outcome)
}

/// Returns the failure of a step, with the steps after it.
fn stopped(steps: &[Step<'_>], at: usize, l: Language) -> CommandFailure {
    let mut left = steps.iter().skip(at).map(|step| step.words(l));
    let step = left.next().unwrap_or_else(|| record::FILE.to_owned());
    CommandFailure::Kiosk(KioskFailure::Stopped { step, left: left.collect() })
}

/// Returns every file and every command, with what is left to do.
fn preview(steps: &[Step<'_>], record: &Record, force: bool, l: Language) -> anyhow::Result<String> {
    let (mut text, mut writes) = (String::new(), false);
    for (at, step) in steps.iter().enumerate() {
        let mut finding = step.finding(record).map_err(|error| stopped(steps, at, l).with_cause(error))?;
        match step {
            Step::File(_) => writes |= finding == Finding::ToDo || force && finding == Finding::Foreign,
            Step::Reload if writes => finding = Finding::ToDo,
            _ => {}
        }
        let state = match finding {
            Finding::Done => sentence!(l, "已经如此", "as it is"),
            Finding::ToDo => sentence!(l, "待完成", "to do"),
            Finding::Foreign if force => {
                sentence!(l, "已被手动改动，将被替换", "changed by hand, to be replaced")
            }
            Finding::Foreign => sentence!(l, "已被手动改动，保留", "changed by hand, stays"),
        };
        text += &match (step, step.command()) {
            (Step::File(file), _) => format!("## {} ({state})\n{}\n", file.path, file.content),
            (_, command) => format!("## {} ({state})\n", command.unwrap_or_default()),
        };
    }
    Ok(text)
}

/// Returns the lines of the steps taken.
fn done(taken: &[String], l: Language) -> String {
    taken.iter().map(|step| sentence!(l, "已完成  {step}\n", "done  {step}\n")).collect()
}

/// Returns what to do next, then what was done.
fn report(page: &Page, outcome: &Outcome, has_mall: bool, l: Language) -> String {
    let address = &page.address;
    let is_new = !outcome.taken.is_empty();
    let mut text = if is_new {
        sentence!(l, "终端已就绪：{address}\n", "the kiosk is set up: {address}\n")
    } else {
        sentence!(
            l,
            "没有改动，终端的设置已是如此：{address}\n",
            "nothing changed, the kiosk is set up: {address}\n"
        )
    };
    let mut lines = next(l);
    if page.is_local && !has_mall {
        lines.insert(0, (
            sentence!(l, "先装商城", "mall first"),
            sentence!(
                l,
                "这台电脑上没有mallbox.service；请安装Debian包，再运行一次；见mallbox manual service",
                "there is no mallbox.service here; install the Debian package, then repeat this: mallbox manual service"
            ),
        ));
    }
    if system::has_chinese_font() == Some(false) {
        lines.push((
            sentence!(l, "缺少中文字体", "fonts"),
            sentence!(
                l,
                "屏幕上的中文会显示为方框：sudo apt-get install fonts-noto-cjk",
                "Chinese names would be boxes: sudo apt-get install fonts-noto-cjk"
            ),
        ));
    }
    let width = lines.iter().map(|(name, _)| columns(name)).max().unwrap_or_default() + 2;
    for (name, line) in &lines {
        text += &format!("{}{line}\n", padded(name, width));
    }
    for path in &outcome.foreign {
        text += &sentence!(
            l,
            "{path}已被手动改动，或不是本命令写的，因此保留；要替换请加--force\n",
            "{path} was changed by hand, or is not of this command, and stays; pass --force to replace it\n"
        );
    }
    text + &done(&outcome.taken, l)
}

/// Returns what an operator does after the installation.
fn next(l: Language) -> Vec<(String, String)> {
    vec![
        (
            sentence!(l, "启动", "start"),
            sentence!(
                l,
                "重启电脑，或运行sudo systemctl restart {UNIT}；硬件看门狗在重启电脑后生效",
                "restart the computer, or: sudo systemctl restart {UNIT}; the hardware watchdog needs the former"
            ),
        ),
        (
            sentence!(l, "密钥", "key"),
            sentence!(
                l,
                "在管理后台的“安全”“自助终端”里添加这台终端，再运行sudo mallbox kiosk key，粘贴显示的链接",
                "add the kiosk at the console under Security, Kiosks; then type sudo mallbox kiosk key, and paste the link"
            ),
        ),
        (
            sentence!(l, "维护", "maintenance"),
            sentence!(
                l,
                "按Ctrl+Alt+F2或用ssh登录，Ctrl+Alt+F1返回；sudo systemctl stop {UNIT}停止终端，直到下次启动",
                "log in at Ctrl+Alt+F2 or by ssh, Ctrl+Alt+F1 leads back; sudo systemctl stop {UNIT} ends it until \
                 the next start"
            ),
        ),
        (sentence!(l, "移除", "removal"), "sudo mallbox kiosk remove".to_owned()),
    ]
}
