/* SPDX-License-Identifier: MIT */
/*
 * Internal to object/: tables of the disturbance vectors of attacks on SHA-1.
 * The 32 vectors are those that are useful to an attacker. Each vector has
 * conditions on bits of the words 35 to 64 of a block. A block that is made
 * with the vector meets all its conditions. Source: M. Stevens and D. Shumow,
 * "Speeding up detection of SHA-1 collision attacks using unavoidable attack
 * conditions" (USENIX Security 2017).
 *
 * An attack changes one bit of the working state in some steps, and corrects
 * each change in the five steps that follow. A disturbance vector gives the
 * steps in which bits are changed. The vector has 80 words that obey the
 * message expansion, so 16 words determine the others. S. Manuel describes two
 * types of vectors by their words K to K+15. All of these words are zero,
 * except:
 *
 *	type I(K,b): word K+15 = 1 << b
 *	type II(K,b): word K+15 = 1 << b, words K+1 and K+3 = 1 << (b+31)
 *
 * Shifts by b + 31 are rotations in 32 bits. If two vectors differ only in K,
 * one has the words of the other, but at other steps. If two vectors differ
 * only in b, one has the words of the other, but rotated. So the vectors form
 * four families, each with one type and one b. The conditions of a family, and
 * the bits that an attack changes in the message words, are given relative to
 * K:
 *
 *	family	type	b	K
 *	0	I	0	43 to 52
 *	1	I	2	46 to 51
 *	2	II	0	45 to 56
 *	3	II	2	46, 49 to 51
 */
#ifndef OBJECT_SHA1_VECTORS_H
#define OBJECT_SHA1_VECTORS_H

#include <stdint.h>

enum {
	SHA1_FAMILY_NR = 4,
	SHA1_K_FIRST = 43,
	SHA1_K_LAST = 56,
};

/*
 * A set of positions K of disturbance vectors, as a bit mask: those from
 * `first` to `last`. Bit 0 stands for K = SHA1_K_FIRST.
 */
#define SHA1_KS(first, last)                                                   \
	((UINT32_C(2) << ((last)-SHA1_K_FIRST)) -                              \
	 (UINT32_C(1) << ((first)-SHA1_K_FIRST)))

/* The Ks of each family. */
#define SHA1_FAMILY_KS_0 SHA1_KS(43, 52)
#define SHA1_FAMILY_KS_1 SHA1_KS(46, 51)
#define SHA1_FAMILY_KS_2 SHA1_KS(45, 56)
#define SHA1_FAMILY_KS_3 (SHA1_KS(46, 46) | SHA1_KS(49, 51))

/*
 * The table of conditions, as calls of X(family, at1, bit1, at2, bit2, differ,
 * ks). A condition holds for each K in `ks`: bit `bit1` of word K+at1 differs
 * from bit `bit2` of word K+at2 if `differ` is 1, and equals it if `differ` is
 * 0.
 */
