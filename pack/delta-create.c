/* SPDX-License-Identifier: MIT */
/*
 * Makes deltas.
 *
 * The base is cut into blocks of 16 bytes. A table maps the hash of a block to
 * the places where such blocks begin. At most CHAIN_MAX places are tried, so
 * that a repetitive base costs no more than any other base. The target is read
 * once, front to back. At each byte there are two kinds of candidates. The
 * first kind: each block of the base with the same hash. The second kind is one
 * place in the base, after the bytes that the last copy has taken from the
 * base. If n bytes of the target have been read since the last copy, the place
 * is n bytes after the end of the copied bytes. The base often matches the
 * target there: when bytes were replaced, the new bytes often have the same
 * length, such as an id in a tree. Candidates are extended in both directions.
 * The one that covers most of the target becomes a copy.
 *
 * Copies wait in a short queue before they are encoded. A later match is
 * extended backwards. If the extended match covers a whole earlier copy, the
 * match replaces the copy. This method is the correcting 1.5-pass algorithm of
 * Ajtai, Burns, Fagin, Long and Stockmeyer, "Compactly encoding unstructured
 * inputs with differential compression", J. ACM 49(3), 2002.
 */
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "pack/delta.h"

enum {
	/* number of bytes in a block, the unit whose hash is looked up */
	BLOCK = 16,
	/* maximum number of blocks that are tried from one hash bucket */
	CHAIN_MAX = 16,
	/* a match of this length ends the search for a better one */
	LONG_ENOUGH = 4096,
	/*
	 * Minimum length of a match that continues the last copy, after some
	 * bytes that differ. The match has the same distance between base
	 * offset and target position as the last copy.
	 */
	DIAGONAL_MIN = 8,
	/*
	 * A copy ends at target bytes that differ from the base. Often only few
	 * bytes differ, and the target then continues like the base. So, after
	 * a copy ends, the search looks for a match on the same diagonal: base
	 * offset minus target position is the same as in the copy. The search
	 * does this for this number of target bytes after the end of the copy.
	 */
	DIAGONAL_REACH = 256,
	/* length of the longest copy that a later match may replace */
	REPLACE_MAX = 512,
	/* maximum number of copies that wait to be encoded */
	QUEUE_MAX = 64,
	/*
	 * maximum number of bytes in one insert instruction, given by the
	 * format
	 */
	INSERT_MAX = 0x7f,
	/*
	 * maximum number of bytes in one copy instruction, so that every reader
	 * accepts the delta
	 */
	COPY_MAX = 0x10000,
	/*
	 * after this many bytes without a match, the search checks whether to
	 * give up
	 */
	CHECK_EVERY = 64,
	/*
	 * The search does not give up when the delta just exceeds its limit,
	 * because copies in the queue may still shorten the delta. The search
	 * gives up when the delta exceeds the limit by more than this number of
	 * bytes.
	 */
	GIVE_UP_SLACK = 128,
};

struct delta_index {
	const uint8_t *base; /* borrowed */
	size_t len;
	/*
	 * size in bytes of the allocation that holds this struct and its arrays
	 */
	size_t size;
	/*
	 * distance in bytes from the start of one indexed block of the base to
	 * the start of the next
	 */
	size_t step;
	/*
	 * number of bits by which a hash is shifted right to get the number of
	 * its hash bucket
	 */
	unsigned shift;
	/*
	 * Array indexed by block, after `heads` in memory. The blocks of a
	 * bucket form a chain. The value is 1 + the number of the next block in
	 * the chain. 0: the block is the last one of its chain.
	 */
	uint32_t *next;
	/*
	 * array indexed by bucket, after `next` in memory: the OR of the
	 * one-bit tags of all blocks in the bucket, see tag_of()
	 */
	uint8_t *tags;
	/*
	 * array indexed by bucket: 1 + the number of the first block in the
	 * bucket's chain; 0: the bucket is empty
	 */
	uint32_t heads[];
};

static uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t block_hash(const uint8_t *p)
{
	uint64_t h = load64(p) * UINT64_C(0x9e3779b97f4a7c15);

	return (h ^ h >> 32 ^ load64(p + 8)) * UINT64_C(0xd6e8feb86659fd93);
}

/*
 * Returns the tag of a hash: a byte with one bit set. Three bits of the hash,
 * which are not part of the bucket number, select the bit. The tag byte of a
 * bucket is the OR of the tags of its blocks.
 *
 * Nearly all lookups find nothing. Most of these lookups end at the tag byte,
 * without reading a chain. The table of tag bytes fits into the nearest CPU
 * cache.
 */
