//! Builds a folder of generated C and shows its interface and its variables.
//!
//! ```text
//! cargo run -p quietcore-program --example inspect -- FOLDER [OUT] [PATTERN]
//!     [--model NAME] [--rates N] [--guest]
//! ```

use std::path::PathBuf;
use std::process::ExitCode;

use quietcore_program::build::{Options, Target, build};
use quietcore_program::symbols::Pattern;

/// Most variables that are listed.
const LISTED_MAX: usize = 40;

fn main() -> ExitCode {
    match inspect() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn inspect() -> Result<(), Box<dyn std::error::Error>> {
    let mut options = Options::default();
    let mut words = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--model" => options.model = arguments.next(),
            "--rates" => options.rates = arguments.next().map(|it| it.parse()).transpose()?,
            "--guest" => options.target = Target::Guest,
            "--define" => options.defines.extend(arguments.next()),
            "--include" => options.include.extend(arguments.next().map(PathBuf::from)),
            "--leave-out" => options.leave_out.extend(arguments.next()),
            _ => words.push(argument),
        }
    }
    let [folder, rest @ ..] = &words[..] else {
        return Err("name the folder".into());
    };
    let out =
        rest.first().map_or_else(|| std::env::temp_dir().join("quietcore-inspect"), PathBuf::from);
    let pattern = rest.get(1).map(|text| Pattern::parse(text)).transpose()?;
    let built = build(folder.as_ref(), &options, &out)?;
    println!(
        "module     {}{}",
        built.module.display(),
        if built.cached { " (cached)" } else { "" }
    );
    println!("compiler   {}", built.compiler);
    println!("hash       {}", built.hash);
    println!("data       {} bytes at {:#x}", built.data.bytes, built.data.address);
    println!("interface  {}", serde_json::to_string(&built.interface)?);
    for remark in &built.remarks {
        println!("remark     {remark}");
    }
    for file in &built.left_out {
        println!("left out   {}: {}", file.file, file.why);
    }
    println!("warnings   {}", built.warnings.len());
    println!("variables  {} in {} roots", built.symbols.leaf_count(), built.symbols.roots().len());
    let initial = built.initial_data()?;
    for (path, place) in built.symbols.leaves(pattern.as_ref(), LISTED_MAX) {
        let at = usize::try_from(place.offset)?;
        let value = match built.constant(&place)? {
            Some(value) => Some(value),
            None => initial.get(at..).and_then(|bytes| place.decode(bytes)),
        };
        let value = value.map_or_else(|| "?".to_owned(), |value| value.to_string());
        println!("{:<48} {:<9} {:<10} {value}", path, place.access, place.scalar);
    }
    Ok(())
}
