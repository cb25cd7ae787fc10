//! Each access reaches the device that it is for, or nobody.

use std::sync::Mutex;

use super::*;

/// Keeps what it was told, and answers with its number.
#[derive(Debug, Default)]
struct Noted {
    told: Mutex<Vec<(u64, Vec<u8>)>>,
    number: u8,
}

impl Device for Noted {
    fn write(&self, offset: u64, data: &[u8]) -> After {
        self.told.lock().unwrap().push((offset, data.to_vec()));
        After::GoOn
    }

    fn read(&self, _: u64, data: &mut [u8]) {
        data.fill(self.number);
    }
}

fn noted(number: u8) -> Arc<Noted> {
    Arc::new(Noted { number, ..Noted::default() })
}

#[test]
fn an_access_is_its_devices_or_nobodys() {
    let (ports, addresses) = (noted(1), noted(2));
    let devices = Devices::default()
        .at_ports("ports", 0x3F8, 8, ports.clone())
        .unwrap()
        .at_addresses("addresses", 0xD000_1000, 0x100, addresses.clone())
        .unwrap();
    devices.write_port(0x3F8, b"a string of writes");
    devices.write_port(0x400, &[1]);
    devices.write_address(0xD000_10FC, &[1; 4]);
    devices.write_address(0xD000_10FD, &[2; 4]);
    assert_eq!(*ports.told.lock().unwrap(), [(0, b"a string of writes".to_vec())]);
    assert_eq!(*addresses.told.lock().unwrap(), [(0xFC, vec![1; 4])]);
    let read = |address| {
        let mut data = [0xFF; 4];
        devices.read_address(address, &mut data);
        data[0]
    };
    assert_eq!([0xD000_1000, 0xD000_0FFF, 0xD000_1100].map(read), [2, 0xFF, 0xFF]);
    assert_eq!(devices.strays(), 4);
}

#[test]
fn two_devices_are_never_at_one_place() {
    let devices = Devices::default().at_ports("first", 10, 4, noted(1)).unwrap();
    let refused = devices.at_ports("second", 13, 1, noted(2)).map(drop).unwrap_err();
    assert_eq!(refused.to_string(), "`second` at 0xd overlaps `first`");
    for (first, bytes) in [(SLOTS_END - 1, 2), (u64::MAX, 1), (0, 0)] {
        let refused = Devices::default().at_addresses("it", first, bytes, noted(1)).map(drop);
        assert!(refused.unwrap_err().to_string().contains("no such places"));
    }
    assert!(Devices::default().at_ports("last", 0xFFFF, 1, noted(1)).is_ok());
    assert!(Devices::default().at_ports("last", 0xFFFF, 2, noted(1)).is_err());
}

#[test]
fn a_guest_ends_by_its_port() {
    let devices = Devices::default().at_ports("end", 0x501, 1, Arc::new(EndPort)).unwrap();
    assert_eq!(devices.write_port(0x501, &[7, 8]), After::End(7));
    assert_eq!(devices.write_port(0x501, &[]), After::GoOn);
    assert_eq!(devices.write_port(0x500, &[7]), After::GoOn);
}
