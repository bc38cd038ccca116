/* SPDX-License-Identifier: MIT */
/*
 * Tests of packing/find-older.c. The receiver has a commit and the ancestors of
 * this commit, so it has several versions of a file. A stored delta against any
 * of these versions can be copied.
 *
 * The newest blob is stored as a delta. Each test chooses the base of this
 * delta, and looks at the base of the blob in the sent pack. The commits are:
 *
 *      0---1--...--LINE-2---LINE-1---HAVE---...---NEWEST
 *                        \          /
 *                         --SIDE----
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "packing/send.h"
#include "t/unit/keptrepo.h"
#include "t/unit/sentpack.h"

/* Number of the commits 0 to LINE - 1 in the drawing above. */
#define LINE 12
/*
 * Indexes of olderrepo.commits[] and olderrepo.blobs[] for the commits in the
 * drawing that are not on the line 0 to LINE - 1.
 */
enum { SIDE = LINE, HAVE, NEWER };
#define COMMITS_MAX (NEWER + 12)
#define NONE UINT32_MAX

struct olderrepo {
	struct randrepo r;
	uint64_t seed;
	/* Indexes of r.objects[]. */
	uint32_t blobs[COMMITS_MAX], commits[COMMITS_MAX];
	/* number of commits */
	uint32_t nr;
	/* delta base of the newest blob, as an index of blobs[] */
	uint32_t base;
};

/*
 * Add a commit with one file, whose content is the object `blob`. `parents`:
 * indexes of o->commits[].
 */
static void add_commit(struct olderrepo *o, uint32_t blob,
		       const uint32_t *parents, uint32_t parent_nr)
{
	struct randrepo *r = &o->r;
	struct randrepo_tree t = {.data = BUF_INIT};
	struct buf data = BUF_INIT;
	char hex[OID_MAX_HEX_LEN + 1];
	uint32_t refs[3];

	randrepo_entry(r, &t, "100644", "file", blob);
	refs[0] = randrepo_finish_tree(r, &t);
	buf_printf(&data, "tree %s\n",
		   oid_to_hex(hex, &r->objects[refs[0]].oid, HASH_SHA1));
	for (uint32_t i = 0; i < parent_nr; i++) {
		refs[i + 1] = o->commits[parents[i]];
		buf_printf(&data, "parent %s\n",
			   oid_to_hex(hex, &r->objects[refs[i + 1]].oid,
				      HASH_SHA1));
	}
	buf_printf(&data,
		   "author A <a@b> %u +0000\ncommitter A <a@b> %u +0000\n\nx\n",
		   o->nr, o->nr);
	o->blobs[o->nr] = blob;
	o->commits[o->nr++] = randrepo_add(r, OBJ_COMMIT, &data, refs,
					   parent_nr + 1);
	buf_release(&data);
}

/* Returns a blob with the content of another blob and one more line. */
static uint32_t longer_blob(struct randrepo *r, uint32_t blob)
{
	const struct buf *from = &r->objects[blob].data;
	struct buf data = BUF_INIT;
	uint32_t nr;

	buf_append(&data, from->data, from->len);
	buf_append_str(&data, "more\n");
	nr = randrepo_add(r, OBJ_BLOB, &data, NULL, 0);
	buf_release(&data);
	return nr;
}

/*
 * Add the commits of the repository: a line of LINE commits, the commits SIDE
 * and HAVE, and `newer` commits that are newer than HAVE.
 */
static void add_commits(struct olderrepo *o, uint32_t newer)
{
	struct randrepo *r = &o->r;

	for (uint32_t i = 0; i < LINE; i++)
		add_commit(o, keptrepo_version(r, i), &(uint32_t){i - 1},
			   i > 0);
	add_commit(o, keptrepo_version(r, SIDE), &(uint32_t){LINE - 2}, 1);
	add_commit(o, keptrepo_version(r, HAVE),
		   (const uint32_t[]){LINE - 1, SIDE}, 2);
	for (uint32_t i = 1; i < newer; i++)
		add_commit(o, keptrepo_version(r, o->nr),
			   &(uint32_t){o->nr - 1}, 1);
	add_commit(o, longer_blob(r, o->blobs[o->base]), &(uint32_t){o->nr - 1},
		   1);
}

/*
 * Store all objects in one pack. The newest blob is a delta. The object
 * `damaged` gets another content (NONE: no object).
 */
static void store(struct olderrepo *o, uint32_t damaged)
{
	struct randrepo *r = &o->r;
	uint32_t newest = o->blobs[o->nr - 1], base = o->blobs[o->base];
	struct packfile *p = malloc(sizeof(*p));
	uint32_t base_entry = 0;

	assert_non_null(p);
	packfile_init(p, HASH_SHA1);
	for (uint32_t i = 0; i < r->nr; i++) {
		struct randrepo_object *object = &r->objects[i];
		struct pack_entry e = {.type = object->type, .size = 7};

		if (i == newest)
			continue;
		if (i == damaged) {
			packfile_add_entry(p, &e, "damaged", 7, &object->oid);
			continue;
		}
		if (i == base)
			base_entry = p->nr;
		packfile_add(p, object->type, object->data.data,
			     object->data.len);
	}
	packfile_add_delta(p, OBJ_OFS_DELTA, base_entry,
			   r->objects[base].data.len, "more\n",
			   &r->objects[newest].oid);
	packfile_finish(p);
	tmprepo_write_len(&r->t, "objects/pack/pack-1.pack", p->bytes.data,
			  p->bytes.len);
	tmprepo_write_len(&r->t, "objects/pack/pack-1.idx", p->idx.data,
			  p->idx.len);
	packfile_release(p);
	free(p);
}

