//! Numbers of epochs: the number of a start in the upper half, the start's segments counted in the lower one.

/// Returns the start that an epoch belongs to; 0 for the epochs of a log that numbered no starts.
pub(crate) fn start_of(epoch: u64) -> u32 {
    u32::try_from(epoch >> 32).expect("half of the bits")
}

/// Returns the number before the first epoch of a start.
pub(crate) fn before(start: u32) -> u64 {
    u64::from(start) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_epoch_of_a_start_is_above_those_of_the_start_before() {
        assert_eq!([before(1), before(2), before(2) + 9].map(start_of), [1, 2, 2]);
        assert!(before(1) > 4_000_000_000, "above the epochs of a log that numbered no starts");
    }
}
