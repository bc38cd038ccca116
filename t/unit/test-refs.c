/* SPDX-License-Identifier: MIT */
/*
 * Tests of refs/refs.c: loose and packed refs are looked up and visited,
 * symbolic refs are followed, and short names are expanded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "odb/odb.h"
#include "refs/packed-refs.h"
#include "refs/refs.h"
#include "t/unit/tmprepo.h"

#define HEX_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HEX_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define HEX_0 "0000000000000000000000000000000000000000"
#define HEX_C "cccccccccccccccccccccccccccccccccccccccc"
#define HEADER "# pack-refs with: peeled fully-peeled sorted \n"

/*
 * Makes refs. HEAD is a symbolic ref to main, which is loose and packed. There
 * are also a packed tag, and a branch in a directory.
 */
static struct refs *fill(struct tmprepo *t)
{
	struct refs *refs;

	tmprepo_init(t, HASH_SHA1);
	tmprepo_write(t, "HEAD", "ref: refs/heads/main\n");
	tmprepo_write(t, "packed-refs",
		      HEADER HEX_A " refs/heads/main\n" HEX_A
				   " refs/heads/old\n" HEX_A
				   " refs/tags/v1\n^" HEX_C "\n");
	tmprepo_write(t, "refs/heads/main", HEX_B "\n");
	tmprepo_write(t, "refs/heads/dir/x", HEX_B "\n");
	assert_int_equal(refs_open(&refs, &t->repo, NULL), 0);
	return refs;
}

static int append_ref(void *ctx, const struct ref *ref)
{
	struct buf *out = ctx;

	return buf_printf(out, "%s=%02x%s%s%s ", ref->name, ref->oid.bytes[0],
			  ref->target ? ">" : "",
			  ref->target ? ref->target : "",
			  ref->has_peeled ? ref->is_tag ? "^" : "!" : "");
}

static void assert_each(struct refs *refs, const char *prefix,
			const char *expected)
{
	struct buf out = BUF_INIT;

	assert_int_equal(refs_each(refs, prefix, append_ref, &out, NULL, NULL),
			 0);
	assert_string_equal(out.data, expected);
	buf_release(&out);
}

static int append_broken(void *ctx, const char *name, enum refs_flaw flaw)
{
	static const char *const flaws[] = {
		[REFS_FLAW_NAME] = "name",
		[REFS_FLAW_VALUE] = "value",
		[REFS_FLAW_SYMBOLIC] = "symbolic",
		[REFS_FLAW_MISSING] = "missing",
	};

	return buf_printf(ctx, "%s?%s ", name, flaws[flaw]);
}

/*
 * refs_each_or_broken() also visits broken and dangling refs, and passes the
 * reason for each broken ref to its callback.
 */
static void test_broken(void **state)
{
	struct buf out = BUF_INIT;
	struct tmprepo t;
	struct refs *refs = fill(&t);

	tmprepo_write(&t, "refs/heads/a", "no id\n");
	tmprepo_write(&t, "refs/heads/b..c", HEX_A "\n");
	tmprepo_write(&t, "refs/heads/n", "ref: refs/heads/none\n");
	tmprepo_write(&t, "refs/heads/o", "ref: refs/heads/o\n");
	assert_int_equal(refs_each_or_broken(refs, "refs/heads/", append_ref,
					     append_broken, &out, NULL),
			 0);
	assert_string_equal(out.data,
			    "refs/heads/a?value refs/heads/b..c?name "
			    "refs/heads/dir/x=bb refs/heads/main=bb "
			    "refs/heads/n?symbolic refs/heads/o?symbolic "
			    "refs/heads/old=aa! ");
	buf_release(&out);
	refs_close(refs);
	tmprepo_release(&t);
}

/* The link packed-refs leads to itself. So the file cannot be read. */
static void test_unreadable(void **state)
{
	struct error err = ERROR_INIT;
	struct tmprepo t;
	struct refs *refs;
	struct ref ref;

	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write(&t, "HEAD", "ref: refs/heads/main\n");
	tmprepo_link(&t, "packed-refs", "packed-refs");
	assert_int_equal(refs_open(&refs, &t.repo, NULL), 0);
	assert_int_equal(refs_lookup_head(refs, &ref, &err), ERR_IO);
	assert_non_null(strstr(err.msg, "/packed-refs"));
	refs_close(refs);
	tmprepo_release(&t);
}

