//! One disk through several power cuts.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use mallbox_storage::VoucherId;
use mallbox_test_checker::{History, Summary};
use parking_lot::Mutex;

use crate::common::aftermath::check_blobs;
use crate::common::dice::Dice;
use crate::common::image::{DiskSite, Mounted};
use crate::common::inspection::{inspect_in, settle_and_sell_out};
use crate::common::log_ins;
use crate::common::mall::{self, Mall, Size};
use crate::common::moment::Moment;
use crate::common::rush::Rush;
use crate::common::server::{self, Server};
use crate::common::shoppers::{self, Behaviour, ShopperScript};

/// Concurrent claims: a group commit takes all waiting claims, so the number determines the size of a write.
const CONNECTIONS: [usize; 5] = [64, 64, 512, 512, CONNECTIONS_MAX];
pub const CONNECTIONS_MAX: usize = 4_096;
/// More users than connections. Sales are sold out before a cut, or not.
const SIZE: Size = Size { people: 5_000, sales: 3, units: 1_200 };
/// Maximum number of cuts during one start.
const CUTS_PER_START_MAX: u64 = 3;
/// Time for the last response in transit to be read.
const READ_DELAY: Duration = Duration::from_millis(100);

/// A disk with a prepared mall, the beginning of every chain.
pub struct Template {
    image: PathBuf,
    mall: Mall,
    operator: String,
}

impl Template {
    pub fn make(site: &DiskSite) -> anyhow::Result<Self> {
        let image = site.format("template.img")?;
        let disk = site.mount(&image, "template")?;
        let data = disk.path().join("mall");
        let mall = mall::make(&data, SIZE)?;
        let operator = mall::appoint_operator(&data, &mall)?;
        Ok(Self { image, mall, operator })
    }
}

/// Number of cuts and checks so far.
#[derive(Default, Debug)]
pub struct Tally {
    in_rush: u64,
    in_start: u64,
    in_recovery: u64,
    inspections: u64,
    calls: Summary,
}

impl Tally {
    pub fn cuts(&self) -> u64 {
        self.in_rush + self.in_start + self.in_recovery
    }
}

/// A disk, and the history of its clients.
pub struct Chain<'a> {
    site: &'a DiskSite,
    template: &'a Template,
    /// The disk as left by the last cut.
    image: PathBuf,
    cuts: u32,
    history: Arc<Mutex<History>>,
    durability: String,
    /// Duration of the last start.
    start: Duration,
}

impl<'a> Chain<'a> {
    pub fn begin(site: &'a DiskSite, template: &'a Template) -> anyhow::Result<Self> {
        Ok(Self {
            site,
            template,
            image: site.copy(&template.image, "cut-0.img")?,
            cuts: 0,
            history: shoppers::history(&template.mall, &template.mall.sales),
            durability: std::env::var("MALLBOX_DURABILITY").unwrap_or_else(|_| "power".to_owned()),
            start: Duration::from_millis(500),
        })
    }

    /// Runs each sale: a rush and a cut, optional cuts of the recovery, a check; then everything is sold, and
    /// the next start may be cut, too.
    pub fn live(&mut self, cuts: u64, tally: &mut Tally, dice: &mut Dice) -> anyhow::Result<()> {
        for sale in self.template.mall.sales.clone() {
            if tally.cuts() >= cuts {
                break;
            }
            self.cut_in_rush(sale, dice)?;
            tally.in_rush += 1;
            for _ in 0..dice.below(CUTS_PER_START_MAX) {
                self.cut_in_start(dice)?;
                tally.in_recovery += 1;
            }
            let (disk, server) = self.inspect(tally)?;
            settle_and_sell_out([server.address], &self.history, sale, dice)?;
            inspect_in(&server, &data(&disk), &self.history.lock(), &self.template.operator)?;
            server.stop()?;
            check_blobs(&data(&disk))?;
            drop(disk);
            if dice.chance(40) {
                self.cut_in_start(dice)?;
                tally.in_start += 1;
                let (_disk, server) = self.inspect(tally)?;
                server.stop()?;
            }
        }
        tally.calls += self.history.lock().summary();
        Ok(())
    }

    /// Copies the image to the directory in `MALLBOX_KEEP`, if set.
    pub fn keep(&self, cut: u64) -> anyhow::Result<()> {
        if let Some(dir) = std::env::var_os("MALLBOX_KEEP") {
            let kept = Path::new(&dir).join(format!("cut-{cut}.img"));
            self.site.copy_to(&self.image, &kept)?;
            println!("the image is kept as {}", kept.display());
        }
        Ok(())
    }

    fn log(&self) -> PathBuf {
        self.site.path().join("mallbox.log")
    }

    fn mount(&self) -> anyhow::Result<Mounted> {
        self.site.mount(&self.image, &format!("disk-{}", self.cuts))
    }

    /// Starts the mall on the disk left by the last cut, and checks it against every response.
    fn inspect(&mut self, tally: &mut Tally) -> anyhow::Result<(Mounted, Server)> {
        let disk = self.mount()?;
        let server = self.start(&disk)?;
        tally.inspections += 1;
        inspect_in(&server, &data(&disk), &self.history.lock(), &self.template.operator)?;
        Ok((disk, server))
    }

    fn start(&mut self, disk: &Mounted) -> anyhow::Result<Server> {
        let began = Instant::now();
        let server = Server::start(&data(disk), &self.log(), &self.durability)?;
        self.start = began.elapsed();
        Ok(server)
    }

    fn cut_in_rush(&mut self, sale: VoucherId, dice: &mut Dice) -> anyhow::Result<()> {
        let disk = self.mount()?;
        let mut server = self.start(&disk)?;
        let connections = dice.pick(&CONNECTIONS);
        let lines = server.take_lines();
        let logging_in = log_ins::begin(server.address, lines, &self.history);
        let clients = ShopperScript::new(&self.history, sale, Behaviour::Live, connections, dice.split());
        let rush = Rush::start(server.address, connections, clients);
        rush.go_on_for_a_while(dice, 2 * self.template.mall.units);
        server.freeze()?;
        std::thread::sleep(READ_DELAY);
        let known = self.history.lock().clone();
        self.cut(server, disk)?;
        rush.end()?;
        logging_in.join().ok().context("the log-ins panicked")?;
        let mut history = self.history.lock();
        *history = known;
        history.record_crash();
        Ok(())
    }

    fn cut_in_start(&mut self, dice: &mut Dice) -> anyhow::Result<()> {
        let disk = self.mount()?;
        let (data, moment) = (data(&disk), Moment::of_start(self.start, dice));
        let server = server::start_and_freeze(&data, &self.log(), &self.durability, || moment.wait(&data))
            .with_context(|| format!("a start that was to be cut: {moment:?}"))?;
        self.cut(server, disk)
    }

    /// Makes a frozen server's disk content the disk of the next server.
    fn cut(&mut self, server: Server, disk: Mounted) -> anyhow::Result<()> {
        self.cuts += 1;
        let copy = self.site.copy(&self.image, &format!("cut-{}.img", self.cuts))?;
        server.kill()?;
        drop(disk);
        std::fs::remove_file(std::mem::replace(&mut self.image, copy))?;
        Ok(())
    }
}

impl Drop for Chain<'_> {
    fn drop(&mut self) {
        // Otherwise the site removes the file.
        let _ = std::fs::remove_file(&self.image);
    }
}

fn data(disk: &Mounted) -> PathBuf {
    disk.path().join("mall")
}
