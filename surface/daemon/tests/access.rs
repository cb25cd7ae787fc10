//! Calls over the network: every role × every call, grants, credentials that hold no more, and
//! whatever else comes in at an open port.

mod secured;

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use prost::Message as _;
use prost_types::FileDescriptorSet;
use quietcore_access::{NAME_BYTES_MAX, Role};
use quietcore_api::FILE_DESCRIPTOR_SET;
use quietcore_api::v1;
use quietcore_api::v1::partition_service_client::PartitionServiceClient;
use quietcore_api::v1::site_service_client::SiteServiceClient;
use quietcore_api::v1::trace_service_client::TraceServiceClient;
use quietcore_api::v1::variable_service_client::VariableServiceClient;
use quietcore_daemon::{
    CALLS, CALLS_BURST, CONNECTIONS_OF_ADDRESS_MAX, Daemon, FAILURES_BURST, HANDSHAKE_TIME,
    HANDSHAKES_MAX, UNKNOWN_TIME,
};
use quietcore_supervisor::fake::event;
use secured::{LIST_SITES, PATIENCE, Secured, attempt, is_closed, places};
use tokio::task::JoinSet;
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tonic::Code;

/// Returns the calls of the contract, as `SERVICE/CALL`.
fn contract() -> BTreeSet<String> {
    let set = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).expect("the build script made it");
    let own = set.file.iter().filter(|file| file.package() == "quietcore.v1");
    let services = own.flat_map(|file| &file.service);
    services
        .flat_map(|service| {
            service.method.iter().map(|call| format!("{}/{}", service.name(), call.name()))
        })
        .collect()
}

#[test]
fn each_call_of_the_contract_has_a_row_and_no_other_has() {
    let known: BTreeSet<String> = CALLS.iter().map(|(call, ..)| (*call).to_owned()).collect();
    let contract = contract();
    let missing: Vec<_> = contract.difference(&known).collect();
    let gone: Vec<_> = known.difference(&contract).collect();
    assert!(missing.is_empty() && gone.is_empty(), "without a row: {missing:?}; gone: {gone:?}");
}

/// Goal: a role may make the calls that it includes, and no other, whichever call comes to be.
/// Method: each role gets a certificate and makes each call. Whatever the services think of the
/// argument, the layer before them has let it in or has not.
#[test]
fn every_role_makes_the_calls_that_it_includes_and_no_other() {
    let bench = Secured::new();
    for role in Role::ALL {
        let channel = bench.with_certificate(role.word(), role, &[]);
        for (call, needed, _) in CALLS {
            let answer = bench.run(attempt(&channel, &format!("/quietcore.v1.{call}")));
            let refused = answer.as_ref().err().map(tonic::Status::code);
            if role.includes(*needed) {
                let denied = [Some(Code::PermissionDenied), Some(Code::Unauthenticated)];
                assert!(!denied.contains(&refused), "{role}, {call}: {answer:?}");
            } else {
                assert_eq!(refused, Some(Code::PermissionDenied), "{role}, {call}");
                let told = answer.unwrap_err().message().to_owned();
                assert!(told.contains(&format!("needs the role {needed}")), "{told}");
            }
        }
        for about in ["/grpc.health.v1.Health/Check", "/grpc.reflection.v1.ServerReflection/None"] {
            let answer = bench.run(attempt(&channel, about)).map_err(|refused| refused.code());
            assert!(answer != Err(Code::PermissionDenied), "{role}, {about}");
            assert!(answer != Err(Code::Unauthenticated), "{role}, {about}");
        }
        let unknown = bench.run(attempt(&channel, "/quietcore.v1.SiteService/Erase"));
        let expected =
            if role == Role::Admin { Code::Unimplemented } else { Code::PermissionDenied };
        assert_eq!(unknown.unwrap_err().code(), expected, "{role}");
    }
}

