//! Cost of claims and orders in Redis and MySQL.

use mallbox_storage_production::ServerStats;

use super::comparison::Quantity;

/// Returns the cost per claim in Redis, including the background work on the log, and the cost per order in
/// MySQL.
pub(super) fn of_claims(spent: &ServerStats, claims: u64, orders: u64) -> Vec<(Quantity, f64)> {
    let ServerStats { redis, mysql } = spent;
    let (a_claim, an_order) = (share_of(claims), share_of(orders));
    vec![
        (("Redis' CPU per claim, µs", 1), redis.cpu.as_secs_f64() * 1e6 / claims.max(1) as f64),
        (("Redis calls per claim, in total", 2), a_claim(redis.calls)),
        (("bytes to Redis per claim", 0), a_claim(redis.bytes_in)),
        (("bytes from Redis per claim", 0), a_claim(redis.bytes_out)),
        (("MySQL statements per order", 3), an_order(mysql.statements)),
        (("MySQL rows per order", 2), an_order(mysql.rows)),
        (("MySQL commits per 1000 orders", 2), 1e3 * an_order(mysql.commits)),
        (("MySQL syncs per 1000 orders", 2), 1e3 * an_order(mysql.syncs)),
        (("bytes to MySQL per order", 0), an_order(mysql.bytes_in)),
    ]
}

/// Returns the cost per refusal: the claim itself, nothing else.
pub(super) fn of_refusals(spent: &ServerStats, refusals: u64) -> [(Quantity, f64); 2] {
    let a_refusal = share_of(refusals);
    [
        (("Redis calls per sold-out claim", 2), a_refusal(spent.redis.calls)),
        (("bytes to Redis per sold-out claim", 0), a_refusal(spent.redis.bytes_in)),
    ]
}

/// Formats the costs of [`of_claims`] in one line.
pub(super) fn line(spent: &ServerStats, claims: u64, orders: u64) -> String {
    let figures = of_claims(spent, claims, orders);
    figures
        .iter()
        .map(|((name, digits), value)| format!("{name}: {value:.digits$}"))
        .collect::<Vec<_>>()
        .join("; ")
}

fn share_of(count: u64) -> impl Fn(u64) -> f64 {
    move |total| total as f64 / count.max(1) as f64
}
