// SPDX-License-Identifier: MIT
//! Errors of the library as values of Rust.

use gitreach_sys as sys;
use std::ffi::{CStr, CString};
use std::os::raw::c_int;
use std::{fmt, io};

/// The result of a function that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// The kind of a failure, an `enum gitreach_code`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// An allocation failed.
    NoMemory,
    /// A system call failed, or a writer of the caller.
    Io,
    /// Data does not follow its format, or the bitmap index is wrong.
    Corrupt,
    /// A required object, ref or file does not exist.
    Missing,
    /// The request is valid, but not supported by this version or repository.
    Unsupported,
    /// An argument is not valid.
    Invalid,
    /// The reader of the output went away.
    Peer,
    /// The configuration or the ownership of files does not allow it.
    Denied,
    /// A closure of the caller ended the work.
    Cancelled,
    /// A code of a newer library.
    Other(i32),
}

impl Code {
    fn of(number: c_int) -> Code {
        match number {
            sys::GITREACH_NOMEM => Code::NoMemory,
            sys::GITREACH_IO => Code::Io,
            sys::GITREACH_CORRUPT => Code::Corrupt,
            sys::GITREACH_MISSING => Code::Missing,
            sys::GITREACH_UNSUPPORTED => Code::Unsupported,
            sys::GITREACH_INVALID => Code::Invalid,
            sys::GITREACH_PEER => Code::Peer,
            sys::GITREACH_DENIED => Code::Denied,
            sys::GITREACH_CANCELLED => Code::Cancelled,
            other => Code::Other(other),
        }
    }
}

/// A failure: its kind, and a message of one line.
#[derive(Debug)]
pub struct Error {
    code: Code,
    message: String,
    source: Option<io::Error>,
}

impl Error {
    pub(crate) fn new(code: Code, message: &str) -> Error {
        Error {
            code,
            message: message.to_owned(),
            source: None,
        }
    }

    /// A writer of the caller has failed.
    pub(crate) fn of_writer(error: io::Error) -> Error {
        Error {
            code: Code::Io,
            message: "the writer failed".to_owned(),
            source: Some(error),
        }
    }

    /// The kind of the failure.
    pub fn code(&self) -> Code {
        self.code
    }

    /// A message of one line, without the source.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|e| e as _)
    }
}

/// An error of a writer of the caller becomes this error again.
impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        let kind = match error.code {
            Code::Missing => io::ErrorKind::NotFound,
            Code::Denied => io::ErrorKind::PermissionDenied,
            Code::Corrupt => io::ErrorKind::InvalidData,
            Code::Invalid => io::ErrorKind::InvalidInput,
            Code::Unsupported => io::ErrorKind::Unsupported,
            Code::NoMemory => io::ErrorKind::OutOfMemory,
            _ => io::ErrorKind::Other,
        };
        match error.source {
            Some(source) if error.code == Code::Io => source,
            _ => io::Error::new(kind, error),
        }
    }
}

/// Owns a `gitreach_error`.
struct Slot(*mut sys::gitreach_error);

impl Drop for Slot {
    fn drop(&mut self) {
        unsafe { sys::gitreach_error_free(self.0) }
    }
}

impl Slot {
    fn error(&self, number: c_int) -> Error {
        let (message, errno) = unsafe {
            (
                CStr::from_ptr(sys::gitreach_error_message(self.0)),
                sys::gitreach_error_errno(self.0),
            )
        };
        Error {
            code: Code::of(number),
            message: message.to_string_lossy().into_owned(),
            source: (errno != 0).then(|| io::Error::from_raw_os_error(errno)),
        }
    }
}

/// Call a function of the library that gets an error. Returns the number that the
/// function returned, if it is not negative.
pub(crate) fn call(function: impl FnOnce(*mut sys::gitreach_error) -> c_int) -> Result<c_int> {
    let slot = Slot(unsafe { sys::gitreach_error_new() });
    if slot.0.is_null() {
        return Err(Error::new(Code::NoMemory, "out of memory"));
    }
    match function(slot.0) {
        number if number < 0 => Err(slot.error(number)),
        number => Ok(number),
    }
}

/// A name or a path for C, which cannot contain a NUL byte.
pub(crate) fn c_string(text: &[u8]) -> Result<CString> {
    CString::new(text).map_err(|_| Error::new(Code::Invalid, "a NUL byte in a name"))
}
