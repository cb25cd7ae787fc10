//! Findings on the hypervisor below this kernel, and on the guests above it.

use quietcore_site::{Backend, BackendDeclaration, HostRequirement};
use quietcore_wording::both;

use super::finding::finding;
use super::{Area, Finding, View};
use crate::reading::Reading;

/// Stolen time above this share shows in p99.
const STEAL_HARMLESS: f64 = 0.001;

pub(super) fn examine(view: &View<'_>, findings: &mut Vec<Finding>) {
    findings.push(hypervisor(view));
    findings.push(steal(view));
    findings.push(container(view));
    findings.push(kvm_device(view));
    findings.push(kvm_speed(view));
    findings.push(nested(view));
    findings.push(qemu(view));
    findings.extend(xen(view));
}

fn hypervisor(view: &View<'_>) -> Finding {
    let virtualization = &view.facts.virtualization;
    let product = view.facts.firmware.product.text().unwrap_or("");
    let draft = finding("hypervisor", Area::Virtualization, "hypervisor below")
        .right("none, or one whose virtual CPUs are pinned to CPUs of their own")
        .effect(
            "the host's scheduler, interrupts, idle states and clock come on top of everything \
             seen here, and no setting in this guest reaches them",
        )
        .fix(
            "only the owner of the host can change this; there: pin each virtual CPU to an \
             isolated CPU, lock the guest's memory, use huge pages, give it real-time priority",
        );
    match (&virtualization.hypervisor, &virtualization.hypervisor_type) {
        (Reading::Read(name), _) => draft.read(format!("{name} {product}").trim()).advice(),
        (Reading::Absent, Reading::Read(kind)) => draft.read(kind.clone()).advice(),
        (Reading::Absent, _) => draft.read("none").ok(),
        (Reading::Unreadable(reason), _) => {
            draft.read(reason.clone()).unknown("`systemd-detect-virt` may know")
        }
    }
}

fn steal(view: &View<'_>) -> Finding {
    let steal = &view.facts.activity.steal;
    let draft = finding("stolen-time", Area::Virtualization, "time stolen by the host")
        .right("none")
        .effect(
            "for this share of time a virtual CPU was ready and did not run, typically for \
             milliseconds at once: missed cycles that nothing in this guest prevents",
        )
        .fix(view.on_host("do not overcommit: one isolated CPU for each virtual one"));
    match steal {
        Reading::Read(steal) => draft
            .read(format!(
                "{:.2} % since boot, {:.2} % during 0.2 s now",
                steal.since_boot * 100.0,
                steal.now * 100.0
            ))
            .ok_if(steal.since_boot <= STEAL_HARMLESS && steal.now <= STEAL_HARMLESS),
        other => draft.without(other),
    }
}

fn container(view: &View<'_>) -> Finding {
    let container = &view.facts.virtualization.container;
    let draft = finding("container", Area::Virtualization, "container around this process")
        .right("none, or one with the host's devices and rights")
        .effect(
            "what is read here may be the container's view: devices, limits and cgroups can be \
             narrower than the host's",
        )
        .fix(
            "run `quietcore doctor` outside, or start the container with --privileged --pid=host \
             for the reading",
        );
    match container {
        Reading::Read(name) => draft.read(name.clone()).advice(),
        other => draft.without(other),
    }
}

fn kvm_device(view: &View<'_>) -> Finding {
    let opens = &view.facts.virtualization.kvm.opens;
    let draft = finding("kvm-device", Area::Virtualization, "/dev/kvm")
        .right("can be opened")
        .effect(format!(
            "partitions with the backends {} are not possible at full speed; processes and \
                 containers are not concerned",
            backends(BackendDeclaration::needs_kvm)
        ));
    match opens {
        Reading::Read(()) => draft.read("can be opened").ok(),
        Reading::Absent => draft
            .read("not there")
            .fix(if view.is_guest() {
                "only the owner of the host can change this; there: switch on nested \
                 virtualization for this machine"
            } else {
                "switch on VT-x or AMD-V in the BIOS; `modprobe kvm_intel` or `modprobe kvm_amd`"
            })
            .advice(),
        Reading::Unreadable(reason) => draft
            .read(reason.clone())
            .fix("`usermod -aG kvm USER` and log in again, or run as root")
            .advice(),
    }
}

