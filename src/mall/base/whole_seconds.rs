//! Times to wait, in whole seconds.

use std::time::Duration;

/// Rounds up to whole seconds, so that a client that waits for the result waits long enough.
pub(crate) fn whole_seconds(span: Duration) -> u64 {
    span.as_secs() + u64::from(span.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_to_wait_are_rounded_up() {
        assert_eq!(whole_seconds(Duration::from_millis(54_001)), 55);
        assert_eq!(whole_seconds(Duration::from_secs(55)), 55);
        assert_eq!(whole_seconds(Duration::ZERO), 0);
    }
}
