// SPDX-License-Identifier: MIT
//! Prints what only one group of references needs: the number of objects that no other
//! group reaches, and their stored size. A group is a prefix of names:
//!
//! ```text
//! cargo run --example fork-use -- store.git refs/forks/a/ refs/forks/b/
//! ```
//!
//! If the references of a fork are deleted, a repack can free about so much. Objects that
//! references outside of all groups reach count as used by a group that reaches them, too.

use gitreach::{unique, Query, Repository, Result, Types};
use std::env::args;
use std::process::ExitCode;

fn print_all(path: &str, prefixes: &[String]) -> Result<()> {
    let repo = Repository::open(path)?;
    let mut queries = Vec::new();
    for prefix in prefixes {
        let mut query = repo.query()?;
        query.want_refs(prefix)?;
        queries.push(query);
    }
    let sets = unique(&queries.iter().collect::<Vec<&Query>>())?;
    for (prefix, set) in prefixes.iter().zip(&sets) {
        let bytes = set.disk_size(Types::ANY)?;
        println!("{prefix} {} objects, {bytes} bytes", set.len());
    }
    Ok(())
}

fn main() -> ExitCode {
    let given: Vec<String> = args().skip(1).collect();
    if given.len() < 2 {
        eprintln!("usage: fork-use <repository> <prefix>...");
        return ExitCode::from(2);
    }
    match print_all(&given[0], &given[1..]) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
