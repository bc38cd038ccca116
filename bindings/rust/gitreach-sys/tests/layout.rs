// SPDX-License-Identifier: MIT
// Made from include/gitreach.abi by bindings/rust/generate.
//! The declarations have the sizes, offsets and values that the library was
//! compiled with.

use gitreach_sys::*;
use std::mem::{size_of, size_of_val, MaybeUninit};
use std::ptr::addr_of;

macro_rules! member {
    ($of:ty, $member:ident, $offset:expr, $bytes:expr) => {
        // All members may be zero.
        let all = unsafe { MaybeUninit::<$of>::zeroed().assume_init() };
        let start = addr_of!(all) as usize;
        assert_eq!(addr_of!(all.$member) as usize - start, $offset);
        assert_eq!(size_of_val(&all.$member), $bytes);
    };
}

#[test]
fn structs() {
    assert_eq!(size_of::<gitreach_bitmap_entry>(), 40);
    member!(gitreach_bitmap_entry, bytes, 24, 8);
    member!(gitreach_bitmap_entry, id, 8, 8);
    member!(gitreach_bitmap_entry, id_len, 16, 8);
    member!(gitreach_bitmap_entry, size, 0, 8);
    member!(gitreach_bitmap_entry, xor_depth, 32, 8);
    assert_eq!(size_of::<gitreach_bitmap_info>(), 40);
    member!(gitreach_bitmap_info, bitmaps, 20, 4);
    member!(gitreach_bitmap_info, bytes, 8, 8);
    member!(gitreach_bitmap_info, flags, 28, 4);
    member!(gitreach_bitmap_info, objects, 16, 4);
    member!(gitreach_bitmap_info, path, 32, 8);
    member!(gitreach_bitmap_info, pseudo_merges, 24, 4);
    member!(gitreach_bitmap_info, size, 0, 8);
    assert_eq!(size_of::<gitreach_bitmap_options>(), 32);
    member!(gitreach_bitmap_options, progress, 16, 8);
    member!(gitreach_bitmap_options, progress_ctx, 24, 8);
    member!(gitreach_bitmap_options, size, 0, 8);
    member!(gitreach_bitmap_options, threads, 8, 8);
    assert_eq!(size_of::<gitreach_explanation>(), 48);
    member!(gitreach_explanation, bitmaps_used, 12, 4);
    member!(gitreach_explanation, commits_walked, 20, 4);
    member!(gitreach_explanation, nanoseconds, 32, 8);
    member!(gitreach_explanation, objects_walked, 24, 8);
    member!(gitreach_explanation, pseudo_merges_used, 16, 4);
    member!(gitreach_explanation, reason, 40, 8);
    member!(gitreach_explanation, size, 0, 8);
    member!(gitreach_explanation, strategy, 8, 4);
    assert_eq!(size_of::<gitreach_object_info>(), 24);
    member!(gitreach_object_info, bytes, 8, 8);
    member!(gitreach_object_info, size, 0, 8);
    member!(gitreach_object_info, type_, 16, 8);
    assert_eq!(size_of::<gitreach_pack_options>(), 32);
    member!(gitreach_pack_options, flags, 8, 4);
    member!(gitreach_pack_options, progress, 16, 8);
    member!(gitreach_pack_options, progress_ctx, 24, 8);
    member!(gitreach_pack_options, size, 0, 8);
    member!(gitreach_pack_options, threads, 12, 4);
    assert_eq!(size_of::<gitreach_pack_report>(), 32);
    member!(gitreach_pack_report, bytes, 8, 8);
    member!(gitreach_pack_report, bytes_copied, 16, 8);
    member!(gitreach_pack_report, objects, 24, 4);
    member!(gitreach_pack_report, size, 0, 8);
    member!(gitreach_pack_report, used_bitmap, 28, 4);
    assert_eq!(size_of::<gitreach_progress>(), 32);
    member!(gitreach_progress, done, 16, 8);
    member!(gitreach_progress, phase, 8, 8);
    member!(gitreach_progress, size, 0, 8);
    member!(gitreach_progress, total, 24, 8);
    assert_eq!(size_of::<gitreach_ref>(), 40);
    member!(gitreach_ref, id, 16, 8);
    member!(gitreach_ref, id_len, 24, 8);
    member!(gitreach_ref, name, 8, 8);
    member!(gitreach_ref, size, 0, 8);
    member!(gitreach_ref, target, 32, 8);
    assert_eq!(size_of::<gitreach_verify_options>(), 40);
    member!(gitreach_verify_options, progress, 24, 8);
    member!(gitreach_verify_options, progress_ctx, 32, 8);
    member!(gitreach_verify_options, sample, 8, 8);
    member!(gitreach_verify_options, seed, 16, 8);
    member!(gitreach_verify_options, size, 0, 8);
}

