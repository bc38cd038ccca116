// SPDX-License-Identifier: MIT
//! Snapshots of a repository.

use crate::bitmap::{self, Bitmap, BitmapInfo, Verify};
use crate::callback::{Callback, ProgressFn};
use crate::error::{c_string, call, Code, Error, Result};
use crate::id::{Hash, Id};
use crate::query::Query;
use crate::set::{Set, Type};
use gitreach_sys as sys;
use std::borrow::Cow;
use std::ffi::CStr;
use std::mem::size_of;
use std::ops::ControlFlow;
use std::os::raw::{c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null_mut;

/// How a repository is opened.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenOptions {
    flags: u32,
}

impl OpenOptions {
    /// The default options, those of [`Repository::open`].
    pub fn new() -> OpenOptions {
        OpenOptions::default()
    }

    fn flag(self, bit: sys::gitreach_open_flag, on: bool) -> OpenOptions {
        let flags = if on {
            self.flags | bit
        } else {
            self.flags & !bit
        };
        OpenOptions { flags }
    }

    /// The path is the repository itself. Otherwise `<path>/.git`, `<path>.git` and
    /// `<path>.git/.git` are tried, too.
    #[must_use]
    pub fn exact(self, on: bool) -> OpenOptions {
        self.flag(sys::GITREACH_OPEN_EXACT, on)
    }

    /// Open the repository even if another user owns it and `safe.directory` does not
    /// name it.
    #[must_use]
    pub fn any_owner(self, on: bool) -> OpenOptions {
        self.flag(sys::GITREACH_OPEN_ANY_OWNER, on)
    }

    /// Do not use a bitmap index.
    #[must_use]
    pub fn no_bitmap(self, on: bool) -> OpenOptions {
        self.flag(sys::GITREACH_OPEN_NO_BITMAP, on)
    }

    /// Open a repository.
    pub fn open(self, path: impl AsRef<Path>) -> Result<Repository> {
        // Another ABI has other structs and numbers.
        if unsafe { sys::gitreach_abi_version() } as i64 != i64::from(sys::GITREACH_ABI_VERSION) {
            return Err(Error::new(
                Code::Unsupported,
                "libgitreach has another ABI version than this crate",
            ));
        }
        let path = c_string(path.as_ref().as_os_str().as_bytes())?;
        let mut raw = null_mut();
        call(|err| unsafe { sys::gitreach_repo_open(&mut raw, path.as_ptr(), self.flags, err) })?;
        Ok(Repository { raw })
    }
}

/// A snapshot of a repository: its packs, bitmap index, configuration and references.
///
/// Later changes by other processes are not visible. What other processes delete remains
/// usable, except loose objects.
#[derive(Debug)]
pub struct Repository {
    /// Owned.
    raw: *mut sys::gitreach_repo,
}

// The header: "Repositories and sets never change, so any number of threads may use one
// at the same time."
unsafe impl Send for Repository {}
unsafe impl Sync for Repository {}

impl Drop for Repository {
    fn drop(&mut self) {
        unsafe { sys::gitreach_repo_close(self.raw) }
    }
}

/// A reference.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ref {
    /// The full name, "refs/heads/main". Names are bytes; most are UTF-8.
    pub name: Vec<u8>,
    /// The object, after symbolic references were followed.
    pub id: Id,
    /// The name that a symbolic reference points to.
    pub target: Option<Vec<u8>>,
}

impl Ref {
    /// The name as text. Bytes that are not UTF-8 are replaced.
    pub fn name_lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.name)
    }
}

/// Facts about one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObjectInfo {
    /// The type.
    pub kind: Type,
    /// The size of the content, uncompressed.
    pub bytes: u64,
}

unsafe extern "C" fn visit_ref(ctx: *mut c_void, given: *const sys::gitreach_ref) -> c_int {
    let given = unsafe { &*given };
    unsafe {
        Callback::<Vec<Ref>>::run(ctx, |refs| {
            refs.push(Ref {
                name: CStr::from_ptr(given.name).to_bytes().to_vec(),
                id: Id::from_raw(given.id, given.id_len as usize),
                target: given
                    .target
                    .as_ref()
                    .map(|target| CStr::from_ptr(target).to_bytes().to_vec()),
            });
            ControlFlow::Continue(())
        })
    }
}

impl Repository {
    /// Open a repository with the default options. Fails with [`Code::Missing`] if there
    /// is none.
    pub fn open(path: impl AsRef<Path>) -> Result<Repository> {
        OpenOptions::new().open(path)
    }

