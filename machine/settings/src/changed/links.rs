//! Network links that come up and go down, as the kernel tells (rtnetlink(7), `RTMGRP_LINK`).
//!
//! A driver asks for its interrupts when its interface is brought up, and may place them anew:
//! what keeps interrupts off CPUs has to look again at that moment.

mod message;

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, bind, recv, socket_with};

use message::{Link, links};

/// Messages of links (`RTMGRP_LINK` in `linux/rtnetlink.h`).
const LINKS: u32 = 1;
/// The longest message; the kernel's own programs read as much.
const MESSAGE_MAX: usize = 32 << 10;
/// More messages than these in one look are left to the next.
const MESSAGES_MAX: usize = 256;

/// The links of this network namespace.
#[derive(Debug)]
pub struct Links {
    socket: OwnedFd,
    /// For each link, by its index, if it was up when it was last heard of.
    up: BTreeMap<i32, bool>,
}

/// Events of links since the last look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// Interfaces that came up, in order; one that flaps as often as it did.
    pub came_up: Vec<String>,
    /// Messages were lost: any link may have come up.
    pub lost: bool,
}

impl Heard {
    /// Returns `true` if a link came up, or may have.
    pub const fn is_some(&self) -> bool {
        self.lost || !self.came_up.is_empty()
    }
}

impl Links {
    /// Listens from now on.
    ///
    /// # Errors
    /// Those of `socket` and `bind`.
    pub fn listen() -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        // Its first protocol is NETLINK_ROUTE.
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None)?;
        bind(&socket, &SocketAddrNetlink::new(0, LINKS))?;
        Ok(Self { socket, up: BTreeMap::new() })
    }

    /// Returns the events since the last look. Does not wait.
    pub fn hear(&mut self) -> Heard {
        let mut heard = Heard::default();
        let mut buffer = [0_u8; MESSAGE_MAX];
        for _ in 0..MESSAGES_MAX {
            match recv(&self.socket, &mut buffer[..], RecvFlags::empty()) {
                Ok((length, _)) => self.note(links(&buffer[..length]), &mut heard),
                Err(Errno::INTR) => {}
                Err(Errno::NOBUFS) => {
                    self.up.clear();
                    heard.lost = true;
                }
                Err(_) => break,
            }
        }
        heard
    }

    /// A link that is heard of for the first time, and is up, may have just come up.
    fn note(&mut self, links: Vec<Link>, heard: &mut Heard) {
        for link in links {
            let before = if link.is_gone {
                self.up.remove(&link.index)
            } else {
                self.up.insert(link.index, link.is_up)
            };
            if link.is_up && !link.is_gone && before != Some(true) {
                heard.came_up.push(link.name);
            }
        }
    }
}

#[cfg(test)]
mod tests;
