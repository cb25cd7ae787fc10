//! The network of a guest of QEMU: a socket, with the wire of its fieldbus behind it
//! ([`network`](crate::guest::network)).
//!
//! ```text
//! guest ─► rings ─► QEMU's main thread ─► socket ─► a thread of this process ─► wire
//! ```
//!
//! QEMU gets one end of the socket, so that it opens nothing itself: a message is a frame. Whoever
//! has no room for a frame loses it, as on any Ethernet; what the guest sends is looked at for its
//! length and its type, and is bounded by what the socket holds.

use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use quietcore_microvm::net::{Link, Readiness};
use quietcore_probe::ethercat::process::Line;
use quietcore_process::exchange::Exchange;
use quietcore_units::{Nanos, Scheduling};
use quietcore_wire::FRAME_BYTES_MAX;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair,
};

use crate::fieldbus::FieldbusJob;
use crate::guest::in_words;
use crate::guest::network::{self, FieldbusLink, ServingNeeds};

/// Shortest frame that has two addresses and a type.
const FRAME_BYTES_MIN: usize = 14;
/// Frames that are carried in each direction before the other one gets its turn.
const FRAMES_PER_TURN: usize = 32;
/// Turns with something to do before the thread pauses. A fieldbus takes one or two a cycle.
const TURNS_MAX: u32 = 64;
/// The shortest pause between two looks.
const PAUSE: Nanos = Nanos::from_micros(50);

/// The network of a guest, not served yet.
pub(super) struct Network {
    carrier: Carrier<Box<dyn Link>>,
    needs: ServingNeeds,
}

impl Network {
    /// Opens the wire of a fieldbus. Returns QEMU's end of the socket, too.
    ///
    /// # Errors
    /// When the wire or the socket can't be had; in words.
    pub(super) fn open(
        job: &FieldbusJob,
        exchange: Arc<Exchange>,
    ) -> Result<(Self, OwnedFd), String> {
        let link = FieldbusLink::open(job, exchange)?;
        Self::over(Box::new(link), ServingNeeds::of(&job.interface))
    }

    /// Opens the line of a probe, whose guest sends frames of EtherCAT and no others.
    ///
    /// # Errors
    /// When the line or the socket can't be had; in words.
    pub(super) fn of_line(line: &Line) -> Result<(Self, OwnedFd), String> {
        Self::over(line.link().map_err(in_words)?, ServingNeeds::of_line(line))
    }

    fn over(link: Box<dyn Link>, needs: ServingNeeds) -> Result<(Self, OwnedFd), String> {
        let (carrier, end) =
            Carrier::new(link).map_err(|error| format!("the guest's network: {error}"))?;
        Ok((Self { carrier, needs }, end))
    }

    /// Starts the thread that carries frames. `cpu` is the guest's CPU, `policy` that of its tasks.
    ///
    /// # Errors
    /// When the thread can't be started; in words.
    pub(super) fn start(self, cpu: Option<u32>, policy: Scheduling) -> Result<(), String> {
        let Self { mut carrier, needs } = self;
        network::start(needs, cpu, policy, move || carrier.serve())
    }
}

/// Carries frames between a socket and a link.
struct Carrier<L> {
    link: L,
    socket: OwnedFd,
    /// Memory for a frame. A longer one is cut off there, and known by its length.
    frame: [u8; FRAME_BYTES_MAX],
}