/*
 * Make a repository. `base`: the delta base of the newest blob, as an index of
 * blobs[]. `newer`: number of commits that the receiver does not have.
 */
static void init(struct olderrepo *o, uint32_t base, uint32_t newer)
{
	memset(o, 0, sizeof(*o));
	o->base = base;
	randrepo_init(&o->r, HASH_SHA1, &o->seed);
	add_commits(o, newer);
}

/*
 * Fetch the newest commit. The receiver has the commit HAVE. If `knows_shallow`
 * is true, the receiver has said that its history is not shallow. Returns the
 * base of the newest blob in the pack, as an index of blobs[]. Returns NONE if
 * the blob is not a delta, or its base is not an object of the receiver.
 */
static uint32_t fetch(struct olderrepo *o, bool knows_shallow)
{
	struct packing_send_options options;
	struct packing_report report;
	struct error err = ERROR_INIT;
	bool *had = calloc(RANDREPO_MAX, sizeof(*had));
	uint32_t found = NONE;
	struct sentpack s;
	struct odb *odb;
	struct packing_request request = {
		.wants = &o->r.objects[o->commits[o->nr - 1]].oid,
		.want_nr = 1,
		.haves = &o->r.objects[o->commits[HAVE]].oid,
		.have_nr = 1,
		.thin = true,
		.ofs_delta = true,
		.knows_shallow = knows_shallow,
	};

	assert_non_null(had);
	randrepo_reach(&o->r, had, o->commits[HAVE]);
	assert_int_equal(odb_open(&odb, &o->r.t.repo, NULL, NULL), 0);
	assert_int_equal(
		packing_send_options_load(&options, &o->r.t.repo, NULL), 0);
	options.threads = 1;
	/*
	 * Turn off the delta search, so that each delta of the pack is one that
	 * the tested code has chosen.
	 */
	options.depth = 0;
	if (packing_send(odb, &request, &options, sentpack_init(&s, &o->r),
			 &report, &err) < 0)
		fail_msg("%s", err.msg);
	sentpack_decode(&s, had);
	assert_int_equal(s.nr, 3 * (o->nr - NEWER));
	for (uint32_t i = 0; i < s.nr; i++) {
		const struct sentpack_entry *e = &s.entries[i];
		struct oid base;

		if (e->nr != o->blobs[o->nr - 1] ||
		    e->header.type != OBJ_REF_DELTA)
			continue;
		oid_from_raw(&base, e->header.base_oid, HASH_SHA1);
		for (uint32_t k = 0; k <= HAVE; k++)
			if (oid_equal(&base, &o->r.objects[o->blobs[k]].oid))
				found = k;
	}
	sentpack_release(&s);
	odb_close(odb);
	free(had);
	return found;
}

/*
 * The newest blob is stored as a delta. The receiver has the commit HAVE (see
 * the drawing above). The delta is copied if its base is the blob of HAVE, or
 * of one of the 7 nearest ancestors of HAVE. These ancestors are the commits
 * LINE - 1, SIDE, and LINE - 2 to LINE - 6. Each ancestor is read only once.
 */
static void versions_of_ancestors(void **state)
{
	static const struct {
		uint32_t stored, sent;
	} bases[] = {
		{HAVE, HAVE},
		{LINE - 1, LINE - 1},
		{SIDE, SIDE},
		{LINE - 2, LINE - 2},
		{LINE - 6, LINE - 6},
		/*
		 * The base is too old. So a delta against the version in HAVE
		 * is made.
		 */
		{LINE - 7, HAVE},
	};

	for (size_t i = 0; i < ARRAY_NR(bases); i++) {
		struct olderrepo o;

		init(&o, bases[i].stored, 12);
		store(&o, NONE);
		assert_int_equal(fetch(&o, true), bases[i].sent);
		randrepo_release(&o.r);
	}
}

/*
 * The newest blob is stored as a delta. Its base is the version of the file in
 * an ancestor of HAVE. If few objects are sent, the server does not search the
 * history of HAVE for older versions. So the server does not know that the
 * receiver has this base, and does not send the stored delta. Instead, a new
 * delta is made against the version in HAVE.
 */
static void small_fetch(void **state)
{
	struct olderrepo o;

	init(&o, LINE - 1, 1);
	store(&o, NONE);
	assert_int_equal(fetch(&o, true), HAVE);
	randrepo_release(&o.r);
}

/*
 * The receiver has the commit HAVE, but has not said that its history is
 * complete. If its history is shallow, it lacks the ancestors of HAVE and their
 * versions of the file. So a version of an ancestor may not be the delta base.
 * The base must be the version in HAVE.
 */
static void maybe_shallow(void **state)
{
	struct olderrepo o;

	init(&o, LINE - 1, 12);
	store(&o, NONE);
	assert_int_equal(fetch(&o, false), HAVE);
	randrepo_release(&o.r);
}

/* An ancestor that cannot be read is skipped. */
static void damaged_ancestor(void **state)
{
	static const struct {
		uint32_t stored, sent;
	} bases[] = {
		{LINE - 5, LINE - 5},
		{LINE - 6, HAVE},
	};

	for (size_t i = 0; i < ARRAY_NR(bases); i++) {
		struct olderrepo o;

		init(&o, bases[i].stored, 12);
		store(&o, o.commits[LINE - 6]);
		assert_int_equal(fetch(&o, true), bases[i].sent);
		randrepo_release(&o.r);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_of_ancestors),
		cmocka_unit_test(small_fetch),
		cmocka_unit_test(maybe_shallow),
		cmocka_unit_test(damaged_ancestor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