static void test_roots(void **state)
{
	struct error warning = ERROR_INIT;
	struct buf out = BUF_INIT;
	struct tmprepo t;
	struct refs *refs = fill(&t);

	tmprepo_write(&t, "ORIG_HEAD", HEX_A "\n");
	tmprepo_write(&t, "FETCH_HEAD", HEX_A "\n");
	tmprepo_write(&t, "AUTO_MERGE/x", HEX_A "\n");
	tmprepo_write(&t, "LOST_HEAD", "ref: refs/heads/none\n");
	tmprepo_write(&t, "config", "[core]\n");
	assert_int_equal(refs_each_root(refs, append_ref, &out, &warning, NULL),
			 0);
	assert_string_equal(out.data, "HEAD=bb>refs/heads/main ORIG_HEAD=aa ");
	assert_int_equal(warning.code, 0);
	tmprepo_write(&t, "A_HEAD", "no id\n");
	buf_reset(&out);
	assert_int_equal(refs_each_root(refs, append_ref, &out, &warning, NULL),
			 0);
	assert_string_equal(out.data, "HEAD=bb>refs/heads/main ORIG_HEAD=aa ");
	assert_string_equal(warning.msg, "ignoring broken ref A_HEAD");
	buf_release(&out);
	refs_close(refs);
	tmprepo_release(&t);
}

static void test_each(void **state)
{
	struct tmprepo t;
	struct refs *refs = fill(&t);

	assert_each(refs, "refs/heads/m", "refs/heads/main=bb ");
	assert_each(refs, "",
		    "refs/heads/dir/x=bb refs/heads/main=bb "
		    "refs/heads/old=aa! refs/tags/v1=aa^ ");
	assert_each(refs, NULL,
		    "refs/heads/dir/x=bb refs/heads/main=bb "
		    "refs/heads/old=aa! refs/tags/v1=aa^ ");
	assert_each(refs, "refs/tags/", "refs/tags/v1=aa^ ");
	assert_each(refs, "refs/heads/o", "refs/heads/old=aa! ");
	assert_each(refs, "re",
		    "refs/heads/dir/x=bb refs/heads/main=bb "
		    "refs/heads/old=aa! refs/tags/v1=aa^ ");
	assert_each(refs, "refs/x", "");
	assert_each(refs, "HEAD", "");
	refs_close(refs);
	tmprepo_release(&t);
}

static int stop_at_once(void *ctx, const struct ref *ref)
{
	(*(int *)ctx)++;
	return 17;
}

static void test_each_from(void **state)
{
	static const char all[] =
		"refs/heads/dir/x=bb refs/heads/main=bb refs/heads/old=aa! "
		"refs/tags/v1=aa^ ";
	static const struct {
		const char *start, *first;
	} cases[] = {
		{NULL, "refs/heads/dir"},
		{"a", "refs/heads/dir"},
		{"refs/heads/main", "refs/heads/main"},
		{"refs/heads/main0", "refs/heads/old"},
		{"refs/tags/", "refs/tags/v1"},
		{"refs/u", NULL},
	};
	struct tmprepo t;
	struct refs *refs = fill(&t);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *first = cases[i].first;
		struct buf out = BUF_INIT;

		buf_append_str(&out, "");
		assert_int_equal(refs_each_from(refs, "", cases[i].start,
						append_ref, NULL, &out, NULL),
				 0);
		assert_string_equal(out.data, first ? strstr(all, first) : "");
		buf_release(&out);
	}
	refs_close(refs);
	tmprepo_release(&t);
}

