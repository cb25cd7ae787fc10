//! `quietcore up`

mod background;

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use quietcore_host::Facts;
use quietcore_record::verdict::thousands;
use quietcore_settings::RequestedSettings;
use quietcore_site::Site as SiteFile;
use quietcore_supervisor::control::{Activity, EventLine, PartitionState, Restart};
use quietcore_supervisor::live::{Plan, Running};
use quietcore_supervisor::places::{Places, StartedBy};
use quietcore_units::Causes;
use quietcore_wording::plural;

use super::timing::Timing;
use crate::arguments::Up;
use crate::command;
use crate::files;
use crate::machine;
use crate::status::{Failure, Status};
use crate::terminal::visible;

/// Time between two looks at the site.
const LOOK: Duration = Duration::from_millis(100);
/// Looks between two redrawings of the status.
const DRAW_EVERY: u32 = 5;
/// Looks in a row that find nothing running before the site counts as ended.
const ENDED_LOOKS: u32 = 5;

pub(in crate::command) fn run(request: &Up) -> Result<Status, Failure> {
    if request.detach {
        return background::run(request);
    }
    let started_by = StartedBy::this_process();
    if request.detached {
        background::leave_terminal();
    }
    let stop = machine::stop_flag()?;
    let file = files::read_site(&request.site)?;
    let facts = facts_for(&file.site);
    let degraded = command::plan::make_run(&file.site, &facts)?;
    command::plan::remark_site(&file.site, &degraded);
    let name = file.site.name().to_owned();
    let controls = machine::controls(!RequestedSettings::of(&file.site).is_empty())?;
    let plan = Plan {
        site: Arc::new(file.site),
        site_file: request.site.clone(),
        runtime: files::runtime()?,
        start: match (request.cold, request.origin) {
            (_, true) => Restart::Origin,
            (true, _) => Restart::Cold,
            _ => Restart::Warm,
        },
        controls,
        started_by,
    };
    let awake = machine::hold_awake();
    let places = Places::of_environment()?;
    let running = Running::up(plan, &places, &mut |line| crate::terminal::say(line))?;
    crate::terminal::say(format_args!("{name}: up; {}", how_to_end(request)));
    let log =
        request.detached.then(|| background::Log::of(&places, &name, &request.site)).transpose()?;
    let partitions = stay(&running, request, &stop, log.as_ref());
    let timing = timing_of(&running, &partitions);
    for left in running.down() {
        crate::terminal::say(left);
    }
    drop(awake);
    crate::terminal::say(format_args!("{name}: down"));
    let lines: String =
        timing.lines(crate::terminal::width()).iter().map(|line| format!("{line}\n")).collect();
    if let Some(because) = Facts::why_time_is_not_real_now() {
        crate::terminal::say(format_args!(
            "timing not valid: this machine's time is emulated ({because})"
        ));
    }
    partitions.iter().filter_map(trouble).for_each(crate::terminal::say);
    command::print(&lines)?;
    // A guest without a program is a system of its own, which somebody may have switched off.
    let is_switched_off =
        |it: &PartitionState| request.until_stopped && !it.has_program() && has_ended(it);
    let is_well = |it: &PartitionState| it.state == Activity::Running || is_switched_off(it);
    let well = partitions.iter().all(|it| is_well(it) && trouble(it).is_none());
    Ok(if well { Status::Done } else { Status::NotPassed })
}

/// Reads the facts that decide whether this site can run. A guest is tried only if the site has
/// any: that takes a moment, and seconds if guests are interpreted.
fn facts_for(site: &SiteFile) -> Facts {
    let mut facts = Facts::read_quickly();
    if site.has_guests_under_kvm() {
        facts.try_guests();
    }
    facts
}

fn how_to_end(request: &Up) -> String {
    match request.duration {
        Some(duration) => format!("it comes down after {duration}"),
        None if request.detached => "end it with `quietcore down`".to_owned(),
        None => "Ctrl-C brings it down".to_owned(),
    }
}

/// Returns what went wrong with a partition while its site was up, beyond its figures; `None` if
/// nothing did.
fn trouble(partition: &PartitionState) -> Option<String> {
    let PartitionState { name, state, faults, absent_cycles: absent, .. } = partition;
    let mut parts = Vec::new();
    if let Some(last) = &faults.last {
        let s = plural(u64::from(faults.count));
        let cycle =
            last.cycle.map_or_else(String::new, |it| format!(", in cycle {}", thousands(it)));
        parts.push(format!("{} fault{s}, the last{cycle}: {}", faults.count, last.why));
        if !matches!(state, Activity::Running) {
            parts.push("no step has been run since".to_owned());
        }
    }
    if *absent > 0 {
        let s = plural(*absent);
        parts.push(format!("{} release{s} never came and count as missed", thousands(*absent)));
    }
    (!parts.is_empty()).then(|| visible(&format!("{name}: {}", parts.join("; "))))
}

