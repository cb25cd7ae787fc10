//! Channels: signals, groups and queues between partitions.

use quietcore_exchange::channel::{
    CHANNEL_BYTES_MAX, ChannelError, ChannelShapeError, ENTRY_LIMIT, Entry, Freshness, Message,
    ReceiveError, SendError, channel_bytes,
};
use quietcore_units::Nanos;

use crate::memory::{Memory, TIMEOUTS, entries};

fn memory() -> Memory {
    Memory::new(channel_bytes(&entries()).unwrap())
}

#[test]
fn a_signal_is_received_with_its_update_bit_and_age() {
    let memory = memory();
    let channel = memory.make_channel(&entries()).unwrap();
    let mut writer = memory.channel().unwrap().signal_writer(0).unwrap();
    let mut first = memory.channel_view().unwrap().signal_reader(0).unwrap();
    let mut second = channel.signal_reader(0).unwrap();
    let initial = first.receive().unwrap();
    assert_eq!((initial.value, initial.count, initial.updated), (0x8877_6655, 0, false));
    let freshness = |now: u64, received: quietcore_exchange::channel::Received| {
        received.freshness(Nanos::new(now), Nanos::new(50), &TIMEOUTS)
    };
    assert_eq!(freshness(1_049, initial), Freshness::Expected);
    assert_eq!(freshness(1_050, initial), Freshness::Overdue(Nanos::new(1_000)));

    writer.send(Nanos::new(2_000), u64::MAX);
    assert!(second.peek().unwrap().updated);
    let received = second.receive().unwrap();
    assert_eq!((received.value, received.count, received.updated), (0xffff_ffff, 1, true));
    assert!(!second.receive().unwrap().updated, "a receiver sees it once");
    assert!(first.receive().unwrap().updated, "each receiver for itself");
    assert_eq!(freshness(2_099, received), Freshness::Fresh(Nanos::new(99)));
    assert_eq!(freshness(2_100, received), Freshness::Overdue(Nanos::new(100)));

    let mut heir = channel.signal_writer(0).unwrap();
    heir.send(Nanos::new(2_100), 3);
    assert_eq!(first.receive().unwrap().count, 2, "a sender that takes over counts on");
}

#[test]
fn the_members_of_a_group_change_together() {
    let memory = memory();
    let channel = memory.make_channel(&entries()).unwrap();
    let mut writer = channel.group_writer(1).unwrap();
    let mut reader = channel.group_reader(1).unwrap();
    assert!(!reader.receive().unwrap().updated);
    assert_eq!((reader.get(0), reader.get(1), reader.get(2)), (Some(11), Some(22), None));
    writer.set(0, 5);
    writer.set(9, 5);
    assert!(!reader.receive().unwrap().updated, "nothing is sent before the whole group is");
    writer.send(Nanos::new(7));
    assert_eq!(reader.get(0), Some(11), "nothing changes before the whole group is received");
    let received = reader.receive().unwrap();
    assert_eq!((received.count, received.sent, received.updated), (1, Nanos::new(7), true));
    assert_eq!((reader.get(0), reader.get(1)), (Some(5), Some(22)));
    let mut heir = channel.group_writer(1).unwrap();
    heir.set(1, 6);
    heir.send(Nanos::new(8));
    reader.receive().unwrap();
    assert_eq!((reader.get(0), reader.get(1)), (Some(5), Some(6)), "the heir keeps the values");
}

#[test]
fn messages_arrive_once_and_what_has_no_room_is_counted() {
    let memory = memory();
    let channel = memory.make_channel(&entries()).unwrap();
    let mut sender = channel.sender(4).unwrap();
    let mut receiver = memory.channel().unwrap().receiver(4).unwrap();
    let mut buffer = [0; 20];
    assert_eq!(receiver.receive(&mut buffer), Ok(None));
    let too_long = SendError::TooLong { is: 21, most: 20 };
    assert_eq!(sender.send(Nanos::ZERO, &[0; 21]), Err(too_long));
    for length in 17..=20_u8 {
        sender.send(Nanos::new(length.into()), &vec![length; length.into()]).unwrap();
    }
    assert_eq!(sender.send(Nanos::ZERO, &[]), Err(SendError::Full));
    assert_eq!(sender.refused(), 1);
    let small = receiver.receive(&mut buffer[..16]);
    assert_eq!(small, Err(ReceiveError { needed: 17, room: 16 }));
    for length in 17..=20_u8 {
        let message = Message { bytes: length.into(), sent: Nanos::new(length.into()) };
        assert_eq!(receiver.receive(&mut buffer), Ok(Some(message)));
        assert!(buffer[..length.into()].iter().all(|byte| *byte == length));
    }
    sender.send(Nanos::ZERO, &[]).unwrap();
    assert_eq!(receiver.receive(&mut []).unwrap().unwrap().bytes, 0);
    assert_eq!(channel.sender(4).unwrap().refused(), 1, "a sender that takes over counts on");
}

