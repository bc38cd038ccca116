/* SPDX-License-Identifier: MIT */
/*
 * Tests of packs/newpack.c, which writes the files of a new pack: readers see
 * all files of the pack, or none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "packs/newpack.h"
#include "sys/io.h"
#include "t/unit/itemlist.h"

/* Number of files of each kind in a directory. */
struct census {
	int temporary, pack, idx, rev, bitmap, other;
};

static int census_add(void *ctx, const char *name)
{
	struct census *c = ctx;
	const char *dot = strrchr(name, '.');

	if (!strncmp(name, "tmp_", 4))
		c->temporary++;
	else if (dot && !strcmp(dot, ".pack"))
		c->pack++;
	else if (dot && !strcmp(dot, ".idx"))
		c->idx++;
	else if (dot && !strcmp(dot, ".rev"))
		c->rev++;
	else if (dot && !strcmp(dot, ".bitmap"))
		c->bitmap++;
	else
		c->other++;
	return 0;
}

static struct census census_of(const char *dir)
{
	struct census c = {0};

	assert_int_equal(sys_dir_each(dir, census_add, &c, NULL), 0);
	return c;
}

/* A list of objects, and an empty directory for the pack. */
struct sample {
	struct itemlist l;
	struct newpack_options options;
	char dir[4096], base[4200];
};

static void sample_init(struct sample *s, unsigned keep, uint64_t *seed)
{
	memset(s, 0, sizeof(*s));
	itemlist_init(&s->l, seed);
	itemlist_fill(&s->l, keep, false);
	assert_int_equal(
		newpack_options_load(&s->options, &s->l.r.t.repo, NULL), 0);
	s->options.fsync_pack = s->options.fsync_metadata = SYS_FSYNC_NONE;
	snprintf(s->dir, sizeof(s->dir), "%s/new", s->l.r.t.dir);
	snprintf(s->base, sizeof(s->base), "%s/pack", s->dir);
	assert_int_equal(sys_mkdir_p(s->dir, NULL), 0);
}

static void sample_release(struct sample *s)
{
	itemlist_release(&s->l);
}