static uint8_t tag_of(const struct delta_index *index, uint64_t hash)
{
	return (uint8_t)(1u << (hash >> (index->shift - 3) & 7));
}

/*
 * Returns the distance in bytes between the starts of indexed blocks, for a
 * base of `len` bytes. The distance is smaller for small bases, because
 * indexing them is cheap.
 */
static size_t block_step(size_t len)
{
	return len < 16384 ? 4 : len < 131072 ? 8 : BLOCK;
}

/*
 * Links the blocks of each bucket in a chain. The block with the lowest offset
 * comes first.
 */
static void chain_blocks(struct delta_index *index, size_t block_nr)
{
	uint64_t later = 0;

	for (size_t i = block_nr; i--;) {
		uint64_t hash = block_hash(index->base + i * index->step);
		uint32_t *head = &index->heads[hash >> index->shift];

		/*
		 * If equal blocks follow each other, only the first one is
		 * kept, because a match at the first one can be extended
		 * furthest.
		 */
		if (i + 1 < block_nr && hash == later && *head == i + 2) {
			index->next[i] = index->next[i + 1];
		} else {
			index->next[i] = *head;
		}
		*head = (uint32_t)i + 1;
		index->tags[hash >> index->shift] |= tag_of(index, hash);
		later = hash;
	}
}

struct delta_index *delta_index_new(const void *base, size_t len)
{
	struct delta_index *index;
	size_t step = block_step(len);
	size_t block_nr = len < BLOCK ? 0 : (len - BLOCK) / step + 1;
	unsigned bits = 4;
	size_t bucket_nr, size;

	if (!len || len > UINT32_MAX)
		return NULL;
	/*
	 * A base below 4 GiB has at most 2^28 blocks, so `bits` is at most 28.
	 */
	while ((size_t)1 << bits < block_nr)
		bits++;
	bucket_nr = (size_t)1 << bits;
	size = sizeof(*index) + (bucket_nr + block_nr) * sizeof(uint32_t) +
	       bucket_nr;
	index = malloc(size);
	if (!index)
		return NULL;
	memset(index->heads, 0, bucket_nr * sizeof(uint32_t));
	index->base = base;
	index->len = len;
	index->size = size;
	index->step = step;
	index->shift = 64 - bits;
	index->next = index->heads + bucket_nr;
	index->tags = (uint8_t *)(index->next + block_nr);
	memset(index->tags, 0, bucket_nr);
	chain_blocks(index, block_nr);
	return index;
}

void delta_index_free(struct delta_index *index)
{
	free(index);
}

size_t delta_index_size(const struct delta_index *index)
{
	return index->size;
}

/* A match: base[off, off + len) equals target[at, at + len). */
struct copy {
	size_t at, off, len;
};

/* A delta under construction. */
struct maker {
	const struct delta_index *index;
	/*
	 * number of base bytes before the indexed part: the length of the
	 * prefix that base and target have in common, or 0
	 */
	size_t before;
	const uint8_t *target;
	size_t target_len;
	/* limit for the bytes of the delta; SIZE_MAX: no limit */
	size_t max_len;
	struct buf out;
	/* number of target bytes that the instructions in `out` produce */
	size_t encoded;
	struct copy queue[QUEUE_MAX];
	size_t queue_nr;
	/* number of target bytes that the copies in the queue produce */
	size_t queued_len;
};

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ZERO_BITS_FRONT __builtin_ctzll
#define ZERO_BITS_BACK __builtin_clzll
#else
#define ZERO_BITS_FRONT __builtin_clzll
#define ZERO_BITS_BACK __builtin_ctzll
#endif

/* Returns the length of the common prefix of a and b, at most `max`. */
static size_t common_forward(const uint8_t *a, const uint8_t *b, size_t max)
{
	size_t n = 0;

	for (; n + 8 <= max; n += 8) {
		uint64_t differ = load64(a + n) ^ load64(b + n);

		if (differ)
			return n + (size_t)ZERO_BITS_FRONT(differ) / 8;
	}
	while (n < max && a[n] == b[n])
		n++;
	return n;
}

/*
 * Compares the bytes that end at a with those that end at b, backwards. Returns
 * how many are equal before the first difference, at most `max`.
 */
static size_t common_backward(const uint8_t *a, const uint8_t *b, size_t max)
{
	size_t n = 0;

	for (; n + 8 <= max; n += 8) {
		uint64_t differ = load64(a - n - 8) ^ load64(b - n - 8);

		if (differ)
			return n + (size_t)ZERO_BITS_BACK(differ) / 8;
	}
	while (n < max && a[-1 - (ptrdiff_t)n] == b[-1 - (ptrdiff_t)n])
		n++;
	return n;
}

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Returns the end of the covered target bytes: all bytes before the returned
 * position are encoded or covered by a copy.
 */
