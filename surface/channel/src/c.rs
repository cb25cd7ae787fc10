//! The functions that C calls, by their names in the header.
//!
// UNSAFETY: C calls these functions with raw pointers, which are checked against null and used as
// far as the header says.
#![expect(unsafe_code, reason = "called by C through raw pointers")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use quietcore_process::channel::HostEndError;
use quietcore_supervisor::client::Client;
use quietcore_supervisor::control::{ChannelSignal, ChannelUse};
use quietcore_supervisor::host_channel::{HostChannel, HostChannelError, Received, SendError};
use quietcore_supervisor::places::Places;
use quietcore_units::{Causes, Nanos};

/// The statuses, with the numbers of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Status {
    Ok = 0,
    NotOk = 1,
    Busy = 0x81,
    Timeout = 0x90,
    QueueEmpty = 0x91,
    QueueFull = 0x92,
    NothingNew = 0x94,
}

/// State of received values; `struct quietcore_channel_state` of the header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct ChannelState {
    age_ns: u64,
    count: u64,
    updated: u8,
    overdue: u8,
    reserved: [u8; 6],
}

/// Opens a channel; see the header.
///
/// # Safety
/// `site` is null or a string, `channel` a string; `why` is null or has `why_bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quietcore_channel_open(
    site: *const c_char,
    channel: *const c_char,
    usage: c_int,
    why: *mut c_char,
    why_bytes: usize,
) -> *mut HostChannel {
    // SAFETY: as the caller promises.
    let (site, channel) = unsafe { (text(site), text(channel)) };
    let opened = match (channel, usage) {
        (Some(channel), 0) => open(site, channel, ChannelUse::Read),
        (Some(channel), 1) => open(site, channel, ChannelUse::End),
        (None, _) => Err("the name of the channel is no text".to_owned()),
        (_, other) => Err(format!("there is no use {other} of a channel; 0 reads, 1 is its end")),
    };
    match opened {
        Ok(channel) => Box::into_raw(Box::new(channel)),
        Err(reason) => {
            // SAFETY: as the caller promises.
            unsafe { tell(&reason, why, why_bytes) };
            ptr::null_mut()
        }
    }
}

fn open(site: Option<&str>, channel: &str, usage: ChannelUse) -> Result<HostChannel, String> {
    let places = Places::of_environment().map_err(|error| Causes(&error).to_string())?;
    let mut client = Client::connect(&places, site).map_err(|error| Causes(&error).to_string())?;
    HostChannel::open(&mut client, channel, usage).map_err(|error| Causes(&error).to_string())
}

/// Returns a text of C; `None` for null and for what is not UTF-8.
///
/// # Safety
/// `text` is null or a string that nobody changes during the call.
unsafe fn text<'a>(text: *const c_char) -> Option<&'a str> {
    if text.is_null() {
        return None;
    }
    // SAFETY: not null, so a string, as promised.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}

/// Writes a text into a buffer of C, cut where it doesn't fit, with a zero behind it.
///
/// # Safety
/// `buffer` is null or has `bytes` bytes that nobody else uses during the call.
unsafe fn tell(text: &str, buffer: *mut c_char, bytes: usize) {
    let Some(room) = bytes.checked_sub(1).filter(|_| !buffer.is_null()) else { return };
    let ends = |cut: &usize| text.is_char_boundary(*cut);
    let cut = (0..=room.min(text.len())).rev().find(ends).unwrap_or(0);
    // SAFETY: `cut` bytes and the zero fit into the buffer, as computed above.
    unsafe { ptr::copy_nonoverlapping(text.as_ptr().cast(), buffer, cut) };
    // SAFETY: as above.
    unsafe { buffer.add(cut).write(0) };
}

/// Closes a channel; see the header.
///
/// # Safety
/// `channel` is null or of [`quietcore_channel_open`], and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quietcore_channel_close(channel: *mut HostChannel) {
    if !channel.is_null() {
        // SAFETY: it was made by `Box::into_raw` and is given back once, as promised.
        drop(unsafe { Box::from_raw(channel) });
    }
}