static void test_each_except(void **state)
{
	static const char *const no_heads[] = {"refs/heads/", NULL};
	static const char *const two[] = {"refs/heads/dir/", "refs/tags/",
					  NULL};
	struct buf out = BUF_INIT;
	struct tmprepo t;
	struct refs *refs = fill(&t);

	assert_int_equal(refs_each_except(refs, "", no_heads, append_ref, &out,
					  NULL, NULL),
			 0);
	assert_string_equal(out.data, "refs/tags/v1=aa^ ");
	buf_reset(&out);
	assert_int_equal(refs_each_except(refs, "refs/", two, append_ref, &out,
					  NULL, NULL),
			 0);
	assert_string_equal(out.data, "refs/heads/main=bb refs/heads/old=aa! ");
	refs_close(refs);
	/*
	 * The header says that the records are sorted, but they are not. The
	 * visit must still end.
	 */
	tmprepo_write(&t, "packed-refs",
		      HEADER HEX_A " refs/z\n" HEX_A " refs/heads/x\n" HEX_A
				   " refs/a\n" HEX_A " refs/heads/y\n");
	assert_int_equal(refs_open(&refs, &t.repo, NULL), 0);
	assert_int_equal(refs_each_except(refs, "", no_heads, append_ref, &out,
					  NULL, NULL),
			 0);
	refs_close(refs);
	buf_release(&out);
	tmprepo_release(&t);
}

static void test_each_stops(void **state)
{
	struct tmprepo t;
	struct refs *refs = fill(&t);
	int calls = 0;

	assert_int_equal(refs_each(refs, "", stop_at_once, &calls, NULL, NULL),
			 17);
	assert_int_equal(calls, 1);
	refs_close(refs);
	tmprepo_release(&t);
}

static void test_each_symbolic(void **state)
{
	struct tmprepo t;
	struct refs *refs = fill(&t);
	struct error warning = ERROR_INIT;
	struct buf out = BUF_INIT;

	tmprepo_write(&t, "refs/remotes/o/HEAD", "ref: refs/tags/v1\n");
	tmprepo_write(&t, "refs/remotes/o/gone", "ref: refs/heads/none\n");
	assert_int_equal(refs_each(refs, "refs/remotes/", append_ref, &out,
				   &warning, NULL),
			 0);
	assert_string_equal(out.data, "refs/remotes/o/HEAD=aa>refs/tags/v1^ ");
	assert_int_equal(warning.code, 0);
	buf_reset(&out);
	assert_int_equal(
		refs_each_strict(refs, "refs/remotes/", append_ref, &out, NULL),
		0);
	assert_string_equal(out.data, "refs/remotes/o/HEAD=aa>refs/tags/v1^ ");
	buf_release(&out);
	refs_close(refs);
	tmprepo_release(&t);
}

static void test_each_broken(void **state)
{
	struct tmprepo t;
	struct refs *refs = fill(&t);
	struct error warning = ERROR_INIT;
	struct buf out = BUF_INIT;

	tmprepo_write(&t, "refs/heads/old", "rubbish\n");
	assert_int_equal(refs_each(refs, "refs/heads/o", append_ref, &out,
				   &warning, NULL),
			 0);
	assert_int_equal(out.len, 0);
	assert_string_equal(warning.msg, "ignoring broken ref refs/heads/old");
	assert_int_equal(refs_each_strict(refs, "refs/heads/o", append_ref,
					  &out, &warning),
			 ERR_CORRUPT);
	assert_string_equal(warning.msg, "bad object refs/heads/old");
	refs_close(refs);
	tmprepo_release(&t);
}

/*
 * A symbolic ref to an invalid name counts as dangling, so a strict visit
 * leaves it out. A ref whose id is all zeros is broken, so refs_lookup() fails.
 * But refs_dwim() still finds the ref whose id is all zeros.
 */
static void test_impossible_target(void **state)
{
	struct tmprepo t;
	struct refs *refs = fill(&t);
	struct error err = ERROR_INIT;
	struct buf out = BUF_INIT;
	struct ref ref;

	buf_append_str(&out, "");
	tmprepo_write(&t, "refs/x/up", "ref: refs/../x\n");
	assert_int_equal(
		refs_each_strict(refs, "refs/x/", append_ref, &out, &err), 0);
	assert_int_equal(out.len, 0);
	assert_int_equal(
		refs_each(refs, "refs/x/", append_ref, &out, &err, NULL), 0);
	assert_int_equal(err.code, 0);
	assert_int_equal(refs_read(refs, "refs/x/up", &ref, NULL), 0);
	assert_true(ref.leads_nowhere);
	assert_int_equal(refs_dwim_nr(refs, "refs/x/up", &out, NULL), 0);
	assert_string_equal(out.data,
			    "warning: ignoring dangling symref refs/x/up\n");
	tmprepo_write(&t, "refs/tags/zero", HEX_0 "\n");
	assert_int_equal(refs_lookup(refs, "refs/tags/zero", &ref, NULL),
			 ERR_CORRUPT);
	assert_true(ref.is_broken && ref.is_zero);
	assert_int_equal(refs_dwim(refs, "zero", &ref, NULL), 1);
	assert_true(oid_is_zero(&ref.oid));
	buf_release(&out);
	refs_close(refs);
	tmprepo_release(&t);
}

