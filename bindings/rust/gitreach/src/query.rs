// SPDX-License-Identifier: MIT
//! Queries: which objects do the wants reach, and the haves not?

use crate::callback::{ProgressFn, Reporter};
use crate::error::{c_string, call, Result};
use crate::id::Id;
use crate::pack::{self, PackOptions, PackReport};
use crate::repository::Repository;
use crate::set::Set;
use gitreach_sys as sys;
use std::io::Write;
use std::os::raw::{c_char, c_int};
use std::ptr::null_mut;

/// How a query is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// With the bitmap index if it can answer, otherwise by walking.
    Auto,
    /// By walking history and trees.
    Walk,
    /// With the bitmap index, or not at all.
    Bitmap,
    /// In both ways; fails with [`Code::Corrupt`](crate::Code::Corrupt) if they find
    /// different objects.
    Check,
}

impl Strategy {
    fn number(self) -> sys::gitreach_strategy {
        match self {
            Strategy::Auto => sys::GITREACH_AUTO,
            Strategy::Walk => sys::GITREACH_WALK,
            Strategy::Bitmap => sys::GITREACH_BITMAP,
            Strategy::Check => sys::GITREACH_CHECK,
        }
    }

    /// The strategy that found a set. None: the set was combined from other sets.
    pub(crate) fn of(number: i32) -> Option<Strategy> {
        match number as sys::gitreach_strategy {
            sys::GITREACH_WALK => Some(Strategy::Walk),
            sys::GITREACH_BITMAP => Some(Strategy::Bitmap),
            sys::GITREACH_CHECK => Some(Strategy::Check),
            _ => None,
        }
    }
}

/// A query of one snapshot. It may be run several times, and changed between runs.
///
/// The methods that change a query return it, for chains of calls.
#[derive(Debug)]
pub struct Query {
    /// Owned. The library keeps the repository alive.
    raw: *mut sys::gitreach_query,
}

// The header: "A query or an error is used by one thread at a time." So a query is
// Send, and not Sync.
unsafe impl Send for Query {}

impl Drop for Query {
    fn drop(&mut self) {
        unsafe { sys::gitreach_query_free(self.raw) }
    }
}

type AddId = unsafe extern "C" fn(
    *mut sys::gitreach_query,
    *const u8,
    usize,
    *mut sys::gitreach_error,
) -> c_int;
type AddText = unsafe extern "C" fn(
    *mut sys::gitreach_query,
    *const c_char,
    *mut sys::gitreach_error,
) -> c_int;

impl Query {
    pub(crate) fn new(repo: &Repository) -> Result<Query> {
        let mut raw = null_mut();
        call(|err| unsafe { sys::gitreach_query_new(&mut raw, repo.raw(), err) })?;
        Ok(Query { raw })
    }

    fn add_id(&mut self, add: AddId, id: &Id) -> Result<&mut Query> {
        let id = id.as_bytes();
        call(|err| unsafe { add(self.raw, id.as_ptr(), id.len(), err) })?;
        Ok(self)
    }

    fn add_text(&mut self, add: AddText, text: &[u8]) -> Result<&mut Query> {
        let text = c_string(text)?;
        call(|err| unsafe { add(self.raw, text.as_ptr(), err) })?;
        Ok(self)
    }

    fn set(&mut self, option: sys::gitreach_query_option, value: u64) -> Result<&mut Query> {
        call(|err| unsafe { sys::gitreach_query_set(self.raw, option as c_int, value, err) })?;
        Ok(self)
    }

    /// Want an object of any type, with all that it reaches.
    pub fn want(&mut self, id: &Id) -> Result<&mut Query> {
        self.add_id(sys::gitreach_query_want, id)
    }

    /// Exclude what an object reaches. An object that does not exist is ignored.
    pub fn have(&mut self, id: &Id) -> Result<&mut Query> {
        self.add_id(sys::gitreach_query_have, id)
    }

    /// Want the object of a name, as for [`Repository::resolve`].
    pub fn want_name(&mut self, name: impl AsRef<[u8]>) -> Result<&mut Query> {
        self.add_text(sys::gitreach_query_want_name, name.as_ref())
    }

    /// Exclude what the object of a name reaches.
    pub fn have_name(&mut self, name: impl AsRef<[u8]>) -> Result<&mut Query> {
        self.add_text(sys::gitreach_query_have_name, name.as_ref())
    }

    /// Want all references whose full names start with a prefix. "": all, and HEAD.
    pub fn want_refs(&mut self, prefix: impl AsRef<[u8]>) -> Result<&mut Query> {
        self.add_text(sys::gitreach_query_want_refs, prefix.as_ref())
    }

