//! The steps of a build, in order.

mod compile;
mod kernel;
mod link;

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use crate::build::compiler::reads;
use crate::build::compiler::{Compiler, Outcome};
use crate::build::image::LinkedFile;
use crate::build::objects::{self, Object, Selection};
use crate::build::sources::{self, SourceFile, Sources};
use crate::build::store::{self, Fresh, Inputs};
use crate::build::telling::{lacks, left_out_told};
use crate::build::{
    Build, BuildError, Diagnostic, LeftOut, Options, RECEIVED_MARK, Target, collect, headers,
    widths,
};
use crate::debug::{self, DebugInfo};
use crate::interface::{
    self, Discovery, Entry, InterfaceError, Language, SourceText, Surroundings,
};
use crate::osek;
use link::{Kit, Linked};

/// Folder that the sources are copied to, below the folder of the build.
const SOURCE_FOLDER: &str = "source";

/// A build on its way.
struct Recipe<'a> {
    /// Folder of the copies of the sources.
    folder: &'a Path,
    scratch: &'a Path,
    options: &'a Options,
    compiler: &'a Compiler,
    sources: &'a Sources,
    kit: &'a Kit,
    /// `true` if the code expects a `long` of 32 bits.
    short_long: bool,
    /// `true` if a task that waited would hold up all others: in a guest, and under a kernel.
    never_waits: bool,
    /// The files that the compiler has read so far for others: those of the folder by their names
    /// in it, all else by their whole paths.
    read: Mutex<BTreeSet<String>>,
}

pub(super) fn build(folder: &Path, options: &Options, out_dir: &Path) -> Result<Build, BuildError> {
    let has_cpp = options.target == Target::Module;
    let mut sources = sources::scan(folder, &options.leave_out, has_cpp)?;
    for include in &options.include {
        sources.beside.extend(sources::headers(include)?);
    }
    let application = kernel::find(&mut sources, options)?;
    let mut compiler = Compiler::find(options, is_received(folder))?;
    let mut kit = Kit::find(options, &compiler)?;
    let mut parts: Vec<&[u8]> =
        headers::all().chain(compile::arguments()).map(str::as_bytes).collect();
    parts.extend(compiler.options().iter().map(String::as_bytes));
    parts.extend(kit.parts());
    if application.is_some() {
        parts.push(kit.kernel()?);
        parts.extend(osek::HEADERS.map(|(_, text)| text.as_bytes()));
    }
    let key = store::key(&sources, options, &compiler.identity, &parts);
    if let Some(build) = store::find(out_dir, &key) {
        return Ok(build);
    }
    let begin = SystemTime::now();
    kit.prepare(&compiler)?;
    let scratch = tempfile::Builder::new()
        .prefix(".quietcore-building-")
        .tempdir_in(out_dir)
        .map_err(|error| BuildError::io(out_dir, error))?;
    let scratch_path =
        fs::canonicalize(scratch.path()).map_err(|error| BuildError::io(scratch.path(), error))?;
    let copies = scratch_path.join(SOURCE_FOLDER);
    compiler.show(&scratch_path);
    let recipe = Recipe {
        folder: &copies,
        scratch: &scratch_path,
        options,
        compiler: &compiler,
        sources: &sources,
        kit: &kit,
        short_long: expects_short_long(&sources),
        never_waits: options.target == Target::Guest || application.is_some(),
        read: Mutex::default(),
    };
    let fresh = match &application {
        Some(application) => recipe.build_osek(application),
        None => recipe.build(),
    };
    let mut fresh = fresh.map_err(|error| with_lacks(error, &sources, folder))?;
    let read = recipe.read_outside(begin)?;
    fresh.remarks.extend(reads::remark(&read, folder));
    let inputs = Inputs { key: &key, compiler: &compiler.identity, read };
    store::keep(fresh, inputs, &scratch_path, out_dir)
}

/// Returns `true` if the folder, or one around it, is marked as received.
fn is_received(folder: &Path) -> bool {
    folder.ancestors().any(|it| it.join(RECEIVED_MARK).symlink_metadata().is_ok())
}

