//! The state of a mall over HTTP after the load.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::history::{History, OrderView, Request, Response};
use crate::http::Connection;
use crate::wire;

/// Number of concurrent reading connections.
const READERS: usize = 4;
/// Page size of a client's own orders and notes.
const OWN_PAGE: usize = 10;
/// Page size of an operator's order list.
const OPERATOR_PAGE: usize = 20;

/// The final state of a mall, as its clients and an operator see it.
#[derive(Clone, Default, Debug)]
pub struct State {
    /// Clients with at least one call, by index.
    pub clients: BTreeMap<usize, ClientState>,
    /// The watched sales.
    pub sales: BTreeMap<u64, SaleState>,
    /// Every order of the watched sales in the database, with its user.
    pub orders: Vec<(u64, OrderView)>,
    /// The notes named in responses; `None` if a note does not exist.
    pub notes: BTreeMap<u64, Option<NoteState>>,
    /// Tokens of sessions once begun, and their users; `None` if the mall does not know the session.
    pub sessions: BTreeMap<String, Option<u64>>,
}

/// State as seen by one client.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ClientState {
    /// Whether the mall still accepts the session.
    pub is_logged_in: bool,
    /// Own orders of the watched sales.
    pub orders: Vec<OrderView>,
    /// Orders named in responses, each read by id.
    pub by_id: BTreeMap<u64, Option<OrderView>>,
    /// Whether today's or yesterday's sign-in exists.
    pub has_signed: bool,
    /// Followed users, among those the client requested to follow.
    pub follows: BTreeSet<u64>,
    /// Own notes: id and title.
    pub notes: Vec<(u64, String)>,
    /// Liked notes, among those the client requested to like.
    pub likes: BTreeSet<u64>,
}

/// The live stock of a sale.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SaleState {
    /// Units left; `None` if unlimited.
    pub left: Option<u64>,
    /// Whether the mall reports the sale as sold out.
    pub is_sold_out: bool,
}

/// A note as shown publicly.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct NoteState {
    /// The author's id.
    pub author: u64,
    /// Title of the note.
    pub title: String,
    /// Number of likes.
    pub liked: u64,
}

impl State {
    /// Reads everything mentioned in the history. No request of another client may be in flight; `operator`
    /// is the token of an operator.
    ///
    /// # Errors
    /// The mall did not respond, or refused a request it must grant. A lost session is not an error: the
    /// verdict reports it.
    pub fn read(address: SocketAddr, history: &History, operator: &str) -> anyhow::Result<Self> {
        let mut state = Self { clients: read_clients(address, history)?, ..Self::default() };
        // Opened when it is used: the mall closes a connection without a request after 10 s.
        let mut connection = Connection::open(address)?;
        for sale in history.sales.keys() {
            state.sales.insert(*sale, read_sale(&mut connection, *sale)?);
            read_orders(&mut connection, *sale, operator, &mut state.orders)?;
        }
        for call in history.calls() {
            match &call.response {
                Response::Note(id) => {
                    state.notes.insert(*id, read_note(&mut connection, *id)?);
                }
                Response::Session(token) => {
                    let user = own(&mut connection, "/user/me", token)?;
                    state.sessions.insert(token.clone(), user.and_then(|user| user["id"].as_u64()));
                }
                _ => {}
            }
        }
        Ok(state)
    }

    /// Returns the number of orders that no response named.
    #[must_use]
    pub fn orders_without_answer(&self, history: &History) -> usize {
        let answered: BTreeSet<u64> =
            history.calls().iter().flat_map(|call| call.response.orders()).collect();
        let orders = self.clients.values().flat_map(|client| &client.orders);
        orders.filter(|order| !answered.contains(&order.id)).count()
    }
}

fn read_clients(address: SocketAddr, history: &History) -> anyhow::Result<BTreeMap<usize, ClientState>> {
    let acted: Vec<usize> =
        (0..history.clients.len()).filter(|client| history.calls_of(*client).next().is_some()).collect();
    let (next, found) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        let reader = || -> anyhow::Result<()> {
            let mut connection = Connection::open(address)?;
            while let Some(client) = acted.get(next.fetch_add(1, Ordering::Relaxed)) {
                let state = read_client(&mut connection, history, *client)
                    .with_context(|| format!("user {}", history.clients[*client].user))?;
                found.lock().ok().context("a reader panicked")?.insert(*client, state);
            }
            Ok(())
        };
        let readers: Vec<_> = (0..READERS).map(|_| scope.spawn(reader)).collect();
        readers.into_iter().try_for_each(|reader| reader.join().ok().context("a reader panicked")?)
    })?;
    found.into_inner().ok().context("a reader panicked")
}

