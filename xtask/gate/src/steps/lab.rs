//! Tests in virtual test machines, which have a kernel and devices whatever this machine has.

use super::{BARE, program};
use crate::need::Need;
use crate::places::Places;
use crate::run::machine::Machine;
use crate::run::programs::ALL;
use crate::steps::step::{Action, CommandLine, Group, Lane, Step};
use crate::steps::surroundings::Surroundings;

/// Folders of the machine's programs.
const PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";
const BACKEND: &str = "QUIETCORE_TEST_BACKEND";

/// Machines, two at a time, since most of the time each uses one processor; those that take longest
/// come first.
pub(super) fn group(places: &Places, surroundings: &Surroundings) -> Group {
    let machines = Machines { places, surroundings };
    let alone = |step: Step| step.lane(Lane::Alone);
    let steps = vec![
        // One of Xen takes six times as long beside another: its processors wait for each other.
        alone(machine("domains of Xen, its store and pools (lab)", machines.xen())),
        alone(machine("partitions in domains of Xen (lab)", machines.xen_partitions())),
        machine("CPUs of a partition alone (lab)", machines.own_cpus()),
        machine("guests under KVM (lab)", machines.kvm()),
        machine("OSEK programs in guests (lab)", machines.osek()),
        machine("services of systemd (lab)", machines.services()),
        machine("channels and interfaces of guests (lab)", machines.channels()),
        machine("settings of the machine (lab)", machines.settings()),
        machine("partitions in containers (lab)", machines.containers()),
        machine("probes and fieldbuses in guests (lab)", machines.probes()),
        machine("partitions in guests (lab)", machines.partitions()),
        machine("partitions in guests of QEMU (lab)", machines.nested_qemu()),
        machine("late releases explained (lab)", machines.late_releases()),
        machine("a network card of a guest (lab)", machines.network_card()),
    ];
    Group { name: "lab", at_once: 2, steps }
}

fn machine(name: &str, machine: Machine) -> Step {
    Step::of(name, Action::Machine(machine)).needs([Need::LabKernel, Need::TestPrograms])
}

/// The images of guests.
pub(crate) fn images(places: &Places) -> String {
    format!("{}/images/{BARE}/release", places.target)
}

/// A program of tests, one test at a time.
fn tests(package: &'static str, name: &'static str) -> CommandLine {
    program(package, name).arguments(["--test-threads=1"]).variable("PATH", PATH)
}

struct Machines<'a> {
    places: &'a Places,
    surroundings: &'a Surroundings,
}

