//! Approximate count of distinct visitors: HyperLogLog++ over 2^14 registers.
//!
//! 3 bytes per visitor while visitors are few, and never above 17 KiB. The standard error is 0.81 %.
//!
//! Reasons and figures: `storage/decisions/0010-visitor-sketches.md`.

use std::hash::{BuildHasher, Hasher};

use hyperloglogplus::{HyperLogLog as _, HyperLogLogPlus};
use mallbox_storage::Visitor;
use serde::{Deserialize, Serialize};

/// Precision: 2^14 registers, as in Redis.
const PRECISION: u8 = 14;
/// Format version, the first byte of a stored sketch.
const FORMAT_VERSION: u8 = 1;

/// A sketch of distinct visitors.
#[derive(Clone, Debug)]
pub(crate) struct Sketch(HyperLogLogPlus<u64, SplitMixBuilder>);

/// Spreads numbers over all 64 bits, since the bits themselves choose the registers. The hash never
/// changes: sketches of different hashers can be merged, and then count every visitor twice.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct SplitMixBuilder;

struct SplitMixHasher(u64);

impl Sketch {
    /// Makes an empty sketch.
    pub(crate) fn new() -> Self {
        Self(HyperLogLogPlus::new(PRECISION, SplitMixBuilder).expect("4 to 18 are precisions"))
    }

    pub(crate) fn add(&mut self, visitor: Visitor) {
        self.0.insert(&visitor.0);
    }

    /// Adds all visitors of another sketch.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.0.merge(&other.0).expect("all sketches have one precision");
    }

    #[expect(clippy::cast_possible_truncation, reason = "an estimate is far below 2^64, and never negative")]
    pub(crate) fn count(&mut self) -> u64 {
        self.0.count().round() as u64
    }

    /// Encodes the sketch. The bytes are equal for equal visitors, whatever the order of insertion.
    pub(crate) fn pack(&mut self) -> Vec<u8> {
        // Recent visitors sit in a hash set until counted.
        self.count();
        postcard::to_extend(&self.0, vec![FORMAT_VERSION]).expect("a vector takes whatever it is given")
    }

    /// Decodes a sketch; `None` for invalid bytes.
    pub(crate) fn unpack(bytes: &[u8]) -> Option<Self> {
        let (FORMAT_VERSION, rest) = bytes.split_first().map(|(form, rest)| (*form, rest))? else {
            return None;
        };
        postcard::from_bytes(rest).ok().map(Self)
    }
}

impl BuildHasher for SplitMixBuilder {
    type Hasher = SplitMixHasher;

    fn build_hasher(&self) -> SplitMixHasher {
        SplitMixHasher(0)
    }
}

impl Hasher for SplitMixHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    /// The finaliser of SplitMix64.
    fn write_u64(&mut self, number: u64) {
        let mut bits = (self.0 ^ number).wrapping_add(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.0 = bits ^ (bits >> 31);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: impl IntoIterator<Item = u64>) -> Sketch {
        let mut sketch = Sketch::new();
        numbers.into_iter().for_each(|number| sketch.add(Visitor(number)));
        sketch
    }

    fn stored_and_read(sketch: &mut Sketch) -> Sketch {
        Sketch::unpack(&sketch.pack()).unwrap()
    }

    #[test]
    fn a_sketch_is_the_same_after_it_was_stored_whatever_its_size() {
        for size in [0, 1, 100, 5_000, 50_000] {
            let mut sketch = of(0..size);
            let mut read = stored_and_read(&mut sketch);
            assert_eq!((read.count(), read.pack()), (sketch.count(), sketch.pack()), "{size}");
            // A decoded sketch accepts further visitors.
            (size..2 * size).for_each(|number| read.add(Visitor(number)));
            assert_eq!(read.pack(), of(0..2 * size).pack(), "{size}");
        }
    }

    #[test]
    fn order_and_repeats_leave_no_trace_in_the_bytes() {
        let one = of(0..300).pack();
        assert_eq!(of((0..300).rev().chain(50..100)).pack(), one);
        assert_ne!(of(0..301).pack(), one);
    }

    #[test]
    fn sketches_made_apart_know_whom_they_have_in_common() {
        for size in [50_u64, 4_000, 40_000] {
            let mut both = stored_and_read(&mut of(0..size));
            both.merge(&stored_and_read(&mut of(size / 2..size * 3 / 2)));
            let all = size * 3 / 2;
            assert!(both.count().abs_diff(all) <= all / 40, "{} for {all}", both.count());
        }
    }

    #[test]
    fn errors_are_those_that_are_promised_over_many_sets_of_visitors() {
        const SETS: u64 = 40;
        for size in [1_000_u64, 20_000, 100_000] {
            let errors: Vec<f64> = (0..SETS)
                .map(|set| of(set << 32..(set << 32) + size).count() as f64 / size as f64 - 1.0)
                .collect();
            let rms = (errors.iter().map(|error| error * error).sum::<f64>() / SETS as f64).sqrt();
            let far = errors.iter().filter(|error| error.abs() > 0.025).count();
            assert!(rms < 0.0105 && far <= 1, "{size}: rms {rms}, {far} of {SETS} far off");
        }
    }

    #[test]
    fn what_was_stored_as_form_one_can_be_read() {
        let of_three = "010e80800180808008b3660003c4cbcd1c0c86dfbc0cc0d3a807fe98e80800";
        assert_eq!(mallbox_storage::hex(&of([7, 8, u64::MAX]).pack()), of_three);
        for bad in [&b""[..], b"\x02", b"\x01", b"\x01\x0e\xff"] {
            assert!(Sketch::unpack(bad).is_none(), "{bad:?}");
        }
    }
}
