//! The way of a folder with an OIL file: the tables are generated, and the OSEK kernel is linked
//! in.
//!
//! ```text
//! *.oil ─► os_cfg.c ─► what it refers to: tasks, ISRs, callbacks, hooks ─► the objects needed
//!                                            glue, libquietcore_osek.a ─► link ─► module.so
//! ```

use std::collections::{BTreeSet, HashMap};
use std::fs;

use quietcore_oil::{Configuration, NotIncluded, Problems, Reading};

use super::{Linked, Recipe, debug_info, refused, uses_services};
use crate::build::image::LinkedFile;
use crate::build::objects::Object;
use crate::build::sources::{SourceFile, Sources};
use crate::build::store::Fresh;
use crate::build::{
    BuildError, Carried, Diagnostic, Kind, LeftOut, Options, Severity, collect, headers, widths,
};
use crate::interface::{
    self, Interface, KernelCounter, KernelInterface, Language, Packaging, PeriodPlace,
    PeriodStatement, Rate,
};
use crate::osek;
use quietcore_wording::{alike, list, meant};

/// Files that are generated with each build, so a copy in the folder would be an old one.
const OURS: [&str; 4] = [osek::HEADER_FILE, osek::TABLES_FILE, "os.h", "quietcore_osek.h"];
/// For each kind of object: the prefix of its function's name in C, the macro that programs write
/// instead, the noun for it, and the least that its function holds.
const FUNCTIONS: [(&str, &str, &str, &str); 3] = [
    ("quietcore_osek_task_", "TASK", "task", "… TerminateTask();"),
    ("quietcore_osek_isr_", "ISR", "ISR", "…"),
    ("quietcore_osek_callback_", "ALARMCALLBACK", "alarm callback", "…"),
];

/// The OSEK application of a folder.
#[derive(Debug)]
pub(super) struct Application {
    /// The OIL file, relative to the folder.
    file: String,
    configuration: Configuration,
    /// The number of the mode in which it starts.
    mode: usize,
}

/// The application of a folder; `None` where it holds no OIL file.
pub(super) fn find(
    sources: &mut Sources,
    options: &Options,
) -> Result<Option<Application>, BuildError> {
    if options.kind == Some(Kind::Generated) {
        return Ok(None);
    }
    let is_generated = |files: &Sources| files.compiled.iter().any(SourceFile::seems_generated);
    let chosen = choose(&sources.oil, options.oil.as_deref(), || is_generated(sources))?;
    let Some(file) = chosen else {
        let wanted = options.kind == Some(Kind::Osek);
        return if wanted { Err(BuildError::NoOilAtAll) } else { Ok(None) };
    };
    let (name, text) = (file.name.clone(), quietcore_oil::decode(file.content.clone()));
    let files = &*sources;
    let mut include = |wanted: &str| {
        let beside = name.rsplit_once('/').map(|(folder, _)| format!("{folder}/{wanted}"));
        let beside = beside.unwrap_or_else(|| wanted.to_owned());
        let found = files.oil.iter().chain(&files.included).find(|file| file.name == beside);
        let text = found.map(|file| quietcore_oil::decode(file.content.clone()));
        text.ok_or_else(|| NotIncluded::Missing(format!("there is no `{beside}` in the folder")))
    };
    let reading = Reading { strict: false, tick_ns: options.tick_ns };
    let configuration = quietcore_oil::read(&name, &text, reading, &mut include)
        .map_err(|problems| refusal(&problems, is_generated(files)))?;
    check_messages(&configuration, &options.carried, is_generated(sources))?;
    leave_out_ours(sources);
    let mode = choose_mode(&name, &configuration, options.mode.as_deref())?;
    Ok(Some(Application { file: name, configuration, mode }))
}

/// The OIL file that is meant: the one asked for, or the only one.
fn choose<'s>(
    files: &'s [SourceFile],
    wanted: Option<&str>,
    is_generated: impl Fn() -> bool,
) -> Result<Option<&'s SourceFile>, BuildError> {
    let names = || files.iter().map(|file| file.name.clone()).collect::<Vec<_>>();
    match (wanted, files) {
        (Some(wanted), _) => {
            let found = files.iter().find(|file| file.name == wanted);
            let missing = || BuildError::NoOil { wanted: wanted.to_owned(), names: names() };
            found.ok_or_else(missing).map(Some)
        }
        (None, []) => Ok(None),
        (None, [file]) => Ok(Some(file)),
        (None, _) => Err(BuildError::SeveralOil { names: names(), is_generated: is_generated() }),
    }
}