/// Goal: nothing is to be had without a credential that holds, and no refusal tells more than
/// another.
#[test]
fn whoever_has_no_credential_that_holds_is_told_the_same() {
    let bench = Secured::new();
    let now = Timestamp::now();
    let earlier = now - SignedDuration::from_hours(2);
    let expired = bench.token("anna", Role::Admin, &[], 1, earlier);
    let revoked = bench.token("bert", Role::Admin, &[], 1, now);
    bench.access().revoke("bert", now).expect("it held");
    let certificate = bench.with_certificate("carl", Role::Admin, &[]);
    assert!(bench.list(&certificate).is_ok());
    bench.access().revoke("carl", now).expect("it held");
    let unknown = format!("quietcore_{}", "A".repeat(43));
    let strangers = [
        bench.with_token(&expired),
        bench.with_token(&revoked),
        bench.with_token(&unknown),
        bench.with_token("no token at all"),
    ];
    let mut told: Vec<_> = strangers.iter().map(|it| bench.list(it).unwrap_err()).collect();
    told.push(
        bench.run(attempt(&bench.channel(None), "/quietcore.v1.HostService/GetHost")).unwrap_err(),
    );
    told.push(
        bench.run(attempt(&bench.channel(None), "/grpc.health.v1.Health/Check")).unwrap_err(),
    );
    // On the connection that stands.
    told.push(bench.list(&certificate).unwrap_err());
    for refused in &told {
        assert_eq!(refused.code(), Code::Unauthenticated, "{refused:?}");
        assert_eq!(refused.message(), told[0].message());
    }
}

#[test]
fn a_certificate_that_has_expired_or_is_of_another_authority_ends_the_handshake() {
    let bench = Secured::new();
    let long_ago = Timestamp::now() - SignedDuration::from_hours(72);
    let expired = bench.certificate("anna", Role::Admin, &[], 1, long_ago);
    assert!(bench.run(attempt(&bench.channel(Some(expired)), LIST_SITES)).is_err());
    let other = Secured::new();
    let foreign = other.certificate("anna", Role::Admin, &[], 1, Timestamp::now());
    assert!(bench.run(attempt(&bench.channel(Some(foreign)), LIST_SITES)).is_err());
    let good = bench.certificate("anna", Role::Admin, &[], 1, Timestamp::now());
    bench.run(attempt(&bench.channel(Some(good)), LIST_SITES)).expect("it holds");
}

/// Goal: a trace is of its partition, and who was not granted that can't tell that there is one.
#[test]
fn a_trace_of_a_partition_that_is_not_granted_is_not_there() {
    let bench = Secured::new();
    let start = v1::StartTraceRequest {
        partition: "axis".to_owned(),
        variables: vec!["servo_P.Kp".to_owned()],
        after: 10,
        ..v1::StartTraceRequest::default()
    };
    let granted = bench.with_certificate("anna", Role::Operator, &["line/axis"]);
    let mut traces = TraceServiceClient::new(granted);
    bench.run(traces.start_trace(start.clone())).expect("it is granted");
    let mut others =
        TraceServiceClient::new(bench.with_certificate("bert", Role::Operator, &["line/tank"]));
    let list = v1::ListTracesRequest::default();
    let listed = bench.run(others.list_traces(list)).expect("it may list").into_inner();
    assert_eq!(listed.traces, []);
    for number in [1, 2] {
        let told = format!("there is no trace {number}; see which are kept with `ListTraces`");
        let refusals = [
            bench.run(others.get_trace(v1::GetTraceRequest { number })).map(drop),
            bench.run(others.fetch_trace(v1::FetchTraceRequest { number })).map(drop),
            bench.run(others.stop_trace(v1::StopTraceRequest { number })).map(drop),
            bench.run(others.delete_trace(v1::DeleteTraceRequest { number })).map(drop),
        ];
        for refused in refusals.map(Result::unwrap_err) {
            assert_eq!((refused.code(), refused.message()), (Code::NotFound, told.as_str()));
        }
    }
    let refused = bench.run(others.start_trace(start)).unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied, "{refused:?}");
    bench.run(traces.stop_trace(v1::StopTraceRequest { number: 1 })).expect("it is granted");
}

