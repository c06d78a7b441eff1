//! A mall with orders in every state, on the day before yesterday, yesterday and today.

use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use mallbox::mall::{Clock as _, SystemClock, ZONE};
use mallbox_storage::{
    CashCount, CashDrawer, Cents, Claim, ClaimOutcome, CloseCashOutcome, Day, DeadReason, DeleteOutcome,
    FencingToken, LoggedClaim, NO_DEADLINE, NewSale, OpenCashOutcome, Order, OrderId, OrderStatus,
    PaidOrders, PaymentMode, PaymentState, PersistOutcome, Phone, PurchaseOutcome, Storage, TillName,
    Timestamp, Transition, TransitionOutcome, UserId, VoucherId, VoucherText,
};
use mallbox_storage_contract::samples;

/// Price of the sale's voucher.
pub const SALE_PRICE: Cents = Cents::new(1_050);
/// Price of the ordinary voucher.
pub const VOUCHER_PRICE: Cents = Cents::new(2_000);
/// Title of the sale's voucher: a formula that a spreadsheet would execute.
pub const SALE_TITLE: &str = "=HYPERLINK(\"http://x\"), \"1\"\n新";
/// Offset of Asia/Shanghai.
const ZONE_OFFSET_MS: i64 = 8 * 3_600_000;
const DAY_MS: i64 = 86_400_000;
const WORKER: &str = "furnisher";

/// What is in the mall.
pub struct Furnished {
    pub sale: VoucherId,
    pub yesterday: Day,
    pub before: Day,
    pub today: Day,
}

/// Returns the day of an instant in the mall's zone.
pub fn day_of(at: Timestamp) -> anyhow::Result<Day> {
    let number = (at.as_millis() + ZONE_OFFSET_MS).div_euclid(DAY_MS);
    Day::from_number(i32::try_from(number)?).context("a day out of range")
}

/// Returns an hour of a day in the mall's zone.
pub fn at(day: Day, hour: u32) -> Timestamp {
    let midnight = i64::from(day.number()) * DAY_MS - ZONE_OFFSET_MS;
    Timestamp::from_millis(midnight + i64::from(hour) * 3_600_000)
}

