//! From the host page to the kernel.
// UNSAFETY: takes the memory that the host gave for what it said it is.
#![expect(unsafe_code, reason = "memory that the host shares is at addresses that it says")]

use alloc::alloc::alloc;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec;
use alloc::vec::Vec;
use core::alloc::Layout;
use core::fmt::Write as _;
use core::ptr::{self, NonNull};
use core::sync::atomic::{
    AtomicPtr, AtomicU64,
    Ordering::{Acquire, Release},
};

use quietcore_boot::places::{CHANNELS, EXCHANGE, EXCHANGE_BYTES_MAX, POST, POST_BYTES_MAX};
use quietcore_boot::post::Taker;
use quietcore_boot::{AddressRange, HostPage, port};
use quietcore_exchange::Region;
use quietcore_exchange::channel::Channel;
use quietcore_exchange::com::{KernelHost, NoKernel, Provision, Services};
use quietcore_osek::configuration::{Class, Configuration, Isr, Kind, Task};
use quietcore_osek::port::bare::Stack;
use quietcore_scan::channels::{Numbered, compare};
use quietcore_scan::guest::job::GuestJob;
use quietcore_scan::program::Fieldbus;
use quietcore_scan::stage::Room;
use quietcore_scan::watchdog::Watchdog;
use quietcore_units::{Nanos, ReleaseRule, Wake};

use crate::clock::{Clock, Followed};
use crate::pages::{PAGE_BYTES, Pages, SMALL_END, Window, cut_out, touch};
use crate::partition::board::{self, RELEASE_SOURCE, SYSTEM};
use crate::partition::calls::{self, SHELTER};
use crate::partition::kernel::{Guest, KernelCycle};
use crate::partition::loader;
use crate::partition::program::Loader;
use crate::partition::releases::Mode;
use crate::partition::state::{self, PartitionState};
use crate::partition::{CONTEXTS, LEADER, LOADER};
use crate::{devices, heap, host};

/// The stack of a task, in bytes.
const STACK_BYTES: usize = 256 << 10;
/// That of the loader, which brings up the fieldbus.
const LOADER_STACK_BYTES: usize = 1 << 20;
/// In a guest with less memory than this …
const SMALL_MEMORY: u64 = 8 << 20;
/// … a stack has so many.
const SMALL_STACK_BYTES: usize = 64 << 10;
/// The event of all tasks.
const EVENTS: u64 = 1;

/// Brings a fieldbus up by the words of the job, or says why it can't be. The last one sleeps until
/// an instant or for a shorter while.
pub type BringUp =
    fn(&[u8], Region<'static>, Clock, fn(Nanos)) -> Result<Box<dyn Fieldbus>, String>;

static BRING_UP: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());

/// Runs the partition; returns a status where it can't be run.
///
/// # Safety
/// Called once, with interrupts off, by the function that the image begins with. Nobody else takes
/// memory behind the image.
pub unsafe fn run(bring_up: BringUp) -> u8 {
    BRING_UP.store(bring_up as *mut (), Release);
    // There is no heap for its words yet.
    // SAFETY: nothing has looked at what the host wrote yet.
    let page = host::page()
        .or_else(|why| if unsafe { devices::introduce() } { host::page() } else { Err(why) });
    let page = match page {
        Ok(page) => page,
        Err(why) => {
            let _ = writeln!(host::Console, "{why}");
            return port::REFUSED;
        }
    };
    // SAFETY: as our caller promises.
    let (start, bytes) = unsafe { Pages::behind_image(page.memory_bytes) }.take_rest();
    // SAFETY: as above.
    unsafe { heap::give(start, bytes) };
    let followed = Box::leak(Box::new(Followed::new(host::time(), &page)));
    let clock = Clock::following(&page, followed);
    // SAFETY: as above.
    unsafe { board::set_up(clock) };
    let prepared = prepare(&page, clock).and_then(|contexts| {
        let stacks = stacks(&contexts, page.memory_bytes)?;
        // SAFETY: the stacks are memory of their own.
        let refused = unsafe { board::run(configuration(&contexts), &contexts, &stacks) };
        Err(format!("the guest's kernel does not start: {refused:?}"))
    });
    if let Err::<(), String>(why) = prepared {
        loader::say(&why);
    }
    port::REFUSED
}

