/* SPDX-License-Identifier: MIT */
/*
 * Tests of packing/find-boundary.c, which collects objects that the receiver
 * has. They prove that a tree of the receiver is read only if something below
 * the path of this tree is sent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "packing/find.h"
#include "t/unit/bitmaprepo.h"

/*
 * Indexes of r->objects[]: a commit, the file that is the same in all commits,
 * and the file that differs.
 */
struct version {
	uint32_t commit, same, file;
	unsigned date;
};

static uint32_t add_text(struct randrepo *r, const char *text)
{
	struct buf data = BUF_INIT;
	uint32_t nr;

	assert_int_equal(buf_printf(&data, "%s\n", text), 0);
	nr = randrepo_add(r, OBJ_BLOB, &data, NULL, 0);
	buf_release(&data);
	return nr;
}

static uint32_t add_dir(struct randrepo *r, const char *name, uint32_t blob)
{
	struct randrepo_tree t = {.data = BUF_INIT};

	randrepo_entry(r, &t, "100644", name, blob);
	return randrepo_finish_tree(r, &t);
}

/*
 * Add a commit with two directories. The file in "a" is always the same, and
 * the file in "b" contains `text`. If `parent` is NULL, the commit has no
 * parent. A child has a later date than its parent. Returns the new version.
 */
static struct version add_version(struct randrepo *r, const char *text,
				  const struct version *parent)
{
	struct version v = {.same = add_text(r, "same"),
			    .file = add_text(r, text)};
	struct randrepo_tree t = {.data = BUF_INIT};
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf data = BUF_INIT;
	uint32_t refs[2];
	unsigned date = parent ? parent->date + 1 : 1;

	v.date = date;
	randrepo_entry(r, &t, "40000", "a", add_dir(r, "same", v.same));
	randrepo_entry(r, &t, "40000", "b", add_dir(r, "file", v.file));
	refs[0] = randrepo_finish_tree(r, &t);
	refs[1] = parent ? parent->commit : 0;
	buf_printf(&data, "tree %s\n",
		   oid_to_hex(hex, &r->objects[refs[0]].oid, r->t.repo.algo));
	if (parent)
		buf_printf(&data, "parent %s\n",
			   oid_to_hex(hex, &r->objects[refs[1]].oid,
				      r->t.repo.algo));
	buf_printf(&data,
		   "author A <a@b> %u +0000\n"
		   "committer A <a@b> %u +0000\n\nx\n",
		   date, date);
	v.commit = randrepo_add(r, OBJ_COMMIT, &data, refs, parent ? 2 : 1);
	buf_release(&data);
	return v;
}

static bool is_collected(struct found *f, const struct randrepo *r, uint32_t nr)
{
	for (size_t i = 0; i < f->boundary_objects.nr; i++) {
		struct oid oid;

		objspace_oid(&oid, &f->walk.space,
			     f->boundary_objects.items[i].obj_pos);
		if (oid_equal(&oid, &r->objects[nr].oid))
			return true;
	}
	return false;
}

/*
 * The directory "a" is the same in both commits. Its tree is in
 * f.boundary_objects (the objects that the receiver has), but is not read.
 */
static void unchanged_directories(void **state)
{
	uint64_t seed = random_seed();
	struct error warning = ERROR_INIT;
	struct packing_send_options options;
	struct packing_request request;
	struct version old, new;
	struct randrepo r;
	struct found f;
	struct odb *odb;

	randrepo_init(&r, HASH_SHA1, &seed);
	old = add_version(&r, "old", NULL);
	new = add_version(&r, "new", &old);
	randrepo_store_pack(&r);
	assert_int_equal(odb_open(&odb, &r.t.repo, NULL, NULL), 0);
	assert_int_equal(packing_send_options_load(&options, &r.t.repo, NULL),
			 0);
	options.threads = 1;
	request = (struct packing_request){
		.wants = &r.objects[new.commit].oid,
		.want_nr = 1,
		.haves = &r.objects[old.commit].oid,
		.have_nr = 1,
		.thin = true,
	};
	assert_int_equal(
		found_open(&f, odb, &request, &options, &warning, NULL), 0);
	/*
	 * The walk collects the changed file in f.boundary_objects, but not the
	 * unchanged file.
	 */
	assert_true(is_collected(&f, &r, old.file));
	assert_false(is_collected(&f, &r, old.same));
	/*
	 * f.boundary_objects has four objects: the root tree, both directories,
	 * and the changed file.
	 */
	assert_int_equal(f.boundary_objects.nr, 4);
	found_close(&f);
	odb_close(odb);
	randrepo_release(&r);
}

