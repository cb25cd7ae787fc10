//! Resources and their ceilings (OSEK OS 2.2.3, 8).
//!
//! Names linked to one another are one resource: what uses any of them counts for the ceiling of
//! all. The ceiling is the highest priority of the tasks that use the resource, or, where an ISR
//! uses it, the highest interrupt level of those.

use quietcore_osek::configuration::{SCHEDULER_LEVEL, Scale};

use crate::application::{self, Application, Property};
use crate::check::names::{Names, SCHEDULER_RESOURCE};
use crate::configuration::{InternalResource, Resource};
use crate::problem::Collector;
use crate::schema::Kind;
use crate::text::place::Word;

/// All resources, and who uses them.
#[derive(Debug)]
pub(super) struct Resources {
    /// Those that are got and released; the kernel's own is the last.
    pub(super) ordinary: Vec<Resource>,
    /// Those that are occupied whenever their tasks run.
    pub(super) internal: Vec<InternalResource>,
    task_uses: Vec<Vec<ResourceEntry>>,
    isr_uses: Vec<Vec<ResourceEntry>>,
}

/// The entry of a resource: its table and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResourceEntry {
    Ordinary(usize),
    Internal(usize),
}

impl Resources {
    /// The numbers of the resources that a task gets and releases.
    pub(super) fn of_task(&self, task: usize) -> Vec<usize> {
        self.task_uses.get(task).map_or_else(Vec::new, |uses| ordinary(uses))
    }

    /// The numbers of the resources that an ISR gets and releases.
    pub(super) fn of_isr(&self, isr: usize) -> Vec<usize> {
        self.isr_uses.get(isr).map_or_else(Vec::new, |uses| ordinary(uses))
    }

    /// The internal resource of a task.
    pub(super) fn internal_of(&self, task: usize) -> Option<(usize, &InternalResource)> {
        self.task_uses.get(task)?.iter().find_map(|place| match place {
            ResourceEntry::Internal(index) => Some((*index, &self.internal[*index])),
            ResourceEntry::Ordinary(_) => None,
        })
    }
}

fn ordinary(uses: &[ResourceEntry]) -> Vec<usize> {
    let ordinary = uses.iter().filter_map(|place| match place {
        ResourceEntry::Ordinary(index) => Some(*index),
        ResourceEntry::Internal(_) => None,
    });
    ordinary.collect()
}

/// The highest users of a resource, on both scales.
#[derive(Clone, Copy, Debug, Default)]
struct Users {
    task: Option<u8>,
    isr: Option<u8>,
}

impl Users {
    fn merge(self, other: Self) -> Self {
        Self { task: self.task.max(other.task), isr: self.isr.max(other.isr) }
    }

    fn ceiling(self) -> Option<(Scale, u8)> {
        let of_isrs = self.isr.map(|level| (Scale::Interrupt, level));
        of_isrs.or(self.task.map(|level| (Scale::Task, level)))
    }
}

/// The resources with their ceilings, or what makes a ceiling impossible.
pub(super) fn resources(
    application: &Application,
    names: &Names,
    levels: &[u8],
    collector: &mut Collector,
) -> Resources {
    let given = &application.resources;
    let mut users = vec![Users::default(); given.len()];
    for (task, level) in application.tasks.iter().zip(levels) {
        let used = task.resources.iter().filter_map(|resource| names.resource(resource));
        for resource in used {
            users[resource] = users[resource].merge(Users { task: Some(*level), isr: None });
        }
        check_internal_of(task, application, names, collector);
    }
    for isr in &application.isrs {
        check_isr(isr, application, names, collector);
        for resource in isr.resources.iter().filter_map(|resource| names.resource(resource)) {
            let level = Some(isr.level.value);
            users[resource] = users[resource].merge(Users { task: None, isr: level });
        }
    }
    let roots = roots(given, names, collector);
    let mut merged = vec![Users::default(); given.len()];
    for (users, root) in users.iter().zip(&roots) {
        merged[*root] = merged[*root].merge(*users);
    }
    let mut ceilings: Vec<_> = roots.iter().map(|root| merged[*root].ceiling()).collect();
    let users_are_known =
        ![Kind::Task, Kind::Isr, Kind::Resource].iter().any(|kind| names.have_lost(*kind));
    let most_urgent = levels.iter().enumerate().max_by_key(|(_, level)| **level);
    let mut assumed = Vec::new();
    for (index, (resource, ceiling)) in given.iter().zip(&mut ceilings).enumerate() {
        if ceiling.is_some() || !users_are_known {
            continue;
        }
        let name = &resource.name;
        let refused = format!(
            "no task or ISR uses this resource, so that it has no ceiling; write `RESOURCE = {};` \
             into those that do",
            name.text
        );
        match most_urgent.filter(|_| matches!(resource.property, Property::Standard)) {
            Some((task, level)) => {
                let user = &application.tasks[task].name.text;
                let understood = format!(
                    "no task or ISR says that it uses this resource; read as used by `{user}`, so \
                     that its ceiling is the highest priority of all tasks"
                );
                collector.depart(name.place, &name.text, &refused, &understood);
                *ceiling = Some((Scale::Task, *level));
                assumed.push((task, index));
            }
            None => collector.refuse_word(name, refused),
        }
    }
    let mut resources = tables(application, names, &ceilings);
    for (task, index) in assumed {
        let ordinary =
            given[..index].iter().filter(|it| !matches!(it.property, Property::Internal));
        resources.task_uses[task].push(ResourceEntry::Ordinary(ordinary.count()));
    }
    resources
}

