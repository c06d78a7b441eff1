//! A way that is compared.

/// A way that is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
    /// The name on the command line and in results.
    pub name: &'static str,
    /// What the way does.
    pub about: &'static str,
    /// Whether the way needs Redis and MySQL.
    pub needs_servers: bool,
}

impl Way {
    pub(crate) const fn on_servers(name: &'static str, about: &'static str) -> Self {
        Self { name, about, needs_servers: true }
    }

    pub(crate) const fn in_directory(name: &'static str, about: &'static str) -> Self {
        Self { name, about, needs_servers: false }
    }
}
