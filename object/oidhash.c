/* SPDX-License-Identifier: MIT */
/* The key of hash tables of ids. */
#include <sys/auxv.h>

#include "object/oidhash.h"

/* The next number of a sequence that looks random: splitmix64. */
static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/*
 * The kernel gives every process 16 random bytes: they need no system call.
 * Where there are none the stack's place, which it chooses, has to do.
 */
void oidhash_init(struct oidhash *hash)
{
	const void *random = (const void *)getauxval(AT_RANDOM);
	uint64_t seed[2] = {(uintptr_t)&seed, (uintptr_t)hash};

	if (random)
		memcpy(seed, random, sizeof(seed));
	for (int i = 0; i < 4; i++)
		hash->key[i] = next(&seed[0]) ^ next(&seed[1]);
}