static size_t covered_end(const struct maker *m)
{
	const struct copy *last = m->queue + m->queue_nr;

	return m->queue_nr ? last[-1].at + last[-1].len : m->encoded;
}

static int put_insert(struct maker *m, size_t at, size_t len)
{
	while (len) {
		size_t part = min_size(len, INSERT_MAX);

		if (buf_append_char(&m->out, (char)part) < 0 ||
		    buf_append(&m->out, m->target + at, part) < 0)
			return ERR_NOMEM;
		at += part;
		len -= part;
	}
	return 0;
}

static int put_copy(struct maker *m, size_t off, size_t len)
{
	uint8_t op[8] = {0x80};
	size_t n = 1;
	uint32_t size = len == COPY_MAX ? 0 : (uint32_t)len;

	for (unsigned i = 0; i < 4; i++) {
		uint8_t byte = (uint8_t)(off >> 8 * i);

		op[0] |= (uint8_t)(!!byte << i);
		op[n] = byte;
		n += !!byte;
	}
	for (unsigned i = 0; i < 2; i++) {
		uint8_t byte = (uint8_t)(size >> 8 * i);

		op[0] |= (uint8_t)(!!byte << (4 + i));
		op[n] = byte;
		n += !!byte;
	}
	return buf_append(&m->out, op, n);
}

static int put_copies(struct maker *m, size_t off, size_t len)
{
	while (len) {
		size_t part = min_size(len, COPY_MAX);
		int ret = put_copy(m, off, part);

		if (ret < 0)
			return ret;
		off += part;
		len -= part;
	}
	return 0;
}

/*
 * Encodes the first `nr` copies of the queue, and an insert instruction for
 * the unmatched bytes before each copy. Returns 0 or ERR_NOMEM.
 */
static int encode_queue(struct maker *m, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct copy *c = &m->queue[i];
		int ret = put_insert(m, m->encoded, c->at - m->encoded);

		if (!ret)
			ret = put_copies(m, m->before + c->off, c->len);
		if (ret < 0)
			return ret;
		m->encoded = c->at + c->len;
		m->queued_len -= c->len;
	}
	m->queue_nr -= nr;
	memmove(m->queue, m->queue + nr, m->queue_nr * sizeof(*m->queue));
	return 0;
}

static void start_earlier(struct copy *c, size_t len)
{
	c->at -= len;
	c->off -= len;
	c->len += len;
}

/*
 * `match` begins where the last copy in the queue ends. Returns the length of
 * this copy if `match` can be extended backwards over all bytes of the copy,
 * and so can replace it. Otherwise returns 0.
 */
static size_t replaceable(const struct maker *m, const struct copy *match)
{
	size_t len = m->queue_nr ? m->queue[m->queue_nr - 1].len : 0;

	if (!len || len > REPLACE_MAX || len > match->off)
		return 0;
	return memcmp(m->index->base + match->off - len,
		      m->target + match->at - len, len)
		       ? 0
		       : len;
}

/*
 * Extends a match backwards: over unmatched bytes, and over earlier short
 * copies if the extended match covers such a copy completely.
 */
static void extend_backward(struct maker *m, struct copy *match)
{
	size_t whole;

	do {
		size_t gap = match->at - covered_end(m);
		size_t n = common_backward(m->index->base + match->off,
					   m->target + match->at,
					   min_size(gap, match->off));

		start_earlier(match, n);
		whole = n == gap ? replaceable(m, match) : 0;
		if (whole) {
			m->queue_nr--;
			m->queued_len -= whole;
			start_earlier(match, whole);
		}
	} while (whole);
}

/*
 * Appends a match to the queue. If the queue is full, encodes its first half
 * before. Returns 0 or ERR_NOMEM; after ERR_NOMEM, the queue is still full.
 */
static int add_copy(struct maker *m, struct copy match)
{
	extend_backward(m, &match);
	if (m->queue_nr == QUEUE_MAX) {
		int ret = encode_queue(m, QUEUE_MAX / 2);

		if (ret < 0)
			return ret;
	}
	m->queue[m->queue_nr++] = match;
	m->queued_len += match.len;
	return 0;
}

/*
 * Returns the number by which candidates for a copy are compared: the length of
 * the candidate, plus the bytes by which it can be extended backwards without
 * touching an earlier copy.
 */
