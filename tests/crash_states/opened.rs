//! A disk after a power cut, opened in this process: what clients and operators would see.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use mallbox::mall::{Clock as _, Dependencies, Mall, SystemClock};
use mallbox_storage::{
    Day, NoteId, OrderFilter, OrderId, Page, Post, ShopId, Storage, TokenHash, UserId, VoucherId,
};
use mallbox_test_checker::{
    ClientState, History, LedgerReport, NoteState, OrderView, Request, Response, SaleState, State,
};
use sha2::{Digest as _, Sha256};

use crate::common::mall;

/// More than any list has.
const ALL: u32 = 1_000;
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Contents of an opened mall.
pub struct Opened {
    pub state: State,
    pub report: LedgerReport,
    pub shops: usize,
}

/// Opens a mall as a start does, without background work, reads what the history mentions, and checks the
/// ledger.
pub async fn open(dir: &Path, history: &History) -> anyhow::Result<Opened> {
    let storage = mall::open(dir).await?;
    let mall = Mall::open(Dependencies::simulated(storage.clone(), Arc::new(SystemClock))).await?;
    let report = serde_json::to_value(mall.ledger.verify().await?.into_document())?;
    let report = LedgerReport::of_document(&report)?;
    let state = read(&storage, history).await?;
    let shops = storage.catalogue.shops.ids(ShopId::new(0), ALL).await?.len();
    Ok(Opened { state, report, shops })
}

async fn read(storage: &Storage, history: &History) -> anyhow::Result<State> {
    let mut state = State::default();
    for client in 0..history.clients.len() {
        if history.calls_of(client).next().is_some() {
            state.clients.insert(client, read_client(storage, history, client).await?);
        }
    }
    for sale in history.sales.keys() {
        let voucher = VoucherId::new(*sale);
        let units = storage.selling.sales.units(voucher).await?.context("a sale is not loaded")?;
        let left = units.left();
        state.sales.insert(*sale, SaleState { left, is_sold_out: left == Some(0) });
        let of_sale = OrderFilter { voucher: Some(voucher), ..OrderFilter::default() };
        let (orders, _) = storage.selling.orders.find(of_sale, Page::new(1, ALL)).await?;
        state.orders.extend(orders.iter().map(|order| (order.user.get(), view(order))));
    }
    for call in history.calls() {
        match &call.response {
            Response::Note(id) => {
                let note = storage.writing.notes.get(NoteId::new(*id)).await?.map(|note| NoteState {
                    author: note.author.get(),
                    title: note.text.title.clone(),
                    liked: note.liked,
                });
                state.notes.insert(*id, note);
            }
            Response::Session(token) => {
                state.sessions.insert(token.clone(), user_of(storage, token).await?);
            }
            _ => {}
        }
    }
    Ok(state)
}

async fn user_of(storage: &Storage, token: &str) -> anyhow::Result<Option<u64>> {
    let hash = TokenHash(Sha256::digest(token.as_bytes()).into());
    let session = storage.people.sessions.find(hash, DAY, SystemClock.now()).await?;
    Ok(session.map(|session| session.user.get()))
}

async fn read_client(storage: &Storage, history: &History, client: usize) -> anyhow::Result<ClientState> {
    let (user, token) = (UserId::new(history.clients[client].user), &history.clients[client].token);
    if user_of(storage, token).await? != Some(user.get()) {
        return Ok(ClientState::default());
    }
    let mut state = ClientState { is_logged_in: true, ..ClientState::default() };
    let pending = storage.selling.order_log.of_user(user).await?;
    let pending = pending.iter().map(|claim| (claim.order.get(), claim.voucher.get()));
    state.orders = pending.map(|(id, sale)| OrderView { id, sale, status: 0 }).collect();
    let written = storage.selling.orders.of_user(user, Page::new(1, ALL)).await?;
    state.orders.extend(written.iter().map(view));
    state.orders.retain(|order| history.sales.contains_key(&order.sale));
    let named: BTreeSet<u64> = history.calls_of(client).flat_map(|call| call.response.orders()).collect();
    for id in named {
        state.by_id.insert(id, by_id(storage, id).await?);
    }
    let today = i32::try_from(SystemClock.now().as_millis() / DAY_MS)?;
    let today = Day::from_number(today).context("a day of this century")?;
    let mut likes = Vec::new();
    for call in history.calls_of(client) {
        match &call.request {
            Request::SignIn => state.has_signed = storage.people.sign_ins.streak(user, today).await? > 0,
            Request::Follow { user: other } => {
                let is_followed = storage.people.follows.is_following(user, UserId::new(*other)).await?;
                state.follows.extend(is_followed.then_some(*other));
            }
            Request::Like { note } => likes.push(Post::Note(NoteId::new(*note))),
            _ => {}
        }
    }
    if !likes.is_empty() {
        let liked = storage.writing.likes.liked(user, &likes).await?;
        state.likes = liked.iter().map(|post| post.in_row().1).collect();
    }
    let notes = storage.writing.notes.of_author(user, Page::new(1, ALL)).await?;
    state.notes = notes.iter().map(|note| (note.id.get(), note.text.title.clone())).collect();
    Ok(state)
}

async fn by_id(storage: &Storage, id: u64) -> anyhow::Result<Option<OrderView>> {
    if let Some(order) = storage.selling.orders.get(OrderId::new(id)).await? {
        return Ok(Some(view(&order)));
    }
    let claim = storage.selling.order_log.find(OrderId::new(id)).await?;
    Ok(claim.map(|claim| OrderView { id, sale: claim.voucher.get(), status: 0 }))
}

fn view(order: &mallbox_storage::Order) -> OrderView {
    OrderView { id: order.id.get(), sale: order.voucher.get(), status: order.status as u8 }
}
