//! The [`Reviews`] port on SQLite.

use std::collections::HashMap;

use async_trait::async_trait;
use mallbox_storage::backend::{NewEvent, Numbered as _};
use mallbox_storage::{
    Cents, NewReview, OrderId, OrderReview, Page, Post, Review, ReviewCounts, ReviewCursor, ReviewFilter,
    ReviewId, ReviewOrder, ReviewOutcome, ReviewSearch, ReviewState, ReviewText, Reviews, ShopId, StoreError,
    Timestamp, UserId, Visibility,
};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, params, params_from_iter};

use super::columns::{get_count, get_id, get_known, id};
use super::review_rows::{self, list, locked, write_pictures};
use super::{Database, event_rows, reports, shop_ratings, vote_rows};

pub(crate) struct EmbeddedReviews(Database);

impl EmbeddedReviews {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }
}

#[async_trait]
impl Reviews for EmbeddedReviews {
    async fn insert(&self, review: &NewReview, now: Timestamp) -> Result<ReviewOutcome, StoreError> {
        let review = review.clone();
        self.0.write("insert review", move |conn| insert(conn, &review, now)).await
    }

    async fn get(&self, which: ReviewId) -> Result<Option<Review>, StoreError> {
        let job = move |conn: &Connection| Ok(list(conn, "WHERE id = ?1", [id(which.get())])?.pop());
        self.0.read("review", job).await
    }

    async fn those(&self, reviews: &[ReviewId]) -> Result<Vec<Review>, StoreError> {
        let ids: Vec<i64> = reviews.iter().map(|review| id(review.get())).collect();
        let ids = format!("{ids:?}");
        let job = move |conn: &Connection| list(conn, "WHERE id IN (SELECT value FROM json_each(?1))", [ids]);
        let found = self.0.read("reviews by id", job).await?;
        let found: HashMap<ReviewId, Review> = found.into_iter().map(|review| (review.id, review)).collect();
        Ok(reviews.iter().filter_map(|review| found.get(review).cloned()).collect())
    }

    async fn of_orders(&self, author: UserId, orders: &[OrderId]) -> Result<Vec<OrderReview>, StoreError> {
        let ids: Vec<i64> = orders.iter().map(|order| id(order.get())).collect();
        let ids = format!("{ids:?}");
        let job = move |conn: &Connection| {
            conn.prepare_cached(
                "SELECT order_id, id, status FROM reviews
                 WHERE order_id IN (SELECT value FROM json_each(?1)) AND user_id = ?2 ORDER BY order_id",
            )?
            .query_map(params![ids, id(author.get())], |row| {
                let (order, review) = (OrderId::new(get_id(row, 0)?), ReviewId::new(get_id(row, 1)?));
                let is_deleted = get_known::<Visibility>(row, 2)? == Visibility::Deleted;
                Ok(OrderReview { order, review, is_deleted })
            })?
            .collect()
        };
        self.0.read("reviews of orders", job).await
    }

    async fn of_shop(
        &self,
        filter: &ReviewFilter,
        order: ReviewOrder,
        after: Option<ReviewCursor>,
        page: Page,
    ) -> Result<Vec<Review>, StoreError> {
        let behind = match (after, order) {
            (None, _) => "?3 = ?3 AND ?4 = ?4 AND ?5 = ?5",
            (Some(_), ReviewOrder::Newest) => "?3 = ?3 AND (created_ms, id) < (?4, ?5)",
            (Some(_), ReviewOrder::Best) => "(votes, created_ms, id) < (?3, ?4, ?5)",
        };
        let order = match order {
            ReviewOrder::Newest => "created_ms DESC, id DESC",
            ReviewOrder::Best => "votes DESC, created_ms DESC, id DESC",
        };
        let rest = format!(
            "WHERE {} AND {behind} ORDER BY {order} LIMIT ?6 OFFSET ?7",
            matching(filter, "?1", "?2")
        );
        let after =
            after.map_or([0; 3], |after| [id(after.votes), after.created.as_millis(), id(after.id.get())]);
        let which = [
            id(filter.shop.get()),
            filter.folded.into(),
            after[0],
            after[1],
            after[2],
            page.size().into(),
            id(page.skipped()),
        ];
        self.0.read("reviews of shop", move |conn| list(conn, &rest, which)).await
    }