static void test_each_out_of_order(void **state)
{
	static const char *const tables[] = {
		HEADER HEX_A " refs/heads/b\n" HEX_A " refs/heads/a\n",
		HEADER HEX_A " refs/heads/b\n" HEX_A " s/heads/c\n",
		HEADER HEX_A " heads/a\n" HEX_A " refs/heads/b\n",
	};

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		struct tmprepo t;
		struct refs *refs = fill(&t);
		struct error err = ERROR_INIT;
		struct buf out = BUF_INIT;

		tmprepo_write(&t, "packed-refs", tables[i]);
		assert_int_equal(
			refs_each_strict(refs, NULL, append_ref, &out, &err),
			ERR_CORRUPT);
		assert_non_null(strstr(err.msg, "packed-refs"));
		buf_release(&out);
		refs_close(refs);
		tmprepo_release(&t);
	}
}

static void test_list_now(void **state)
{
	struct tmprepo t;
	struct refs *refs = fill(&t);
	struct error err = ERROR_INIT;
	struct buf out = BUF_INIT;

	assert_int_equal(refs_list_now(refs, &err), 0);
	tmprepo_write(&t, "refs/heads/zz", "rubbish\n");
	assert_int_equal(
		refs_each_strict(refs, "refs/heads/zz", append_ref, &out, &err),
		0);
	assert_int_equal(out.len, 0);
	buf_release(&out);
	refs_close(refs);
	tmprepo_release(&t);
}

static void test_lookup(void **state)
{
	struct tmprepo t;
	struct refs *refs = fill(&t);
	struct ref ref;

	assert_int_equal(refs_lookup(refs, "HEAD", &ref, NULL), 1);
	assert_string_equal(ref.name, "HEAD");
	assert_string_equal(ref.target, "refs/heads/main");
	assert_int_equal(ref.oid.bytes[0], 0xbb);
	assert_int_equal(refs_lookup(refs, "refs/tags/v1", &ref, NULL), 1);
	assert_null(ref.target);
	assert_true(ref.is_tag);
	assert_int_equal(ref.peeled.bytes[0], 0xcc);
	memset(&ref, 0xff, sizeof(ref));
	assert_int_equal(refs_lookup(refs, "refs/heads/none", &ref, NULL), 0);
	assert_null(ref.target);
	assert_false(ref.is_zero || ref.is_tag || ref.has_peeled);
	memset(&ref, 0xff, sizeof(ref));
	assert_int_equal(refs_lookup(refs, "refs/heads/../x", &ref, NULL), 0);
	assert_null(ref.target);
	assert_int_equal(refs_lookup(refs, "refs/heads", &ref, NULL), 0);
	assert_int_equal(refs_lookup(refs, "", &ref, NULL), 0);
	refs_close(refs);
	tmprepo_release(&t);
}

/*
 * refs_read() does not follow symbolic refs: it returns the symbolic ref
 * itself.
 */
static void test_read(void **state)
{
	struct error err = ERROR_INIT;
	struct tmprepo t;
	struct refs *refs = fill(&t);
	struct ref ref;

	assert_int_equal(refs_read(refs, "HEAD", &ref, NULL), 1);
	assert_string_equal(ref.name, "HEAD");
	assert_string_equal(ref.target, "refs/heads/main");
	memset(&ref, 0xff, sizeof(ref));
	assert_int_equal(refs_read(refs, "refs/heads/main", &ref, NULL), 1);
	assert_null(ref.target);
	assert_int_equal(ref.oid.bytes[0], 0xbb);
	assert_false(ref.has_peeled);
	memset(&ref, 0xff, sizeof(ref));
	assert_int_equal(refs_read(refs, "refs/heads/none", &ref, NULL), 0);
	assert_null(ref.target);
	tmprepo_write(&t, "refs/heads/main", HEX_0 "\n");
	assert_int_equal(refs_read(refs, "refs/heads/main", &ref, &err),
			 ERR_CORRUPT);
	assert_true(ref.is_zero);
	assert_string_equal(err.msg, "broken ref refs/heads/main");
	tmprepo_write(&t, "refs/heads/main", "no id\n");
	assert_int_equal(refs_read(refs, "refs/heads/main", &ref, NULL),
			 ERR_CORRUPT);
	assert_false(ref.is_zero);
	refs_close(refs);
	tmprepo_release(&t);
}

