//! A list in a JSON object, written in parts: a long response is never in memory as a whole.

use serde::Serialize;

/// A list of a JSON object after its first member.
pub(in crate::http) struct JsonList {
    name: &'static str,
    is_empty: bool,
}

impl JsonList {
    /// Begins the list of this name.
    pub(in crate::http) fn begin(name: &'static str) -> Self {
        Self { name, is_empty: true }
    }

    /// Returns the text of further items.
    pub(in crate::http) fn with<T: Serialize>(
        &mut self,
        items: impl Iterator<Item = T>,
    ) -> serde_json::Result<String> {
        let mut out = String::new();
        for item in items {
            out += &if self.is_empty { self.head() } else { ",".to_owned() };
            self.is_empty = false;
            out += &serde_json::to_string(&item)?;
        }
        Ok(out)
    }

    /// Returns the end of the list; of an empty list, the whole.
    pub(in crate::http) fn end(&self) -> String {
        if self.is_empty { self.head() + "]" } else { "]".to_owned() }
    }

    fn head(&self) -> String {
        format!(",\n\"{}\":[", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_whole_with_and_without_items() {
        let mut list = JsonList::begin("days");
        let written =
            list.with([1, 2].into_iter()).unwrap() + &list.with([3].into_iter()).unwrap() + &list.end();
        assert_eq!(written, ",\n\"days\":[1,2,3]");
        assert_eq!(JsonList::begin("days").end(), ",\n\"days\":[]");
    }
}