    async fn counts(&self, shop: ShopId) -> Result<ReviewCounts, StoreError> {
        let job = move |conn: &Connection| {
            let mut counts = ReviewCounts::default();
            let mut select = conn.prepare_cached(
                "SELECT is_folded, (half_stars + 1) / 2 AS stars, COUNT(*), SUM(images <> '') FROM reviews
                 WHERE shop_id = ?1 AND status < 2 GROUP BY is_folded, stars",
            )?;
            let mut rows = select.query([id(shop.get())])?;
            while let Some(row) = rows.next()? {
                counts.add(row.get(0)?, row.get(1)?, get_count(row, 2)?, get_count(row, 3)?);
            }
            Ok(counts)
        };
        self.0.read("counts of reviews", job).await
    }

    async fn count(&self, filter: &ReviewFilter) -> Result<u64, StoreError> {
        let sql = format!("SELECT COUNT(*) FROM reviews WHERE {}", matching(filter, "?1", "?2"));
        let which = [id(filter.shop.get()), filter.folded.into()];
        let job =
            move |conn: &Connection| conn.prepare_cached(&sql)?.query_row(which, |row| get_count(row, 0));
        self.0.read("count of reviews", job).await
    }

    async fn of_author(&self, author: UserId, page: Page) -> Result<Vec<Review>, StoreError> {
        let rest = "WHERE user_id = ?1 AND status <> 3 ORDER BY created_ms DESC, id DESC LIMIT ?2 OFFSET ?3";
        let which = [id(author.get()), page.size().into(), id(page.skipped())];
        self.0.read("reviews of author", move |conn| list(conn, rest, which)).await
    }

    async fn find(&self, search: &ReviewSearch, page: Page) -> Result<(Vec<Review>, u64), StoreError> {
        let search = *search;
        self.0.read("reviews", move |conn| find(conn, &search, page)).await
    }

    async fn edit(
        &self,
        review: ReviewId,
        author: UserId,
        text: &ReviewText,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let text = text.clone();
        self.0.write("edit review", move |conn| edit(conn, review, author, &text, now)).await
    }

    async fn put_state(
        &self,
        review: ReviewId,
        state: ReviewState,
        now: Timestamp,
    ) -> Result<Option<ReviewState>, StoreError> {
        self.0.write("put state of review", move |conn| put_state(conn, review, state, now)).await
    }

    async fn put_reply(
        &self,
        review: ReviewId,
        reply: Option<&str>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let reply = reply.map(str::to_owned);
        let job = move |conn: &Connection| {
            let at = reply.as_ref().map(|_| now.as_millis());
            let changed = conn
                .prepare_cached("UPDATE reviews SET reply = ?2, reply_ms = ?3 WHERE id = ?1 AND status <> 3")?
                .execute(params![id(review.get()), reply, at])?;
            Ok(changed > 0)
        };
        self.0.write("reply to review", job).await
    }
}

/// Returns the condition for the reviews of a filter, with placeholders for shop and fold.
fn matching(filter: &ReviewFilter, shop: &str, folded: &str) -> String {
    let pictures = if filter.with_pictures { " AND images <> ''" } else { "" };
    let stars = filter.stars.map_or_else(String::new, |stars| {
        format!(" AND half_stars IN ({}, {})", i64::from(stars) * 2 - 1, i64::from(stars) * 2)
    });
    format!("shop_id = {shop} AND is_folded = {folded} AND status < 2{pictures}{stars}")
}

fn insert(conn: &Connection, review: &NewReview, now: Timestamp) -> rusqlite::Result<ReviewOutcome> {
    let shop = id(review.shop.get());
    let (origin, order) = review.origin.in_row();
    if let Some(order) = order {
        let found: Option<(u64, i64, u64)> = conn
            .prepare_cached(
                "SELECT orders.user_id, orders.status, vouchers.shop_id FROM orders
                 JOIN vouchers ON vouchers.id = orders.voucher_id WHERE orders.id = ?1",
            )?
            .query_row([id(order.get())], |row| Ok((get_id(row, 0)?, row.get(1)?, get_id(row, 2)?)))
            .optional()?;
        let request: Option<String> = conn
            .prepare_cached("SELECT request FROM reviews WHERE order_id = ?1")?
            .query_row([id(order.get())], |row| row.get(0))
            .optional()?;
        let earlier = list(conn, "WHERE order_id = ?1", [id(order.get())])?.pop().zip(request);
        if let Some(refused) = review.refusal(found, earlier.as_ref()) {
            return Ok(refused);
        }
    }
    if !conn.prepare_cached("SELECT 1 FROM shops WHERE id = ?1")?.exists([shop])? {
        return Ok(ReviewOutcome::NoSuchShop);
    }
    let text = &review.text;
    conn.prepare_cached(
        "INSERT INTO reviews (shop_id, user_id, origin, order_id, request, half_stars, content, images,
           average_price, tags, created_ms, updated_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11)",
    )?
    .execute(params![
        shop,
        id(review.author.get()),
        origin,
        order.map(|order| id(order.get())),
        review.request,
        text.stars.half_stars(),
        text.content,
        text.images,
        text.average_price.map(Cents::get),
        text.tags.in_row(),
        now.as_millis(),
    ])?;
    let written = conn.last_insert_rowid();
    write_pictures(conn, written, text)?;
    shop_ratings::change(conn, shop, None, Some(text.stars))?;
    let written = ReviewId::new(written.cast_unsigned());
    event_rows::write(conn, now, || {
        [NewEvent::review_written(written, review.author, review.shop, order, text.stars)]
    })?;
    Ok(ReviewOutcome::Written(written))
}

