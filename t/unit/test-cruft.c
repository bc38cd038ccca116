/* SPDX-License-Identifier: MIT */
/*
 * Tests of repack/cruft.c, which writes cruft packs. They prove that a cruft
 * pack has the objects and times that were listed for the pack.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "repack/cruft.h"
#include "t/unit/oldrepo.h"

/* Check that a cruft pack has the objects and times listed in *u. */
static void check_pack(struct oldrepo *o, const struct unreachable *u,
		       const struct cruft_options *options,
		       const struct newpack *np)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf base = BUF_INIT, file = BUF_INIT;
	struct pack_mtimes times;
	struct pack *pack;
	uint32_t nr = 0;

	oid_to_hex(hex, &np->checksum, HASH_SHA1);
	buf_printf(&base, "%s-%s", options->base, hex);
	assert_int_equal(pack_open(&pack, base.data, HASH_SHA1, NULL), 0);
	assert_true(pack->is_cruft);
	assert_int_equal(pack_verify_checksum(pack, NULL), 0);
	buf_append_str(&base, ".mtimes");
	assert_int_equal(sys_read_file(&file, base.data, NULL), 0);
	assert_int_equal(pack_mtimes_parse(&times, &pack->idx, file.data,
					   file.len, "times", NULL),
			 0);
	assert_int_equal(pack_mtimes_verify(&times, "times", NULL), 0);
	for (size_t i = 0; i < u->nr; i++) {
		const struct unreachable_item *item = &u->items[i];
		uint32_t idx_pos, mtime = item->mtime;
		struct oid oid;
		bool wanted = options->expired
				      ? !item->is_kept && !item->is_safe
				      : item->is_kept && !item->is_safe;

		objspace_oid(&oid, &o->w.space, item->obj_pos);
		assert_int_equal(pack_idx_find(&pack->idx, oid.bytes, &idx_pos),
				 wanted);
		if (!wanted)
			continue;
		nr++;
		if (!options->expired && mtime < options->expiry)
			mtime = (uint32_t)options->expiry;
		assert_int_equal(pack_mtimes_get(&times, idx_pos), mtime);
	}
	assert_int_equal(pack->idx.nr, nr);
	pack_close(pack);
	buf_release(&base);
	buf_release(&file);
}

static void written(void **state)
{
	uint64_t seed = random_seed();
	struct newpack_options newpack;
	char dir[4096], base[4200];
	struct unreachable u;
	struct oldrepo o;

	oldrepo_init(&o, &seed, (1 << OLD_PLACES) - 1);
	assert_int_equal(newpack_options_load(&newpack, &o.r.t.repo, NULL), 0);
	newpack.fsync_pack = newpack.fsync_metadata = SYS_FSYNC_NONE;
	snprintf(dir, sizeof(dir), "%s/new", o.r.t.dir);
	snprintf(base, sizeof(base), "%s/pack", dir);
	assert_int_equal(sys_mkdir_p(dir, NULL), 0);
	oldrepo_collect(&o, &u, true);
	for (int k = 0; k < 8; k++) {
		struct cruft_options options = {
			.newpack = &newpack,
			.dir = dir,
			.base = base,
			.expiry = k / 2 ? OLDREPO_EPOCH + 2400 + k : 0,
			.expired = k % 2,
		};
		struct error err = ERROR_INIT;
		struct newpacks np;

		for (size_t i = 0; i < u.nr; i++)
			u.items[i].is_kept = false;
		assert_int_equal(unreachable_keep(&u, options.expiry, NULL), 0);
		if (cruft_write(&np, &u, &options, &err) != 0)
			fail_msg("%s", err.msg);
		/*
		 * In round 1, no object is dropped, so there is no pack of
		 * dropped objects.
		 */
		assert_int_equal(np.nr, k != 1);
		if (np.nr)
			check_pack(&o, &u, &options, np.packs[0]);
		newpacks_release(&np);
	}
	unreachable_release(&u);
	oldrepo_release(&o);
}

/* The warnings of a cruft_write(). */
struct warnings {
	char text[1000];
	size_t nr;
};

static void note(void *ctx, const char *message)
{
	struct warnings *w = ctx;

	w->nr++;
	strncat(w->text, message, sizeof(w->text) - strlen(w->text) - 1);
}

/*
 * Damaged loose objects without packed copies are left out, and a warning names
 * each of them. The other objects are written.
 */
static void damaged(void **state)
{
	uint64_t seed = random_seed();
	struct newpack_options newpack;
	struct cruft_options options = {.newpack = &newpack};
	struct error err = ERROR_INIT;
	char dir[4096], base[4200];
	struct warnings warnings = {.nr = 0};
	struct newpacks np;
	struct unreachable u;
	struct oldrepo o;
	size_t nr = 0;

	oldrepo_init(&o, &seed, OLD_PACK);
	tmprepo_write(&o.r.t,
		      "objects/aa/cccccccccccccccccccccccccccccccccccccc", "");
	tmprepo_write(&o.r.t,
		      "objects/aa/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
		      "nonsense");
	assert_int_equal(newpack_options_load(&newpack, &o.r.t.repo, NULL), 0);
	newpack.fsync_pack = newpack.fsync_metadata = SYS_FSYNC_NONE;
	snprintf(dir, sizeof(dir), "%s/objects/pack", o.r.t.dir);
	snprintf(base, sizeof(base), "%s/pack", dir);
	options.dir = dir;
	options.base = base;
	oldrepo_collect(&o, &u, true);
	assert_int_equal(unreachable_keep(&u, 0, NULL), 0);
	u.warn = note;
	u.warn_ctx = &warnings;
	if (cruft_write(&np, &u, &options, &err) != 0)
		fail_msg("%s", err.msg);
	for (uint32_t i = 0; i < o.r.nr; i++)
		nr += !o.reached[i];
	assert_int_equal(np.nr, 1);
	assert_int_equal(np.report.objects, nr);
	assert_int_equal(u.nr, nr + 2);
	assert_int_equal(warnings.nr, 2);
	assert_non_null(strstr(warnings.text, "bbbbbbbb"));
	assert_non_null(strstr(warnings.text, "cccccccc"));
	newpacks_release(&np);
	/* A listed object that is gone is an error. */
	tmprepo_remove(&o.r.t,
		       "objects/aa/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb");
	assert_int_equal(cruft_write(&np, &u, &options, &err), ERR_MISSING);
	assert_int_equal(np.nr, 0);
	newpacks_release(&np);
	unreachable_release(&u);
	oldrepo_release(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
