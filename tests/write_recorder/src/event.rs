//! Changes of a file system.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Number of a file or directory, never used twice.
pub type NodeId = u64;

/// Names of a directory.
pub(crate) type Names = BTreeMap<String, NodeId>;

/// The directory at the top.
pub const ROOT: NodeId = 1;

/// Kind of a file system node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A socket, which has no contents.
    Socket,
}

/// One change, or a sync.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A new node with a name.
    Make {
        /// Directory of the name.
        parent: NodeId,
        /// Name of the node.
        name: String,
        /// The new node.
        node: NodeId,
        /// Kind of the node.
        kind: Kind,
    },
    /// Bytes written to a file.
    Write {
        /// The file.
        node: NodeId,
        /// Position of the first byte.
        offset: u64,
        /// The bytes.
        bytes: Arc<[u8]>,
    },
    /// A file cut off, or extended with zeros.
    Resize {
        /// The file.
        node: NodeId,
        /// New length in bytes.
        length: u64,
    },
    /// A name removed.
    Remove {
        /// Directory of the name.
        parent: NodeId,
        /// The name.
        name: String,
    },
    /// A name changed; an existing target loses the name.
    Rename {
        /// Former directory and name.
        from: (NodeId, String),
        /// New directory and name.
        to: (NodeId, String),
    },
    /// The data and length of a file made durable.
    Sync {
        /// The file.
        node: NodeId,
    },
    /// The names of a directory made durable.
    SyncDirectory {
        /// The directory.
        node: NodeId,
    },
    /// Nothing: a sync left out, in place of which the positions behind stay.
    Nothing,
}

impl Event {
    /// Returns whether the event makes earlier ones durable.
    #[must_use]
    pub fn is_sync(&self) -> bool {
        matches!(self, Self::Sync { .. } | Self::SyncDirectory { .. })
    }
}
