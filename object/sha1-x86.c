/* SPDX-License-Identifier: MIT */
/*
 * Computes SHA-1 with the SHA and AVX2 instructions of x86-64. One instruction
 * performs four steps of SHA-1. A register holds four words of the message, the
 * first one highest. Another register holds a, b, c and d in the same order.
 * The word e needs no register: its value is that of `a` four steps before,
 * rotated, and sha1nexte computes it.
 */
#include "object/sha1-checked.h"

#include "base/cpu.h"

#ifdef __x86_64__
#include <immintrin.h>

enum { QUAD_NR = SHA1_STEP_NR / 4, KEPT_QUAD = SHA1_KEPT_FIRST / 4 };

#define AVX2 __attribute__((target("avx2")))
#define SHA __attribute__((target("sha,sse4.1,ssse3,avx2")))
#define INLINE static inline __attribute__((always_inline))

void sha1_x86_detect(struct sha1_batch *batch)
{
	batch->has_avx2 = cpu_has_avx2();
	batch->has_sha = batch->has_avx2 && cpu_has_sha();
}

/* Stores four message words from a register in their order. */
SHA INLINE void store(uint32_t *out, __m128i words)
{
	_mm_storeu_si128((__m128i *)out, _mm_shuffle_epi32(words, 0x1b));
}

SHA INLINE void load_words(__m128i *w, const uint8_t *bytes)
{
	const __m128i reverse = _mm_set_epi64x(0x0001020304050607,
					       0x08090a0b0c0d0e0f);

#pragma GCC unroll 8
	for (unsigned i = 0; i < 4; i++)
		w[i] = _mm_shuffle_epi8(
			_mm_loadu_si128((const __m128i *)(bytes + 16 * i)),
			reverse);
}

/* Runs the SHA-1 steps 4i to 4i+3: computes s[i + 1] from s[i] and s[i - 1]. */
#define QUAD(i, function)                                                      \
	if ((i) >= 4)                                                          \
		w[i] = _mm_sha1msg2_epu32(                                     \
			_mm_xor_si128(_mm_sha1msg1_epu32(w[((i)-4) & 31],      \
							 w[((i)-3) & 31]),     \
				      w[((i)-2) & 31]),                        \
			w[((i)-1) & 31]);                                      \
	store(block->words + 4 * (i), w[i]);                                   \
	s[(i) + 1] = _mm_sha1rnds4_epu32(                                      \
		s[i],                                                          \
		(i) ? _mm_sha1nexte_epu32(s[((i)-1) & 31], w[i])               \
		    : _mm_add_epi32(*e, w[i]),                                 \
		function)
#define ROUND(i, function)                                                     \
	do {                                                                   \
		QUAD(i, function);                                             \
		QUAD((i) + 1, function);                                       \
		QUAD((i) + 2, function);                                       \
		QUAD((i) + 3, function);                                       \
		QUAD((i) + 4, function);                                       \
	} while (0)

SHA INLINE void compress(struct sha1_block *block, __m128i *abcd, __m128i *e,
			 const uint8_t *bytes)
{
	__m128i w[QUAD_NR], s[QUAD_NR + 1];

	store(block->before, *abcd);
	block->before[4] = (uint32_t)_mm_extract_epi32(*e, 3);
	load_words(w, bytes);
	s[0] = *abcd;
	ROUND(0, 0);
	ROUND(5, 1);
	ROUND(10, 2);
	ROUND(15, 3);
#pragma GCC unroll 8
	for (unsigned i = 0; i < SHA1_KEPT_NR; i++)
		store(block->kept[i], s[KEPT_QUAD + i]);
	*abcd = _mm_add_epi32(*abcd, s[QUAD_NR]);
	*e = _mm_sha1nexte_epu32(s[QUAD_NR - 1], *e);
	store(block->after, *abcd);
	block->after[4] = (uint32_t)_mm_extract_epi32(*e, 3);
}

/* Packs the low bytes of 32 words into one vector, in order. */
AVX2 INLINE void pack_bytes(__m256i *out, const __m256i *words)
{
	const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
	const __m256i low = _mm256_set1_epi32(0xff);
	__m256i in[4];

#pragma GCC unroll 8
	for (unsigned i = 0; i < 4; i++)
		in[i] = _mm256_and_si256(words[i], low);
	in[0] = _mm256_packs_epi32(in[0], in[1]);
	in[2] = _mm256_packs_epi32(in[2], in[3]);
	*out = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(in[0], in[2]),
					   order);
}

/* Returns bit `bit` of each byte of a vector, as a mask. */
#define BIT(bytes, bit)                                                        \
	(uint32_t) _mm256_movemask_epi8(_mm256_slli_epi16(bytes, 7 - (bit)))

AVX2 INLINE void sample(struct sha1_batch *batch, unsigned lane)
{
	const uint32_t *words = batch->blocks[lane].words + SHA1_COLUMN_FIRST;
	uint32_t(*columns)[SHA1_LANE_NR] = batch->columns;
	__m256i in[4], bytes;

#pragma GCC unroll 8
	for (unsigned i = 0; i < 4; i++)
		in[i] = _mm256_loadu_si256((const __m256i *)(words + 8 * i));
	pack_bytes(&bytes, in);
#pragma GCC unroll 8
	for (unsigned c = 0; c < SHA1_LOW_NR; c++)
		columns[c][lane] = BIT(bytes, c);
#pragma GCC unroll 8
	for (unsigned i = 0; i < 4; i++)
		in[i] = _mm256_srli_epi32(in[i], 24);
	pack_bytes(&bytes, in);
#pragma GCC unroll 8
	for (unsigned c = SHA1_LOW_NR; c < SHA1_COLUMN_NR; c++)
		columns[c][lane] = BIT(bytes,
				       c - SHA1_LOW_NR + SHA1_HIGH_FIRST - 24);
}

AVX2 void sha1_x86_sample(struct sha1_batch *batch, unsigned lane)
{
	sample(batch, lane);
}

SHA void sha1_x86_compress(struct sha1_batch *batch,
			   uint32_t state[SHA1_STATE_NR], const uint8_t *bytes,
			   size_t nr)
{
	__m128i abcd = _mm_shuffle_epi32(
		_mm_loadu_si128((const __m128i *)state), 0x1b);
	__m128i e = _mm_set_epi32((int)state[4], 0, 0, 0);

	for (; nr--; bytes += SHA1_BLOCK_LEN) {
		/*
		 * The SHA instructions have no VEX form. Some processors run
		 * them 70 times slower unless the upper halves of the AVX
		 * registers are zero.
		 */
		_mm256_zeroupper();
		compress(&batch->blocks[batch->nr], &abcd, &e, bytes);
		sample(batch, batch->nr++);
	}
	store(state, abcd);
	state[4] = (uint32_t)_mm_extract_epi32(e, 3);
}
#else
void sha1_x86_detect(struct sha1_batch *batch)
{
	batch->has_sha = batch->has_avx2 = false;
}

/*
 * Stub for other processors. It is never called, because has_sha and has_avx2
 * are false.
 */
void sha1_x86_compress(struct sha1_batch *batch, uint32_t state[SHA1_STATE_NR],
		       const uint8_t *bytes, size_t nr)
{
}

void sha1_x86_sample(struct sha1_batch *batch, unsigned lane)
{
}
#endif