static void test_lookup_unborn(void **state)
{
	struct tmprepo t;
	struct refs *refs = fill(&t);
	struct error err = ERROR_INIT;
	struct ref ref;

	tmprepo_write(&t, "HEAD", "ref: refs/heads/unborn\n");
	assert_int_equal(refs_lookup(refs, "HEAD", &ref, NULL), 0);
	assert_string_equal(ref.target, "refs/heads/unborn");
	tmprepo_write(&t, "HEAD", "ref: refs/heads/.invalid\n");
	assert_int_equal(refs_lookup(refs, "HEAD", &ref, NULL), 0);
	assert_null(ref.target);
	tmprepo_write(&t, "HEAD", "\n");
	assert_int_equal(refs_lookup(refs, "HEAD", &ref, &err), ERR_CORRUPT);
	assert_string_equal(err.msg, "broken ref HEAD");
	refs_close(refs);
	tmprepo_release(&t);
}

static void test_symref_loop(void **state)
{
	struct tmprepo t;
	struct refs *refs = fill(&t);
	struct buf out = BUF_INIT;
	struct ref ref;

	tmprepo_write(&t, "refs/heads/a", "ref: refs/heads/b\n");
	tmprepo_write(&t, "refs/heads/b", "ref: refs/heads/a\n");
	assert_int_equal(refs_lookup(refs, "refs/heads/a", &ref, NULL),
			 ERR_CORRUPT);
	assert_int_equal(
		refs_each_strict(refs, "refs/heads/m", append_ref, &out, NULL),
		0);
	buf_reset(&out);
	assert_int_equal(
		refs_each_strict(refs, "refs/heads/a", append_ref, &out, NULL),
		0);
	assert_int_equal(out.len, 0);
	buf_release(&out);
	tmprepo_write(&t, "refs/heads/b", "ref: refs/tags/v1\n");
	assert_int_equal(refs_lookup(refs, "refs/heads/a", &ref, NULL), 1);
	assert_string_equal(ref.target, "refs/tags/v1");
	refs_close(refs);
	tmprepo_release(&t);
}

static void test_dwim(void **state)
{
	static const char *const cases[][2] = {
		{"HEAD", "HEAD"},
		{"main", "refs/heads/main"},
		{"heads/main", "refs/heads/main"},
		{"refs/heads/main", "refs/heads/main"},
		{"v1", "refs/tags/v1"},
		{"old", "refs/heads/old"},
		{"origin", "refs/remotes/origin/HEAD"},
		{"origin/x", "refs/remotes/origin/x"},
		{"dir/x", "refs/heads/dir/x"},
	};
	struct tmprepo t;
	struct refs *refs = fill(&t);
	struct error err = ERROR_INIT;
	struct ref ref;

	tmprepo_write(&t, "refs/tags/cut", "1234\n");
	tmprepo_write(&t, "refs/heads/cut", "1234\n");
	tmprepo_write(&t, "refs/tags/old", "1234\n");
	tmprepo_write(&t, "refs/remotes/origin/HEAD",
		      "ref: refs/remotes/origin/x\n");
	tmprepo_write(&t, "refs/remotes/origin/x", HEX_A "\n");
	tmprepo_write(&t, "config", "[core]\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(refs_dwim(refs, cases[i][0], &ref, NULL), 1);
		assert_string_equal(ref.name, cases[i][1]);
	}
	assert_int_equal(refs_dwim(refs, "config", &ref, NULL), 0);
	assert_int_equal(refs_dwim(refs, "none", &ref, NULL), 0);
	assert_int_equal(refs_dwim(refs, "objects/pack", &ref, NULL), 0);
	/*
	 * The name expands to several refs, and all of them are broken. The
	 * error names the first of them.
	 */
	assert_int_equal(refs_dwim(refs, "cut", &ref, &err), ERR_CORRUPT);
	assert_string_equal(err.msg, "broken ref refs/tags/cut");
	refs_close(refs);
	tmprepo_release(&t);
}

