//! `quietcore guest build`

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use quietcore_linux_guest::build::build;
use quietcore_linux_guest::image::Description;
use quietcore_linux_guest::kernel::{Kernel, cache, fetch};
use quietcore_units::ByteSize;

use crate::arguments::{GuestBuild, GuestKind, GuestVerb};
use crate::command::{print_json, print_lines};
use crate::files;
use crate::status::{Failure, Status};
use crate::terminal::say;

pub(in crate::command) fn run(request: &GuestVerb) -> Result<Status, Failure> {
    let GuestKind::Build(request) = &request.guest;
    files::refuse_dash("--out", &request.out)?;
    let runtime = files::runtime()?;
    let spinner = spinner();
    let kernel = kernel(request, &spinner)?;
    spinner.set_message("building the image");
    let made_by = concat!("quietcore ", env!("CARGO_PKG_VERSION"));
    let description = build(&kernel, &runtime, made_by, &request.out)?;
    spinner.finish_and_clear();
    if request.json {
        print_json(&description)?;
    } else {
        print_lines(&in_words(request, &description))?;
    }
    Ok(Status::Done)
}

fn kernel(request: &GuestBuild, spinner: &ProgressBar) -> Result<Kernel, Failure> {
    if let (Some(image), Some(modules)) = (&request.own_kernel, &request.own_modules) {
        let name = image.file_name().unwrap_or_default().to_string_lossy().into_owned();
        return Ok(Kernel { package: name, image: image.clone(), modules: modules.clone() });
    }
    let tell = |what: &str| {
        spinner.set_message(what.to_owned());
        if !io::stderr().is_terminal() {
            say(what);
        }
    };
    Ok(fetch(request.kernel.package(), &cache(), tell)?)
}

fn in_words(request: &GuestBuild, description: &Description) -> String {
    let bytes = description.files.values().map(|file| file.bytes).sum();
    let (folder, size) = (request.out.display(), ByteSize::new(bytes));
    format!(
        "wrote `{folder}`, {size}: Linux {}\n\nIn a site file: `backend = \"qemu\"` and `guest = \
         {{ system = \"linux\", image = \"{folder}\" }}`\n",
        description.kernel
    )
}

fn spinner() -> ProgressBar {
    let spinner = ProgressBar::new_spinner();
    if io::stderr().is_terminal() {
        let style = ProgressStyle::with_template("{spinner} {msg}");
        spinner.set_style(style.expect("the template has known keys only"));
        spinner.enable_steady_tick(Duration::from_millis(100));
    }
    spinner
}
