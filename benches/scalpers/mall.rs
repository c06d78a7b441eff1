//! A mall with one sale and a clock that is set by hand.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use mallbox::language::Language;
use mallbox::mall::selling::guard::{Answer, Challenge, ShownPass, Visitor};
use mallbox::mall::selling::sales::RoomStanding;
use mallbox::mall::{Clock as _, Context, Failure, FlashSales, ManualClock, Settings};
use mallbox_storage::{
    ChallengeKind, ChallengeKinds, Guard, NewSale, OrderId, Storage, Timestamp, UserId, VoucherId,
    WaitingRoom,
};
use mallbox_storage_contract::samples;
use mallbox_test_servers::MallLocation;

/// The begin of sales.
pub const OPENING: Timestamp = Timestamp::from_millis(1_795_262_400_000);
/// The first instant at which somebody enters a waiting room.
pub const DOORS: Timestamp = Timestamp::from_millis(1_795_262_400_000 - 300_000);
/// Units of a sale.
pub const UNITS: u64 = 1_000;

/// What stands between a sale and its buyers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    None,
    Guard,
    /// A guard, and a waiting room that admits 50 users a second.
    GuardAndRoom,
}

impl Protection {
    pub const ALL: [Self; 3] = [Self::None, Self::Guard, Self::GuardAndRoom];

    pub fn name(self) -> &'static str {
        match self {
            Self::None => "no guard",
            Self::Guard => "guard",
            Self::GuardAndRoom => "guard and room",
        }
    }
}

/// A mall with the limits that a start without flags has.
pub struct Mall {
    pub sales: FlashSales,
    pub clock: Arc<ManualClock>,
    storage: Storage,
    /// Lowest address of the mall's visitors. Malls in one place share the counts of addresses.
    network: u32,
}

/// A visitor with what a browser keeps: the session's user, the address, the device ticket, and what the
/// waiting room gave.
#[derive(Clone)]
pub struct Browser {
    pub user: UserId,
    pub address: IpAddr,
    pub ticket: Option<String>,
    pub room_ticket: Option<String>,
    pub admission: Option<String>,
}

impl Browser {
    fn new(user: u64, address: u32) -> Self {
        let address = IpAddr::V4(Ipv4Addr::from_bits(address));
        Self { user: UserId::new(user), address, ticket: None, room_ticket: None, admission: None }
    }

    fn visitor(&self) -> Visitor<'_> {
        Visitor {
            user: self.user,
            device: self.ticket.as_deref(),
            address: Some(self.address),
            admission: self.admission.as_deref(),
            pass: None,
        }
    }

    /// Enters the waiting room, or asks there.
    pub async fn wait(&mut self, mall: &Mall, sale: VoucherId) -> Result<RoomStanding, Failure> {
        let shown = (self.room_ticket.as_deref(), false);
        let standing = mall.sales.enter_room(self.user, sale, shown, mall.clock.now()).await?.standing;
        match &standing {
            RoomStanding::Waiting { ticket, .. } => self.room_ticket = Some(ticket.clone()),
            RoomStanding::Admitted { admission, .. } => self.admission = Some(admission.clone()),
            RoomStanding::Outside => {}
        }
        Ok(standing)
    }

    /// Takes a challenge.
    pub async fn challenge(
        &mut self,
        mall: &Mall,
        sale: VoucherId,
        kind: ChallengeKind,
    ) -> Result<Challenge, Failure> {
        let asked = (Language::En, mall.clock.now());
        let given = mall.sales.challenge(self.visitor(), sale, Some(kind), asked).await?;
        self.ticket = Some(given.device_ticket.clone());
        Ok(given)
    }

    /// Returns the right answer, which the mall tells tests.
    pub async fn right_answer(&self, mall: &Mall, sale: VoucherId, given: &Challenge) -> Answer {
        let told = mall.sales.challenge_answer(self.visitor(), sale, &given.token, mall.clock.now()).await;
        told.expect("the challenge was given to this visitor")
    }

    /// Answers a challenge. Returns the pass.
    pub async fn answer(
        &self,
        mall: &Mall,
        sale: VoucherId,
        given: &Challenge,
        answer: &Answer,
    ) -> Result<String, Failure> {
        let solved = (given.token.as_str(), answer);
        Ok(mall.sales.pass(self.visitor(), sale, solved, mall.clock.now()).await?.pass)
    }

    /// Claims a unit.
    pub async fn claim(&self, mall: &Mall, sale: VoucherId, pass: Option<&str>) -> Result<OrderId, Failure> {
        let shown = ShownPass {
            pass,
            device: self.ticket.as_deref(),
            address: Some(self.address),
            admission: self.admission.as_deref(),
            ..ShownPass::default()
        };
        mall.sales.claim_with_pass(self.user, sale, shown, mall.clock.now()).await
    }
}

impl Mall {
    /// Opens mall `number` in a place: its visitors have addresses of their own.
    pub async fn open(place: &MallLocation, number: u32) -> Self {
        let storage = place.open().await;
        let clock = Arc::new(ManualClock::new(OPENING));
        let context =
            Context::new(storage.clone(), clock.clone(), TimeZone::UTC, Arc::new(Settings::default()));
        let network = 0x0a00_0000 + number * 0x18_0000;
        Self { sales: FlashSales::new(context), clock, storage, network }
    }

    /// Returns a browser of a user, on address `address` of this mall.
    pub fn browser(&self, user: u64, address: u32) -> Browser {
        Browser::new(user, self.network + address)
    }

    /// Returns the time since the begin of sales.
    pub fn since_opening(&self) -> Duration {
        self.clock.now().since(OPENING)
    }

    /// Adds a sale of some units that begins at [`OPENING`].
    pub async fn sale(&self, units: u64, protection: Protection) -> VoucherId {
        let end = OPENING + Duration::from_secs(3_600);
        let sale = NewSale { end, ..samples::sale(Some(units), OPENING) };
        let vouchers = &self.storage.catalogue.vouchers;
        let voucher = vouchers.insert(&samples::voucher(), Some(&sale), OPENING).await.expect("it is stored");
        let kinds = ChallengeKinds::new(&ChallengeKind::OWN).expect("each kind once");
        // Work of 8 bits: bots solve it in no time, and the bench does not wait.
        let guard = Guard { kinds, work_bits: 8, pass_seconds: 60, jitter_seconds: 3 };
        let guard = (protection != Protection::None).then_some(guard);
        vouchers.put_guard(voucher, guard, OPENING).await.expect("it is stored").expect("it is a sale");
        if protection == Protection::GuardAndRoom {
            let room = WaitingRoom { per_second: 50, admission_seconds: 120 };
            vouchers
                .put_room(voucher, Some(room), OPENING)
                .await
                .expect("it is stored")
                .expect("it is a sale");
        }
        self.sales.opened(voucher).await.expect("it is opened");
        voucher
    }
}
