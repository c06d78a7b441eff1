//! The state behind the random steps: few users, sales and orders, so that steps collide often, and a manual
//! clock.

use std::collections::VecDeque;
use std::time::Duration;

use mallbox_storage::{
    Claim, DeadLetter, DeadState, OrderFilter, OrderId, OutboxEntry, Page, Phone, ShopId, ShopTypeId,
    Storage, Timestamp, TokenHash, UserId, VoucherId,
};

use crate::dice::Dice;
use crate::geo_index::GeoIndexStep;
use crate::sales::SaleStep;
use crate::shared::SharedStep;
use crate::step::Step;
use crate::vouchers::VoucherStep;

/// Noon of 2026-11-21, UTC.
const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
/// Ids that name nothing, or hardly ever do.
const ODD: [u64; 6] = [0, 1, 404, i64::MAX as u64, 1 << 63, u64::MAX];
/// Number of users, low enough for frequent collisions.
pub const USERS: u64 = 5;
/// Number of initial vouchers, of which 1, 17 and 33 share a partition.
const VOUCHERS: u64 = 33;

/// Texts that a store could confuse: by case, blanks, accents or wildcards.
pub const TEXTS: [&str; 21] = [
    "",
    "noodles",
    "noodles ",
    " noodles",
    "面馆",
    "面",
    "🍜",
    "🍣",
    "e",
    "é",
    "e\u{301}",
    "ss",
    "ß",
    "%",
    "_",
    "!\\",
    "'; DROP TABLE users; --",
    "\"\u{202e}\n\t",
    "0",
    "a\0b",
    "ﬃ 龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘龘",
];

/// Partitions of the order log on servers.
const PARTITIONS: u64 = 16;
/// Partition of all sales of a scene with one partition.
const ONE_PARTITION: u64 = 1;

/// Recent inputs, kept as material for later steps.
pub struct Scene {
    pub now: Timestamp,
    /// Sales to claim from.
    pub sales: Vec<VoucherId>,
    /// Whether all sales are in one partition, so that claims have an order.
    pub is_one_partition: bool,
    /// Every claim under a distinct order id.
    pub claims: Vec<Claim>,
    /// The newest orders in the database.
    recorded: Vec<OrderId>,
    /// Number of order ids so far.
    count: u64,
    /// Instants of earlier steps, for later steps at exactly the same instant.
    instants: VecDeque<Timestamp>,
    /// Expiry of the newest sessions, unless extended.
    pub sessions: VecDeque<(TokenHash, Timestamp)>,
}

impl Scene {
    pub fn new(dice: &mut Dice) -> Self {
        let is_one_partition = dice.chance(50);
        let sales = if is_one_partition { [1, 17, 33, 17] } else { [1, 2, 17, 3] };
        let sales = sales.map(VoucherId::new).to_vec();
        Self {
            now: NOON,
            sales,
            is_one_partition,
            claims: Vec::new(),
            recorded: Vec::new(),
            count: 0,
            instants: VecDeque::new(),

            sessions: VecDeque::new(),
        }
    }

    /// Returns the steps that create the sales, in the database and in memory. Deadlines and shops are read
    /// first, as at every start: on the first read a back end may load everything from the database.
    pub fn opening(&mut self, dice: &mut Dice) -> Vec<Step> {
        let mut steps = vec![Step::Shared(SharedStep::Next), Step::GeoIndex(GeoIndexStep::Count)];
        for voucher in (1..=VOUCHERS).map(VoucherId::new) {
            let is_sale = self.sales.contains(&voucher);
            steps.push(Step::Voucher(VoucherStep::insert(dice, self, is_sale)));
            if is_sale {
                steps.push(Step::Sale(SaleStep::PutRecorded(voucher)));
            }
        }
        steps
    }

    /// Reads which claims have become orders: most random claims are refused.
    pub async fn look_around(&mut self, storage: &Storage) {
        let (orders, _) =
            storage.selling.orders.find(OrderFilter::default(), Page::new(1, 40)).await.unwrap();
        self.recorded = orders.into_iter().map(|order| order.id).collect();
    }

