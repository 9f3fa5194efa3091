//! `forty [ROUNDS]` fires a probe from 40 places in each round, and prints how often. Without the cfg `probed` it only counts.

#[cfg(probed)]
dyntrace_probes::include_provider!("bakery");

#[inline(always)]
fn place(loaves: i32) -> i32 {
    #[cfg(probed)]
    order::placed(|| ("Ada", loaves));
    std::hint::black_box(loaves);
    1
}

#[inline(always)]
fn ten(loaves: i32) -> i32 {
    place(loaves)
        + place(loaves + 1)
        + place(loaves + 2)
        + place(loaves + 3)
        + place(loaves + 4)
        + place(loaves + 5)
        + place(loaves + 6)
        + place(loaves + 7)
        + place(loaves + 8)
        + place(loaves + 9)
}

fn main() {
    let rounds = std::env::args().nth(1).map_or(1, |number| number.parse().expect("a number"));
    let mut count = 0;
    for round in 0..rounds {
        count += ten(round) + ten(round + 10) + ten(round + 20) + ten(round + 30);
    }
    println!("{count}");
}
