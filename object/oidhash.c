/* SPDX-License-Identifier: MIT */
/* The key of hash tables of ids. */
#include <sys/auxv.h>

#include "base/splitmix.h"
#include "object/oidhash.h"

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
		hash->key[i] = splitmix_next(&seed[0]) ^
			       splitmix_next(&seed[1]);
}
