//! The body of a record in the write-ahead log: the claims and changes of one commit.
//!
//! Version (1 byte), number of claims (4), 32 bytes per claim as in [`codec`], number of changes (4), and per
//! change the length of the key (4), the key, the length of the value (4; [`REMOVED`] for a removed entry),
//! and the value. Numbers are little-endian. A commit without any content is an empty body.

use mallbox_storage::Claim;

use super::codec::{self, CLAIM_BYTES};
use super::store::Change;

const VERSION: u8 = 1;
/// Length of a value that stands for the removal of the entry.
const REMOVED: u32 = u32::MAX;

/// A decoded record.
#[derive(Clone, Default, Debug)]
pub(super) struct Body {
    pub(super) claims: Vec<Claim>,
    pub(super) changes: Vec<Change>,
}

/// Encodes a body into `bytes`, which is cleared before.
pub(super) fn encode(bytes: &mut Vec<u8>, claims: &[Claim], changes: &[Change]) {
    bytes.clear();
    if claims.is_empty() && changes.is_empty() {
        return;
    }
    bytes.push(VERSION);
    put_length(bytes, claims.len());
    for claim in claims {
        bytes.extend(codec::claim_bytes(claim));
    }
    put_length(bytes, changes.len());
    for change in changes {
        put_length(bytes, change.key.len());
        bytes.extend(&change.key);
        match &change.value {
            Some(value) => {
                put_length(bytes, value.len());
                bytes.extend(value);
            }
            None => bytes.extend(REMOVED.to_le_bytes()),
        }
    }
}

fn put_length(bytes: &mut Vec<u8>, length: usize) {
    let length = u32::try_from(length).expect("a commit is bounded far below 4 GiB");
    bytes.extend(length.to_le_bytes());
}

/// Decodes a body.
///
/// # Errors
/// Describes what does not fit. The log's checksum has passed, so this is a record of another version, or a
/// mistake of the program.
pub(super) fn decode(bytes: &[u8]) -> Result<Body, &'static str> {
    let mut rest = match bytes.split_first() {
        None => return Ok(Body::default()),
        Some((&VERSION, rest)) => rest,
        Some(_) => return Err("a commit whose version is not 1"),
    };
    let claims = length(&mut rest)?;
    let claims = take(&mut rest, claims.checked_mul(CLAIM_BYTES).ok_or(TRUNCATED)?)?;
    let claims = claims.as_chunks().0.iter().map(codec::claim).collect();
    let changes = (0..length(&mut rest)?).map(|_| change(&mut rest)).collect::<Result<_, _>>()?;
    if rest.is_empty() { Ok(Body { claims, changes }) } else { Err("a commit with a wrong length") }
}

const TRUNCATED: &str = "a truncated commit";

fn change(rest: &mut &[u8]) -> Result<Change, &'static str> {
    let length_of_key = length(rest)?;
    let key = take(rest, length_of_key)?.to_vec();
    let value = match number(rest)? {
        REMOVED => None,
        length => Some(take(rest, usize::try_from(length).map_err(|_| TRUNCATED)?)?.to_vec()),
    };
    Ok(Change { key, value })
}

fn length(rest: &mut &[u8]) -> Result<usize, &'static str> {
    usize::try_from(number(rest)?).map_err(|_| TRUNCATED)
}

fn number(rest: &mut &[u8]) -> Result<u32, &'static str> {
    let (number, behind) = rest.split_first_chunk().ok_or(TRUNCATED)?;
    *rest = behind;
    Ok(u32::from_le_bytes(*number))
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Result<&'a [u8], &'static str> {
    let (taken, behind) = rest.split_at_checked(length).ok_or(TRUNCATED)?;
    *rest = behind;
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use mallbox_storage::{OrderId, Timestamp, UserId, VoucherId};

    use super::*;

    fn encoded(claims: &[Claim], changes: &[Change]) -> Vec<u8> {
        let mut bytes = vec![9; 3];
        encode(&mut bytes, claims, changes);
        bytes
    }

    fn example() -> (Vec<Claim>, Vec<Change>) {
        let claim = |number| Claim {
            order: OrderId::new(number << 40),
            voucher: VoucherId::new(number),
            user: UserId::new(u64::MAX - number),
            at: Timestamp::from_millis(-7),
        };
        let change =
            |key: &[u8], value: Option<&[u8]>| Change { key: key.to_vec(), value: value.map(<[u8]>::to_vec) };
        let changes = vec![change(b"a", Some(b"one")), change(b"", Some(b"")), change(b"gone", None)];
        ((1..4).map(claim).collect(), changes)
    }

    #[test]
    fn what_is_written_is_read_back() {
        let (claims, changes) = example();
        for (claims, changes) in [(&claims[..], &changes[..]), (&claims, &[]), (&[], &changes), (&[], &[])] {
            let body = decode(&encoded(claims, changes)).unwrap();
            assert_eq!((&body.claims[..], &body.changes[..]), (claims, changes));
        }
    }

    #[test]
    fn no_cut_and_no_addition_is_taken_for_a_commit() {
        let (claims, changes) = example();
        let bytes = encoded(&claims, &changes);
        for length in 1..bytes.len() {
            assert!(decode(&bytes[..length]).is_err(), "length {length}");
        }
        assert!(decode(&[&bytes[..], &[0]].concat()).is_err());
        assert!(decode(&[2]).unwrap_err().contains("version"));
        assert!(decode(&[&[VERSION][..], &[0xff; 4]].concat()).is_err(), "a length beyond all memory");
    }
}