/// Goal: a grant is for its partition alone, and no other is seen.
#[test]
fn what_is_not_granted_can_neither_be_changed_nor_seen() {
    let bench = Secured::new();
    let names: Vec<String> =
        bench.site.state().partitions.iter().map(|it| it.name.clone()).collect();
    assert!(names.len() > 1 && names.contains(&"axis".to_owned()), "{names:?}");
    bench.site.state().events.push(event(3));
    let other = names.iter().find(|name| *name != "axis").expect("another one");
    let grant = format!("line/{other}");
    let channel = bench.with_certificate("anna", Role::Operator, &[&grant]);
    let mut partitions = PartitionServiceClient::new(channel.clone());
    let list = v1::ListPartitionsRequest { site: "line".to_owned() };
    let seen = bench.run(partitions.list_partitions(list)).expect("some of it is granted");
    let seen: Vec<_> = seen.into_inner().partitions.into_iter().map(|it| it.name).collect();
    assert_eq!(seen, std::slice::from_ref(other));
    let pause = |partition: &str| v1::PausePartitionRequest {
        site: String::new(),
        partition: partition.to_owned(),
    };
    bench.run(partitions.pause_partition(pause(other))).expect("it is granted");
    for partition in ["axis", "axi"] {
        let refused = bench.run(partitions.pause_partition(pause(partition))).unwrap_err();
        assert_eq!(refused.code(), Code::PermissionDenied, "{partition}: {refused:?}");
        assert!(refused.message().contains(&grant), "{refused:?}");
    }
    let mut variables = VariableServiceClient::new(channel.clone());
    let write = v1::WriteVariablesRequest {
        partition: "axis".to_owned(),
        changes: vec![v1::Change {
            kind: v1::ChangeKind::Set.into(),
            variable: "servo_P.Kp".to_owned(),
            value: Some("1".to_owned()),
            allow_nan: false,
        }],
        ..v1::WriteVariablesRequest::default()
    };
    let refused = bench.run(variables.write_variables(write)).unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied);
    let read = v1::ReadVariablesRequest {
        partition: "axis".to_owned(),
        patterns: vec!["*".to_owned()],
        ..v1::ReadVariablesRequest::default()
    };
    let refused = bench.run(variables.read_variables(read)).unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied);
    let elsewhere = bench.with_certificate("bert", Role::Admin, &["press"]);
    assert_eq!(bench.site.state().asked, [format!("pause {other}")]);
    assert_eq!(bench.list(&elsewhere).expect("it may list").sites, []);
    let request = v1::ListPartitionsRequest { site: "line".to_owned() };
    let refused =
        bench.run(PartitionServiceClient::new(elsewhere).list_partitions(request)).unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied);
}

#[test]
fn a_site_hears_who_asked_and_how_they_came_in() {
    let bench = Secured::new();
    let now = Timestamp::now();
    let token = bench.token("dashboard", Role::Engineer, &["line"], 1, now);
    let pause = || v1::PausePartitionRequest { site: String::new(), partition: "axis".to_owned() };
    // With the longest name that there is, nothing is cut.
    let anna = "anna.".repeat(NAME_BYTES_MAX / 5);
    let by_certificate = bench.with_certificate(&anna, Role::Operator, &[]);
    bench.run(PartitionServiceClient::new(by_certificate).pause_partition(pause())).expect("ok");
    let told = |bench: &Secured| {
        let by = bench.site.state().by.clone().expect("somebody has asked");
        by.to_string()
    };
    let by = told(&bench);
    assert!(by.starts_with(&format!("{anna} (operator, certificate) as ")), "{by}");
    assert!(by.contains("quietcored for tonic"), "{by}");
    let mut partitions = PartitionServiceClient::new(bench.with_token(&token));
    bench.run(partitions.pause_partition(pause())).expect("ok");
    assert!(told(&bench).starts_with("dashboard (engineer, token) as "), "{}", told(&bench));
}

/// Goal: a stream does not outlive the credential that it was opened with.
#[test]
fn a_stream_ends_when_its_credential_is_revoked() {
    let bench = Secured::new();
    let channel = bench.with_certificate("anna", Role::Viewer, &[]);
    let request = v1::SubscribeVariablesRequest {
        partition: "axis".to_owned(),
        patterns: vec!["servo_P.Kp".to_owned()],
        ..v1::SubscribeVariablesRequest::default()
    };
    let stream = bench.run(VariableServiceClient::new(channel).subscribe_variables(request));
    let mut stream = stream.expect("a viewer may").into_inner();
    assert!(bench.run(stream.message()).expect("it goes on").is_some());
    bench.access().revoke("anna", Timestamp::now()).expect("it held");
    let ended = loop {
        match bench.run(stream.message()) {
            Ok(message) => assert!(message.is_some(), "the stream ends without a reason"),
            Err(ended) => break ended,
        }
    };
    assert_eq!(ended.code(), Code::Unauthenticated);
}