/// The number of the application mode that is meant: the one asked for, or the first.
fn choose_mode(
    oil: &str,
    configuration: &Configuration,
    wanted: Option<&str>,
) -> Result<usize, BuildError> {
    let Some(wanted) = wanted else { return Ok(0) };
    let names = configuration.modes().iter().map(|mode| mode.name.clone());
    let found = names.clone().position(|name| name == wanted);
    found.ok_or_else(|| BuildError::NoMode {
        oil: oil.to_owned(),
        wanted: wanted.to_owned(),
        names: names.collect(),
    })
}

/// Refuses messages that the partition does not receive. All are told at once.
fn check_messages(
    configuration: &Configuration,
    carried: &[Carried],
    is_generated: bool,
) -> Result<(), BuildError> {
    let mut errors = Vec::new();
    for message in configuration.messages() {
        let name = message.name.as_str();
        let Some(why) = not_received(name, carried) else { continue };
        let place = configuration.message_place(name).map(|found| &found.position);
        errors.push(Diagnostic {
            severity: Severity::Error,
            file: place.map(|place| place.file.clone()).unwrap_or_default(),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            message: format!("`{name}`: {why}"),
        });
    }
    if errors.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    Err(BuildError::Oil { is_generated, text: lines.join("\n"), errors })
}

/// The reason why a program can't be notified of a message of this name; `None` where it can.
fn not_received(name: &str, carried: &[Carried]) -> Option<String> {
    let named: Vec<&Carried> = carried.iter().filter(|it| it.name == name).collect();
    match named[..] {
        [one] if one.is_received => return None,
        [_] => return Some("the partition sends it; name what it receives".to_owned()),
        [_, _, ..] => {
            let both = "the name of a group and of a signal";
            return Some(format!("{both}; rename the channel or the signal in the site file"));
        }
        [] => {}
    }
    let received = || carried.iter().filter(|it| it.is_received).map(|it| it.name.as_str());
    let otherwise = match received().next() {
        Some(_) => format!("it receives {}", list(received())),
        None => "it receives nothing: there is no channel to it in the site file".to_owned(),
    };
    let hint = meant(name, received(), otherwise);
    Some(format!("no signal, queue or group that the partition receives; {hint}"))
}

/// Files that an earlier `generate` may have left in the folder.
fn leave_out_ours(sources: &mut Sources) {
    let is_ours =
        |file: &SourceFile| OURS.contains(&file.name.rsplit('/').next().unwrap_or(&file.name));
    for files in [&mut sources.compiled, &mut sources.included] {
        for file in files.extract_if(.., |file| is_ours(file)) {
            let why = "it is made anew with each build".to_owned();
            sources.left_out.push(LeftOut { file: file.name, why });
        }
    }
    sources.left_out.sort_by(|one, other| one.file.cmp(&other.file));
}

/// The error of an OIL file that can't be used.
fn refusal(problems: &Problems, is_generated: bool) -> BuildError {
    let errors = problems.iter().map(|problem| Diagnostic {
        severity: Severity::Error,
        file: problem.position.file.clone(),
        line: Some(problem.position.line),
        column: Some(problem.position.column),
        message: if problem.token.is_empty() {
            format!("end of the file: {}", problem.message)
        } else {
            format!("`{}`: {}", problem.token, problem.message)
        },
    });
    BuildError::Oil { is_generated, text: problems.to_string(), errors: errors.collect() }
}

