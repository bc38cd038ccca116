/* SPDX-License-Identifier: MIT */
/* Opens blocks, searches them, and iterates over their records. */
#include <string.h>
#include <zlib.h>

#include "base/mem.h"
#include "base/varint.h"
#include "reftable/block.h"

#define BLOCK_HEADER_LEN 4
#define RESTART_LEN 3

int reftable_block_corrupt(const struct reftable_file *file, uint64_t off,
			   const char *why, struct error *err)
{
	return error_set_at(err, ERR_CORRUPT, file->name, off, "%s", why);
}

void reftable_block_init(struct reftable_block *block)
{
	memset(block, 0, sizeof(*block));
	buf_init(&block->inflated);
}

void reftable_block_release(struct reftable_block *block)
{
	buf_release(&block->inflated);
	memset(block, 0, sizeof(*block));
	buf_init(&block->inflated);
}

/*
 * Returns the length of the file's header if the block at `off` is the first
 * block, which contains this header. Returns 0 for other blocks.
 */
static size_t header_in(const struct reftable_file *file, uint64_t off)
{
	return off ? 0 : reftable_header_len(file->footer.version);
}

unsigned reftable_block_peek(const struct reftable_file *file, uint64_t off)
{
	off += header_in(file, off);
	return off < file->end ? file->bytes[off] : 0;
}

