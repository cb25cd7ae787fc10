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
//! | [`colour`] | guest memory in a part of the last-level cache, by page colours |
//! | [`image`] | what it begins with |
//! | [`linux`] | a Linux kernel as what it begins with |
//! | [`machine`] | the machine: KVM, memory slots, interrupt lines, doorbells |
//! | [`options`] | what is asked of KVM, and what of it was granted |
//! | [`slot`] | memory that the guest shares with others |
//! | [`row`] | several of these in one slot of KVM's |
//! | [`lines`] | interrupts: by event files, and by requests |
//! | [`processor`] | one processor: its state, and running it |
//! | [`runner`] | the thread of a processor: started, paused, reset, stopped |
//! | [`counter`] | the time stamp counter as the guest reads it |
//! | [`exits`] | how often it left the guest, why, when, and for how long; what KVM counts |
//! | [`sandbox`] | what a process gives up before its guest runs |
//! | [`resident`] | what memory of this process is present |
//! | [`net`] | the guest's network |
//! | [`card`] | a network card of the host's that the guest drives itself |
//! | [`bus`] | ports and addresses that are no memory |
//! | [`devices`] | who answers at which of them; console, serial line |
//! | [`board`] | the clock board: interrupts with a period, and how long ago the last one was |

pub mod board;
pub mod bus;
pub mod card;
pub mod colour;
pub mod devices;
pub mod exits;
pub mod image;
pub mod machine;
pub mod memory;
pub mod net;
pub mod processor;
pub mod sandbox;

pub use image::linux;
pub use machine::{lines, options};
pub use memory::{resident, row, slot};
pub use processor::{counter, runner};
