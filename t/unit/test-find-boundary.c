/* SPDX-License-Identifier: MIT */
/*
 * Tests of packing/find-boundary.c, which collects objects that the receiver
 * has. They prove that it reads only those of the receiver's trees in which
 * something is sent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "packing/find.h"
#include "t/unit/bitmaprepo.h"

/* Indexes of r->objects[] for one commit. */
struct version {
	uint32_t commit, same, file;
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
 * the file in "b" contains `text`. NULL as parent: the commit has no parent.
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
	buf_printf(&data, "author A <a@b> 1 +0000\n"
			  "committer A <a@b> 1 +0000\n\nx\n");
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

/* A directory in which nothing is sent is not read, although it is listed. */
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
	/* The changed file is collected. The unchanged file is not. */
	assert_true(is_collected(&f, &r, old.file));
	assert_false(is_collected(&f, &r, old.same));
	/*
	 * Four objects: the root tree, both directories, and the changed file.
	 */
	assert_int_equal(f.boundary_objects.nr, 4);
	found_close(&f);
	odb_close(odb);
	randrepo_release(&r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(unchanged_directories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
