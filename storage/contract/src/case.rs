//! A case, and the list of a module's cases.

use std::pin::Pin;

use crate::world::World;

/// A case: a name and an expectation of a back end.
pub struct Case {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&World) -> Pin<Box<dyn Future<Output = ()> + '_>>,
}

/// Lists the cases of a module. A case left off the list is dead code, refused by `-D warnings`.
macro_rules! cases {
    ($($case:ident),+ $(,)?) => {
        /// The cases of this module.
        pub(crate) const CASES: &[$crate::case::Case] =
            &[$($crate::case::Case { name: stringify!($case), run: |w| Box::pin($case(w)) }),+];
    };
}
pub(crate) use cases;
