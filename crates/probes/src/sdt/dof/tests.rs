//! The records and the DOF, on the machine of the tests.

use std::collections::BTreeSet;
use std::path::Path;

use super::register::register_with;
use super::section::{Probe, Site};
use super::{object, section};
use crate::sdt::registration::Registration;

/// A probe of this test. Its function is a site, and so is its is-enabled test.
#[inline(never)]
fn fire(i1: i64) -> bool {
    let enabled: u32;
    crate::__sdt_dof_is_enabled!("dof_test", "two__words__name", enabled);
    let (text, small) = (c"x".as_ptr(), -1i32);
    crate::__sdt_dof_site!(
        ["990: nop",] ["5_5_5_1_1_5_1_1_5_6_4_2_5_5_5"] "dof_test", "two__words__name",
        (i32 small "int") (str text "char *") (i64 i1 "int64_t") (i64 i1 "int64_t") (i64 i1 "int64_t") (i64 i1 "int64_t")
        (i64 i1 "int64_t") (i64 i1 "int64_t") (i64 i1 "int64_t") (i64 i1 "int64_t") (str text "char *")
    );
    enabled != 0
}

/// A second is-enabled site of the same probe, as other systems have it, in another function, and a second provider without
/// arguments.
#[inline(never)]
fn elsewhere() -> bool {
    let enabled = crate::__sdt_dof_is_enabled_in_register!("dof_test", "two__words__name");
    crate::__sdt_dof_site!(["990: nop",] ["1_1_0_1_1_0_1_1_0_1_1_0_1_1_0"] "dof_other", "plain");
    enabled != 0
}

#[test]
fn a_probe_is_off_and_its_site_harmless() {
    assert!(!fire(7) && !elsewhere());
}

#[test]
fn every_site_has_a_record() {
    let sites = section::sites();
    let of = |name: &str, fires: bool| {
        sites
            .iter()
            .filter(|site| site.probe.name == name && site.probe.arguments.is_some() == fires)
            .collect::<Vec<_>>()
    };
    let instruction = |address: usize| {
        // SAFETY: the address of an instruction of this program, of at least two bytes with the next one.
        unsafe { (address as *const [u8; 2]).read_unaligned() }
    };
    assert_eq!(of("two__words__name", true).len(), 1);
    assert_eq!(of("two__words__name", false).len(), 2);
    for site in of("two__words__name", true) {
        assert_eq!(instruction(site.address)[0], 0x90, "a nop");
    }
    let is_enabled: BTreeSet<[u8; 2]> =
        of("two__words__name", false).iter().map(|site| instruction(site.address)).collect();
    assert!(is_enabled.contains(&[0x31, 0xc0]), "xor eax, eax: {is_enabled:x?}");
    assert!(is_enabled.iter().any(|bytes| bytes[0] == 0x90), "a nop: {is_enabled:x?}");
}

#[test]
fn the_dof_says_what_the_sites_say() {
    let bytes = object::build(section::sites()).expect("sites of this file");
    let section = dof::Section::from_bytes(&bytes).expect("DOF");
    let probe = &section.providers["dof_test"].probes["two-words-name"];
    let int = |n: usize| vec!["int64_t".to_owned(); n];
    let expected = [vec!["int".to_owned(), "char *".to_owned()], int(8), vec!["char *".to_owned()]].concat();
    assert_eq!(probe.arguments, expected);
    assert_eq!(probe.function, "dyntrace_probes.sdt.dof.tests");

    let at = |offsets: &[u32]| {
        offsets.iter().map(|offset| (probe.address + u64::from(*offset)) as usize).collect::<BTreeSet<_>>()
    };
    let recorded = |fires: bool| {
        let of_it = section::sites().iter().filter(|site| site.probe.name == "two__words__name");
        of_it.filter(|site| site.probe.arguments.is_some() == fires).map(|site| site.address).collect::<BTreeSet<_>>()
    };
    assert_eq!(at(&probe.offsets), recorded(true));
    assert_eq!(at(&probe.enabled_offsets), recorded(false));

    // Each argument is the native one of the same number: the map has as many entries as the probe has arguments.
    let map: Vec<u8> = (0..11).collect();
    assert!(bytes.windows(map.len()).any(|window| window == map));

    assert_eq!(section.providers["dof_other"].probes["plain"].arguments, Vec::<String>::new());
}

/// As `dof_sec` and `dof_provider` of `sys/dtrace.h` have them: provider, module, function, name and arguments.
#[test]
fn a_provider_has_the_attributes_of_its_sites() {
    let bytes = object::build(section::sites()).expect("sites of this file");
    let word = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let sections = bytes[64..].chunks(32).take(word(28) as usize);
    let providers = sections.filter(|section| section[..4] == 15u32.to_ne_bytes()).map(|section| {
        let offset = u64::from_ne_bytes(section[16..24].try_into().expect("eight bytes")) as usize;
        std::array::from_fn(|part| word(offset + 20 + 4 * part))
    });
    let of_file: Vec<[u32; 5]> = providers.collect();
    // Of `dof_other` and `dof_test`.
    assert!(of_file.contains(&[0x01010000; 5]), "{of_file:x?}");
    assert!(of_file.contains(&[0x05050500, 0x01010500, 0x01010500, 0x06040200, 0x05050500]), "{of_file:x?}");
}

#[test]
fn the_dof_has_room_in_the_program() {
    // SAFETY: only its length is looked at.
    let room = unsafe { section::room() }.len();
    assert!(object::build(section::sites()).expect("sites of this file").len() <= room, "{room} bytes");
    let types: &'static [&'static str] = vec!["unsigned long long int"; 12].leak();
    let sites: Vec<Site> = (0..20).map(|number| longest(number, types)).collect();
    let length = object::build(&sites).expect("sites that fire").len();
    assert!(length <= 512 + sites.len() * 1024, "{length} bytes");
}

/// A site of a provider of its own, with names that are too long.
fn longest(number: usize, types: &'static [&'static str]) -> Site {
    let long: &'static str = format!("{number}{}", "x".repeat(200)).leak();
    let probe = Box::leak(Box::new(Probe {
        provider: long,
        name: long,
        function: long,
        arguments: Some(types),
        attributes: "",
    }));
    Site { address: (1 << 40) + number, probe }
}

#[test]
fn probes_that_never_fire_are_left_out() {
    let mut site = longest(0, &[]);
    let never = Probe { provider: "dof_test", name: "never", function: "f", arguments: None, attributes: "" };
    site.probe = Box::leak(Box::new(never));
    assert_eq!(object::build(&[site]), None);
    assert_eq!(object::build(&[]), None);
    let both = object::build(&[site, longest(1, &[])]).expect("a site that fires");
    let providers = dof::Section::from_bytes(&both).expect("DOF").providers;
    assert!(providers.len() == 1 && !providers.contains_key("dof_test"));
}

#[test]
fn a_device_that_is_not_there_or_refuses_changes_nothing() {
    for _ in 0..2 {
        assert_eq!(register_with(Path::new("/nonexistent/helper"), true), Registration::NoDevice);
        // A device that is not DTrace's; a path that cannot be opened for writing.
        assert_eq!(register_with(Path::new("/dev/null"), true), Registration::Refused(libc::ENOTTY));
        assert_eq!(register_with(Path::new("/"), true), Registration::Refused(libc::EISDIR));
    }
}

#[test]
fn a_thread_that_would_be_taken_for_a_process_asks_for_nothing() {
    assert_eq!(register_with(Path::new("/dev/null"), false), Registration::OtherThread);
    assert_eq!(register_with(Path::new("/nonexistent/helper"), false), Registration::NoDevice);
}
