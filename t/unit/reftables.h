/* SPDX-License-Identifier: MIT */
/*
 * Reftables for unit tests: random refs and reflogs, and tables that are
 * written from them to a directory. Tests compare each table with struct twin,
 * a plain array of the same refs. Include this header after cmocka.h.
 */
#ifndef T_UNIT_REFTABLES_H
#define T_UNIT_REFTABLES_H

#include "reftable/table.h"
#include "reftable/writer.h"
#include "sys/map.h"
#include "t/unit/random.h"
#include "t/unit/tmprepo.h"

/* A ref of struct twin. `name` is owned. */
struct twin_ref {
	char *name;
	struct reftable_ref ref;
};

struct twin {
	struct twin_ref *refs; /* sorted by name */
	size_t nr;
};

static inline struct oid twin_oid(uint64_t *seed, enum hash_algo algo)
{
	struct oid oid = OID_ZERO_INIT;

	/*
	 * Use few different ids, so that several refs point to the same object.
	 * No id is zero.
	 */
	oid.bytes[0] = (uint8_t)(random_next(seed) % 50 + 1);
	oid.bytes[hash_len(algo) - 1] = (uint8_t)(random_next(seed) % 2);
	return oid;
}

/* Returns a ref with a random value. The ref borrows `name`. */
static inline struct reftable_ref twin_value(uint64_t *seed, char *name,
					     uint64_t index,
					     enum hash_algo algo,
					     bool may_delete)
{
	struct reftable_ref ref = {
		.name = name,
		.name_len = strlen(name),
		.update_index = index,
	};
	unsigned kind = (unsigned)(random_next(seed) % 8);

	ref.value = kind == 0 && may_delete ? REFTABLE_DELETED
		    : kind == 1             ? REFTABLE_SYMBOLIC
		    : kind == 2             ? REFTABLE_TAG
					    : REFTABLE_OID;
	if (ref.value == REFTABLE_OID || ref.value == REFTABLE_TAG)
		ref.oid = twin_oid(seed, algo);
	if (ref.value == REFTABLE_TAG)
		ref.peeled = twin_oid(seed, algo);
	if (ref.value == REFTABLE_SYMBOLIC) {
		ref.target = "refs/heads/main";
		ref.target_len = strlen(ref.target);
	}
	return ref;
}

/*
 * Make `nr` refs whose names have common prefixes. All refs get the update
 * index `index`.
 */
static inline void twin_init(struct twin *twin, size_t nr, uint64_t *seed,
			     enum hash_algo algo, uint64_t index)
{
	char name[100];

	twin->refs = calloc(nr + 1, sizeof(*twin->refs));
	twin->nr = nr;
	for (size_t i = 0; i < nr; i++) {
		size_t step = 1 + random_next(seed) % 9;

		snprintf(name, sizeof(name), "refs/%s/%0*zu%.*s",
			 i * 2 < nr ? "heads" : "tags", 5, i * 10 + step,
			 (int)(random_next(seed) % 20), "-abcdefghijklmnopqrs");
		twin->refs[i].name = strdup(name);
		twin->refs[i].ref = twin_value(seed, twin->refs[i].name, index,
					       algo, true);
	}
}

static inline void twin_release(struct twin *twin)
{
	while (twin->nr)
		free(twin->refs[--twin->nr].name);
	free(twin->refs);
}

static inline void assert_same_ref(const struct reftable_ref *a,
				   const struct reftable_ref *b)
{
	assert_int_equal(a->name_len, b->name_len);
	assert_memory_equal(a->name, b->name, a->name_len);
	assert_int_equal(a->value, b->value);
	assert_true(a->update_index == b->update_index);
	if (a->value == REFTABLE_OID || a->value == REFTABLE_TAG)
		assert_true(oid_equal(&a->oid, &b->oid));
	if (a->value == REFTABLE_TAG)
		assert_true(oid_equal(&a->peeled, &b->peeled));
	if (a->value == REFTABLE_SYMBOLIC) {
		assert_int_equal(a->target_len, b->target_len);
		assert_memory_equal(a->target, b->target, a->target_len);
	}
}

/*
 * Returns an entry of the reflog of the ref `name`. The update index `index`
 * determines the content of the entry.
 */
