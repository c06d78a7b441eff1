//! Repair of a frame or header that one flipped bit broke, or whose page the database file has as well.
//!
//! The checksums of a `-wal` file are sums with growing weights, modulo 2^32, so that flips of the upper bits
//! of several words have the same effect. A repair counts only if no other flipped bit explains the checksum.

use crate::bits::{distance, flip_one};
use crate::wal_frames::{FRAME_HEADER, HEADER, Sum, WalHeader, is_commit, page_of, salts_of, sum_of};

/// Repairs a header of which one bit is flipped. `first` is the first frame, of the size of the header
/// sought.
pub(crate) fn header(bytes: &[u8; HEADER], first: &[u8]) -> Option<WalHeader> {
    let fits = |bytes: &[u8]| {
        let header = bytes.try_into().ok().and_then(WalHeader::parse)?;
        (first.len() == header.frame_len() && header.is_next(header.sum(), first)).then_some(header)
    };
    let mut fixed = *bytes;
    if !flip_one(&mut fixed, |bytes| fits(bytes).is_some()) {
        return None;
    }
    let is_only = !flip_one(&mut bytes.clone(), |other| *other != fixed && fits(other).is_some());
    fits(&fixed).filter(|_| is_only)
}

/// Repairs a frame that does not continue `from`. `next` is the frame behind, `page` returns a page of the
/// database file. Leaves the frame as it is if there is no repair.
pub(crate) fn frame(
    header: &WalHeader,
    from: Sum,
    frame: &mut [u8],
    next: Option<&[u8]>,
    page: impl FnOnce(u32) -> Option<Vec<u8>>,
) -> bool {
    let before = frame.to_vec();
    frame[8..16].copy_from_slice(header.salts());
    let is_repaired = match distance(salts_of(&before), header.salts()) {
        1 => header.is_next(from, frame),
        0 => flipped(header, from, frame, next) || replaced(header, from, frame, page),
        _ => false,
    };
    if !is_repaired {
        frame.copy_from_slice(&before);
    }
    is_repaired
}

/// Repairs the one flipped bit of page, number or checksum that explains the checksum.
fn flipped(header: &WalHeader, from: Sum, frame: &mut [u8], next: Option<&[u8]>) -> bool {
    let (sum, want) = (header.sum_of_frame(from, frame), sum_of(frame));
    let continues =
        |chain: Sum| next.is_none_or(|next| salts_of(next) != header.salts() || header.is_next(chain, next));
    let is_sum = (sum.0 ^ want.0).count_ones() + (sum.1 ^ want.1).count_ones() == 1;
    let of_sum = is_sum && continues(sum);
    let of_page = if continues(want) { flips(header, frame, sum, want) } else { Vec::new() };
    match (of_sum, &of_page[..]) {
        (true, []) => {
            frame[16..20].copy_from_slice(&sum.0.to_be_bytes());
            frame[20..24].copy_from_slice(&sum.1.to_be_bytes());
            page_of(frame) > 0
        }
        (false, [(at, bit)]) => {
            frame[*at] ^= 1 << bit;
            header.is_next(from, frame)
        }
        _ => false,
    }
}

/// Returns the bits, as position and number, each of which turns the checksum `sum` of a frame into `want`.
/// At most two.
fn flips(header: &WalHeader, frame: &[u8], sum: Sum, want: Sum) -> Vec<(usize, u8)> {
    let change = (want.0.wrapping_sub(sum.0), want.1.wrapping_sub(sum.1));
    // What adding 1 to the first or second word of a pair adds to the checksum. Each pair behind applies the
    // step of the checksum once more.
    let (mut first, mut second): (Sum, Sum) = ((1, 1), (0, 1));
    let step = |(a, b): Sum| (a.wrapping_add(b), a.wrapping_add(b).wrapping_add(b));
    let mut found = Vec::new();
    let pairs = (FRAME_HEADER..frame.len()).step_by(8).rev().chain([0]);
    for pair in pairs {
        for (word, weight) in [(pair, first), (pair + 4, second)] {
            for bit in 0..32_u8 {
                let at = word + if header.is_big() { 3 - usize::from(bit / 8) } else { usize::from(bit / 8) };
                let is_set = frame[at] >> (bit % 8) & 1 == 1;
                let one = if is_set { (1_u32 << bit).wrapping_neg() } else { 1 << bit };
                if (weight.0.wrapping_mul(one), weight.1.wrapping_mul(one)) == change {
                    found.push((at, bit % 8));
                    if found.len() == 2 {
                        return found;
                    }
                }
            }
        }
        (first, second) = (step(first), step(second));
    }
    found
}

/// Takes the page from the database file, if that page has the frame's checksum.
fn replaced(
    header: &WalHeader,
    from: Sum,
    frame: &mut [u8],
    page: impl FnOnce(u32) -> Option<Vec<u8>>,
) -> bool {
    let Some(copy) = page(page_of(frame)).filter(|copy| copy.len() == header.page_size()) else {
        return false;
    };
    frame[FRAME_HEADER..].copy_from_slice(&copy);
    header.is_next(from, frame)
}

/// Complete transactions behind a broken frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Behind {
    /// Commits in all runs of frames that continue each other.
    pub(crate) commits: u64,
    /// Commits in the run that has most of them.
    pub(crate) longest: u64,
    run: u64,
}

impl Behind {
    /// Adds a frame; `former` is the checksum stored in the frame before.
    pub(crate) fn add(&mut self, header: &WalHeader, former: Sum, frame: &[u8]) {
        if !header.is_next(former, frame) {
            self.run = 0;
            return;
        }
        if is_commit(frame) {
            self.run += 1;
            self.commits += 1;
            self.longest = self.longest.max(self.run);
        }
    }
}
