//! The peer `ethercrab` with its own network task, as its examples run it.
//!
//! Task and application share a thread and an executor, which spares the peer the way from one
//! thread to another. The thread sleeps between its blocks.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use ethercrab::std::{ethercat_now, tx_rx_task};
use ethercrab::{MainDevice, MainDeviceConfig, PduStorage, Timeouts};
use futures_lite::future;
use quietcore_clock::{Clock as _, Monotonic};

use crate::cores::{Cores, pin};
use crate::ethercat::echo::Far;
use crate::ethercat::{Side, own};

/// Frames that may be out at once, and the bytes of each.
const FRAMES: usize = 16;
const FRAME_DATA: usize = PduStorage::element_size(1100);
const SUBDEVICES: usize = 16;
const PROCESS_DATA_BYTES: usize = 256;

static STORAGE: PduStorage<FRAMES, FRAME_DATA> = PduStorage::new();

/// The thread that it runs in.
pub(super) struct Crab {
    orders: Sender<usize>,
    trips: Receiver<Result<Vec<u64>, String>>,
    _far: Far,
}

impl Crab {
    /// At OP over a pair of interfaces.
    pub(super) fn new(cores: Cores) -> Result<Self, String> {
        let far = Far::start("crab", cores.other_cpu, own::serve)?;
        let (orders, ordered) = channel();
        let (answer, trips) = channel();
        thread::spawn(move || {
            let outcome = pin(cores.cpu).and_then(|()| work(&ordered, &answer));
            if let Err(problem) = outcome {
                // Nobody listens when the comparison has ended.
                let _ = answer.send(Err(problem));
            }
        });
        let crab = Self { orders, trips, _far: far };
        // The first answer says that it stands ready.
        crab.answer()?;
        Ok(crab)
    }

    fn answer(&self) -> Result<Vec<u64>, String> {
        let answer = self.trips.recv().map_err(|_| "its thread has ended".to_owned());
        answer.and_then(|answer| answer).map_err(|problem| format!("ethercrab: {problem}"))
    }
}

impl Side for Crab {
    fn block(&mut self, cycles: usize) -> Result<Vec<u64>, String> {
        self.orders.send(cycles).map_err(|_| "ethercrab: its thread has ended".to_owned())?;
        self.answer()
    }
}

fn work(orders: &Receiver<usize>, answer: &Sender<Result<Vec<u64>, String>>) -> Result<(), String> {
    let text = |error: &dyn std::fmt::Debug| format!("{error:?}");
    let (tx, rx, pdu_loop) = STORAGE.try_split().map_err(|error| text(&error))?;
    // Patient, since a busy machine is no fault of the peer's.
    let timeouts = Timeouts {
        pdu: Duration::from_millis(200),
        eeprom: Duration::from_secs(2),
        mailbox_echo: Duration::from_secs(2),
        mailbox_response: Duration::from_secs(2),
        state_transition: Duration::from_secs(10),
        ..Timeouts::default()
    };
    let main_device = MainDevice::new(pdu_loop, timeouts, MainDeviceConfig::default());
    let network = tx_rx_task("crab", tx, rx).map_err(|error| text(&error))?;
    let network = async { network.await.map(drop).map_err(|error| text(&error)) };
    let application = async {
        let group = main_device
            .init_single_group::<SUBDEVICES, PROCESS_DATA_BYTES>(ethercat_now)
            .await
            .map_err(|error| text(&error))?;
        let group = group.into_op(&main_device).await.map_err(|error| text(&error))?;
        let mut trips = Vec::new();
        // A block begins when it is asked for; until then nothing of this thread needs to run.
        while answer.send(Ok(std::mem::take(&mut trips))).is_ok()
            && let Ok(cycles) = orders.recv()
        {
            for _ in 0..cycles {
                let begin = Monotonic.now();
                let outcome = group.tx_rx(&main_device).await;
                let end = Monotonic.now();
                if outcome.is_ok() {
                    trips.push((end - begin).get());
                }
            }
        }
        Ok::<(), String>(())
    };
    async_io::block_on(future::or(application, network))
}
