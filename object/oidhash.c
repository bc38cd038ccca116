/* SPDX-License-Identifier: MIT */
/* The key of hash tables of ids. */
#include <sys/auxv.h>

#include "base/splitmix.h"
#include "object/oidhash.h"

/*
 * The kernel gives every process 16 random bytes, without a system call. If
 * they are missing, the address of the stack is used, which the kernel
 * randomises.
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
