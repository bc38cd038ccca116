// SPDX-License-Identifier: MIT
//! Sets of objects of one snapshot.

use crate::callback::{Callback, ProgressFn};
use crate::error::{call, Code, Error, Result};
use crate::id::Id;
use crate::pack::{self, PackOptions, PackReport};
use crate::query::Strategy;
use crate::repository::Repository;
use gitreach_sys as sys;
use std::ffi::CStr;
use std::fmt;
use std::io::Write;
use std::mem::size_of;
use std::ops::{BitOr, ControlFlow};
use std::os::raw::{c_int, c_void};
use std::ptr::null_mut;
use std::time::Duration;

/// The type of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    /// A commit.
    Commit,
    /// A tree.
    Tree,
    /// A blob.
    Blob,
    /// An annotated tag.
    Tag,
}

impl Type {
    pub(crate) fn of(number: c_int) -> Result<Type> {
        match number as sys::gitreach_type {
            sys::GITREACH_COMMIT => Ok(Type::Commit),
            sys::GITREACH_TREE => Ok(Type::Tree),
            sys::GITREACH_BLOB => Ok(Type::Blob),
            sys::GITREACH_TAG => Ok(Type::Tag),
            _ => Err(Error::new(Code::Unsupported, "an unknown type of object")),
        }
    }
}

/// Git's name of the type, "commit".
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Type::Commit => "commit",
            Type::Tree => "tree",
            Type::Blob => "blob",
            Type::Tag => "tag",
        })
    }
}

/// Some types of objects: `Types::COMMIT | Types::TAG`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Types(u32);

impl Types {
    /// Commits.
    pub const COMMIT: Types = Types(sys::GITREACH_TYPE(sys::GITREACH_COMMIT));
    /// Trees.
    pub const TREE: Types = Types(sys::GITREACH_TYPE(sys::GITREACH_TREE));
    /// Blobs.
    pub const BLOB: Types = Types(sys::GITREACH_TYPE(sys::GITREACH_BLOB));
    /// Annotated tags.
    pub const TAG: Types = Types(sys::GITREACH_TYPE(sys::GITREACH_TAG));
    /// All of them.
    pub const ANY: Types = Types(sys::GITREACH_ANY_TYPE);
}

impl From<Type> for Types {
    fn from(kind: Type) -> Types {
        match kind {
            Type::Commit => Types::COMMIT,
            Type::Tree => Types::TREE,
            Type::Blob => Types::BLOB,
            Type::Tag => Types::TAG,
        }
    }
}

impl BitOr for Types {
    type Output = Types;

    fn bitor(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }
}

/// An object of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Object {
    /// The id.
    pub id: Id,
    /// The type.
    pub kind: Type,
}

/// How a set was found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    /// The strategy that found the set; None: it was combined from other sets.
    pub strategy: Option<Strategy>,
    /// The number of bitmaps used.
    pub bitmaps_used: u32,
    /// The number of bitmaps used that stand for several commits.
    pub pseudo_merges_used: u32,
    /// Commits without a bitmap that were visited.
    pub commits_walked: u32,
    /// Objects found without a bitmap, before filters.
    pub objects_walked: u64,
    /// The duration of the query.
    pub duration: Duration,
    /// Why bitmaps were not used; "" if they were.
    pub reason: String,
}

/// A set of objects of one snapshot. It never changes.
#[derive(Debug)]
pub struct Set {
    /// Owned. The library keeps the repository alive.
    raw: *mut sys::gitreach_set,
}

// The header: "Repositories and sets never change, so any number of threads may use one
// at the same time."
unsafe impl Send for Set {}
unsafe impl Sync for Set {}

impl Drop for Set {
    fn drop(&mut self) {
        unsafe { sys::gitreach_set_free(self.raw) }
    }
}

/// A closure for each object, and the failure that ended the visit.
struct Visit<F> {
    function: F,
    error: Option<Error>,
}

unsafe extern "C" fn visit<F>(ctx: *mut c_void, id: *const u8, len: usize, number: c_int) -> c_int
where
    F: FnMut(Object) -> ControlFlow<()>,
{
    unsafe {
        Callback::<Visit<F>>::run(ctx, |visit| match Type::of(number) {
            Ok(kind) => (visit.function)(Object {
                id: Id::from_raw(id, len),
                kind,
            }),
            Err(error) => {
                visit.error = Some(error);
                ControlFlow::Break(())
            }
        })
    }
}

type Combine = unsafe extern "C" fn(
    *mut *mut sys::gitreach_set,
    *const sys::gitreach_set,
    *const sys::gitreach_set,
    *mut sys::gitreach_error,
) -> c_int;

impl Set {
    /// # Safety
    ///
    /// The caller gives a set of the library away.
    pub(crate) unsafe fn from_raw(raw: *mut sys::gitreach_set) -> Set {
        Set { raw }
    }

