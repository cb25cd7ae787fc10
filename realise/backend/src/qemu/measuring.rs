//! A guest of QEMU that measures: the image of a probe in the place of a partition's, with the same
//! devices.

use quietcore_probe::guest::hypervisor::{Hypervisor, Look, ProbeGuest};
use quietcore_probe::guest::runner::{GuestError, GuestFacts};
use quietcore_probe::measurement::OpenExchange;
use quietcore_process::setting as settings;
use quietcore_process::thread::{Standing, prepare_other};
use quietcore_record::reason::NotInForce;
use quietcore_site::Accelerator;
use quietcore_units::{CpuId, CpuSet, MemoryLock, Scheduling, ThreadRequest, ThreadSetting};

use super::board::{BoardToCome, ClockBoard};
use super::doorbell::Doorbell;
use super::emulator::{self, Emulator, Parts, status_of_guest};
use super::monitor::{Monitor, MonitorError};
use super::network::Network;
use super::{End, QemuInterior, image_file, may_lock_much};
use crate::guest::console::into;
use crate::guest::control::Control;
use crate::guest::in_words;
use crate::guest::introduction::{host_page, introduce, now_by_host};
use crate::measuring::guest::{NO_CODE, Said, judge, post, watch};
use quietcore_microvm::devices::console::Console;

/// Instructions of waiting that stay in a guest: QEMU grants none unless it is asked to.
const GRANTED: &str = "none";

/// A guest that waits for its first instruction.
struct Waiting {
    emulator: Emulator,
    monitor: Monitor,
    control: Control,
    /// Server of the control memory's device, which QEMU misses if it goes.
    doorbell: Doorbell,
    said: Said,
    standing: Standing,
    thread: u32,
    network: Option<Network>,
}

impl Hypervisor for QemuInterior {
    fn carries_frames(&self) -> bool {
        true
    }

    fn has_boards(&self) -> bool {
        true
    }

    fn run(
        &self,
        guest: &ProbeGuest<'_>,
        exchange: &OpenExchange<'_>,
        look: Look<'_>,
    ) -> Result<GuestFacts, GuestError> {
        let (begun, region) = (now_by_host(), exchange.region);
        let waiting = Waiting::new(self, guest, exchange).map_err(GuestError::Other)?;
        let Waiting { mut emulator, mut monitor, control, doorbell, mut said, .. } = waiting;
        let (mut standing, thread) = (waiting.standing, waiting.thread);
        if let Some(network) = waiting.network {
            serve(network, &emulator, &guest.thread).map_err(GuestError::Other)?;
        }
        post(&control, guest.job)?;
        monitor.resume().map_err(|error| GuestError::Other(in_words(error)))?;
        let early = || emulator.ended().map(|status| format!("QEMU ended: {status}"));
        let mut page = host_page(self.setting.memory, region);
        let board = guest.board.map(|request| BoardToCome::new(&control, &mut page, request));
        let introduced = introduce(&control, early, region, begun, &mut page);
        let Some(counter) = introduced.map_err(GuestError::Other)? else {
            let how = "was told to end before it began".to_owned();
            return Err(GuestError::Ended { how, said: said.all() });
        };
        let board = board.map(|board| board.start(&control, &doorbell, counter));
        let mut board = board.transpose().map_err(GuestError::Other)?;
        // Whether it is granted was tried before.
        let _ = settings::schedule_other(thread, guest.thread.scheduling);
        let process = emulator.main_thread();
        let ended = || {
            said.listen();
            board.iter_mut().for_each(ClockBoard::look);
            standing.look_again_at(process, thread);
            match emulator.ended() {
                Some(status) => Some(End::Ended(status)),
                None => monitor.has_stopped().then_some(End::Stopped),
            }
        };
        let end = watch(region, guest.takes, look, ended);
        emulator.end();
        let status = match end {
            Some(End::Ended(status)) => status_of_guest(status),
            Some(End::Stopped) | None => None,
        };
        let otherwise = || match end {
            Some(End::Ended(status)) => format!("ended unexpectedly with QEMU: {status}"),
            Some(End::Stopped) => "was stopped by QEMU, and can't be run any further".to_owned(),
            None => "did not end in time".to_owned(),
        };
        judge(status, region, &control, otherwise, said.all())?;
        Ok(GuestFacts {
            exits: None,
            granted: GRANTED.to_owned(),
            counter_hertz: counter.hertz(),
            board: board.map(|board| board.counts_in_words()),
            standing,
        })
    }
}

