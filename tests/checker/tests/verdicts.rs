//! Hand-made histories: a correct one passes, and each violation is reported. A checker that cannot fail
//! proves nothing.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use mallbox_test_checker::{
    CallId, Client, ClientState, History, LedgerReport, NoteState, OrderView, Promise, Request, SaleLedger,
    SaleState, Standing, State, judge,
};
use serde_json::{Value, json};

const SALE: u64 = 7;
const UNITS: u64 = 2;
const NOTE: u64 = 900;
const PHONE: &str = "18000000001";

const UNPAID: u8 = 1;
const PAID: u8 = 2;
const CANCELLED: u8 = 4;

fn view(id: u64, status: u8) -> OrderView {
    OrderView { id, sale: SALE, status }
}

/// A test case: history, final state and ledger report.
#[derive(Clone)]
struct Case {
    history: History,
    state: State,
    report: LedgerReport,
}

impl Case {
    fn ask(&mut self, client: usize, request: Request) -> CallId {
        self.history.invoke(client, request).0
    }

    fn respond(&mut self, call: CallId, body: &Value) {
        self.history.respond(call, 200, body.to_string().as_bytes());
    }

    fn ask_and_respond(&mut self, client: usize, request: Request, body: &Value) {
        let call = self.ask(client, request);
        self.respond(call, body);
    }

    fn claim(&mut self, client: usize, body: &Value) {
        self.ask_and_respond(client, Request::Claim { sale: SALE }, body);
    }

    fn client(&mut self, client: usize) -> &mut ClientState {
        self.state.clients.entry(client).or_default()
    }

    /// Adds an order to every view of the state.
    fn put(&mut self, client: usize, order: OrderView) {
        let user = self.history.clients[client].user;
        self.drop_order(order.id);
        let found = self.client(client);
        found.orders.push(order);
        found.by_id.insert(order.id, Some(order));
        self.state.orders.push((user, order));
        self.count();
    }

    fn drop_order(&mut self, order: u64) {
        self.state.orders.retain(|(_, view)| view.id != order);
        for found in self.state.clients.values_mut() {
            found.orders.retain(|view| view.id != order);
            if let Some(by_id) = found.by_id.get_mut(&order) {
                *by_id = None;
            }
        }
        self.count();
    }

    /// Recomputes stock and report from the orders.
    fn count(&mut self) {
        let mut ledger = SaleLedger::default();
        let mut live = 0;
        for order in self.state.clients.values().flat_map(|client| &client.orders) {
            match order.status {
                0 | 1 => ledger.open += 1,
                2 => ledger.paid += 1,
                _ => continue,
            }
            live += 1;
        }
        let left = UNITS.saturating_sub(live);
        self.state.sales.insert(SALE, SaleState { left: Some(left), is_sold_out: left == 0 });
        self.report.sales.insert(SALE, ledger);
    }
}

fn accepted(order: u64) -> Value {
    json!({ "success": true, "data": order, "dataText": order.to_string() })
}

fn refused(code: &str) -> Value {
    json!({ "success": false, "code": code })
}

fn already_bought(order: u64) -> Value {
    json!({ "success": false, "code": "ALREADY_BOUGHT", "dataText": order.to_string() })
}

fn json_of(order: OrderView) -> Value {
    json!({ "id": order.id.to_string(), "voucherId": order.sale, "status": order.status })
}

fn shown(order: OrderView) -> Value {
    json!({ "success": true, "data": json_of(order) })
}

fn listed(orders: &[OrderView]) -> Value {
    json!({ "success": true, "data": orders.iter().copied().map(json_of).collect::<Vec<_>>() })
}

fn stock(left: u64) -> Value {
    json!({ "success": true, "data": { "stock": left } })
}

