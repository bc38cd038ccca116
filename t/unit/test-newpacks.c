/* SPDX-License-Identifier: MIT */
/*
 * Tests of packs/newpacks.c, which splits objects into packs of limited size:
 * each object is in exactly one pack, and no pack is too large.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "packs/newpacks.h"
#include "t/unit/itemlist.h"

struct sample {
	struct itemlist l;
	struct newpack_options options;
	char dir[4096], base[4200];
	bool *packed; /* indexed by object number */
};

static void sample_init(struct sample *s, uint64_t *seed)
{
	memset(s, 0, sizeof(*s));
	itemlist_init(&s->l, seed);
	assert_int_equal(
		newpack_options_load(&s->options, &s->l.r.t.repo, NULL), 0);
	s->options.fsync_pack = s->options.fsync_metadata = SYS_FSYNC_NONE;
	snprintf(s->dir, sizeof(s->dir), "%s/new", s->l.r.t.dir);
	snprintf(s->base, sizeof(s->base), "%s/pack", s->dir);
	assert_int_equal(sys_mkdir_p(s->dir, NULL), 0);
	s->packed = calloc(RANDREPO_MAX, sizeof(*s->packed));
	assert_non_null(s->packed);
}

static void sample_release(struct sample *s)
{
	free(s->packed);
	itemlist_release(&s->l);
}

/* Read a pack object by object. Asserts that no object is in two packs. */
static void check_pack(struct sample *s, const struct newpack *np)
{
	char hex[OID_MAX_HEX_LEN + 1], base[4300];
	struct packread read;
	struct pack *pack;

	oid_to_hex(hex, &np->checksum, HASH_SHA1);
	snprintf(base, sizeof(base), "%s-%s", s->base, hex);
	assert_int_equal(pack_open(&pack, base, HASH_SHA1, NULL), 0);
	assert_int_equal(pack_verify_checksum(pack, NULL), 0);
	if (s->options.max_pack_size && pack->idx.nr > 1)
		assert_true(pack->file.len <= s->options.max_pack_size);
	packread_open(&read, &s->l.r, pack_bytes(pack, NULL), pack->file.len,
		      NULL);
	assert_int_equal(read.nr, pack->idx.nr);
	for (uint32_t i = 0; i < read.nr; i++) {
		assert_false(s->packed[read.entries[i].object]);
		s->packed[read.entries[i].object] = true;
	}
	packread_release(&read);
	pack_close(pack);
}

static void check(struct sample *s, uint64_t max_pack_size)
{
	struct error err = ERROR_INIT;
	struct newpacks np;

	itemlist_fill(&s->l, 14, false);
	s->options.max_pack_size = max_pack_size;
	memset(s->packed, 0, RANDREPO_MAX);
	if (newpacks_make(&np, &s->l.list, NULL, s->dir, &s->options, &err) <
		    0 ||
	    newpacks_install(&np, s->base, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(np.report.objects, s->l.list.nr);
	assert_true(max_pack_size ? np.nr > 1 : np.nr == 1);
	for (size_t i = 0; i < np.nr; i++)
		check_pack(s, np.packs[i]);
	for (size_t i = 0; i < s->l.list.nr; i++)
		assert_true(s->packed[s->l.object[i]]);
	newpacks_release(&np);
}

static void sizes(void **state)
{
	uint64_t seed = random_seed();
	struct sample s;

	sample_init(&s, &seed);
	check(&s, 0);
	/*
	 * With a limit of 1 byte, every object is too large, so each gets a
	 * pack of its own.
	 */
	check(&s, 1);
	check(&s, 100);
	check(&s, 1000);
	check(&s, 5000);
	s.options.make.reuse_delta = false;
	check(&s, 3000);
	sample_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
