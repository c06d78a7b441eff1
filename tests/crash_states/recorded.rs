//! Runs of the real binary, recorded on a file system in memory.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use mallbox_storage::{ShopId, VoucherId};
use mallbox_test_checker::History;
use mallbox_test_patience as patience;
use mallbox_test_servers::without_settings;
use mallbox_test_write_recorder::{Data, Disk, Entries, Image, Mount, Plan, Recorder, Trace};
use parking_lot::Mutex;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use tempfile::TempDir;

use crate::common::dice::Dice;
use crate::common::log_ins;
use crate::common::mall::{self, Mall, Size};
use crate::common::rush::Rush;
use crate::common::server::Server;
use crate::common::shoppers::{self, Behaviour, ShopperScript};
use crate::marks::{Marked, Marks};

const MALLBOX: &str = env!("CARGO_BIN_EXE_mallbox");
const DUMP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/import/dumps/mysqldump.sql");
const SIZE: Size = Size { people: 32, sales: 3, units: 10 };
const CONNECTIONS: usize = 8;
/// Responses of one rush, which spans two checkpoints of the order log.
const RESPONSES: u64 = 160;
const REQUESTS_PER_SECOND: f64 = 80.0;
const LOG_IN_PAUSE: Duration = Duration::from_millis(40);
/// More than a dump has.
const SHOPS_MAX: u32 = 1_000;
/// Longer than the interval between two checkpoints of the order log.
const CHECKPOINT: Duration = Duration::from_millis(1_300);

/// What must be there after a cut, besides the effects of the clients' calls.
#[derive(Clone, Debug)]
pub enum Promised {
    /// Nothing.
    Nothing,
    /// This number of shops from a position on, and all or none before.
    Shops { from: usize, count: usize },
}

/// A recorded run.
pub struct Recorded {
    pub name: String,
    pub trace: Trace,
    pub history: Cuts,
    pub promised: Promised,
    pub operator: String,
    pub sales: Vec<VoucherId>,
}

/// What clients know at a cut.
pub enum Cuts {
    /// Depends on the position.
    Marked(Marks),
    /// No client sent anything during the run.
    Fixed(History),
}

impl Cuts {
    pub fn at(&self, cut: usize) -> History {
        match self {
            Self::Marked(marks) => marks.history_at(cut),
            Self::Fixed(history) => history.clone(),
        }
    }

    /// Returns a number that is equal for cuts with equal responses.
    pub fn clock_at(&self, cut: usize) -> u64 {
        match self {
            Self::Marked(marks) => marks.clock_at(cut),
            Self::Fixed(_) => 0,
        }
    }
}

/// Place of mounts and logs.
pub struct Site {
    dir: TempDir,
    pub durability: String,
}

