// SPDX-License-Identifier: MIT
//! The bitmap index of a repository.

use crate::callback::{Callback, ProgressFn, Reporter};
use crate::error::{call, Result};
use crate::id::Id;
use crate::repository::Repository;
use gitreach_sys as sys;
use std::ffi::{CStr, OsStr};
use std::mem::size_of;
use std::ops::ControlFlow;
use std::os::raw::{c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Facts about a bitmap index.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BitmapInfo {
    /// The file.
    pub path: PathBuf,
    /// The size of the file.
    pub bytes: u64,
    /// The number of indexed objects.
    pub objects: u32,
    /// The number of bitmaps of single commits.
    pub bitmaps: u32,
    /// The number of bitmaps that stand for several commits together.
    pub pseudo_merges: u32,
    /// Whether the index has path hashes, for delta compression.
    pub hash_cache: bool,
    /// Whether the index has a table of commits.
    pub lookup_table: bool,
}

/// The bitmap of one commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bitmap {
    /// The commit.
    pub id: Id,
    /// The size of the bitmap's entry in the file.
    pub bytes: u64,
    /// How many other bitmaps must be decoded before this one.
    pub xor_depth: u64,
}

/// Which bitmaps are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verify {
    /// All, by one enumeration of the history.
    All,
    /// Some, each with a walk over all its trees.
    Sample {
        /// How many. 0 means all.
        nr: u64,
        /// The seed of the random choice.
        seed: u64,
    },
}

pub(crate) fn info(repo: &Repository) -> Result<BitmapInfo> {
    let mut out = sys::gitreach_bitmap_info {
        size: size_of::<sys::gitreach_bitmap_info>() as u64,
        bytes: 0,
        objects: 0,
        bitmaps: 0,
        pseudo_merges: 0,
        flags: 0,
        path: std::ptr::null(),
    };
    call(|err| unsafe { sys::gitreach_bitmap_info(&mut out, repo.raw(), err) })?;
    let path = unsafe { CStr::from_ptr(out.path) };
    Ok(BitmapInfo {
        path: PathBuf::from(OsStr::from_bytes(path.to_bytes())),
        bytes: out.bytes,
        objects: out.objects,
        bitmaps: out.bitmaps,
        pseudo_merges: out.pseudo_merges,
        hash_cache: out.flags & sys::GITREACH_BITMAP_HASH_CACHE != 0,
        lookup_table: out.flags & sys::GITREACH_BITMAP_LOOKUP_TABLE != 0,
    })
}

unsafe extern "C" fn visit(ctx: *mut c_void, entry: *const sys::gitreach_bitmap_entry) -> c_int {
    let given = unsafe { &*entry };
    unsafe {
        Callback::<Vec<Bitmap>>::run(ctx, |found| {
            found.push(Bitmap {
                id: Id::from_raw(given.id, given.id_len as usize),
                bytes: given.bytes,
                xor_depth: given.xor_depth,
            });
            ControlFlow::Continue(())
        })
    }
}

pub(crate) fn each(repo: &Repository) -> Result<Vec<Bitmap>> {
    let mut callback = Callback::new(Vec::new());
    let ctx = callback.ctx();
    let done = call(|err| unsafe { sys::gitreach_bitmap_each(repo.raw(), Some(visit), ctx, err) });
    let found = std::mem::take(callback.function_mut());
    callback.finish();
    done.map(|_| found)
}

pub(crate) fn verify(
    repo: &Repository,
    how: Verify,
    progress: Option<ProgressFn<'_>>,
) -> Result<()> {
    let (sample, seed) = match how {
        Verify::All => (0, 0),
        Verify::Sample { nr, seed } => (nr, seed),
    };
    let mut reporter = Reporter::new(progress);
    let (progress, progress_ctx) = reporter.parts();
    let options = sys::gitreach_verify_options {
        size: size_of::<sys::gitreach_verify_options>() as u64,
        sample,
        seed,
        progress,
        progress_ctx,
    };
    let done = call(|err| unsafe { sys::gitreach_bitmap_verify(repo.raw(), &options, err) });
    reporter.finish();
    done.map(drop)
}

pub(crate) fn write(
    repo: &Repository,
    threads: u64,
    progress: Option<ProgressFn<'_>>,
) -> Result<()> {
    let mut reporter = Reporter::new(progress);
    let (progress, progress_ctx) = reporter.parts();
    let options = sys::gitreach_bitmap_options {
        size: size_of::<sys::gitreach_bitmap_options>() as u64,
        threads,
        progress,
        progress_ctx,
    };
    let done = call(|err| unsafe { sys::gitreach_bitmap_write(repo.raw(), &options, err) });
    reporter.finish();
    done.map(drop)
}