impl<L: Link> Carrier<L> {
    /// Makes the socket. Returns the guest's end of it, too.
    fn new(link: L) -> Result<(Self, OwnedFd), Errno> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let (socket, end) = socketpair(AddressFamily::UNIX, SocketType::DGRAM, flags, None)?;
        Ok((Self { link, socket, frame: [0; FRAME_BYTES_MAX] }, end))
    }

    /// Carries frames until the process ends. A guest that has more and more to send does not keep
    /// the thread from sleeping: after so many turns it pauses for as long as they took.
    fn serve(&mut self) {
        let (mut turns, mut busy_since) = (0, self.link.now());
        loop {
            if turns >= TURNS_MAX {
                let busy = self.link.now().saturating_sub(busy_since);
                thread::sleep(Duration::from_nanos(busy.max(PAUSE).get()));
                (turns, busy_since) = (0, self.link.now());
            }
            if self.turn() {
                turns += 1;
                continue;
            }
            self.sleep();
            (turns, busy_since) = (0, self.link.now());
        }
    }

    /// Carries the frames that are there, a bounded number. Returns whether there were any.
    fn turn(&mut self) -> bool {
        let mut has_moved = false;
        for _ in 0..FRAMES_PER_TURN {
            // With TRUNC the kernel tells the frame's own length, so that a cut one is recognised.
            let Ok((_, bytes)) = recv(&self.socket, &mut self.frame[..], RecvFlags::TRUNC) else {
                break;
            };
            has_moved = true;
            let frame = self.frame.get(..bytes).filter(|frame| frame.len() >= FRAME_BYTES_MIN);
            // What the wire does not take is lost, as a frame is.
            let _ = frame.map(|frame| self.link.send(frame));
        }
        for _ in 0..FRAMES_PER_TURN {
            // A wire that is of no use is as silent as a pulled cable.
            let Ok(Some(bytes)) = self.link.receive(&mut self.frame, Nanos::ZERO) else { break };
            has_moved = true;
            // A guest that takes no frames loses them.
            let _ = send(&self.socket, &self.frame[..bytes], SendFlags::NOSIGNAL);
        }
        has_moved
    }

    /// Sleeps until a frame is there, or comes by itself.
    fn sleep(&self) {
        let socket = self.socket.as_fd();
        let (file, due) = match self.link.readiness() {
            Readiness::File(file) => (file, None),
            // What is not there is waited for at another's place, which changes nothing.
            Readiness::At(due) => (socket, due),
        };
        let mut files = [socket, file].map(|file| PollFd::from_borrowed_fd(file, PollFlags::IN));
        let left = due.map(|due| due.saturating_sub(self.link.now()).get());
        let timeout = left.map(|left| Timespec {
            tv_sec: (left / 1_000_000_000) as i64,
            tv_nsec: (left % 1_000_000_000) as i64,
        });
        // A signal is as good a reason to look as any.
        let _ = poll(&mut files, timeout.as_ref());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use quietcore_segment::{Options, Segment, SubDevice};
    use quietcore_wire::SegmentWire;

    use super::*;

    fn carrier() -> (Carrier<SegmentWire>, OwnedFd) {
        let line = vec![SubDevice::by_name("coupler").unwrap()];
        Carrier::new(SegmentWire::new(Segment::new(line, Options::default()))).unwrap()
    }

    /// Returns a frame that reads two bytes of every SubDevice.
    fn frame() -> [u8; 60] {
        let mut frame = [0; 60];
        frame[12..14].copy_from_slice(&[0x88, 0xA4]);
        frame[14..16].copy_from_slice(&[0x0E, 0x10]);
        // A broadcast read of register 0.
        frame[16..18].copy_from_slice(&[7, 1]);
        frame[22] = 2;
        frame
    }

    fn answers(end: &OwnedFd) -> Vec<Vec<u8>> {
        let mut bytes = [0; FRAME_BYTES_MAX];
        let mut found = Vec::new();
        while let Ok((_, count)) = recv(end, &mut bytes[..], RecvFlags::empty()) {
            found.push(bytes[..count].to_vec());
        }
        found
    }

    #[test]
    fn a_frame_goes_to_the_segment_and_comes_back_with_its_answer() {
        let (mut carrier, end) = carrier();
        send(&end, &frame(), SendFlags::empty()).unwrap();
        assert!(carrier.turn());
        let answers = answers(&end);
        assert_eq!(answers.len(), 1);
        assert_eq!((answers[0].len(), answers[0][28]), (60, 1), "one SubDevice has counted");
        assert!(!carrier.turn(), "there was one");
    }

    #[test]
    fn what_is_no_frame_goes_nowhere_and_harms_nobody() {
        let (mut carrier, end) = carrier();
        for nonsense in [&[0x88; 0][..], &[0x88; 13], &[0xA4; FRAME_BYTES_MAX + 1], &[0; 9_000]] {
            send(&end, nonsense, SendFlags::empty()).unwrap();
        }
        assert!(carrier.turn());
        assert_eq!(answers(&end), [[0; 0]; 0]);
        send(&end, &frame(), SendFlags::empty()).unwrap();
        assert!(carrier.turn());
        assert_eq!(answers(&end).len(), 1, "it still serves");
    }

    /// Goal: a guest that only sends, and takes no answer, gets no memory and no time without end.
    #[test]
    fn a_guest_that_takes_no_frames_loses_them() {
        let (mut carrier, end) = carrier();
        for _ in 0..2_000 {
            send(&end, &frame(), SendFlags::empty()).unwrap();
            carrier.turn();
        }
        let kept = answers(&end).len();
        assert!((1..2_000).contains(&kept), "{kept} were kept");
        for _ in 0..FRAMES_PER_TURN + 1 {
            send(&end, &frame(), SendFlags::empty()).unwrap();
        }
        carrier.turn();
        assert_eq!(answers(&end).len(), FRAMES_PER_TURN, "a turn has an end");
    }

    #[test]
    fn it_wakes_for_a_frame_of_the_guest() {
        let (carrier, end) = carrier();
        send(&end, &frame(), SendFlags::empty()).unwrap();
        let begun = Instant::now();
        carrier.sleep();
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
}
