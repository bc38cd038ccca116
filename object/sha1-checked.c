/* SPDX-License-Identifier: MIT */
/*
 * Computes SHA-1 with detection of attacks: splits messages into blocks, and
 * collects blocks in batches that are checked together.
 */
#include <string.h>

#include "base/bytes.h"
#include "object/sha1-checked.h"

void sha1_checked_init(struct sha1_checked *h)
{
	memset(h, 0, sizeof(*h));
	sha1_x86_detect(&h->batch);
}

void sha1_checked_reset(struct sha1_checked *h)
{
	static const uint32_t start[SHA1_STATE_NR] = {
		0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

	memcpy(h->state, start, sizeof(start));
	h->len = 0;
	h->batch.nr = 0;
	h->is_attack = false;
}

static void add_blocks(struct sha1_checked *h, const uint8_t *bytes, size_t nr)
{
	struct sha1_batch *batch = &h->batch;

	if (batch->has_sha) {
		sha1_x86_compress(batch, h->state, bytes, nr);
		return;
	}
	for (; nr--; bytes += SHA1_BLOCK_LEN) {
		sha1_block_compress(&batch->blocks[batch->nr], h->state, bytes);
		if (batch->has_avx2)
			sha1_x86_sample(batch, batch->nr++);
		else
			sha1_attack_sample(batch, batch->nr++);
	}
}

static void blocks(struct sha1_checked *h, const uint8_t *bytes, size_t nr)
{
	while (nr) {
		size_t room = SHA1_LANE_NR - h->batch.nr;
		size_t now = nr < room ? nr : room;

		add_blocks(h, bytes, now);
		bytes += now * SHA1_BLOCK_LEN;
		nr -= now;
		if (h->batch.nr == SHA1_LANE_NR)
			h->is_attack |= sha1_attack_check(&h->batch);
	}
}

void sha1_checked_update(struct sha1_checked *h, const void *bytes, size_t len)
{
	size_t held = h->len % SHA1_BLOCK_LEN;
	const uint8_t *p = bytes;

	h->len += len;
	if (held) {
		size_t room = SHA1_BLOCK_LEN - held;
		size_t now = len < room ? len : room;

		if (!now)
			return;
		memcpy(h->pending + held, p, now);
		if (now < room)
			return;
		blocks(h, h->pending, 1);
		p += now;
		len -= now;
	}
	blocks(h, p, len / SHA1_BLOCK_LEN);
	if (len % SHA1_BLOCK_LEN)
		memcpy(h->pending, p + len / SHA1_BLOCK_LEN * SHA1_BLOCK_LEN,
		       len % SHA1_BLOCK_LEN);
}

bool sha1_checked_final(struct sha1_checked *h, uint8_t *out)
{
	uint8_t end[2 * SHA1_BLOCK_LEN] = {0};
	size_t held = h->len % SHA1_BLOCK_LEN;
	size_t nr = held + 9 > SHA1_BLOCK_LEN ? 2 : 1;

	memcpy(end, h->pending, held);
	end[held] = 0x80;
	store_be64(end + nr * SHA1_BLOCK_LEN - 8, h->len * 8);
	blocks(h, end, nr);
	if (h->batch.nr)
		h->is_attack |= sha1_attack_check(&h->batch);
	for (unsigned i = 0; i < SHA1_STATE_NR; i++)
		store_be32(out + 4 * i, h->state[i]);
	return h->is_attack;
}