    /// Mostly a little; now and then by much, and now and then back.
    pub fn clock_goes_on(&mut self, dice: &mut Dice) {
        note(&mut self.instants, self.now);
        self.now = match dice.below(100) {
            0..20 => self.now,
            20..90 => self.now + dice.millis(1, 4_000),
            90..94 => self.now - dice.millis(1, 30_000),
            94..99 => self.now + dice.millis(0, 600_000),
            _ => self.now + dice.millis(0, 30 * 3_600_000),
        };
    }

    /// An instant near now, or at either end of time.
    pub fn instant(&self, dice: &mut Dice) -> Timestamp {
        match dice.below(20) {
            0 => Timestamp::MAX,
            1 => Timestamp::from_millis(0),
            2..5 => self.now,
            5..10 => one_of(dice, &self.instants).unwrap_or(self.now),
            10..14 => self.now + dice.millis(0, 1_800_000),
            _ => self.now - dice.millis(0, 1_800_000),
        }
    }

    pub fn user(&self, dice: &mut Dice) -> UserId {
        UserId::new(if dice.chance(95) { 1 + dice.below(USERS) } else { dice.pick(&ODD) })
    }

    pub fn sale(&self, dice: &mut Dice) -> VoucherId {
        dice.pick(&self.sales)
    }

    /// A voucher, a sale or not, or none at all.
    pub fn voucher(&self, dice: &mut Dice) -> VoucherId {
        match dice.below(10) {
            0 => VoucherId::new(dice.pick(&ODD)),
            1 | 2 => VoucherId::new(1 + dice.below(VOUCHERS + 5)),
            _ => self.sale(dice),
        }
    }

    pub fn shop(&self, dice: &mut Dice) -> ShopId {
        ShopId::new(if dice.chance(90) { 1 + dice.below(5) } else { dice.pick(&ODD) })
    }

    pub fn shop_type(&self, dice: &mut Dice) -> ShopTypeId {
        ShopTypeId::new(if dice.chance(90) { 1 + dice.below(3) } else { dice.pick(&ODD) })
    }

    /// A claimed order, another user's order, or no order at all.
    pub fn order(&self, dice: &mut Dice) -> OrderId {
        if dice.chance(70) && !self.recorded.is_empty() {
            return dice.pick(&self.recorded);
        }
        if dice.chance(95)
            && let Some(claim) = self.old_claim(dice)
        {
            return claim.order;
        }
        OrderId::new(dice.pick(&ODD))
    }

    /// An earlier claim, mostly a recent claim.
    pub fn old_claim(&self, dice: &mut Dice) -> Option<Claim> {
        let last = dice.pick(&[12, 12, 60, 60, usize::MAX]);
        let first = self.claims.len().saturating_sub(last);
        let among = &self.claims[first..];
        (!among.is_empty()).then(|| dice.pick(among))
    }

    /// A new claim of anybody in a sale.
    pub fn claim(&mut self, dice: &mut Dice) -> Claim {
        let (voucher, user) = match self.old_claim(dice) {
            Some(old) if dice.chance(30) => (old.voucher, old.user),
            _ => (self.sale(dice), self.user(dice)),
        };
        let claim = Claim { order: self.new_order(voucher), voucher, user, at: self.now };
        self.claims.push(claim);
        claim
    }

    /// Ids rise, whatever the clock does.
    pub fn new_order(&mut self, voucher: VoucherId) -> OrderId {
        self.count += 1;
        let newest = self.claims.iter().map(|claim| claim.at).max().unwrap_or(self.now);
        OrderId::compose(newest.max(self.now), self.count, voucher).unwrap()
    }

    pub fn phone(&self, dice: &mut Dice) -> Phone {
        Phone::parse(&format!("1390000000{}", dice.below(8))).unwrap()
    }

    pub fn text(&self, dice: &mut Dice) -> String {
        dice.pick(&TEXTS).to_owned()
    }

    pub fn page(&self, dice: &mut Dice) -> Page {
        let size = dice.pick(&[0, 1, 2, 5, 1_000, u32::MAX]);
        Page::new(dice.pick(&[0, 1, 1, 1, 2, 3, u32::MAX]), size)
    }

