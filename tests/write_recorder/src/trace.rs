//! The recorded changes of a file system.

use std::collections::BTreeMap;

use crate::event::{Event, NodeId};
use crate::image::Image;

/// Changes of a file system, from a beginning at which everything is durable.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The file system before the first event.
    pub start: Image,
    /// All changes and syncs in order.
    pub events: Vec<Event>,
}

impl Trace {
    /// Returns the trace of a program that does not sync the files and directories of some names. The first
    /// name of a file counts, without its directory. Returns the number of syncs left out as well.
    #[must_use]
    pub fn without_syncs_of(mut self, is_left_out: impl Fn(&str) -> bool) -> (Self, usize) {
        let mut names = BTreeMap::<NodeId, String>::new();
        for (_, of_directory) in self.start.directories() {
            names.extend(of_directory.iter().map(|(name, node)| (*node, name.clone())));
        }
        let mut count = 0;
        for event in &mut self.events {
            match event {
                Event::Make { name, node, .. } => drop(names.insert(*node, name.clone())),
                Event::Sync { node } | Event::SyncDirectory { node }
                    if names.get(node).is_some_and(|name| is_left_out(name)) =>
                {
                    count += 1;
                    *event = Event::Nothing;
                }
                _ => {}
            }
        }
        (self, count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Kind, ROOT};

    #[test]
    fn syncs_of_a_name_are_left_out_and_positions_stay() {
        let make = |name: &str, node| {
            let (parent, kind) = (ROOT, Kind::File);
            Event::Make { parent, name: name.to_owned(), node, kind }
        };
        let events = vec![make("a", 2), make("b", 3), Event::Sync { node: 2 }, Event::Sync { node: 3 }];
        let trace = Trace { start: Image::default(), events: events.clone() };
        let (changed, count) = trace.without_syncs_of(|name| name == "a");
        assert_eq!((count, &changed.events[2], &changed.events[3]), (1, &Event::Nothing, &events[3]));
    }
}
