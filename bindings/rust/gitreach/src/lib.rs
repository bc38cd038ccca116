// SPDX-License-Identifier: MIT
//! Which objects of a Git repository are reachable, and packs of them, by libgitreach.
//!
//! ```no_run
//! use gitreach::{Repository, Types};
//!
//! # fn main() -> gitreach::Result<()> {
//! let repo = Repository::open("project.git")?;
//! let mut query = repo.query()?;
//! query.want_name("main")?.have_name("v1.0")?;
//! let found = query.run()?;
//! println!("{} objects, {} commits", found.len(), found.count(Types::COMMIT));
//! # Ok(())
//! # }
//! ```
//!
//! Queries use the bitmap index of the repository if it has one. The header `gitreach.h`
//! of the C library documents the cost of each function.
//!
//! A [`Repository`] is a snapshot, and a [`Set`] does not change. Threads may share both.
//! A [`Query`] may move to another thread, but one thread uses it at a time. Queries and
//! sets keep the memory of their repository, so values may be dropped in any order.
//!
//! Closures that the library calls may panic: the call ends, and the panic goes on in the
//! caller.

#![warn(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]

mod bitmap;
mod callback;
mod error;
mod id;
mod pack;
mod query;
mod repository;
mod set;

pub use bitmap::{Bitmap, BitmapInfo, Verify};
pub use callback::{Progress, ProgressFn};
pub use error::{Code, Error, Result};
pub use id::{Hash, Id};
pub use pack::{PackOptions, PackReport};
pub use query::{unique, Query, Strategy};
pub use repository::{ObjectInfo, OpenOptions, Ref, Repository};
pub use set::{Explanation, Object, Set, Type, Types};

use std::ffi::CStr;

/// The version of the library that the program runs with.
pub fn version() -> &'static str {
    // The string is constant.
    let text = unsafe { CStr::from_ptr(gitreach_sys::gitreach_version()) };
    text.to_str().unwrap_or("")
}