/// Shows events and status until the site is to end, and returns the partitions' states at that
/// time.
fn stay(
    running: &Running,
    request: &Up,
    stop: &AtomicBool,
    log: Option<&background::Log>,
) -> Vec<PartitionState> {
    let end = request.duration.map(|for_| Instant::now() + Duration::from_nanos(for_.get()));
    let site = running.site();
    let show = Show::new();
    let mut next_event = 0;
    let (mut looks, mut ended_looks): (u32, u32) = (0, 0);
    loop {
        for event in site.events(next_event) {
            next_event = event.sequence.saturating_add(1);
            show.say(&event_line(&event));
        }
        log.inspect(|log| log.keep_short());
        let partitions = site.partitions().partitions;
        if looks.is_multiple_of(DRAW_EVERY) {
            show.status(&partitions);
        }
        looks = looks.wrapping_add(1);
        // Without an end they stay to be looked at and started again.
        let all =
            |is: fn(&PartitionState) -> bool| !partitions.is_empty() && partitions.iter().all(is);
        ended_looks = if all(is_given_up) { ended_looks + 1 } else { 0 };
        // One that was just started anew after a fault may still show it.
        let is_over =
            request.until_stopped && ended_looks >= ENDED_LOOKS || end.is_some() && all(has_ended);
        let asked = stop.load(Ordering::Relaxed) || running.is_asked_down();
        if asked || is_over || end.is_some_and(|end| Instant::now() >= end) {
            show.clear();
            if is_over {
                crate::terminal::say("no partition runs, and none is started again");
            }
            return partitions;
        }
        thread::sleep(LOOK);
    }
}

/// Returns `true` if nothing of a partition is left, and nothing starts it again.
fn has_ended(partition: &PartitionState) -> bool {
    matches!(partition.state, Activity::Stopped { .. })
}

/// Returns `true` also if its process only holds its outputs, in a fault that nothing ends.
fn is_given_up(partition: &PartitionState) -> bool {
    has_ended(partition) || matches!(partition.state, Activity::Fault { .. })
}

/// Returns the timing of all partitions; prints which can't be read.
fn timing_of(running: &Running, partitions: &[PartitionState]) -> Timing {
    let mut timing = Timing::default();
    for partition in partitions.iter().filter(|partition| partition.has_program()) {
        match running.open(&partition.name) {
            Ok((opened, file)) => {
                if let Err(error) = timing.add(opened, file, partition.absent_cycles) {
                    crate::terminal::say(format_args!("{}: {}", partition.name, Causes(&error)));
                }
            }
            Err(error) => crate::terminal::say(format_args!("no timing: {}", Causes(&error))),
        }
    }
    timing
}

fn event_line(event: &EventLine) -> String {
    let at = event.at.parse::<jiff::Timestamp>();
    let time = at.map_or_else(|_| event.at.clone(), |at| at.strftime("%H:%M:%S%.3fZ").to_string());
    let sign = super::events::sign(event.severity);
    let cycle =
        event.cycle.map_or_else(String::new, |cycle| format!(" cycle {}", thousands(cycle)));
    visible(&format!("{time} {sign} {}{cycle}: {}", event.partition, event.text))
}

/// A status line on a terminal that is always up to date.
struct Show {
    bar: ProgressBar,
    terminal: bool,
}

impl Show {
    fn new() -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = if terminal { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{wide_msg}");
        bar.set_style(style.expect("the template has known keys only"));
        Self { bar, terminal }
    }

    fn say(&self, line: &str) {
        if self.terminal {
            self.bar.println(crate::terminal::fitting_errors(line));
        } else {
            crate::terminal::say(line);
        }
    }

    fn status(&self, partitions: &[PartitionState]) {
        self.bar.set_message(status_line(partitions));
        self.bar.tick();
    }

    fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

fn status_line(partitions: &[PartitionState]) -> String {
    let one = |partition: &PartitionState| match &partition.state {
        Activity::Running if partition.has_program() => {
            let mut text = format!(
                "{} {} cycles, worst {}",
                partition.name,
                thousands(partition.cycles),
                partition.release_max
            );
            for (count, what) in
                [(partition.missed_cycles, "missed"), (partition.overruns, "overruns")]
            {
                if count > 0 {
                    text.push_str(&format!(", {} {what}", thousands(count)));
                }
            }
            text
        }
        other => format!("{} {}", partition.name, other.word()),
    };
    let all: Vec<String> = partitions.iter().map(one).collect();
    visible(&all.join(" │ "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use quietcore_supervisor::control::{Faults, LastFault};
    use quietcore_supervisor::fake;

    #[test]
    fn a_partition_that_stood_still_or_was_at_fault_is_told() {
        let [mut axis, mut tank] = <[_; 2]>::try_from(fake::partitions()).unwrap();
        assert_eq!(trouble(&axis), None);
        axis.absent_cycles = 201;
        let told = "axis: 201 releases never came and count as missed";
        assert_eq!(trouble(&axis).as_deref(), Some(told));
        let last = LastFault { why: "SIGSEGV in `tank_step`".to_owned(), cycle: Some(174) };
        tank.faults = Faults { count: 1, last: Some(last) };
        let told = "tank: 1 fault, the last, in cycle 174: SIGSEGV in `tank_step`; no step has \
                    been run since";
        assert_eq!(trouble(&tank).as_deref(), Some(told));
        tank.state = Activity::Running;
        let told = "tank: 1 fault, the last, in cycle 174: SIGSEGV in `tank_step`";
        assert_eq!(trouble(&tank).as_deref(), Some(told), "it was started again");
    }

    #[test]
    fn events_and_status_fit_a_line() {
        assert_eq!(
            event_line(&fake::event(3)),
            "20:15:03.250Z ! axis cycle 12: overrun 3: 1.2 ms of 1 ms"
        );
        let odd = EventLine { at: "soon".into(), text: "a\nb\x1b".into(), ..fake::event(3) };
        assert_eq!(event_line(&odd), "soon ! axis cycle 12: a | b\u{fffd}");
        assert_eq!(
            status_line(&fake::partitions()),
            "axis 61\u{202f}234 cycles, worst 187 µs, 2 overruns │ tank waiting"
        );
    }
}