static void assert_dwim_nr(struct refs *refs, const char *name, int nr,
			   const char *expected)
{
	struct buf notes = BUF_INIT;

	buf_append_str(&notes, "");
	assert_int_equal(refs_dwim_nr(refs, name, &notes, NULL), nr);
	assert_string_equal(notes.data, expected);
	assert_int_equal(refs_dwim_nr(refs, name, NULL, NULL), nr);
	buf_release(&notes);
}

/*
 * refs_dwim_nr() counts the refs to which a name expands, and reports those
 * that are broken. A file that cannot be a ref is ignored, and not reported.
 */
static void test_dwim_nr(void **state)
{
	struct error err = ERROR_INIT;
	struct buf notes = BUF_INIT;
	struct tmprepo t;
	struct refs *refs = fill(&t);

	tmprepo_write(&t, "refs/tags/main", HEX_A "\n");
	tmprepo_write(&t, "refs/tags/bad", "no id\n");
	tmprepo_write(&t, "refs/heads/bad", HEX_A "\n");
	tmprepo_write(&t, "refs/remotes/o/HEAD", "ref: refs/heads/none\n");
	tmprepo_write(&t, "config", "[core]\n");
	assert_dwim_nr(refs, "main", 2, "");
	assert_dwim_nr(refs, "old", 1, "");
	assert_dwim_nr(refs, "none", 0, "");
	assert_dwim_nr(refs, "HEAD", 1, "");
	assert_dwim_nr(refs, "config", 0, "");
	assert_dwim_nr(refs, "bad", 1,
		       "warning: ignoring broken ref refs/tags/bad\n");
	assert_dwim_nr(refs, "refs/tags/bad", 0,
		       "warning: ignoring broken ref refs/tags/bad\n");
	assert_dwim_nr(
		refs, "o", 0,
		"warning: ignoring dangling symref refs/remotes/o/HEAD\n");
	tmprepo_write(&t, "HEAD", "ref: refs/heads/none\n");
	assert_dwim_nr(refs, "HEAD", 0, "");
	tmprepo_write(&t, "HEAD", "no id\n");
	assert_dwim_nr(refs, "HEAD", 0, "");
	/*
	 * packed-refs is malformed. This concerns all refs, so the search must
	 * fail.
	 */
	tmprepo_write(&t, "packed-refs", "rubbish\n");
	assert_int_equal(refs_dwim_nr(refs, "old", &notes, &err), ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "unexpected line in "));
	assert_int_equal(notes.len, 0);
	refs_close(refs);
	tmprepo_release(&t);
}

/*
 * refs_dwim_each() visits each ref to which a name expands, except broken refs.
 */
static void test_dwim_each(void **state)
{
	struct buf out = BUF_INIT;
	struct tmprepo t;
	struct refs *refs = fill(&t);
	int calls = 0;

	tmprepo_write(&t, "refs/main", "no id\n");
	tmprepo_write(&t, "refs/tags/main", HEX_A "\n");
	tmprepo_write(&t, "refs/remotes/main/HEAD", HEX_C "\n");
	assert_int_equal(refs_dwim_each(refs, "main", append_ref, &out, NULL),
			 0);
	assert_string_equal(out.data, "refs/tags/main=aa refs/heads/main=bb "
				      "refs/remotes/main/HEAD=cc ");
	assert_int_equal(
		refs_dwim_each(refs, "main", stop_at_once, &calls, NULL), 17);
	assert_int_equal(calls, 1);
	buf_release(&out);
	refs_close(refs);
	tmprepo_release(&t);
}

/*
 * A ref below refs/replace/ is ignored with a warning if the last part of its
 * name is not an id.
 */
static void test_bad_replace(void **state)
{
	struct error warning = ERROR_INIT;
	struct tmprepo t;
	struct refs *refs = fill(&t);
	struct odb *odb;

	tmprepo_write(&t, "refs/replace/short", HEX_A "\n");
	assert_int_equal(odb_open(&odb, &t.repo, NULL, NULL), 0);
	assert_int_equal(refs_load_replaced(refs, odb, &warning, NULL), 0);
	assert_string_equal(warning.msg,
			    "bad replace ref name: refs/replace/short");
	odb_close(odb);
	refs_close(refs);
	tmprepo_release(&t);
}

