//! A wire as a MainDevice needs it.

use core::fmt;

use quietcore_units::Nanos;

/// The longest frame, in bytes: addresses, type and 1500 bytes of payload; no tag, no check
/// sequence.
pub const FRAME_BYTES_MAX: usize = 1514;

/// EtherCAT's number in the type field of an Ethernet frame.
pub const ETHERCAT_TYPE: u16 = 0x88A4;

/// Why a frame could not be handed over or taken.
///
/// A frame that is lost on the way is no error: it just never arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireError {
    /// The interface is down, unplugged at this end, or gone.
    Down,
    /// The queue of the interface is full.
    Full,
    /// The frame is longer than the wire carries.
    TooLong {
        /// Its length, in bytes.
        bytes: usize,
        /// The longest, in bytes.
        limit: usize,
    },
    /// The operating system refused, with this error number.
    Refused(i32),
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Down => f.write_str(
                "the network interface is down; set it up with `ip link set INTERFACE up`",
            ),
            Self::Full => f.write_str("the network interface takes no more frames now"),
            Self::TooLong { bytes, limit } => {
                write!(f, "a frame of {bytes} bytes is too long; the wire carries {limit}")
            }
            Self::Refused(number) => write!(f, "the operating system refused (error {number})"),
        }
    }
}

impl core::error::Error for WireError {}

#[cfg(feature = "std")]
impl From<WireError> for std::io::Error {
    fn from(error: WireError) -> Self {
        use std::io::ErrorKind;
        match error {
            WireError::Down => Self::new(ErrorKind::NetworkDown, error),
            WireError::Full => Self::new(ErrorKind::WouldBlock, error),
            WireError::TooLong { .. } => Self::new(ErrorKind::InvalidInput, error),
            WireError::Refused(code) => Self::from_raw_os_error(code),
        }
    }
}

/// A wire that carries Ethernet frames.
///
/// Both methods are called in the real-time cycle: they allocate nothing, take no lock and wait no
/// longer than they are told.
pub trait Wire {
    /// Hands one frame over. It may get lost later without anyone's notice.
    ///
    /// # Errors
    /// When the wire can't take it now.
    fn send(&mut self, frame: &[u8]) -> Result<(), WireError>;

    /// Takes the next frame into `buffer` and returns its length, or `None` if none has come before
    /// `until`. A frame that is there is returned even if `until` has passed.
    ///
    /// A frame longer than the buffer is dropped.
    ///
    /// # Errors
    /// When the wire is of no use any more. An interface that is down is as silent as an unplugged
    /// cable and no error here.
    fn receive(&mut self, buffer: &mut [u8], until: Nanos) -> Result<Option<usize>, WireError>;

    /// The clock that `until` is on; `CLOCK_MONOTONIC` on the host.
    fn now(&self) -> Nanos;
}

impl<W: Wire + ?Sized> Wire for &mut W {
    #[inline]
    fn send(&mut self, frame: &[u8]) -> Result<(), WireError> {
        (**self).send(frame)
    }

    #[inline]
    fn receive(&mut self, buffer: &mut [u8], until: Nanos) -> Result<Option<usize>, WireError> {
        (**self).receive(buffer, until)
    }

    #[inline]
    fn now(&self) -> Nanos {
        (**self).now()
    }
}

#[cfg(feature = "std")]
impl<W: Wire + ?Sized> Wire for std::boxed::Box<W> {
    #[inline]
    fn send(&mut self, frame: &[u8]) -> Result<(), WireError> {
        (**self).send(frame)
    }

    #[inline]
    fn receive(&mut self, buffer: &mut [u8], until: Nanos) -> Result<Option<usize>, WireError> {
        (**self).receive(buffer, until)
    }

    #[inline]
    fn now(&self) -> Nanos {
        (**self).now()
    }
}
