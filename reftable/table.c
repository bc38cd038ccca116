/* SPDX-License-Identifier: MIT */
/* Opens tables and finds records in them. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "reftable/table.h"

static int check_hash(const struct reftable *table, enum hash_algo algo,
		      struct error *err)
{
	if (table->file.footer.algo == algo)
		return 0;
	return error_set(err, ERR_CORRUPT, "%s: is for %s, not %s", table->name,
			 hash_name(table->file.footer.algo), hash_name(algo));
}

int reftable_parse(struct reftable **out, const void *bytes, size_t len,
		   enum hash_algo algo, const char *name, struct error *err)
{
	struct reftable *table = mem_calloc(1, sizeof(*table));
	struct reftable_file *file;
	int ret;

	*out = NULL;
	if (!table)
		return error_nomem(err);
	file = &table->file;
	table->name = mem_strdup(name);
	ret = table->name ? reftable_footer_parse(&file->footer, bytes, len,
						  table->name, err)
			  : error_nomem(err);
	if (!ret)
		ret = check_hash(table, algo, err);
	if (ret < 0) {
		reftable_close(table);
		return ret;
	}
	file->bytes = bytes;
	file->end = len - reftable_footer_len(file->footer.version);
	file->name = table->name;
	*out = table;
	return 0;
}

int reftable_open(struct reftable **out, const char *dir, const char *name,
		  enum hash_algo algo, struct error *err)
{
	struct sys_map map = SYS_MAP_INIT;
	struct buf path = BUF_INIT;
	int ret = buf_printf(&path, "%s/%s", dir, name);

	*out = NULL;
	if (ret < 0)
		ret = error_nomem(err);
	else
		ret = sys_map_open(&map, path.data, err);
	if (!ret)
		ret = reftable_parse(out, map.data, map.len, algo, name, err);
	if (!ret)
		(*out)->map = map;
	else
		sys_map_close(&map);
	buf_release(&path);
	return ret;
}

void reftable_close(struct reftable *table)
{
	if (!table)
		return;
	sys_map_close(&table->map);
	free(table->name);
	free(table);
}

bool reftable_section(const struct reftable *table,
		      enum reftable_block_type type, uint64_t *off)
{
	const struct reftable_file *file = &table->file;
	const struct reftable_footer *f = &file->footer;

	*off = type == REFTABLE_LOGS      ? f->log_off
	       : type == REFTABLE_OBJECTS ? f->obj_off
					  : 0;
	/*
	 * The first section of a table is at offset zero: the refs, or the
	 * reflogs if the table has no refs. So for these two sections, an
	 * offset of zero does not mean that the section is missing. The type of
	 * the first block decides.
	 */
	return *off || reftable_block_peek(file, 0) == type;
}

static uint64_t index_off(const struct reftable *table,
			  enum reftable_block_type type)
{
	const struct reftable_footer *f = &table->file.footer;

	return type == REFTABLE_LOGS      ? f->log_index_off
	       : type == REFTABLE_OBJECTS ? f->obj_index_off
					  : f->ref_index_off;
}

void reftable_iter_init(struct reftable_iter *it)
{
	memset(it, 0, sizeof(*it));
	reftable_block_init(&it->block);
	reftable_cursor_init(&it->cur);
	it->at_end = true;
}

void reftable_iter_release(struct reftable_iter *it)
{
	reftable_block_release(&it->block);
	reftable_cursor_release(&it->cur);
	reftable_iter_init(it);
}

/*
 * Parses the value of the record at the cursor into it->ref or it->log. Returns
 * 1 on success, or ERR_CORRUPT.
 */
static int take_value(struct reftable_iter *it, struct error *err)
{
	const struct reftable_file *file = &it->table->file;
	struct reftable_cursor *cur = &it->cur;
	bool good;

	if (it->type == REFTABLE_LOGS)
		good = reftable_log_take(&cur->value, &it->log, &cur->key,
					 cur->extra, file->footer.algo);
	else
		good = reftable_ref_take(&cur->value, &it->ref, &cur->key,
					 cur->extra, file->footer.min_index,
					 file->footer.algo);
	if (!good)
		return reftable_block_corrupt(file, it->block.off, "bad value",
					      err);
	reftable_cursor_done(cur);
	return 1;
}

/*
 * Opens the next block of the section. Returns 1 if a block was opened, 0 if
 * the next block belongs to another section, or a negative error code.
 */
static int next_block(struct reftable_iter *it, struct error *err)
{
	const struct reftable_file *file = &it->table->file;
	uint64_t off = it->block.next_off;
	int ret;

	it->at_end = reftable_block_peek(file, off) != it->type;
	if (it->at_end)
		return 0;
	ret = reftable_block_open(&it->block, file, off, err);
	if (ret < 0)
		return ret;
	reftable_cursor_start(&it->cur, &it->block);
	return 1;
}

int reftable_iter_next(struct reftable_iter *it, struct error *err)
{
	int ret;

	if (it->has_next) {
		it->has_next = false;
		return 1;
	}
	while (!it->at_end) {
		ret = reftable_cursor_next(&it->cur, &it->table->file, err);
		if (ret > 0) {
			ret = take_value(it, err);
		} else if (!ret) {
			ret = next_block(it, err);
			if (ret > 0)
				continue;
		}
		if (ret < 0)
			it->at_end = true;
		return ret;
	}
	return 0;
}

/*
 * Searches an index block for the child block that may have the key. Returns 1
 * with the offset of the child, 0 if all keys of the index are smaller, or a
 * negative error code.
 */
