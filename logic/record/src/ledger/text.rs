//! The kernel's trace as text (`trace` of tracefs), read into events.
//!
//! ```text
//!           task-0-812     [001] d.h2.  9056.123456: local_timer_entry: vector=236
//!           <idle>-0       [001] d..2.  9056.123460: sched_switch: prev_comm=… ==> next_comm=…
//!           <idle>-0       [001] d.h4.  9056.123459: <stack trace>
//!  => try_to_wake_up
//! ```
//!
//! Names of threads are anybody's: they may hold spaces, brackets and signs. A header is found by
//! its shape, which is longer than a name can be, and fields by their keys from the end. Lines that
//! have no such shape are passed over; no text makes it fail. Instants have steps of 1 µs.

use super::event::{Event, Frame, Happening, Thread};

/// The most lines that are read; the last ones count, which are those before the trace stopped.
pub const LINES_MAX: usize = 65_536;
/// The most functions of a stack that are kept.
const STACK_MAX: usize = 32;
/// The longest name that is kept, in characters.
const NAME_MAX: usize = 64;

/// The content of a trace's text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The events in their order.
    pub events: Vec<Event>,
    /// Lines that could not be read and are no comments.
    pub unread: usize,
    /// `true` if the kernel says that it holds all since the trace was switched on.
    pub is_whole: bool,
    /// Lines before the last [`LINES_MAX`], which were passed over.
    pub skipped: usize,
}

/// Reads the text of a trace.
pub fn read(text: &str) -> Trace {
    let lines = text.lines().count();
    let mut trace = Trace { skipped: lines.saturating_sub(LINES_MAX), ..Trace::default() };
    trace.is_whole = trace.skipped == 0 && text.lines().any(is_told_whole);
    for line in text.lines().skip(trace.skipped) {
        if let Some(function) = line.trim_start().strip_prefix("=> ") {
            if let Some(Event { happening: Happening::Stack(stack), .. }) = trace.events.last_mut()
                && stack.len() < STACK_MAX
            {
                stack.push(shortened(function.trim()));
            }
        } else if line.contains("[LOST ") || line.starts_with("CPU:") {
            let at_ns = trace.events.last().map_or(0, |event| event.at_ns);
            let cpu = trace.events.last().map_or(0, |event| event.cpu);
            trace.events.push(Event { at_ns, cpu, running: None, happening: Happening::Lost });
        } else if let Some(event) = event(line) {
            trace.events.push(event);
        } else if !line.starts_with('#') && !line.trim().is_empty() {
            trace.unread += 1;
        }
    }
    trace
}

/// Returns `true` if the kernel tells, in `# entries-in-buffer/entries-written: 17/17`, that
/// nothing written has left the buffer.
fn is_told_whole(line: &str) -> bool {
    let counts = line.strip_prefix("# entries-in-buffer/entries-written: ");
    let counts = counts.and_then(|counts| counts.split_whitespace().next()?.split_once('/'));
    counts.is_some_and(|(held, written)| held == written)
}

/// Reads a line: `NAME-NUMBER [CPU] FLAGS SECONDS.MICROS: EVENT: FIELDS`.
fn event(line: &str) -> Option<Event> {
    let (running, (cpu, at_ns, rest)) = line
        .match_indices('[')
        .find_map(|(place, _)| Some((thread(line[..place].trim())?, header(&line[place..])?)))?;
    let (name, fields) = rest.split_once(':').unwrap_or((rest, ""));
    let happening = happening(name.trim(), fields.trim());
    Some(Event { at_ns, cpu, running: Some(running), happening })
}

/// Reads `[001] d.h2. 9056.123456: ` and returns what follows.
fn header(text: &str) -> Option<(u32, u64, &str)> {
    let (cpu, rest) = text.strip_prefix('[')?.split_once(']')?;
    let cpu = number(cpu)?;
    let rest = rest.strip_prefix(' ')?.trim_start();
    let (first, after) = rest.split_once(' ')?;
    // The flags are left out where the option for them is off.
    let (instant, rest) = match instant(first.strip_suffix(':').unwrap_or("")) {
        Some(instant) => (instant, after),
        None => {
            let (second, after) = after.trim_start().split_once(' ')?;
            (instant(second.strip_suffix(':')?)?, after)
        }
    };
    Some((cpu, instant, rest))
}

/// Reads `9056.123456`, in seconds with a fraction of six to nine digits. With fewer, a header
/// would be short enough to be a name.
fn instant(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.split_once('.')?;
    let digits = u32::try_from(fraction.len()).ok().filter(|digits| (6..=9).contains(digits))?;
    let fraction = number::<u64>(fraction)? * 10_u64.pow(9 - digits);
    number::<u64>(seconds)?.checked_mul(1_000_000_000)?.checked_add(fraction)
}

/// Reads digits, and nothing else: neither a sign nor white space.
fn number<T: std::str::FromStr>(text: &str) -> Option<T> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

/// Reads `NAME-NUMBER`, behind which the number of its process may stand in parentheses.
fn thread(text: &str) -> Option<Thread> {
    let text = match text.rsplit_once('(') {
        Some((before, process)) if process.ends_with(')') => before.trim_end(),
        _ => text,
    };
    let (name, thread) = text.rsplit_once('-')?;
    Some(Thread { name: shortened(name.trim()), number: number(thread)? })
}