/// Sells in an empty mall:
///
/// - the day before yesterday: four orders paid, one of them used;
/// - yesterday: an order in each state, a chargeback, money that came too late, a dead letter, two orders of
///   an ordinary voucher, one of them without payment, and an order of an account deleted since;
/// - today: one order paid.
pub async fn furnish(storage: &Storage) -> anyhow::Result<Furnished> {
    let now = SystemClock.now();
    let today = day_of(now)?;
    let yesterday = today.before().context("no yesterday")?;
    let before = yesterday.before().context("no day before")?;
    storage.base.upkeep.put_setting(ZONE, "Asia/Shanghai").await?;
    storage.base.upkeep.put_setting(PaymentMode::SETTING, PaymentMode::Sandbox.name()).await?;
    let shop = samples::insert_shop(&*storage.catalogue.shops, at(before, 1)).await?;
    let text =
        VoucherText { shop, title: SALE_TITLE.to_owned(), pay_value: SALE_PRICE, ..samples::voucher() };
    let terms = NewSale {
        end: now + Duration::from_secs(30 * 86_400),
        pay_within: Duration::from_secs(30 * 86_400),
        ..samples::sale(Some(100), at(before, 1))
    };
    let sale = storage.catalogue.vouchers.insert(&text, Some(&terms), at(before, 1)).await?;
    let plain = VoucherText { shop, pay_value: VOUCHER_PRICE, ..samples::voucher() };
    let voucher = storage.catalogue.vouchers.insert(&plain, None, at(before, 1)).await?;
    let seller = Seller { storage, sale };
    seller.open(1).await?;

    // The day before yesterday.
    let used = seller.paid(1, at(before, 10), at(before, 10)).await?;
    let refunded = seller.paid(2, at(before, 10), at(before, 11)).await?;
    let reversed = seller.paid(3, at(before, 12), at(before, 12)).await?;
    seller.step(reversed, Transition::Use, at(before, 13)).await?;
    let of_yesterday = seller.claimed(4, at(before, 23)).await?;

    // Yesterday.
    seller.step(used, Transition::Use, at(yesterday, 9)).await?;
    seller.step(refunded, Transition::StartRefund, at(yesterday, 9)).await?;
    seller.step(refunded, Transition::FinishRefund, at(yesterday, 10)).await?;
    seller.settle_newest(reversed, PaymentState::Reversed, at(yesterday, 11)).await?;
    seller.pay(of_yesterday, at(yesterday, 0)).await?;
    seller.claimed(5, at(yesterday, 10)).await?;
    seller.paid(6, at(yesterday, 10), at(yesterday, 23)).await?;
    let cancelled = seller.claimed(7, at(yesterday, 11)).await?;
    seller.step(cancelled, Transition::Cancel, at(yesterday, 12)).await?;
    let late = seller.claimed(8, at(yesterday, 11)).await?;
    storage.selling.payments.start(late, SALE_PRICE, at(yesterday, 11)).await?;
    seller.step(late, Transition::Cancel, at(yesterday, 12)).await?;
    seller.settle_newest(late, PaymentState::Captured, at(yesterday, 13)).await?;
    seller.settle_newest(late, PaymentState::Refunded, at(yesterday, 14)).await?;
    seller.paid(9, at(yesterday, 14), at(yesterday, 15)).await?;
    let deleted = seller.user(9, at(yesterday, 14)).await?;
    let outcome = storage.people.personal_data.delete(deleted, PaidOrders::Forfeit, now).await?;
    ensure!(outcome == DeleteOutcome::Deleted, "{outcome:?}");
    let letter = seller.take_claim(10, at(yesterday, 16)).await?;
    let orders = &storage.selling.orders;
    orders.insert_dead_letter(&letter, DeadReason::Refused, "a test", at(yesterday, 16)).await?;
    seller.acknowledge(letter).await?;
    let bought = seller.bought(11, voucher, PaymentMode::Sandbox, at(yesterday, 17)).await?;
    seller.pay_amount(bought, VOUCHER_PRICE, at(yesterday, 18)).await?;
    seller.bought(12, voucher, PaymentMode::None, at(yesterday, 17)).await?;

    for (day, till) in [(before, "1"), (yesterday, "=1")] {
        close_drawer(storage, till, day).await?;
    }

    // Today.
    seller.paid(13, now, now).await?;
    Ok(Furnished { sale, yesterday, before, today })
}

/// Opens a drawer in the morning of a day, and closes it in the evening with 0.50 yuan missing.
async fn close_drawer(storage: &Storage, till: &str, day: Day) -> anyhow::Result<()> {
    let till = TillName::parse(till).context("no till")?;
    let drawer = CashDrawer { till, by: UserId::new(1) };
    let cash = &storage.selling.cash;
    let opened = cash.open(&drawer, Cents::new(30_000), 8, at(day, 9)).await?;
    let OpenCashOutcome::Opened(session) = opened else { bail!("{opened:?}") };
    let (counted, expected) = (Cents::new(29_950), Cents::new(30_000));
    let count = CashCount { counted, expected, by: UserId::new(1), request: "evening".to_owned() };
    let closed = cash.close(session.id, &count, at(day, 21)).await?;
    ensure!(matches!(closed, CloseCashOutcome::Closed(_)), "{closed:?}");
    Ok(())
}

/// Claims, pays and settles by the ports that the mall itself uses.
pub struct Seller<'a> {
    pub storage: &'a Storage,
    pub sale: VoucherId,
}