/*
 * If GIT_REF_PARANOIA is false, each kind of visit skips refs to missing
 * objects, and refs without a valid value. The callback on_broken gets only the
 * refs to missing objects.
 */
static void test_salvage(void **state)
{
	struct error warning = ERROR_INIT;
	struct buf out = BUF_INIT;
	struct tmprepo t;
	struct refs *refs = fill(&t);

	tmprepo_write(&t, "refs/heads/a", "no id\n");
	tmprepo_write(&t, "refs/heads/n", "ref: refs/heads/none\n");
	buf_append_str(&out, "");
	setenv("GIT_REF_PARANOIA", "false", 1);
	assert_int_equal(refs_each(refs, "refs/heads/m", append_ref, &out,
				   &warning, NULL),
			 0);
	assert_string_equal(out.data, "");
	assert_int_equal(warning.code, ERR_MISSING);
	assert_string_equal(warning.msg, "refs/heads/main does not point to a "
					 "valid object!");
	assert_int_equal(refs_each_strict(refs, NULL, append_ref, &out, NULL),
			 0);
	assert_string_equal(out.data, "");
	assert_int_equal(refs_each_from(refs, "", NULL, append_ref,
					append_broken, &out, NULL),
			 0);
	assert_string_equal(out.data,
			    "refs/heads/dir/x?missing refs/heads/main?missing "
			    "refs/heads/old?missing refs/tags/v1?missing ");
	buf_reset(&out);
	assert_int_equal(refs_each_or_broken(refs, "refs/heads/a", append_ref,
					     append_broken, &out, NULL),
			 0);
	assert_string_equal(out.data, "refs/heads/a?value ");
	refs_close(refs);
	assert_int_equal(refs_open(&refs, &t.repo, NULL), 0);
	tmprepo_write(&t, "packed-refs", "rubbish\n");
	assert_int_equal(refs_each(refs, NULL, append_ref, &out, NULL, NULL),
			 ERR_CORRUPT);
	setenv("GIT_REF_PARANOIA", "perhaps", 1);
	assert_int_equal(refs_each(refs, NULL, append_ref, &out, NULL, NULL),
			 ERR_INVALID);
	setenv("GIT_REF_PARANOIA", "true", 1);
	tmprepo_write(&t, "packed-refs", HEX_A " refs/tags/v1\n");
	assert_each(refs, "refs/tags/", "refs/tags/v1=aa ");
	unsetenv("GIT_REF_PARANOIA");
	buf_release(&out);
	refs_close(refs);
	tmprepo_release(&t);
}

/*
 * refs_may_peel() tells whether a ref below a prefix may peel to one of the
 * given ids. For a packed ref, its stored peeled id decides. For a loose ref,
 * the answer is always yes.
 */
static void test_may_peel(void **state)
{
	struct oidmap ids = OIDMAP_INIT, others = OIDMAP_INIT;
	const struct refs_peel_search search = {.ids = &ids};
	const struct refs_peel_search other_search = {.ids = &others};
	struct error err = ERROR_INIT;
	struct oid oid;
	struct tmprepo t;
	struct refs *refs = fill(&t);

	assert_true(oid_from_hex(&oid, HEX_C, 40, HASH_SHA1));
	assert_int_equal(oidmap_put(&ids, &oid, 0), 0);
	assert_true(oid_from_hex(&oid, HEX_A, 40, HASH_SHA1));
	assert_int_equal(oidmap_put(&others, &oid, 0), 0);
	assert_int_equal(refs_list_now(refs, NULL), 0);
	assert_int_equal(refs_may_peel(refs, "refs/tags/", &search, NULL), 1);
	assert_int_equal(refs_may_peel(refs, "refs/tags/", &other_search, NULL),
			 0);
	assert_int_equal(refs_may_peel(refs, "refs/heads/e/", &search, NULL),
			 0);
	assert_int_equal(refs_may_peel(refs, "refs/x/", &search, NULL), 0);
	assert_int_equal(refs_may_peel(refs, "refs/heads/dir/", &search, NULL),
			 1);
	refs_close(refs);
	assert_int_equal(refs_open(&refs, &t.repo, NULL), 0);
	tmprepo_write(&t, "packed-refs", "rubbish\n");
	assert_int_equal(refs_may_peel(refs, "refs/tags/", &search, &err),
			 ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "unexpected line in "));
	oidmap_release(&ids);
	oidmap_release(&others);
	refs_close(refs);
	tmprepo_release(&t);
}

