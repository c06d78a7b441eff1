//! The decoded value of a cached entry.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The value of an entry as its first reader decoded it. Clones share the value.
#[derive(Clone, Default)]
pub struct Decoded(Arc<OnceLock<Arc<dyn Any + Send + Sync>>>);

impl Decoded {
    /// Returns the decoded value; the first call decodes. `None` if `decode` returns none.
    pub fn get_or_decode<T: Send + Sync + 'static>(
        &self,
        decode: impl FnOnce() -> Option<T>,
    ) -> Option<Arc<T>> {
        if let Some(known) = self.0.get().and_then(|known| Arc::clone(known).downcast().ok()) {
            return Some(known);
        }
        let value = Arc::new(decode()?);
        // The value of a concurrent reader is equal.
        let _ = self.0.set(Arc::clone(&value) as Arc<dyn Any + Send + Sync>);
        Some(value)
    }
}

/// Entries are equal by their bytes, whether decoded or not.
impl PartialEq for Decoded {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Decoded {}

impl fmt::Debug for Decoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Decoded").field(&self.0.get().is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_decoded_once_for_all_clones() {
        let decoded = Decoded::default();
        assert_eq!(decoded.get_or_decode(|| None::<u32>), None);
        let first = decoded.get_or_decode(|| Some(7_u32)).unwrap();
        let second = decoded.clone().get_or_decode(|| Some(8_u32)).unwrap();
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!(*decoded.get_or_decode(|| Some("another type".to_owned())).unwrap(), "another type");
        assert_eq!(decoded.get_or_decode(|| None::<u32>).as_deref(), Some(&7));
    }
}
