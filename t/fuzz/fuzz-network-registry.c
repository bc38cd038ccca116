/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for islands/network-registry.c, the list of the member
 * repositories of a fork network. A registry that can be parsed is written
 * again. The written bytes must equal the input.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "islands/network.h"
#include "t/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct network_registry registry = NETWORK_REGISTRY_INIT;
	struct buf out = BUF_INIT;

	if (!network_registry_parse(&registry, data, len, "fuzz", NULL) &&
	    !network_registry_format(&out, &registry) &&
	    (out.len != len || memcmp(out.data, data, len)))
		abort();
	network_registry_release(&registry);
	buf_release(&out);
	return 0;
}