fn read_client(connection: &mut Connection, history: &History, client: usize) -> anyhow::Result<ClientState> {
    let token = &history.clients[client].token;
    let mut state = ClientState { is_logged_in: true, ..ClientState::default() };
    let Some(orders) = pages(connection, "/voucher-order/of/me", token)? else {
        return Ok(ClientState::default());
    };
    let orders = wire::order_views(&Value::Array(orders)).context("own orders cannot be read")?;
    state.orders = orders.into_iter().filter(|order| history.sales.contains_key(&order.sale)).collect();
    let named: BTreeSet<u64> = history.calls_of(client).flat_map(|call| call.response.orders()).collect();
    for order in named {
        let (_, json) = connection.get_with_retry(&format!("/voucher-order/{order}"), token)?;
        state.by_id.insert(order, wire::order_view(&json["data"]));
    }
    let mut has_published = false;
    for call in history.calls_of(client) {
        match &call.request {
            Request::SignIn => {
                let days = connection.get("/user/sign/count", token)?;
                state.has_signed = days.as_u64().is_some_and(|days| days > 0);
            }
            Request::Follow { user } => {
                let is_followed = connection.get(&format!("/follow/or/not/{user}"), token)?;
                if is_followed == true {
                    state.follows.insert(*user);
                }
            }
            Request::Like { note } => {
                let (_, json) = connection.get_with_retry(&format!("/blog/{note}"), token)?;
                if json["data"]["isLike"] == true {
                    state.likes.insert(*note);
                }
            }
            Request::PublishNote { .. } => has_published = true,
            _ => {}
        }
    }
    if has_published {
        let notes = pages(connection, "/blog/of/me", token)?.unwrap_or_default();
        let note = |note: &Value| Some((note["id"].as_u64()?, note["title"].as_str()?.to_owned()));
        state.notes = notes.iter().filter_map(note).collect();
    }
    Ok(state)
}

/// Reads all pages of a client's own list; `None` if the mall does not know the session.
fn pages(connection: &mut Connection, path: &str, token: &str) -> anyhow::Result<Option<Vec<Value>>> {
    let mut all = Vec::new();
    for page in 1.. {
        let Some(data) = own(connection, &format!("{path}?current={page}"), token)? else { return Ok(None) };
        let list = data.as_array().with_context(|| format!("{path} has no list: {data}"))?;
        all.extend_from_slice(list);
        if list.len() < OWN_PAGE {
            break;
        }
    }
    Ok(Some(all))
}

/// Reads a resource of the client's own; `None` if the mall does not know the session.
fn own(connection: &mut Connection, path: &str, token: &str) -> anyhow::Result<Option<Value>> {
    let (status, mut json) = connection.get_with_retry(path, token)?;
    if status == 401 {
        return Ok(None);
    }
    ensure!(json["success"] == true, "GET {path} was answered {status} {json}");
    Ok(Some(json["data"].take()))
}

fn read_sale(connection: &mut Connection, sale: u64) -> anyhow::Result<SaleState> {
    let live = connection.get(&format!("/sale/{sale}"), "")?;
    let left = wire::stock(&live["stock"]).with_context(|| format!("a sale without a stock: {live}"))?;
    Ok(SaleState { left, is_sold_out: live["state"] == "SOLD_OUT" })
}

fn read_orders(
    connection: &mut Connection,
    sale: u64,
    operator: &str,
    into: &mut Vec<(u64, OrderView)>,
) -> anyhow::Result<()> {
    for page in 1.. {
        let found = connection.get(&format!("/ops/orders?voucher={sale}&current={page}"), operator)?;
        let list = found.as_array().context("an operator's list of orders is no list")?;
        for order in list {
            let view = wire::order_view(order).with_context(|| format!("no order: {order}"))?;
            into.push((order["userId"].as_u64().context("an order of nobody")?, view));
        }
        if list.len() < OPERATOR_PAGE {
            break;
        }
    }
    Ok(())
}

fn read_note(connection: &mut Connection, id: u64) -> anyhow::Result<Option<NoteState>> {
    let (_, json) = connection.get_with_retry(&format!("/blog/{id}"), "")?;
    let note = &json["data"];
    let (Some(author), Some(title)) = (note["userId"].as_u64(), note["title"].as_str()) else {
        return Ok(None);
    };
    let liked = note["liked"].as_u64().context("a note without a count of likes")?;
    Ok(Some(NoteState { author, title: title.to_owned(), liked }))
}
