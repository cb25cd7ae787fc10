//! Page colours: memory of guests that don't share sets of the last-level cache, without help of
//! the processor and without a hypervisor of another make.
//!
//! The set of the cache that a line lies in is a part of its physical address. Where bits of that
//! part are above those within a page, they are the *colour* of the page: pages of different
//! colours never evict each other. So a guest whose pages are of colours of its own keeps its part
//! of the cache, whatever guests of other colours do.
//!
//! ```text
//! bit  … 20 19 18 17 16 15 14 13 12 | 11 … 6 | 5 … 0
//!            └── colour ──────────┘   in the page
//!            └── set of the last-level cache ┘  byte of the line
//! ```
//!
//! | module | what | touches the machine |
//! |---|---|---|
//! | [`geometry`] | which bits may be colours, from the shape of the caches | no |
//! | [`measure`] | which of them are, from times, and how sure that is | no |
//! | [`choice`] | colours of pages, and pages for a guest | no |
//! | [`timing`] | times of accesses | yes |
//! | [`frames`] | where pages are physically | yes |
//! | [`pool`] | pages to choose from; memory made of chosen ones | yes |
//! | [`pin`] | pages that stay where they are | yes |
//!
//! **Limits.** The host's own memory, and what guests share with it (exchange, programs, channels),
//! is of all colours: guests are kept apart from each other, and not from the host. A cache that
//! puts lines into slices by a hash has the colours of one slice, which the measurement finds. In a
//! virtual machine physical addresses are none, and there are no colours.

pub mod choice;
pub mod frames;
pub mod geometry;
pub mod measure;
#[cfg(test)]
mod model;
pub mod pin;
pub mod pool;
pub mod timing;

pub use choice::{Colouring, Shortage, Unassignable};
pub use frames::{Frames, PageMap};
pub use geometry::{CacheShape, Ground, NoColours};
pub use measure::{BitFound, Measured, Sureness};
pub use pin::Pin;
pub use pool::{ColouredMemory, PoolError, measure_here};
