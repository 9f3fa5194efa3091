//! A library that is loaded while the program runs.

#[dyntrace::traced]
fn bake(bread: &str, number: u32) -> u32 {
    number + bread.len() as u32
}

#[dyntrace::traced]
fn sell(number: u32) -> u32 {
    number
}

/// Enough functions that a setting yields to others midway.
macro_rules! shelves {
    ($($shelf:ident)*) => { $(
        mod $shelf {
            books!(a b c d e f g h i j k l m n o p q r s t u v w x y z);
        }
    )* };
}

macro_rules! books {
    ($($book:ident)*) => {
        $(
            #[dyntrace::traced]
            fn $book() {}
        )*

        pub fn read() {
            $($book();)*
        }
    };
}

shelves!(s1 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 s12);

#[unsafe(no_mangle)]
pub extern "C" fn read() {
    let shelves = [s1::read, s2::read, s3::read, s4::read, s5::read, s6::read, s7::read, s8::read, s9::read, s10::read];
    shelves.into_iter().chain([s11::read, s12::read]).for_each(|shelf| shelf());
}

#[unsafe(no_mangle)]
pub extern "C" fn work(number: u32) -> u32 {
    sell(bake("rye", number))
}
