//! The data that `top` shows: states from the supervisor, figures from the exchanges themselves.

use std::collections::BTreeMap;

use quietcore_supervisor::client::{Client, ClientError};
use quietcore_supervisor::control::PartitionState;
use quietcore_supervisor::monitor::{FigureBuffers, Monitor, TaskFigures};

use crate::machine;
use crate::status::Failure;

/// A site at one moment.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    pub(super) site: String,
    /// Time of the snapshot, RFC 3339, UTC.
    pub(super) at: String,
    /// Partitions in the order of the site file.
    pub(super) partitions: Vec<Pane>,
}

/// A partition at one moment.
#[derive(Clone, Debug)]
pub(super) struct Pane {
    pub(super) state: PartitionState,
    /// Figures of the tasks; empty if the exchange can't be read now.
    pub(super) tasks: Vec<TaskFigures>,
}

/// Gathers snapshots of one site.
pub(super) struct Collector {
    client: Client,
    /// A monitor for each partition, with the life of the partition that it belongs to.
    monitors: BTreeMap<String, (Life, Monitor)>,
    buffers: FigureBuffers,
}

/// Build, restarts and process: if any of them changes, the exchange or the symbols are others.
type Life = (u32, u32, Option<u32>);

impl Collector {
    pub(super) fn new(client: Client) -> Self {
        Self { client, monitors: BTreeMap::new(), buffers: FigureBuffers::default() }
    }

    /// Returns the site as it is now.
    pub(super) fn collect(&mut self) -> Result<Snapshot, Failure> {
        let mut partitions = Vec::new();
        for state in self.client.list()? {
            let tasks = self.tasks_of(&state)?;
            partitions.push(Pane { state, tasks });
        }
        let site = self.client.site().to_owned();
        Ok(Snapshot { site, at: machine::time_of_day(), partitions })
    }

    fn tasks_of(&mut self, state: &PartitionState) -> Result<Vec<TaskFigures>, Failure> {
        let life = (state.generation, state.restarts, state.pid);
        if self.monitors.get(&state.name).is_none_or(|(of, _)| *of != life) {
            self.monitors.remove(&state.name);
            match self.client.open(&state.name) {
                Ok((opened, file)) => {
                    let monitor = Monitor::new(opened, file)?;
                    self.monitors.insert(state.name.clone(), (life, monitor));
                }
                // It does not run now; its state says why.
                Err(ClientError::Refused(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let Some((_, monitor)) = self.monitors.get(&state.name) else { return Ok(Vec::new()) };
        Ok(monitor.figures(&mut self.buffers).into_iter().flatten().collect())
    }
}
