//! The peer `iceoryx2`: publish and subscribe of the same 8 bytes, by copy, in shared memory.

use std::sync::atomic::{AtomicU64, Ordering};

use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::*;
use quietcore_clock::{Clock as _, Monotonic};

use crate::exchange::signal::ping_pong;

/// Services are known on the whole machine; each link takes names of its own.
static LINKS: AtomicU64 = AtomicU64::new(0);

/// Two services, one a direction. Each end opens them itself.
pub(super) struct Link {
    number: u64,
}

/// An end of two services.
pub(super) struct LinkEnd {
    out: Publisher<ipc::Service, u64, ()>,
    back: Subscriber<ipc::Service, u64, ()>,
    /// Lives as long as its ports.
    _node: Node<ipc::Service>,
}

impl Link {
    fn name(&self, direction: usize) -> Result<ServiceName, String> {
        let name = format!("quietcore-bench/{}/{}/{direction}", std::process::id(), self.number);
        name.as_str().try_into().map_err(|error| format!("iceoryx2: {name}: {error:?}"))
    }

    fn open(&self, sends: usize, receives: usize) -> Result<LinkEnd, String> {
        let text = |error: &dyn std::fmt::Debug| format!("iceoryx2: {error:?}");
        let node = NodeBuilder::new().create::<ipc::Service>().map_err(|error| text(&error))?;
        // As a signal does, a new value replaces one that nobody has fetched.
        let service = |direction| {
            node.service_builder(&self.name(direction)?)
                .publish_subscribe::<u64>()
                .enable_safe_overflow(true)
                .subscriber_max_buffer_size(1)
                .open_or_create()
                .map_err(|error| text(&error))
        };
        let out = service(sends)?.publisher_builder().create().map_err(|error| text(&error))?;
        let back =
            service(receives)?.subscriber_builder().create().map_err(|error| text(&error))?;
        Ok(LinkEnd { out, back, _node: node })
    }
}

impl ping_pong::Link for Link {
    type End<'a> = LinkEnd;

    fn new() -> Result<Self, String> {
        set_log_level(LogLevel::Error);
        Ok(Self { number: LINKS.fetch_add(1, Ordering::Relaxed) })
    }

    fn end(&self, sends: usize) -> Result<LinkEnd, String> {
        self.open(sends, 1 - sends)
    }
}

impl ping_pong::End for LinkEnd {
    fn send(&mut self, number: u64) {
        self.out.send_copy(number).expect("a publisher that overflows always has room");
    }

    fn wait_for(&mut self, number: u64) {
        loop {
            let received = self.back.receive().expect("a subscriber that borrows one at a time");
            if received.is_some_and(|value| *value == number) {
                return;
            }
        }
    }
}

/// Sending and receiving in turn in one thread, in ns for both.
pub(super) fn send_and_receive(batch: u64) -> Result<f64, String> {
    let link = <Link as ping_pong::Link>::new()?;
    let mut end = link.open(0, 0)?;
    let begin = Monotonic.now();
    for number in 1..=batch {
        ping_pong::End::send(&mut end, number);
        ping_pong::End::wait_for(&mut end, number);
    }
    Ok((Monotonic.now() - begin).get() as f64 / batch as f64)
}
