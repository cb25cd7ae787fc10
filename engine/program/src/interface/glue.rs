//! The C that makes a model a module: `quietcore_module` with the model behind it.

use std::fmt::{self, Write as _};

use crate::interface::Language;
use crate::interface::discover::{Call, Discovery, instance_name};
use crate::interface::signature::{Argument, Passing};

/// Prefix of the names of variables that the glue makes. Symbols are shown without it; in C it
/// keeps a parameter called `y1` apart from the function of the mathematical library.
pub(crate) const INSTANCE_PREFIX: &str = "quietcore_instance_";

/// Variable in which the loader puts its services; `Com.h` refers to it.
pub(crate) const SERVICES_NAME: &str = "quietcore_services_given";

/// The storage of the object that the glue makes of a class.
pub(crate) const OBJECT_NAME: &str = "quietcore_object";

/// That object as an expression.
pub(super) const OBJECT: &str = "quietcore_self()";

/// Functions that the linker would look for in the C++ library: those for memory, which virtual
/// destructors refer to, and the one that stands for a method without a body. A program's own take
/// the place of these.
const CPP_SUPPORT: &str = "\
__attribute__((weak)) void *operator new(size_t bytes)
{
  return malloc(bytes);
}

__attribute__((weak)) void operator delete(void *memory) noexcept
{
  free(memory);
}

__attribute__((weak)) void operator delete(void *memory, size_t) noexcept
{
  free(memory);
}

extern \"C\" __attribute__((weak)) void __cxa_pure_virtual(void)
{
  abort();
}

";

/// The table of the program's constructors, in the order of the files. They compute what variables
/// begin with, such as a parameter that is infinite.
const CPP_CONSTRUCTORS: &str = "\
typedef void (*quietcore_constructor)(void);

