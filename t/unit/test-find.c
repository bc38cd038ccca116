/* SPDX-License-Identifier: MIT */
/* repack/find.c: by bitmap or by walking, and what the receiver has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "repack/find.h"
#include "t/unit/sendrepo.h"

static void open_found(struct sendrepo *s, struct found *f,
		       struct error *warning)
{
	struct error err = ERROR_INIT;

	if (found_open(f, s->odb, &s->request, &s->options, warning, &err) < 0)
		fail_msg("%s", err.msg);
}

/* Which objects were found, by number; each once. */
static void collect(struct sendrepo *s, struct found *f, bool *sent)
{
	struct oid oid;
	uint32_t nr;

	memset(sent, 0, RANDREPO_MAX);
	for (size_t i = 0; i < f->objects.nr; i++) {
		objspace_oid(&oid, &f->walk.space, f->objects.items[i].obj_pos);
		nr = randrepo_find(&s->r, &oid);
		assert_int_equal(f->objects.items[i].type,
				 s->r.objects[nr].type);
		assert_false(sent[nr]);
		sent[nr] = true;
	}
	for (size_t bit = bitset_next(&f->result.packed, 0);
	     bit < f->result.packed.bits;
	     bit = bitset_next(&f->result.packed, bit + 1)) {
		odb_oid(&oid, s->odb,
			pack_bitmap_odb_pos(f->pb, (uint32_t)bit));
		nr = randrepo_find(&s->r, &oid);
		assert_false(sent[nr]);
		sent[nr] = true;
	}
}

/* Whoever is said to have an object has it, and is not sent it. */
static void check_had(struct sendrepo *s, struct found *f, const bool *sent)
{
	struct oid oid;

	for (uint32_t pos = 0; pos < s->odb->packed_nr; pos++) {
		uint32_t nr;

		odb_oid(&oid, s->odb, pos);
		nr = randrepo_find(&s->r, &oid);
		if (found_had(f, pos)) {
			assert_true(s->had[nr]);
			assert_false(sent[nr]);
		}
	}
}

/* Bases are trees and blobs that the receiver has. */
static size_t check_bases(struct sendrepo *s, struct found *f)
{
	struct repack_items items;
	size_t nr = 0;

	repack_items_init(&items, &f->walk.space);
	for (size_t i = 0; i < f->objects.nr; i++)
		assert_int_equal(repack_items_append(
					 &items, f->objects.items[i].obj_pos,
					 f->objects.items[i].type,
					 f->objects.items[i].name_hash, false),
				 0);
	assert_int_equal(found_add_bases(f, &items, NULL), 0);
	for (size_t i = f->objects.nr; i < items.nr; i++) {
		struct oid oid;

		objspace_oid(&oid, &f->walk.space, items.items[i].obj_pos);
		assert_true(items.items[i].is_external);
		assert_true(s->had[randrepo_find(&s->r, &oid)]);
	}
	nr = items.nr - f->objects.nr;
	repack_items_release(&items);
	return nr;
}

static void random_requests(void **state)
{
	uint64_t seed = random_seed();
	bool *sent = calloc(RANDREPO_MAX, sizeof(*sent));
	struct sendrepo s;
	size_t bases = 0;

	assert_non_null(sent);
	sendrepo_init(&s, &seed);
	for (int i = 0; i < 150; i++) {
		struct error warning = ERROR_INIT;
		struct found f;

		sendrepo_request(&s, i % 5 == 4);
		open_found(&s, &f, &warning);
		assert_int_equal(warning.code, 0);
		assert_int_equal(f.pb != NULL,
				 s.request.use_bitmap && !s.request.shallow_nr);
		collect(&s, &f, sent);
		sendrepo_check(&s, sent, f.pb != NULL);
		if (s.request.thin) {
			check_had(&s, &f, sent);
			bases += check_bases(&s, &f);
		}
		found_close(&f);
	}
	assert_true(bases > 100);
	sendrepo_release(&s);
	free(sent);
}

/* An index that is damaged: a warning, and the same answer by walking. */
static void damaged_index(void **state)
{
	uint64_t seed = random_seed();
	bool *sent = calloc(RANDREPO_MAX, sizeof(*sent));
	struct error warning = ERROR_INIT;
	struct pack_bitmap *pb;
	struct buf file = BUF_INIT;
	struct sendrepo s;
	struct found f;

	assert_non_null(sent);
	sendrepo_init(&s, &seed);
	assert_int_equal(pack_bitmap_open(&pb, s.odb, NULL), 1);
	assert_int_equal(buf_append(&file, pb->map.data, pb->map.len), 0);
	file.data[file.len / 2] ^= 4;
	tmprepo_write_len(&s.r.t, pb->path + strlen(s.r.t.dir) + 1, file.data,
			  file.len);
	sendrepo_request(&s, false);
	s.request.use_bitmap = true;
	open_found(&s, &f, &warning);
	assert_null(f.pb);
	assert_int_equal(warning.code, ERR_CORRUPT);
	assert_non_null(strstr(warning.msg, pb->path));
	collect(&s, &f, sent);
	sendrepo_check(&s, sent, false);
	found_close(&f);
	pack_bitmap_close(pb);
	buf_release(&file);
	sendrepo_release(&s);
	free(sent);
}

/*
 * The receiver names a commit that we have too, but not all of its history: it
 * was collected after its ref was gone. That is no reason to send nothing.
 */
static void have_without_history(void **state)
{
	uint64_t seed = random_seed();
	bool *sent = calloc(RANDREPO_MAX, sizeof(*sent));
	uint8_t files[RANDREPO_FILES] = {1, 2};
	struct sendrepo s;
	uint32_t lost, left;

	assert_non_null(sent);
	sendrepo_init(&s, &seed);
	sendrepo_request(&s, false);
	lost = randrepo_commit(&s.r, files, NULL, 0, 1800000000);
	left = randrepo_commit(&s.r, files, &lost, 1, 1800000060);
	randrepo_store_one(&s.r, "objects", left);
	for (int bitmap = 0; bitmap < 2; bitmap++) {
		struct error warning = ERROR_INIT;
		struct found f;

		memset(s.had, 0, RANDREPO_MAX);
		s.haves[0] = s.r.objects[left].oid;
		s.request.have_nr = 1;
		s.request.use_bitmap = bitmap;
		open_found(&s, &f, &warning);
		assert_int_equal(warning.code, 0);
		collect(&s, &f, sent);
		/* Some of what that commit has may be left out. */
		randrepo_reach(&s.r, s.had, left);
		for (uint32_t i = 0; i < s.r.nr; i++)
			assert_true(!s.want[i] || s.had[i] || sent[i]);
		found_close(&f);
	}
	sendrepo_release(&s);
	free(sent);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_requests),
		cmocka_unit_test(damaged_index),
		cmocka_unit_test(have_without_history),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
