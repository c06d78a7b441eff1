//! Header and list of contents of a backup, as JSON.

use mallbox_storage::{Claim, OrderId, Timestamp, UserId, VoucherId};
use serde::{Deserialize, Serialize};

/// Version of the format of a backup. A reader refuses later ones.
pub const FORMAT: u32 = 1;
/// Version of the format of a backup that a stream goes on from: its database needs finishing.
pub const FORMAT_OF_BASE: u32 = 2;
/// Version of the format of a backup of a mall on servers.
pub const FORMAT_OF_SERVERS: u32 = 3;
/// Name of the header, the first entry.
pub const HEADER: &str = "mallbox-backup.json";
/// Name of the pending claims, a line each.
pub const CLAIMS: &str = "claims.jsonl";
/// Name of the list of contents, the last entry but for a signature.
pub const CONTENTS: &str = "contents.json";
/// Name of the Ed25519 signature of the list of contents, 64 bytes, the last entry of a signed backup.
pub const SIGNATURE: &str = "contents.sig";

/// Name of the changed pages of the database in a point of a stream: each page behind its number in four
/// bytes, big-endian.
pub const PAGES: &str = "pages.bin";

/// Name of the visitors and views of a mall on servers, a line for each key.
pub const VISITS: &str = "visits.jsonl";

/// Header of a backup, or of a point of a stream.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    /// Version of the format.
    pub format: u32,
    /// Version of the program that wrote the backup.
    pub program: String,
    /// Time at which the backup began, RFC 3339 in UTC: whatever was acknowledged before is in it.
    pub taken: String,
    /// The incarnation of the mall; `None` for a mall that was never restored.
    pub incarnation: Option<String>,
    /// Whether the mall was created by `mallbox demo`.
    pub is_demo: bool,
    /// Number of pending claims.
    pub claims: u64,
    /// Size of all other entries in bytes, but for the list of contents and its signature.
    pub bytes: u64,
    /// The public key that the backup is signed with, in hexadecimal; `None` for an unsigned one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signer: Option<String>,
    /// Whether the database is a raw copy, which a stream goes on from and a restore has to finish.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_base: bool,
    /// The mall was on servers; `None` for one in a directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<OfServers>,
    /// Place in a stream; `None` for a backup.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<Point>,
}

/// What a restore has to know of a mall on servers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OfServers {
    /// Number of the last migration of the tables' schema.
    pub schema: u64,
}

/// Place of a point in its stream, and the form of its pages.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Point {
    /// Number of the point, from 1.
    pub number: u64,
    /// SHA-256 of the backup or of the point before, in hexadecimal.
    pub previous: String,
    /// Size of a page in bytes.
    pub page_bytes: u32,
    /// Size of the database in pages; 0 if the database did not change.
    pub database_pages: u32,
}

/// An entry in the list of contents.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ListedFile {
    /// Path in the mall's directory, with `/`.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 of the content, in hexadecimal.
    pub sha256: String,
}

/// A pending claim in a backup.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ClaimLine {
    order: u64,
    voucher: u64,
    user: u64,
    /// Time of the claim, in ms since 1970.
    at: i64,
}

impl From<Claim> for ClaimLine {
    fn from(claim: Claim) -> Self {
        Self {
            order: claim.order.get(),
            voucher: claim.voucher.get(),
            user: claim.user.get(),
            at: claim.at.as_millis(),
        }
    }
}

impl From<ClaimLine> for Claim {
    fn from(line: ClaimLine) -> Self {
        Self {
            order: OrderId::new(line.order),
            voucher: VoucherId::new(line.voucher),
            user: UserId::new(line.user),
            at: Timestamp::from_millis(line.at),
        }
    }
}