#[test]
fn values() {
    assert_eq!(i64::from(GITREACH_ABI_VERSION), 0);
    assert_eq!(i64::from(GITREACH_ANY_TYPE), 30);
    assert_eq!(i64::from(GITREACH_AUTO), 0);
    assert_eq!(i64::from(GITREACH_BITMAP), 2);
    assert_eq!(i64::from(GITREACH_BITMAP_HASH_CACHE), 4);
    assert_eq!(i64::from(GITREACH_BITMAP_LOOKUP_TABLE), 16);
    assert_eq!(i64::from(GITREACH_BITMAP_PSEUDO_MERGES), 32);
    assert_eq!(i64::from(GITREACH_BLOB), 3);
    assert_eq!(i64::from(GITREACH_CANCELLED), -9);
    assert_eq!(i64::from(GITREACH_CHECK), 3);
    assert_eq!(i64::from(GITREACH_COMMIT), 1);
    assert_eq!(i64::from(GITREACH_CORRUPT), -3);
    assert_eq!(i64::from(GITREACH_DENIED), -8);
    assert_eq!(i64::from(GITREACH_FILTER_WANTS), 3);
    assert_eq!(i64::from(GITREACH_ID_MAX), 32);
    assert_eq!(i64::from(GITREACH_ID_TEXT_MAX), 65);
    assert_eq!(i64::from(GITREACH_INEXACT), 4);
    assert_eq!(i64::from(GITREACH_INVALID), -6);
    assert_eq!(i64::from(GITREACH_IO), -2);
    assert_eq!(i64::from(GITREACH_MISSING), -4);
    assert_eq!(i64::from(GITREACH_NOMEM), -1);
    assert_eq!(i64::from(GITREACH_OBJECTS), 2);
    assert_eq!(i64::from(GITREACH_OK), 0);
    assert_eq!(i64::from(GITREACH_OPEN_ANY_OWNER), 2);
    assert_eq!(i64::from(GITREACH_OPEN_EXACT), 1);
    assert_eq!(i64::from(GITREACH_OPEN_NO_BITMAP), 4);
    assert_eq!(i64::from(GITREACH_PACK_ANEW), 4);
    assert_eq!(i64::from(GITREACH_PACK_OFS_DELTA), 2);
    assert_eq!(i64::from(GITREACH_PACK_THIN), 1);
    assert_eq!(i64::from(GITREACH_PEER), -7);
    assert_eq!(i64::from(GITREACH_STRATEGY), 1);
    assert_eq!(i64::from(GITREACH_TAG), 4);
    assert_eq!(i64::from(GITREACH_THREADS), 5);
    assert_eq!(i64::from(GITREACH_TREE), 2);
    assert_eq!(i64::from(GITREACH_UNSUPPORTED), -5);
    assert_eq!(i64::from(GITREACH_WALK), 1);
}

