/* SPDX-License-Identifier: MIT */
/*
 * Tests of packing/write.c, which writes the bytes of a new pack: the pack has
 * the objects of the list.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "deltas/delta-search.h"
#include "t/unit/itemlist.h"

static const struct delta_search_options search_options = {
	.threads = 1,
	.window = 5,
	.depth = 10,
	.big_file_threshold = 1 << 20,
	.compression = -1,
};

/*
 * Check that the pack has each object of the list, except external ones, at the
 * stated offset and with the stated CRC.
 */
static void check(struct itemlist *l, const struct buf *pack,
		  const struct write_options *options,
		  const struct write_report *report)
{
	bool *external = calloc(RANDREPO_MAX, sizeof(*external));
	struct packread read;
	uint32_t nr = 0;

	assert_non_null(external);
	for (size_t i = 0; i < l->list.nr; i++)
		external[l->object[i]] = l->list.items[i].is_external;
	packread_open(&read, &l->r, pack->data, pack->len, external);
	assert_int_equal(read.nr, read.header_nr);
	assert_int_equal(read.nr, report->objects);
	assert_int_equal(read.ofs_nr + read.ref_nr, report->deltas);
	assert_true(report->reused_deltas <= report->deltas);
	assert_true(report->reused <= report->objects);
	if (!options->ofs_delta)
		assert_int_equal(read.ofs_nr, 0);
	else
		assert_int_equal(read.ref_nr, read.thin_nr);
	for (size_t i = 0; i < l->list.nr; i++) {
		const struct packing_item *item = &l->list.items[i];

		assert_int_equal(read.has[l->object[i]], !item->is_external);
		nr += !item->is_external;
		if (item->is_external)
			continue;
		for (uint32_t k = 0; k < read.nr; k++) {
			uint64_t end = k + 1 < read.nr ? read.entries[k + 1].off
						       : pack->len - 20;

			if (read.entries[k].object != l->object[i])
				continue;
			assert_int_equal(read.entries[k].off, item->out_off);
			assert_int_equal(item->crc,
					 pack_crc32(0,
						    pack->data + item->out_off,
						    end - item->out_off));
		}
	}
	assert_int_equal(nr, read.nr);
	packread_release(&read);
	free(external);
}

static void random_lists(void **state)
{
	uint64_t seed = random_seed();
	uint32_t made = 0, copied = 0;
	struct itemlist l;

	itemlist_init(&l, &seed);
	for (int i = 0; i < 16; i++) {
		struct delta_search_options search = search_options;
		struct plan_options plan = itemlist_plan_options;
		struct write_options options = {
			.ofs_delta = i & 1,
			.check = true,
			.compression = -1,
		};
		struct write_report report;
		struct buf pack = BUF_INIT;

		/*
		 * A cache of one byte has no room for the deltas that the
		 * search found. So the writer must make them again.
		 */
		search.cache_size = i & 4 ? 1 : 0;
		plan.reuse_delta = i & 8;
		itemlist_fill(&l, i & 2 ? 16 : 9, true);
		assert_int_equal(plan_items(&l.list, &l.packs, &plan, NULL), 0);
		assert_int_equal(delta_search_run(&l.list, &search, NULL), 0);
		itemlist_write(&l, &pack, &options, &report);
		check(&l, &pack, &options, &report);
		made += report.deltas - report.reused_deltas;
		copied += report.reused_deltas;
		buf_release(&pack);
	}
	assert_true(made > 50 && copied > 50);
	itemlist_release(&l);
}

/*
 * Write all objects, and check the pack if this succeeds. Returns 0 or a
 * negative error code.
 */
static int write_all(struct itemlist *l, const struct write_options *options,
		     struct error *err)
{
	struct buf pack = BUF_INIT;
	struct pack_sink sink = {.put = packread_put, .ctx = &pack};
	struct write_report report = {0};
	struct pack_writer writer;
	struct oid checksum;
	size_t nr;
	uint32_t *order = write_order(&l->list, &nr);
	int ret;

	assert_non_null(order);
	assert_int_equal(pack_writer_init(&writer, sink, (uint32_t)nr,
					  HASH_SHA1, true, NULL),
			 0);
	ret = write_items(&l->list, order, &nr, &l->packs, &writer, options,
			  &report, err);
	if (!ret) {
		assert_int_equal(pack_writer_finish(&writer, &checksum, NULL),
				 0);
		check(l, &pack, options, &report);
	}
	pack_writer_release(&writer);
	buf_release(&pack);
	free(order);
	return ret;
}

/*
 * Write all objects after one stored copy was damaged. If there is another
 * copy, this copy is used. Otherwise the error names the pack. Returns whether
 * there was another copy.
 */