fn find(conn: &Connection, search: &ReviewSearch, page: Page) -> rusqlite::Result<(Vec<Review>, u64)> {
    let mut terms = vec!["1"];
    let mut values: Vec<Value> = Vec::new();
    for (term, value) in [
        ("shop_id = ?", search.shop.map(|shop| id(shop.get()))),
        ("status = ?", search.visibility.map(Visibility::number)),
        ("is_folded = ?", search.is_folded.map(i64::from)),
    ] {
        if let Some(value) = value {
            terms.push(term);
            values.push(value.into());
        }
    }
    let terms = terms.join(" AND ");
    let total = conn
        .prepare_cached(&format!("SELECT COUNT(*) FROM reviews WHERE {terms}"))?
        .query_row(params_from_iter(&values), |row| get_count(row, 0))?;
    values.extend([i64::from(page.size()).into(), id(page.skipped()).into()]);
    let rest = format!("WHERE {terms} ORDER BY created_ms DESC, id DESC LIMIT ? OFFSET ?");
    Ok((list(conn, &rest, params_from_iter(values))?, total))
}

fn edit(
    conn: &Connection,
    review: ReviewId,
    author: UserId,
    text: &ReviewText,
    now: Timestamp,
) -> rusqlite::Result<bool> {
    let Some(found) = list(conn, "WHERE id = ?1", [id(review.get())])?.pop() else { return Ok(false) };
    if found.author != author || found.state.visibility == Visibility::Deleted {
        return Ok(false);
    }
    if found.text == *text {
        return Ok(true);
    }
    conn.prepare_cached(
        "UPDATE reviews SET half_stars = ?2, content = ?3, images = ?4, average_price = ?5, tags = ?6,
           is_edited = 1, updated_ms = ?7 WHERE id = ?1",
    )?
    .execute(params![
        id(review.get()),
        text.stars.half_stars(),
        text.content,
        text.images,
        text.average_price.map(Cents::get),
        text.tags.in_row(),
        now.as_millis(),
    ])?;
    review_rows::forget_pictures(conn, id(review.get()))?;
    write_pictures(conn, id(review.get()), text)?;
    if found.state.is_counted() {
        shop_ratings::change(conn, id(found.shop.get()), Some(found.text.stars), Some(text.stars))?;
    }
    Ok(true)
}

fn put_state(
    conn: &Connection,
    review: ReviewId,
    state: ReviewState,
    now: Timestamp,
) -> rusqlite::Result<Option<ReviewState>> {
    let Some(row) = locked(conn, review)? else { return Ok(None) };
    let was = row.voted.state;
    if was.visibility == Visibility::Deleted || was == state {
        return Ok(Some(was));
    }
    let key = id(review.get());
    conn.prepare_cached("UPDATE reviews SET status = ?2, is_folded = ?3, updated_ms = ?4 WHERE id = ?1")?
        .execute([key, state.visibility.number(), state.is_folded.into(), now.as_millis()])?;
    let counted = |state: ReviewState| state.is_counted().then_some(row.stars);
    if was.is_counted() != state.is_counted() {
        shop_ratings::change(conn, row.shop, counted(was), counted(state))?;
        vote_rows::close(conn, review, &row.voted, now)?;
    }
    if state.visibility == Visibility::Deleted {
        conn.prepare_cached(
            "UPDATE reviews SET content = '', images = '', average_price = NULL, tags = 0, reply = NULL,
               reply_ms = NULL WHERE id = ?1",
        )?
        .execute([key])?;
        review_rows::forget_pictures(conn, key)?;
    }
    if state.visibility != Visibility::Reported {
        reports::decide(conn, Post::Review(review), now)?;
    }
    Ok(Some(was))
}