/* Open the installed pack as a reader does, and check it. */
static void check_installed(struct sample *s, const struct newpack *np)
{
	char hex[OID_MAX_HEX_LEN + 1], base[4300];
	struct error err = ERROR_INIT;
	struct packread read;
	struct pack *pack;

	oid_to_hex(hex, &np->checksum, HASH_SHA1);
	snprintf(base, sizeof(base), "%s-%s", s->base, hex);
	if (pack_open(&pack, base, HASH_SHA1, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(pack_verify_checksum(pack, NULL), 0);
	assert_int_equal(pack_idx_verify(&pack->idx, NULL), 0);
	assert_int_equal(pack->idx.version, s->options.idx_format.version);
	packread_open(&read, &s->l.r, pack_bytes(pack, NULL), pack->file.len,
		      NULL);
	assert_int_equal(read.nr, s->l.list.nr);
	assert_int_equal(pack->idx.nr, read.nr);
	for (uint32_t i = 0; i < read.nr; i++) {
		const struct oid *oid =
			&s->l.r.objects[read.entries[i].object].oid;
		uint32_t idx_pos;

		/*
		 * np->idx_pos[] is indexed by the position of an object in pack
		 * order.
		 */
		assert_true(pack_idx_find(&pack->idx, oid->bytes, &idx_pos));
		assert_int_equal(np->idx_pos[i], idx_pos);
		assert_int_equal(pack_idx_offset(&pack->idx, idx_pos),
				 read.entries[i].off);
		assert_int_equal(pack_rev_idx_pos(pack_get_rev(pack, NULL), i),
				 idx_pos);
	}
	assert_int_equal(pack->rev_file.table != NULL, s->options.write_rev);
	packread_release(&read);
	pack_close(pack);
}

static void all_files(void **state)
{
	uint64_t seed = random_seed();

	for (int i = 0; i < 6; i++) {
		struct newpack np;
		struct sample s;
		struct census c;

		sample_init(&s, i < 4 ? 16 : 5, &seed);
		s.options.write_rev = i & 1;
		s.options.idx_format.version = i & 2 ? 2 : 1;
		s.options.make.reuse_delta = i < 3;
		assert_int_equal(
			newpack_make(&np, &s.l.list, s.dir, &s.options, NULL),
			0);
		assert_int_equal(newpack_index(&np, s.dir, NULL), 0);
		/* Before a pack is installed, readers do not see it. */
		c = census_of(s.dir);
		assert_int_equal(c.temporary, 2 + (i & 1));
		assert_int_equal(c.pack + c.idx + c.rev + c.other, 0);
		assert_int_equal(newpack_install(&np, s.base, NULL), 0);
		c = census_of(s.dir);
		assert_int_equal(c.temporary + c.other + c.bitmap, 0);
		assert_int_equal(c.pack + c.idx, 2);
		assert_int_equal(c.rev, i & 1);
		check_installed(&s, &np);
		newpack_release(&np);
		sample_release(&s);
	}
}

/* The same pack is made a second time. It replaces the files of the first. */
static void twice(void **state)
{
	uint64_t seed = random_seed();
	struct sample s;

	sample_init(&s, 16, &seed);
	for (int i = 0; i < 2; i++) {
		struct newpack np;

		itemlist_fill(&s.l, 16, false);
		assert_int_equal(
			newpack_make(&np, &s.l.list, s.dir, &s.options, NULL),
			0);
		assert_int_equal(newpack_index(&np, s.dir, NULL), 0);
		assert_int_equal(newpack_install(&np, s.base, NULL), 0);
		check_installed(&s, &np);
		newpack_release(&np);
		assert_int_equal(census_of(s.dir).pack, 1);
	}
	sample_release(&s);
}

/*
 * A pack is released before it is installed. No file of it may remain. In the
 * second round, the pack already has an index.
 */
static void given_up(void **state)
{
	uint64_t seed = random_seed();
	struct sample s;

	sample_init(&s, 8, &seed);
	for (int steps = 1; steps < 3; steps++) {
		struct newpack np;

		assert_int_equal(
			newpack_make(&np, &s.l.list, s.dir, &s.options, NULL),
			0);
		if (steps > 1)
			assert_int_equal(newpack_index(&np, s.dir, NULL), 0);
		assert_int_equal(census_of(s.dir).temporary, steps > 1 ? 3 : 1);
		newpack_release(&np);
		assert_int_equal(census_of(s.dir).temporary, 0);
	}
	sample_release(&s);
}

static void no_directory(void **state)
{
	uint64_t seed = random_seed();
	struct error err = ERROR_INIT;
	struct newpack np;
	struct sample s;
	char nowhere[sizeof(s.dir) + 16];

	sample_init(&s, 8, &seed);
	snprintf(nowhere, sizeof(nowhere), "%s/nowhere", s.dir);
	assert_int_equal(
		newpack_make(&np, &s.l.list, nowhere, &s.options, &err),
		ERR_IO);
	assert_non_null(strstr(err.msg, nowhere));
	newpack_release(&np);
	assert_int_equal(newpack_make(&np, &s.l.list, s.dir, &s.options, NULL),
			 0);
	assert_int_equal(newpack_index(&np, s.dir, NULL), 0);
	strcat(nowhere, "/pack");
	assert_int_equal(newpack_install(&np, nowhere, &err), ERR_IO);
	newpack_release(&np);
	assert_int_equal(census_of(s.dir).temporary, 0);
	sample_release(&s);
}

static void configuration(void **state)
{
	static const char text[] = "[pack]\nwriteReverseIndex = false\n"
				   "writeBitmapHashCache = false\n"
				   "writeBitmapLookupTable = false\n"
				   "indexVersion = 1\nwindow = 3\n";
	static const char *const bad[] = {
		"[pack]\nindexVersion = 3\n",
		"[pack]\nindexVersion = x\n",
		"[pack]\nwriteReverseIndex = perhaps\n",
		"[pack]\ncompression = 17\n",
	};
	struct newpack_options o;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	assert_int_equal(newpack_options_load(&o, &t.repo, NULL), 0);
	assert_true(o.write_rev && o.hash_cache && o.ofs_delta);
	assert_int_equal(o.idx_format.version, 2);
	assert_int_equal(o.make.window, 10);
	assert_int_equal(config_parse(&t.repo.config, text, strlen(text),
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	assert_int_equal(newpack_options_load(&o, &t.repo, NULL), 0);
	assert_false(o.write_rev || o.hash_cache || o.lookup_table);
	assert_int_equal(o.idx_format.version, 1);
	assert_int_equal(o.make.window, 3);
	config_release(&t.repo.config);
	for (size_t i = 0; i < ARRAY_NR(bad); i++) {
		assert_int_equal(config_parse(&t.repo.config, bad[i],
					      strlen(bad[i]), CONFIG_LOCAL,
					      NULL, NULL, NULL),
				 0);
		assert_int_equal(newpack_options_load(&o, &t.repo, NULL),
				 ERR_INVALID);
		config_release(&t.repo.config);
	}
	tmprepo_release(&t);
}

/*
 * A program that only writes a bitmap index of existing packs ignores most keys
 * that begin with "pack.". It reads pack.threads, and the keys for bitmap
 * indexes. So an invalid value of pack.window is no error.
 */
static void bitmap_options(void **state)
{
	static const char text[] = "[pack]\nthreads = 3\nwindow = x\n"
				   "writeBitmapHashCache = no\n";
	static const char bad[] = "[pack]\nwriteBitmapLookupTable = x\n";
	struct newpack_options o;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	assert_int_equal(config_parse(&t.repo.config, text, strlen(text),
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	assert_int_equal(newpack_options_load(&o, &t.repo, NULL), ERR_INVALID);
	assert_int_equal(newpack_bitmap_options_load(&o, &t.repo, NULL), 0);
	assert_int_equal(o.make.threads, 3);
	assert_true(o.lookup_table && !o.hash_cache);
	config_release(&t.repo.config);
	assert_int_equal(config_parse(&t.repo.config, bad, strlen(bad),
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	assert_int_equal(newpack_bitmap_options_load(&o, &t.repo, NULL),
			 ERR_INVALID);
	config_release(&t.repo.config);
	tmprepo_release(&t);
}

/* The default memory limit for bitmaps grows with the number of objects. */
static void bitmap_memory(void **state)
{
	struct odb few = {.packed_nr = 1000}, many = {.packed_nr = 1 << 24};
	static const char text[] = "[pack]\nbitmapBuildMemory = 100m\n";
	static const char none[] = "[pack]\nbitmapBuildMemory = 0\n";
	struct newpack_options o;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	assert_int_equal(newpack_options_load(&o, &t.repo, NULL), 0);
	assert_int_equal(newpack_bitmap_memory(&o, &few), 64 << 20);
	assert_int_equal(newpack_bitmap_memory(&o, &many), 64 << 24);
	assert_int_equal(config_parse(&t.repo.config, text, strlen(text),
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	assert_int_equal(newpack_options_load(&o, &t.repo, NULL), 0);
	assert_int_equal(newpack_bitmap_memory(&o, &many), 100 << 20);
	config_release(&t.repo.config);
	assert_int_equal(config_parse(&t.repo.config, none, strlen(none),
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	assert_int_equal(newpack_options_load(&o, &t.repo, NULL), 0);
	assert_int_equal(newpack_bitmap_memory(&o, &few), 0);
	config_release(&t.repo.config);
	tmprepo_release(&t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_files),
		cmocka_unit_test(twice),
		cmocka_unit_test(given_up),
		cmocka_unit_test(no_directory),
		cmocka_unit_test(configuration),
		cmocka_unit_test(bitmap_options),
		cmocka_unit_test(bitmap_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