impl Seller<'_> {
    /// Brings the sale into memory, with a fencing token.
    pub async fn open(&self, token: u64) -> anyhow::Result<()> {
        let stored = self.storage.catalogue.vouchers.get(self.sale).await?.and_then(|stored| stored.sale);
        let put = self.storage.selling.sales.put(stored.context("no sale")?.terms, FencingToken::new(token));
        put.await?.done().context("a stale token")?;
        Ok(())
    }

    async fn user(&self, number: u64, now: Timestamp) -> anyhow::Result<UserId> {
        let phone = Phone::parse(&format!("138{number:08}")).context("no phone")?;
        Ok(self.storage.people.users.find_or_create(&phone, "buyer", now).await?.id)
    }

    async fn new_id(&self, voucher: VoucherId, at: Timestamp) -> anyhow::Result<OrderId> {
        let day = OrderId::day(at).context("no day")?;
        let count = self.storage.base.sequences.next("order", day).await?;
        OrderId::compose(at, count, voucher).context("no order id")
    }

    /// Claims a unit, and leaves the claim in the log.
    pub async fn claim_only(&self, number: u64, at: Timestamp) -> anyhow::Result<()> {
        let (user, order) = (self.user(number, at).await?, self.new_id(self.sale, at).await?);
        let claim = Claim { order, voucher: self.sale, user, at };
        let outcome = self.storage.selling.sales.claim(claim).await?;
        ensure!(outcome == ClaimOutcome::Accepted, "{outcome:?}");
        Ok(())
    }

    /// Claims a unit, and takes the claim from the log.
    async fn take_claim(&self, number: u64, at: Timestamp) -> anyhow::Result<LoggedClaim> {
        self.claim_only(number, at).await?;
        let taken = self.storage.selling.order_log.take(WORKER, 1, Duration::from_secs(30)).await?;
        taken.into_iter().next().context("no claim in the log")
    }

    async fn acknowledge(&self, claim: LoggedClaim) -> anyhow::Result<()> {
        let foreign = self.storage.selling.order_log.done(WORKER, &[claim]).await?;
        ensure!(foreign.is_empty(), "{foreign:?}");
        Ok(())
    }

    /// Makes an order of the sale.
    pub async fn claimed(&self, number: u64, at: Timestamp) -> anyhow::Result<OrderId> {
        let claim = self.take_claim(number, at).await?;
        let outcomes = self.storage.selling.orders.persist(&[claim], at).await?;
        ensure!(matches!(outcomes[..], [PersistOutcome::Written { .. }]), "{outcomes:?}");
        self.acknowledge(claim).await?;
        Ok(claim.claim.order)
    }

    /// Makes a paid order of the sale.
    pub async fn paid(&self, number: u64, claimed: Timestamp, paid: Timestamp) -> anyhow::Result<OrderId> {
        let order = self.claimed(number, claimed).await?;
        self.pay(order, paid).await?;
        Ok(order)
    }

    async fn pay(&self, order: OrderId, at: Timestamp) -> anyhow::Result<()> {
        self.pay_amount(order, SALE_PRICE, at).await
    }

    /// Pays an amount, the price or another.
    pub async fn pay_amount(&self, order: OrderId, amount: Cents, at: Timestamp) -> anyhow::Result<()> {
        let payment = self.storage.selling.payments.start(order, amount, at).await?;
        self.step(order, Transition::Pay(payment.id), at).await
    }

    async fn step(&self, order: OrderId, step: Transition, at: Timestamp) -> anyhow::Result<()> {
        match self.storage.selling.orders.step(order, step, at).await? {
            TransitionOutcome::Done(_) => Ok(()),
            other => bail!("{step:?}: {other:?}"),
        }
    }

    async fn settle_newest(&self, order: OrderId, state: PaymentState, at: Timestamp) -> anyhow::Result<()> {
        let payments = self.storage.selling.payments.of_order(order).await?;
        let newest = payments.last().context("no payment")?;
        let is_settled = self.storage.selling.payments.settle(newest.id, state, at).await?;
        ensure!(is_settled, "{state:?} was refused");
        Ok(())
    }

    async fn bought(
        &self,
        number: u64,
        voucher: VoucherId,
        payment: PaymentMode,
        at: Timestamp,
    ) -> anyhow::Result<OrderId> {
        let id = self.new_id(voucher, at).await?;
        let is_free = payment == PaymentMode::None;
        let order = Order {
            id,
            voucher,
            user: self.user(number, at).await?,
            status: if is_free { OrderStatus::Paid } else { OrderStatus::Unpaid },
            pay_value: VOUCHER_PRICE,
            pay_type: 1,
            payment,
            created: at,
            deadline: NO_DEADLINE,
            paid: None,
            used: None,
            refunded: None,
        };
        let outcome = self.storage.selling.orders.insert(&order, None, None).await?;
        ensure!(outcome == PurchaseOutcome::Bought(id), "{outcome:?}");
        Ok(id)
    }
}
