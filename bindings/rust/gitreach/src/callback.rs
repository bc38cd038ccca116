// SPDX-License-Identifier: MIT
//! Closures that the library calls.

use gitreach_sys as sys;
use std::any::Any;
use std::borrow::Cow;
use std::ffi::CStr;
use std::ops::ControlFlow;
use std::os::raw::{c_int, c_void};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

/// What a function does at present.
#[derive(Debug, Clone)]
pub struct Progress<'a> {
    /// For example "Enumerating objects"; "Starting" in the first call.
    pub phase: Cow<'a, str>,
    /// How much is done.
    pub done: u64,
    /// The final value of `done`, if it is known.
    pub total: Option<u64>,
}

/// A closure that a function calls before it begins and a few times a second.
///
/// The calls may come from any thread, one at a time. `ControlFlow::Break(())` ends the
/// function with [`Code::Cancelled`](crate::Code::Cancelled).
pub type ProgressFn<'a> = &'a mut (dyn FnMut(&Progress<'_>) -> ControlFlow<()> + Send);

/// A closure, and the panic that ended it. It must stay at its place while C knows
/// its address.
pub(crate) struct Callback<F> {
    function: F,
    panic: Option<Box<dyn Any + Send>>,
}

impl<F> Callback<F> {
    pub(crate) fn new(function: F) -> Callback<F> {
        Callback {
            function,
            panic: None,
        }
    }

    /// The argument `ctx` of a function of the library.
    pub(crate) fn ctx(&mut self) -> *mut c_void {
        self as *mut Callback<F> as *mut c_void
    }

    pub(crate) fn function_mut(&mut self) -> &mut F {
        &mut self.function
    }

    /// Let the panic of the closure go on, if there was one.
    pub(crate) fn finish(self) {
        if let Some(panic) = self.panic {
            resume_unwind(panic)
        }
    }

    /// Run the closure of `ctx`. Returns 0 to go on, 1 to end, or -1 after a panic.
    ///
    /// # Safety
    ///
    /// `ctx` is that of a callback of this type, which no other code uses now.
    pub(crate) unsafe fn run(
        ctx: *mut c_void,
        call: impl FnOnce(&mut F) -> ControlFlow<()>,
    ) -> c_int {
        let this = unsafe { &mut *(ctx as *mut Callback<F>) };
        match catch_unwind(AssertUnwindSafe(|| call(&mut this.function))) {
            Ok(ControlFlow::Continue(())) => 0,
            Ok(ControlFlow::Break(())) => 1,
            Err(panic) => {
                this.panic = Some(panic);
                -1
            }
        }
    }
}

unsafe extern "C" fn progressed(
    ctx: *mut c_void,
    progress: *const sys::gitreach_progress,
) -> c_int {
    let given = unsafe { &*progress };
    unsafe {
        Callback::<ProgressFn<'_>>::run(ctx, |function| {
            function(&Progress {
                phase: CStr::from_ptr(given.phase).to_string_lossy(),
                done: given.done,
                total: (given.total != 0).then_some(given.total),
            })
        })
    }
}

/// The callback of a progress closure, or none.
pub(crate) struct Reporter<'a>(Option<Callback<ProgressFn<'a>>>);

impl<'a> Reporter<'a> {
    pub(crate) fn new(function: Option<ProgressFn<'a>>) -> Reporter<'a> {
        Reporter(function.map(Callback::new))
    }

    /// What a struct of options, or a function, gets.
    pub(crate) fn parts(&mut self) -> (sys::gitreach_progress_fn, *mut c_void) {
        match &mut self.0 {
            Some(callback) => (Some(progressed), callback.ctx()),
            None => (None, std::ptr::null_mut()),
        }
    }

    pub(crate) fn finish(self) {
        if let Some(callback) = self.0 {
            callback.finish()
        }
    }
}