/// The library exports all functions.
#[test]
fn functions() {
    let all: &[*const ()] = &[
        // callback int (*gitreach_bitmap_fn)(void *ctx, const struct gitreach_bitmap_entry *entry)
        // callback int (*gitreach_object_fn)(void *ctx, const uint8_t *id, size_t id_len, int type)
        // callback int (*gitreach_progress_fn)(void *ctx, const struct gitreach_progress *progress)
        // callback int (*gitreach_ref_fn)(void *ctx, const struct gitreach_ref *ref)
        // callback int (*gitreach_write_fn)(void *ctx, const void *bytes, size_t len)
        // const char *gitreach_error_message(const gitreach_error *err)
        gitreach_error_message as *const (),
        // const char *gitreach_version(void)
        gitreach_version as *const (),
        // gitreach_error *gitreach_error_new(void)
        gitreach_error_new as *const (),
        // int gitreach_abi_version(void)
        gitreach_abi_version as *const (),
        // int gitreach_bitmap_each(const gitreach_repo *repo, gitreach_bitmap_fn fn, void *ctx, gitreach_error *err)
        gitreach_bitmap_each as *const (),
        // int gitreach_bitmap_info(struct gitreach_bitmap_info *out, const gitreach_repo *repo, gitreach_error *err)
        gitreach_bitmap_info as *const (),
        // int gitreach_bitmap_verify(const gitreach_repo *repo, const struct gitreach_verify_options *options, gitreach_error *err)
        gitreach_bitmap_verify as *const (),
        // int gitreach_bitmap_write(const gitreach_repo *repo, const struct gitreach_bitmap_options *options, gitreach_error *err)
        gitreach_bitmap_write as *const (),
        // int gitreach_error_code(const gitreach_error *err)
        gitreach_error_code as *const (),
        // int gitreach_error_errno(const gitreach_error *err)
        gitreach_error_errno as *const (),
        // int gitreach_id_parse(uint8_t *id, size_t *id_len, const char *hex, gitreach_error *err)
        gitreach_id_parse as *const (),
        // int gitreach_id_print(char *hex, const uint8_t *id, size_t id_len, gitreach_error *err)
        gitreach_id_print as *const (),
        // int gitreach_object_info(struct gitreach_object_info *out, const gitreach_repo *repo, const uint8_t *id, size_t id_len, gitreach_error *err)
        gitreach_object_info as *const (),
        // int gitreach_query_exclude_refs(gitreach_query *query, const char *prefix, gitreach_error *err)
        gitreach_query_exclude_refs as *const (),
        // int gitreach_query_filter(gitreach_query *query, const char *spec, gitreach_error *err)
        gitreach_query_filter as *const (),
        // int gitreach_query_have(gitreach_query *query, const uint8_t *id, size_t id_len, gitreach_error *err)
        gitreach_query_have as *const (),
        // int gitreach_query_have_name(gitreach_query *query, const char *name, gitreach_error *err)
        gitreach_query_have_name as *const (),
        // int gitreach_query_have_refs(gitreach_query *query, const char *prefix, gitreach_error *err)
        gitreach_query_have_refs as *const (),
        // int gitreach_query_new(gitreach_query **out, gitreach_repo *repo, gitreach_error *err)
        gitreach_query_new as *const (),
        // int gitreach_query_run(gitreach_set **out, const gitreach_query *query, gitreach_error *err)
        gitreach_query_run as *const (),
        // int gitreach_query_set(gitreach_query *query, int option, uint64_t value, gitreach_error *err)
        gitreach_query_set as *const (),
        // int gitreach_query_shallow(gitreach_query *query, const uint8_t *id, size_t id_len, gitreach_error *err)
        gitreach_query_shallow as *const (),
        // int gitreach_query_unique(gitreach_set **out, const gitreach_query *const *queries, size_t nr, gitreach_error *err)
        gitreach_query_unique as *const (),
        // int gitreach_query_want(gitreach_query *query, const uint8_t *id, size_t id_len, gitreach_error *err)
        gitreach_query_want as *const (),
        // int gitreach_query_want_name(gitreach_query *query, const char *name, gitreach_error *err)
        gitreach_query_want_name as *const (),
        // int gitreach_query_want_refs(gitreach_query *query, const char *prefix, gitreach_error *err)
        gitreach_query_want_refs as *const (),
        // int gitreach_query_write_pack(const gitreach_query *query, const struct gitreach_pack_options *options, gitreach_write_fn write, void *ctx, struct gitreach_pack_report *report, gitreach_error *err)
        gitreach_query_write_pack as *const (),
        // int gitreach_repo_each_ref(gitreach_repo *repo, const char *prefix, gitreach_ref_fn fn, void *ctx, gitreach_error *err)
        gitreach_repo_each_ref as *const (),
        // int gitreach_repo_has_changed(const gitreach_repo *repo)
        gitreach_repo_has_changed as *const (),
        // int gitreach_repo_hash(const gitreach_repo *repo)
        gitreach_repo_hash as *const (),
        // int gitreach_repo_open(gitreach_repo **out, const char *path, uint32_t flags, gitreach_error *err)
        gitreach_repo_open as *const (),
        // int gitreach_repo_refresh(gitreach_repo **out, const gitreach_repo *repo, gitreach_error *err)
        gitreach_repo_refresh as *const (),
        // int gitreach_repo_resolve(uint8_t *id, gitreach_repo *repo, const char *name, gitreach_error *err)
        gitreach_repo_resolve as *const (),
        // int gitreach_set_and(gitreach_set **out, const gitreach_set *a, const gitreach_set *b, gitreach_error *err)
        gitreach_set_and as *const (),
        // int gitreach_set_andnot(gitreach_set **out, const gitreach_set *a, const gitreach_set *b, gitreach_error *err)
        gitreach_set_andnot as *const (),
        // int gitreach_set_contains(const gitreach_set *set, const uint8_t *id, size_t id_len)
        gitreach_set_contains as *const (),
        // int gitreach_set_disk_size(uint64_t *bytes, const gitreach_set *set, uint32_t types, gitreach_error *err)
        gitreach_set_disk_size as *const (),
        // int gitreach_set_each(const gitreach_set *set, uint32_t types, gitreach_object_fn fn, void *ctx, gitreach_error *err)
        gitreach_set_each as *const (),
        // int gitreach_set_explain(struct gitreach_explanation *out, const gitreach_set *set, gitreach_error *err)
        gitreach_set_explain as *const (),
        // int gitreach_set_new(gitreach_set **out, gitreach_repo *repo, const uint8_t *ids, size_t nr, size_t id_len, gitreach_error *err)
        gitreach_set_new as *const (),
        // int gitreach_set_or(gitreach_set **out, const gitreach_set *a, const gitreach_set *b, gitreach_error *err)
        gitreach_set_or as *const (),
        // int gitreach_set_write_pack(const gitreach_set *set, const struct gitreach_pack_options *options, gitreach_write_fn write, void *ctx, struct gitreach_pack_report *report, gitreach_error *err)
        gitreach_set_write_pack as *const (),
        // size_t gitreach_repo_id_len(const gitreach_repo *repo)
        gitreach_repo_id_len as *const (),
        // uint64_t gitreach_set_count(const gitreach_set *set, uint32_t types)
        gitreach_set_count as *const (),
        // void gitreach_error_free(gitreach_error *err)
        gitreach_error_free as *const (),
        // void gitreach_query_free(gitreach_query *query)
        gitreach_query_free as *const (),
        // void gitreach_query_progress(gitreach_query *query, gitreach_progress_fn fn, void *ctx)
        gitreach_query_progress as *const (),
        // void gitreach_repo_close(gitreach_repo *repo)
        gitreach_repo_close as *const (),
        // void gitreach_set_free(gitreach_set *set)
        gitreach_set_free as *const (),
    ];
    assert!(all.iter().all(|f| !f.is_null()));
}
