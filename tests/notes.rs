//! The notes of provider.d's probes in this test's executable: the description of each argument.
#![cfg(all(
    not(dyntrace_without_probes),
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64")
))]

mod stapsdt;

use dyntrace::probes::{
    aio_pool, blocking, code, dist, efile_drv, function, message, port, process, resource, seq_trace, system_monitor,
    user_trace,
};
use dyntrace_build::model::ArgumentKind;

/// Contains every probe of provider.d, and fires none, as this test is not traced.
fn contain_all() -> bool {
    fn not_called<T>() -> T {
        panic!("nobody traces this test, so no argument is made")
    }
    message::send(not_called::<(&str, &str, _, _, _, _)>);
    message::send_remote(not_called::<(&str, &str, &str, _, _, _, _)>);
    message::queued(not_called::<(&str, _, _, _, _, _)>);
    message::receive(not_called::<(&str, _, _, _, _, _)>);
    dist::monitor(not_called::<(&str, &str, &str, &str, &str)>);
    dist::port_busy(not_called::<(&str, &str, &str, &str)>);
    dist::port_not_busy(not_called::<(&str, &str, &str)>);
    dist::output(not_called::<(&str, &str, &str, _)>);
    aio_pool::add(not_called::<(&str, _)>);
    aio_pool::get(not_called::<(&str, _, _)>);
    port::busy(not_called::<&str>);
    port::not_busy(not_called::<&str>);
    efile_drv::entry(not_called::<(_, _, &str, _, &str, &str, _, _, _, _, &str)>);
    efile_drv::int_entry(not_called);
    efile_drv::int_return(not_called);
    efile_drv::r#return(not_called::<(_, _, &str, _, _, _, _)>);
    seq_trace::operation(not_called::<(_, _, &str, _, _, _)>);
    process::spawn(not_called::<(&str, &str, &str, &str, &str)>);
    process::exit(not_called::<(&str, &str)>);
    process::scheduled(not_called::<(&str, &str)>);
    process::unscheduled(not_called::<(&str, _, &str)>);
    process::wake(not_called::<(&str, &str)>);
    process::wait(not_called::<(&str, &str, &str, &str)>);
    process::resume(not_called::<(&str, &str, _, &str, &str, &str)>);
    resource::new(not_called::<(&str, &str, &str, &str)>);
    resource::drop(not_called::<(&str, &str)>);
    blocking::add(not_called::<(&str, &str, _)>);
    blocking::get(not_called::<(&str, &str, _)>);
    blocking::done(not_called::<(&str, &str, _, &str)>);
    system_monitor::long_schedule(not_called::<(&str, &str, _, _, _, &str)>);
    system_monitor::long_wait(not_called::<(&str, &str, &str, &str, _, _)>);
    system_monitor::long_message_queue(not_called::<(&str, _, _)>);
    system_monitor::busy_port(not_called::<(&str, _, _)>);
    system_monitor::long_blocking_queue(not_called::<(_, _)>);
    system_monitor::too_many_tasks(not_called::<(_, _)>);
    user_trace::s1(not_called::<&str>);
    user_trace::i4s4(not_called::<(&str, &str, _, _, _, _, &str, &str, &str, &str)>);
    function::entry(not_called::<(&str, &str, &str, &str, &str)>);
    function::r#return(not_called::<(&str, &str, &str, &str, &str, _, _)>);
    code::load(not_called::<(&str, &str, &str, _, _)>);
    code::upgrade(not_called::<(&str, &str, &str, _, _, &str)>);
    code::purge(not_called::<(&str, &str, _, _)>);
    efile_drv::entry::is_enabled()
}

#[test]
fn every_probe_has_one_note_with_its_arguments() {
    assert!(!contain_all());
    let (file, notes) = stapsdt::own();
    let provider = dyntrace_build::parse(include_str!("../provider.d"), "provider.d").expect("our own definition");
    assert_eq!(provider.probes.len(), 42);
    for probe in &provider.probes {
        let notes: Vec<_> =
            notes.iter().filter(|note| note.provider == "dyntrace" && note.name == probe.name).collect();
        let [note] = notes.as_slice() else { panic!("{} has {} notes", probe.name, notes.len()) };

        let sizes = probe.arguments.iter().map(|argument| match argument.ty.kind {
            ArgumentKind::I32 => "-4",
            ArgumentKind::U32 => "4",
            ArgumentKind::I64 => "-8",
            ArgumentKind::U64 => "8",
            ArgumentKind::Text => POINTER,
        });
        assert_eq!(note.sizes(), sizes.collect::<Vec<_>>(), "{}", probe.name);
        for (number, argument) in note.arguments.iter().enumerate() {
            let (size, operand) = argument.split_once('@').expect("SIZE@OPERAND");
            assert!(is_place(operand, size, number), "{}: {argument}", probe.name);
        }

        assert_ne!(note.base, 0, "{}: the linker dropped .stapsdt.base", probe.name);
        assert_ne!(note.semaphore, 0, "{}", probe.name);
        assert!(is_nop(&stapsdt::instruction(&file, note.location, 4)), "{}", probe.name);
    }
}

/// `ci/cross` reads these arguments with a debugger.
#[test]
fn eleven_arguments_can_be_read() {
    efile_drv::entry(|| (-1, 2, "some-user-tag", 12, "old-name", "new-name", -5, i64::MAX, 7, 8, "#Port<0.1>"));
}

/// Returns the size of a pointer in a note.
const POINTER: &str = if cfg!(target_pointer_width = "64") { "8" } else { "4" };

/// `%eax`, `%r8d` and the like for four bytes, `%rax`, `%r8` for eight.
#[cfg(target_arch = "x86_64")]
fn is_place(operand: &str, size: &str, _number: usize) -> bool {
    let Some(name) = operand.strip_prefix('%') else { return false };
    let numbered = name.strip_prefix('r').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    match size.trim_start_matches('-') {
        "4" => name.starts_with('e') || numbered && name.ends_with('d'),
        _ => name.starts_with('r') && !name.ends_with('d'),
    }
}

/// `(%eax)`, `8(%eax)` and so on: eight bytes for each.
#[cfg(target_arch = "x86")]
fn is_place(operand: &str, _size: &str, number: usize) -> bool {
    let Some((at, register)) = operand.split_once('(') else { return false };
    at.parse().unwrap_or(0) == 8 * number && register.starts_with("%e") && register.ends_with(')')
}

/// `x0` to `x30` for all sizes, the only names that readers know.
#[cfg(target_arch = "aarch64")]
fn is_place(operand: &str, _size: &str, _number: usize) -> bool {
    operand.strip_prefix('x').and_then(|number| number.parse().ok()).is_some_and(|number: u8| number <= 30)
}

#[cfg(target_arch = "x86")]
fn is_nop(bytes: &[u8]) -> bool {
    bytes[0] == 0x90
}

#[cfg(target_arch = "x86_64")]
fn is_nop(bytes: &[u8]) -> bool {
    bytes[0] == 0x90 || bytes == [0x0f, 0x1f, 0x44, 0x00]
}

#[cfg(target_arch = "aarch64")]
fn is_nop(bytes: &[u8]) -> bool {
    bytes == [0x1f, 0x20, 0x03, 0xd5]
}