/// Finds a signal; see the header.
///
/// # Safety
/// `channel` is null or open; `name` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quietcore_channel_signal(
    channel: *const HostChannel,
    name: *const c_char,
) -> i32 {
    // SAFETY: as the caller promises.
    let (channel, name) = unsafe { (channel.as_ref(), text(name)) };
    let (Some(channel), Some(name)) = (channel, name) else { return -1 };
    let found = channel.opened().signals.iter().position(|signal| signal.name == name);
    found.and_then(|place| i32::try_from(place).ok()).unwrap_or(-1)
}

fn signal_of(channel: &HostChannel, signal: i32) -> Option<&ChannelSignal> {
    channel.opened().signals.get(usize::try_from(signal).ok()?)
}

/// Tells the size of a value; see the header.
///
/// # Safety
/// `channel` is null or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quietcore_channel_value_bytes(
    channel: *const HostChannel,
    signal: i32,
) -> u32 {
    // SAFETY: as the caller promises.
    let channel = unsafe { channel.as_ref() };
    let found = channel.and_then(|channel| signal_of(channel, signal));
    found.map_or(0, |signal| signal.value_type.bytes() as u32)
}

/// Returns an open channel, the entry of a signal and the bytes of its value.
///
/// # Safety
/// `channel` is null or open, and no other reference to it is used meanwhile.
unsafe fn entry<'a>(
    channel: *mut HostChannel,
    signal: i32,
) -> Option<(&'a mut HostChannel, u32, usize)> {
    // SAFETY: as the caller promises.
    let channel = unsafe { channel.as_mut() }?;
    let (entry, bytes) =
        signal_of(channel, signal).map(|found| (found.entry, found.value_type.bytes()))?;
    Some((channel, entry, bytes))
}

/// Sets a value; see the header.
///
/// # Safety
/// `channel` is null or open; `value` is null or a variable of the signal's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quietcore_channel_set(
    channel: *mut HostChannel,
    signal: i32,
    value: *const c_void,
) -> u8 {
    // SAFETY: as the caller promises.
    let found = unsafe { entry(channel, signal) }.filter(|_| !value.is_null());
    let Some((channel, entry, bytes)) = found else { return Status::NotOk as u8 };
    let mut whole = [0_u8; 8];
    // SAFETY: C points to a variable of the signal's type, which has `bytes` bytes, 8 at most.
    unsafe { ptr::copy_nonoverlapping(value.cast(), whole.as_mut_ptr(), bytes) };
    status(channel.end().set(entry, u64::from_le_bytes(whole)).map(|()| Status::Ok)) as u8
}

/// Sends all values; see the header.
///
/// # Safety
/// `channel` is null or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quietcore_channel_send(channel: *mut HostChannel) -> u8 {
    // SAFETY: as the caller promises.
    let channel = unsafe { channel.as_mut() };
    let sent = channel.map(|channel| channel.send().is_ok());
    if sent == Some(true) { Status::Ok as u8 } else { Status::NotOk as u8 }
}

/// Receives the newest values; see the header.
///
/// # Safety
/// `channel` is null or open; `state` is null or a structure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quietcore_channel_receive(
    channel: *mut HostChannel,
    state: *mut ChannelState,
) -> u8 {
    // SAFETY: as the caller promises.
    let Some(channel) = (unsafe { channel.as_mut() }) else { return Status::NotOk as u8 };
    let received = channel.receive().map(Some);
    // SAFETY: as the caller promises.
    unsafe { answer(channel, &received, state) }
}

/// Waits for new values; see the header.
///
/// # Safety
/// `channel` is null or open; `state` is null or a structure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quietcore_channel_wait_ns(
    channel: *mut HostChannel,
    limit_ns: u64,
    state: *mut ChannelState,
) -> u8 {
    // SAFETY: as the caller promises.
    let Some(channel) = (unsafe { channel.as_mut() }) else { return Status::NotOk as u8 };
    let received = channel.wait(Nanos::new(limit_ns));
    // SAFETY: as the caller promises.
    unsafe { answer(channel, &received, state) }
}