/*
 * A ref is packed while a snapshot is open. The snapshot must find it in the
 * new packed-refs file.
 */
static void test_packed_meanwhile(void **state)
{
	struct tmprepo t;
	struct refs *refs = fill(&t);
	struct ref ref;

	assert_int_equal(refs_lookup(refs, "refs/heads/old", &ref, NULL), 1);
	tmprepo_write(&t, "packed-refs",
		      HEADER HEX_B " refs/heads/dir/x\n" HEX_C
				   " refs/heads/old\n");
	tmprepo_remove(&t, "refs/heads/dir/x");
	assert_int_equal(refs_lookup(refs, "refs/heads/dir/x", &ref, NULL), 1);
	assert_int_equal(ref.oid.bytes[0], 0xbb);
	assert_each(refs, "refs/heads/o", "refs/heads/old=cc! ");
	refs_close(refs);
	tmprepo_release(&t);
}

/*
 * A visit fails because packed-refs is malformed. After the file was repaired,
 * the next visit of the same snapshot succeeds.
 */
static void test_packed_malformed(void **state)
{
	struct buf out = BUF_INIT;
	struct tmprepo t;
	struct refs *refs = fill(&t);

	tmprepo_write(&t, "packed-refs", "rubbish\n");
	for (int i = 0; i < 2; i++)
		assert_int_equal(
			refs_each(refs, "", append_ref, &out, NULL, NULL),
			ERR_CORRUPT);
	assert_int_equal(out.len, 0);
	tmprepo_write(&t, "packed-refs", HEX_A " refs/tags/v1\n");
	assert_each(refs, "refs/tags/", "refs/tags/v1=aa ");
	refs_close(refs);
	tmprepo_release(&t);
}

/*
 * Context of a visit. Its callback looks up other refs, which must not disturb
 * the visit.
 */
struct nested {
	struct refs *refs;
	const struct tmprepo *t;
	struct buf seen;
};

static int lookup_inside(void *ctx, const struct ref *ref)
{
	struct nested *n = ctx;
	struct ref inner;

	tmprepo_write(n->t, "packed-refs", HEADER);
	assert_int_equal(refs_lookup(n->refs, "HEAD", &inner, NULL), 1);
	refs_lookup(n->refs, "main-worktree/x", &inner, NULL);
	return append_ref(&n->seen, ref);
}

static void test_nested(void **state)
{
	struct tmprepo t;
	struct refs *refs = fill(&t);
	struct nested n = {refs, &t, BUF_INIT};

	assert_int_equal(refs_each(refs, "", lookup_inside, &n, NULL, NULL), 0);
	assert_string_equal(n.seen.data,
			    "refs/heads/dir/x=bb refs/heads/main=bb "
			    "refs/heads/old=aa! refs/tags/v1=aa^ ");
	buf_release(&n.seen);
	refs_close(refs);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_roots),
		cmocka_unit_test(test_each),
		cmocka_unit_test(test_each_from),
		cmocka_unit_test(test_each_except),
		cmocka_unit_test(test_each_stops),
		cmocka_unit_test(test_each_symbolic),
		cmocka_unit_test(test_each_broken),
		cmocka_unit_test(test_impossible_target),
		cmocka_unit_test(test_each_out_of_order),
		cmocka_unit_test(test_list_now),
		cmocka_unit_test(test_lookup),
		cmocka_unit_test(test_lookup_unborn),
		cmocka_unit_test(test_symref_loop),
		cmocka_unit_test(test_dwim),
		cmocka_unit_test(test_packed_meanwhile),
		cmocka_unit_test(test_packed_malformed),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_dwim_nr),
		cmocka_unit_test(test_dwim_each),
		cmocka_unit_test(test_bad_replace),
		cmocka_unit_test(test_salvage),
		cmocka_unit_test(test_may_peel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