static size_t candidate_len(const struct maker *m, const struct copy *c)
{
	size_t gap = min_size(c->at - covered_end(m), c->off);

	return c->len + common_backward(m->index->base + c->off,
					m->target + c->at,
					min_size(gap, LONG_ENOUGH));
}

/*
 * Finds the best match in the base for the target bytes from `at` on. The
 * candidates are the base's blocks that have the same hash as the 16 bytes at
 * `at`. If the candidate_len() of a candidate is greater than *best_len, sets
 * *best to the best candidate, and *best_len to its candidate_len().
 */
static void find_block(const struct maker *m, size_t at, struct copy *best,
		       size_t *best_len)
{
	const struct delta_index *index = m->index;
	uint64_t hash = block_hash(m->target + at);
	uint32_t block = index->heads[hash >> index->shift];
	uint64_t front = load64(m->target + at);

	for (unsigned i = 0; block && i < CHAIN_MAX; i++) {
		struct copy c = {at, (block - 1) * index->step, 0};
		const uint8_t *base = index->base + c.off;
		size_t len;

		block = index->next[block - 1];
		if (load64(base) != front)
			continue;
		c.len = common_forward(
			base, m->target + at,
			min_size(index->len - c.off, m->target_len - at));
		if (c.len < BLOCK)
			continue;
		len = candidate_len(m, &c);
		if (len <= *best_len)
			continue;
		*best = c;
		*best_len = len;
		if (len >= LONG_ENOUGH)
			return;
	}
}

/*
 * Returns the base offset of the byte that the last copy would copy to the
 * target position `at`, if the copy were longer.
 */
static size_t diagonal_off(const struct maker *m, size_t at)
{
	const struct copy *last;

	if (!m->queue_nr)
		return at;
	last = &m->queue[m->queue_nr - 1];
	return last->off + (at - last->at);
}

/*
 * Returns how many target positions, from `at` on, are checked for a
 * continuation of the last copy.
 */
static size_t diagonal_len(const struct maker *m, size_t at)
{
	size_t off = diagonal_off(m, at);
	size_t end = m->queue_nr ? covered_end(m) + DIAGONAL_REACH : SIZE_MAX;

	if (at > end || off > m->index->len ||
	    m->index->len - off < DIAGONAL_MIN)
		return 0;
	return min_size(end - at, m->index->len - DIAGONAL_MIN - off) + 1;
}

/*
 * Checks whether the last copy can continue at the target position `at`. Its
 * position in the base would then be diagonal_off(). If at least 8 bytes match
 * at these two positions, sets *best to the match. Also sets *best_len to the
 * number of bytes that the match can cover if it is extended backwards too
 * (candidate_len()). Matches are compared by this number.
 */
static void find_diagonal(const struct maker *m, size_t at, struct copy *best,
			  size_t *best_len)
{
	struct copy c = {at, diagonal_off(m, at), 0};

	if (!diagonal_len(m, at) ||
	    load64(m->index->base + c.off) != load64(m->target + at))
		return;
	c.len = common_forward(
		m->index->base + c.off, m->target + at,
		min_size(m->index->len - c.off, m->target_len - at));
	*best = c;
	*best_len = candidate_len(m, &c);
}

static bool hopeless(const struct maker *m, size_t at)
{
	size_t inserts = at - m->encoded - m->queued_len;

	return m->out.len + inserts + 3 * m->queue_nr >
	       m->max_len + GIVE_UP_SLACK;
}

/*
 * Returns the first target position in [at, end) at which a match may begin, or
 * `end` if there is none. A match may begin if the last copy could continue at
 * the position. A match may also begin if the base may have a block with the
 * same hash as the target's bytes at the position. This is tested with the tag
 * byte of the hash's bucket (see tag_of()). The test rules out most positions
 * without reading the blocks of the bucket.
 */
static size_t skip_misses(const struct maker *m, size_t at, size_t end)
{
	const struct delta_index *index = m->index;
	size_t diagonal = diagonal_len(m, at);
	const uint8_t *base = index->base +
			      (diagonal ? diagonal_off(m, at) : 0);
	size_t start = at;

	for (; at < end; at++) {
		uint64_t hash;

		if (at - start < diagonal &&
		    load64(base + (at - start)) == load64(m->target + at))
			break;
		hash = block_hash(m->target + at);
		if (index->tags[hash >> index->shift] & tag_of(index, hash))
			break;
	}
	return at;
}

/*
 * Finds all copies for the target. Returns 0 on success, 1 if the delta would
 * exceed its limit, or ERR_NOMEM.
 */