fn happening(name: &str, fields: &str) -> Happening {
    let entry = |frame| Happening::Entry(frame);
    let exit = |frame| Happening::Exit(frame);
    match name {
        "local_timer_entry" => entry(Frame::Timer),
        "local_timer_exit" => exit(Frame::Timer),
        "irq_handler_entry" => entry(Frame::Interrupt(device(fields))),
        "irq_handler_exit" => exit(Frame::Interrupt(device(fields))),
        "softirq_entry" => entry(Frame::Softirq(softirq(fields))),
        "softirq_exit" => exit(Frame::Softirq(softirq(fields))),
        "nmi_handler" => nmi(fields),
        "irq_noise" | "softirq_noise" | "nmi_noise" => noise(name, fields),
        "sched_switch" => switch(fields).unwrap_or(Happening::Other),
        "sched_waking" | "sched_wakeup" => {
            told(fields, "pid=").map_or(Happening::Other, Happening::Waking)
        }
        "page_fault_user" | "page_fault_kernel" => Happening::PageFault,
        "kvm_exit" => Happening::Left(shortened(field(fields, "reason ").unwrap_or("?"))),
        "kvm_entry" => Happening::Entered,
        "cpu_frequency" => told(fields, "state=").map_or(Happening::Other, Happening::Frequency),
        "<stack trace>" => Happening::Stack(Vec::new()),
        _ => vector(name).unwrap_or(Happening::Other),
    }
}

/// Reads the entry of an interrupt by vector, such as `call_function_single_entry`.
fn vector(name: &str) -> Option<Happening> {
    const VECTORS: [&str; 10] = [
        "reschedule",
        "call_function",
        "call_function_single",
        "irq_work",
        "x86_platform_ipi",
        "thermal_apic",
        "threshold_apic",
        "deferred_error_apic",
        "error_apic",
        "spurious_apic",
    ];
    let known = |vector: &str| VECTORS.contains(&vector).then(|| vector.replace('_', " "));
    if let Some(vector) = name.strip_suffix("_entry") {
        known(vector).map(|name| Happening::Entry(Frame::Interrupt(name)))
    } else {
        let vector = name.strip_suffix("_exit")?;
        known(vector).map(|name| Happening::Exit(Frame::Interrupt(name)))
    }
}

/// Reads the name in `irq=41 name=virtio3-rx`; its end has the number only: `irq=41 ret=handled`.
fn device(fields: &str) -> String {
    let interrupt = field(fields, "irq=").unwrap_or("?");
    match fields.split_once("name=") {
        Some((_, name)) => shortened(&format!("{interrupt} {}", name.trim())),
        None => shortened(interrupt),
    }
}

/// Reads the name in `vec=1 [action=TIMER]`.
fn softirq(fields: &str) -> String {
    let name = fields.split_once("action=").map_or("?", |(_, name)| name);
    shortened(name.trim_end_matches(']'))
}

/// Reads `perf_event_nmi_handler() delta_ns: 1234 handled: 1`.
fn nmi(fields: &str) -> Happening {
    let (name, rest) = fields.split_once(" delta_ns:").unwrap_or((fields, ""));
    let lasted = rest.split_whitespace().next().and_then(number);
    lasted.map_or(Happening::Other, |ns| Happening::Lasted(Frame::Nmi(shortened(name)), ns))
}

/// Reads `local_timer:236 start 9056.123456789 duration 1234 ns`, as `osnoise` tells it. NMIs have
/// no name there.
fn noise(event: &str, fields: &str) -> Happening {
    let Some((before, duration)) = fields.rsplit_once("duration ") else {
        return Happening::Other;
    };
    let Some(ns) = duration.split_whitespace().next().and_then(number) else {
        return Happening::Other;
    };
    let name = before.split_once("start ").map_or(before, |(name, _)| name).trim();
    let (name, vector) = name.rsplit_once(':').unwrap_or((name, ""));
    let frame = match event {
        "softirq_noise" => Frame::Softirq(shortened(name)),
        "nmi_noise" => Frame::Nmi(shortened(name)),
        _ if name == "local_timer" => Frame::Timer,
        _ => Frame::Interrupt(shortened(&format!("{vector} {name}"))),
    };
    Happening::Lasted(frame, ns)
}

/// Reads `prev_comm=… prev_pid=1 prev_prio=2 prev_state=R+ ==> next_comm=… next_pid=3 next_prio=4`.
fn switch(fields: &str) -> Option<Happening> {
    let (before, after) = fields.rsplit_once(" ==> next_comm=")?;
    let (_, from) = before.rsplit_once(" prev_pid=")?;
    let (from, state) = from.rsplit_once(" prev_state=")?;
    let (from, from_priority) = from.split_once(" prev_prio=")?;
    let (name, to) = after.rsplit_once(" next_pid=")?;
    let (to, priority) = to.split_once(" next_prio=")?;
    Some(Happening::Switch {
        from: number(from)?,
        from_priority: from_priority.parse().ok()?,
        still_runnable: state.starts_with('R'),
        to: Thread { name: shortened(name), number: number(to)? },
        priority: priority.split_whitespace().next()?.parse().ok()?,
    })
}

/// Reads the number behind the last `key`.
fn told<T: std::str::FromStr>(fields: &str, key: &str) -> Option<T> {
    number(field(fields, key)?)
}

/// Reads the word behind the last `key` that a space or nothing stands before.
fn field<'a>(fields: &'a str, key: &str) -> Option<&'a str> {
    let spaced = format!(" {key}");
    let value = match fields.rsplit_once(&spaced) {
        Some((_, value)) => value,
        None => fields.strip_prefix(key)?,
    };
    value.split_whitespace().next()
}

fn shortened(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(NAME_MAX).collect()
}

#[cfg(test)]
mod tests;
