//! Entries of the index: 128-bit numbers that sort by user, and their encoding in blobs.

use mallbox_storage::{OrderId, UserId};

/// Bytes of an entry in a blob.
pub(super) const ENTRY_BYTES: usize = 16;
/// Maximum number of entries per chunk, unless a single slot has more. The row of a full chunk fills a page
/// of 4 KiB without an overflow page.
pub(super) const CHUNK_MAX: usize = 250;
/// Bits of a place that belong to the slot. The bits above are the run.
pub(super) const SLOT_BITS: u32 = 40;
/// Odd, so that multiplication permutes the 64-bit numbers: 2^64 divided by the golden ratio, which spreads
/// consecutive ids evenly.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Key of a user: equal keys are equal users, and the leading bits of keys are spread evenly.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Key(u64);

impl Key {
    /// Returns the key of a user. Part of the stored format.
    pub(super) fn of(user: UserId) -> Self {
        Self(user.get().wrapping_mul(SPREAD))
    }

    /// Returns the leading bits, by which chunks are found.
    pub(super) fn slot(self) -> i64 {
        (self.0 >> (u64::BITS - SLOT_BITS)).cast_signed()
    }
}

/// An order of a user. Entries sort by key, then by order id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Entry(u128);

impl Entry {
    /// Returns the entry of an order.
    pub(super) fn new(user: UserId, order: OrderId) -> Self {
        Self(u128::from(Key::of(user).0) << u64::BITS | u128::from(order.get()))
    }

    /// Returns the key of the order's user.
    pub(super) fn key(self) -> Key {
        Key((self.0 >> u64::BITS) as u64)
    }

    /// Returns the slot of the order's user.
    pub(super) fn slot(self) -> i64 {
        self.key().slot()
    }

    /// Returns the order.
    #[expect(clippy::cast_possible_truncation, reason = "the lower half is the order id")]
    pub(super) fn order(self) -> OrderId {
        OrderId::new(self.0 as u64)
    }

    /// Returns well-mixed bits of the entry, for sums that depend on each entry.
    pub(super) fn digest(self) -> u64 {
        let mixed = (self.key().0 ^ self.order().get().rotate_left(32)).wrapping_mul(SPREAD);
        (mixed ^ mixed >> 29).wrapping_mul(SPREAD) ^ self.order().get()
    }
}

/// Encodes entries. Blobs of sorted entries compare like the entries.
pub(super) fn encode(entries: &[Entry]) -> Vec<u8> {
    entries.iter().flat_map(|entry| entry.0.to_be_bytes()).collect()
}

/// Decodes a blob. Trailing bytes that are no entry are ignored: the ledger check reports the entry.
pub(super) fn decode(blob: &[u8]) -> impl DoubleEndedIterator<Item = Entry> + ExactSizeIterator {
    blob.as_chunks().0.iter().map(|bytes| Entry(u128::from_be_bytes(*bytes)))
}

/// Appends the orders of a user in a blob of sorted entries. Cost: a binary search, and the orders found.
pub(super) fn collect_of(blob: &[u8], key: Key, orders: &mut Vec<OrderId>) {
    let entries: &[[u8; ENTRY_BYTES]] = blob.as_chunks().0;
    let entry = |bytes: &[u8; ENTRY_BYTES]| Entry(u128::from_be_bytes(*bytes));
    let first = entries.partition_point(|bytes| entry(bytes).key() < key);
    let of_user = entries[first..].iter().map(entry).take_while(|entry| entry.key() == key);
    orders.extend(of_user.map(Entry::order));
}

/// Cuts sorted entries into chunks. A slot is never split: each place occurs once, and all entries of a user
/// in a run are in one chunk.
pub(super) fn chunks(mut entries: &[Entry]) -> impl Iterator<Item = &[Entry]> {
    std::iter::from_fn(move || {
        let last = *entries.get(CHUNK_MAX.min(entries.len()).checked_sub(1)?)?;
        let end = entries.partition_point(|entry| entry.slot() <= last.slot());
        let (chunk, rest) = entries.split_at(end);
        entries = rest;
        Some(chunk)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(user: u64, order: u64) -> Entry {
        Entry::new(UserId::new(user), OrderId::new(order))
    }

    #[test]
    fn entries_survive_encoding_and_sort_by_user_then_order() {
        let mut entries: Vec<Entry> = [(7, 1), (u64::MAX, u64::MAX), (7, 300), (0, 5), (1 << 63, 0)]
            .map(|(user, order)| entry(user, order))
            .into();
        entries.sort_unstable();
        let blob = encode(&entries);
        assert_eq!(decode(&blob).collect::<Vec<_>>(), entries);
        let blobs: Vec<&[u8]> = blob.chunks(ENTRY_BYTES).collect();
        assert!(blobs.is_sorted());
        let of = |user| {
            let mut orders = Vec::new();
            collect_of(&blob, Key::of(UserId::new(user)), &mut orders);
            orders.into_iter().map(OrderId::get).collect::<Vec<_>>()
        };
        assert_eq!(of(7), [1, 300]);
        assert_eq!(of(u64::MAX), [u64::MAX]);
        assert_eq!(of(1 << 63), [0]);
        assert!(of(8).is_empty());
        assert_eq!(decode(&blob[..ENTRY_BYTES + 3]).len(), 1);
    }

    /// The format is stored: a changed key would lose every order indexed before.
    #[test]
    fn stored_keys_stay_the_same() {
        assert_eq!(
            encode(&[entry(1, 2)]),
            [0x9E, 0x37, 0x79, 0xB9, 0x7F, 0x4A, 0x7C, 0x15, 0, 0, 0, 0, 0, 0, 0, 2]
        );
        assert_eq!(entry(1, 2).slot(), 0x9E_3779_B97F);
    }

    #[test]
    fn no_slot_is_split() {
        let mut entries: Vec<Entry> = (0..900).map(|order| entry(1 + order / 600, order)).collect();
        entries.sort_unstable();
        let lengths: Vec<usize> = chunks(&entries).map(<[Entry]>::len).collect();
        assert_eq!(lengths, [300, 600]);
        assert_eq!(chunks(&[]).count(), 0);
        let many: Vec<Entry> = {
            let mut many: Vec<Entry> = (0..1000).map(|user| entry(user, 1)).collect();
            many.sort_unstable();
            many
        };
        assert_eq!(chunks(&many).map(<[Entry]>::len).collect::<Vec<_>>(), [CHUNK_MAX; 4]);
        assert_eq!(chunks(&many).flatten().copied().collect::<Vec<_>>(), many);
    }
}
