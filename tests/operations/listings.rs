//! The number of operations of a listing.

use std::path::Path;

use dyntrace::efile::Command;
use dyntrace::fs;
use dyntrace::with_tag;

use super::{recorded, run};

async fn count(path: &Path) -> usize {
    let mut entries = fs::read_dir(path).await.unwrap();
    let mut count = 0;
    while entries.next_entry().await.unwrap().is_some() {
        count += 1;
    }
    count
}

#[test]
fn a_listing_is_a_readdir_for_256_entries() {
    let places = [0, 3, 1000].map(|files| {
        let place = tempfile::tempdir().unwrap();
        (0..files).for_each(|file| std::fs::write(place.path().join(file.to_string()), "").unwrap());
        (files, place)
    });
    let lists = with_tag("lists", async {
        for (files, place) in &places {
            assert_eq!(count(place.path()).await, *files);
        }
    });
    recorded(
        || run(lists),
        |(), operations| {
            let trips = places.each_ref().map(|(_, place)| {
                let path = place.path().as_os_str().as_encoded_bytes();
                let trips: Vec<_> = operations.iter().filter(|operation| operation.path == path).collect();
                assert!(trips.iter().all(|trip| trip.request.command == Command::Readdir.number()));
                assert!(trips.iter().all(|trip| trip.request.user_tag == b"lists" && trip.completion.unwrap().success));
                trips.len()
            });
            assert_eq!(trips, [1, 1, 4]);
        },
    );
}
