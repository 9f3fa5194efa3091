//! Tables of text: columns as wide as their widest cells, two spaces apart; on a terminal no wider than that.

use std::io;

use terminal_size::{Width, terminal_size_of};

/// The characters below which no column is cut while another one can go.
const LEAST: usize = 20;
/// The place of the characters that are cut from a cell.
const CUT: &str = "...";

/// How a table gives way to a narrow terminal.
pub struct Narrow<'t> {
    /// The titles of columns that go, in this order, before any is cut.
    pub spare: &'t [&'t str],
    /// The titles of columns that go, in this order, when cuts do not suffice.
    pub going: &'t [&'t str],
    /// The titles of columns whose cells lose their beginnings: places in sources. Others lose their ends.
    pub from_the_start: &'t [&'t str],
}

/// The columns of the terminal that standard output is. `None` if it is none: then tables are whole.
pub fn terminal_width() -> Option<usize> {
    let (Width(columns), _) = terminal_size_of(io::stdout())?;
    (columns > 0).then_some(columns.into())
}

/// Makes the rows, the first of which has the titles, fit into `width` characters: columns go, then the widest are cut. The last one may
/// be twice as wide as the others.
pub fn fit(rows: &mut [Vec<String>], width: usize, narrow: &Narrow<'_>) {
    for (titles, least) in [(narrow.spare, usize::MAX), (narrow.going, LEAST)] {
        let mut titles = titles.iter();
        while needed(widths(rows).map(|width| width.min(least))) > width
            && let Some(title) = titles.next()
        {
            if let Some(column) = rows.first().and_then(|titles| titles.iter().position(|other| other == title)) {
                rows.iter_mut().for_each(|row| drop(row.remove(column)));
            }
        }
    }
    let mut cut: Vec<usize> = widths(rows).collect();
    let last = cut.len().saturating_sub(1);
    while needed(cut.iter().copied()) > width {
        let wide = cut.iter_mut().enumerate().filter(|(_, width)| **width > LEAST);
        let Some((_, widest)) = wide.max_by_key(|(column, width)| **width / if *column == last { 2 } else { 1 }) else {
            break;
        };
        *widest -= 1;
    }
    let titles = rows.first().cloned().unwrap_or_default();
    for cells in rows.iter_mut().skip(1) {
        for ((cell, most), title) in cells.iter_mut().zip(&cut).zip(&titles) {
            let length = cell.chars().count();
            if length <= *most {
                continue;
            }
            let left = most.saturating_sub(CUT.len());
            *cell = match narrow.from_the_start.contains(&&**title) {
                true => CUT.chars().chain(cell.chars().skip(length - left)).collect(),
                false => cell.chars().take(left).chain(CUT.chars()).collect(),
            };
        }
    }
}

fn widths(rows: &[impl AsRef<[String]>]) -> impl Iterator<Item = usize> {
    let width = move |column: usize| rows.iter().map(|row| row.as_ref()[column].chars().count()).max().unwrap_or(0);
    (0..rows.first().map_or(0, |row| row.as_ref().len())).map(width)
}

/// The characters of a line with columns of these widths.
fn needed(widths: impl Iterator<Item = usize>) -> usize {
    widths.map(|width| width + 2).sum::<usize>().saturating_sub(2)
}

/// Aligns the cells of `rows`, which have the same number of columns. The last column is not padded.
pub fn aligned(rows: &[impl AsRef<[String]>], is_number: impl Fn(usize) -> bool) -> Vec<String> {
    let widths: Vec<usize> = widths(rows).collect();
    let line = |row: &[String]| {
        let Some((last, cells)) = row.split_last() else { return String::new() };
        let cells = cells.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match is_number(column) {
            true => format!("{cell:>width$}  "),
            false => format!("{cell:<width$}  "),
        });
        cells.collect::<String>() + last
    };
    rows.iter().map(|row| line(row.as_ref())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(width: usize) -> Vec<String> {
        let row = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        let mut rows = vec![
            row(["ID", "FUTURE", "AT", "WAITS FOR"]),
            row([
                "7",
                "shop::orders::price::{async block}",
                "/home/user/shop/src/orders.rs:17",
                "Mutex 0x55aa00ff12 (locked)",
            ]),
        ];
        fit(&mut rows, width, &Narrow { spare: &["NONE"], going: &["AT"], from_the_start: &["AT"] });
        aligned(&rows, |column| column == 0)
    }

    #[test]
    fn columns_are_cut_then_go() {
        let whole =
            " 7  shop::orders::price::{async block}  /home/user/shop/src/orders.rs:17  Mutex 0x55aa00ff12 (locked)";
        assert_eq!(fitted(200)[1], whole);
        assert_eq!(fitted(80)[1], " 7  shop::orders::price:...  ...op/src/orders.rs:17  Mutex 0x55aa00ff12 (locked)");
        assert_eq!(
            fitted(50),
            ["ID  FUTURE                WAITS FOR", " 7  shop::orders::pri...  Mutex 0x55aa00ff12 (l..."]
        );
        assert!([80, 50].iter().all(|width| fitted(*width).iter().all(|line| line.chars().count() <= *width)));
        // Too narrow for any: the terminal wraps the lines.
        assert_eq!(fitted(10).len(), 2);
    }
}
