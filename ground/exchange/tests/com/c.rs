//! The C header: it compiles without a warning, and what C calls arrives.
// UNSAFETY: a compiled program is loaded and called.
#![expect(unsafe_code, reason = "a compiled C program is loaded and called")]

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use quietcore_exchange::channel::{WaitClock, channel_bytes};
use quietcore_exchange::com::{
    ComTable, Direction, KernelHost, NoKernel, OnTimeout, Provision, SERVICES_VERSION, Services,
    SignalState,
};
use quietcore_units::{KernelJob, Nanos};

use crate::memory::{Memory, entries};
use crate::table::{groups, signals};

const WARNINGS: [&str; 5] = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-Wconversion"];

/// The time of whoever waits: it passes only while somebody sleeps.
static TIME_NS: AtomicU64 = AtomicU64::new(0);

/// Compiles the program to a shared object; `None` where there is no such compiler.
fn compile(compiler: &str, standard: &str) -> Option<PathBuf> {
    if cfg!(miri) || Command::new(compiler).arg("--version").output().is_err() {
        return None;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let object = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("com-{compiler}.so"));
    let language = if compiler == "gcc" { "c" } else { "c++" };
    let output = Command::new(compiler)
        .args(["-x", language, standard, "-shared", "-fPIC", "-O1"])
        .args(WARNINGS)
        .arg("-I")
        .arg(root.join("include"))
        .arg(root.join("tests/com/program.c"))
        .arg("-o")
        .arg(&object)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{compiler} {standard}:\n{said}");
    Some(object)
}

/// A loaded program; never unloaded.
struct Program(*mut c_void);

impl Program {
    fn load(object: &Path) -> Self {
        let path = CString::new(object.to_str().unwrap()).unwrap();
        // SAFETY: the object has no constructors.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        assert!(!handle.is_null());
        Self(handle)
    }

    fn symbol(&self, name: &CStr) -> *mut c_void {
        // SAFETY: the handle is that of a loaded object.
        let place = unsafe { libc::dlsym(self.0, name.as_ptr().cast::<c_char>()) };
        assert!(!place.is_null(), "{name:?}");
        place
    }

    fn give(&self, services: Option<&Services<'_>>) {
        let given = self.symbol(c"quietcore_services_given").cast::<*const Services<'_>>();
        let services = services.map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: the program's own pointer, which nobody reads now.
        unsafe { given.write(services) };
    }

    fn call(&self, name: &CStr, value: u32) -> c_int {
        // SAFETY: all functions that are called so return `int`; one that takes no argument does
        // not look at the one it gets.
        let function = unsafe {
            std::mem::transmute::<*mut c_void, extern "C" fn(u32) -> c_int>(self.symbol(name))
        };
        function(value)
    }

    fn layout(&self, index: c_uint) -> usize {
        usize::try_from(self.call(c"layout", index)).unwrap()
    }
}

/// A cycle that remembers what it was asked.
#[derive(Default)]
struct Seen {
    instants: Mutex<Vec<Option<Nanos>>>,
    jobs: Mutex<Vec<KernelJob>>,
    errors: Mutex<Vec<(Option<u32>, u8, u8)>>,
}

impl KernelHost for Seen {
    fn due(&self) -> Nanos {
        Nanos::new(1_000)
    }

    fn until(&self) -> Nanos {
        Nanos::new(1_900)
    }

    fn clock(&self) -> Nanos {
        Nanos::new(1_234)
    }

    fn interrupt_at(&self, instant: Option<Nanos>) {
        self.instants.lock().unwrap().push(instant);
    }

    fn note_job(&self, job: &KernelJob) {
        self.jobs.lock().unwrap().push(*job);
    }

    fn note_error(&self, task: Option<u32>, status: u8, service: u8) {
        self.errors.lock().unwrap().push((task, status, service));
    }
}

fn use_every_function(object: &Path) {
    let memory = Memory::new(channel_bytes(&entries()).unwrap());
    let channel = memory.make_channel(&entries()).unwrap();
    let side = |direction| {
        (
            signals(&channel, direction, OnTimeout::Keep),
            groups(&channel, direction, OnTimeout::Keep),
        )
    };
    let (signals_out, groups_out) = side(Direction::Send);
    let (signals_in, groups_in) = side(Direction::Receive);
    let sender = ComTable::new(&signals_out, &groups_out, Nanos::new(1));
    let receiver = ComTable::new(&signals_in, &groups_in, Nanos::new(1));
    let receiver = receiver.with_wait_clock(Some(WaitClock {
        now: || Nanos::new(TIME_NS.load(Ordering::Relaxed)),
        sleep_until: |due| TIME_NS.store(due.get(), Ordering::Relaxed),
    }));
    sender.begin_cycle(Nanos::new(5_000));
    receiver.begin_cycle(Nanos::new(5_050));

    let program = Program::load(object);
    assert_eq!(program.call(c"without_a_loader", 0), 0, "line of the failed check");
    let no_kernel = |table| Provision { table, kernel: &NoKernel };
    let (sender, receiver) = (no_kernel(&sender), no_kernel(&receiver));
    program.give(Some(&Services::new(&sender)));
    assert_eq!(program.call(c"send_all", 0xdead_beef), 0, "line of the failed check");
    program.give(Some(&Services::new(&receiver)));
    assert_eq!(program.call(c"receive_all", 0xdead_beef), 0, "line of the failed check");
    assert_eq!(program.call(c"is_no_kernel", 0), 0, "line of the failed check");
    let seen = Seen::default();
    let kernel = Provision { kernel: &seen, ..receiver };
    program.give(Some(&Services::new(&kernel)));
    assert_eq!(program.call(c"is_a_kernel", 0), 0, "line of the failed check");
    assert_eq!(*seen.instants.lock().unwrap(), [Some(Nanos::new(1_900)), None]);
    let job = KernelJob {
        task: 3,
        waits: 1,
        released_ns: 10,
        started_ns: 20,
        finished_ns: 40,
        execution_ns: 15,
    };
    assert_eq!(*seen.jobs.lock().unwrap(), [job]);
    assert_eq!(*seen.errors.lock().unwrap(), [(Some(2), 4, 1), (None, 7, 255)]);
    program.give(None);

    let expected = [
        size_of::<Services<'_>>(),
        8,
        size_of::<SignalState>(),
        std::mem::offset_of!(SignalState, updated),
        SERVICES_VERSION as usize,
        size_of::<KernelJob>(),
        std::mem::offset_of!(KernelJob, execution_ns),
    ];
    for (index, expected) in (0..).zip(expected) {
        assert_eq!(program.layout(index), expected, "number {index} of `layout`");
    }
}

#[test]
fn a_c99_program_reaches_its_channels() {
    let Some(object) = compile("gcc", "-std=c99") else {
        quietcore_skip::skip!("no C compiler; install Debian's `gcc` (Miri runs none)");
        return;
    };
    use_every_function(&object);
}

#[test]
fn a_cpp17_program_reaches_its_channels() {
    let Some(object) = compile("g++", "-std=c++17") else {
        quietcore_skip::skip!("no C++ compiler; install Debian's `g++` (Miri runs none)");
        return;
    };
    use_every_function(&object);
}