impl Recipe<'_> {
    /// Builds an OSEK program.
    pub(super) fn build_osek(&self, application: &Application) -> Result<Fresh, BuildError> {
        let configuration = &application.configuration;
        headers::write(self.scratch)?;
        self.copy_sources()?;
        for (name, text) in osek::HEADERS {
            self.write_include(name, text)?;
        }
        let [(header, declared), (_, tables)] = osek::generated(configuration);
        self.write_include(header, &declared)?;

        // Without debug information: the tables are not the program's own variables.
        let tables = self.compile_text("os_cfg.c", &tables, &["-g0"])?;
        let objects = self.compile_all()?;
        let selection = self.select(&objects, &tables.needed)?;
        self.check_defined(application, &tables, &selection.open, &objects)?;
        let glue = self.compile_text(
            "quietcore_glue.c",
            &(glue(application, self.kit.first()) + &self.kit.memory_of_kernel(configuration)),
            &["-g0"],
        )?;
        let more = [&tables, &glue];
        let whole = self.link_whole(&objects, &selection, &more, Some(self.kit.kernel()?))?;
        let Linked { first: module, second, data } = whole;
        let linked = LinkedFile::parse(&module)?;
        let info = debug_info(&module)?;
        widths::check(&info)?;
        let is_notified = !configuration.messages().is_empty();
        let com = is_notified || uses_services(&objects, &selection);
        let interface = application.interface(com);
        let symbols =
            collect::symbols(&interface.model, &info, &linked, data, &HashMap::new(), None)?;
        let chosen = selection.chosen.iter().map(|index| &objects[*index]);
        Ok(Fresh {
            symbols,
            data,
            interface,
            warnings: chosen.flat_map(|object| object.outcome.diagnostics()).collect(),
            remarks: self.remarks_on(configuration),
            left_out: self.left_out(&objects, &selection),
            module,
            second,
        })
    }

    fn write_include(&self, name: &str, text: &str) -> Result<(), BuildError> {
        let file = self.scratch.join("include").join(name);
        fs::write(&file, text).map_err(|error| BuildError::io(&file, error))
    }

    /// Everything that the tables refer to has to be in the folder.
    fn check_defined(
        &self,
        application: &Application,
        tables: &Object,
        open: &BTreeSet<String>,
        objects: &[Object],
    ) -> Result<(), BuildError> {
        let missing: Vec<&String> = tables.needed.intersection(open).collect();
        if missing.is_empty() {
            return Ok(());
        }
        // What the program writes as `TASK(x)` may stand in a file that does not compile.
        let failed = objects.iter().map(|object| &object.outcome).filter(|it| !it.success);
        let failed: Vec<_> = failed.collect();
        if !failed.is_empty() {
            return Err(refused(failed));
        }
        let defined = objects.iter().flat_map(|object| &object.functions);
        let defined: BTreeSet<&str> = defined.map(String::as_str).collect();
        let mut errors: Vec<Diagnostic> =
            missing.iter().map(|name| application.without(name, &defined)).collect();
        errors.sort_by(|one, other| {
            (&one.file, one.line, one.column).cmp(&(&other.file, other.line, other.column))
        });
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Err(BuildError::Refused { lacks: Vec::new(), text: lines.join("\n"), errors })
    }

    fn remarks_on(&self, configuration: &Configuration) -> Vec<String> {
        let mut remarks: Vec<String> =
            configuration.remarks().iter().map(ToString::to_string).collect();
        remarks.extend(headers::remark(self.sources));
        if self.short_long {
            remarks.push(widths::SHORT_LONG_REMARK.to_owned());
        }
        remarks
    }
}

impl Application {
    /// Describes a function that the program has to define and does not: the position in the OIL
    /// file that asks for it, and what is there in its place, or what to write.
    fn without(&self, function: &str, defined: &BTreeSet<&str>) -> Diagnostic {
        let known =
            FUNCTIONS.iter().find_map(|known| Some((known, function.strip_prefix(known.0)?)));
        let (name, message) = match known {
            Some((&(prefix, written, kind, body), name)) => {
                let there = defined.iter().filter_map(|other| other.strip_prefix(prefix));
                let near = alike(name, there);
                let remedy = match &near[..] {
                    [] => format!("write `{written}({name}) {{ {body} }}`"),
                    near => format!("there is {}", list(near)),
                };
                let lacks = format!("has no `{written}({name})` in the folder");
                (name, format!("the {kind} `{name}` {lacks}; {remedy}"))
            }
            None => {
                let parameter = if matches!(function, "ErrorHook" | "ShutdownHook") {
                    "StatusType error"
                } else {
                    "void"
                };
                let remedy =
                    format!("write `void {function}({parameter}) {{ … }}`, or `FALSE` here");
                (function, format!("there is no `{function}` in the folder; {remedy}"))
            }
        };
        let place = self.configuration.definition(name).map(|found| &found.position);
        Diagnostic {
            severity: Severity::Error,
            file: place.map_or_else(|| self.file.clone(), |place| place.file.clone()),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            message,
        }
    }

