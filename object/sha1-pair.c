/* SPDX-License-Identifier: MIT */
/*
 * Computes SHA-1 of two messages at the same time. Each instruction performs
 * four steps of SHA-1, as in sha1-x86.c. Of the four words in a register, the
 * first word is in the highest bits.
 *
 * A lane is the state of one message. Its registers hold sixteen words of the
 * message, the words a, b, c and d, and the word from which e is computed.
 */
#include "object/sha1-block.h"

#include "base/cpu.h"

#ifdef __x86_64__
#include <immintrin.h>

#define SHA __attribute__((target("sha,sse4.1,ssse3")))
#define INLINE static inline __attribute__((always_inline))

struct lane {
	__m128i abcd, e;
	__m128i w[4];
};

bool sha1_pair_is_here(void)
{
	return cpu_has_sha();
}

SHA INLINE void load_state(struct lane *l, const uint32_t *state)
{
	l->abcd = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state),
				    0x1b);
	l->e = _mm_set_epi32((int)state[4], 0, 0, 0);
}

SHA INLINE void store_state(uint32_t *state, const struct lane *l)
{
	_mm_storeu_si128((__m128i *)state, _mm_shuffle_epi32(l->abcd, 0x1b));
	state[4] = (uint32_t)_mm_extract_epi32(l->e, 3);
}

SHA INLINE void load_words(struct lane *l, const uint8_t *bytes)
{
	const __m128i reverse = _mm_set_epi64x(0x0001020304050607,
					       0x08090a0b0c0d0e0f);

#pragma GCC unroll 4
	for (unsigned i = 0; i < 4; i++)
		l->w[i] = _mm_shuffle_epi8(
			_mm_loadu_si128((const __m128i *)(bytes + 16 * i)),
			reverse);
}

/*
 * Computes the message words 4i to 4i+3 of one lane from the sixteen words
 * before.
 */
SHA INLINE void expand(struct lane *l, unsigned i)
{
	__m128i *w = l->w;

	w[i & 3] = _mm_sha1msg2_epu32(
		_mm_xor_si128(_mm_sha1msg1_epu32(w[i & 3], w[(i + 1) & 3]),
			      w[(i + 2) & 3]),
		w[(i + 3) & 3]);
}

/* Runs the SHA-1 steps 4i to 4i+3 of message a, then of message b. */
#define LANE_QUAD(l, i, function)                                              \
	do {                                                                   \
		__m128i added;                                                 \
                                                                               \
		if ((i) >= 4)                                                  \
			expand(l, i);                                          \
		added = (i) ? _mm_sha1nexte_epu32((l)->e, (l)->w[(i)&3])       \
			    : _mm_add_epi32((l)->e, (l)->w[0]);                \
		(l)->e = (l)->abcd;                                            \
		(l)->abcd = _mm_sha1rnds4_epu32((l)->abcd, added, function);   \
	} while (0)
#define QUAD(i, function)                                                      \
	LANE_QUAD(&a, i, function);                                            \
	LANE_QUAD(&b, i, function)
#define ROUND(i, function)                                                     \
	do {                                                                   \
		QUAD(i, function);                                             \
		QUAD((i) + 1, function);                                       \
		QUAD((i) + 2, function);                                       \
		QUAD((i) + 3, function);                                       \
		QUAD((i) + 4, function);                                       \
	} while (0)

/*
 * Ends a block: adds the working state to the chaining value that preceded the
 * block.
 */
SHA INLINE void join(struct lane *l, __m128i abcd, __m128i e)
{
	l->abcd = _mm_add_epi32(l->abcd, abcd);
	l->e = _mm_sha1nexte_epu32(l->e, e);
}

SHA void sha1_pair_compress(uint32_t states[2][SHA1_STATE_NR],
			    const uint8_t *const bytes[2], size_t nr)
{
	struct lane a, b;

	load_state(&a, states[0]);
	load_state(&b, states[1]);
	for (size_t at = 0; nr--; at += SHA1_BLOCK_LEN) {
		const struct lane a_before = a, b_before = b;

		load_words(&a, bytes[0] + at);
		load_words(&b, bytes[1] + at);
		ROUND(0, 0);
		ROUND(5, 1);
		ROUND(10, 2);
		ROUND(15, 3);
		join(&a, a_before.abcd, a_before.e);
		join(&b, b_before.abcd, b_before.e);
	}
	store_state(states[0], &a);
	store_state(states[1], &b);
}
#else
bool sha1_pair_is_here(void)
{
	return false;
}

/*
 * Stub for other processors. It is never called, because sha1_pair_is_here()
 * returns false.
 */
void sha1_pair_compress(uint32_t states[2][SHA1_STATE_NR],
			const uint8_t *const bytes[2], size_t nr)
{
}
#endif