#[test]
fn an_entry_is_used_as_what_it_is() {
    let memory = memory();
    let channel = memory.make_channel(&entries()).unwrap();
    assert_eq!(channel.entry_count(), 5);
    let found: Vec<_> = (0..6).map_while(|index| channel.entry(index)).collect();
    assert_eq!(found, entries());
    let signals: Vec<_> = (0..6).filter(|index| channel.signal_writer(*index).is_some()).collect();
    let groups: Vec<_> = (0..6).filter(|index| channel.group_reader(*index).is_some()).collect();
    let queues: Vec<_> = (0..6).filter(|index| channel.sender(*index).is_some()).collect();
    assert_eq!((signals, groups, queues), (vec![0], vec![1], vec![4]));
}

#[test]
fn a_channel_that_cannot_be_is_refused() {
    let refused = |entries: &[Entry]| channel_bytes(entries).unwrap_err();
    let member = Entry::Member { bytes: 1, initial: 0 };
    let group = Entry::Group { members: 2, timeouts: TIMEOUTS };
    let queue = |message_bytes, slots| Entry::Queue { message_bytes, slots };
    let signal = |bytes| Entry::Signal { bytes, initial: 0, timeouts: TIMEOUTS };
    assert_eq!(refused(&[]), ChannelShapeError::EntryCount { is: 0 });
    let many = ChannelShapeError::EntryCount { is: ENTRY_LIMIT + 1 };
    assert_eq!(refused(&[signal(1); ENTRY_LIMIT + 1]), many);
    assert_eq!(refused(&[signal(3)]), ChannelShapeError::ValueBytes { entry: 0, is: 3 });
    let too_large = Entry::Signal { bytes: 1, initial: 256, timeouts: TIMEOUTS };
    assert_eq!(refused(&[signal(1), too_large]), ChannelShapeError::Initial { entry: 1 });
    assert_eq!(refused(&[signal(1), member]), ChannelShapeError::Grouping { entry: 1 });
    assert_eq!(refused(&[group, member]), ChannelShapeError::Grouping { entry: 2 });
    assert_eq!(refused(&[group, member, signal(1)]), ChannelShapeError::Grouping { entry: 2 });
    assert_eq!(refused(&[queue(0, 4)]), ChannelShapeError::Queue { entry: 0 });
    assert_eq!(refused(&[queue(4097, 4)]), ChannelShapeError::Queue { entry: 0 });
    assert_eq!(refused(&[queue(8, 3)]), ChannelShapeError::Queue { entry: 0 });
    assert_eq!(refused(&[queue(4096, 65_536)]), ChannelShapeError::TooLarge { entry: 0 });
    assert!(channel_bytes(&[queue(512, 65_536)]).unwrap() <= CHANNEL_BYTES_MAX);
}

#[test]
fn what_is_no_channel_of_ours_is_refused_with_both_sides_named() {
    let memory = memory();
    assert_eq!(memory.channel().err(), Some(ChannelError::NoChannel { found: 0 }));
    let refused = |offset: usize, value: u64| {
        memory.make_channel(&entries()).unwrap();
        memory.poke(offset, &value.to_le_bytes());
        let error = memory.channel().err().unwrap();
        assert_eq!(memory.channel_view().err(), Some(error));
        error.to_string()
    };
    assert!(refused(8, 9).contains("version 9, this program version 2"));
    assert!(refused(16, 7).contains("layout 0x0000000000000007"));
    assert!(refused(24, 99).contains("99 bytes and its contents need"));
    assert!(refused(32, 3).contains("entry 3 of the channel is on the wrong side"));
    assert!(refused(32, u64::MAX).contains("1 to 1024 are possible"));
    assert!(refused(4096, 5).contains("entry 0 of the channel is of no known kind"));
    assert!(refused(4096 + 8, 300).contains("has 0 bytes; use 1, 2, 4 or 8"));
    let small = Memory::new(4096);
    let needed = channel_bytes(&entries()).unwrap();
    let too_small = Some(ChannelError::Size { is: 4096, needed });
    assert_eq!(small.make_channel(&entries()).err(), too_small);
    assert!(small.channel().is_err());
}
