/* SPDX-License-Identifier: MIT */
/* repack/find.c: bitmaps and walks find the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "repack/find.h"
#include "t/unit/bitmaprepo.h"

struct env {
	struct randrepo r;
	struct odb *odb;
	struct repack_send_options options;
	struct oid wants[5], haves[5];
	struct repack_request request;
	bool *want, *had, *found; /* by number */
};

/* A bitmapped pack, a further pack, and loose objects. */
static void env_init(struct env *e, uint64_t *seed)
{
	memset(e, 0, sizeof(*e));
	randrepo_init(&e->r, HASH_SHA1, seed);
	randrepo_history(&e->r, 60);
	randrepo_store_pack(&e->r);
	randrepo_all_refs(&e->r);
	bitmaprepo_repack(&e->r, true, true);
	randrepo_history(&e->r, 10);
	randrepo_store_pack(&e->r);
	randrepo_history(&e->r, 5);
	randrepo_store(&e->r);
	e->want = calloc(RANDREPO_MAX, sizeof(bool));
	e->had = calloc(RANDREPO_MAX, sizeof(bool));
	e->found = calloc(RANDREPO_MAX, sizeof(bool));
	assert_true(e->want && e->had && e->found);
	assert_int_equal(
		repack_send_options_load(&e->options, &e->r.t.repo, NULL), 0);
	e->options.threads = 1;
	e->options.exact = true;
	assert_int_equal(odb_open(&e->odb, &e->r.t.repo, NULL, NULL), 0);
}

static void env_release(struct env *e)
{
	odb_close(e->odb);
	free(e->want);
	free(e->had);
	free(e->found);
	randrepo_release(&e->r);
}

static size_t random_tips(struct env *e, struct oid *tips, bool *set,
			  uint32_t min)
{
	size_t nr = min + randrepo_below(&e->r, 4);

	memset(set, 0, RANDREPO_MAX);
	for (size_t i = 0; i < nr; i++) {
		uint32_t from =
			e->r.commits[randrepo_below(&e->r, e->r.commit_nr)];

		if (!randrepo_below(&e->r, 4))
			from = randrepo_below(&e->r, e->r.nr);
		tips[i] = e->r.objects[from].oid;
		randrepo_reach(&e->r, set, from);
	}
	return nr;
}

static void ask(struct env *e, uint32_t max_haves)
{
	e->request = (struct repack_request){
		.wants = e->wants,
		.haves = e->haves,
	};
	e->request.want_nr = random_tips(e, e->wants, e->want, 1);
	e->request.have_nr = random_tips(e, e->haves, e->had, 0);
	if (e->request.have_nr > max_haves) {
		e->request.have_nr = 0;
		memset(e->had, 0, RANDREPO_MAX);
	}
}