#[test]
fn the_port_is_not_opened_before_there_is_an_authority() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let daemon = Daemon::new(places(folder.path())).expect("its place is free");
    let refused = daemon.listen(&["127.0.0.1:0".parse().expect("an address")]).unwrap_err();
    let told = quietcore_units::Causes(&refused).to_string();
    assert!(told.contains("make it with `quietcore auth init`"), "{told}");
}

/// Goal: whatever comes in at the port harms nobody, and takes its place for a bounded time.
#[test]
fn bytes_that_are_no_tls_and_silence_end_their_connection_alone() {
    let bench = Secured::new();
    let noise: Vec<u8> =
        (0..65_536_u32).map(|it| (it.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let plain = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    for bytes in [&noise[..], plain, b"GET / HTTP/1.1\r\n\r\n", &[0x16, 3, 1, 0xff, 0xff], &[]] {
        let mut stranger = TcpStream::connect(bench.address).expect("the port is open");
        // The daemon may hang up while it is written to.
        let _ = stranger.write_all(bytes);
        assert!(closes(&mut stranger), "{} bytes", bytes.len());
    }
    let mut gone = TcpStream::connect(bench.address).expect("the port is open");
    gone.write_all(&[0x16, 3, 1]).expect("it is open");
    gone.shutdown(Shutdown::Both).expect("it is open");
    assert!(HANDSHAKE_TIME + UNKNOWN_TIME < PATIENCE);
    assert!(bench.list(&bench.with_certificate("anna", Role::Viewer, &[])).is_ok());
}

#[test]
fn an_older_tls_is_refused() {
    let bench = Secured::new();
    // Preface of HTTP/2 with settings of no content (RFC 9113, section 3.4).
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    let read = |version| {
        let mut connection = bench.silent_connection(version);
        connection.write_all(preface)?;
        connection.read(&mut [0; 64])
    };
    let refused = read(&TLS12).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidData, "{refused:?}");
    assert!(refused.to_string().contains("ProtocolVersion"), "{refused:?}");
    assert!(read(&TLS13).is_ok_and(|count| count > 0), "the daemon answers by HTTP/2");
}

/// Goal: one address can't take all connections, and has its own back when they end.
/// Method: hold as many as it may have, and open one more. That one is closed long before the time
/// of a handshake is over; where the machine stands still for so long, try again.
#[test]
fn an_address_has_so_many_connections_and_gets_them_back() {
    let bench = Secured::new();
    let begun = Instant::now();
    let open = || TcpStream::connect(bench.address).expect("the port is open");
    loop {
        let held: Vec<_> = (0..CONNECTIONS_OF_ADDRESS_MAX).map(|_| open()).collect();
        let opened = Instant::now();
        if closes(&mut open()) && opened.elapsed() < HANDSHAKE_TIME / 2 {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "it is not closed at once");
        drop(held);
    }
    while bench.list(&bench.with_certificate("anna", Role::Viewer, &[])).is_err() {
        assert!(begun.elapsed() < 2 * PATIENCE, "the places are not given back");
        thread::sleep(Duration::from_millis(50));
    }
}

/// Goal: connections that never finish their handshake, from wherever, leave a bound number open.
/// Method: as above, from several addresses of this machine, each with fewer than it may have.
#[test]
fn only_so_many_handshakes_go_on_at_once() {
    let bench = Secured::new();
    let begun = Instant::now();
    let of_address = CONNECTIONS_OF_ADDRESS_MAX;
    let from = |number: usize| {
        let last = u8::try_from(1 + number / of_address).expect("few addresses are enough");
        bench.connect_from(Ipv4Addr::new(127, 0, 0, last))
    };
    loop {
        let held: Vec<_> = (0..HANDSHAKES_MAX).map(from).collect();
        let opened = Instant::now();
        if closes(&mut from(HANDSHAKES_MAX)) && opened.elapsed() < HANDSHAKE_TIME / 2 {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "it is not closed at once");
        drop(held);
    }
    while bench.list(&bench.with_certificate("anna", Role::Viewer, &[])).is_err() {
        assert!(begun.elapsed() < 2 * PATIENCE, "handshakes that ended are still counted");
        thread::sleep(Duration::from_millis(50));
    }
}

/// Goal: a connection that shows a good certificate, or none, and makes no call, does not stay.
#[test]
fn a_connection_without_a_call_that_was_let_in_ends() {
    let bench = Secured::new();
    let begun = Instant::now();
    let mut silent = bench.silent_connection(&TLS13);
    let mut bytes = [0; 64];
    // The daemon says how it speaks HTTP/2; then nothing comes.
    let ended = loop {
        match silent.read(&mut bytes) {
            Ok(count) if count > 0 => assert!(begun.elapsed() < PATIENCE, "it goes on"),
            ended => break ended,
        }
    };
    assert!(is_closed(&ended), "{ended:?}");
    assert!(begun.elapsed() >= UNKNOWN_TIME, "{:?}", begun.elapsed());
}

#[test]
fn a_credential_that_calls_too_often_is_held_back() {
    let bench = Secured::new();
    let channel = bench.with_certificate("anna", Role::Viewer, &[]);
    let begun = Instant::now();
    let mut many = JoinSet::new();
    let refused = loop {
        for _ in 0..CALLS_BURST {
            let channel = channel.clone();
            let call = async move { attempt(&channel, "/quietcore.v1.HostService/GetHost").await };
            many.spawn_on(call, bench.threads());
        }
        let answers = bench.run(std::mem::take(&mut many).join_all());
        if let Some(refused) = answers.into_iter().find_map(Result::err) {
            break refused;
        }
        assert!(begun.elapsed() < PATIENCE, "it goes on and on");
    };
    assert_eq!(refused.code(), Code::ResourceExhausted, "{refused:?}");
    assert!(refused.message().contains("times a second"), "{refused:?}");
    let other = bench.with_certificate("bert", Role::Viewer, &[]);
    assert!(bench.list(&other).is_ok(), "another one is not held back");
}

/// Goal: whoever tries secrets is slowed down, and nobody else behind the same address.
#[test]
fn failures_of_an_address_are_limited_and_credentials_that_hold_are_let_in() {
    let bench = Secured::new();
    let good = bench.token("anna", Role::Viewer, &[], 1, Timestamp::now());
    let stranger = bench.with_token("quietcore_guess");
    let mut codes = Vec::new();
    while !codes.contains(&Code::ResourceExhausted) {
        codes.push(bench.list(&stranger).unwrap_err().code());
        assert!(codes.len() <= 10 * FAILURES_BURST as usize, "{codes:?}");
    }
    assert!(codes.len() > FAILURES_BURST as usize, "{codes:?}");
    let before = &codes[..FAILURES_BURST as usize];
    assert!(before.iter().all(|code| *code == Code::Unauthenticated), "{codes:?}");
    assert!(bench.list(&bench.with_token(&good)).is_ok());
    assert!(bench.list(&bench.with_certificate("bert", Role::Viewer, &[])).is_ok());
}

#[test]
fn a_request_beyond_its_size_is_refused_and_the_connection_goes_on() {
    let bench = Secured::new();
    let channel = bench.with_certificate("anna", Role::Viewer, &[]);
    let mut sites = SiteServiceClient::new(channel.clone());
    let toml = "#".repeat((4 << 20) + 1);
    let refused = bench.run(sites.validate_site(v1::ValidateSiteRequest { toml })).unwrap_err();
    assert_eq!(refused.code(), Code::OutOfRange, "{refused:?}");
    assert!(bench.list(&channel).is_ok());
}

/// Returns `true` if the other end closes the connection in time.
fn closes(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(PATIENCE)).expect("it is a socket");
    let mut bytes = [0; 64];
    loop {
        match stream.read(&mut bytes) {
            Ok(count) if count > 0 => {}
            ended => return is_closed(&ended),
        }
    }
}