/// Fills in the state of what was received, and returns the status.
///
/// # Safety
/// `state` is null or a structure that nobody else uses during the call.
unsafe fn answer(
    channel: &HostChannel,
    received: &Result<Option<Received>, HostChannelError>,
    state: *mut ChannelState,
) -> u8 {
    let received = match received {
        Ok(Some(received)) => *received,
        Ok(None) => return Status::NothingNew as u8,
        Err(HostChannelError::End(HostEndError::Torn)) => return Status::Busy as u8,
        Err(_) => return Status::NotOk as u8,
    };
    let (age, is_overdue) = channel.age(&received);
    if !state.is_null() {
        let told = ChannelState {
            age_ns: age.get(),
            count: received.count,
            updated: received.updated.into(),
            overdue: is_overdue.into(),
            reserved: [0; 6],
        };
        // SAFETY: not null, so C points to a structure of its own.
        unsafe { state.write(told) };
    }
    if is_overdue { Status::Timeout as u8 } else { Status::Ok as u8 }
}

/// Gets a value; see the header.
///
/// # Safety
/// `channel` is null or open; `value` is null or a variable of the signal's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quietcore_channel_get(
    channel: *mut HostChannel,
    signal: i32,
    value: *mut c_void,
) -> u8 {
    // SAFETY: as the caller promises.
    let found = unsafe { entry(channel, signal) }.filter(|_| !value.is_null());
    let Some((channel, entry, bytes)) = found else { return Status::NotOk as u8 };
    let Ok(bits) = channel.end().value(entry) else { return Status::NotOk as u8 };
    let whole = bits.to_le_bytes();
    // SAFETY: C points to a variable of the signal's type, which has `bytes` bytes, 8 at most.
    unsafe { ptr::copy_nonoverlapping(whole.as_ptr(), value.cast(), bytes) };
    Status::Ok as u8
}

/// Sends a message; see the header.
///
/// # Safety
/// `channel` is null or open; `message` is null or a variable of the queue's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quietcore_channel_send_message(
    channel: *mut HostChannel,
    signal: i32,
    message: *const c_void,
) -> u8 {
    // SAFETY: as the caller promises.
    let found = unsafe { entry(channel, signal) }.filter(|_| !message.is_null());
    let Some((channel, entry, bytes)) = found else { return Status::NotOk as u8 };
    let mut whole = [0_u8; 8];
    // SAFETY: C points to a variable of the queue's type, which has `bytes` bytes, 8 at most.
    unsafe { ptr::copy_nonoverlapping(message.cast(), whole.as_mut_ptr(), bytes) };
    status(channel.push(entry, &whole[..bytes]).map(|()| Status::Ok)) as u8
}

/// Takes a message; see the header.
///
/// # Safety
/// `channel` is null or open; `message` is null or a variable of the queue's type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quietcore_channel_take_message(
    channel: *mut HostChannel,
    signal: i32,
    message: *mut c_void,
) -> u8 {
    // SAFETY: as the caller promises.
    let found = unsafe { entry(channel, signal) }.filter(|_| !message.is_null());
    let Some((channel, entry, bytes)) = found else { return Status::NotOk as u8 };
    let mut whole = [0_u8; 8];
    let taken = channel.end().receive_message(entry, &mut whole);
    if let Ok(Some(_)) = taken {
        // SAFETY: C points to a variable of the queue's type, which has `bytes` bytes, 8 at most.
        unsafe { ptr::copy_nonoverlapping(whole.as_ptr(), message.cast(), bytes) };
    }
    status(taken.map(|taken| if taken.is_some() { Status::Ok } else { Status::QueueEmpty })) as u8
}

/// Tells whether the site runs; see the header.
///
/// # Safety
/// `channel` is null or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quietcore_channel_is_up(channel: *const HostChannel) -> u8 {
    // SAFETY: as the caller promises.
    let channel = unsafe { channel.as_ref() };
    channel.is_some_and(|channel| channel.is_up().unwrap_or(false)).into()
}

fn status(done: Result<Status, HostEndError>) -> Status {
    match done {
        Ok(status) => status,
        Err(HostEndError::Torn) => Status::Busy,
        Err(HostEndError::Send(SendError::Full)) => Status::QueueFull,
        Err(_) => Status::NotOk,
    }
}
