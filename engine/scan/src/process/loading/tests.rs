//! Functions of a program that don't return.
//!
// UNSAFETY: calls a function that never returns, as a program would be.

use std::os::fd::IntoRawFd as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use quietcore_clock::Monotonic;
use quietcore_exchange::Shape;
use quietcore_exchange::channel::Entry;
use quietcore_exchange::com::{ComStatus, ComTable, NoKernel, Provision};
use quietcore_process::channel::ChannelMemory;
use quietcore_process::exchange::Exchange;
use quietcore_process::module::DataImage;

use super::*;
use crate::process::channels::Channels;
use crate::process::compiled::compiled;
use crate::process::job::{ChannelEntry, ChannelJob};
use crate::process::watchman;

const QUEUE: ChannelEntry = ChannelEntry::Queue { message_bytes: 4, slots: 2 };

static TABLE: OnceLock<&ComTable<'static>> = OnceLock::new();

extern "C" fn receive_for_ever(_: u32) {
    let table = TABLE.get().unwrap();
    let (mut buffer, mut bytes) = ([0; 4], 0);
    loop {
        table.receive_message(0, &mut buffer, &mut bytes);
    }
}

/// Goal: a program that loops on a queue leaves it usable for the build after it.
/// Method: it does little else, so most looks of the watchman fall into its use of the queue.
#[test]
fn a_program_that_is_ended_while_it_receives_leaves_the_queue_free() {
    prepare().unwrap();
    let memory = ChannelMemory::create(&[Entry::from(QUEUE)]).unwrap();
    let descriptor = memory.file().unwrap().into_raw_fd();
    let (name, entries, signals) = ("loop".to_owned(), [QUEUE].into(), [0].into());
    let device = None;
    let job = ChannelJob { name, descriptor, device, sends: false, entries, signals };
    let table = TABLE.get_or_init(|| Channels::open(&[job], true).unwrap().table());
    let watched = [watched_loader(Nanos::from_millis(1))];
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| watchman::watch(&Monotonic, &watched, &done));
        let ends = [(); 20].map(|()| {
            // SAFETY: while a frame of it owns something it is in shelter.
            let ended = unsafe { watched[0].guard.call(receive_for_ever, 0, None) };
            (ended, table.receive_message(0, &mut [0; 4], &mut 0))
        });
        done.store(true, Ordering::Relaxed);
        for (ended, status) in ends {
            assert!(ended.unwrap_err().is_cancelled());
            assert_eq!(status, ComStatus::QueueEmpty);
        }
    });
}

/// The limit of a function that never returns.
const SHORT: Nanos = Nanos::from_millis(20);
/// The limit of one that ends by itself.
const LONG: Nanos = Nanos::from_secs(10);

/// Loads a small module whose `initialize` is this function, and returns why it is refused, with
/// what is told of it. None of its functions may take longer than `limit`.
fn load_with(initialize: &str, limit: Nanos) -> (Result<(), String>, Vec<Happening>) {
    prepare().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let shape = Shape { data_bytes: 4096, event_slots: 64, ..Shape::of_tasks(1) };
    let exchange = Exchange::create(&shape).unwrap();
    let watched: Arc<[Watched]> = [watched_loader(limit)].into();
    let (region, file) = (exchange.region(), exchange.file().unwrap());
    let channels = Channels::open(&[], true).unwrap();
    let services = Provision { table: channels.table(), kernel: &NoKernel };
    let services = Services::new(&services);
    let loader = Loader {
        memory: &file.into(),
        region,
        room: Room { data: 4096, inputs: 0, outputs: 0, retain: 0, tasks: 1 },
        rates: &[0],
        watched: Arc::clone(&watched),
        kernel_tasks: &[],
        services: &services,
    };
    let module = compiled(folder.path(), "endless.c", &std::format!("-DINITIALIZE={initialize}"));
    let stage = Stage { generation: 7, ..Stage::default() };
    let image = DataImage { address: 0, bytes: 0 };
    let (done, mut events) = (AtomicBool::new(false), region.event_writer(1).unwrap());
    let loaded = std::thread::scope(|scope| {
        scope.spawn(|| watchman::watch(&Monotonic, &watched, &done));
        let build = job::Build { module, image, stage, values: [].into() };
        let loaded = loader.load(&build, &mut events);
        let loaded = loaded.map(drop).map_err(|refusal| refusal.to_string());
        done.store(true, Ordering::Relaxed);
        loaded
    });
    (loaded, region.events(1).unwrap().drain().map(|event| event.what).collect())
}

/// Goal: no function of a program can stop the thread that loads builds.
/// Method: one that never returns stands for each of them in a small module.
#[test]
fn an_endless_initialize_is_refused_and_an_endless_terminate_ended() {
    let (endless, told) = load_with("endless", SHORT);
    let why = endless.unwrap_err();
    assert!(why.starts_with("`initialize` of build 7 did not return within 20.0 ms"), "{why}");
    let [Happening::InitializeLooped { generation: 7, instruction, in_library: false, .. }] =
        told[..]
    else {
        panic!("{told:?}")
    };
    assert_ne!(instruction, 0);
    assert_eq!(load_with("good", SHORT), (Ok(()), [].into()), "and its `terminate` has been ended");
}

#[test]
fn a_crash_in_initialize_is_told_with_its_build_and_place() {
    for (initialize, at, is_placed_in_library) in
        [("crash", 0x40, false), ("crash_in_library", 0, true)]
    {
        let (refused, told) = load_with(initialize, LONG);
        let why = refused.unwrap_err();
        assert!(why.starts_with("`initialize` of build 7 crashed: signal 11"), "{why}");
        let [what @ Happening::InitializeCrashed { instruction, .. }] = told[..] else {
            panic!("{told:?}")
        };
        assert_ne!(instruction, 0, "{initialize}");
        let (generation, signal, address, in_library) = (7, 11, at, is_placed_in_library);
        assert_eq!(
            what,
            Happening::InitializeCrashed { generation, signal, address, instruction, in_library }
        );
    }
}