impl Machines<'_> {
    /// The tests of a program of the supervisor's that the table lists for a place.
    fn repeated(&self, program: &'static str, place: &str, backend: &str) -> CommandLine {
        let names = self.surroundings.tests(program, place).into_iter().map(str::to_owned);
        tests("supervisor", program).arguments(names).variable(BACKEND, backend)
    }

    /// Eight large pages are set aside, as a host for guests does.
    fn kvm(&self) -> Machine {
        Machine::of_kind("kvm")
            .first("echo 8 >/proc/sys/vm/nr_hugepages || exit")
            .run(tests("microvm", ALL))
            .run(tests("backend", ALL))
    }

    fn own_cpus(&self) -> Machine {
        let tests = tests("cli", "own_cpus").variable("QUIETCORE_OWN_MACHINE", "1");
        Machine::of_kind("kvm").run(tests)
    }

    /// The other tests of `initialize` are of the host's C library, and of a process that outlives
    /// its program.
    fn osek(&self) -> Machine {
        Machine::of_kind("kvm").run(self.repeated("osek", "kvm", "kvm")).run(self.repeated(
            "initialize",
            "kvm",
            "kvm",
        ))
    }

    /// In a kernel with PREEMPT_RT, whose trace must name causes that are known.
    fn late_releases(&self) -> Machine {
        Machine::of_kind("rt").run(tests("cli", "ledger")).run(tests("trace", "kernel"))
    }

    fn channels(&self) -> Machine {
        Machine::of_kind("kvm")
            .run(self.repeated("channels", "kvm", "kvm,process"))
            .run(self.repeated("fieldbus", "kvm", "kvm"))
    }

    fn probes(&self) -> Machine {
        let one = |package, name, test: &str| tests(package, name).arguments([test.to_owned()]);
        Machine::of_kind("kvm")
            .run(one("cli", "ledger", "a_late_release_of_a_guest_is_explained"))
            .run(one("cli", "probes", "a_campaign_measures_interrupts_in_a_guest"))
            .run(tests("probe", "guests"))
            .run(tests("fieldbus", "in_guest"))
            .run(one("supervisor", "guest", "a_servo_in_a_guest_is_driven"))
    }

    /// A machine like the others, in which a domain lives and leaves nothing behind. The last tests
    /// kill what all of dom0 relies on.
    fn xen(&self) -> Machine {
        let alone = tests("supervisor", "xen").variable("QUIETCORE_OWN_MACHINE", "1");
        Machine::of_kind("xen")
            .run(CommandLine::words("bash lab/scenarios/xen.sh"))
            .run(tests("backend", "xen"))
            .run(self.repeated("channels", "xen-pair", "xen"))
            .run(alone.variable(BACKEND, "xen"))
    }

    /// The Linux guest is of the image that was built for guests of QEMU.
    fn xen_partitions(&self) -> Machine {
        let linux = self.repeated("running", "xen-linux", "xen-linux");
        let linux = linux.variable("QUIETCORE_TEST_IMAGE", self.places.own("guest"));
        let probes = tests("cli", "probes").arguments(["another_hypervisor"]);
        Machine::of_kind("xen")
            .run(self.repeated("running", "xen", "xen"))
            .run_with(vec![Need::GuestImage], linux)
            .run(self.repeated("channels", "xen", "xen,process"))
            .run(probes.variable(BACKEND, "xen"))
    }

    fn partitions(&self) -> Machine {
        Machine::of_kind("kvm").run(self.repeated("running", "kvm", "kvm"))
    }

    /// Fieldbuses of such guests are tried outside of the lab, without KVM, and in guests under KVM
    /// without QEMU.
    fn nested_qemu(&self) -> Machine {
        let probes =
            tests("cli", "probes").arguments(["another_hypervisor", "--skip", "ethercat::"]);
        Machine::of_kind("kvm")
            .run(self.repeated("running", "nested-qemu", "qemu"))
            .run_with(vec![Need::Libvirt], CommandLine::words("bash lab/scenarios/libvirt.sh"))
            .run(probes.variable(BACKEND, "qemu"))
    }

    /// A network card behind an IOMMU, which the host's driver has before.
    fn network_card(&self) -> Machine {
        let tests = self.repeated("fieldbus", "vfio", "kvm").arguments(["--nocapture"]);
        let tests = tests.variable("QUIETCORE_TEST_CARD", "0000:00:10.0 eth0");
        Machine::of_kind("vfio").run(tests.variable("QUIETCORE_COUNT_EXITS", "1"))
    }

    /// Version 2 of control groups alone.
    fn containers(&self) -> Machine {
        let with = |runtime: &str| {
            let tests = self.repeated("running", runtime, "container");
            tests.variable("QUIETCORE_TEST_CONTAINERS", runtime)
        };
        Machine::of_kind("kvm").run(with("runc")).run(with("crun"))
    }

    /// Exported units, started by a systemd of the machine's own.
    fn services(&self) -> Machine {
        Machine::of_kind("kvm").run(CommandLine::words("bash lab/scenarios/systemd.sh"))
    }

    /// The kernel patches its own code when settings change.
    fn settings(&self) -> Machine {
        let tests = tests("settings", "settings").variable("QUIETCORE_OWN_MACHINE", "1");
        Machine::of_kind("kvm").take_turns().run(tests)
    }
}
