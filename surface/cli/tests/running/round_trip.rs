//! A test of the number of times that a command goes to the supervisor and back.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

use quietcore_supervisor::places::{Claim, Places};

use crate::command::said;
use crate::ground::{command_in, serve};

/// Lines that a client has sent, and those that it has received.
#[derive(Default)]
struct Heard {
    asked: Vec<String>,
    answered: Vec<String>,
}

/// A relay between clients and the socket of a site, which keeps every line.
struct Relay {
    run_folder: PathBuf,
    heard: Arc<Mutex<Heard>>,
    _claim: Claim,
}

impl Relay {
    fn before(folder: &Path) -> Self {
        let run_folder = folder.join("relay/run");
        let places = Places::new(run_folder.clone(), folder.join("relay/state"));
        let claim = Claim::take(&places, "line").unwrap();
        let listener = claim.listen().unwrap();
        let heard = Arc::new(Mutex::new(Heard::default()));
        let (site, kept) = (folder.join("run/line/socket"), Arc::clone(&heard));
        thread::spawn(move || relay_all(&listener, &site, &kept));
        Self { run_folder, heard, _claim: claim }
    }

    fn set(&self, folder: &Path, arguments: &[&str]) -> String {
        let mut command = command_in(folder, arguments);
        let said = said(&command.env("QUIETCORE_RUN_DIR", &self.run_folder).output().unwrap());
        assert_eq!(said.status, Some(0), "{}", said.err);
        said.out
    }
}

/// Relays one client after another, one line each way.
fn relay_all(listener: &UnixListener, site: &Path, kept: &Mutex<Heard>) {
    for client in listener.incoming().map_while(Result::ok) {
        let server = UnixStream::connect(site).unwrap();
        let (mut asking, mut answering) = (BufReader::new(&client), BufReader::new(&server));
        let (mut asked, mut answered) = (String::new(), String::new());
        while asking.read_line(&mut asked).is_ok_and(|bytes| bytes > 0) {
            (&server).write_all(asked.as_bytes()).unwrap();
            answering.read_line(&mut answered).unwrap();
            let mut heard = kept.lock().unwrap();
            heard.asked.push(std::mem::take(&mut asked));
            (&client).write_all(answered.as_bytes()).unwrap();
            heard.answered.push(std::mem::take(&mut answered));
        }
    }
}

/// Goal: a change is asked for once, and its answer says all that is to be said.
/// Method: count the lines on the socket, and look for the symbols in none of them.
#[test]
fn a_set_is_one_line_there_and_one_back() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let ground = serve(at, "line");
    let relay = Relay::before(at);
    let told = relay.set(at, &["set", "axis", "servo_P.Kp=3.5"]);
    assert_eq!(told, "axis: servo_P.Kp set from 2.0 to 3.5 in cycle 1\u{202f}001\n");
    for command in [&["force", "axis", "servo_P.Ki=1"][..], &["unforce", "axis", "--all"]] {
        relay.set(at, command);
    }
    let heard = relay.heard.lock().unwrap();
    assert_eq!((heard.asked.len(), heard.answered.len()), (3, 3), "{:?}", heard.asked);
    assert!(heard.asked[0].contains("\"request\":\"write\""), "{:?}", heard.asked);
    assert!(heard.asked[0].contains("\"program\":\"quietcore set\""), "{:?}", heard.asked);
    let values = "\"old\":\"2.0\",\"new\":\"3.5\"";
    assert!(heard.answered[0].contains(values), "{:?}", heard.answered);
    assert!(heard.answered.iter().all(|line| !line.contains("symbols")));
    drop(ground);
}
