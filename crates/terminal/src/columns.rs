//! Tables of text: columns as wide as their widest cells, two spaces apart.

/// Aligns the cells of `rows`, which have the same number of columns. The last column is not padded.
pub fn aligned(rows: &[impl AsRef<[String]>], is_number: impl Fn(usize) -> bool) -> Vec<String> {
    let width = |column: usize| rows.iter().map(|row| row.as_ref()[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows.first().map_or(0, |row| row.as_ref().len())).map(width).collect();
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
