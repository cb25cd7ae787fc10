//! Feeds of a program that runs in a thread of the test, and clients that read them.

use std::fs;

use quietcore_api::v1::value::Kind;
use quietcore_supervisor::client::Client as Connection;
use quietcore_supervisor::fake::{FakeProgram, FakeSite};
use quietcore_supervisor::places::{Claim, Places};
use quietcore_supervisor::server::{Limits, Server};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tokio_stream::StreamExt as _;

use super::*;
use crate::following::{Stream, Streams};
use crate::sites::Sites;

/// The longest wait for something that comes within milliseconds.
const PATIENCE: Duration = Duration::from_secs(30);

struct Fixture {
    site: Arc<FakeSite>,
    feeds: Feeds,
    streams: Streams,
    sites: Sites,
    places: Places,
    runtime: Runtime,
    server: Option<Server>,
    _claim: Claim,
    _folder: TempDir,
}

fn fixture() -> Fixture {
    let folder = TempDir::new().expect("a folder");
    let places = Places::new(folder.path().join("run"), folder.path().join("state"));
    let claim = Claim::take(&places, "line").expect("the site is free");
    let program = FakeProgram::start(folder.path()).expect("a program");
    let site = Arc::new(FakeSite::with_program(program));
    let served = Arc::clone(&site) as Arc<dyn quietcore_supervisor::Site>;
    let listener = claim.listen().expect("a socket");
    let server = Server::start(listener, "line", served, Limits::default()).expect("threads");
    Fixture {
        site,
        feeds: Feeds::default(),
        streams: Streams::default(),
        sites: Sites::new(places.clone()),
        places,
        runtime: Builder::new_current_thread().enable_time().build().expect("a runtime"),
        server: Some(server),
        _claim: claim,
        _folder: folder,
    }
}

impl Fixture {
    /// Follows the gain and the level, each millisecond.
    fn follow(&self) -> Stream<Bytes> {
        self.follow_beyond(0.0)
    }

    fn follow_beyond(&self, deadband: f64) -> Stream<Bytes> {
        let patterns = vec!["servo_P.Kp".to_owned(), "servo_DW.level".to_owned()];
        let connection = Connection::connect(&self.places, None).expect("the site runs");
        let watch = Watch::begin(connection, "axis", &patterns).expect("such variables");
        let subject = Subject {
            partition: ("line".to_owned(), "axis".to_owned()),
            exchange: (1, 1),
            patterns,
            interval: Duration::from_millis(1),
            deadband: Deadband::new(deadband).expect("a difference"),
        };
        let (end, stream) = self.streams.begin().expect("a place").open(&self.sites);
        self.feeds.join(subject, watch, end).expect("a thread");
        stream
    }

    fn give(&self, gain: u32) {
        let program = self.site.state();
        program.program.as_ref().expect("it runs").give("servo_P.Kp", &gain.to_string());
    }

    /// Returns the next message; an error if the stream ends.
    fn next(&self, stream: &mut Stream<Bytes>) -> Result<Content, Status> {
        let next = async { tokio::time::timeout(PATIENCE, stream.next()).await };
        let message = self.runtime.block_on(next).expect("a message").expect("a word of the end");
        let message = v1::SubscribeVariablesResponse::decode(message?).expect("of the contract");
        Ok(message.content.expect("a list or a sample"))
    }

    /// Reads until the gain is this; returns the samples that were left out.
    fn read_until(&self, stream: &mut Stream<Bytes>, gain: u32) -> u64 {
        let mut left_out = 0;
        loop {
            let Content::Sample(sample) = self.next(stream).expect("it goes on") else { continue };
            left_out += sample.left_out;
            let at = sample.indices.iter().position(|index| *index == 0);
            if at.is_some_and(|at| sample.values[at].kind == Some(Kind::Double(gain.into()))) {
                return left_out;
            }
        }
    }

    /// Waits until there are so many feeds.
    fn wait_for_feeds(&self, count: usize) {
        let begun = Instant::now();
        while lock(&self.feeds.feeds).len() != count {
            assert!(begun.elapsed() < PATIENCE, "not {count} feeds");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

#[test]
fn clients_of_the_same_variables_share_a_feed_until_the_last_has_gone() {
    let fixture = fixture();
    let (mut first, mut second) = (fixture.follow(), fixture.follow());
    assert_eq!(lock(&fixture.feeds.feeds).len(), 1);
    fixture.give(7);
    fixture.read_until(&mut first, 7);
    fixture.read_until(&mut second, 7);
    drop(first);
    fixture.give(8);
    fixture.read_until(&mut second, 8);
    fixture.wait_for_feeds(1);
    drop(second);
    fixture.wait_for_feeds(0);
    let mut next = fixture.follow();
    fixture.read_until(&mut next, 8);
}

#[test]
fn a_client_that_comes_later_gets_the_list_and_all_values_first() {
    let fixture = fixture();
    fixture.give(3);
    let mut first = fixture.follow();
    fixture.read_until(&mut first, 3);
    let mut later = fixture.follow();
    let Ok(Content::Variables(list)) = fixture.next(&mut later) else { panic!("no list") };
    assert_eq!(list.variables[0].path, "servo_P.Kp");
    let Ok(Content::Sample(sample)) = fixture.next(&mut later) else { panic!("no sample") };
    assert_eq!((sample.indices, sample.forced_changed), (vec![0, 1], true));
    assert_eq!(sample.values[0].kind, Some(Kind::Double(3.0)));
}

/// Goal: what a client is told first is what the program has, and not what another one was told.
#[test]
fn a_client_with_a_deadband_is_told_the_present_values_first() {
    let fixture = fixture();
    fixture.give(20);
    let mut first = fixture.follow_beyond(5.0);
    fixture.read_until(&mut first, 20);
    fixture.give(24);
    let mut later = fixture.follow_beyond(5.0);
    fixture.read_until(&mut later, 24);
    fixture.give(26);
    fixture.read_until(&mut first, 26);
    fixture.give(30);
    fixture.read_until(&mut later, 30);
}

#[test]
fn a_slow_client_holds_up_no_other_and_ends_up_with_the_same_values() {
    let fixture = fixture();
    let (mut prompt, mut slow) = (fixture.follow(), fixture.follow());
    for _list_and_sample in 0..2 {
        fixture.next(&mut prompt).expect("it goes on");
    }
    for gain in 1..200 {
        fixture.give(gain);
        assert_eq!(fixture.read_until(&mut prompt, gain), 0, "nothing is left out at {gain}");
    }
    assert!(fixture.read_until(&mut slow, 199) > 0, "it did not read");
}

#[test]
fn the_end_of_the_site_ends_all_its_streams_with_the_reason() {
    let mut fixture = fixture();
    let mut streams = [fixture.follow(), fixture.follow()];
    streams.iter_mut().for_each(|stream| {
        assert!(matches!(fixture.next(stream), Ok(Content::Variables(_))));
    });
    drop(fixture.server.take());
    fs::remove_dir_all(fixture.places.run_folder().join("line")).expect("its folder");
    for stream in &mut streams {
        let told = loop {
            if let Err(told) = fixture.next(stream) {
                break told;
            }
        };
        assert_eq!(told.code(), tonic::Code::Unavailable, "{told:?}");
    }
    fixture.wait_for_feeds(0);
}