    fn interface(&self, com: bool) -> Interface {
        let configuration = &self.configuration;
        let counter = configuration.counters().iter().find_map(|counter| {
            let tick_ns = counter.tick_ns?;
            Some(KernelCounter { name: counter.name.clone(), tick_ns })
        });
        let stem = self.file.rsplit('/').next().unwrap_or(&self.file);
        Interface {
            model: stem.strip_suffix(".oil").unwrap_or(stem).to_owned(),
            language: Language::C,
            class: None,
            packaging: Packaging::Global,
            rates: vec![Rate {
                functions: vec!["quietcore_osek_step".to_owned()],
                period_ns: counter.as_ref().map(|counter| counter.tick_ns),
                stated: Vec::from_iter(counter.as_ref().map(|counter| PeriodStatement {
                    file: self.file.clone(),
                    place: PeriodPlace::CounterTick,
                    period_ns: counter.tick_ns,
                })),
            }],
            initialize: "quietcore_osek_initialize".to_owned(),
            terminate: Some("quietcore_osek_terminate".to_owned()),
            error_status: true,
            com,
            kernel: Some(KernelInterface {
                oil: self.file.clone(),
                counter,
                tasks: configuration.tasks().iter().map(|task| task.name.clone()).collect(),
            }),
        }
    }
}

/// The C that makes the kernel with its program a module. `first` is a function to be called before
/// all others, where there is one.
fn glue(application: &Application, first: Option<&str>) -> String {
    let Application { configuration, mode, .. } = application;
    let [declared, called] = match first {
        Some(first) => [format!("extern void {first}(void);\n\n"), format!("  {first}();\n")],
        None => [String::new(), String::new()],
    };
    format!(
        "/* How to run the OSEK application {cpu}; generated with each build. */\n\
         #include <stddef.h>\n\
         #include \"quietcore_module.h\"\n\
         #include \"quietcore_osek.h\"\n\n\
         const struct quietcore_services *{services};\n\n\
         /* As the OIL file says, but with an account of each job, which the partition shows. */\n\
         static struct quietcore_osek_configuration quietcore_accounted;\n\n\
         {declared}static void quietcore_initialize(void)\n{{\n{called}  \
         quietcore_accounted = quietcore_osek_configuration;\n  \
         quietcore_accounted.accounting = 1u;\n  \
         /* Where it can't start, its error status says so. */\n  \
         (void)quietcore_osek_initialize(&quietcore_accounted, {mode}u, {services});\n}}\n\n\
         static void quietcore_step(uint32_t rate)\n{{\n  \
         if (rate == 0u) {{\n    quietcore_osek_step();\n  }}\n}}\n\n\
         __attribute__((visibility(\"default\")))\n\
         const struct quietcore_module quietcore_module = {{\n  \
         .version = QUIETCORE_MODULE_VERSION,\n  \
         .rate_count = 1u,\n  \
         .initialize = quietcore_initialize,\n  \
         .step = quietcore_step,\n  \
         .terminate = quietcore_osek_terminate,\n  \
         .error_status = quietcore_osek_error,\n  \
         .services = &{services},\n  \
         .interrupt = quietcore_osek_interrupt,\n  \
         .tasks = quietcore_osek_task_names,\n  \
         .task_count = {count}u,\n  \
         .overflowed = quietcore_osek_overflowed,\n  \
         .under_way = quietcore_osek_under_way,\n  \
         .guard = quietcore_osek_guard,\n\
         }};\n",
        cpu = configuration.cpu(),
        services = interface::SERVICES_NAME,
        count = configuration.tasks().len(),
    )
}
