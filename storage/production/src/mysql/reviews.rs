//! [`Reviews`] in MySQL.
//!
//! Locks are taken in one order: the order's row, the review's, the shop's.

use std::collections::HashMap;

use async_trait::async_trait;
use mallbox_storage::backend::{NewEvent, Numbered as _};
use mallbox_storage::{
    Cents, NewReview, OrderId, OrderReview, Page, Post, Review, ReviewCounts, ReviewCursor, ReviewFilter,
    ReviewId, ReviewOrder, ReviewOutcome, ReviewSearch, ReviewState, ReviewText, Reviews, ShopId, StoreError,
    Timestamp, UserId, Visibility,
};
use mysql_async::{Conn, Value, params};

use super::columns::{Columns, all, execute, first};
use super::database::Database;
use super::errors::MysqlError;
use super::event_rows::EventSwitch;
use super::job::boxed;
use super::review_rows::{self, SELECT, review, write_pictures};
use super::{multi_row, reports, shop_ratings, vote_rows};

pub(super) struct MysqlReviews(pub(super) Database);

#[async_trait]
impl Reviews for MysqlReviews {
    async fn insert(&self, review: &NewReview, now: Timestamp) -> Result<ReviewOutcome, StoreError> {
        let events = self.0.events();
        self.0.write("insert review", |conn| boxed(insert(conn, review, now, events))).await
    }

    async fn get(&self, which: ReviewId) -> Result<Option<Review>, StoreError> {
        let sql: &str = &format!("{SELECT} WHERE id = ?");
        self.0
            .read("review", |conn| boxed(async move { first(conn, sql, (which.get(),), review).await }))
            .await
    }

    async fn those(&self, reviews: &[ReviewId]) -> Result<Vec<Review>, StoreError> {
        let ids: &[u64] = &reviews.iter().copied().map(ReviewId::get).collect::<Vec<_>>();
        let sql: &str = &format!("{SELECT} WHERE id IN ({{keys}})");
        let found = self
            .0
            .read("reviews by id", |conn| {
                boxed(async move { multi_row::select_by_keys(conn, sql, &[], ids, review).await })
            })
            .await?;
        let found: HashMap<ReviewId, Review> = found.into_iter().map(|review| (review.id, review)).collect();
        Ok(reviews.iter().filter_map(|review| found.get(review).cloned()).collect())
    }

    async fn of_orders(&self, author: UserId, orders: &[OrderId]) -> Result<Vec<OrderReview>, StoreError> {
        let ids: &[u64] = &orders.iter().copied().map(OrderId::get).collect::<Vec<_>>();
        let sql = "SELECT order_id, id, status FROM reviews WHERE user_id = ? AND order_id IN ({keys})";
        let read = |row: &mut Columns| {
            let (order, review) = (OrderId::new(row.next()?), ReviewId::new(row.next()?));
            Ok(OrderReview { order, review, is_deleted: row.known::<Visibility>()? == Visibility::Deleted })
        };
        let mut found = self
            .0
            .read("reviews of orders", |conn| {
                boxed(async move { multi_row::select_by_keys(conn, sql, &[author.get()], ids, read).await })
            })
            .await?;
        found.sort_unstable_by_key(|one| one.order);
        found.dedup();
        Ok(found)
    }

    async fn of_shop(
        &self,
        filter: &ReviewFilter,
        order: ReviewOrder,
        after: Option<ReviewCursor>,
        page: Page,
    ) -> Result<Vec<Review>, StoreError> {
        // MySQL would not use the index for a comparison of rows.
        let older = "(created_ms < :created OR created_ms = :created AND id < :id)";
        let behind = match (after, order) {
            (None, _) => String::new(),
            (Some(_), ReviewOrder::Newest) => format!(" AND created_ms <= :created AND {older}"),
            (Some(_), ReviewOrder::Best) => {
                format!(" AND votes <= :votes AND (votes < :votes OR {older})")
            }
        };
        let order = match order {
            ReviewOrder::Newest => "created_ms DESC, id DESC",
            ReviewOrder::Best => "votes DESC, created_ms DESC, id DESC",
        };
        let sql: &str = &format!(
            "{SELECT} WHERE {}{behind} ORDER BY {order} LIMIT :size OFFSET :skipped",
            matching(filter)
        );
        let params = params! {
            "shop" => filter.shop.get(),
            "folded" => filter.folded,
            "votes" => after.map_or(0, |after| after.votes),
            "created" => after.map_or(0, |after| after.created.as_millis()),
            "id" => after.map_or(0, |after| after.id.get()),
            "size" => page.size(),
            "skipped" => page.skipped(),
        };
        self.0.read("reviews of shop", |conn| boxed(all(conn, sql, params.clone(), review))).await
    }