/// Opens the state. Returns the contexts of the tasks.
fn prepare(page: &HostPage, clock: Clock) -> Result<Vec<usize>, String> {
    // SAFETY: what the host says is there; a program's places are mapped when it is loaded.
    unsafe {
        Window::Memory.map(page.memory_bytes.saturating_sub(SMALL_END as u64), take_table);
        Window::Post.map(page.job.bytes, take_table);
        Window::Exchange.map(page.exchange.bytes, take_table);
    }
    let (job, post) = take_job(page.job)?;
    let region = attach(page.exchange)?;
    map_channels(&job)?;
    let mut numbered = Numbered::default();
    for (number, channel) in job.channels.iter().enumerate() {
        let added = attach_channel(channel.place).and_then(|found| {
            compare(&found, &channel.entries)
                .and_then(|()| {
                    numbered.add(&found, channel.sends, &channel.entries, &channel.signals)
                })
                .map_err(|why| why.to_string())
        });
        added.map_err(|why| format!("channel {number}: {why}"))?;
    }
    let table = numbered.into_table(SHELTER, None, Nanos::new(board::now()));
    let table = Box::leak(Box::new(table.map_err(|why| why.to_string())?));
    let is_kernel = !job.kernel_tasks.is_empty();
    let kernel: Option<&'static KernelCycle> =
        is_kernel.then(|| &*Box::leak(Box::new(KernelCycle::new(Guest))));
    let host: &'static dyn KernelHost = kernel.map_or(&NoKernel, |kernel| kernel);
    let provision = Box::leak(Box::new(Provision { table, kernel: host }));
    let services = Box::leak(Box::new(Services::new(provision)));
    let shape = region.layout().shape;
    let rates = job
        .tasks
        .iter()
        .map(|task| (task.rate, Watchdog::new(task.watchdog, task.sensitivity).limit().get()));
    let loader = Loader {
        region,
        room: Room {
            data: shape.data_bytes as usize,
            inputs: shape.input_bytes as usize,
            outputs: shape.output_bytes as usize,
            retain: shape.retain_bytes as usize,
            tasks: job.tasks.len(),
        },
        rates: rates.collect(),
        kernel_tasks: job.kernel_tasks.clone(),
        services,
    };
    let polls = matches!(job.tasks[LEADER].wake, Wake::Spin);
    let mode = match (polls, job.is_watched) {
        (false, _) => Mode::Sleeps,
        (true, false) => Mode::Polls,
        (true, true) => Mode::PollsWatched,
    };
    board::set_mode(mode, job.is_watched, post.call_until());
    let contexts = in_order(&job);
    PartitionState::new(job, region, clock, table, kernel, loader, post).open();
    Ok(contexts)
}

/// Maps the channels of a job that was checked.
fn map_channels(job: &GuestJob) -> Result<(), String> {
    let places = || job.channels.iter().map(|channel| channel.place);
    // SAFETY: what the host says is there.
    let are_devices = unsafe { devices::map_channels(places(), take_table) };
    let are_devices = are_devices.map_err(|number| format!("channel {number} is not there"))?;
    if !are_devices {
        let ends = places().map(|place| place.address.saturating_add(place.bytes));
        let bytes = ends.max().map_or(0, |end| end.saturating_sub(CHANNELS));
        // SAFETY: as above.
        unsafe { Window::Channels.map(bytes, take_table) };
    }
    Ok(())
}

/// The contexts, the lowest first: the loader, then the tasks with long periods.
fn in_order(job: &GuestJob) -> Vec<usize> {
    let period = |context: &usize| match job.tasks[*context].release {
        ReleaseRule::Cyclic { period, .. } => period,
        ReleaseRule::Event { gap } => gap,
        // These would leave no time to those below them.
        ReleaseRule::Status { .. } | ReleaseRule::Freewheeling { .. } => Nanos::MAX,
    };
    let mut others: Vec<usize> = (1..job.tasks.len()).collect();
    others.sort_by_key(|context| core::cmp::Reverse(period(context)));
    let mut contexts = vec![LOADER];
    contexts.extend(others);
    contexts.push(LEADER);
    contexts
}

fn take_job(place: AddressRange) -> Result<(GuestJob, Taker<'static>), String> {
    let none = || "there is no job for this guest".to_string();
    if place.address != POST || place.bytes > POST_BYTES_MAX {
        return Err(none());
    }
    // SAFETY: the host says that so many bytes are there, and both sides reach them by atomics.
    let mut post = Taker::new(unsafe { words(place) }).ok_or_else(none)?;
    let bytes = post.waiting().map_err(|why| why.to_string())?.ok_or_else(none)?;
    let mut letter = vec![0; bytes];
    let taken = post.take(&mut letter).map_err(|why| why.to_string())?;
    let job = GuestJob::from_bytes(taken.unwrap_or(&[])).map_err(|why| why.to_string())?;
    Ok((job, post))
}

/// Memory that the host shares, as words.
///
/// # Safety
/// It is mapped for ever, and all reach it by atomics.
unsafe fn words(place: AddressRange) -> &'static [AtomicU64] {
    let words = place.bytes as usize / size_of::<AtomicU64>();
    // SAFETY: as our caller promises; places begin on pages, and every bit pattern is an atomic.
    unsafe {
        core::slice::from_raw_parts(ptr::with_exposed_provenance(place.address as usize), words)
    }
}

