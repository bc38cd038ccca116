// SPDX-License-Identifier: MIT
//! Writes a pack to standard output: the objects of one reference, for a receiver that
//! has the objects of other references:
//!
//! ```text
//! cargo run --example write-pack -- project.git main v1.0 >thin.pack
//! ```
//!
//! An application that serves packs passes its connection instead of standard output.

use gitreach::{PackOptions, Progress, Repository};
use std::env::args;
use std::error::Error;
use std::io::{stdout, Write};
use std::ops::ControlFlow;
use std::process::ExitCode;

fn write_pack(path: &str, want: &str, haves: &[String]) -> Result<(), Box<dyn Error>> {
    let mut query = Repository::open(path)?.query()?;
    query.want_name(want)?;
    for have in haves {
        query.have_name(have)?;
    }
    let mut show = |progress: &Progress<'_>| {
        eprintln!("{}: {}", progress.phase, progress.done);
        ControlFlow::Continue(())
    };
    let options = PackOptions::new().thin(true).ofs_delta(true);
    let mut out = stdout().lock();
    let report = query.write_pack_with(&mut out, &options, Some(&mut show))?;
    out.flush()?;
    eprintln!(
        "{} objects, {} bytes, {} of them as they were stored",
        report.objects, report.bytes, report.bytes_copied
    );
    Ok(())
}

fn main() -> ExitCode {
    let given: Vec<String> = args().skip(1).collect();
    if given.len() < 2 {
        eprintln!("usage: write-pack <repository> <want> [<have>...]");
        return ExitCode::from(2);
    }
    match write_pack(&given[0], &given[1], &given[2..]) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
