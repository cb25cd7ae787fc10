//! The gifts of a program in dom0, the first domain of Xen, to another domain: pages of its own
//! memory, a channel by which it calls the domain, and words in Xen's store. Their meaning is in
//! [`quietcore_boot::xen`]. A domain that runs Linux has its ends of channel and store from here.
//!
//! | module | through |
//! |---|---|
//! | `destroy` | `/dev/xen/privcmd` |
//! | `domain` | no device: numbers of domains |
//! | `grant` | `/dev/xen/gntalloc` |
//! | `event` | `/dev/xen/evtchn` |
//! | `store` | the socket of `xenstored` |
//!
//! Domains are started and ended by the program `xl`, which is no business of this crate. Where the
//! store has gone, for which `xl` waits without end, [`destroy`] ends one.

mod destroy;
mod domain;
mod event;
mod grant;
mod store;

pub use destroy::destroy;
pub use domain::DomainId;
pub use event::{Doorbell, EventChannel};
pub use grant::{GrantError, GrantedArea};
pub use store::{Store, StoreError};