static inline struct reftable_log twin_log(const char *name, uint64_t index)
{
	struct reftable_log log = {
		.name = name,
		.name_len = strlen(name),
		.update_index = index,
		.who = {"A U Thor", 8},
		.mail = {"a@example.com", 13},
		.message = {"a message\n", 10},
		.time = 1000000 + index,
		.zone = (int16_t)(index % 2 ? -730 : 200),
	};

	log.old_oid.bytes[0] = (uint8_t)index;
	log.new_oid.bytes[0] = (uint8_t)(index + 1);
	return log;
}

static inline void assert_same_log(const struct reftable_log *a,
				   const struct reftable_log *b)
{
	assert_int_equal(a->name_len, b->name_len);
	assert_memory_equal(a->name, b->name, a->name_len);
	assert_true(a->update_index == b->update_index);
	assert_int_equal(a->is_deleted, b->is_deleted);
	if (a->is_deleted)
		return;
	assert_true(oid_equal(&a->old_oid, &b->old_oid));
	assert_true(oid_equal(&a->new_oid, &b->new_oid));
	assert_true(a->time == b->time);
	assert_int_equal(a->zone, b->zone);
	assert_int_equal(a->who.len, b->who.len);
	assert_memory_equal(a->who.p, b->who.p, a->who.len);
	assert_int_equal(a->mail.len, b->mail.len);
	assert_memory_equal(a->mail.p, b->mail.p, a->mail.len);
	assert_int_equal(a->message.len, b->message.len);
	assert_memory_equal(a->message.p, b->message.p, a->message.len);
}

/*
 * Write a table as <dir>/<name>. The table has the refs of `twin`, and `log_nr`
 * reflog entries for every second ref.
 */
static inline void twin_write(const struct twin *twin, size_t log_nr,
			      const struct reftable_writer_options *options,
			      const char *dir, const char *name)
{
	struct sys_tempfile file;
	struct reftable_writer *w;
	struct buf path = BUF_INIT;

	buf_printf(&path, "%s/%s", dir, name);
	assert_int_equal(sys_tempfile_create(&file, dir, "tmp_", 0666, NULL),
			 0);
	assert_int_equal(reftable_writer_new(&w, &file, options, NULL), 0);
	for (size_t i = 0; i < twin->nr; i++)
		assert_int_equal(
			reftable_writer_add_ref(w, &twin->refs[i].ref, NULL),
			0);
	for (size_t i = 0; log_nr && i < twin->nr; i += 2)
		for (uint64_t index = log_nr; index; index--) {
			struct reftable_log log = twin_log(twin->refs[i].name,
							   index);

			log.is_deleted = index % 5 == 4;
			assert_int_equal(reftable_writer_add_log(w, &log, NULL),
					 0);
		}
	assert_int_equal(reftable_writer_finish(w, NULL), 0);
	reftable_writer_free(w);
	assert_int_equal(
		sys_tempfile_commit(&file, path.data, SYS_FSYNC_NONE, NULL), 0);
	buf_release(&path);
}

/*
 * Append the table <dir>/<name> to `bytes`, without the root of its ref index.
 * The table must have only refs, and an index of several levels. The root is
 * the top level of this index, and has one block. After its removal, the next
 * level is the top level. This level has several blocks, as the top level of
 * some tables that stock Git writes (up to 3 blocks).
 */
static inline void twin_read_wide(struct buf *bytes, const char *dir,
				  const char *name, enum hash_algo algo)
{
	struct reftable_footer footer;
	struct reftable_block block;
	struct reftable_cursor cur;
	struct buf path = BUF_INIT;
	struct reftable *table;

	buf_printf(&path, "%s/%s", dir, name);
	assert_int_equal(sys_read_file(bytes, path.data, NULL), 0);
	assert_int_equal(reftable_open(&table, dir, name, algo, NULL), 0);
	footer = table->file.footer;
	reftable_block_init(&block);
	reftable_cursor_init(&cur);
	assert_int_equal(reftable_block_open(&block, &table->file,
					     footer.ref_index_off, NULL),
			 0);
	reftable_cursor_start(&cur, &block);
	assert_int_equal(reftable_cursor_next(&cur, &table->file, NULL), 1);
	buf_set_len(bytes, footer.ref_index_off);
	assert_true(reftable_cursor_take_off(&cur, &footer.ref_index_off));
	assert_int_equal(bytes->data[footer.ref_index_off], REFTABLE_INDEX);
	assert_int_equal(reftable_footer_append(bytes, &footer), 0);
	reftable_cursor_release(&cur);
	reftable_block_release(&block);
	reftable_close(table);
	buf_release(&path);
}

#endif