static void open_found(struct env *e, struct found *f)
{
	struct error warning = ERROR_INIT, err = ERROR_INIT;

	if (found_open(f, e->odb, &e->request, &e->options, &warning, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(warning.code, 0);
}

static void note(struct env *e, const struct oid *oid)
{
	uint32_t nr = randrepo_find(&e->r, oid);

	assert_false(e->found[nr]); /* each once */
	e->found[nr] = true;
}

struct noting {
	struct env *e;
	struct found *f;
	size_t nr;
};

static int note_item(void *ctx, const struct walk_item *item)
{
	struct noting *n = ctx;
	struct oid oid;

	objspace_oid(&oid, &n->f->walk.space, item->obj_pos);
	note(n->e, &oid);
	assert_int_equal(n->e->r.objects[randrepo_find(&n->e->r, &oid)].type,
			 item->type);
	n->nr++;
	return 0;
}

static void note_all(struct env *e, struct found *f)
{
	struct noting n = {.e = e, .f = f};

	memset(e->found, 0, RANDREPO_MAX);
	assert_int_equal(found_each_packed(f, &f->packed, note_item, &n, NULL),
			 0);
	assert_int_equal(n.nr, bitset_count(&f->packed));
	for (size_t i = 0; i < f->objects.nr; i++)
		note_item(&n, &f->objects.items[i]);
}

/* By bitmap exactly the answer; a walk may send more of what is wanted. */
static void check(struct env *e, bool exact)
{
	for (uint32_t i = 0; i < e->r.nr; i++) {
		if (e->want[i] && !e->had[i])
			assert_true(e->found[i]);
		else if (e->found[i])
			assert_true(e->want[i] && !exact);
	}
}

/* The receiver is never taken to have what it has not. Returns how much. */
static uint32_t check_had(struct env *e, const struct found *f)
{
	uint32_t known = 0;

	for (uint32_t at = 0; at < e->odb->packed_nr; at++) {
		struct oid oid;

		odb_oid(&oid, e->odb, at);
		if (!found_had(f, at))
			continue;
		assert_true(e->had[randrepo_find(&e->r, &oid)]);
		known++;
	}
	return known;
}

static void bitmaps_and_walks_agree(void **state)
{
	uint64_t seed = random_seed();
	uint32_t known = 0;
	struct found f;
	struct env e;

	env_init(&e, &seed);
	for (int i = 0; i < 60; i++) {
		ask(&e, i % 3 ? 4 : 0);
		e.request.use_bitmap = true;
		open_found(&e, &f);
		assert_non_null(f.pb);
		note_all(&e, &f);
		check(&e, true);
		known += check_had(&e, &f);
		found_close(&f);
		e.request.use_bitmap = false;
		e.request.thin = i % 2;
		open_found(&e, &f);
		assert_null(f.pb);
		note_all(&e, &f);
		check(&e, !e.request.have_nr);
		known += check_had(&e, &f);
		found_close(&f);
	}
	assert_true(known > 100);
	env_release(&e);
}

/* The list of what is not in `packed`, all to be deflated anew. */
static void list_items(struct repack_items *items, struct found *f,
		       uint64_t size)
{
	repack_items_init(items, &f->walk.space);
	for (size_t i = 0; i < f->objects.nr; i++) {
		assert_int_equal(repack_items_append(
					 items, f->objects.items[i].obj_pos,
					 f->objects.items[i].type,
					 f->objects.items[i].name_hash, false),
				 0);
		items->items[i].size = size;
	}
}

/* Bases are what the receiver has, of the kinds that are deflated anew. */
static uint32_t check_bases(struct env *e, struct found *f)
{
	struct error err = ERROR_INIT;
	struct repack_items items;
	size_t own;

	list_items(&items, f, 1 << 16);
	own = items.nr;
	if (found_add_bases(f, &items, &err) < 0)
		fail_msg("%s", err.msg);
	for (size_t i = own; i < items.nr; i++) {
		const struct repack_item *item = &items.items[i];
		struct oid oid;
		uint32_t nr;
		size_t k = 0;

		objspace_oid(&oid, &f->walk.space, item->obj_pos);
		nr = randrepo_find(&e->r, &oid);
		assert_true(item->is_external && e->had[nr]);
		assert_int_equal(item->type, e->r.objects[nr].type);
		assert_int_equal(item->size, e->r.objects[nr].data.len);
		while (k < own && (items.items[k].type != item->type ||
				   items.items[k].name_hash != item->name_hash))
			k++;
		assert_true(k < own);
	}
	own = items.nr - own;
	repack_items_release(&items);
	return (uint32_t)own;
}

static void bases_of_thin_packs(void **state)
{
	uint64_t seed = random_seed();
	uint32_t bases[2] = {0};
	struct found f;
	struct env e;

	env_init(&e, &seed);
	for (int i = 0; i < 60; i++) {
		ask(&e, 4);
		e.request.thin = true;
		e.request.use_bitmap = i % 2;
		open_found(&e, &f);
		bases[i % 2] += check_bases(&e, &f);
		found_close(&f);
	}
	assert_true(bases[0] > 0 && bases[1] > 0);
	env_release(&e);
}

/* A few bytes are deflated without their bases being looked for. */
static void few_bytes_get_no_bases(void **state)
{
	uint64_t seed = random_seed();
	struct found f;
	struct env e;

	env_init(&e, &seed);
	for (int i = 0; i < 20; i++) {
		struct repack_items items;
		size_t own;

		ask(&e, 4);
		e.request.thin = e.request.use_bitmap = true;
		open_found(&e, &f);
		list_items(&items, &f, 1);
		own = items.nr;
		assert_int_equal(found_add_bases(&f, &items, NULL), 0);
		assert_int_equal(items.nr, own);
		repack_items_release(&items);
		found_close(&f);
	}
	env_release(&e);
}

/*
 * What is withheld is asked for no less than before, and what it is a version
 * of is with the receiver.
 */
static void versions_are_withheld(void **state)
{
	uint64_t seed = random_seed();
	size_t withheld = 0;
	struct found f;
	struct env e;

	env_init(&e, &seed);
	for (int i = 0; i < 80; i++) {
		bool *before = calloc(RANDREPO_MAX, 1);

		assert_non_null(before);
		ask(&e, 4);
		e.request.thin = true;
		e.request.use_bitmap = i % 2;
		open_found(&e, &f);
		note_all(&e, &f);
		memcpy(before, e.found, RANDREPO_MAX);
		assert_int_equal(found_withhold_versions(&f, NULL), 0);
		note_all(&e, &f);
		assert_memory_equal(before, e.found, RANDREPO_MAX);
		for (size_t k = 0; k < f.version_nr; k++) {
			const struct walk_item *item = &f.versions[k].old;
			struct oid oid;

			objspace_oid(&oid, &f.walk.space, item->obj_pos);
			assert_true(e.had[randrepo_find(&e.r, &oid)]);
		}
		withheld += f.version_nr;
		check_bases(&e, &f);
		found_close(&f);
		free(before);
	}
	assert_true(withheld > 20);
	env_release(&e);
}

/* Where the bitmap index is, below the git directory. */
static char *index_name(const struct env *e, struct buf *bytes)
{
	struct pack_bitmap *pb;
	char *name;

	assert_int_equal(pack_bitmap_open(&pb, e->odb, NULL), 1);
	name = strdup(pb->path + strlen(e->r.t.dir) + 1);
	assert_non_null(name);
	assert_int_equal(buf_append(bytes, pb->map.data, pb->map.len), 0);
	pack_bitmap_close(pb);
	return name;
}

/* The answer is right; that the index is not is the operator's to know. */
static void a_broken_index_is_set_aside(void **state)
{
	uint64_t seed = random_seed();
	struct buf bytes = BUF_INIT;
	struct found f;
	struct env e;
	char *name;

	env_init(&e, &seed);
	name = index_name(&e, &bytes);
	for (size_t at = 0; at < bytes.len; at += 1 + bytes.len / 20) {
		struct error warning = ERROR_INIT, err = ERROR_INIT;

		bytes.data[at] ^= 0x40;
		tmprepo_write_len(&e.r.t, name, bytes.data, bytes.len);
		bytes.data[at] ^= 0x40;
		ask(&e, 4);
		e.request.use_bitmap = true;
		if (found_open(&f, e.odb, &e.request, &e.options, &warning,
			       &err) < 0)
			fail_msg("%s", err.msg);
		assert_null(f.pb);
		assert_int_not_equal(warning.code, 0);
		assert_non_null(strstr(warning.msg, ".bitmap"));
		note_all(&e, &f);
		check(&e, false);
		found_close(&f);
	}
	buf_release(&bytes);
	free(name);
	env_release(&e);
}

/* Bitmaps do not know where history was cut. */
static void shallow_requests_walk(void **state)
{
	uint64_t seed = random_seed();
	struct found f;
	struct env e;

	env_init(&e, &seed);
	e.wants[0] = e.r.objects[e.r.commits[e.r.commit_nr - 1]].oid;
	e.request = (struct repack_request){
		.wants = e.wants,
		.want_nr = 1,
		.shallow = e.wants,
		.shallow_nr = 1,
		.use_bitmap = true,
	};
	open_found(&e, &f);
	assert_null(f.pb);
	note_all(&e, &f);
	for (uint32_t i = 0; i + 1 < e.r.commit_nr; i++)
		assert_false(e.found[e.r.commits[i]]);
	assert_true(e.found[e.r.commits[e.r.commit_nr - 1]]);
	found_close(&f);
	env_release(&e);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(bitmaps_and_walks_agree),
		cmocka_unit_test(bases_of_thin_packs),
		cmocka_unit_test(few_bytes_get_no_bases),
		cmocka_unit_test(versions_are_withheld),
		cmocka_unit_test(a_broken_index_is_set_aside),
		cmocka_unit_test(shallow_requests_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
