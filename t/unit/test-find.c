/* SPDX-License-Identifier: MIT */
/*
 * Tests of packing/find.c, which finds the objects to send. They prove that the
 * objects are the same with and without a bitmap index.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "object/parse.h"
#include "packing/find-parts.h"
/* One test needs a pack of more than PACK_REV_SMALL_NR objects. */
#define PACKFILE_MAX 8448
#include "t/unit/bitmaprepo.h"

struct env {
	struct randrepo r;
	struct odb *odb;
	struct packing_send_options options;
	struct oid wants[5], haves[5];
	struct packing_request request;
	bool *want, *uninteresting, *found; /* indexed by object number */
};

/*
 * Make a repository that has a pack with a bitmap index, another pack, and
 * loose objects. The other pack has copies of some objects of the first one.
 */
static void env_init(struct env *e, uint64_t *seed)
{
	memset(e, 0, sizeof(*e));
	randrepo_init(&e->r, HASH_SHA1, seed);
	randrepo_history(&e->r, 60);
	randrepo_store_pack(&e->r);
	randrepo_all_refs(&e->r);
	bitmaprepo_repack(&e->r, true, true);
	for (uint32_t i = 0; i < e->r.nr; i += 8)
		e->r.objects[i].is_stored = false;
	randrepo_history(&e->r, 10);
	randrepo_store_pack(&e->r);
	randrepo_history(&e->r, 5);
	randrepo_store(&e->r);
	e->want = calloc(RANDREPO_MAX, sizeof(bool));
	e->uninteresting = calloc(RANDREPO_MAX, sizeof(bool));
	e->found = calloc(RANDREPO_MAX, sizeof(bool));
	assert_true(e->want && e->uninteresting && e->found);
	assert_int_equal(
		packing_send_options_load(&e->options, &e->r.t.repo, NULL), 0);
	e->options.threads = 1;
	e->options.exact = true;
	assert_int_equal(odb_open(&e->odb, &e->r.t.repo, NULL, NULL), 0);
}