    pub fn units(&self, dice: &mut Dice) -> Option<u64> {
        dice.pick(&[None, Some(0), Some(1), Some(2), Some(4), Some(8), Some(8), Some(1_000_000_000_000)])
    }

    /// Whether claims still have an order after this claim: a claim in another partition has none.
    fn keeps_order(&self, claim: &Claim) -> bool {
        !self.is_one_partition || claim.voucher.get() % PARTITIONS == ONE_PARTITION
    }

    /// Whether a caller may take the step at all.
    pub async fn is_fair(&self, step: &Step, storage: &Storage) -> bool {
        let Step::Sale(step) = step else { return true };
        match step {
            SaleStep::Claim(claim) => self.keeps_order(claim) && may_claim(storage, claim).await,
            SaleStep::Rush(claims) => {
                for claim in claims {
                    if !self.keeps_order(claim) || !may_claim(storage, claim).await {
                        return false;
                    }
                }
                true
            }
            SaleStep::Release(Claim { voucher, user, order, .. }) => {
                let is_pending = storage.selling.order_log.find(*order).await.unwrap().is_some();
                let is_closed = is_closed(storage, *order).await;
                (is_closed || !is_pending) && !has_loose_unit(storage, *voucher, *user, *order).await
            }
            SaleStep::ReserveAndRelease(voucher, user, order) => {
                !has_loose_unit(storage, *voucher, *user, *order).await
            }
            _ => true,
        }
    }
}

/// Whether `claim` may be made. A claim may repeat another only while the other is pending. A closed order,
/// or a dead letter without a unit, rules the repeat out, since a reloaded sale does not know of either. A
/// user whose last order of the sale is closed but not released yet is excluded, too: back ends may report
/// such an order as held or as being closed.
async fn may_claim(storage: &Storage, claim: &Claim) -> bool {
    !is_closed(storage, claim.order).await
        && !is_without_unit(storage, claim.order).await
        && !is_to_be_released(storage, claim.voucher, claim.user, OrderId::new(u64::MAX)).await
}

async fn is_closed(storage: &Storage, order: OrderId) -> bool {
    let letters = storage.selling.dead_letters.of_order(order).await.unwrap();
    storage.selling.orders.get(order).await.unwrap().is_some_and(|it| !it.status.is_live())
        || letters.iter().any(|it| it.closed.is_some())
}

async fn is_without_unit(storage: &Storage, order: OrderId) -> bool {
    storage.selling.dead_letters.of_order(order).await.unwrap().iter().any(|letter| !letter.holds_unit)
}

async fn is_to_be_released(storage: &Storage, voucher: VoucherId, user: UserId, but: OrderId) -> bool {
    let entries = storage.selling.outbox.open(u32::MAX).await.unwrap();
    entries.iter().any(|OutboxEntry::Release { voucher: of, user: whose, order }| {
        (*of, *whose) == (voucher, user) && *order != but
    })
}

/// Whether a user holds a unit without an entry in log or database, other than the unit of order `but`: a
/// unit waiting for release, or the unit of a dead letter that holds none in the database. A back end may
/// identify units by order, or count them.
pub async fn has_loose_unit(storage: &Storage, voucher: VoucherId, user: UserId, but: OrderId) -> bool {
    let (letters, _) =
        storage.selling.dead_letters.page(Some(DeadState::Open), Page::new(1, u32::MAX)).await.unwrap();
    let is_loose = |letter: &DeadLetter| {
        (letter.voucher, letter.user) == (voucher, user) && letter.order != but && !letter.holds_unit
    };
    letters.iter().any(is_loose) || is_to_be_released(storage, voucher, user, but).await
}

/// Picks a recent value at random.
pub fn one_of<T: Copy>(dice: &mut Dice, noted: &VecDeque<T>) -> Option<T> {
    let noted: Vec<T> = noted.iter().copied().collect();
    (!noted.is_empty()).then(|| dice.pick(&noted))
}

pub fn note<T>(noted: &mut VecDeque<T>, one: T) {
    noted.push_front(one);
    noted.truncate(20);
}

/// A whole number of minutes.
pub fn minutes(number: u64) -> Duration {
    Duration::from_secs(60 * number)
}