static uint32_t load_be24(const uint8_t *p)
{
	return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

/*
 * Inflates a block of reflog records (a g-block), except its header of 4 bytes,
 * which is not compressed. Offsets in the result are those of a block that was
 * never compressed. Returns the number of compressed bytes, or a negative error
 * code.
 */
static int64_t inflate_block(struct reftable_block *block,
			     const struct reftable_file *file, size_t len,
			     struct error *err)
{
	uint64_t at = block->off + block->first;
	uLong src_len = (uLong)(file->end - at);
	uLong dst_len = (uLong)(len - block->first);

	if (!mem_can_inflate(dst_len, src_len))
		return reftable_block_corrupt(file, block->off,
					      "block is too long", err);
	buf_reset(&block->inflated);
	if (buf_reserve(&block->inflated, len) < 0)
		return error_nomem(err);
	buf_set_len(&block->inflated, len);
	memset(block->inflated.data, 0, block->first);
	if (uncompress2((Bytef *)block->inflated.data + block->first, &dst_len,
			file->bytes + at, &src_len) != Z_OK ||
	    dst_len != len - block->first)
		return reftable_block_corrupt(file, block->off,
					      "block does not inflate", err);
	block->bytes = (const uint8_t *)block->inflated.data;
	return (int64_t)src_len;
}

/*
 * Skips the zeros after the block that ends at `off`. Returns the offset of the
 * next block. A block begins with its type, which is never zero. So a zero byte
 * after a block means that the next block is aligned.
 */
static uint64_t skip_padding(const struct reftable_file *file, uint64_t off)
{
	uint64_t size = file->footer.block_size;

	if (off < file->end && size && !file->bytes[off])
		off += (size - off % size) % size;
	return off < file->end ? off : file->end;
}

static int check_restarts(struct reftable_block *block,
			  const struct reftable_file *file, size_t len,
			  struct error *err)
{
	size_t room, least = block->first;

	if (len < block->first + 2)
		goto bad;
	block->restart_nr = load_be16(block->bytes + len - 2);
	room = len - 2 - block->first;
	if (!block->restart_nr ||
	    room < (size_t)block->restart_nr * RESTART_LEN)
		goto bad;
	block->records_end = len - 2 - (size_t)block->restart_nr * RESTART_LEN;
	for (uint32_t i = 0; i < block->restart_nr; i++) {
		const uint8_t *p = block->bytes + block->records_end;
		size_t at = load_be24(p + (size_t)i * RESTART_LEN);

		if (at < least || at >= block->records_end)
			goto bad;
		least = at + 1;
	}
	return 0;
bad:
	return reftable_block_corrupt(file, block->off, "bad restarts", err);
}

int reftable_block_open(struct reftable_block *block,
			const struct reftable_file *file, uint64_t off,
			struct error *err)
{
	size_t header = header_in(file, off), len;
	const uint8_t *p = file->bytes + off;
	int64_t used;

	if (off >= file->end || file->end - off < header + BLOCK_HEADER_LEN)
		return reftable_block_corrupt(file, off, "block is cut off",
					      err);
	block->off = off;
	block->first = header + BLOCK_HEADER_LEN;
	block->type = (enum reftable_block_type)p[header];
	len = load_be24(p + header + 1);
	if (len < block->first)
		return reftable_block_corrupt(file, off, "block is too short",
					      err);
	if (block->type == REFTABLE_LOGS) {
		used = inflate_block(block, file, len, err);
		if (used < 0)
			return (int)used;
		block->next_off = off + block->first + (uint64_t)used;
	} else if (len > file->end - off) {
		return reftable_block_corrupt(file, off, "block is cut off",
					      err);
	} else {
		block->bytes = p;
		block->next_off = skip_padding(file, off + len);
	}
	return check_restarts(block, file, len, err);
}

void reftable_cursor_init(struct reftable_cursor *cur)
{
	memset(cur, 0, sizeof(*cur));
	buf_init(&cur->key);
}

void reftable_cursor_release(struct reftable_cursor *cur)
{
	buf_release(&cur->key);
	reftable_cursor_init(cur);
}

void reftable_cursor_start(struct reftable_cursor *cur,
			   const struct reftable_block *block)
{
	cur->block = block;
	cur->off = block->first;
	buf_reset(&cur->key);
}

int reftable_cursor_next(struct reftable_cursor *cur,
			 const struct reftable_file *file, struct error *err)
{
	const struct reftable_block *block = cur->block;
	size_t last_len = cur->key.len, shared;
	uint8_t next_byte = 0;
	struct cursor probe;
	uint64_t n;
	int ret;

	if (cur->off >= block->records_end)
		return 0;
	cur->value = cursor_make(block->bytes + cur->off,
				 block->records_end - cur->off);
	/*
	 * The new key first differs from the previous key at this position.
	 * Keys ascend, so the byte of the new key must be the larger one.
	 */
	probe = cur->value;
	if (!varint_take(&probe, &n) || n > last_len)
		goto bad;
	shared = n;
	if (shared < last_len)
		next_byte = (uint8_t)cur->key.data[shared];
	ret = reftable_key_take(&cur->value, &cur->key, &cur->extra);
	if (ret < 0)
		return error_nomem(err);
	if (!ret || cur->key.len == shared)
		goto bad;
	if (shared < last_len && (uint8_t)cur->key.data[shared] < next_byte)
		goto bad;
	return 1;
bad:
	return reftable_block_corrupt(file, block->off, "bad record", err);
}

void reftable_cursor_done(struct reftable_cursor *cur)
{
	cur->off = (size_t)(cur->value.p - cur->block->bytes);
}

bool reftable_cursor_take_off(struct reftable_cursor *cur, uint64_t *off)
{
	if (!varint_take(&cur->value, off))
		return false;
	reftable_cursor_done(cur);
	return true;
}

static size_t restart_off(const struct reftable_block *block, uint32_t i)
{
	return load_be24(block->bytes + block->records_end +
			 (size_t)i * RESTART_LEN);
}

int reftable_cursor_seek(struct reftable_cursor *cur,
			 const struct reftable_file *file,
			 const struct reftable_block *block, const char *key,
			 size_t key_len, struct error *err)
{
	uint32_t low = 0, high = block->restart_nr;
	int ret;

	/*
	 * Binary search for the last restart whose key is less than the wanted
	 * key.
	 */
	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		reftable_cursor_start(cur, block);
		cur->off = restart_off(block, mid);
		ret = reftable_cursor_next(cur, file, err);
		if (ret < 0)
			return ret;
		if (reftable_key_cmp(cur->key.data, cur->key.len, key,
				     key_len) < 0)
			low = mid;
		else
			high = mid;
	}
	reftable_cursor_start(cur, block);
	if (low)
		cur->off = restart_off(block, low);
	return 0;
}