fn qemu(view: &View<'_>) -> Finding {
    let draft = finding("qemu", Area::Virtualization, "QEMU").right("installed").effect(format!(
        "partitions with the backend {} are not possible",
        backends(|it| it.requires == HostRequirement::Qemu)
    ));
    match &view.facts.virtualization.qemu {
        Reading::Read(path) => draft.read(path.clone()).ok(),
        _ => draft.read("not installed").fix("`apt-get install qemu-system-x86`").advice(),
    }
}

/// Judges whether domains can be started from here; `None` where this kernel is no dom0.
fn xen(view: &View<'_>) -> Option<Finding> {
    let xen = &view.facts.virtualization.xen;
    if xen.is_dom0 != Reading::Read(true) {
        return None;
    }
    let draft = finding("xen", Area::Virtualization, "dom0 of Xen")
        .right("with `xl`, which starts domains, and a store that answers")
        .effect(
            "other domains share the CPUs with this one, and their scheduler is Xen's; a partition \
             gets a pool of Xen's for its CPUs, where nobody else depends on those. Domains can't \
             be started or looked at without `xl`, nor without Xen's store, for which it waits. \
             One that runs Linux starts from an image that `quietcore guest build` makes, from a \
             kernel of Debian's or one of your own with CONFIG_XEN_PVH, CONFIG_XEN_GNTDEV and \
             CONFIG_XEN_DEV_EVTCHN, and needs 160 MiB",
        )
        .fix("`apt-get install xen-system-amd64`; start `xenstored` where it has ended");
    let version = xen.version.describe(Clone::clone);
    let program = xen.xl.get().map_or("without `xl`", |path| path.as_str());
    let has_store = xen.store.get().is_some();
    let store = if has_store { "" } else { ", and its store does not answer" };
    let is_right = has_store && xen.xl.get().is_some();
    Some(draft.read(format!("Xen {version}, {program}{store}")).ok_if(is_right))
}

/// The backends that are as wanted, in words.
fn backends(wanted: impl Fn(&BackendDeclaration) -> bool) -> String {
    both(Backend::words_where(wanted))
}

fn kvm_speed(view: &View<'_>) -> Finding {
    let speed = &view.facts.virtualization.kvm.speed;
    let needs = BackendDeclaration::needs_kvm;
    let [lost, others] = [true, false].map(|lost| backends(|it| needs(it) == lost));
    let draft =
        finding("kvm-guest-speed", Area::Virtualization, "guests under KVM, by calibration")
            .right("run by the processor")
            .effect(format!(
                "an interpreted guest runs a thousand times slower, without floating point: \
                     no timing of it is evidence, and no partition with the backends {lost} can \
                     pass"
            ))
            .fix(if view.is_guest() {
                format!(
                    "use the backends {others} here; only the owner of the host can change this: \
                     there, pass hardware virtualization on to this machine"
                )
            } else {
                format!("use the backends {others}, or a processor with hardware virtualization")
            });
    match speed {
        Reading::Read(speed) => {
            match view.facts.virtualization.why_guests_are_not_real(view.facts) {
                // A requirement only of sites with such a backend, and their plan says so.
                Some(interpreted) => draft.read(interpreted).advice(),
                None => {
                    let rate = speed.instructions_per_second / 1e6;
                    draft.read(format!("native: {rate:.1} million instructions a second")).ok()
                }
            }
        }
        Reading::Absent => draft.read("there is no /dev/kvm").fix("").ok(),
        Reading::Unreadable(reason) => draft
            .read(reason.clone())
            .unknown("run as root, or `usermod -aG kvm USER` and log in again"),
    }
}

fn nested(view: &View<'_>) -> Finding {
    let kvm = &view.facts.virtualization.kvm;
    let draft = finding("nested-virtualization", Area::Virtualization, "guests within guests")
        .right("on only where guests hold guests themselves")
        .effect("a test machine inside a guest needs it; control partitions do not");
    match &kvm.nested {
        Reading::Read(on) => draft.read(if *on { "on" } else { "off" }).ok(),
        Reading::Absent => draft.read("not told").ok(),
        other => draft.without(other),
    }
}