static int search_index(struct reftable_iter *it, const char *key,
			size_t key_len, uint64_t *off, struct error *err)
{
	const struct reftable_file *file = &it->table->file;
	struct reftable_cursor *cur = &it->cur;
	int ret = reftable_cursor_seek(cur, file, &it->block, key, key_len,
				       err);

	while (!ret) {
		ret = reftable_cursor_next(cur, file, err);
		if (ret <= 0)
			return ret;
		if (!reftable_cursor_take_off(cur, off))
			return reftable_block_corrupt(file, it->block.off,
						      "bad index", err);
		ret = reftable_key_cmp(cur->key.data, cur->key.len, key,
				       key_len) >= 0;
	}
	/*
	 * Child blocks come before their index block in the file. Otherwise the
	 * search could go in circles.
	 */
	if (ret > 0 && *off >= it->block.off)
		return reftable_block_corrupt(file, it->block.off,
					      "index leads forward", err);
	return ret;
}

/*
 * Works like search_index() for the top level of an index. The caller has
 * opened the first block of this level. The level may have several consecutive
 * blocks; stock Git makes no more than 3. Returns 1 with the offset of the
 * child, 0 if all keys of the index are smaller, or a negative error code.
 */
static int search_top(struct reftable_iter *it, const char *key, size_t key_len,
		      uint64_t *off, struct error *err)
{
	const struct reftable_file *file = &it->table->file;
	int ret = search_index(it, key, key_len, off, err);

	while (!ret && reftable_block_peek(file, it->block.next_off) ==
			       REFTABLE_INDEX) {
		ret = reftable_block_open(&it->block, file, it->block.next_off,
					  err);
		if (!ret)
			ret = search_index(it, key, key_len, off, err);
	}
	return ret;
}

/*
 * Goes from the top of the index down to the block that may have the key.
 * Returns 1 with this block open, 0 if all keys are smaller, or a negative
 * error code.
 */
static int descend(struct reftable_iter *it, const char *key, size_t key_len,
		   struct error *err)
{
	const struct reftable_file *file = &it->table->file;
	uint64_t top = index_off(it->table, it->type), off = top;
	int ret = reftable_block_open(&it->block, file, off, err);

	while (!ret && it->block.type == REFTABLE_INDEX) {
		ret = off == top ? search_top(it, key, key_len, &off, err)
				 : search_index(it, key, key_len, &off, err);
		if (ret <= 0)
			return ret;
		ret = reftable_block_open(&it->block, file, off, err);
	}
	if (!ret && it->block.type != it->type)
		return reftable_block_corrupt(
			file, off, "index leads to another section", err);
	return ret < 0 ? ret : 1;
}

/*
 * Returns 1 if the first key of the block at `off` is less than `key`, 0 if
 * not, or a negative error code.
 */
static int starts_before(struct reftable_iter *it, uint64_t off,
			 const char *key, size_t key_len, struct error *err)
{
	const struct reftable_file *file = &it->table->file;
	int ret = reftable_block_open(&it->block, file, off, err);

	if (ret < 0)
		return ret;
	reftable_cursor_start(&it->cur, &it->block);
	ret = reftable_cursor_next(&it->cur, file, err);
	if (ret <= 0)
		return ret;
	return reftable_key_cmp(it->cur.key.data, it->cur.key.len, key,
				key_len) < 0;
}

/*
 * A reftable has one section of blocks for each type of record: refs, objects
 * and logs. Finds the block for a key in the section of type it->type, if this
 * section has no index. Opens the last block of the section that starts before
 * the key, or the first block. Returns 1 with the block open, 0 if the table
 * has no section of this type, or a negative error code.
 */
static int walk_blocks(struct reftable_iter *it, const char *key,
		       size_t key_len, struct error *err)
{
	const struct reftable_file *file = &it->table->file;
	uint64_t off, best;
	int ret;

	if (!reftable_section(it->table, it->type, &off))
		return 0;
	best = off;
	while (key_len && reftable_block_peek(file, off) == it->type) {
		ret = starts_before(it, off, key, key_len, err);
		if (ret < 0)
			return ret;
		if (!ret)
			break;
		best = off;
		off = it->block.next_off;
	}
	ret = reftable_block_open(&it->block, file, best, err);
	if (!ret && it->block.type != it->type)
		ret = reftable_block_corrupt(file, best,
					     "block has the wrong type", err);
	return ret < 0 ? ret : 1;
}

/*
 * Moves the iterator past the records of its section whose key is less than
 * `key`. Returns 0 or a negative error code.
 */
static int scan(struct reftable_iter *it, const char *key, size_t key_len,
		struct error *err)
{
	int ret;

	do {
		ret = reftable_iter_next(it, err);
	} while (ret > 0 && reftable_key_cmp(it->cur.key.data, it->cur.key.len,
					     key, key_len) < 0);
	it->has_next = ret > 0;
	return ret < 0 ? ret : 0;
}

int reftable_iter_seek(struct reftable_iter *it, const struct reftable *table,
		       enum reftable_block_type type, const char *key,
		       size_t key_len, struct error *err)
{
	int ret;

	it->table = table;
	it->type = type;
	it->has_next = false;
	it->at_end = true;
	/*
	 * An empty key means the start of the section, where no index is
	 * needed.
	 */
	if (key_len && index_off(table, type))
		ret = descend(it, key, key_len, err);
	else
		ret = walk_blocks(it, key, key_len, err);
	if (ret <= 0)
		return ret;
	it->at_end = false;
	ret = reftable_cursor_seek(&it->cur, &table->file, &it->block, key,
				   key_len, err);
	if (!ret)
		ret = scan(it, key, key_len, err);
	if (ret < 0)
		it->at_end = true;
	return ret;
}
