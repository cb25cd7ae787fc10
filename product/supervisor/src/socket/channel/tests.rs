//! Lines however they are cut, too long, too slow, and with a file.

use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::*;

const SHORT: Patience =
    Patience { begin: Duration::from_millis(200), finish: Duration::from_millis(200) };

/// Times that pass only if nothing comes at all.
const LONG: Patience = Patience { begin: Duration::from_secs(30), finish: Duration::from_secs(30) };

fn pair() -> (Channel, UnixStream) {
    pair_with(LONG)
}

fn pair_with(patience: Patience) -> (Channel, UnixStream) {
    let (near, far) = UnixStream::pair().unwrap();
    (Channel::taking_files(near, patience), far)
}

#[test]
fn lines_come_one_after_another_however_they_are_cut() {
    let (mut channel, mut far) = pair();
    far.write_all(b"one\ntwo\nth").unwrap();
    assert_eq!(channel.receive().unwrap(), b"one");
    assert_eq!(channel.receive().unwrap(), b"two");
    far.write_all(b"ree\n").unwrap();
    assert_eq!(channel.receive().unwrap(), b"three");
    far.write_all(b"four").unwrap();
    drop(far);
    assert!(matches!(channel.receive(), Err(ChannelError::Cut)));
    let (mut channel, far) = pair();
    drop(far);
    assert!(matches!(channel.receive(), Err(ChannelError::Closed)));
}

#[test]
fn a_line_too_long_is_refused_and_the_longest_is_not() {
    for (length, good) in [(LINE_BYTES_MAX - 1, true), (LINE_BYTES_MAX, false)] {
        let (mut channel, mut far) = pair();
        let writer = std::thread::spawn(move || {
            let _ = far.write_all(&vec![b'x'; length]);
            let _ = far.write_all(b"\n");
        });
        let received = channel.receive();
        if good {
            assert_eq!(received.unwrap().len(), length);
        } else {
            assert!(matches!(received, Err(ChannelError::TooLong)));
        }
        drop(channel);
        writer.join().unwrap();
    }
}

#[test]
fn silence_and_a_line_that_never_ends_are_told_apart() {
    let (mut channel, _far) = pair_with(SHORT);
    assert!(matches!(channel.receive(), Err(ChannelError::Silent(_))));
    let (mut channel, mut far) = pair_with(Patience { finish: SHORT.finish, ..LONG });
    // A byte now and then does not prolong the time for the line.
    let writer = std::thread::spawn(move || {
        for _ in 0..600 {
            if far.write_all(b"x").is_err() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    assert!(matches!(channel.receive(), Err(ChannelError::Slow(_))));
    drop(channel);
    writer.join().unwrap();
}

#[test]
fn a_file_goes_with_its_line() {
    let (mut channel, far) = pair();
    let mut sender = Channel::new(far, LONG);
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(b"content").unwrap();
    sender.send_with(b"here\n", file.as_fd()).unwrap();
    sender.send(b"nothing here\n").unwrap();
    assert_eq!(channel.receive().unwrap(), b"here");
    let mut taken = File::from(channel.take_file().unwrap());
    taken.rewind().unwrap();
    let mut content = String::new();
    taken.read_to_string(&mut content).unwrap();
    assert_eq!(content, "content");
    assert_eq!(channel.receive().unwrap(), b"nothing here");
    assert!(channel.take_file().is_none());
}

#[test]
fn a_long_line_takes_its_file_along_with_its_beginning() {
    let (mut channel, far) = pair();
    let writer = std::thread::spawn(move || {
        let file = tempfile::tempfile().unwrap();
        let mut line = vec![b'y'; LINE_BYTES_MAX - 1];
        line.push(b'\n');
        Channel::new(far, LONG).send_with(&line, file.as_fd()).unwrap();
    });
    assert_eq!(channel.receive().unwrap().len(), LINE_BYTES_MAX - 1);
    assert!(channel.take_file().is_some());
    writer.join().unwrap();
}