extern \"C\" {
extern const quietcore_constructor quietcore_constructors[]
  __attribute__((visibility(\"hidden\")));
extern const quietcore_constructor quietcore_constructors_end[]
  __attribute__((visibility(\"hidden\")));
}

";

/// C++ that calls the constructors.
const CPP_CONSTRUCT: &str = "  \
  for (const quietcore_constructor *each = quietcore_constructors;
       each != quietcore_constructors_end; ++each) {
    (*each)();
  }
";

/// In C++ the first declaration decides about the visibility.
const CPP_FACE: &str = "\
extern \"C\" __attribute__((visibility(\"default\")))
const struct quietcore_module quietcore_module;
";

/// The glue of a model. `first` is a function to be called before all others, where there is one.
pub(crate) fn glue(discovery: &Discovery, first: Option<&str>) -> String {
    let mut text = String::new();
    write(&mut text, discovery, first).expect("text can always be added to text");
    text
}

fn write(text: &mut String, discovery: &Discovery, first: Option<&str>) -> fmt::Result {
    let interface = &discovery.interface;
    writeln!(text, "/* How to run the model {}; generated with each build. */", interface.model)?;
    write_declarations(text, discovery)?;
    if interface.language == Language::Cpp {
        text.push_str(CPP_FACE);
    }
    writeln!(text, "#include <stddef.h>\n#include \"quietcore_module.h\"\n")?;
    if interface.language == Language::Cpp {
        writeln!(text, "#include <new>\n#include <stdlib.h>\n\n{CPP_SUPPORT}{CPP_CONSTRUCTORS}")?;
    }
    if let Some(class) = &interface.class {
        // As bytes, so that no constructor runs before its time.
        writeln!(text, "alignas({class}) static unsigned char {OBJECT_NAME}[sizeof({class})];\n")?;
        writeln!(text, "static inline {class} &quietcore_self(void)\n{{")?;
        writeln!(text, "  return *reinterpret_cast<{class} *>({OBJECT_NAME});\n}}\n")?;
    }
    write_instances(text, discovery)?;
    writeln!(text, "const struct quietcore_services *{SERVICES_NAME};\n")?;
    write_initialize(text, discovery, first)?;
    write_step(text, discovery)?;
    writeln!(text, "static void quietcore_terminate(void)\n{{")?;
    if let Some(call) = &discovery.terminate {
        write_call(text, interface.class.as_deref(), call, "0")?;
    }
    writeln!(text, "}}\n")?;
    write_status(text, discovery)?;
    if interface.language == Language::C {
        writeln!(text, "__attribute__((visibility(\"default\")))")?;
    }
    write!(
        text,
        "const struct quietcore_module quietcore_module = {{\n  \
         .version = QUIETCORE_MODULE_VERSION,\n  \
         .rate_count = {}u,\n  \
         .initialize = quietcore_initialize,\n  \
         .step = quietcore_step,\n  \
         .terminate = quietcore_terminate,\n  \
         .error_status = quietcore_error_status,\n  \
         .services = &quietcore_services_given,\n  \
         .interrupt = NULL,\n  \
         .tasks = NULL,\n  \
         .task_count = 0u,\n  \
         .overflowed = NULL,\n  \
         .under_way = NULL,\n  \
         .guard = NULL,\n\
         }};\n",
        discovery.rates.len()
    )
}

/// Writes the declarations of the entry points: the model's header, or what is known of them.
fn write_declarations(text: &mut String, discovery: &Discovery) -> fmt::Result {
    if let Some(header) = &discovery.header {
        writeln!(text, "#include \"{header}\"")?;
    }
    let is_cpp = discovery.interface.language == Language::Cpp;
    let rates = discovery.rates.iter().flatten();
    let calls = [&discovery.initialize].into_iter().chain(rates).chain(&discovery.terminate);
    // The header need not declare a file of the user's own. C lets it be declared twice.
    let unsure = |call: &&Call| discovery.header.is_none() || call.is_plain && !is_cpp;
    for call in calls.filter(unsure) {
        // Without a header every function here takes and gives nothing.
        let number = call.arguments.contains(&Argument::RateNumber);
        let parameters = if number { "int" } else { "void" };
        let plain = discovery.links.contains(&call.function);
        let linkage = if is_cpp && plain { "extern \"C\"" } else { "extern" };
        // No macro of the function's name gets between.
        writeln!(text, "{linkage} void ({})({parameters});", call.function)?;
    }
    Ok(())
}

/// The variables that are passed to the entry points.
fn write_instances(text: &mut String, discovery: &Discovery) -> fmt::Result {
    for (instance, initialiser) in &discovery.instances {
        write!(text, "static {} {}", instance.spelled, instance_name(&instance.name))?;
        if let Some(length) = instance.length {
            write!(text, "[{length}]")?;
        }
        match initialiser {
            Some(initialiser) => writeln!(text, " = {initialiser};")?,
            None => writeln!(text, ";")?,
        }
    }
    Ok(())
}

fn write_initialize(text: &mut String, discovery: &Discovery, first: Option<&str>) -> fmt::Result {
    if let Some(first) = first {
        writeln!(text, "extern void {first}(void);\n")?;
    }
    writeln!(text, "static void quietcore_initialize(void)\n{{")?;
    if let Some(first) = first {
        writeln!(text, "  {first}();")?;
    }
    if discovery.interface.language == Language::Cpp {
        text.push_str(CPP_CONSTRUCT);
    }
    if let Some(class) = &discovery.interface.class {
        writeln!(text, "  new (static_cast<void *>({OBJECT_NAME})) {class}();")?;
    }
    for (member, variable) in &discovery.packed {
        // A member may be an address of the first number instead of the structure.
        writeln!(text, "  {member} = (void *)&{variable};")?;
    }
    write_call(text, discovery.interface.class.as_deref(), &discovery.initialize, "0")?;
    if let Some(status) = &discovery.status
        && status.final_time
    {
        // A simulation ends; a controller does not.
        writeln!(text, "  {}.Timing.tFinal = -1;", status.model)?;
    }
    writeln!(text, "}}\n")
}

fn write_step(text: &mut String, discovery: &Discovery) -> fmt::Result {
    writeln!(text, "static void quietcore_step(uint32_t rate)\n{{\n  switch (rate) {{")?;
    for (rate, calls) in discovery.rates.iter().enumerate() {
        writeln!(text, "  case {rate}u:")?;
        for call in calls {
            let class = discovery.interface.class.as_deref();
            write_call(text, class, call, &rate.to_string())?;
        }
        writeln!(text, "  break;")?;
    }
    writeln!(text, "  default:\n  break;\n  }}\n}}\n")
}

fn write_status(text: &mut String, discovery: &Discovery) -> fmt::Result {
    writeln!(text, "static const char *quietcore_error_status(void)\n{{")?;
    if let Some(status) = &discovery.status {
        if status.error_status {
            writeln!(text, "  const char *status = (const char *){}.errorStatus;", status.model)?;
            writeln!(text, "  if (status != NULL) {{\n    return status;\n  }}")?;
        }
        if status.stop_requested {
            writeln!(text, "  if ({}.Timing.stopRequestedFlag) {{", status.model)?;
            writeln!(text, "    return \"the model asked to be stopped\";\n  }}")?;
        }
    }
    writeln!(text, "  return NULL;\n}}\n")
}

fn write_call(text: &mut String, class: Option<&str>, call: &Call, rate: &str) -> fmt::Result {
    let arguments = call.arguments.iter().map(|argument| match argument {
        Argument::RateNumber => rate.to_owned(),
        Argument::One => "1".to_owned(),
        Argument::Instance { instance, passing } => {
            let sign = match passing {
                Passing::Value | Passing::Reference => "",
                Passing::Address => "&",
            };
            format!("{sign}{}", instance_name(&instance.name))
        }
    });
    let arguments = arguments.collect::<Vec<_>>().join(", ");
    let result = call.result.as_ref().map(|result| instance_name(&result.name));
    let result = result.map(|name| format!("{name} = ")).unwrap_or_default();
    let function = match class {
        Some(class) => {
            let method = call.function.strip_prefix(class).unwrap_or(&call.function);
            format!("{OBJECT}.{}", method.trim_start_matches("::"))
        }
        None => call.function.clone(),
    };
    writeln!(text, "  {result}{function}({arguments});")
}