/*
 * The receiver has two branches. The files of both are in f.boundary_objects.
 */
static void several_haves(void **state)
{
	uint64_t seed = random_seed();
	struct error warning = ERROR_INIT;
	struct packing_send_options options;
	struct version one, other, new;
	struct oid wants[2], haves[2];
	struct packing_request request = {
		.wants = wants,
		.want_nr = 2,
		.haves = haves,
		.have_nr = 2,
		.thin = true,
	};
	struct randrepo r;
	struct found f;
	struct odb *odb;

	randrepo_init(&r, HASH_SHA1, &seed);
	one = add_version(&r, "one", NULL);
	other = add_version(&r, "other", NULL);
	new = add_version(&r, "new", &one);
	haves[0] = r.objects[one.commit].oid;
	haves[1] = r.objects[other.commit].oid;
	wants[0] = r.objects[new.commit].oid;
	new = add_version(&r, "newer", &other);
	wants[1] = r.objects[new.commit].oid;
	randrepo_store_pack(&r);
	assert_int_equal(odb_open(&odb, &r.t.repo, NULL, NULL), 0);
	assert_int_equal(packing_send_options_load(&options, &r.t.repo, NULL),
			 0);
	options.threads = 1;
	assert_int_equal(
		found_open(&f, odb, &request, &options, &warning, NULL), 0);
	assert_true(is_collected(&f, &r, one.file));
	assert_true(is_collected(&f, &r, other.file));
	found_close(&f);
	odb_close(odb);
	randrepo_release(&r);
}

static uint32_t commit_nr(struct walk *w, const struct randrepo *r, uint32_t nr)
{
	struct history *h = &w->history;
	uint32_t obj_pos, commit;

	assert_int_equal(
		objspace_add(&w->space, r->objects[nr].oid.bytes, &obj_pos), 0);
	assert_int_equal(history_add(h, obj_pos, &commit), 0);
	assert_int_equal(history_parse(h, commit, NULL), 0);
	return commit;
}

/*
 * found_newest() lists the newest commits first. It leaves out each commit that
 * is a parent of another listed commit, unless the commit is a root.
 */
static void newest_commits(void **state)
{
	uint64_t seed = random_seed();
	struct version v = {.commit = 0}, *parent = NULL;
	uint32_t commits[6], out[6];
	struct randrepo r;
	struct odb *odb;
	struct walk w;
	size_t nr;

	randrepo_init(&r, HASH_SHA1, &seed);
	for (uint32_t i = 0; i < 5; i++) {
		char text[8];

		snprintf(text, sizeof(text), "%u", i);
		v = add_version(&r, text, parent);
		parent = &v;
		commits[i] = v.commit;
	}
	commits[5] = add_version(&r, "alone", NULL).commit;
	randrepo_store_pack(&r);
	assert_int_equal(odb_open(&odb, &r.t.repo, NULL, NULL), 0);
	assert_int_equal(walk_open(&w, odb, NULL, 0, NULL), 0);
	for (uint32_t i = 0; i < 6; i++)
		commits[i] = commit_nr(&w, &r, commits[i]);
	/*
	 * The list has commits 1, 2 and 4. Commit 1 is left out, because it is
	 * the parent of commit 2.
	 */
	assert_int_equal(found_newest(out, &nr, 6, &w.history,
				      (const uint32_t[]){commits[2], commits[4],
							 commits[1]},
				      3, NULL),
			 0);
	assert_int_equal(nr, 2);
	assert_int_equal(out[0], commits[4]);
	assert_int_equal(out[1], commits[2]);
	/*
	 * The list has all commits. A parent of another commit of the list is
	 * left out, unless the parent is a root. So commit 4 and the two roots
	 * remain.
	 */
	assert_int_equal(
		found_newest(out, &nr, 6, &w.history, commits, 6, NULL), 0);
	assert_int_equal(nr, 3);
	assert_int_equal(out[0], commits[4]);
	assert_int_equal(
		found_newest(out, &nr, 1, &w.history, commits, 6, NULL), 0);
	assert_int_equal(nr, 1);
	assert_int_equal(out[0], commits[4]);
	walk_close(&w);
	odb_close(odb);
	randrepo_release(&r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(unchanged_directories),
		cmocka_unit_test(several_haves),
		cmocka_unit_test(newest_commits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
