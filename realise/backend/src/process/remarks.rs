//! The remarks that a partition's process makes for people, on descriptor 2.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use quietcore_wording::plural;

/// Prefix of the lines that a partition's process writes itself, rather than its guest or a
/// library.
pub const OWN_REMARK: &str = "quietcore-runtime: ";
/// Limit of the lines of others that are shown in a text of one line.
const OTHERS_MAX: usize = 8;

/// Limit of the time in which an ended process's last remarks arrive: a process that it left behind
/// may hold the pipe open.
const REST_MAX: Duration = Duration::from_secs(2);
const GLANCE: Duration = Duration::from_millis(1);

/// Bytes that are kept of a partition's remarks: the last ones, which tell why it ended.
pub const REMARK_BYTES_MAX: u64 = 16 << 10;

/// Puts remarks on one line: first those of the process itself, such as why it ended, then those of
/// its guest or of a library, set apart from the first and from each other.
pub fn on_one_line(remarks: &str) -> String {
    let lines = remarks.lines().map(str::trim).filter(|line| !line.is_empty());
    let (own, others): (Vec<&str>, Vec<&str>) = lines.partition(|it| it.starts_with(OWN_REMARK));
    let own: Vec<&str> = own.iter().filter_map(|line| line.strip_prefix(OWN_REMARK)).collect();
    let own = own.join("; ");
    let (left_out, shown) = others.split_at(others.len().saturating_sub(OTHERS_MAX));
    let shown: Vec<String> = shown.iter().map(|line| format!("`{line}`")).collect();
    let more = match left_out.len() {
        0 => String::new(),
        count => format!(" after {count} line{} more", plural(count as u64)),
    };
    match (&own[..], &others[..]) {
        (own, []) => own.to_owned(),
        ("", [only]) => (*only).to_owned(),
        ("", _) => format!("it said {}{more}", shown.join(", ")),
        (own, _) => format!("{own}. Said beside it: {}{more}", shown.join(", ")),
    }
}

/// Collects remarks that come through a pipe, in a thread of its own, so that the process never
/// waits.
#[derive(Debug)]
pub(super) struct Remarks {
    kept: Arc<Mutex<Kept>>,
    collecting: Option<JoinHandle<()>>,
}

impl Remarks {
    pub(super) fn collect(pipe: Option<impl io::Read + Send + 'static>) -> Self {
        let kept = Arc::<Mutex<Kept>>::default();
        let collecting = pipe.map(|pipe| {
            let kept = Arc::clone(&kept);
            thread::spawn(move || collect(pipe, &kept))
        });
        Self { kept, collecting }
    }

    /// Returns what was said so far.
    pub(super) fn text(&self) -> String {
        lock(&self.kept).text()
    }

    /// Waits at most [`REST_MAX`] for the rest of what an ended process has said.
    pub(super) fn wait_for_rest(&self) {
        let Some(collecting) = &self.collecting else { return };
        let end = Instant::now() + REST_MAX;
        while !collecting.is_finished() && Instant::now() < end {
            thread::sleep(GLANCE);
        }
    }

    /// Waits for the rest, and returns all that was said.
    pub(super) fn whole_text(&self) -> String {
        self.wait_for_rest();
        self.text()
    }
}

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

fn collect(mut pipe: impl io::Read, kept: &Mutex<Kept>) {
    let mut buffer = [0; 1024];
    while let Ok(length @ 1..) = pipe.read(&mut buffer) {
        lock(kept).add(&buffer[..length]);
    }
}

#[derive(Debug, Default)]
struct Kept {
    bytes: VecDeque<u8>,
    /// `true` if earlier bytes were dropped.
    is_cut: bool,
}

impl Kept {
    fn add(&mut self, more: &[u8]) {
        self.bytes.extend(more);
        let over = self.bytes.len().saturating_sub(REMARK_BYTES_MAX as usize);
        self.is_cut |= over > 0;
        self.bytes.drain(..over);
    }

    /// Returns the remarks without a first line that was torn.
    fn text(&self) -> String {
        let bytes: Vec<u8> = self.bytes.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let whole = match text.split_once('\n') {
            Some((_, whole)) if self.is_cut => whole,
            _ => &text,
        };
        whole.trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_is_kept_in_whole_lines() {
        let mut said: String = (0..5_000).map(|number| format!("line {number}\n")).collect();
        said.push_str("the end");
        let remarks = Remarks::collect(Some(io::Cursor::new(said)));
        let text = remarks.whole_text();
        assert!(text.len() as u64 <= REMARK_BYTES_MAX);
        assert!(text.starts_with("line ") && text.ends_with("line 4999\nthe end"), "{text}");
        let lines = text.lines().count() - 1;
        assert!(text.starts_with(&format!("line {}\n", 5_000 - lines)), "none is torn");
    }

    /// Goal: what an ended process has said is complete, however late it is read, and a process
    /// that holds the pipe open delays nothing for long.
    #[test]
    fn the_rest_is_waited_for_and_not_for_ever() {
        let (reader, mut writer) = io::pipe().unwrap();
        let remarks = Remarks::collect(Some(reader));
        let late = thread::spawn(move || {
            thread::sleep(Duration::from_millis(50));
            io::Write::write_all(&mut writer, b"switched off").unwrap();
        });
        assert_eq!(remarks.whole_text(), "switched off");
        late.join().unwrap();

        let (reader, _held) = io::pipe().unwrap();
        let begin = Instant::now();
        assert_eq!(Remarks::collect(Some(reader)).whole_text(), "");
        assert!(begin.elapsed() >= REST_MAX);
    }

    #[test]
    fn a_short_remark_is_whole() {
        let remarks = Remarks::collect(Some(&b"  one\ntwo \xff\n"[..]));
        assert_eq!(remarks.whole_text(), "one\ntwo \u{fffd}");
    }

    /// Goal: what a guest said and what the host says of its end are told apart in one line.
    #[test]
    fn what_a_guest_said_and_what_its_host_says_are_apart() {
        let guest = "no SubDevice answers; check that the cable is plugged and the first one has \
                     power";
        let host = "quietcore-runtime: the guest could not run what it was asked to";
        assert_eq!(
            on_one_line(&format!("{guest}\n{host}\n")),
            format!("the guest could not run what it was asked to. Said beside it: `{guest}`")
        );
        assert_eq!(
            on_one_line(&format!("{host}\r\none\n\ntwo\n")),
            "the guest could not run what it was asked to. Said beside it: `one`, `two`"
        );
        assert_eq!(on_one_line(&format!("{host}\n{host}")).matches("; the guest").count(), 1);
        assert_eq!(on_one_line("cannot do that\n"), "cannot do that");
        assert_eq!(on_one_line("one\ntwo"), "it said `one`, `two`");
        assert_eq!(on_one_line(" \n"), "");
        let many: String = (0..10).map(|number| format!("line {number}\n")).collect();
        let many = on_one_line(&many);
        assert!(many.starts_with("it said `line 2`, "), "{many}");
        assert!(many.ends_with("`line 9` after 2 lines more"), "{many}");
    }
}
