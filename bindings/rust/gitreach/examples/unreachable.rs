// SPDX-License-Identifier: MIT
//! Prints the objects that no reference reaches. The ids of the objects to judge come
//! from standard input, 40 or 64 hexadecimal digits on each line:
//!
//! ```text
//! git cat-file --batch-all-objects --batch-check='%(objectname)' |
//!     cargo run --example unreachable -- project.git
//! ```
//!
//! Do not delete the printed objects: a reflog, an index file, a fork that borrows objects,
//! or an unfinished push may still need them. git-gc(1) checks reflogs and index files, and
//! keeps objects that are younger than two weeks.

use gitreach::{Id, Repository, Types};
use std::env::args;
use std::error::Error;
use std::io::{stdin, stdout, BufRead, BufWriter, Write};
use std::process::ExitCode;

fn print_unreachable(path: &str) -> Result<(), Box<dyn Error>> {
    let repo = Repository::open(path)?;
    let mut ids: Vec<Id> = Vec::new();
    for line in stdin().lock().lines() {
        ids.push(line?.parse()?);
    }
    let reached = repo.query()?.want_refs("")?.run()?;
    let left = repo.set_of(&ids)?.difference(&reached)?;
    let mut out = BufWriter::new(stdout().lock());
    for object in left.objects(Types::ANY)? {
        writeln!(out, "{}", object.id)?;
    }
    out.flush()?;
    Ok(())
}

fn main() -> ExitCode {
    let given: Vec<String> = args().skip(1).collect();
    if given.len() != 1 {
        eprintln!("usage: unreachable <repository>");
        return ExitCode::from(2);
    }
    match print_unreachable(&given[0]) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
