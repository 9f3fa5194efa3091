//! Sites without functions, made like the attribute's and in the same section. The compiler would take minutes for this
//! number of functions, and setting a pattern reads sites only.

use dyntrace::__traced::Site;
use dyntrace::trace::Function;

/// Adds this number of sites to a program, and runs it.
#[macro_export]
macro_rules! program {
    ($count:literal) => {
        use dyntrace::__traced::Site;
        use dyntrace::trace::Function;

        static NAMES: [[u8; $crate::made::NAME]; $count] = $crate::made::names();
        static FUNCTIONS: [Function; $count] = $crate::made::functions(&NAMES);
        #[used]
        #[unsafe(link_section = "dyntrace_traced")]
        static SITES: [Site; $count] = $crate::made::sites(&FUNCTIONS);

        fn main() {
            $crate::run(&SITES);
        }
    };
}

/// A pattern of the first half of the functions.
pub(crate) const FIRST: &str = "made::first::*";
const FIRST_NAME: &[u8; NAME] = b"made::first::f000000/2";
const OTHER_NAME: &[u8; NAME] = b"made::other::f000000/2";
/// The length of each name.
pub const NAME: usize = 22;

pub const fn names<const COUNT: usize>() -> [[u8; NAME]; COUNT] {
    let mut names = [*FIRST_NAME; COUNT];
    let mut number = 0;
    while number < COUNT {
        names[number] = name(if number < COUNT / 2 { FIRST_NAME } else { OTHER_NAME }, number);
        number += 1;
    }
    names
}

/// Returns the name with the number in place of the zeros.
const fn name(of: &[u8; NAME], number: usize) -> [u8; NAME] {
    let mut name = *of;
    let mut rest = number;
    let mut place = NAME - "/2".len();
    while rest > 0 {
        place -= 1;
        name[place] += (rest % 10) as u8;
        rest /= 10;
    }
    name
}

pub const fn functions<const COUNT: usize>(names: &'static [[u8; NAME]; COUNT]) -> [Function; COUNT] {
    let mut functions = [const { Function::new("", "", 0, &[]) }; COUNT];
    let mut number = 0;
    while number < COUNT {
        let Ok(name) = str::from_utf8(&names[number]) else { panic!("names are ASCII") };
        functions[number] = Function::new(name, file!(), 1, &["a", "b"]);
        number += 1;
    }
    functions
}

pub const fn sites<const COUNT: usize>(functions: &'static [Function; COUNT]) -> [Site; COUNT] {
    const NOTHING: &Function = &Function::new("", "", 0, &[]);
    let mut sites = [const { Site::new(NOTHING) }; COUNT];
    let mut number = 0;
    while number < COUNT {
        sites[number] = Site::new(&functions[number]);
        number += 1;
    }
    sites
}