    /// Exclude what references with this prefix reach.
    pub fn have_refs(&mut self, prefix: impl AsRef<[u8]>) -> Result<&mut Query> {
        self.add_text(sys::gitreach_query_have_refs, prefix.as_ref())
    }

    /// Leave out references with this prefix when references are added from now on.
    pub fn exclude_refs(&mut self, prefix: impl AsRef<[u8]>) -> Result<&mut Query> {
        self.add_text(sys::gitreach_query_exclude_refs, prefix.as_ref())
    }

    /// Treat a commit as having no parents. The query is then answered by walking.
    pub fn shallow(&mut self, id: &Id) -> Result<&mut Query> {
        self.add_id(sys::gitreach_query_shallow, id)
    }

    /// Exclude objects that do not pass a filter, written as for `git rev-list --filter`.
    pub fn filter(&mut self, spec: impl AsRef<[u8]>) -> Result<&mut Query> {
        self.add_text(sys::gitreach_query_filter, spec.as_ref())
    }

    /// How the query is answered. Default: [`Strategy::Auto`].
    pub fn strategy(&mut self, strategy: Strategy) -> Result<&mut Query> {
        self.set(sys::GITREACH_STRATEGY, u64::from(strategy.number()))
    }

    /// Whether trees, blobs and tags are found, too. Default: true.
    pub fn objects(&mut self, on: bool) -> Result<&mut Query> {
        self.set(sys::GITREACH_OBJECTS, u64::from(on))
    }

    /// Whether the filter also applies to the wants themselves. Default: false.
    pub fn filter_wants(&mut self, on: bool) -> Result<&mut Query> {
        self.set(sys::GITREACH_FILTER_WANTS, u64::from(on))
    }

    /// Whether the result may contain some objects that the haves reach, if excluding
    /// them would be expensive. Default: false.
    pub fn inexact(&mut self, on: bool) -> Result<&mut Query> {
        self.set(sys::GITREACH_INEXACT, u64::from(on))
    }

    /// The maximum number of threads. 0, the default: what is configured, or as many as
    /// processors.
    pub fn threads(&mut self, nr: u64) -> Result<&mut Query> {
        self.set(sys::GITREACH_THREADS, nr)
    }

    /// Find the objects that the wants reach and the haves do not reach.
    pub fn run(&mut self) -> Result<Set> {
        let mut raw = null_mut();
        call(|err| unsafe { sys::gitreach_query_run(&mut raw, self.raw, err) })?;
        Ok(unsafe { Set::from_raw(raw) })
    }

    /// The same, with a progress closure.
    pub fn run_with(&mut self, progress: ProgressFn<'_>) -> Result<Set> {
        let mut reporter = Reporter::new(Some(progress));
        let (function, ctx) = reporter.parts();
        unsafe { sys::gitreach_query_progress(self.raw, function, ctx) };
        let found = self.run();
        // The closure ends before the query does.
        unsafe { sys::gitreach_query_progress(self.raw, None, null_mut()) };
        reporter.finish();
        found
    }

    /// Make the pack that answers the query, as `git upload-pack` sends it. Stored data
    /// is copied wherever the receiver can use it. After a failure, the bytes written so
    /// far are not a valid pack.
    pub fn write_pack(&mut self, out: impl Write, options: &PackOptions) -> Result<PackReport> {
        self.write_pack_with(out, options, None)
    }

    /// The same, with a progress closure.
    pub fn write_pack_with(
        &mut self,
        mut out: impl Write,
        options: &PackOptions,
        progress: Option<ProgressFn<'_>>,
    ) -> Result<PackReport> {
        let raw = self.raw;
        pack::write(&mut out, options, progress, &|o, w, ctx, r, err| unsafe {
            sys::gitreach_query_write_pack(raw, o, w, ctx, r, err)
        })
    }
}

/// Run several queries of one snapshot. Returns for each the set of objects that no other
/// of the queries finds. So if each query wants the references of one fork, the results
/// are what only this fork needs.
pub fn unique(queries: &[&Query]) -> Result<Vec<Set>> {
    let given: Vec<*const sys::gitreach_query> = queries.iter().map(|q| q.raw as _).collect();
    let mut found = vec![null_mut(); given.len()];
    call(|err| unsafe {
        sys::gitreach_query_unique(found.as_mut_ptr(), given.as_ptr(), given.len(), err)
    })?;
    Ok(found
        .into_iter()
        .map(|raw| unsafe { Set::from_raw(raw) })
        .collect())
}