    async fn counts(&self, shop: ShopId) -> Result<ReviewCounts, StoreError> {
        let sql = "SELECT is_folded, half_stars, COUNT(*), CAST(SUM(images <> '') AS SIGNED) FROM reviews
                   WHERE shop_id = ? AND status < 2 GROUP BY is_folded, half_stars";
        let read = |row: &mut Columns| {
            Ok((row.next::<bool>()?, row.next::<u8>()?.div_ceil(2), row.count()?, row.count()?))
        };
        let kinds = self
            .0
            .read("counts of reviews", |conn| boxed(async move { all(conn, sql, (shop.get(),), read).await }))
            .await?;
        let mut counts = ReviewCounts::default();
        for (is_folded, stars, reviews, with_pictures) in kinds {
            counts.add(is_folded, stars, reviews, with_pictures);
        }
        Ok(counts)
    }

    async fn count(&self, filter: &ReviewFilter) -> Result<u64, StoreError> {
        let sql: &str = &format!("SELECT COUNT(*) FROM reviews WHERE {}", matching(filter));
        let params = params! { "shop" => filter.shop.get(), "folded" => filter.folded };
        let count = self
            .0
            .read("count of reviews", |conn| {
                let params = params.clone();
                boxed(async move { first(conn, sql, params, Columns::count).await })
            })
            .await?;
        Ok(count.unwrap_or_default())
    }

    async fn of_author(&self, author: UserId, page: Page) -> Result<Vec<Review>, StoreError> {
        let sql: &str = &format!(
            "{SELECT} WHERE user_id = ? AND status <> 3 ORDER BY created_ms DESC, id DESC LIMIT ? OFFSET ?"
        );
        let which = (author.get(), page.size(), page.skipped());
        self.0
            .read("reviews of author", |conn| boxed(async move { all(conn, sql, which, review).await }))
            .await
    }

    async fn find(&self, search: &ReviewSearch, page: Page) -> Result<(Vec<Review>, u64), StoreError> {
        self.0.read("reviews", |conn| boxed(find(conn, search, page))).await
    }

    async fn edit(
        &self,
        review: ReviewId,
        author: UserId,
        text: &ReviewText,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.0.write("edit review", |conn| boxed(edit(conn, review, author, text, now))).await
    }

    async fn put_state(
        &self,
        review: ReviewId,
        state: ReviewState,
        now: Timestamp,
    ) -> Result<Option<ReviewState>, StoreError> {
        self.0.write("put state of review", |conn| boxed(put_state(conn, review, state, now))).await
    }

    async fn put_reply(
        &self,
        review: ReviewId,
        reply: Option<&str>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE reviews SET reply = ?, reply_ms = ? WHERE id = ? AND status <> 3";
        let at = reply.map(|_| now.as_millis());
        let changed = self
            .0
            .write_at_once("reply to review", |conn| {
                boxed(async move { execute(conn, sql, (reply, at, review.get())).await })
            })
            .await?;
        Ok(changed > 0)
    }
}

/// Returns the condition for the reviews of a filter.
fn matching(filter: &ReviewFilter) -> String {
    let pictures = if filter.with_pictures { " AND images <> ''" } else { "" };
    let stars = filter.stars.map_or_else(String::new, |stars| {
        format!(" AND half_stars IN ({}, {})", i64::from(stars) * 2 - 1, i64::from(stars) * 2)
    });
    format!("shop_id = :shop AND is_folded = :folded AND status < 2{pictures}{stars}")
}

async fn insert(
    conn: &mut Conn,
    review: &NewReview,
    now: Timestamp,
    events: EventSwitch,
) -> Result<ReviewOutcome, MysqlError> {
    let (origin, order) = review.origin.in_row();
    if let Some(order) = order {
        // Of two reviews of one order, the second waits here until the first is stored.
        let sql = "SELECT user_id, status, voucher_id FROM orders WHERE id = ? FOR UPDATE";
        let read = |row: &mut Columns| Ok((row.next::<u64>()?, row.next::<i64>()?, row.next::<u64>()?));
        let mut found = first(conn, sql, (order.get(),), read).await?;
        if let Some((user, status, voucher)) = found {
            let sql = "SELECT shop_id FROM vouchers WHERE id = ?";
            let shop = first(conn, sql, (voucher,), Columns::next::<u64>).await?;
            found = shop.map(|shop| (user, status, shop));
        }
        let sql = "SELECT request FROM reviews WHERE order_id = ?";
        let request = first(conn, sql, (order.get(),), Columns::next::<String>).await?;
        let sql = format!("{SELECT} WHERE order_id = ?");
        let earlier = first(conn, sql, (order.get(),), review_rows::review).await?.zip(request);
        if let Some(refused) = review.refusal(found, earlier.as_ref()) {
            return Ok(refused);
        }
    }
    let shop = review.shop.get();
    if first(conn, "SELECT id FROM shops WHERE id = ?", (shop,), Columns::next::<u64>).await?.is_none() {
        return Ok(ReviewOutcome::NoSuchShop);
    }
    let sql = "INSERT INTO reviews (shop_id, user_id, origin, order_id, request, half_stars, content, images,
                 average_price, tags, created_ms, updated_ms)
               VALUES (:shop, :author, :origin, :order, :request, :half_stars, :content, :images,
                 :average_price, :tags, :now, :now)";
    let text = &review.text;
    let params = params! {
        "shop" => shop,
        "author" => review.author.get(),
        "origin" => origin,
        "order" => order.map(OrderId::get),
        "request" => &review.request,
        "half_stars" => text.stars.half_stars(),
        "content" => &text.content,
        "images" => &text.images,
        "average_price" => text.average_price.map(Cents::get),
        "tags" => text.tags.in_row(),
        "now" => now.as_millis(),
    };
    execute(conn, sql, params).await?;
    let written = conn.last_insert_id().unwrap_or_default();
    write_pictures(conn, written, text).await?;
    let review_id = ReviewId::new(written);
    events
        .write(conn, now, || {
            [NewEvent::review_written(review_id, review.author, review.shop, order, text.stars)]
        })
        .await?;
    shop_ratings::change(conn, shop, None, Some(text.stars)).await?;
    Ok(ReviewOutcome::Written(review_id))
}

