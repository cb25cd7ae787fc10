//! The places of connections: so many in all, and so many for one address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::access::rates::network_of;

/// The most connections over the network.
pub const CONNECTIONS_MAX: usize = 256;
/// The most connections from one address; of IPv6 from one network of 64 bits.
pub const CONNECTIONS_OF_ADDRESS_MAX: usize = 32;

/// Counts the connections of each address.
#[derive(Clone, Debug, Default)]
pub(super) struct ConnectionPlaces {
    taken: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

impl ConnectionPlaces {
    /// Takes a place; `None` if there is none for the address, or none at all.
    pub(super) fn take(&self, address: IpAddr) -> Option<ConnectionPlace> {
        let address = network_of(address);
        let mut taken = self.taken();
        if taken.values().sum::<usize>() >= CONNECTIONS_MAX {
            return None;
        }
        let own = taken.entry(address).or_insert(0);
        if *own >= CONNECTIONS_OF_ADDRESS_MAX {
            return None;
        }
        *own += 1;
        Some(ConnectionPlace { places: self.clone(), address })
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of a connection, which is free again when this is dropped.
#[derive(Debug)]
pub(super) struct ConnectionPlace {
    places: ConnectionPlaces,
    address: IpAddr,
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        let Some(own) = taken.get_mut(&self.address) else { return };
        *own -= 1;
        if *own == 0 {
            taken.remove(&self.address);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn connections_are_limited_in_all_and_for_each_address() {
        let places = ConnectionPlaces::default();
        let of = |machine: u32| IpAddr::from(Ipv4Addr::from_bits(0x0a00_0000 + machine));
        let all = CONNECTIONS_MAX + CONNECTIONS_OF_ADDRESS_MAX;
        let of_one: Vec<_> = (0..all).filter_map(|_| places.take(of(1))).collect();
        assert_eq!(of_one.len(), CONNECTIONS_OF_ADDRESS_MAX);
        let more: Vec<_> = (2..1000).filter_map(|machine| places.take(of(machine))).collect();
        assert_eq!(of_one.len() + more.len(), CONNECTIONS_MAX);
        drop(of_one);
        assert!(places.take(of(1)).is_some(), "places are given back");
        drop(more);
        assert!(places.taken().is_empty(), "and forgotten");
    }
}