    pub(crate) fn of(repo: &Repository, ids: &[Id]) -> Result<Set> {
        let len = repo.id_len();
        let mut bytes = Vec::with_capacity(ids.len() * len);
        for id in ids {
            if id.as_bytes().len() != len {
                return Err(Error::new(Code::Invalid, "an id has another length"));
            }
            bytes.extend_from_slice(id.as_bytes());
        }
        let mut raw = null_mut();
        call(|err| unsafe {
            sys::gitreach_set_new(&mut raw, repo.raw(), bytes.as_ptr(), ids.len(), len, err)
        })?;
        Ok(Set { raw })
    }

    /// The number of objects.
    pub fn len(&self) -> u64 {
        self.count(Types::ANY)
    }

    /// Whether the set has no object.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of objects of some types.
    pub fn count(&self, types: Types) -> u64 {
        unsafe { sys::gitreach_set_count(self.raw, types.0) }
    }

    /// The stored bytes, as `git rev-list --disk-usage` counts them.
    pub fn disk_size(&self, types: Types) -> Result<u64> {
        let mut bytes = 0;
        call(|err| unsafe { sys::gitreach_set_disk_size(&mut bytes, self.raw, types.0, err) })?;
        Ok(bytes)
    }

    /// Whether the set contains an object.
    pub fn contains(&self, id: &Id) -> bool {
        let id = id.as_bytes();
        unsafe { sys::gitreach_set_contains(self.raw, id.as_ptr(), id.len()) != 0 }
    }

    /// Visit the objects of some types: commits, trees, blobs, tags. The closure ends the
    /// visit with `ControlFlow::Break(())`.
    pub fn for_each<F>(&self, types: Types, function: F) -> Result<()>
    where
        F: FnMut(Object) -> ControlFlow<()>,
    {
        let mut callback = Callback::new(Visit {
            function,
            error: None,
        });
        let ctx = callback.ctx();
        let done = call(|err| unsafe {
            sys::gitreach_set_each(self.raw, types.0, Some(visit::<F>), ctx, err)
        });
        let error = callback.function_mut().error.take();
        callback.finish();
        match error {
            Some(error) => Err(error),
            None => done.map(drop),
        }
    }

    /// The objects of some types, in the order of [`Set::for_each`].
    pub fn objects(&self, types: Types) -> Result<Vec<Object>> {
        let mut all = Vec::new();
        self.for_each(types, |object| {
            all.push(object);
            ControlFlow::Continue(())
        })?;
        Ok(all)
    }

    fn combine(&self, other: &Set, function: Combine) -> Result<Set> {
        let mut raw = null_mut();
        call(|err| unsafe { function(&mut raw, self.raw, other.raw, err) })?;
        Ok(Set { raw })
    }

    /// The objects that are in both sets. Fails with [`Code::Invalid`] if the sets belong
    /// to different snapshots.
    pub fn intersection(&self, other: &Set) -> Result<Set> {
        self.combine(other, sys::gitreach_set_and)
    }

    /// The objects that are in one of the sets, or in both.
    pub fn union(&self, other: &Set) -> Result<Set> {
        self.combine(other, sys::gitreach_set_or)
    }

    /// The objects that are in this set, but not in the other.
    pub fn difference(&self, other: &Set) -> Result<Set> {
        self.combine(other, sys::gitreach_set_andnot)
    }

    /// How the set was found.
    pub fn explain(&self) -> Result<Explanation> {
        let mut out = sys::gitreach_explanation {
            size: size_of::<sys::gitreach_explanation>() as u64,
            strategy: 0,
            bitmaps_used: 0,
            pseudo_merges_used: 0,
            commits_walked: 0,
            objects_walked: 0,
            nanoseconds: 0,
            reason: std::ptr::null(),
        };
        call(|err| unsafe { sys::gitreach_set_explain(&mut out, self.raw, err) })?;
        let reason = unsafe { CStr::from_ptr(out.reason) };
        Ok(Explanation {
            strategy: Strategy::of(out.strategy),
            bitmaps_used: out.bitmaps_used,
            pseudo_merges_used: out.pseudo_merges_used,
            commits_walked: out.commits_walked,
            objects_walked: out.objects_walked,
            duration: Duration::from_nanos(out.nanoseconds),
            reason: reason.to_string_lossy().into_owned(),
        })
    }

    /// Make a pack of exactly these objects. [`PackOptions::thin`] is
    /// [`Code::Invalid`], because a set has no haves.
    pub fn write_pack(&self, out: impl Write, options: &PackOptions) -> Result<PackReport> {
        self.write_pack_with(out, options, None)
    }

    /// The same, with a progress closure.
    pub fn write_pack_with(
        &self,
        mut out: impl Write,
        options: &PackOptions,
        progress: Option<ProgressFn<'_>>,
    ) -> Result<PackReport> {
        let raw = self.raw;
        pack::write(&mut out, options, progress, &|o, w, ctx, r, err| unsafe {
            sys::gitreach_set_write_pack(raw, o, w, ctx, r, err)
        })
    }
}