/// Returns a correct case: client 0 holds 100 and paid, client 1 cancelled 101, client 2 got the unit as 102,
/// client 3 was too late, and client 4 has a claim without a response.
fn clean() -> Case {
    let done = json!({ "success": true });
    let clients = (1..=5).map(|user| Client { user, token: format!("token-{user}") }).collect();
    let mut history = History::of(clients);
    history.open_sale(SALE, Some(UNITS));
    let report = LedgerReport { balances: true, ..LedgerReport::default() };
    let mut case = Case { history, state: State::default(), report };
    for client in 0..5 {
        case.client(client).is_logged_in = true;
    }
    let pressed_twice = [0, 0].map(|client| case.ask(client, Request::Claim { sale: SALE }));
    case.respond(pressed_twice[1], &already_bought(100));
    case.respond(pressed_twice[0], &accepted(100));
    case.ask_and_respond(3, Request::ShowStock { sale: SALE }, &stock(1));
    case.claim(1, &accepted(101));
    case.ask_and_respond(0, Request::ListOrders, &listed(&[view(100, 0)]));
    case.claim(3, &refused("SOLD_OUT"));
    case.ask_and_respond(0, Request::Pay { order: 100 }, &shown(view(100, PAID)));
    case.ask_and_respond(1, Request::Cancel { order: 101 }, &shown(view(101, CANCELLED)));
    case.ask_and_respond(1, Request::Pay { order: 101 }, &refused("ORDER_STANDS"));
    case.claim(2, &accepted(102));
    let lost = case.ask(4, Request::Claim { sale: SALE });
    case.history.record_loss(lost);
    case.ask_and_respond(
        1,
        Request::PublishNote { title: "noodles".to_owned() },
        &json!({"success": true, "data": NOTE}),
    );
    case.ask_and_respond(2, Request::Like { note: NOTE }, &done);
    case.ask_and_respond(2, Request::SignIn, &done);
    case.ask_and_respond(2, Request::Follow { user: 1 }, &done);
    let log_in = Request::LogIn { phone: PHONE.to_owned(), code: "123456".to_owned() };
    case.ask_and_respond(0, log_in, &json!({ "success": true, "data": "fresh" }));

    case.put(0, view(100, PAID));
    case.put(1, view(101, CANCELLED));
    case.put(2, view(102, UNPAID));
    case.client(1).notes.push((NOTE, "noodles".to_owned()));
    let found = case.client(2);
    found.likes.insert(NOTE);
    found.follows.insert(1);
    found.has_signed = true;
    let note = NoteState { author: 2, title: "noodles".to_owned(), liked: 1 };
    case.state.notes.insert(NOTE, Some(note));
    case.state.sessions.insert("fresh".to_owned(), Some(77));
    case
}

#[test]
fn a_clean_history_passes_with_a_claim_without_an_answer_there_or_not() {
    let case = clean();
    judge(&case.history, &case.state, Some(&case.report)).passed().unwrap();

    let mut it_was_taken = clean();
    it_was_taken.ask_and_respond(2, Request::Cancel { order: 102 }, &shown(view(102, CANCELLED)));
    it_was_taken.put(2, view(102, CANCELLED));
    it_was_taken.put(4, view(103, UNPAID));
    judge(&it_was_taken.history, &it_was_taken.state, Some(&it_was_taken.report)).passed().unwrap();

    let mut step_without_answer = clean();
    step_without_answer.ask(2, Request::Cancel { order: 102 });
    judge(&step_without_answer.history, &step_without_answer.state, None).passed().unwrap();
    step_without_answer.put(2, view(102, CANCELLED));
    judge(&step_without_answer.history, &step_without_answer.state, None).passed().unwrap();
}

type Break = fn(&mut Case);