impl Recipe<'_> {
    fn build(&self) -> Result<Fresh, BuildError> {
        headers::write(self.scratch)?;
        self.copy_sources()?;
        let objects = self.compile_all()?;
        let entry = interface::choose(&objects, self.options.model.as_deref())
            .map_err(|error| self.or_refused(error, &objects))?;
        self.check_unbuilt(&objects, &entry)?;
        let mut roots = entry.functions();
        let selection = self.select(&objects, &roots)?;
        let first = self.link_open(&paths(&objects, &selection))?;
        let info = debug_info(&first)?;
        widths::check(&info)?;
        let mut discovery = interface::discover(&info, &entry, &self.surroundings(&entry))?;
        let text = interface::glue(&discovery, self.kit.first());
        let glue = match discovery.interface.language {
            Language::C => self.compile_text("quietcore_glue.c", &text, &[])?,
            Language::Cpp => self
                .compile_text("quietcore_glue.cpp", &text, &compile::GLUE_CPP)
                .map_err(|error| discovery.constructor_refused(error))?,
        };
        // The glue may need what the entry points do not, such as initial parameters.
        roots.extend(glue.needed.iter().cloned());
        let selection = self.select(&objects, &roots)?;
        discovery.interface.com = uses_services(&objects, &selection);
        discovery.remarks.extend(headers::remark(self.sources));
        if self.short_long {
            discovery.remarks.push(widths::SHORT_LONG_REMARK.to_owned());
        }
        let linked = self.link_whole(&objects, &selection, &[&glue], None)?;
        self.finish(linked, &discovery, &objects, &selection, &glue)
    }

    fn finish(
        &self,
        whole: Linked,
        discovery: &Discovery,
        objects: &[Object],
        selection: &Selection,
        glue: &Object,
    ) -> Result<Fresh, BuildError> {
        let Linked { first: module, second, data } = whole;
        let linked = LinkedFile::parse(&module)?;
        let info = debug_info(&module)?;
        let access: HashMap<_, _> = discovery
            .instances
            .iter()
            .filter_map(|(instance, _)| Some((instance.name.clone(), instance.access?)))
            .collect();
        let model = &discovery.interface.model;
        let object = discovery.class_in(&info);
        let symbols = collect::symbols(model, &info, &linked, data, &access, object)?;
        let chosen = selection.chosen.iter().map(|index| &objects[*index]);
        let warnings: Vec<Diagnostic> =
            chosen.chain([glue]).flat_map(|object| object.outcome.diagnostics()).collect();
        Ok(Fresh {
            symbols,
            data,
            interface: discovery.interface.clone(),
            warnings,
            remarks: discovery.remarks.clone(),
            left_out: self.left_out(objects, selection),
            module,
            second,
        })
    }

    /// The objects of the program. One that did not compile is an error if a name is open that it
    /// could define.
    fn select(
        &self,
        objects: &[Object],
        roots: &BTreeSet<String>,
    ) -> Result<Selection, BuildError> {
        let selection = objects::select(objects, roots);
        let wanted = self.failed_and_wanted(objects, &selection.open);
        if wanted.is_empty() { Ok(selection) } else { Err(refused(wanted)) }
    }

    /// Files that did not compile and mention a name that nobody defines.
    fn failed_and_wanted<'o>(
        &self,
        objects: &'o [Object],
        open: &BTreeSet<String>,
    ) -> Vec<&'o Outcome> {
        // Of a name in C++ its last part is what stands in the source.
        let written: Vec<String> = open.iter().map(|name| objects::written(name)).collect();
        let names: BTreeSet<&str> =
            written.iter().map(|name| name.rsplit("::").next().unwrap_or(name)).collect();
        self.failed(objects, |file| {
            let text = file.text();
            let tokens = super::lexing::tokens(&text);
            tokens.iter().any(|token| names.contains(token.text))
        })
    }

    /// The outcomes of those files that did not compile and that `is_meant` chooses.
    fn failed<'o>(
        &self,
        objects: &'o [Object],
        is_meant: impl Fn(&SourceFile) -> bool,
    ) -> Vec<&'o Outcome> {
        let failed = objects.iter().filter(|object| !object.outcome.success);
        let meant = failed.filter(|object| {
            let mut files = self.sources.compiled.iter();
            files.find(|file| file.name == object.name).is_some_and(&is_meant)
        });
        meant.map(|object| &object.outcome).collect()
    }

    /// Another model may have been taken only because the file of the one that is meant does not
    /// compile.
    fn check_unbuilt(&self, objects: &[Object], entry: &Entry) -> Result<(), BuildError> {
        let outcomes = self.failed(objects, |file| {
            let model = file.stem();
            let text = file.text();
            let has = |end: &str| {
                text.contains(&format!("{model}_{end}"))
                    || text.contains(&format!("{model}::{end}"))
                    || text.contains(&format!("{model}{}::{end}", interface::CLASS_END))
            };
            model != entry.model && has("initialize") && (has("step") || has("output"))
        });
        if outcomes.is_empty() || self.options.model.is_some() {
            Ok(())
        } else {
            Err(refused(outcomes))
        }
    }

    /// The error of the interface, or that of the compiler where files that failed may be the
    /// reason: those with functions of a model where there are such, else all.
    fn or_refused(&self, error: InterfaceError, objects: &[Object]) -> BuildError {
        let mut outcomes = self.failed(objects, SourceFile::seems_generated);
        if outcomes.is_empty() {
            outcomes = self.failed(objects, |_| true);
        }
        if outcomes.is_empty() { error.into() } else { refused(outcomes) }
    }

    fn surroundings(&self, entry: &Entry) -> Surroundings {
        let included = &self.sources.included;
        let text = |file: &SourceFile| SourceText {
            file: file.name.clone(),
            text: file.text().into_owned(),
        };
        let header = included.iter().find(|file| match &entry.class {
            Some(class) => super::lexing::defines_class(&file.text(), last_part(class)),
            None => file.stem() == last_part(&entry.model) && file.name.ends_with(".h"),
        });
        Surroundings {
            header: header.map(|file| file.name.clone()),
            headers: included.iter().map(|file| file.text().into_owned()).collect(),
            sources: self.sources.compiled.iter().map(text).collect(),
            mains: self.sources.mains.iter().map(text).collect(),
            rates: self.options.rates,
        }
    }

    /// Files that are no part of the module, with those that nothing needs.
    fn left_out(&self, objects: &[Object], selection: &Selection) -> Vec<LeftOut> {
        let mut left_out = self.sources.left_out.clone();
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        for (index, object) in objects.iter().enumerate() {
            if selection.chosen.contains(&index) || read.contains(&object.name) {
                continue;
            }
            let why = match object.outcome.errors().first() {
                Some(error) if !object.outcome.success => {
                    format!("nothing needs it, and it does not compile: {error}")
                }
                _ => "nothing needs it".to_owned(),
            };
            left_out.push(LeftOut { file: object.name.clone(), why });
        }
        left_out
    }
}

