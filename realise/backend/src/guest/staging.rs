//! Programs and orders on their way to a guest, whatever runs it.

use std::thread;
use std::time::Duration;

use quietcore_boot::CrashRecord;
use quietcore_clock::{Clock as _, Monotonic};
use quietcore_exchange::Region;
use quietcore_process::remark::remark;
use quietcore_program_image::Functions;
use quietcore_scan::guest::job::{GuestBuild, GuestOrder};
use quietcore_scan::process::job::{Build, Order};
use quietcore_scan::process::orders::{Orders, Taken};

use super::crash;
use super::delivery::Delivery;
use super::mail::{Attention, Mail};
use super::programs::{self, Program, Programs};

/// Longest wait for an order before the guest is looked after again.
const LOOK: Duration = Duration::from_millis(20);

/// The host's side of a guest's slots and post.
#[derive(Debug)]
pub(crate) struct Staging<A> {
    programs: Programs,
    mail: Mail<A>,
    /// Functions of the programs in the slots, to describe a crash.
    functions: [Functions; 2],
}

impl<A: Attention> Staging<A> {
    /// Puts the first program into its slot, and returns its description for the job.
    ///
    /// # Errors
    /// When it has no room there; in words.
    pub(crate) fn begin(
        programs: Programs,
        first: Program,
        build: &Build,
        mail: Mail<A>,
    ) -> Result<(Self, GuestBuild), String> {
        let placed = programs.place(&first.image, build)?;
        let mut functions = [Functions::default(), Functions::default()];
        functions[first.image.slot().index()] = first.functions;
        Ok((Self { programs, mail, functions }, placed))
    }

    /// Posts the job, encoded.
    ///
    /// # Errors
    /// When it is too long; in words.
    pub(crate) fn post(&mut self, job: &[u8]) -> Result<(), String> {
        self.mail.send(job)
    }

    /// Carries out orders until the guest is over. `each` is called between them, every 20 ms at
    /// least.
    pub(crate) fn serve(
        &mut self,
        region: Region<'_>,
        orders: &Orders,
        delivery: &Delivery,
        mut each: impl FnMut(),
        is_over: impl Fn() -> bool,
    ) {
        while !is_over() {
            each();
            self.mail.look_after(region, Monotonic.now().get());
            match orders.take(LOOK) {
                Taken::Order(Order::Deliver { build, bytes }) => {
                    let file = delivery.take(bytes);
                    if let Err(why) = file.and_then(|file| self.stage(&build, &file, region)) {
                        self.refuse(build.stage.generation, &why);
                    }
                }
                Taken::Order(Order::Stage(build)) => {
                    self.refuse(build.stage.generation, "it was not delivered");
                }
                Taken::Nothing => {}
                Taken::Unreadable(why) => remark(format_args!("this is no order: {why}")),
                // The host has gone; the process ends in a moment.
                Taken::Closed => thread::sleep(LOOK),
            }
        }
    }

    /// Puts a build, whose file has these bytes, into the free slot and orders the guest to load
    /// it.
    ///
    /// # Errors
    /// When the build can't be loaded, before the guest has heard of it; in words. A slot in which
    /// the guest runs a build, or to which it may go back, is unchanged then.
    fn stage(&mut self, build: &Build, file: &[u8], region: Region<'_>) -> Result<(), String> {
        self.mail.check_free(&build.stage, region)?;
        let program = programs::parse(file, self.programs.data()[0].bytes())?;
        // Meanwhile the guest may have gone back to the previous build.
        self.mail.check_free(&build.stage, region)?;
        let placed = self.programs.place(&program.image, build)?;
        self.functions[program.image.slot().index()] = program.functions;
        self.mail.order(&GuestOrder::Stage(placed))
    }

    /// Says why a build is refused, and makes the guest report the refusal, since only the guest
    /// writes its events.
    fn refuse(&mut self, generation: u32, why: &str) {
        remark(format_args!("build {generation} is refused: {why}"));
        self.mail.refuse(generation);
    }

    /// Describes a crash of the guest.
    pub(crate) fn crash(&self, record: &CrashRecord) -> String {
        let own = quietcore_guests::PARTITION.bytes().map(Functions::of);
        crash::words(record, &own.unwrap_or_default(), &self.functions)
    }
}