static bool write_damaged(struct itemlist *l,
			  const struct write_options *options)
{
	struct error err = ERROR_INIT;
	int ret = write_all(l, options, &err);

	if (ret < 0) {
		assert_int_equal(ret, ERR_CORRUPT);
		assert_non_null(strstr(err.msg, "pack-"));
	}
	return !ret;
}

/*
 * If a byte of a stored entry is damaged, the entry must not be copied into the
 * new pack.
 */
static void corruption_does_not_spread(void **state)
{
	uint64_t seed = random_seed();
	struct write_options options = {.check = true, .compression = -1};
	int other_nr = 0;
	struct itemlist l;

	itemlist_init(&l, &seed);
	for (int i = 0; i < 8; i++) {
		const struct packing_item *item;
		struct packs_stored stored;
		uint32_t idx_pos;
		uint8_t *byte;
		size_t page;

		itemlist_fill(&l, 16, false);
		assert_int_equal(plan_items(&l.list, &l.packs,
					    &itemlist_plan_options, NULL),
				 0);
		do
			item = &l.list.items[random_next(&seed) % l.list.nr];
		while (item->pack_nr == PACKING_NO_ITEM ||
		       (item->how != PACKING_COPY &&
			item->how != PACKING_COPY_DELTA));
		odb_locate(l.odb, item->obj_pos, &idx_pos);
		assert_int_equal(packs_stored(&stored, &l.packs, item->pack_nr,
					      idx_pos, NULL),
				 0);
		byte = (uint8_t *)stored.bytes +
		       random_next(&seed) % stored.len;
		page = (size_t)sysconf(_SC_PAGESIZE);
		/*
		 * The file is mapped privately, so writing to this page does
		 * not change the file.
		 */
		assert_int_equal(
			mprotect((void *)((uintptr_t)byte / page * page), page,
				 PROT_READ | PROT_WRITE),
			0);
		*byte ^= 1;
		other_nr += write_damaged(&l, &options);
		*byte ^= 1;
	}
	assert_true(other_nr > 0);
	itemlist_release(&l);
}

/* A sink that fails. write_items() must return its error. */
static int refuse(void *ctx, const void *bytes, size_t len, struct error *err)
{
	return error_set(err, ERR_IO, "no space");
}

static void sink_fails(void **state)
{
	uint64_t seed = random_seed();
	struct write_options options = {.compression = -1};
	struct pack_sink sink = {.put = refuse};
	struct write_report report = {0};
	struct pack_writer writer;
	struct itemlist l;
	uint32_t *order;
	size_t nr;
	int ret;

	itemlist_init(&l, &seed);
	itemlist_fill(&l, 16, false);
	assert_int_equal(
		plan_items(&l.list, &l.packs, &itemlist_plan_options, NULL), 0);
	order = write_order(&l.list, &nr);
	ret = pack_writer_init(&writer, sink, (uint32_t)nr, HASH_SHA1, true,
			       NULL);
	if (!ret)
		ret = write_items(&l.list, order, &nr, &l.packs, &writer,
				  &options, &report, NULL);
	if (!ret)
		ret = pack_writer_finish(&writer, &(struct oid){0}, NULL);
	assert_int_equal(ret, ERR_IO);
	pack_writer_release(&writer);
	free(order);
	itemlist_release(&l);
}

/*
 * Make a list of one object. Its pack stores another object under the id of
 * this object. The .idx has version 1, so it has no CRCs.
 */
static void init_wrong_id(struct itemlist *l, uint64_t *seed)
{
	struct packfile *p = malloc(sizeof(*p));
	struct pack_entry entry = {.type = OBJ_BLOB};
	const struct randrepo_object *stored;
	uint32_t nr;

	assert_non_null(p);
	memset(l, 0, sizeof(*l));
	randrepo_init(&l->r, HASH_SHA1, seed);
	stored = &l->r.objects[randrepo_blob(&l->r, 1)];
	nr = randrepo_blob(&l->r, 2);
	packfile_init(p, HASH_SHA1);
	entry.size = stored->data.len;
	packfile_add_entry(p, &entry, stored->data.data, stored->data.len,
			   &l->r.objects[nr].oid);
	packfile_finish(p);
	packfile_make_idx(p, 1);
	tmprepo_write_len(&l->r.t, "objects/pack/pack-1.pack", p->bytes.data,
			  p->bytes.len);
	tmprepo_write_len(&l->r.t, "objects/pack/pack-1.idx", p->idx.data,
			  p->idx.len);
	packfile_release(p);
	free(p);
	assert_int_equal(odb_open(&l->odb, &l->r.t.repo, NULL, NULL), 0);
	objspace_init(&l->space, l->odb);
	packing_items_init(&l->list, &l->space);
	assert_int_equal(packs_init(&l->packs, l->odb, NULL), 0);
	l->object = calloc(RANDREPO_MAX, sizeof(*l->object));
	assert_non_null(l->object);
	l->object[0] = nr;
	assert_int_equal(packing_items_append(&l->list, 0, OBJ_BLOB, 0, false),
			 0);
}

