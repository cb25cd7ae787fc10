//! The topology, from the links that the SubDevices report.
//!
//! A frame enters a SubDevice at port 0 and leaves it at the open ports in the order 3, 1, 2. So
//! the SubDevices come in the order of a walk through a tree, and the number of open ports of each
//! is enough to draw it.

use alloc::vec::Vec;
use core::fmt;

use crate::subdevice::SubDevice;

/// The order in which a frame passes the ports of a SubDevice behind its entry.
const PORT_ORDER: [u8; 3] = [3, 1, 2];
/// In the DL status: the first of four bits, one a port with a link.
const LINK_BIT: u16 = 4;

/// The links of one SubDevice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Position of the SubDevice before it; `None` for the MainDevice.
    pub to: Option<u16>,
    /// The port of that SubDevice, 1 to 3; 0 at the MainDevice.
    pub port: u8,
}

/// The tree of all SubDevices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    connections: Vec<Connection>,
    names: Vec<alloc::string::String>,
}

impl Topology {
    /// Draws the tree. Links that don't make one (a ring, say) are taken as a line.
    pub(crate) fn of(subdevices: &[SubDevice]) -> Self {
        let mut connections: Vec<Connection> = Vec::new();
        // The open ports that nobody is connected to yet, nearest last.
        let mut open: Vec<Connection> = Vec::new();
        for (index, subdevice) in subdevices.iter().enumerate() {
            let before = index.checked_sub(1).map(|before| before as u16);
            let at_main = Connection { to: before, port: u8::from(before.is_some()) };
            connections.push(open.pop().unwrap_or(at_main));
            let linked = |port: &&u8| subdevice.links >> (LINK_BIT + u16::from(**port)) & 1 == 1;
            let to = Some(index as u16);
            // A frame passes the first of them first, so it is pushed last.
            let ports = PORT_ORDER.iter().rev().filter(linked);
            open.extend(ports.map(|port| Connection { to, port: *port }));
        }
        let names = subdevices.iter().map(|subdevice| subdevice.name.clone()).collect();
        Self { connections, names }
    }

    /// Returns the links of each SubDevice, in the order of their positions.
    pub fn connections(&self) -> &[Connection] {
        &self.connections
    }

    fn depth(&self, mut index: usize) -> usize {
        let mut depth = 0;
        // Each step leads to a smaller position.
        while let Some(to) = self.connections[index].to {
            // A chain is drawn as a line; only a branch moves to the right.
            depth += usize::from(self.connections[index].port != 1);
            index = usize::from(to);
        }
        depth
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (connection, name)) in self.connections.iter().zip(&self.names).enumerate() {
            let indent = 2 * self.depth(index);
            write!(f, "{:indent$}{index} {name}", "")?;
            match connection.to {
                Some(to) => writeln!(f, " at port {} of {to}", connection.port)?,
                None => writeln!(f, " at the MainDevice")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString as _;

    fn tree(links: &[u16]) -> Topology {
        let subdevice = |(position, links): (usize, &u16)| SubDevice {
            links: *links << LINK_BIT,
            ..SubDevice::fake(position as u16, 0..0, 0..0)
        };
        Topology::of(&links.iter().enumerate().map(subdevice).collect::<Vec<_>>())
    }

    fn to(tree: &Topology) -> Vec<(Option<u16>, u8)> {
        tree.connections().iter().map(|connection| (connection.to, connection.port)).collect()
    }

    #[test]
    fn a_line_is_a_line() {
        let line = tree(&[0b0011, 0b0011, 0b0001]);
        assert_eq!(to(&line), [(None, 0), (Some(0), 1), (Some(1), 1)]);
    }

    /// A coupler with two terminals on its port 3 and another coupler on its port 1.
    #[test]
    fn a_branch_is_found() {
        let tree = tree(&[0b1011, 0b0011, 0b0001, 0b0001]);
        assert_eq!(to(&tree), [(None, 0), (Some(0), 3), (Some(1), 1), (Some(0), 1)]);
        assert_eq!(
            tree.to_string(),
            "0 fake 0 at the MainDevice\n  1 fake 1 at port 3 of 0\n  2 fake 2 at port 1 of 1\n\
             3 fake 3 at port 1 of 0\n"
        );
    }

    #[test]
    fn links_that_make_no_tree_are_taken_as_a_line() {
        assert_eq!(to(&tree(&[0, 0])), [(None, 0), (Some(0), 1)]);
        assert_eq!(to(&tree(&[])), []);
    }
}
