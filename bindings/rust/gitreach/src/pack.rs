// SPDX-License-Identifier: MIT
//! Packs of a query or of a set.

use crate::callback::{Callback, ProgressFn, Reporter};
use crate::error::{call, Error, Result};
use gitreach_sys as sys;
use std::io::Write;
use std::mem::size_of;
use std::ops::ControlFlow;
use std::os::raw::{c_int, c_void};
use std::{io, slice};

/// How a pack is made. The default suits every receiver.
#[derive(Debug, Clone, Default)]
pub struct PackOptions {
    flags: u32,
    threads: u32,
}

impl PackOptions {
    /// The default options.
    pub fn new() -> PackOptions {
        PackOptions::default()
    }

    fn flag(mut self, bit: sys::gitreach_pack_flag, on: bool) -> PackOptions {
        self.flags = if on {
            self.flags | bit
        } else {
            self.flags & !bit
        };
        self
    }

    /// Allow deltas against objects that the receiver has. Only for queries.
    #[must_use]
    pub fn thin(self, on: bool) -> PackOptions {
        self.flag(sys::GITREACH_PACK_THIN, on)
    }

    /// Name delta bases by their distance, which is smaller. The receiver must
    /// understand this form.
    #[must_use]
    pub fn ofs_delta(self, on: bool) -> PackOptions {
        self.flag(sys::GITREACH_PACK_OFS_DELTA, on)
    }

    /// Copy no stored data: make new deltas, and compress all objects again.
    #[must_use]
    pub fn anew(self, on: bool) -> PackOptions {
        self.flag(sys::GITREACH_PACK_ANEW, on)
    }

    /// The maximum number of threads. 0: what is configured, or as many as processors.
    #[must_use]
    pub fn threads(mut self, nr: u32) -> PackOptions {
        self.threads = nr;
        self
    }
}

/// Facts about a pack that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PackReport {
    /// The size of the pack.
    pub bytes: u64,
    /// How many of them were copied as stored.
    pub bytes_copied: u64,
    /// The number of objects in the pack.
    pub objects: u32,
    /// Whether bitmaps found the objects.
    pub used_bitmap: bool,
}

/// A writer, and the error that it had.
struct Output<'a> {
    out: &'a mut dyn Write,
    error: Option<io::Error>,
}

unsafe extern "C" fn written(ctx: *mut c_void, bytes: *const c_void, len: usize) -> c_int {
    unsafe {
        Callback::<Output<'_>>::run(ctx, |output| {
            let bytes = slice::from_raw_parts(bytes as *const u8, len);
            match output.out.write_all(bytes) {
                Ok(()) => ControlFlow::Continue(()),
                Err(e) => {
                    output.error = Some(e);
                    ControlFlow::Break(())
                }
            }
        })
    }
}

/// The arguments of the two functions of C after the handle.
type Make<'a> = &'a dyn Fn(
    *const sys::gitreach_pack_options,
    sys::gitreach_write_fn,
    *mut c_void,
    *mut sys::gitreach_pack_report,
    *mut sys::gitreach_error,
) -> c_int;

pub(crate) fn write(
    out: &mut dyn Write,
    options: &PackOptions,
    progress: Option<ProgressFn<'_>>,
    make: Make<'_>,
) -> Result<PackReport> {
    let mut reporter = Reporter::new(progress);
    let mut callback = Callback::new(Output { out, error: None });
    let (function, ctx) = reporter.parts();
    let given = sys::gitreach_pack_options {
        size: size_of::<sys::gitreach_pack_options>() as u64,
        flags: options.flags,
        threads: options.threads,
        progress: function,
        progress_ctx: ctx,
    };
    let mut report = sys::gitreach_pack_report {
        size: size_of::<sys::gitreach_pack_report>() as u64,
        bytes: 0,
        bytes_copied: 0,
        objects: 0,
        used_bitmap: 0,
    };
    let ctx = callback.ctx();
    let done = call(|err| make(&given, Some(written), ctx, &mut report, err));
    reporter.finish();
    let failed = callback.function_mut().error.take();
    callback.finish();
    match (done, failed) {
        (Err(_), Some(error)) => Err(Error::of_writer(error)),
        (Err(error), None) => Err(error),
        (Ok(_), _) => Ok(PackReport {
            bytes: report.bytes,
            bytes_copied: report.bytes_copied,
            objects: report.objects,
            used_bitmap: report.used_bitmap != 0,
        }),
    }
}
