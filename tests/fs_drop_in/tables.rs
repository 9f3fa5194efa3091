//! Compares tables of the results of each call, with tokio's files and with dyntrace's, line by line.

use std::path::Path;

use crate::{of_dyntrace, of_tokio};

fn outcomes(make: impl AsyncFnOnce(&Path) -> Vec<String>) -> Vec<String> {
    let place = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(make(place.path()))
}

fn alike(ours: Vec<String>, theirs: Vec<String>) {
    assert_eq!(ours.len(), theirs.len());
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs);
    }
}

#[test]
fn every_combination_of_options_opens_alike() {
    alike(outcomes(of_dyntrace::outcomes_of_options), outcomes(of_tokio::outcomes_of_options));
}

#[test]
fn functions_answer_alike() {
    alike(outcomes(of_dyntrace::outcomes_of_functions), outcomes(of_tokio::outcomes_of_functions));
}

#[test]
fn files_answer_alike() {
    alike(outcomes(of_dyntrace::outcomes_of_files), outcomes(of_tokio::outcomes_of_files));
}