/// At most one internal resource, and none for a task that is not preemptable.
fn check_internal_of(
    task: &application::Task,
    application: &Application,
    names: &Names,
    collector: &mut Collector,
) {
    let mut first: Option<&Word> = None;
    for resource in internal_among(&task.resources, application, names) {
        if task.not_preemptable.is_some() {
            let message = format!(
                "`{}` is not preemptable and can have no internal resource; leave it out, or write \
                 `SCHEDULE = FULL;`",
                task.name.text
            );
            collector.refuse_word(resource, message);
        } else if let Some(first) = first {
            let message = format!(
                "the second internal resource of `{}`, after `{}`; leave one",
                task.name.text, first.text
            );
            collector.refuse_word(resource, message);
        }
        first = first.or(Some(resource));
    }
}

fn check_isr(
    isr: &application::Isr,
    application: &Application,
    names: &Names,
    collector: &mut Collector,
) {
    if let Some(first) = isr.resources.first()
        && isr.category == 1
    {
        let message = format!(
            "`{}` is of category 1, which uses no services; leave it out, or write `CATEGORY = 2;`",
            isr.name.text
        );
        collector.refuse_word(first, message);
    }
    for resource in internal_among(&isr.resources, application, names) {
        let message = format!(
            "an internal resource, which only tasks have; let `{}` use another one",
            isr.name.text
        );
        collector.refuse_word(resource, message);
    }
}

fn internal_among<'w>(
    resources: &'w [Word],
    application: &'w Application,
    names: &'w Names,
) -> impl Iterator<Item = &'w Word> {
    resources.iter().filter(|resource| {
        let index = names.resource(resource);
        index.is_some_and(|index| {
            matches!(application.resources[index].property, Property::Internal)
        })
    })
}

/// For each resource the one that its links lead to; those of a circle, which is told, lead to
/// themselves.
fn roots(given: &[application::Resource], names: &Names, collector: &mut Collector) -> Vec<usize> {
    let next = |index: usize| match &given[index].property {
        Property::Linked(other) => names.resource(other).filter(|next| *next < given.len()),
        Property::Standard | Property::Internal => None,
    };
    let mut roots = Vec::with_capacity(given.len());
    for (index, resource) in given.iter().enumerate() {
        let mut root = index;
        // Whoever goes on for longer than there are resources runs in a circle.
        let mut steps = 0;
        while let Some(further) = next(root).filter(|_| steps <= given.len()) {
            root = further;
            steps += 1;
        }
        if let Property::Linked(other) = &resource.property {
            if steps > given.len() {
                let message = "links run in a circle; link one of them to a standard resource";
                collector.refuse_word(other, message);
                root = index;
            } else if other.text == SCHEDULER_RESOURCE {
                let message = "the kernel's own resource has no other names; link to one of yours";
                collector.refuse_word(other, message);
            } else if matches!(given[root].property, Property::Internal) {
                let message = "an internal resource is never got; link to a standard one";
                collector.refuse_word(other, message);
            }
        }
        roots.push(root);
    }
    roots
}

fn tables(application: &Application, names: &Names, ceilings: &[Option<(Scale, u8)>]) -> Resources {
    let mut resources = Resources {
        ordinary: Vec::new(),
        internal: Vec::new(),
        task_uses: Vec::new(),
        isr_uses: Vec::new(),
    };
    let mut places = Vec::new();
    for (resource, ceiling) in application.resources.iter().zip(ceilings) {
        let name = resource.name.text.clone();
        // Without a ceiling nothing is made of these tables.
        let (scale, ceiling) = ceiling.unwrap_or((Scale::Task, 0));
        if matches!(resource.property, Property::Internal) {
            places.push(ResourceEntry::Internal(resources.internal.len()));
            resources.internal.push(InternalResource { name, ceiling });
        } else {
            places.push(ResourceEntry::Ordinary(resources.ordinary.len()));
            let linked_to = None;
            resources.ordinary.push(Resource { name, scale, ceiling, linked_to });
        }
    }
    link(&mut resources.ordinary, application, names, &places);
    let scheduler = ResourceEntry::Ordinary(resources.ordinary.len());
    if application.os.scheduler_resource {
        resources.ordinary.push(Resource {
            name: SCHEDULER_RESOURCE.to_owned(),
            scale: Scale::Task,
            ceiling: SCHEDULER_LEVEL,
            linked_to: None,
        });
    }
    let place = |resource: &Word| names.resource(resource).map_or(scheduler, |it| places[it]);
    let tasks = application.tasks.iter();
    resources.task_uses = tasks.map(|it| it.resources.iter().map(place).collect()).collect();
    let isrs = application.isrs.iter();
    resources.isr_uses = isrs.map(|it| it.resources.iter().map(place).collect()).collect();
    resources
}

fn link(
    ordinary: &mut [Resource],
    application: &Application,
    names: &Names,
    places: &[ResourceEntry],
) {
    for (resource, place) in application.resources.iter().zip(places) {
        if let (Property::Linked(other), ResourceEntry::Ordinary(index)) =
            (&resource.property, place)
            && let Some(ResourceEntry::Ordinary(other)) = names.resource(other).map(|it| places[it])
        {
            ordinary[*index].linked_to = Some(other);
        }
    }
}