static int match_target(struct maker *m)
{
	size_t at = 0;

	while (m->target_len - at >= DIAGONAL_MIN) {
		struct copy best = {0, 0, 0};
		size_t best_len = 0;
		int ret;

		if (m->target_len - at >= 2 * BLOCK) {
			size_t end = min_size((at | (CHECK_EVERY - 1)) + 1,
					      m->target_len - BLOCK);

			at = skip_misses(m, at, end);
			if (at == end) {
				if (hopeless(m, at))
					return 1;
				continue;
			}
		}
		find_diagonal(m, at, &best, &best_len);
		if (best_len < LONG_ENOUGH && m->target_len - at >= BLOCK)
			find_block(m, at, &best, &best_len);
		if (!best_len) {
			at++;
			continue;
		}
		ret = add_copy(m, best);
		if (ret < 0)
			return ret;
		at = covered_end(m);
		if (hopeless(m, at))
			return 1;
	}
	return 0;
}

static int put_size(struct buf *out, size_t size)
{
	for (; size >= 0x80; size >>= 7)
		if (buf_append_char(out, (char)(0x80 | (size & 0x7f))) < 0)
			return ERR_NOMEM;
	return buf_append_char(out, (char)size);
}

static int put_sizes(struct buf *out, size_t base_len, size_t target_len)
{
	int ret = put_size(out, base_len);

	return ret < 0 ? ret : put_size(out, target_len);
}

/*
 * Makes the delta of the whole target. Returns 0 on success, 1 if the delta
 * would exceed its limit, or ERR_NOMEM.
 */
static int make(struct maker *m)
{
	int ret = match_target(m);

	if (!ret)
		ret = encode_queue(m, m->queue_nr);
	if (!ret)
		ret = put_insert(m, m->encoded, m->target_len - m->encoded);
	return ret;
}

/*
 * Ends the making of a delta. `ret` is the result of making it: 0, 1 for a
 * delta that exceeds its limit, or ERR_NOMEM. If `ret` is 0 and the delta has
 * at most m->max_len bytes, moves its bytes to *out and returns 0. Otherwise
 * frees the bytes and returns 1 or ERR_NOMEM.
 */
static int finish(struct maker *m, int ret, void **out, size_t *out_len)
{
	if (!ret && m->out.len > m->max_len)
		ret = 1;
	if (!ret)
		*out = buf_detach(&m->out, out_len);
	buf_release(&m->out);
	return ret;
}

int delta_create(const struct delta_index *index, const void *target,
		 size_t target_len, size_t max_len, void **out, size_t *out_len)
{
	struct maker m = {
		.index = index,
		.target = target,
		.target_len = target_len,
		.max_len = max_len ? max_len : SIZE_MAX - GIVE_UP_SLACK,
		.out = BUF_INIT,
	};
	int ret = put_sizes(&m.out, index->len, target_len);

	if (!ret)
		ret = make(&m);
	return finish(&m, ret, out, out_len);
}

/*
 * Makes the part of the delta between the common prefix and the common suffix
 * of base and target. The `len` bytes at `base` are this part of the base.
 * Returns 0 on success, 1 if the delta would exceed its limit, or ERR_NOMEM.
 */
static int make_middle(struct maker *m, const uint8_t *base, size_t len)
{
	struct delta_index *index;
	int ret;

	if (!len)
		return put_insert(m, 0, m->target_len);
	index = delta_index_new(base, len);
	if (!index)
		return ERR_NOMEM;
	m->index = index;
	ret = make(m);
	delta_index_free(index);
	return ret;
}

int delta_create_near(const void *base, size_t base_len, const void *target,
		      size_t target_len, size_t max_len, void **out,
		      size_t *out_len)
{
	const uint8_t *from = base, *to = target;
	size_t shorter = min_size(base_len, target_len);
	size_t front = common_forward(from, to, shorter);
	size_t back = common_backward(from + base_len, to + target_len,
				      shorter - front);
	struct maker m = {
		.before = front,
		.target = to + front,
		.target_len = target_len - front - back,
		.max_len = max_len ? max_len : SIZE_MAX - GIVE_UP_SLACK,
		.out = BUF_INIT,
	};
	int ret = put_sizes(&m.out, base_len, target_len);

	if (!ret)
		ret = put_copies(&m, 0, front);
	if (!ret)
		ret = make_middle(&m, from + front, base_len - front - back);
	if (!ret)
		ret = put_copies(&m, base_len - back, back);
	return finish(&m, ret, out, out_len);
}
