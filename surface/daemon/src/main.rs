//! `quietcored`: the one network face of a machine's sites.

#![forbid(unsafe_code)]

use std::net::SocketAddr;
use std::process::ExitCode;

use clap::Parser;
use quietcore_audit::Retention;
use quietcore_daemon::{Activation, Daemon, DaemonError, Unit, say};
use quietcore_supervisor::places::Places;
use quietcore_units::Causes;
use tokio::signal::unix::{SignalKind, signal};

/// Serves the sites of this machine to clients by gRPC.
///
/// It speaks for the sites that run, whichever process started them, and has no part in their
/// cycles: it can be started, ended and killed while they run. Clients of this user and of root
/// reach it by its socket, whose path it prints, and may do everything. Others reach it over the
/// network, where that is asked for, with what `quietcore auth` has handed out to them. Browsers of
/// this machine have the live page, which `quietcored link` opens.
///
/// Whoever changes something is in the audit trail, with old and new values; `quietcore audit`
/// prints and verifies it. While it can't be written, nothing can be changed.
///
/// The contract is the package `quietcore.v1`, which reflection hands out. It ends by Ctrl-C or
/// SIGTERM. It takes sockets that systemd has made for it, and tells systemd when it is ready;
/// `quietcored unit` prints the units.
#[derive(Debug, Parser)]
#[command(name = "quietcored", version, after_help = AFTER_HELP)]
#[command(args_conflicts_with_subcommands = true)]
struct Arguments {
    /// Take calls from the network at this address and port, such as `10.1.2.3:7443` or
    /// `[::]:7443`; may be repeated. By TLS 1.3 alone, from clients with a certificate or a token
    /// of this machine's authority: make that with `quietcore auth init` first
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Vec<SocketAddr>,
    /// Serve the live page at this port of loopback; at another one if it is taken
    #[arg(long, value_name = "PORT", default_value_t = 7480)]
    page: u16,
    /// Serve calls alone, and no page to browsers
    #[arg(long, conflicts_with = "page")]
    no_page: bool,
    /// Keep entries of the audit trail for this many years
    #[arg(long, value_name = "N", default_value_t = Retention::YEARS_DEFAULT,
        value_parser = clap::value_parser!(u16).range(1..=i64::from(Retention::YEARS_MAX)))]
    audit_years: u16,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Print a link that opens the live page of the daemon that runs, once and within 5 minutes
    ///
    /// The page acts in your name. A role that is less than yours makes a page that may do less:
    /// one with `--role viewer` changes nothing.
    Link {
        /// Let the page do what a viewer, operator, engineer or admin may; all that you may if
        /// missing
        #[arg(long)]
        role: Option<String>,
    },
    /// Print a unit of systemd that starts this program
    ///
    /// With the socket the daemon starts with the first call, and calls wait while it starts anew.
    Unit {
        /// The process, or its sockets
        unit: UnitName,
    },
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum UnitName {
    /// `quietcored.service`: the process, its limits, and what it may do
    Service,
    /// `quietcored.socket`: the sockets at which systemd listens for it
    Socket,
}

const AFTER_HELP: &str = "\
Environment:
  QUIETCORE_RUN_DIR    folder of running sites, and of the daemon's socket
  QUIETCORE_STATE_DIR  folder of what survives them, and of the audit trail

Exit status: 0 ended as asked, 2 could not serve";

/// Number of threads that serve calls; what may wait runs on threads of its own.
const WORKERS: usize = 2;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.command {
        None => serve(&arguments),
        Some(Command::Link { role }) => link(role.as_deref()),
        Some(Command::Unit { unit }) => print_unit(*unit),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(format_args!("{}", Causes(&*error)));
            ExitCode::from(2)
        }
    }
}

fn link(role: Option<&str>) -> Result<(), Box<dyn std::error::Error>> {
    let socket = Places::of_environment()?.daemon_socket();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let link = runtime.block_on(quietcore_daemon::ask_for_link(&socket, role))?;
    println!("{link}");
    Ok(())
}

fn print_unit(name: UnitName) -> Result<(), Box<dyn std::error::Error>> {
    let unit = match name {
        UnitName::Service => Unit::Service,
        UnitName::Socket => Unit::Socket,
    };
    print!("{}", unit.text(&std::env::current_exe()?, &Places::of_environment()?));
    Ok(())
}

fn serve(arguments: &Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let retention = Retention::of_years(arguments.audit_years).expect("the parser keeps the range");
    let places = Places::of_environment()?;
    let sockets = Activation::of_environment(&places)?;
    let mut daemon = Daemon::of_systemd(places, sockets)?.keeping_audit_for(retention);
    if !arguments.listen.is_empty() {
        daemon = daemon.listen(&arguments.listen)?;
    }
    if !arguments.no_page {
        daemon = daemon.with_page(arguments.page)?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .thread_name("quietcored")
        .enable_all()
        .build()?;
    let served = runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate()).map_err(DaemonError::Signals)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(DaemonError::Signals)?;
        let stop = async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        say(format_args!("serving at {}", daemon.socket().display()));
        for address in daemon.addresses() {
            say(format_args!("serving at {address} by TLS"));
        }
        if let Some(port) = daemon.page_port() {
            say(format_args!("the page at http://127.0.0.1:{port}; see `quietcored link`"));
        }
        // Not started by systemd: nobody waits to be told.
        let _ = sd_notify::notify(false, &[sd_notify::NotifyState::Ready]);
        daemon.serve(stop).await
    });
    // Calls that still wait for a site end with the process.
    runtime.shutdown_background();
    Ok(served?)
}
