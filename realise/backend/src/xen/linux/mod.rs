//! Domains that run Linux: the partition's process runs in the domain, and is there what it is on
//! the host.
//!
//! ```text
//! supervisor ─► keeper: domain with Debian's kernel ─► /init ─► quietcore-runtime
//!     └► quietcore-runtime partition                     │
//!          │ ring `orders`, event channel: files, job ──►├──────► standard input
//!          │ rings `printed`, `remarks` ◄───────────────────────── standard outputs
//!          │ control memory: counters compared, time ───►│ the clock; its end
//!          └ exchange, channels ──────────────────────────────────► mapped through gntdev
//! ```
//!
//! All of that is granted pages. Xen runs the domain's processors on the CPUs of the partition, one
//! each; what runs on them inside is the domain's own kernel's matter.

mod host;
mod ports;

use quietcore_boot::HostPage;
use quietcore_exchange::Region;
use quietcore_microvm::devices::console::Console;
use quietcore_process::remark::remark;
use quietcore_scan::process::orders::Orders;
use quietcore_units::ByteSize;
use quietcore_xen::DomainId;

use super::channels::Channels;
use super::domain;
use super::watch::{EndWatch, watched_store};
use super::xl::Xl;
use super::{control, outcome, say_last, terminal};
use crate::guest::control::Control;
use crate::guest::introduction::{introduce, moment, now_by_host};
use crate::guest::{console, in_words};
use crate::linux::LinuxJob;
use crate::linux::ports::Host;
use ports::Area;

pub(crate) use host::surround;

/// The number of a processor's thread that no kernel has: Xen runs it.
const NO_THREAD: u32 = 0;

/// Runs a partition in a domain until it ends. `orders` are the lines that follow the job.
///
/// # Errors
/// The reason, in words, if it did not end in order.
pub(crate) fn run(
    job: &LinuxJob,
    domain: DomainId,
    is_pinned: bool,
    region: Region<'static>,
    orders: &Orders,
) -> Result<(), String> {
    let begun = now_by_host();
    let xl = Xl::find().map_err(in_words)?;
    let mut store = watched_store().map_err(in_words)?;
    let processors = host::processors(&job.setting, is_pinned);
    xl.check_affinity(domain, &processors).map_err(in_words)?;
    let bytes = Control::bytes_without_post();
    let control = control(&mut store, domain, bytes, ByteSize::new(0))?;
    let channels = job.program().map(|program| Channels::open(program, &mut store, domain));
    let channels = channels.transpose()?;
    let area = Area::open(&mut store, domain)?;
    let (console, mut lines) = Console::new().map_err(|error| format!("no console: {error}"))?;
    let collected = console::collect(console::into(console), terminal(&mut store, domain)?);
    collected.map_err(|error| format!("no thread can be started: {error}"))?;
    let (Host { orders: port, readers }, ending) = area.start()?;
    port.send_first(job, vec![NO_THREAD; processors.len()])?;
    let carrying = channels.map(Channels::start).transpose()?;
    xl.unpause(domain).map_err(in_words)?;
    let memory_bytes = domain::whole(job.setting.memory).get();
    let mut page = HostPage { memory_bytes, ..HostPage::default() };
    let mut watch = EndWatch::new(xl, domain, store);
    let mut ended = || watch.look(&control);
    let early = || ended().map(|end| end.to_string());
    let counter = match introduce(&control, early, region, begun, &mut page) {
        Ok(Some(counter)) => counter,
        Ok(None) => return Ok(()),
        Err(why) => {
            say_last(&mut lines);
            return Err(why);
        }
    };
    let end = loop {
        control.tell_time(moment(counter));
        lines.lines().iter().for_each(|line| remark(format_args!("{line}")));
        match ended() {
            Some(end) => break end,
            None => port.pass_on(orders),
        }
    };
    drop(carrying);
    ending.end();
    readers.join();
    say_last(&mut lines);
    let has_ended = region.tasks().all(|task| task.state().has_ended());
    let failed = || Some("the partition's process in the domain has failed".to_owned());
    outcome(Some(end), has_ended, failed)
}