#[test]
fn each_violation_is_named() {
    let rows: [(&str, Promise, Break); 38] = [
        ("an acknowledged order is lost", Promise::OrdersExist, |case| case.drop_order(102)),
        ("ALREADY_BOUGHT names an order that never was", Promise::OrdersExist, |case| {
            case.claim(4, &already_bought(555));
        }),
        ("a list showed an order that never was", Promise::OrdersExist, |case| {
            case.ask_and_respond(4, Request::ListOrders, &listed(&[view(555, 0)]));
        }),
        ("an order was shown by its id that never was", Promise::OrdersExist, |case| {
            case.ask_and_respond(4, Request::ShowOrder { order: 555 }, &shown(view(555, 0)));
        }),
        ("an acknowledged order was denied for a while", Promise::OrdersExist, |case| {
            case.ask_and_respond(2, Request::ShowOrder { order: 102 }, &refused("NOT_FOUND"));
        }),
        ("a client holds two units", Promise::OneUnitPerClient, |case| {
            case.put(4, view(103, UNPAID));
            case.put(4, view(104, UNPAID));
        }),
        ("a client was told of a second success", Promise::OneSuccessPerClient, |case| {
            case.claim(2, &accepted(103));
        }),
        ("more units are held than there are", Promise::NotOversold, |case| case.put(4, view(103, UNPAID))),
        ("an acknowledged payment is lost", Promise::StatusesAdvance, |case| case.put(0, view(100, UNPAID))),
        ("an acknowledged cancellation is lost", Promise::StatusesAdvance, |case| {
            case.put(1, view(101, UNPAID));
        }),
        ("an order that was shown as paid is unpaid", Promise::StatusesAdvance, |case| {
            case.ask_and_respond(2, Request::ShowOrder { order: 102 }, &shown(view(102, PAID)));
        }),
        ("a payment was taken back for a while", Promise::StatusesAdvance, |case| {
            case.ask_and_respond(0, Request::ShowOrder { order: 100 }, &shown(view(100, UNPAID)));
        }),
        ("an order is paid that nobody paid", Promise::NothingIsInvented, |case| {
            case.put(2, view(102, PAID))
        }),
        ("an order is cancelled that nobody cancelled", Promise::NothingIsInvented, |case| {
            case.put(2, view(102, CANCELLED));
        }),
        ("an order is there that nobody claimed", Promise::NothingIsInvented, |case| {
            case.put(3, view(103, UNPAID))
        }),
        ("two orders come from one claim without an answer", Promise::NothingIsInvented, |case| {
            case.put(4, view(103, CANCELLED));
            case.put(4, view(104, UNPAID));
        }),
        ("a stranger has an order", Promise::NothingIsInvented, |case| {
            case.state.orders.push((4_711, view(103, UNPAID)));
        }),
        ("an order belongs to another client now", Promise::OrdersExist, |case| {
            case.put(4, view(102, UNPAID))
        }),
        ("an order is in the list and not found by its id", Promise::OrdersAreConsistent, |case| {
            case.client(2).by_id.insert(102, None);
        }),
        ("an operator sees another status", Promise::OrdersAreConsistent, |case| {
            case.state.orders[2].1.status = PAID;
        }),
        ("an operator sees an order that its client does not", Promise::OrdersAreConsistent, |case| {
            case.state.orders.push((4, view(103, UNPAID)));
        }),
        ("sold out was said with a unit left", Promise::SoldOutIsTrue, |case| {
            case.ask_and_respond(2, Request::Cancel { order: 102 }, &shown(view(102, CANCELLED)));
            case.put(2, view(102, CANCELLED));
            case.claim(3, &refused("SOLD_OUT"));
        }),
        ("a stock was shown of which a claim was never taken", Promise::StockIsTrue, |case| {
            case.ask_and_respond(2, Request::Cancel { order: 102 }, &shown(view(102, CANCELLED)));
            case.put(2, view(102, CANCELLED));
            case.ask_and_respond(3, Request::ShowStock { sale: SALE }, &stock(0));
        }),
        ("a stock was shown that was gone", Promise::StockIsTrue, |case| {
            case.ask_and_respond(3, Request::ShowStock { sale: SALE }, &stock(2));
        }),
        ("units are left, and the sale says sold out", Promise::StockBalances, |case| {
            case.ask_and_respond(2, Request::Cancel { order: 102 }, &shown(view(102, CANCELLED)));
            case.put(2, view(102, CANCELLED));
            case.state.sales.insert(SALE, SaleState { left: Some(0), is_sold_out: true });
        }),
        ("a unit is promised to nobody", Promise::StockBalances, |case| {
            case.state.sales.insert(SALE, SaleState { left: Some(1), is_sold_out: false });
        }),
        ("a session is gone", Promise::SessionsLast, |case| case.client(2).is_logged_in = false),
        ("a session was gone for a while", Promise::SessionsLast, |case| {
            case.ask_and_respond(2, Request::ListOrders, &refused("NOT_LOGGED_IN"));
        }),
        ("a log-in is gone", Promise::SessionsLast, |case| {
            case.state.sessions.insert("fresh".to_owned(), None);
        }),
        ("a phone number became two users", Promise::SessionsLast, |case| {
            let log_in = Request::LogIn { phone: PHONE.to_owned(), code: "654321".to_owned() };
            case.ask_and_respond(0, log_in, &json!({ "success": true, "data": "other" }));
            case.state.sessions.insert("other".to_owned(), Some(78));
        }),
        ("a note is gone", Promise::NotesLast, |case| {
            case.state.notes.insert(NOTE, None);
        }),
        ("a note is there twice", Promise::NotesLast, |case| {
            case.client(1).notes.push((NOTE + 1, "noodles".to_owned()));
        }),
        ("a like is gone", Promise::LikesLast, |case| case.client(2).likes.clear()),
        ("a sign-in is gone", Promise::SignInsLast, |case| case.client(2).has_signed = false),
        ("a follow is gone", Promise::FollowsLast, |case| case.client(2).follows.clear()),
        ("verify found something", Promise::LedgerBalances, |case| {
            case.report.findings.push("stock".to_owned());
            case.report.balances = false;
        }),
        ("verify counts other orders than there are", Promise::LedgerIsTrue, |case| {
            case.report.sales.insert(SALE, SaleLedger { open: 2, ..SaleLedger::default() });
        }),
        ("a response makes no sense", Promise::ResponsesMakeSense, |case| {
            case.ask_and_respond(2, Request::Cancel { order: 102 }, &refused("ORDER_STANDS"));
        }),
    ];
    for (name, promise, break_it) in rows {
        let mut case = clean();
        break_it(&mut case);
        let verdict = judge(&case.history, &case.state, Some(&case.report));
        assert!(verdict.counts().contains_key(&promise), "{name}: {promise:?} is not in {verdict}");
        assert!(verdict.passed().is_err_and(|error| error.to_string().contains(&format!("{promise:?}"))));
    }
}

