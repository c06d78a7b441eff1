//! A file system in memory.

use std::collections::BTreeMap;
use std::time::SystemTime;

use crate::contents::Contents;
use crate::event::{Event, Kind, Names, NodeId, ROOT};
use crate::image::Image;

/// A file, directory or socket. A removed one stays readable by its number.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) contents: Contents,
    pub(crate) names: Names,
    pub(crate) mode: u16,
    pub(crate) modified: SystemTime,
}

impl Node {
    fn new(kind: Kind) -> Self {
        let mode = if kind == Kind::Directory { 0o755 } else { 0o644 };
        let modified = now();
        Self { kind, contents: Contents::default(), names: Names::new(), mode, modified }
    }
}

/// A file system in memory: what a running program sees.
#[derive(Debug)]
pub(crate) struct Volume {
    nodes: BTreeMap<NodeId, Node>,
}

impl Volume {
    /// Makes a file system with the nodes of an image.
    pub(crate) fn of(image: &Image) -> Self {
        let mut volume = Self { nodes: BTreeMap::from([(ROOT, Node::new(Kind::Directory))]) };
        for (node, kind) in image.kinds() {
            volume.nodes.insert(node, Node::new(kind));
        }
        for (node, names) in image.directories() {
            volume.node_mut(node).names = names.clone();
        }
        for (node, contents) in image.files() {
            volume.node_mut(node).contents = contents.clone();
        }
        volume
    }

    pub(crate) fn node(&self, node: NodeId) -> Option<&Node> {
        self.nodes.get(&node)
    }

    /// Returns an existing node.
    pub(crate) fn node_mut(&mut self, node: NodeId) -> &mut Node {
        self.nodes.get_mut(&node).expect("a node is known to the kernel after it was made")
    }

    /// Finds a name in a directory.
    pub(crate) fn find(&self, parent: NodeId, name: &str) -> Option<NodeId> {
        self.nodes.get(&parent)?.names.get(name).copied()
    }

    /// Returns the number of the next node.
    pub(crate) fn next(&self) -> NodeId {
        self.nodes.last_key_value().map_or(ROOT, |(last, _)| *last) + 1
    }

    /// Applies a change.
    pub(crate) fn apply(&mut self, event: &Event) {
        let now = now();
        match event {
            Event::Make { parent, name, node, kind } => {
                self.nodes.insert(*node, Node::new(*kind));
                let parent = self.node_mut(*parent);
                parent.names.insert(name.clone(), *node);
                parent.modified = now;
            }
            Event::Write { node, offset, bytes } => {
                let file = self.node_mut(*node);
                file.contents.write(*offset, bytes);
                file.modified = now;
            }
            Event::Resize { node, length } => {
                let file = self.node_mut(*node);
                file.contents.resize(*length);
                file.modified = now;
            }
            Event::Remove { parent, name } => {
                let parent = self.node_mut(*parent);
                parent.names.remove(name);
                parent.modified = now;
            }
            Event::Rename { from, to } => {
                let former = self.node_mut(from.0);
                former.modified = now;
                if let Some(node) = former.names.remove(&from.1) {
                    let next = self.node_mut(to.0);
                    next.names.insert(to.1.clone(), node);
                    next.modified = now;
                }
            }
            Event::Sync { .. } | Event::SyncDirectory { .. } | Event::Nothing => {}
        }
    }
}

/// Returns the time of the machine.
#[expect(clippy::disallowed_methods, reason = "times of files are the machine's, not a mall's")]
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}
