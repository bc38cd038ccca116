// SPDX-License-Identifier: MIT
//! Asks pkg-config how to link with libgitreach.
//!
//! The program pkg-config is run directly, so that the crate has no dependency.
//! PKG_CONFIG names another program. For another target than the host, PKG_CONFIG
//! or PKG_CONFIG_ALLOW_CROSS=1 must be set.

use std::env;
use std::process::{exit, Command};

const VARIABLES: [&str; 6] = [
    "PKG_CONFIG",
    "PKG_CONFIG_PATH",
    "PKG_CONFIG_LIBDIR",
    "PKG_CONFIG_SYSROOT_DIR",
    "PKG_CONFIG_ALLOW_CROSS",
    "DOCS_RS",
];

fn fail(why: &str) -> ! {
    eprintln!("gitreach-sys: {why}");
    exit(1)
}

/// The words of what pkg-config prints. A backslash quotes a blank of a path.
fn words(printed: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut chars = printed.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => all.last_mut().unwrap().extend(chars.next()),
            c if c.is_whitespace() => all.push(String::new()),
            c => all.last_mut().unwrap().push(c),
        }
    }
    all.retain(|word| !word.is_empty());
    all
}

fn pkg_config(module: &str) -> Vec<String> {
    let program = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into());
    match Command::new(&program)
        .args(["--libs-only-L", "--libs-only-l", module])
        .output()
    {
        Err(e) => fail(&format!("cannot run {program}: {e}")),
        Ok(done) if !done.status.success() => fail(&format!(
            "{program} does not find libgitreach: {}",
            String::from_utf8_lossy(&done.stderr).trim()
        )),
        Ok(done) => words(&String::from_utf8_lossy(&done.stdout)),
    }
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for name in VARIABLES {
        println!("cargo:rerun-if-env-changed={name}");
    }
    // docs.rs makes the documentation without the library.
    if env::var_os("DOCS_RS").is_some() {
        return;
    }
    if env::var_os("HOST") != env::var_os("TARGET")
        && env::var_os("PKG_CONFIG").is_none()
        && env::var_os("PKG_CONFIG_ALLOW_CROSS").is_none()
    {
        fail("set PKG_CONFIG to the pkg-config of the target");
    }
    for word in pkg_config("gitreach >= 0.1.0") {
        if let Some(directory) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={directory}");
        } else if let Some(library) = word.strip_prefix("-l") {
            println!("cargo:rustc-link-lib={library}");
        }
    }
}
