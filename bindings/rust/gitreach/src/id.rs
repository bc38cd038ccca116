// SPDX-License-Identifier: MIT
//! Object ids.

use crate::error::{c_string, call, Code, Error, Result};
use gitreach_sys as sys;
use std::os::raw::c_char;
use std::{fmt, slice, str};

const MAX: usize = sys::GITREACH_ID_MAX as usize;

/// The hash function of a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Hash {
    /// Ids have 20 bytes.
    Sha1,
    /// Ids have 32 bytes.
    Sha256,
}

/// The id of an object: 20 bytes, or 32 in a SHA-256 repository.
///
/// An id is displayed and parsed as hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id {
    // Bytes after the first `len` are 0.
    bytes: [u8; MAX],
    len: u8,
}

impl Id {
    /// The raw bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Copy an id that the library has made.
    ///
    /// # Safety
    ///
    /// There are `len` bytes at `bytes`.
    pub(crate) unsafe fn from_raw(bytes: *const u8, len: usize) -> Id {
        let mut id = Id {
            bytes: [0; MAX],
            len: len.min(MAX) as u8,
        };
        let given = unsafe { slice::from_raw_parts(bytes, len.min(MAX)) };
        id.bytes[..given.len()].copy_from_slice(given);
        id
    }
}

/// Fails if the number of bytes is neither 20 nor 32.
impl TryFrom<&[u8]> for Id {
    type Error = Error;

    fn try_from(bytes: &[u8]) -> Result<Id> {
        if bytes.len() != 20 && bytes.len() != MAX {
            return Err(Error::new(Code::Invalid, "an id has 20 or 32 bytes"));
        }
        Ok(unsafe { Id::from_raw(bytes.as_ptr(), bytes.len()) })
    }
}

/// Fails for any other text than 40 or 64 hexadecimal digits.
impl str::FromStr for Id {
    type Err = Error;

    fn from_str(text: &str) -> Result<Id> {
        let text = c_string(text.as_bytes())?;
        let (mut bytes, mut len) = ([0; MAX], 0);
        call(|err| unsafe {
            sys::gitreach_id_parse(bytes.as_mut_ptr(), &mut len, text.as_ptr(), err)
        })?;
        Ok(unsafe { Id::from_raw(bytes.as_ptr(), len) })
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut hex = [0u8; sys::GITREACH_ID_TEXT_MAX as usize];
        let id = self.as_bytes();
        call(|err| unsafe {
            sys::gitreach_id_print(hex.as_mut_ptr() as *mut c_char, id.as_ptr(), id.len(), err)
        })
        .map_err(|_| fmt::Error)?;
        f.pad(str::from_utf8(&hex[..2 * id.len()]).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Id({self})")
    }
}
