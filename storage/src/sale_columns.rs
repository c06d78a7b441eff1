//! Columns of a sale, equal in both database engines.

/// A column of the first wave to come of a row of `sales`.
#[doc(hidden)]
#[macro_export]
macro_rules! next_wave {
    ($column:literal) => {
        concat!(
            "(SELECT ",
            $column,
            " FROM sale_waves AS w WHERE w.voucher_id = sales.voucher_id AND w.released_ms IS NULL",
            " ORDER BY w.number LIMIT 1)"
        )
    };
}

/// Columns of a sale, as a literal. The last three are those of the next wave, NULL without one.
#[doc(hidden)]
#[macro_export]
macro_rules! sale_columns {
    () => {
        concat!(
            "voucher_id, begin_ms, end_ms, paused, initial, added, stock, pay_within_ms, min_level, guard, ",
            "waiting, waiting_max, room, claims_per_second, thresholds, judgement, per_user, ",
            $crate::next_wave!("w.number"),
            ", ",
            $crate::next_wave!("w.at_ms"),
            ", ",
            $crate::next_wave!("w.units")
        )
    };
}
