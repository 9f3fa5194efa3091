//! The table of floors, and the violations of that table in a crate.

use std::collections::{BTreeMap, BTreeSet};

use crate::arrows::{Arrow, arrows};
use crate::circles::{Graph, circles};
use crate::modules::{Crate, Sources};

/// Rooms and their floors.
pub struct Table {
    floors: BTreeMap<String, u32>,
}

impl Table {
    /// Reads the first fenced block of `text`. A line that begins with `floor N` begins a floor; a path below `folder` begins
    /// a room; other lines continue the description of the room before, or are another crate's.
    pub fn read(text: &str, folder: &str) -> Table {
        let block = text.split("```").nth(1).expect("the table of floors is the first fenced block");
        let mut floors = BTreeMap::new();
        let mut floor = None;
        for line in block.lines() {
            let mut words = line.split_whitespace().peekable();
            if words.next_if_eq(&"floor").is_some() {
                floor = words.next().and_then(|number| number.parse().ok());
            }
            if let Some(room) = words.next().and_then(|path| path.strip_prefix(folder)) {
                let floor = floor.unwrap_or_else(|| panic!("no floor before {folder}{room}"));
                floors.insert(room.trim_end_matches('/').trim_end_matches(".rs").to_owned(), floor);
            }
        }
        Table { floors }
    }

    /// The room of a file: the longest path of the table that leads to it.
    fn room(&self, file: &str) -> Option<&str> {
        let leads_to = |room: &&String| {
            let rest = file.strip_prefix(room.as_str());
            rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        };
        self.floors.keys().filter(leads_to).max_by_key(|room| room.len()).map(String::as_str)
    }
}

/// Returns all violations, each with its remedy.
pub fn faults(sources: &Sources, name: &str, table: &Table) -> Vec<String> {
    let all = Crate::read(sources, "lib.rs", name);
    let arrows = arrows(&all);
    let mut faults = unknown(&all, table);
    if !faults.is_empty() {
        return faults;
    }
    let room = |file: &str| table.room(file).expect("all rooms are in the table").to_owned();
    let rooms: Vec<(String, String, &Arrow)> = arrows
        .iter()
        .map(|arrow| (room(&arrow.from), room(&arrow.to), arrow))
        .filter(|(from, to, _)| from != to)
        .collect();
    faults.extend(up(&rooms, table));
    faults.extend(circles_of_rooms(&rooms));
    faults.extend(circles_of_files(&arrows));
    faults
}

fn unknown(all: &Crate, table: &Table) -> Vec<String> {
    let files: BTreeSet<&str> = all.modules.iter().map(|module| &*module.file).collect();
    let rooms: BTreeSet<&str> = files.iter().filter_map(|file| table.room(file)).collect();
    let homeless = files.iter().filter(|file| table.room(file).is_none());
    let empty = table.floors.keys().filter(|room| !rooms.contains(room.as_str()));
    homeless
        .map(|file| format!("src/{file} is in no room: add it to the table of floors in ARCHITECTURE.md"))
        .chain(empty.map(|room| format!("the table of floors in ARCHITECTURE.md has src/{room}, which does not exist")))
        .collect()
}

fn up(rooms: &[(String, String, &Arrow)], table: &Table) -> Vec<String> {
    let wrong = rooms.iter().filter(|(from, to, _)| table.floors[to] > table.floors[from]);
    wrong
        .map(|(from, to, arrow)| {
            let advice = match &**to {
                "lib" => "Name the room that defines it: the root's re-exports are for users".to_owned(),
                _ => format!("Move what both need to a room below, or have {to} pass it in"),
            };
            let (below, above) = (table.floors[from], table.floors[to]);
            format!("{}: {from} is on floor {below} and {to} on floor {above}. {advice}", shown(arrow))
        })
        .collect()
}

fn circles_of_rooms(rooms: &[(String, String, &Arrow)]) -> Vec<String> {
    let mut graph = Graph::new();
    for (from, to, _) in rooms {
        graph.entry(from).or_default().insert(to);
    }
    let found = circles(&graph).into_iter().map(|circle| {
        let inside =
            rooms.iter().filter(|(from, to, _)| circle.contains(from.as_str()) && circle.contains(to.as_str()));
        let arrows: Vec<_> =
            inside.map(|(from, to, arrow)| format!("\n    {from} -> {to}: {}", shown(arrow))).collect();
        format!(
            "a circle of rooms. Cut one of its arrows: move what both sides need to a room below{}",
            arrows.concat()
        )
    });
    found.collect()
}

/// Returns the circles of more than two files, each with its remedy.
pub fn circles_of_files(arrows: &[Arrow]) -> Vec<String> {
    let mut graph = Graph::new();
    for Arrow { from, to, .. } in arrows {
        graph.entry(from).or_default().insert(to);
    }
    let wrong = circles(&graph).into_iter().filter(|circle| circle.len() > 2).map(|circle| {
        let inside = arrows.iter().filter(|arrow| circle.contains(&*arrow.from) && circle.contains(&*arrow.to));
        let inside: Vec<_> = inside.map(|arrow| format!("\n    {}", shown(arrow))).collect();
        format!(
            "a circle of {} files. Cut it: move what several of them need to a file that uses none of them{}",
            circle.len(),
            inside.concat()
        )
    });
    wrong.collect()
}

fn shown(Arrow { from, line, path, to }: &Arrow) -> String {
    format!("src/{from}:{line}: `{path}` is in src/{to}")
}
