//! A pod of Kubernetes.

use super::names::dns_label;
use super::{ExportedFile, HostRequirements};

/// The pod: whole CPUs, as many requested as allowed, so that it is of class Guaranteed.
pub(super) fn pod(place: &HostRequirements<'_>) -> ExportedFile {
    let name = place.name();
    let capabilities = place.capabilities().join(", ");
    let mebibytes = place.memory.get().div_ceil(1 << 20);
    let devices = if place.kvm { KVM_DEVICE } else { "" };
    let mount = if place.kvm { KVM_MOUNT } else { "" };
    let notes = notes(place);
    let text = format!(
        "{notes}\
         apiVersion: v1\n\
         kind: Pod\n\
         metadata:\n\
         \x20 name: {dns}\n\
         \x20 labels:\n\
         \x20   app.kubernetes.io/name: quietcore\n\
         \x20   app.kubernetes.io/instance: {dns}\n\
         spec:\n\
         \x20 hostNetwork: {network}\n\
         \x20 restartPolicy: Always\n\
         \x20 terminationGracePeriodSeconds: 20\n\
         \x20 containers:\n\
         \x20   - name: site\n\
         \x20     image: localhost/{image}\n\
         \x20     imagePullPolicy: IfNotPresent\n\
         \x20     resources:\n\
         \x20       requests:\n\
         \x20         cpu: \"{count}\"\n\
         \x20         memory: {mebibytes}Mi\n\
         \x20       limits:\n\
         \x20         cpu: \"{count}\"\n\
         \x20         memory: {mebibytes}Mi\n\
         \x20     securityContext:\n\
         \x20       allowPrivilegeEscalation: false\n\
         \x20       readOnlyRootFilesystem: true\n\
         \x20       capabilities:\n\
         \x20         drop: [ALL]\n\
         \x20         add: [{capabilities}]\n\
         \x20     volumeMounts:\n\
         \x20       - name: run\n\
         \x20         mountPath: /run\n\
         \x20       - name: tmp\n\
         \x20         mountPath: /tmp\n\
         \x20       - name: state\n\
         \x20         mountPath: /var/lib/quietcore\n\
         {mount}\
         \x20 volumes:\n\
         \x20   - name: run\n\
         \x20     emptyDir:\n\
         \x20       medium: Memory\n\
         \x20   - name: tmp\n\
         \x20     emptyDir: {{}}\n\
         \x20   # Retained values outlive the pod; a claim serves as well.\n\
         \x20   - name: state\n\
         \x20     hostPath:\n\
         \x20       path: /var/lib/quietcore\n\
         \x20       type: DirectoryOrCreate\n\
         {devices}",
        dns = dns_label(&name),
        image = place.image(),
        network = place.network,
        count = place.cpu_count,
    );
    ExportedFile { name: format!("{name}.yaml"), text }
}

/// Lists requirements on the node that the pod can't state.
fn notes(place: &HostRequirements<'_>) -> String {
    format!(
        "# Site `{site}` as a pod of Kubernetes.\n\
         #\n\
         # Requests equal limits and CPUs are whole, so that it is of class Guaranteed and the\n\
         # static CPU manager gives it CPUs of its own. On the node, the kubelet needs:\n\
         #\n\
         #     --cpu-manager-policy=static --topology-manager-policy=single-numa-node\n\
         #     --reserved-cpus=<all CPUs but {cpus}>\n\
         #\n\
         # The site file names CPUs by number and the kubelet chooses them: they are the same\n\
         # only where no others are left to choose; where they differ `up` refuses, and names\n\
         # those that the pod has. Real-time priority needs a kernel whose control groups do not\n\
         # divide real-time run time (version 2, no CONFIG_RT_GROUP_SCHED, or rt_group_sched=0).\n\
         # `quietcore doctor` in the pod says what it has. Controls of the machine (`controls` in\n\
         # the site file) are the node's matter, not the pod's.\n\
         #\n\
         # The pod has no /dev/cpu_dma_latency, so that its CPUs may enter deep idle states:\n\
         # limit these on the node. With CRI-O, its CPUs are left alone by these annotations\n\
         # and a runtime class of the node whose handler allows them (`high-performance`):\n\
         #\n\
         #     cpu-c-states.crio.io: disable          cpu-load-balancing.crio.io: disable\n\
         #     irq-load-balancing.crio.io: disable    cpu-quota.crio.io: disable\n",
        site = place.site.name(),
        cpus = place.cpus,
    )
}

const KVM_MOUNT: &str = "        - name: kvm\n          mountPath: /dev/kvm\n";
const KVM_DEVICE: &str = "    \
    # Needs a device plugin for /dev/kvm where pods may not use host devices.
    - name: kvm
      hostPath:
        path: /dev/kvm
        type: CharDevice
";