async fn find(conn: &mut Conn, search: &ReviewSearch, page: Page) -> Result<(Vec<Review>, u64), MysqlError> {
    let mut terms = vec!["1"];
    let mut values: Vec<Value> = Vec::new();
    for (term, value) in [
        ("shop_id = ?", search.shop.map(|shop| shop.get().into())),
        ("status = ?", search.visibility.map(|visibility| visibility.number().into())),
        ("is_folded = ?", search.is_folded.map(Value::from)),
    ] {
        if let Some(value) = value {
            terms.push(term);
            values.push(value);
        }
    }
    let terms = terms.join(" AND ");
    let sql = format!("SELECT COUNT(*) FROM reviews WHERE {terms}");
    // Without values, the driver demands empty parameters instead of an empty list.
    let total = if values.is_empty() {
        first(conn, sql, (), Columns::count).await?
    } else {
        first(conn, sql, values.clone(), Columns::count).await?
    };
    values.extend([page.size().into(), page.skipped().into()]);
    let sql = format!("{SELECT} WHERE {terms} ORDER BY created_ms DESC, id DESC LIMIT ? OFFSET ?");
    Ok((all(conn, sql, values, review).await?, total.unwrap_or_default()))
}

async fn edit(
    conn: &mut Conn,
    which: ReviewId,
    author: UserId,
    text: &ReviewText,
    now: Timestamp,
) -> Result<bool, MysqlError> {
    let sql = format!("{SELECT} WHERE id = ? FOR UPDATE");
    let Some(found) = first(conn, sql, (which.get(),), review).await? else { return Ok(false) };
    if found.author != author || found.state.visibility == Visibility::Deleted {
        return Ok(false);
    }
    if found.text == *text {
        return Ok(true);
    }
    let sql = "UPDATE reviews SET half_stars = :half_stars, content = :content, images = :images,
                 average_price = :average_price, tags = :tags, is_edited = 1, updated_ms = :now WHERE id = :id";
    let params = params! {
        "id" => which.get(),
        "half_stars" => text.stars.half_stars(),
        "content" => &text.content,
        "images" => &text.images,
        "average_price" => text.average_price.map(Cents::get),
        "tags" => text.tags.in_row(),
        "now" => now.as_millis(),
    };
    execute(conn, sql, params).await?;
    review_rows::forget_pictures(conn, which).await?;
    write_pictures(conn, which.get(), text).await?;
    if found.state.is_counted() {
        shop_ratings::change(conn, found.shop.get(), Some(found.text.stars), Some(text.stars)).await?;
    }
    Ok(true)
}

async fn put_state(
    conn: &mut Conn,
    which: ReviewId,
    state: ReviewState,
    now: Timestamp,
) -> Result<Option<ReviewState>, MysqlError> {
    let Some(row) = review_rows::lock(conn, which).await? else { return Ok(None) };
    let was = row.voted.state;
    if was.visibility == Visibility::Deleted || was == state {
        return Ok(Some(was));
    }
    let sql = "UPDATE reviews SET status = ?, is_folded = ?, updated_ms = ? WHERE id = ?";
    let values = (state.visibility.number(), state.is_folded, now.as_millis(), which.get());
    execute(conn, sql, values).await?;
    let counted = |state: ReviewState| state.is_counted().then_some(row.stars);
    if was.is_counted() != state.is_counted() {
        vote_rows::close(conn, which, &row.voted, now).await?;
        shop_ratings::change(conn, row.shop, counted(was), counted(state)).await?;
    }
    if state.visibility == Visibility::Deleted {
        let sql =
            "UPDATE reviews SET content = '', images = '', average_price = NULL, tags = 0, reply = NULL,
                     reply_ms = NULL WHERE id = ?";
        execute(conn, sql, (which.get(),)).await?;
        review_rows::forget_pictures(conn, which).await?;
    }
    if state.visibility != Visibility::Reported {
        reports::decide(conn, Post::Review(which), now).await?;
    }
    Ok(Some(was))
}
