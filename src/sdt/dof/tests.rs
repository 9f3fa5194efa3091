//! The records and the DOF, on the machine of the tests.

use std::collections::BTreeSet;

use super::{object, section};

/// A probe of this test. Its function is a site, and so is its is-enabled test.
#[inline(never)]
fn fire(i1: i64) -> bool {
    let enabled: u32;
    crate::__sdt_dof_is_enabled!("dof_test", "two__words__name", enabled);
    let (text, small) = (c"x".as_ptr(), -1i32);
    crate::__sdt_dof_site!(
        "dof_test", "two__words__name",
        (i32 small "int") (str text "char *") (i64 i1 "int64_t") (i64 i1 "int64_t") (i64 i1 "int64_t") (i64 i1 "int64_t")
        (i64 i1 "int64_t") (i64 i1 "int64_t") (i64 i1 "int64_t") (i64 i1 "int64_t") (str text "char *")
    );
    enabled != 0
}

/// A second is-enabled site of the same probe, in another function, and a second provider without arguments.
#[inline(never)]
fn elsewhere() -> bool {
    let enabled: u32;
    crate::__sdt_dof_is_enabled!("dof_test", "two__words__name", enabled);
    crate::__sdt_dof_site!("dof_other", "plain");
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
    for site in of("two__words__name", false) {
        assert_eq!(instruction(site.address), [0x31, 0xc0], "xor eax, eax");
    }
}

#[test]
fn the_dof_says_what_the_sites_say() {
    let section = dof::Section::from_bytes(&object::build(section::sites())).expect("DOF");
    let probe = &section.providers["dof_test"].probes["two-words-name"];
    let int = |n: usize| vec!["int64_t".to_owned(); n];
    let expected = [vec!["int".to_owned(), "char *".to_owned()], int(8), vec!["char *".to_owned()]].concat();
    assert_eq!(probe.arguments, expected);
    assert_eq!(probe.function, "dyntrace.sdt.dof.tests");

    let at = |offsets: &[u32]| {
        offsets.iter().map(|offset| (probe.address + u64::from(*offset)) as usize).collect::<BTreeSet<_>>()
    };
    let recorded = |fires: bool| {
        let of_it = section::sites().iter().filter(|site| site.probe.name == "two__words__name");
        of_it.filter(|site| site.probe.arguments.is_some() == fires).map(|site| site.address).collect::<BTreeSet<_>>()
    };
    assert_eq!(at(&probe.offsets), recorded(true));
    assert_eq!(at(&probe.enabled_offsets), recorded(false));

    assert_eq!(section.providers["dof_other"].probes["plain"].arguments, Vec::<String>::new());
}

#[test]
fn no_sites_make_empty_dof() {
    let section = dof::Section::from_bytes(&object::build(&[])).expect("DOF");
    assert!(section.providers.is_empty());
}
