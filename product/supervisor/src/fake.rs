//! A site without partitions: what it is asked it notes, and it fails where it is told to.

mod program;

use std::fs::File;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use quietcore_units::Nanos;

use crate::control::{
    Activity, Applied, Change, ControlError, Criticality, DeployPatience, Deployed, ErrorKind,
    EventLine, Faults, FieldbusState, NotCarried, Opened, PartitionState, Probation, Restart,
    Severity, Site, TaskDescription, Trace, TraceStarted,
};

pub use program::FakeProgram;

/// What a fake site answers, and what it was asked.
#[derive(Debug, Default)]
pub struct FakeState {
    /// Its name.
    pub name: String,
    /// Its partitions.
    pub partitions: Vec<PartitionState>,
    /// What `open` answers, and the file it gives.
    pub opened: Option<(Opened, File)>,
    /// The program that runs as partition `axis`, in place of `opened`.
    pub program: Option<FakeProgram>,
    /// What has happened.
    pub events: Vec<EventLine>,
    /// What every request that may fail answers instead.
    pub refusal: Option<ControlError>,
    /// The requests in their order, in a short form.
    pub asked: Vec<String>,
    /// The cycle in which the next group acts.
    pub cycle: u64,
    /// What it says that the fieldbus writes.
    pub overwritten: Vec<String>,
}

/// A site that does nothing but answer.
#[derive(Debug, Default)]
pub struct FakeSite {
    state: Mutex<FakeState>,
}

impl FakeSite {
    /// A site with the partitions of [`partitions`].
    pub fn new() -> Self {
        let name = "line".to_owned();
        let partitions = partitions();
        let state = FakeState { name, partitions, cycle: 1000, ..FakeState::default() };
        Self { state: Mutex::new(state) }
    }

    /// The same site, with a program that really runs as `axis`.
    pub fn with_program(program: FakeProgram) -> Self {
        let site = Self::new();
        site.state().program = Some(program);
        site
    }

    /// Its state, to be changed or looked at.
    pub fn state(&self) -> MutexGuard<'_, FakeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the request, and refuses it where that was wished or the partition isn't there.
    fn ask(
        &self,
        partition: &str,
        asked: String,
    ) -> Result<MutexGuard<'_, FakeState>, ControlError> {
        let mut state = self.state();
        state.asked.push(asked);
        if let Some(refusal) = &state.refusal {
            return Err(refusal.clone());
        }
        if !state.partitions.iter().any(|it| it.name == partition) {
            let names = state.partitions.iter().map(|it| it.name.as_str());
            return Err(ControlError::no_partition(partition, names));
        }
        Ok(state)
    }

    fn apply(&self, partition: &str, asked: String) -> Result<Applied, ControlError> {
        let mut state = self.ask(partition, asked)?;
        state.cycle += 1;
        Ok(Applied { cycle: state.cycle, overwritten: state.overwritten.clone() })
    }
}

impl Site for FakeSite {
    fn list(&self) -> Vec<PartitionState> {
        self.state().partitions.clone()
    }

    fn open(&self, partition: &str) -> Result<(Opened, File), ControlError> {
        let state = self.ask(partition, format!("open {partition}"))?;
        if let Some(program) = state.program.as_ref().filter(|_| partition == "axis") {
            let opened = program.opened(&state.name, partition);
            return opened.map_err(|error| failed(partition, error.to_string()));
        }
        let (opened, file) = state.opened.as_ref().ok_or_else(|| {
            ControlError::new(ErrorKind::NotNow, partition, "it does not run", "")
        })?;
        let file = file.try_clone().map_err(|error| failed(partition, error.to_string()))?;
        Ok((opened.clone(), file))
    }

    fn write(&self, partition: &str, changes: &[Change]) -> Result<Applied, ControlError> {
        let written: Vec<String> = changes
            .iter()
            .map(|change| {
                let value = change.value.as_deref().unwrap_or("–");
                format!("{:?} {} {value}", change.kind, change.variable)
            })
            .collect();
        let applied =
            self.apply(partition, format!("write {partition}: {}", written.join(", ")))?;
        if let Some(program) = &self.state().program {
            for change in changes {
                program.change(change)?;
            }
        }
        Ok(applied)
    }

    fn unforce_all(&self, partition: &str) -> Result<Applied, ControlError> {
        self.apply(partition, format!("unforce-all {partition}"))
    }

    fn trace_start(&self, partition: &str, trace: &Trace) -> Result<TraceStarted, ControlError> {
        let Trace { variables, every, task } = trace;
        let names = variables.join(" ");
        let asked = format!("trace-start {partition}: {names}, every {every} of task {task}");
        let state = self.ask(partition, asked)?;
        let Some(program) = &state.program else {
            return Ok(TraceStarted { generation: 1, cycle: state.cycle });
        };
        program.trace(trace)?;
        Ok(TraceStarted { generation: program.generation(), cycle: 0 })
    }

    fn trace_stop(&self, partition: &str) -> Result<(), ControlError> {
        let state = self.ask(partition, format!("trace-stop {partition}"))?;
        if let Some(program) = &state.program {
            program.trace(&Trace { variables: Vec::new(), every: 1, task: 0 })?;
        }
        Ok(())
    }

    fn deploy(
        &self,
        partition: &str,
        folder: &Path,
        patience: DeployPatience,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Deployed, ControlError> {
        let waits = match patience {
            DeployPatience::UntilItRuns => "",
            DeployPatience::UntilProven => ", until proven",
        };
        drop(self.ask(partition, format!("deploy {partition} {}{waits}", folder.display()))?);
        progress("building");
        progress("staged");
        Ok(deployed())
    }

    fn restart(&self, partition: &str, how: Restart) -> Result<(), ControlError> {
        self.ask(partition, format!("restart {partition} {how:?}")).map(|_| ())
    }

    fn pause(&self, partition: &str, pause: bool) -> Result<(), ControlError> {
        let what = if pause { "pause" } else { "resume" };
        self.ask(partition, format!("{what} {partition}")).map(|_| ())
    }

    fn events(&self, since: u64) -> Vec<EventLine> {
        self.state().events.iter().filter(|event| event.sequence >= since).cloned().collect()
    }

    fn down(&self) {
        self.state().asked.push("down".to_owned());
    }
}

fn failed(partition: &str, what: String) -> ControlError {
    ControlError::new(ErrorKind::Failed, partition, what, "")
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

/// What a monitor of such a partition gets.
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
    }
}
