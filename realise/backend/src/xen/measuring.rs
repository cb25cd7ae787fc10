//! A domain of Xen that measures: the image of a probe in the place of a partition's, with the same
//! granted memory.

use quietcore_boot::xen::DOORBELL;
use quietcore_boot::{HostPage, Moment};
use quietcore_exchange::Region;
use quietcore_microvm::devices::console::Console;
use quietcore_probe::guest::hypervisor::{Hypervisor, Look, ProbeGuest};
use quietcore_probe::guest::runner::{GuestError, GuestFacts};
use quietcore_probe::measurement::OpenExchange;
use quietcore_process::thread::Standing;
use quietcore_xen::{DomainId, EventChannel, Store};

use super::domain::whole;
use super::watch::{End, EndWatch, watched_store};
use super::xl::Xl;
use super::{XenInterior, control, terminal};
use crate::guest::control::Control;
use crate::guest::introduction::{host_page, introduce, now_by_host};
use crate::guest::{console, in_words};
use crate::measuring::guest::{NO_CODE, Said, judge, post, watch};

/// Instructions of waiting that stay in a domain: Xen takes all of them.
const GRANTED: &str = "none";

/// A domain that waits for its first instruction.
struct Waiting {
    xl: Xl,
    store: Store,
    domain: DomainId,
    control: Control,
    /// An instant before the guest begins, by the host's counter.
    begun: Moment,
    /// The host's end of the channel that the guest asks for; nothing is called through it.
    _doorbell: EventChannel,
    said: Said,
}

impl Hypervisor for XenInterior {
    fn run(
        &self,
        guest: &ProbeGuest<'_>,
        exchange: &OpenExchange<'_>,
        look: Look<'_>,
    ) -> Result<GuestFacts, GuestError> {
        let region = exchange.region;
        let waiting = Waiting::new(self).map_err(GuestError::Other)?;
        post(&waiting.control, guest.job)?;
        waiting.run(host_page(whole(self.setting.memory), region), guest, region, look)
    }
}

impl Waiting {
    /// Gives the domain all that its guest looks for.
    fn new(interior: &XenInterior) -> Result<Self, String> {
        let (begun, domain) = (now_by_host(), interior.domain());
        let xl = Xl::find().map_err(in_words)?;
        let mut store = watched_store().map_err(in_words)?;
        xl.check_affinity(domain, &[interior.setting.cpus]).map_err(in_words)?;
        let control = control(&mut store, domain, Control::bytes(NO_CODE), NO_CODE)?;
        let doorbell =
            EventChannel::open(domain).map_err(|error| format!("no event channel: {error}"))?;
        let port = doorbell.port().to_string();
        store.write(&domain.path(DOORBELL), &port).map_err(in_words)?;
        let (console, lines) = Console::new().map_err(|error| format!("no console: {error}"))?;
        let terminal = terminal(&mut store, domain)?;
        let collected = console::collect(console::into(console), terminal);
        collected.map_err(|error| format!("no thread can be started: {error}"))?;
        let said = Said::new(lines);
        Ok(Self { xl, store, domain, control, begun, _doorbell: doorbell, said })
    }

    /// Runs the guest to its end, with this host page, in which the time is missing.
    fn run(
        self,
        mut page: HostPage,
        guest: &ProbeGuest<'_>,
        region: Region<'_>,
        look: Look<'_>,
    ) -> Result<GuestFacts, GuestError> {
        let Self { xl, store, domain, control, begun, mut said, .. } = self;
        xl.unpause(domain).map_err(|error| GuestError::Other(in_words(error)))?;
        let mut end_watch = EndWatch::new(xl, domain, store);
        let mut ended = || end_watch.look(&control);
        let early = || ended().map(|end| end.to_string());
        let counter_hertz = match introduce(&control, early, region, begun, &mut page) {
            Ok(Some(counter)) => counter.hertz(),
            Ok(None) => {
                let how = "was told to end before it began".to_owned();
                return Err(GuestError::Ended { how, said: said.all() });
            }
            Err(why) => return Err(GuestError::Other(with_words(&why, &said.all()))),
        };
        let end = watch(region, guest.takes, look, || {
            said.listen();
            ended()
        });
        let status = match end {
            Some(End::Told(status)) => Some(status),
            Some(End::Seen(_)) | None => None,
        };
        let otherwise = || match end {
            Some(end) => format!("ended unexpectedly: {end}"),
            None => "did not end in time".to_owned(),
        };
        judge(status, region, &control, otherwise, said.all())?;
        Ok(GuestFacts {
            exits: None,
            granted: GRANTED.to_owned(),
            counter_hertz,
            board: None,
            // Xen runs its processor, and no thread of this kernel does.
            standing: Standing::default(),
        })
    }
}

fn with_words(why: &str, said: &str) -> String {
    let said = crate::process::on_one_line(said);
    if said.is_empty() { why.to_owned() } else { format!("{why}; it said: {said}") }
}
