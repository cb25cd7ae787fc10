//! Values for tests of whoever sends, shows or keeps them.

use quietcore_site::Criticality;
use quietcore_units::{DataType, Nanos};

use crate::answer::channel::{ChannelOpened, ChannelSignal};
use crate::asker::{Asker, Introduction};
use crate::deployed::{Deployed, NotCarried, Probation};
use crate::event::{EventLine, Severity};
use crate::partition::{Activity, Faults, FieldbusState, Opened, PartitionState, TaskDescription};

/// Somebody at a terminal.
pub fn asker() -> Asker {
    let says = Introduction {
        program: "quietcore set".to_owned(),
        login: Some("anna".to_owned()),
        terminal: Some("pts/3".to_owned()),
        host: None,
    };
    Asker { uid: 0, user: "root".to_owned(), pid: 4712, says }
}

/// Two partitions: one that runs on a fieldbus, one that waits.
pub fn partitions() -> Vec<PartitionState> {
    let axis = PartitionState {
        name: "axis".to_owned(),
        backend: "process".to_owned(),
        state: Activity::Running,
        class: "motion-control".to_owned(),
        period: Nanos::from_millis(1),
        cycles: 61_234,
        missed_cycles: 0,
        overruns: 2,
        release_max: Nanos::from_micros(187),
        forces: 1,
        generation: 1,
        restarts: 0,
        criticality: Criticality::High,
        times_shed: 0,
        reactions: None,
        cpu: Some(1),
        pid: Some(4711),
        fieldbus: Some(FieldbusState {
            state: "OP".to_owned(),
            subdevices: 3,
            working_counter: 7,
            working_counter_expected: 7,
            lost_frames: 0,
        }),
        model_hash: "5f2c9a01d3b4".to_owned(),
        absent_cycles: 0,
        faults: Faults::default(),
        drift: Vec::new(),
        console: None,
        vnc: None,
    };
    let tank = PartitionState {
        name: "tank".to_owned(),
        state: Activity::Waiting {
            restart_in: Nanos::from_secs(4),
            why: "segmentation fault at `tank_step` (tank.c:88)".to_owned(),
        },
        class: "process-control".to_owned(),
        period: Nanos::from_millis(100),
        cycles: 612,
        missed_cycles: 1,
        overruns: 0,
        release_max: Nanos::from_millis(3),
        forces: 0,
        restarts: 2,
        pid: None,
        fieldbus: None,
        model_hash: "0077aa".to_owned(),
        ..axis.clone()
    };
    vec![axis, tank]
}

/// The answer to `open` of such a partition.
pub fn opened(site: &str, partition: &str) -> Opened {
    Opened {
        site: site.to_owned(),
        partition: partition.to_owned(),
        generation: 1,
        incarnation: 1,
        symbols: "/nowhere/symbols.json".into(),
        tasks: vec![TaskDescription { name: "main".to_owned(), period: Nanos::from_millis(1) }],
    }
}

/// A channel from a program of the host, with two values and a queue.
pub fn channel(site: &str) -> ChannelOpened {
    let signal = |name: &str, value_type, entry| ChannelSignal {
        name: name.to_owned(),
        value_type,
        entry,
        queue: None,
        timeout_ns: None,
    };
    ChannelOpened {
        site: site.to_owned(),
        channel: "setpoint".to_owned(),
        from: None,
        to: Some("axis".to_owned()),
        signals: vec![
            ChannelSignal { timeout_ns: Some(10_000_000), ..signal("speed", DataType::F64, 1) },
            ChannelSignal { queue: Some(16), ..signal("code", DataType::U8, 3) },
            signal("enabled", DataType::Bool, 2),
        ],
    }
}

/// A swap that lost nothing.
pub fn deployed() -> Deployed {
    Deployed {
        generation: 2,
        cycle: 70_001,
        gap_cycles: 0,
        release: Nanos::from_micros(23),
        carried: 41,
        tuned: vec!["servo_P.Kp".to_owned()],
        not_carried_count: 1,
        not_carried: vec![NotCarried {
            variable: "servo_DW.filter".to_owned(),
            why: "its type was f64[2] and is f64[3]".to_owned(),
        }],
        not_forced: Vec::new(),
        probation: Probation::Passed,
    }
}

/// An event with this number.
pub fn event(sequence: u64) -> EventLine {
    EventLine {
        sequence,
        at: "2026-11-21T20:15:03.250Z".to_owned(),
        partition: "axis".to_owned(),
        cycle: Some(12),
        kind: "overrun".to_owned(),
        severity: Severity::Warning,
        text: format!("overrun {sequence}: 1.2 ms of 1 ms"),
        by: None,
    }
}
