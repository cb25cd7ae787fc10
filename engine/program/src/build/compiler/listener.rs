//! Hearing a build while it goes on.

use std::fmt;
use std::sync::Arc;

/// A listener to a build. Several compilers run at once; the lines of one come together, when it
/// has ended.
#[derive(Clone)]
pub struct Listener(Arc<dyn Fn(&str) + Send + Sync>);

impl Listener {
    /// Makes a listener of a function that takes a line.
    pub fn new(hear: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hear))
    }

    /// Tells it a line.
    pub(super) fn hear(&self, line: &str) {
        (self.0)(line);
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}