#define SHA1_CONDITIONS(X)                                                     \
	X(0, -16, 3, -12, 28, 0, SHA1_KS(51, 51))                              \
	X(0, -14, 4, -13, 4, 1, SHA1_KS(50, 52))                               \
	X(0, -14, 4, -9, 29, 1, SHA1_KS(50, 52))                               \
	X(0, -13, 4, -9, 29, 0, SHA1_KS(48, 49))                               \
	X(0, -10, 4, -8, 29, 0, SHA1_KS(48, 52))                               \
	X(0, -10, 4, -7, 29, 0, SHA1_KS(47, 52))                               \
	X(0, -10, 4, -6, 29, 0, SHA1_KS(45, 52))                               \
	X(0, -6, 4, -4, 4, 1, SHA1_KS(43, 52))                                 \
	X(0, -6, 4, -4, 29, 0, SHA1_KS(44, 52))                                \
	X(0, -6, 4, -3, 29, 0, SHA1_KS(43, 52))                                \
	X(0, -6, 4, -2, 4, 0, SHA1_KS(43, 52))                                 \
	X(0, -6, 4, -1, 29, 1, SHA1_KS(43, 52))                                \
	X(0, -6, 4, 0, 4, 1, SHA1_KS(43, 52))                                  \
	X(0, -6, 4, 1, 29, 0, SHA1_KS(43, 52))                                 \
	X(0, -6, 4, 3, 29, 1, SHA1_KS(43, 52))                                 \
	X(0, -6, 4, 4, 29, 1, SHA1_KS(43, 52))                                 \
	X(0, 15, 0, 16, 5, 1, SHA1_KS(45, 48))                                 \
	X(0, 15, 0, 20, 30, 1, SHA1_KS(43, 44))                                \
	X(0, 16, 5, 20, 30, 0, SHA1_KS(43, 44))                                \
	X(0, 18, 1, 19, 6, 1, SHA1_KS(43, 45))                                 \
	X(1, -16, 5, -12, 30, 0, SHA1_KS(51, 51))                              \
	X(1, -14, 1, -14, 6, 0, SHA1_KS(51, 51))                               \
	X(1, -14, 1, -13, 6, 1, SHA1_KS(49, 51))                               \
	X(1, -11, 1, -10, 6, 1, SHA1_KS(46, 51))                               \
	X(1, -11, 1, -9, 1, 1, SHA1_KS(49, 51))                                \
	X(1, -7, 1, -6, 6, 1, SHA1_KS(46, 51))                                 \
	X(1, -7, 1, -4, 6, 1, SHA1_KS(46, 51))                                 \
	X(1, -7, 1, -2, 6, 1, SHA1_KS(46, 51))                                 \
	X(1, -7, 1, 0, 6, 1, SHA1_KS(46, 51))                                  \
	X(1, -7, 1, 1, 1, 1, SHA1_KS(46, 51))                                  \
	X(1, 15, 2, 16, 7, 1, SHA1_KS(46, 48))                                 \
	X(2, -18, 4, -16, 4, 1, SHA1_KS(55, 56))                               \
	X(2, -18, 4, -16, 29, 0, SHA1_KS(56, 56))                              \
	X(2, -18, 4, -15, 29, 0, SHA1_KS(55, 56))                              \
	X(2, -18, 4, -14, 4, 0, SHA1_KS(55, 56))                               \
	X(2, -18, 4, -13, 29, 1, SHA1_KS(54, 56))                              \
	X(2, -16, 4, -14, 4, 1, SHA1_KS(52, 53))                               \
	X(2, -16, 4, -13, 29, 0, SHA1_KS(53, 54))                              \
	X(2, -14, 4, -13, 29, 1, SHA1_KS(54, 54))                              \
	X(2, -13, 30, -12, 3, 1, SHA1_KS(48, 52))                              \
	X(2, -13, 30, -8, 28, 1, SHA1_KS(48, 52))                              \
	X(2, -12, 3, -8, 28, 0, SHA1_KS(47, 47) | SHA1_KS(53, 56))             \
	X(2, -12, 4, -8, 29, 0, SHA1_KS(47, 56))                               \
	X(2, -9, 4, -7, 29, 0, SHA1_KS(47, 53) | SHA1_KS(55, 56))              \
	X(2, -9, 4, -6, 29, 0, SHA1_KS(46, 53) | SHA1_KS(55, 56))              \
	X(2, -9, 4, -5, 29, 0, SHA1_KS(45, 56))                                \
	X(2, -7, 29, -5, 29, 0, SHA1_KS(54, 54))                               \
	X(2, -6, 29, -5, 29, 0, SHA1_KS(54, 54))                               \
	X(2, -4, 4, -2, 29, 0, SHA1_KS(45, 53) | SHA1_KS(55, 56))              \
	X(2, -4, 4, -1, 29, 0, SHA1_KS(45, 53) | SHA1_KS(55, 56))              \
	X(2, -4, 4, 0, 29, 0, SHA1_KS(45, 56))                                 \
	X(2, -2, 29, 0, 29, 0, SHA1_KS(54, 54))                                \
	X(2, -1, 29, 0, 29, 0, SHA1_KS(54, 54))                                \
	X(2, 2, 4, 4, 29, 0, SHA1_KS(55, 55))                                  \
	X(2, 2, 4, 5, 29, 0, SHA1_KS(54, 54))                                  \
	X(2, 2, 4, 8, 29, 1, SHA1_KS(45, 53))                                  \
	X(2, 4, 4, 8, 29, 0, SHA1_KS(45, 56))                                  \
	X(2, 4, 29, 5, 29, 0, SHA1_KS(54, 54))                                 \
	X(2, 4, 29, 8, 29, 1, SHA1_KS(45, 53))                                 \
	X(2, 5, 29, 8, 29, 1, SHA1_KS(45, 53))                                 \
	X(2, 7, 29, 8, 29, 0, SHA1_KS(45, 52))                                 \
	X(2, 15, 0, 16, 5, 1, SHA1_KS(45, 48))                                 \
	X(2, 18, 1, 19, 6, 1, SHA1_KS(45, 45))                                 \
	X(3, -13, 0, -12, 5, 1, SHA1_KS(49, 51))                               \
	X(3, -13, 0, -8, 30, 1, SHA1_KS(49, 51))                               \
	X(3, -10, 1, -9, 6, 1, SHA1_KS(46, 46) | SHA1_KS(49, 51))              \
	X(3, -10, 1, -8, 1, 1, SHA1_KS(49, 51))                                \
	X(3, -5, 1, -4, 6, 1, SHA1_KS(46, 46) | SHA1_KS(49, 51))               \
	X(3, -5, 1, -3, 1, 1, SHA1_KS(46, 46) | SHA1_KS(49, 51))               \
	X(3, 1, 1, 5, 1, 1, SHA1_KS(46, 46) | SHA1_KS(49, 51))                 \
	X(3, 2, 6, 5, 1, 0, SHA1_KS(46, 46) | SHA1_KS(49, 51))                 \
	X(3, 4, 6, 5, 1, 0, SHA1_KS(46, 46) | SHA1_KS(49, 51))                 \
	X(3, 15, 2, 16, 7, 1, SHA1_KS(46, 46))

/*
 * Computes the difference (exclusive or) between the expanded message words of
 * two colliding blocks, and writes its 80 words to `out`. The attack that has
 * made the blocks used one disturbance vector. `family` and `k` name this
 * vector: `family` is the number of its family in the table at the top of this
 * file, and `k` is its value K.
 */
void sha1_vectors_difference(uint32_t *out, unsigned family, unsigned k);

#endif
