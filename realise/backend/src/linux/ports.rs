//! The host's ends of the ports to a Linux guest: parcels in, printed text and remarks out.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use quietcore_process::remark::remark;
use quietcore_scan::process::job::{Build, Order};
use quietcore_scan::process::orders::{Orders, Taken};

use super::LinuxJob;
use super::parcel::Parcel;

/// Longest wait for an order before the guest is looked after again.
const LOOK: Duration = Duration::from_millis(20);
/// Stack of a thread that passes on what comes.
const STACK_BYTES: usize = 256 << 10;
/// Longest line of remarks that is passed on whole.
const LINE_BYTES_MAX: u64 = 4 << 10;
/// Bytes of what is printed that are taken at once.
const PRINTED_BYTES: usize = 4 << 10;

/// The host's ends of the ports, with the threads behind them.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) orders: Sender,
    pub(crate) readers: Readers,
}

/// The way of parcels into the guest. Nobody who sends waits for the guest.
#[derive(Debug)]
pub(crate) struct Sender(mpsc::Sender<Parcel>);

/// The threads that pass on what the guest says, until the guest has ended.
#[derive(Debug)]
pub(crate) struct Readers(Vec<JoinHandle<()>>);

impl Host {
    /// Starts the threads behind the ports, whose other ends are the guest's.
    ///
    /// # Errors
    /// When the operating system refuses a thread.
    pub(crate) fn over(
        orders: impl Write + Send + 'static,
        printed: impl Read + Send + 'static,
        remarks: impl Read + Send + 'static,
    ) -> io::Result<Self> {
        let (sender, parcels) = mpsc::channel();
        // It ends when the guest has, or nobody sends any more; nobody waits for it.
        started("orders", move || write_all(&parcels, orders))?;
        let printed = started("printed", move || pass_on_printed(printed))?;
        let remarks = started("remarks", move || pass_on_remarks(remarks))?;
        Ok(Self { orders: Sender(sender), readers: Readers(vec![printed, remarks]) })
    }
}

impl Sender {
    /// Sends a parcel, in its turn.
    pub(crate) fn send(&self, parcel: Parcel) {
        // The guest has ended where nobody takes it; that is said elsewhere.
        let _ = self.0.send(parcel);
    }

    /// Sends everything that the guest begins with; `threads` are the host's of its processors.
    ///
    /// # Errors
    /// When the job can't be written; in words.
    pub(crate) fn send_first(&self, job: &LinuxJob, threads: Vec<u32>) -> Result<(), String> {
        self.send(Parcel::Begin { threads });
        if let Some(program) = job.program() {
            self.send_build(&program.build);
        }
        let line = serde_json::to_vec(&*job.inner).map_err(|error| error.to_string())?;
        self.send(Parcel::Line(with_end(line)));
        Ok(())
    }

    /// Passes on the next order, if one comes in time.
    pub(crate) fn pass_on(&self, orders: &Orders) {
        match orders.take(LOOK) {
            Taken::Order(Order::Stage(build) | Order::Deliver { build, .. }) => {
                self.send_build(&build);
                match serde_json::to_vec(&Order::Stage(build)) {
                    Ok(order) => self.send(Parcel::Line(with_end(order))),
                    Err(error) => remark(format_args!("an order can't be passed on: {error}")),
                }
            }
            Taken::Nothing => {}
            Taken::Unreadable(why) => remark(format_args!("this is no order: {why}")),
            // The host has gone; the process ends in a moment.
            Taken::Closed => thread::sleep(LOOK),
        }
    }

    /// Sends the module of a build. Where it can't be read the guest finds no file, and says so.
    fn send_build(&self, build: &Build) {
        match fs::read(&build.module) {
            Ok(content) => self.send(Parcel::File { path: build.module.clone(), content }),
            Err(error) => {
                remark(format_args!("`{}` can't be read: {error}", build.module.display()));
            }
        }
    }
}

impl Readers {
    /// Waits until all is passed on that the guest has said.
    pub(crate) fn join(self) {
        for reader in self.0 {
            // A reader that panicked has said so.
            let _ = reader.join();
        }
    }
}

fn started(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES).spawn(work)
}

fn write_all(parcels: &Receiver<Parcel>, mut port: impl Write) {
    for parcel in parcels {
        if parcel.write(&mut port).is_err() {
            return;
        }
    }
}

/// Passes on what the program prints. What this process's own output has no room for is lost, as it
/// is for a program on the host.
fn pass_on_printed(mut port: impl Read) {
    let mut bytes = [0; PRINTED_BYTES];
    while let Ok(count @ 1..) = port.read(&mut bytes) {
        let _ = io::stdout().write_all(&bytes[..count]).and_then(|()| io::stdout().flush());
    }
}

fn pass_on_remarks(port: impl Read) {
    let mut port = BufReader::new(port);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut port).take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => remark(format_args!("{}", String::from_utf8_lossy(&line).trim_end())),
        }
    }
}

fn with_end(mut line: Vec<u8>) -> Vec<u8> {
    line.push(b'\n');
    line
}