/*
 * Without CRCs, the id of each copied object is checked. An object with a wrong
 * id must not be copied.
 */
static void ids_without_crcs(void **state)
{
	uint64_t seed = random_seed();
	struct write_options options = {.check = true, .compression = -1};
	struct error err = ERROR_INIT;
	struct itemlist l;

	init_wrong_id(&l, &seed);
	assert_int_equal(
		plan_items(&l.list, &l.packs, &itemlist_plan_options, NULL), 0);
	assert_int_equal(l.list.items[0].how, PACKING_COPY);
	assert_int_equal(write_all(&l, &options, &err), ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "corrupt"));
	itemlist_release(&l);
}

/*
 * Write as many of the `nr` items in `order` as fit into a pack of `max_len`
 * bytes. Check that the pack can be read, and that the next item would not have
 * fitted. Sets has[] for the objects of the pack. Returns the number of items.
 */
static size_t write_part(struct itemlist *l, const uint32_t *order, size_t nr,
			 uint64_t max_len, bool *has)
{
	struct write_options options = {
		.ofs_delta = true, .compression = -1, .max_len = max_len};
	struct buf pack = BUF_INIT;
	struct pack_sink sink = {.put = packread_put, .ctx = &pack};
	struct write_report report = {0};
	struct pack_writer writer;
	struct packread read;
	struct oid sum;
	size_t all = nr;

	assert_int_equal(pack_writer_init(&writer, sink, (uint32_t)nr,
					  HASH_SHA1, true, NULL),
			 0);
	assert_int_equal(write_items(&l->list, order, &nr, &l->packs, &writer,
				     &options, &report, NULL),
			 0);
	assert_int_equal(pack_writer_finish(&writer, &sum, NULL), 0);
	pack_writer_release(&writer);
	packread_seal(&pack, (uint32_t)nr, HASH_SHA1);
	packread_open(&read, &l->r, pack.data, pack.len, NULL);
	assert_in_range(nr, 1, all);
	assert_int_equal(read.nr, nr);
	assert_int_equal(report.objects, nr);
	assert_true(nr == 1 || pack.len <= max_len);
	/*
	 * If not all items were written, the next one did not fit. Each object
	 * of this repository takes less than 1,000 bytes.
	 */
	assert_true(nr == all || pack.len + 1000 > max_len);
	for (uint32_t i = 0; i < l->r.nr; i++) {
		assert_false(read.has[i] && has[i]);
		has[i] |= read.has[i];
	}
	packread_release(&read);
	buf_release(&pack);
	return nr;
}

/*
 * A list of objects is divided into packs of a maximum length. Each pack can be
 * read by itself. Together the packs have each object once.
 */
static void packs_of_limited_length(void **state)
{
	static const uint64_t max_lens[] = {40, 2000, 5000};
	uint64_t seed = random_seed();
	struct itemlist l;

	itemlist_init(&l, &seed);
	for (size_t i = 0; i < ARRAY_NR(max_lens); i++) {
		bool *has = calloc(RANDREPO_MAX, sizeof(*has));
		size_t nr, done = 0, deltas = 0;
		uint32_t *order;

		assert_non_null(has);
		itemlist_fill(&l, i ? 16 : 1, false);
		assert_int_equal(plan_items(&l.list, &l.packs,
					    &itemlist_plan_options, NULL),
				 0);
		order = write_order(&l.list, &nr);
		assert_non_null(order);
		while (done < nr) {
			done += write_part(&l, order + done, nr - done,
					   max_lens[i], has);
			write_undeltify(&l.list, order + done, nr - done);
			for (size_t k = done; k < nr; k++) {
				const struct packing_item *item =
					&l.list.items[order[k]];

				/* A base must be in the same pack. */
				if (item->base == PACKING_NO_ITEM)
					continue;
				assert_int_equal(
					l.list.items[item->base].out_off, 0);
				deltas++;
			}
		}
		for (size_t k = 0; k < l.list.nr; k++)
			assert_true(has[l.object[k]]);
		assert_true(!i || deltas > 0);
		free(order);
		free(has);
	}
	itemlist_release(&l);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_lists),
		cmocka_unit_test(corruption_does_not_spread),
		cmocka_unit_test(ids_without_crcs),
		cmocka_unit_test(packs_of_limited_length),
		cmocka_unit_test(sink_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