/// The name itself, without the namespaces around it.
fn last_part(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

fn expects_short_long(sources: &Sources) -> bool {
    let files = sources.compiled.iter().chain(&sources.included);
    files.map(SourceFile::text).any(|text| widths::expects_short_long(&text))
}

/// Returns `true` if the program sends or receives through the channels of its partition.
fn uses_services(objects: &[Object], selection: &Selection) -> bool {
    let mut chosen = selection.chosen.iter().map(|index| &objects[*index]);
    chosen.any(|object| object.needed.contains(interface::SERVICES_NAME))
}

fn paths(objects: &[Object], selection: &Selection) -> Vec<String> {
    let chosen = selection.chosen.iter();
    chosen.map(|index| objects[*index].path.to_string_lossy().into_owned()).collect()
}

fn debug_info(file: &[u8]) -> Result<DebugInfo, BuildError> {
    let file =
        object::File::parse(file).map_err(|error| BuildError::Variables(error.to_string()))?;
    Ok(debug::read(&file)?)
}

fn refused<'a>(outcomes: impl IntoIterator<Item = &'a Outcome>) -> BuildError {
    let (mut text, mut errors) = (String::new(), Vec::new());
    for outcome in outcomes {
        text.push_str(&outcome.text);
        errors.extend(outcome.errors());
    }
    BuildError::Refused { lacks: Vec::new(), text, errors }
}

/// The same error, with what the folder lacks.
fn with_lacks(error: BuildError, sources: &Sources, folder: &Path) -> BuildError {
    match error {
        BuildError::Refused { mut text, errors, .. } => {
            let lacks = lacks::find(&text, sources, folder);
            if text.contains("undefined reference to")
                && let Some(told) = left_out_told(&sources.left_out)
            {
                text = format!("{}\n{told}", text.trim_end());
            }
            BuildError::Refused { lacks, text, errors }
        }
        other => other,
    }
}