impl Site {
    pub fn new() -> anyhow::Result<Self> {
        let durability = std::env::var("MALLBOX_DURABILITY").unwrap_or_else(|_| "power".to_owned());
        let parent = Path::new("/dev/shm");
        remove_leftovers(parent);
        let prefix = format!("{PREFIX}{}-", std::process::id());
        Ok(Self { dir: tempfile::Builder::new().prefix(&prefix).tempdir_in(parent)?, durability })
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn log(&self) -> PathBuf {
        self.path().join("mallbox.log")
    }

    fn mount(&self, recorder: &Recorder) -> anyhow::Result<Mount> {
        let at = self.path().join("mount");
        std::fs::create_dir_all(&at)?;
        recorder.mount(&at).context("the recorder cannot be mounted")
    }
}

/// Prefix of directories, followed by the id of the process.
const PREFIX: &str = "crash-states-";

/// Removes directories of killed runs, with their mounts.
fn remove_leftovers(parent: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let owner = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next());
        if owner.is_some_and(|owner| !Path::new("/proc").join(owner).exists()) {
            Mount::remove_leftover(&entry.path().join("mount"));
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Records an import, a start and a stop.
pub fn import(site: &Site) -> anyhow::Result<Recorded> {
    let recorder = Recorder::new(Image::default());
    let mount = site.mount(&recorder)?;
    let data = mount.path().join("mall");
    let mut command = Command::new(MALLBOX);
    without_settings(&mut command);
    command.args(["import", DUMP, "--payment", "sandbox", "--cut-off-is-fine", "--data"]).arg(&data);
    let output = command.stdin(Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "the import ended with {}: {said}", output.status);
    let imported = recorder.position();
    Server::start(&data, &site.log(), &site.durability)?.stop()?;
    let trace = recorder.trace();
    let last = tempfile::Builder::new().prefix("imported-").tempdir_in(site.path())?;
    latest(&trace).write_to(last.path())?;
    let count = mall::runtime()?.block_on(async {
        // Not on the mount: a process that maps files of its own file system may deadlock.
        let storage = mall::open(&last.path().join("mall")).await?;
        anyhow::Ok(storage.catalogue.shops.ids(ShopId::new(0), SHOPS_MAX).await?.len())
    })?;
    Ok(Recorded {
        name: "import".to_owned(),
        trace,
        history: Cuts::Fixed(History::default()),
        promised: Promised::Shops { from: imported, count },
        operator: String::new(),
        sales: Vec::new(),
    })
}

/// Returns the files at the end of a trace.
fn latest(trace: &Trace) -> Image {
    let mut disk = Disk::of(&trace.start);
    trace.events.iter().for_each(|event| disk.advance(event));
    disk.cut(Plan { data: Data::All, entries: Entries::All }, &mut StdRng::seed_from_u64(0))
}

/// Records clients that buy, pay, cancel, write and log in, through a stop, a start, a kill and a recovery.
pub fn selling(site: &Site, dice: &mut Dice) -> anyhow::Result<Recorded> {
    let made = tempfile::Builder::new().prefix("made-").tempdir_in(site.path())?;
    let mall = mall::make(&made.path().join("mall"), SIZE)?;
    let operator = mall::appoint_operator(&made.path().join("mall"), &mall)?;
    let recorder = Recorder::new(Image::read(made.path())?);
    let mount = site.mount(&recorder)?;
    let data = mount.path().join("mall");
    let history = shoppers::history(&mall, &mall.sales);
    let marks = Marks::new(&recorder, &history);
    let mut selling = Selling { site, mall, history, marks, dice };
    for (sale, is_killed) in [(0, false), (1, true), (2, false)] {
        selling.run(&data, sale, is_killed)?;
    }
    let Selling { mall, marks, .. } = selling;
    Ok(Recorded {
        name: "selling".to_owned(),
        trace: recorder.trace(),
        history: Cuts::Marked(marks),
        promised: Promised::Nothing,
        operator,
        sales: mall.sales,
    })
}

struct Selling<'a> {
    site: &'a Site,
    mall: Mall,
    history: Arc<Mutex<History>>,
    marks: Marks,
    dice: &'a mut Dice,
}

impl Selling<'_> {
    /// Starts the mall, lets clients buy in one sale, and stops or kills the mall.
    fn run(&mut self, data: &Path, sale: usize, is_killed: bool) -> anyhow::Result<()> {
        self.marks.mark();
        let mut server = Server::start(data, &self.site.log(), &self.site.durability)?;
        let lines = paced(server.take_lines());
        let logging_in = log_ins::begin(server.address, lines, &self.history);
        let (sale, dice) = (self.mall.sales[sale], self.dice.split());
        let script = ShopperScript::new(&self.history, sale, Behaviour::Live, CONNECTIONS, dice);
        let script = Marked::new(script, &self.marks);
        let rush = Rush::paced(REQUESTS_PER_SECOND, server.address, CONNECTIONS, script);
        rush.wait_for(RESPONSES);
        if is_killed {
            server.kill()?;
            rush.end()?;
        } else {
            rush.report()?;
            server.stop()?;
        }
        logging_in.join().ok().context("the log-ins panicked")?;
        if is_killed {
            self.history.lock().record_crash();
        }
        self.marks.mark();
        Ok(())
    }
}

/// Passes lines on with pauses, so that log-ins do not outnumber everything else.
fn paced(lines: Receiver<String>) -> Receiver<String> {
    let (sender, slower) = channel();
    std::thread::spawn(move || {
        for line in lines {
            std::thread::sleep(LOG_IN_PAUSE);
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    slower
}

/// Records a start on a disk after a power cut, and the recovery.
pub fn recovery(site: &Site, of: &Recorded, cut: usize, image: Image) -> anyhow::Result<Recorded> {
    let recorder = Recorder::new(image);
    let mount = site.mount(&recorder)?;
    let server = Server::start(&mount.path().join("mall"), &site.log(), &site.durability)?;
    std::thread::sleep(patience::scaled(CHECKPOINT));
    server.stop()?;
    Ok(Recorded {
        name: format!("recovery of {} at {cut}", of.name),
        trace: recorder.trace(),
        history: Cuts::Fixed(of.history.at(cut)),
        promised: match of.promised {
            Promised::Shops { from, count } if from <= cut => Promised::Shops { from: 0, count },
            _ => Promised::Nothing,
        },
        operator: of.operator.clone(),
        sales: of.sales.clone(),
    })
}