fn attach(place: AddressRange) -> Result<Region<'static>, String> {
    if place.address != EXCHANGE || place.bytes > EXCHANGE_BYTES_MAX {
        return Err("there is no exchange for this guest".to_string());
    }
    let base = NonNull::new(ptr::with_exposed_provenance_mut(place.address as usize));
    let base = base.expect("its place is not zero");
    // SAFETY: the host says that so many bytes are there; both sides reach them by atomics, but for
    // the program's variables in the data slots.
    let region = unsafe { Region::attach(base, place.bytes as usize) };
    let region = region.map_err(|why| why.to_string())?;
    touch(place.address, region.layout().bytes as u64);
    Ok(region)
}

fn attach_channel(place: AddressRange) -> Result<Channel<'static>, String> {
    debug_assert!(place.address >= CHANNELS, "the job was checked");
    let base = NonNull::new(ptr::with_exposed_provenance_mut(place.address as usize));
    let base = base.ok_or("it has no place")?;
    // SAFETY: as for the exchange; its place was checked with the job.
    let channel = unsafe { Channel::attach(base, place.bytes as usize) };
    let channel = channel.map_err(|why| why.to_string())?;
    touch(place.address, place.bytes);
    Ok(channel)
}

/// Stacks for contexts, each above a page that is no memory.
fn stacks(contexts: &[usize], memory_bytes: u64) -> Result<Vec<Stack>, String> {
    let stack = |context: &usize| {
        let bytes = match *context {
            _ if memory_bytes < SMALL_MEMORY => SMALL_STACK_BYTES,
            LOADER => LOADER_STACK_BYTES,
            _ => STACK_BYTES,
        };
        let guard = take_pages(PAGE_BYTES + bytes)?;
        // SAFETY: the page was just taken, and is given to nobody.
        unsafe { cut_out(guard, || take_pages(PAGE_BYTES)) }?;
        let (bottom, top) = (guard + PAGE_BYTES, guard + PAGE_BYTES + bytes);
        calls::guard(*context).set_stack(guard, top);
        Some(Stack { bottom, top })
    };
    let stacks: Option<Vec<Stack>> = contexts.iter().map(stack).collect();
    stacks.ok_or_else(|| "the guest has not memory enough for its stacks".to_string())
}

/// Pages of the heap, which are never given back.
pub(crate) fn take_pages(bytes: usize) -> Option<usize> {
    let layout = Layout::from_size_align(bytes, PAGE_BYTES).ok()?;
    // SAFETY: of some bytes.
    let place = unsafe { alloc(layout) };
    (!place.is_null()).then(|| place.expose_provenance())
}

/// An empty page of the heap for a table of pages, which is never given back.
pub(crate) fn take_table() -> Option<usize> {
    let page = take_pages(PAGE_BYTES)?;
    let place: *mut u8 = ptr::with_exposed_provenance_mut(page);
    // SAFETY: the page was just taken.
    unsafe { place.write_bytes(0, PAGE_BYTES) };
    Some(page)
}

/// The kernel's tables: a task for each context, and the ISR by which it goes on.
fn configuration(contexts: &[usize]) -> &'static Configuration<'static> {
    let tasks = (1..).zip(contexts).map(|(priority, context)| Task {
        entry: ENTRIES[*context],
        events: EVENTS,
        budget_ns: 0,
        inter_arrival_ns: 0,
        autostart: u32::from(*context == LOADER),
        stack_bytes: SMALL_STACK_BYTES as u32,
        priority,
        running_level: priority,
        activations: 1,
        kind: Kind::Extended,
    });
    let tasks = tasks.collect::<Vec<_>>().leak();
    static ISRS: [Isr; 1] =
        [Isr { entry: board::release, source: RELEASE_SOURCE, level: 1, category: 2 }];
    Box::leak(Box::new(Configuration {
        class: Class::Ecc1,
        tasks,
        isrs: &ISRS,
        ..Configuration::EMPTY
    }))
}

/// The functions of the contexts' tasks.
static ENTRIES: [extern "C" fn(); CONTEXTS] = [
    enter::<0>,
    enter::<1>,
    enter::<2>,
    enter::<3>,
    enter::<4>,
    enter::<5>,
    enter::<6>,
    enter::<7>,
    enter::<8>,
    enter::<9>,
    enter::<10>,
    enter::<11>,
    enter::<12>,
    enter::<13>,
    enter::<14>,
    enter::<15>,
    enter::<16>,
];

extern "C" fn enter<const CONTEXT: usize>() {
    board::begin_task(CONTEXT);
    match CONTEXT {
        LEADER => state::lead(),
        LOADER => {
            // SAFETY: `run` made the pointer from such a function.
            let bring_up =
                unsafe { core::mem::transmute::<*mut (), BringUp>(BRING_UP.load(Acquire)) };
            loader::serve(bring_up)
        }
        other => state::follow(other),
    }
    board::end_task(CONTEXT);
    let _ = SYSTEM.terminate_task();
}
