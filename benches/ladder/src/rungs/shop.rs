//! The steps that several rungs have in common.

use crate::error::LadderError;
use crate::instance::{Database, Request};
use crate::point::Point;
use crate::reply::Reply;

/// Returns whether the user has an order.
pub(super) async fn has_order(database: &Database, request: &Request) -> Result<bool, LadderError> {
    let orders =
        database.number(request, "SELECT COUNT(*) FROM orders WHERE user = ?", &[request.user()]).await?;
    Ok(orders.unwrap_or(0) > 0)
}

/// Returns the units left.
pub(super) async fn stock(database: &Database, request: &Request) -> Result<i64, LadderError> {
    Ok(database.number(request, "SELECT stock FROM vouchers", &[]).await?.unwrap_or(0))
}

/// Sells a unit in two steps: checks the user and the stock, then writes. Safe while no second request of the
/// user is between both steps, which is what locks are for.
pub(super) async fn check_then_buy(database: &Database, request: &Request) -> Result<Reply, LadderError> {
    if has_order(database, request).await? {
        return Ok(Reply::AlreadyBought);
    }
    if stock(database, request).await? <= 0 {
        return Ok(Reply::SoldOut);
    }
    request.at(Point::Checked).await;
    let mut transaction = database.begin(request).await?;
    let taken = transaction.run("UPDATE vouchers SET stock = stock - 1 WHERE stock > 0", &[]).await?;
    if taken == 0 {
        transaction.roll_back().await?;
        return Ok(Reply::SoldOut);
    }
    request.at(Point::Taken).await;
    transaction.run("INSERT INTO orders (user) VALUES (?)", &[request.user()]).await?;
    transaction.commit().await?;
    Ok(Reply::Accepted)
}

/// Cancels the user's order and returns its unit, in one transaction.
pub(super) async fn give_back(database: &Database, request: &Request) -> Result<(), LadderError> {
    let mut transaction = database.begin(request).await?;
    let deleted = transaction.run("DELETE FROM orders WHERE user = ?", &[request.user()]).await?;
    let deleted = i64::try_from(deleted).unwrap_or(0);
    transaction.run("UPDATE vouchers SET stock = stock + ?", &[deleted]).await?;
    transaction.commit().await
}