impl Waiting {
    /// Starts QEMU, and makes the thread of the guest's processor what was asked for; its policy is
    /// taken back until the guest has begun, which waits for this thread and may share its CPU.
    fn new(
        interior: &QemuInterior,
        guest: &ProbeGuest<'_>,
        exchange: &OpenExchange<'_>,
    ) -> Result<Self, String> {
        let accelerator = interior.setting.accelerator;
        // Locked, the translations of an emulated processor would take a gigabyte.
        let locks = accelerator == Accelerator::Kvm && guest.thread.memory != MemoryLock::Unasked;
        let locked =
            if locks { settings::lock_memory().and_then(|()| may_lock_much()) } else { Ok(()) };
        let (console, lines) = Console::new().map_err(|error| format!("no console: {error}"))?;
        let control = Control::create(NO_CODE).map_err(in_words)?;
        let (doorbell, doorbell_end) =
            Doorbell::new(control.file()).map_err(|error| format!("no doorbell: {error}"))?;
        let (mut monitor, monitor_end) =
            Monitor::new().map_err(|error| format!("no monitor: {error}"))?;
        let network = guest.network.map(|network| Network::of_line(&network.line));
        let (network, network_end) = network.transpose()?.unzip();
        let parts = Parts {
            accelerator,
            memory: interior.setting.memory,
            locks: locks && locked.is_ok(),
            image: image_file(guest.image)?,
            doorbell: doorbell_end,
            monitor: monitor_end,
            network: network_end,
            card: None,
            exchange: exchange
                .file
                .try_clone()
                .map_err(|error| format!("the exchange: {error}"))?,
            channels: Vec::new(),
        };
        let cpu = guest.thread.cpu();
        let elsewhere = cpu.and_then(|cpu| emulator::others(&CpuSet::from_iter([cpu])));
        let mut emulator = Emulator::start(emulator::command(parts)?, elsewhere, into(console))?;
        let thread = monitor.greet().and_then(|()| monitor.processor_thread());
        let thread = thread.map_err(|error| not_understood(&mut emulator, error))?;
        let prepared = prepare_other(thread, &guest.thread);
        let mut standing = prepared.standing_of(emulator.main_thread(), thread);
        let refused = locked.err();
        let refused = refused.map(|error| NotInForce::refused(ThreadSetting::MemoryLock, &error));
        standing.degraded.extend(refused);
        // A thread may always ask for less.
        let _ = settings::schedule_other(thread, Scheduling::Other);
        let said = Said::new(lines);
        Ok(Self { emulator, monitor, control, doorbell, said, standing, thread, network })
    }
}

/// Starts the thread that carries the frames of a guest whose processor `request` is for.
fn serve(network: Network, emulator: &Emulator, request: &ThreadRequest) -> Result<(), String> {
    network.start(request.cpu().map(CpuId::get), request.scheduling)?;
    // Where it may run anywhere, it leaves QEMU's other threads a CPU.
    if let Some(cpu) = request.cpu() {
        emulator.lift(&CpuSet::from_iter([cpu]), request.scheduling);
    }
    Ok(())
}

/// Ends a QEMU that is not understood; returns why, with what it has said itself.
fn not_understood(emulator: &mut Emulator, error: MonitorError) -> String {
    emulator.end();
    let (why, said) = (in_words(error), emulator.said());
    if said.is_empty() { why } else { format!("{why}; QEMU said: {said}") }
}
