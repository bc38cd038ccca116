/* SPDX-License-Identifier: MIT */
/* Filling a block. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"
#include "reftable/block.h"

#define BLOCK_HEADER_LEN 4
#define RESTART_LEN 3
#define RESTART_MAX 0xffff

void reftable_block_writer_init(struct reftable_block_writer *bw)
{
	memset(bw, 0, sizeof(*bw));
	buf_init(&bw->bytes);
	buf_init(&bw->last_key);
	buf_init(&bw->record);
}

void reftable_block_writer_release(struct reftable_block_writer *bw)
{
	buf_release(&bw->bytes);
	buf_release(&bw->last_key);
	buf_release(&bw->record);
	free(bw->restarts);
	reftable_block_writer_init(bw);
}

int reftable_block_writer_start(struct reftable_block_writer *bw,
				enum reftable_block_type type,
				const void *header, size_t header_len,
				size_t limit, unsigned interval)
{
	buf_reset(&bw->bytes);
	buf_reset(&bw->last_key);
	bw->type = type;
	bw->header = header_len;
	bw->limit = limit;
	bw->interval = interval;
	bw->since = 0;
	bw->restart_nr = 0;
	if (buf_append(&bw->bytes, header, header_len) < 0)
		return ERR_NOMEM;
	return buf_append_be32(&bw->bytes, (uint32_t)type << 24);
}

int reftable_block_writer_add(struct reftable_block_writer *bw, const char *key,
			      size_t key_len, unsigned extra, const void *value,
			      size_t value_len, bool must_fit)
{
	bool restart = bw->since % bw->interval == 0 &&
		       bw->restart_nr < RESTART_MAX;
	size_t limit = must_fit ? REFTABLE_BLOCK_SIZE_MAX : bw->limit;
	size_t tail = RESTART_LEN * (bw->restart_nr + restart) + 2;

	if (!bw->restart_nr)
		restart = true;
	buf_reset(&bw->record);
	if (reftable_key_append(&bw->record, bw->last_key.data,
				restart ? 0 : bw->last_key.len, key, key_len,
				extra) < 0 ||
	    buf_append(&bw->record, value, value_len) < 0)
		return ERR_NOMEM;
	if (bw->bytes.len + bw->record.len + tail > limit)
		return 0;
	if (restart) {
		if (mem_grow(&bw->restarts, &bw->restart_alloc,
			     bw->restart_nr + 1, sizeof(*bw->restarts)) < 0)
			return ERR_NOMEM;
		bw->restarts[bw->restart_nr++] = (uint32_t)bw->bytes.len;
	}
	bw->since++;
	buf_reset(&bw->last_key);
	if (buf_append(&bw->bytes, bw->record.data, bw->record.len) < 0 ||
	    buf_append(&bw->last_key, key, key_len) < 0)
		return ERR_NOMEM;
	return 1;
}

static void put_be24(uint8_t *p, size_t v)
{
	p[0] = (uint8_t)(v >> 16);
	p[1] = (uint8_t)(v >> 8);
	p[2] = (uint8_t)v;
}

static int deflate_block(struct reftable_block_writer *bw)
{
	size_t start = bw->header + BLOCK_HEADER_LEN;
	uLong src_len = (uLong)(bw->bytes.len - start);
	uLongf dst_len = compressBound(src_len);

	buf_reset(&bw->record);
	if (buf_reserve(&bw->record, dst_len) < 0)
		return ERR_NOMEM;
	if (compress2((Bytef *)bw->record.data, &dst_len,
		      (const Bytef *)bw->bytes.data + start, src_len,
		      Z_BEST_COMPRESSION) != Z_OK)
		return ERR_NOMEM;
	buf_set_len(&bw->bytes, start);
	return buf_append(&bw->bytes, bw->record.data, dst_len);
}

int reftable_block_writer_finish(struct reftable_block_writer *bw)
{
	uint8_t number[RESTART_LEN];
	int ret = 0;

	for (size_t i = 0; i < bw->restart_nr; i++) {
		put_be24(number, bw->restarts[i]);
		ret |= buf_append(&bw->bytes, number, RESTART_LEN);
	}
	store_be16(number, (uint16_t)bw->restart_nr);
	ret |= buf_append(&bw->bytes, number, 2);
	if (ret)
		return ERR_NOMEM;
	put_be24((uint8_t *)bw->bytes.data + bw->header + 1, bw->bytes.len);
	return bw->type == REFTABLE_LOGS ? deflate_block(bw) : 0;
}