static void env_release(struct env *e)
{
	odb_close(e->odb);
	free(e->want);
	free(e->uninteresting);
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
	e->request = (struct packing_request){
		.wants = e->wants,
		.haves = e->haves,
	};
	e->request.want_nr = random_tips(e, e->wants, e->want, 1);
	e->request.have_nr = random_tips(e, e->haves, e->uninteresting, 0);
	if (e->request.have_nr > max_haves) {
		e->request.have_nr = 0;
		memset(e->uninteresting, 0, RANDREPO_MAX);
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

	/* Each object must be found only once, or it would be sent twice. */
	assert_false(e->found[nr]);
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

/*
 * Check the found objects: all objects that the wants reach and the haves do
 * not reach. If `exact` is true, no other object may be found. If it is false,
 * objects that both the wants and the haves reach may also be found.
 */
static void check(struct env *e, bool exact)
{
	for (uint32_t i = 0; i < e->r.nr; i++) {
		if (e->want[i] && !e->uninteresting[i])
			assert_true(e->found[i]);
		else if (e->found[i])
			assert_true(e->want[i] && !exact);
	}
}

/*
 * Check that the receiver has each object that is listed as uninteresting. All
 * packed copies of an object must be listed, or none. Returns the number of
 * listed copies.
 */
static uint32_t check_uninteresting(struct env *e, const struct found *f)
{
	uint32_t known = 0;

	for (uint32_t at = 0; at < e->odb->packed_nr; at++) {
		struct oid oid;
		uint32_t first;

		odb_oid(&oid, e->odb, at);
		assert_true(odb_find_raw(e->odb, oid.bytes, &first));
		assert_int_equal(found_is_uninteresting(f, at),
				 found_is_uninteresting(f, first));
		if (!found_is_uninteresting(f, at))
			continue;
		assert_true(e->uninteresting[randrepo_find(&e->r, &oid)]);
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
		known += check_uninteresting(&e, &f);
		found_close(&f);
		e.request.use_bitmap = false;
		e.request.thin = i % 2;
		open_found(&e, &f);
		assert_null(f.pb);
		note_all(&e, &f);
		check(&e, !e.request.have_nr);
		known += check_uninteresting(&e, &f);
		found_close(&f);
	}
	assert_true(known > 100);
	env_release(&e);
}

/*
 * List the found objects as items of a pack. Each item will be compressed
 * whole, and is given the size `size`.
 */
static void list_items(struct packing_items *items, struct found *f,
		       uint64_t size)
{
	packing_items_init(items, &f->walk.space);
	for (size_t i = 0; i < f->objects.nr; i++) {
		assert_int_equal(packing_items_append(
					 items, f->objects.items[i].obj_pos,
					 f->objects.items[i].type,
					 f->objects.items[i].name_hash, false),
				 0);
		items->items[i].size = size;
	}
}

/*
 * The list of items has the objects to send. found_add_bases() appends delta
 * bases to the list. Check that the receiver has each base. Check also that an
 * object to send has the same type and name hash as the base. Returns the
 * number of bases.
 */
static uint32_t check_bases(struct env *e, struct found *f)
{
	struct error err = ERROR_INIT;
	struct packing_items items;
	size_t own;

	list_items(&items, f, 1 << 16);
	own = items.nr;
	if (found_add_bases(f, &items, &err) < 0)
		fail_msg("%s", err.msg);
	for (size_t i = own; i < items.nr; i++) {
		const struct packing_item *item = &items.items[i];
		struct oid oid;
		uint32_t nr;
		size_t k = 0;

		objspace_oid(&oid, &f->walk.space, item->obj_pos);
		nr = randrepo_find(&e->r, &oid);
		assert_true(item->is_external && e->uninteresting[nr]);
		assert_int_equal(item->type, e->r.objects[nr].type);
		assert_int_equal(item->size, e->r.objects[nr].data.len);
		while (k < own && (items.items[k].type != item->type ||
				   items.items[k].name_hash != item->name_hash))
			k++;
		assert_true(k < own);
	}
	own = items.nr - own;
	packing_items_release(&items);
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

/*
 * If only few bytes must be compressed, no delta bases are added to the list of
 * objects.
 */
static void few_bytes_get_no_bases(void **state)
{
	uint64_t seed = random_seed();
	struct found f;
	struct env e;

	env_init(&e, &seed);
	for (int i = 0; i < 20; i++) {
		struct packing_items items;
		size_t own;

		ask(&e, 4);
		e.request.thin = e.request.use_bitmap = true;
		open_found(&e, &f);
		list_items(&items, &f, 1);
		own = items.nr;
		assert_int_equal(found_add_bases(&f, &items, NULL), 0);
		assert_int_equal(items.nr, own);
		packing_items_release(&items);
		found_close(&f);
	}
	env_release(&e);
}

static bool is_in_packed(void *ctx, uint32_t odb_pos)
{
	const struct found *f = ctx;
	uint32_t bit;

	return found_bit(f, odb_pos, &bit) && bitset_get(&f->packed, bit);
}

/*
 * The list of items has the objects to write. found_add_sent() appends delta
 * bases to the list. Each base must be an object that the receiver gets as
 * copied bytes of a stored pack. Also, an object to write must have the same
 * type and name hash as the base. Returns the number of bases.
 */
static size_t check_sent_bases(struct env *e, struct found *f)
{
	struct packing_items items;
	size_t own, bases;

	list_items(&items, f, 1 << 16);
	own = items.nr;
	assert_int_equal(found_add_sent(f, &items, is_in_packed, f, NULL), 0);
	bases = items.nr - own;
	for (size_t i = own; i < items.nr; i++) {
		const struct packing_item *item = &items.items[i];
		size_t k = 0;

		assert_true(item->is_external &&
			    is_in_packed(f, item->obj_pos));
		while (k < own && (items.items[k].type != item->type ||
				   items.items[k].name_hash != item->name_hash))
			k++;
		assert_true(k < own);
	}
	packing_items_release(&items);
	return bases;
}

/*
 * A clone gets some objects as copies of stored bytes, before others are
 * compressed. The copied objects of the newest trees become delta bases.
 */
static void bases_that_are_sent(void **state)
{
	uint64_t seed = random_seed();
	size_t bases = 0;
	struct found f;
	struct env e;

	env_init(&e, &seed);
	for (int i = 0; i < 20; i++) {
		ask(&e, 0);
		open_found(&e, &f);
		bases += check_sent_bases(&e, &f);
		/*
		 * If only one commit is sent, no other version of its files is
		 * sent. So no delta bases are added.
		 */
		f.commits_walked = 1;
		assert_int_equal(check_sent_bases(&e, &f), 0);
		found_close(&f);
	}
	assert_true(bases > 0);
	env_release(&e);
}

/* Write a .rev file in which the first two objects are exchanged. */
static void write_wrong_rev(const struct packfile *p, struct pack *pack)
{
	const struct pack_rev *rev = pack_get_rev(pack, NULL);
	struct buf file = BUF_INIT;
	char first[4];

	assert_int_equal(pack_rev_write(&file, rev->owned, p->nr,
					&pack->checksum, HASH_SHA1, NULL),
			 0);
	/*
	 * The header of a .rev file has 12 bytes. Exchange the first two
	 * positions.
	 */
	memcpy(first, file.data + 12, 4);
	memcpy(file.data + 12, file.data + 16, 4);
	memcpy(file.data + 16, first, 4);
	packfile_save_file(p, ".rev", file.data, file.len);
	buf_release(&file);
}

/*
 * If a .rev file is damaged and many objects are looked up, the damage is
 * noticed, and the right order is computed.
 */
static void wrong_order(void **state)
{
	struct packfile *p = malloc(sizeof(*p));
	const struct pack_rev *rev;
	struct pack *pack;

	assert_non_null(p);
	packfile_init(p, HASH_SHA1);
	for (unsigned i = 0; i <= PACK_REV_SMALL_NR; i++)
		packfile_add(p, OBJ_BLOB, &i, sizeof(i));
	pack = packfile_open(p);
	write_wrong_rev(p, pack);
	pack_close(pack);
	assert_int_equal(pack_open(&pack, p->base, HASH_SHA1, NULL), 0);
	rev = find_order(pack, p->nr, NULL);
	assert_non_null(rev);
	for (uint32_t i = 0; i < p->nr; i++) {
		const uint8_t *id = pack_idx_oid(&pack->idx,
						 pack_rev_idx_pos(rev, i));

		assert_memory_equal(id, p->oids[i].bytes, 20);
	}
	pack_close(pack);
	packfile_release(p);
	free(p);
}

/*
 * The repository has one pack. If all objects of the pack are sent, its stored
 * bytes are sent without change.
 */
static void whole_packs(void **state)
{
	uint64_t seed = random_seed();
	struct env e = {.options = {.threads = 1}};
	const struct pack *pack;
	struct found f;

	randrepo_init(&e.r, HASH_SHA1, &seed);
	e.wants[0] = e.r.objects[randrepo_blob(&e.r, 1)].oid;
	e.wants[1] = e.r.objects[randrepo_blob(&e.r, 2)].oid;
	randrepo_store_pack(&e.r);
	assert_int_equal(odb_open(&e.odb, &e.r.t.repo, NULL, NULL), 0);
	pack = e.odb->packs[0].pack;
	for (size_t nr = 1; nr <= 2; nr++) {
		e.request = (struct packing_request){.wants = e.wants,
						     .want_nr = nr};
		open_found(&e, &f);
		assert_int_equal(bitset_count(&f.packed), nr);
		assert_int_equal(found_look_for_stored(&f, true, NULL), 0);
		assert_int_equal(f.content != NULL, nr == 2);
		if (f.content) {
			assert_int_equal(f.content->run_nr, 1);
			assert_int_equal(f.content->object_nr, 2);
			assert_int_equal(prepared_bytes(f.content),
					 pack->file.len - 12 - 20);
			assert_ptr_equal(f.content_pack->pack, pack);
			assert_true(bitset_is_empty(&f.packed));
		}
		found_close(&f);
	}
	odb_close(e.odb);
	randrepo_release(&e.r);
}

/*
 * found_withhold_versions() moves objects from the set f->packed to the list
 * f->objects. Objects of the set are copied as the packs store them. Objects of
 * the list can be sent as deltas against old versions. Check that the set and
 * the list together do not change, and that the receiver has each old version.
 * Returns the number of objects with an old version. Adds to *listed how many
 * of these objects were in f->objects before the call.
 */
static size_t check_withheld(struct env *e, struct found *f, size_t *listed)
{
	bool *before = calloc(RANDREPO_MAX, 1);
	bool *has_version = calloc(RANDREPO_MAX, 1);
	size_t list_nr = f->objects.nr;
	struct error warning = ERROR_INIT;

	assert_true(before && has_version);
	note_all(e, f);
	memcpy(before, e->found, RANDREPO_MAX);
	assert_int_equal(found_withhold_versions(f, &warning, NULL), 0);
	note_all(e, f);
	assert_memory_equal(before, e->found, RANDREPO_MAX);
	for (size_t k = 0; k < f->version_nr; k++) {
		const struct walk_item *item = &f->versions[k].old;
		size_t object = f->versions[k].object;
		struct oid oid;

		assert_int_equal(f->objects.items[object].type, item->type);
		assert_false(has_version[object]);
		has_version[object] = true;
		*listed += object < list_nr;
		objspace_oid(&oid, &f->walk.space, item->obj_pos);
		assert_true(e->uninteresting[randrepo_find(&e->r, &oid)]);
	}
	free(before);
	free(has_version);
	return f->version_nr;
}

/*
 * The objects to send are in the set f->packed, whose objects can be copied as
 * the packs store them, or in the list f->objects. found_withhold_versions()
 * chooses objects that are sent as deltas against old versions instead. These
 * deltas are not those of the pack, so the chosen objects must not be copied:
 * they move from the set to the list.
 *
 * The set and the list together must have the same objects as before, and the
 * receiver must have each old version.
 */
static void versions_are_withheld(void **state)
{
	uint64_t seed = random_seed();
	size_t withheld = 0, listed = 0;
	struct found f;
	struct env e;

	env_init(&e, &seed);
	for (int i = 0; i < 80; i++) {
		ask(&e, 4);
		e.request.thin = e.request.knows_shallow = true;
		e.request.use_bitmap = i % 2;
		open_found(&e, &f);
		withheld += check_withheld(&e, &f, &listed);
		check_bases(&e, &f);
		found_close(&f);
	}
	assert_true(withheld > 20 + listed && listed > 20);
	env_release(&e);
}

/* The numbers of used bitmaps and pseudo-merges are reported. */
static void used_bitmaps(void **state)
{
	uint64_t seed = random_seed();
	uint32_t bitmaps = 0, pseudo_merges = 0;
	struct found f;
	struct env e;

	env_init(&e, &seed);
	odb_close(e.odb);
	bitmaprepo_thin_out(&e.r, 1, 8, true, true);
	assert_int_equal(odb_open(&e.odb, &e.r.t.repo, NULL, NULL), 0);
	for (int i = 0; i < 60; i++) {
		ask(&e, 4);
		e.request.use_bitmap = true;
		open_found(&e, &f);
		note_all(&e, &f);
		check(&e, true);
		bitmaps += f.bitmaps_used;
		pseudo_merges += f.pseudo_merges_used;
		found_close(&f);
	}
	assert_true(bitmaps > 0 && pseudo_merges > 0);
	env_release(&e);
}

/*
 * If the bitmap index is damaged, the found objects are still right. A warning
 * names the problem.
 */
static void a_broken_index_is_set_aside(void **state)
{
	uint64_t seed = random_seed();
	struct buf bytes = BUF_INIT;
	struct found f;
	struct env e;
	char *name;

	env_init(&e, &seed);
	name = bitmaprepo_read_index(&e.r, e.odb, &bytes);
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
		assert_int_equal(f.bitmaps_used, 0);
		assert_int_equal(f.pseudo_merges_used, 0);
		note_all(&e, &f);
		check(&e, false);
		found_close(&f);
	}
	buf_release(&bytes);
	free(name);
	env_release(&e);
}

/*
 * Make some commits shallow, in the request and in the model of the repository.
 * Saves the old value of ref_nr of all objects in ref_nr[]. Returns the number
 * of shallow commits.
 */
static size_t make_shallow(struct env *e, struct oid *shallow, uint32_t *ref_nr)
{
	size_t nr = 1 + randrepo_below(&e->r, 5);

	for (uint32_t i = 0; i < e->r.nr; i++)
		ref_nr[i] = e->r.objects[i].ref_nr;
	for (size_t i = 0; i < nr; i++) {
		uint32_t back = 1 + randrepo_below(&e->r, 12);
		struct randrepo_object *o =
			&e->r.objects[e->r.commits[e->r.commit_nr - back]];

		shallow[i] = o->oid;
		/*
		 * In the model, a shallow commit keeps its tree, which is its
		 * first reference, and loses its parents.
		 */
		o->ref_nr = 1;
	}
	return nr;
}

/*
 * Count the sent trees and blobs that the receiver already has. A small history
 * has few such objects: files that were copied or changed back.
 */
static size_t count_again(const struct env *e, size_t *sent)
{
	size_t again = 0;

	for (uint32_t i = 0; i < e->r.nr; i++) {
		if (e->r.objects[i].type != OBJ_TREE &&
		    e->r.objects[i].type != OBJ_BLOB)
			continue;
		*sent += e->found[i];
		again += e->found[i] && e->uninteresting[i];
	}
	return again;
}

/*
 * A request of a shallow client is answered by a walk, because bitmaps ignore
 * the shallow boundary.
 */
static void cut_requests_walk(void **state)
{
	uint64_t seed = random_seed();
	uint32_t *ref_nr = calloc(RANDREPO_MAX, sizeof(*ref_nr));
	uint32_t known = 0;
	size_t withheld = 0, listed = 0, again = 0, sent = 0;
	struct oid shallow[5];
	struct found f;
	struct env e;

	assert_non_null(ref_nr);
	env_init(&e, &seed);
	for (int i = 0; i < 120; i++) {
		size_t shallow_nr = make_shallow(&e, shallow, ref_nr);

		ask(&e, i % 3 ? 4 : 0);
		e.request.shallow = shallow;
		e.request.shallow_nr = shallow_nr;
		e.request.use_bitmap = true;
		e.request.thin = i % 2;
		e.options.threads = 1 + (unsigned)i % 3;
		open_found(&e, &f);
		assert_null(f.pb);
		assert_true(f.unnamed);
		note_all(&e, &f);
		check(&e, !e.request.have_nr);
		again += count_again(&e, &sent);
		known += check_uninteresting(&e, &f);
		if (e.request.thin)
			withheld += check_withheld(&e, &f, &listed);
		found_close(&f);
		for (uint32_t k = 0; k < e.r.nr; k++)
			e.r.objects[k].ref_nr = ref_nr[k];
	}
	assert_true(known > 100 && withheld > 10 + listed);
	assert_true(again * 10 < sent);
	free(ref_nr);
	env_release(&e);
}

/*
 * Set is_right[i] for each object below `tree` whose entry in `hashes` is the
 * name hash of one of its paths.
 */
static void match_names(struct env *e, uint32_t tree, const char *path,
			const uint32_t *hashes, bool *is_right)
{
	const struct randrepo_object *t = &e->r.objects[tree];
	struct cursor c = cursor_make(t->data.data, t->data.len);
	struct tree_entry entry;

	is_right[tree] |= hashes[tree] == name_hash_add(0, path, strlen(path));
	while (tree_next(&entry, &c, HASH_SHA1) > 0) {
		char below[256];
		struct oid oid;
		uint32_t nr;

		if (tree_entry_is_gitlink(&entry))
			continue;
		oid_from_raw(&oid, entry.oid, HASH_SHA1);
		nr = randrepo_find(&e->r, &oid);
		snprintf(below, sizeof(below), "%s%s%.*s", path,
			 *path ? "/" : "", (int)entry.name_len, entry.name);
		if (tree_entry_is_dir(&entry))
			match_names(e, nr, below, hashes, is_right);
		else
			is_right[nr] |= hashes[nr] ==
					name_hash_add(0, below, strlen(below));
	}
}

static int add_item(void *ctx, const struct walk_item *item)
{
	return packing_items_add(ctx, item);
}

/*
 * Let the tested code find the name hashes of all found objects. Each name hash
 * must be that of a path of the object. Returns the number of objects that have
 * got a name hash.
 */
static uint32_t check_names(struct env *e, struct found *f)
{
	uint32_t *hashes = calloc(RANDREPO_MAX, sizeof(*hashes));
	bool *is_right = calloc(RANDREPO_MAX, sizeof(*is_right));
	struct packing_items items;
	uint32_t named = 0;

	assert_true(hashes && is_right);
	packing_items_init(&items, &f->walk.space);
	assert_int_equal(
		found_each_packed(f, &f->packed, add_item, &items, NULL), 0);
	for (size_t i = 0; i < f->objects.nr; i++)
		assert_int_equal(add_item(&items, &f->objects.items[i]), 0);
	assert_int_equal(found_name_items(f, &items, NULL), 0);
	for (size_t i = 0; i < items.nr; i++) {
		struct oid oid;

		objspace_oid(&oid, &f->walk.space, items.items[i].obj_pos);
		hashes[randrepo_find(&e->r, &oid)] = items.items[i].name_hash;
	}
	for (uint32_t i = 0; i < e->r.commit_nr; i++)
		match_names(e, e->r.objects[e->r.commits[i]].refs[0], "",
			    hashes, is_right);
	for (uint32_t i = 0; i < e->r.nr; i++) {
		assert_true(!hashes[i] || is_right[i]);
		named += hashes[i] != 0;
	}
	packing_items_release(&items);
	free(hashes);
	free(is_right);
	return named;
}

static void names_are_found_out(void **state)
{
	uint64_t seed = random_seed();
	uint32_t named = 0;
	struct found f;
	struct env e;

	env_init(&e, &seed);
	for (uint32_t i = 0; i < 5; i++)
		e.wants[i] =
			e.r.objects[e.r.commits[e.r.commit_nr - 1 - i]].oid;
	e.haves[0] = e.r.objects[e.r.commits[e.r.commit_nr - 8]].oid;
	e.request = (struct packing_request){
		.wants = e.wants,
		.want_nr = 5,
		.shallow = e.haves,
		.shallow_nr = 1,
	};
	for (int i = 0; i < 2; i++) {
		/*
		 * In the first round, name hashes come only from trees. In the
		 * second round, they also come from the bitmap index.
		 */
		e.request.use_bitmap = i;
		open_found(&e, &f);
		assert_true(f.unnamed);
		named = check_names(&e, &f);
		assert_true(named > 10);
		found_close(&f);
	}
	env_release(&e);
}

/*
 * Make a list of the found objects of the largest pack. The plan is to copy all
 * of them. If `is_whole` is true, the plan for the first object is different:
 * it is compressed anew, and so it takes part in the delta search, which needs
 * name hashes. Returns the number of objects whose name hashes are looked up
 * and found.
 */
static size_t count_named(struct found *f, bool is_whole)
{
	struct packing_items items;
	size_t named = 0;

	packing_items_init(&items, &f->walk.space);
	assert_int_equal(
		found_each_packed(f, &f->packed, add_item, &items, NULL), 0);
	for (size_t i = 0; i < items.nr; i++) {
		items.items[i].how = PACKING_COPY;
		items.items[i].pack_nr = 0;
	}
	if (is_whole && items.nr)
		items.items[0].how = PACKING_WHOLE;
	assert_int_equal(found_name_items(f, &items, NULL), 0);
	for (size_t i = 0; i < items.nr; i++)
		named += items.items[i].name_hash != 0;
	packing_items_release(&items);
	return named;
}

/*
 * If all objects are copied from packs, name hashes are not looked up, because
 * the delta search has nothing to compare. If one object is compressed anew,
 * they are looked up.
 */
static void names_for_comparing(void **state)
{
	uint64_t seed = random_seed();
	size_t named = 0;
	struct found f;
	struct env e;

	env_init(&e, &seed);
	for (uint32_t i = 20; i < 30; i++) {
		e.wants[0] = e.r.objects[e.r.commits[e.r.commit_nr - i]].oid;
		e.request = (struct packing_request){
			.wants = e.wants,
			.want_nr = 1,
			.shallow = e.wants,
			.shallow_nr = 1,
		};
		open_found(&e, &f);
		assert_true(f.unnamed);
		assert_int_equal(count_named(&f, false), 0);
		named += count_named(&f, true);
		found_close(&f);
	}
	assert_true(named > 0);
	env_release(&e);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(bitmaps_and_walks_agree),
		cmocka_unit_test(bases_of_thin_packs),
		cmocka_unit_test(few_bytes_get_no_bases),
		cmocka_unit_test(versions_are_withheld),
		cmocka_unit_test(used_bitmaps),
		cmocka_unit_test(a_broken_index_is_set_aside),
		cmocka_unit_test(cut_requests_walk),
		cmocka_unit_test(names_are_found_out),
		cmocka_unit_test(names_for_comparing),
		cmocka_unit_test(bases_that_are_sent),
		cmocka_unit_test(whole_packs),
		cmocka_unit_test(wrong_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
