// SPDX-License-Identifier: MIT
//! Declarations of the C library libgitreach, made by bindgen from `gitreach.h`.
//!
//! The header documents each function: values returned, ownership, threads, cost.
//! The crate `gitreach` is a safe interface over these declarations.

#![allow(non_camel_case_types, non_snake_case)]

mod bindings;

pub use bindings::*;

/// The bit of a type, of which sums are passed as `types`.
pub const fn GITREACH_TYPE(type_: gitreach_type) -> u32 {
    1 << type_
}

/// The sum of the bits of all types.
pub const GITREACH_ANY_TYPE: u32 = 30;