    pub(crate) fn raw(&self) -> *mut sys::gitreach_repo {
        self.raw
    }

    /// Take a new snapshot of the same repository. This one does not change.
    pub fn refresh(&self) -> Result<Repository> {
        let mut raw = null_mut();
        call(|err| unsafe { sys::gitreach_repo_refresh(&mut raw, self.raw, err) })?;
        Ok(Repository { raw })
    }

    /// Whether packs were added or removed since the snapshot was taken. References are
    /// not checked.
    pub fn has_changed(&self) -> bool {
        unsafe { sys::gitreach_repo_has_changed(self.raw) != 0 }
    }

    /// The hash function.
    pub fn hash(&self) -> Hash {
        match unsafe { sys::gitreach_repo_hash(self.raw) } as sys::gitreach_hash {
            sys::GITREACH_SHA256 => Hash::Sha256,
            _ => Hash::Sha1,
        }
    }

    /// The number of bytes of an id: 20 or 32.
    pub fn id_len(&self) -> usize {
        unsafe { sys::gitreach_repo_id_len(self.raw) }
    }

    /// The object that a name of gitrevisions(7) means, except reflogs and searches.
    pub fn resolve(&self, name: impl AsRef<[u8]>) -> Result<Id> {
        let name = c_string(name.as_ref())?;
        let mut bytes = [0; sys::GITREACH_ID_MAX as usize];
        call(|err| unsafe {
            sys::gitreach_repo_resolve(bytes.as_mut_ptr(), self.raw, name.as_ptr(), err)
        })?;
        Ok(unsafe { Id::from_raw(bytes.as_ptr(), self.id_len()) })
    }

    /// The references whose full names start with a prefix, in the order of names. "":
    /// all references, HEAD first. Dangling symbolic references are left out.
    pub fn refs(&self, prefix: impl AsRef<[u8]>) -> Result<Vec<Ref>> {
        let prefix = c_string(prefix.as_ref())?;
        // The refs are collected, because a closure of the caller could deadlock: it
        // must not resolve names while references are visited.
        let mut callback = Callback::new(Vec::new());
        let ctx = callback.ctx();
        let done = call(|err| unsafe {
            sys::gitreach_repo_each_ref(self.raw, prefix.as_ptr(), Some(visit_ref), ctx, err)
        });
        let refs = std::mem::take(callback.function_mut());
        callback.finish();
        done.map(|_| refs)
    }

    /// The type and the size of an object.
    pub fn object(&self, id: &Id) -> Result<ObjectInfo> {
        let mut out = sys::gitreach_object_info {
            size: size_of::<sys::gitreach_object_info>() as u64,
            bytes: 0,
            type_: 0,
        };
        let id = id.as_bytes();
        call(|err| unsafe {
            sys::gitreach_object_info(&mut out, self.raw, id.as_ptr(), id.len(), err)
        })?;
        Ok(ObjectInfo {
            kind: Type::of(out.type_ as c_int)?,
            bytes: out.bytes,
        })
    }

    /// An empty query, without wants and haves.
    pub fn query(&self) -> Result<Query> {
        Query::new(self)
    }

    /// The set of some objects, without what they reach. Fails with [`Code::Missing`] if
    /// an object does not exist.
    pub fn set_of(&self, ids: &[Id]) -> Result<Set> {
        Set::of(self, ids)
    }

    /// Describe the bitmap index. Fails with [`Code::Missing`] if there is no usable one.
    pub fn bitmap_info(&self) -> Result<BitmapInfo> {
        bitmap::info(self)
    }

    /// The commits that have a bitmap of their own, in the order of their ids. Empty
    /// without a bitmap index.
    pub fn bitmaps(&self) -> Result<Vec<Bitmap>> {
        bitmap::each(self)
    }

    /// Compare the bitmap index with the objects. Fails with [`Code::Corrupt`] if the
    /// index is wrong, and with [`Code::Missing`] if there is none.
    pub fn verify_bitmap(&self, how: Verify, progress: Option<ProgressFn<'_>>) -> Result<()> {
        bitmap::verify(self, how, progress)
    }

    /// Write the bitmap index of the only pack, or of a new multi-pack-index if the
    /// repository has one. A new snapshot uses the new index. `threads`: 0 is what is
    /// configured.
    pub fn write_bitmap(&self, threads: u64, progress: Option<ProgressFn<'_>>) -> Result<()> {
        bitmap::write(self, threads, progress)
    }
}