/// A failure found in a release by outside testers, from the checker's point of view.
#[test]
fn a_failover_that_promises_an_order_that_is_none_is_named_three_times() {
    let mut case = clean();
    // The second success of a client, whose order became a dead letter holding a unit.
    case.claim(2, &accepted(103));
    case.client(2).by_id.insert(103, None);
    let ledger = SaleLedger { open: 1, paid: 1, dead_letters: 1 };
    case.report.sales.insert(SALE, ledger);
    let counts = judge(&case.history, &case.state, Some(&case.report)).counts();
    let named = [Promise::OneSuccessPerClient, Promise::OrdersExist, Promise::LedgerIsTrue];
    assert_eq!(counts, BTreeMap::from(named.map(|promise| (promise, 1))));
}

/// Returns a case around the kill of a master: client 2 gets order 102 and client 4 order 103, and no server
/// has 103.
fn killed_after(order_was_named: bool) -> (Case, RangeInclusive<u64>) {
    let mut case = clean();
    case.ask_and_respond(2, Request::Cancel { order: 102 }, &shown(view(102, CANCELLED)));
    let lost = case.ask(4, Request::Claim { sale: SALE });
    if order_was_named {
        case.respond(lost, &accepted(103));
    }
    let later = case.ask(2, Request::Claim { sale: SALE });
    if !order_was_named {
        case.respond(lost, &accepted(103));
    }
    case.respond(later, &accepted(104));
    let kill = case.history.now()..=case.history.now();
    case.put(2, view(102, CANCELLED));
    case.put(2, view(104, UNPAID));
    case.client(4).by_id.insert(103, None);
    (case, kill)
}

#[test]
fn a_master_takes_answers_of_its_last_pass_with_it_and_no_other() {
    let (mut case, kill) = killed_after(false);
    assert_eq!(judge(&case.history, &case.state, None).counts(), BTreeMap::from([(Promise::OrdersExist, 1)]));
    assert_eq!(case.history.excuse_lost(&kill, &case.state), [103]);
    case.claim(4, &refused("SOLD_OUT"));
    judge(&case.history, &case.state, Some(&case.report)).passed().unwrap();
    assert_eq!(case.history.standing(4, SALE), Standing::Free);

    let (mut case, kill) = killed_after(true);
    assert!(case.history.excuse_lost(&kill, &case.state).is_empty(), "order 104 was accepted later");
    assert!(judge(&case.history, &case.state, None).counts().contains_key(&Promise::OrdersExist));

    let (mut case, kill) = killed_after(false);
    case.claim(4, &already_bought(103));
    assert!(case.history.excuse_lost(&kill, &case.state).is_empty(), "the new master named order 103");
}

#[test]
fn a_client_knows_where_it_stands_also_with_two_claims_under_way() {
    let mut case = clean();
    let stands = |case: &Case, client| case.history.standing(client, SALE);
    let standing = [0, 1, 2, 3, 4].map(|client| stands(&case, client));
    let want =
        [Standing::Paid(100), Standing::Free, Standing::Holding(102), Standing::Free, Standing::ClaimUnknown];
    assert_eq!(standing, want);

    let cancel = Request::Cancel { order: 102 };
    case.ask(2, cancel.clone());
    assert_eq!(stands(&case, 2), Standing::StepUnknown(cancel.clone()));
    case.ask_and_respond(2, cancel, &shown(view(102, CANCELLED)));
    assert_eq!(stands(&case, 2), Standing::Free);

    let slow = case.ask(3, Request::Claim { sale: SALE });
    case.claim(3, &refused("SOLD_OUT"));
    case.history.record_crash();
    assert_eq!(stands(&case, 3), Standing::ClaimUnknown, "the other claim may have been faster");
    case.claim(3, &refused("SOLD_OUT"));
    assert_eq!(stands(&case, 3), Standing::Free);
    case.respond(slow, &accepted(105));
}
