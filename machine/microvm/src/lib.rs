//! A virtual machine monitor for one real-time guest.
//!
//! The guest's memory is one file, locked and made present before the guest starts. Each of its
//! processors is one thread, which whoever starts it pins and schedules. There are few devices, and
//! none that costs anything while it is silent.
//!
//! ```text
//!            ┌ memory ┐   image: ELF entered by PVH
//! Machine ───┤ slots  ├── shared files: the exchange, channels
//!            └ KVM    ┘
//!     └─ Processor ── run: KVM_RUN ─► exit ─► bus ─► device, each exit counted
//! ```
//!
//! | module | what |
//! |---|---|
//! | [`memory`] | the guest's memory |
//! | [`image`] | what it begins with |
//! | [`machine`] | the machine: KVM, memory slots, interrupt lines |
//! | [`processor`] | one processor: its state, and running it |
//! | [`exits`] | how often it left the guest, why, and for how long |
//! | [`bus`] | ports and addresses that are no memory |

pub mod bus;
pub mod exits;
pub mod image;
pub mod machine;
pub mod memory;
pub mod processor;
