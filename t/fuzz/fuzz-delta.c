/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for making and applying deltas. The first byte of the input says
 * where the rest is cut into two parts. First, the parts are used as a base and
 * a delta. Then they are used as a base and a target: a delta is made from the
 * base to the target, and applying this delta must give the target.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pack/delta.h"
#include "t/fuzz/fuzz.h"

#define RESULT_MAX (1 << 16)

static void apply(const uint8_t *base, size_t base_len, const uint8_t *delta,
		  size_t len)
{
	uint64_t base_size, result_size;
	size_t header_len;
	uint8_t *out;

	if (delta_sizes(delta, len, &base_size, &result_size, &header_len) < 0)
		return;
	require(header_len <= len);
	if (result_size > RESULT_MAX)
		return;
	out = malloc(result_size ? result_size : 1);
	require(out);
	if (delta_apply(out, result_size, base, base_len, delta, len) == 0)
		require(base_size == base_len);
	free(out);
}

static void create(const uint8_t *base, size_t base_len, const uint8_t *target,
		   size_t len)
{
	struct delta_index *index = delta_index_new(base, base_len);
	void *delta, *limited;
	size_t delta_len, limited_len;
	uint8_t *out = malloc(len ? len : 1);

	require(!index == !base_len && out);
	require(!delta_create_near(base, base_len, target, len, 0, &delta,
				   &delta_len));
	require(!delta_apply(out, len, base, base_len, delta, delta_len));
	require(!memcmp(out, target, len));
	free(delta);
	if (index) {
		require(!delta_create(index, target, len, 0, &delta,
				      &delta_len));
		require(!delta_apply(out, len, base, base_len, delta,
				     delta_len));
		require(!memcmp(out, target, len));
		if (!delta_create(index, target, len, delta_len, &limited,
				  &limited_len)) {
			require(limited_len == delta_len);
			free(limited);
		}
		free(delta);
	}
	delta_index_free(index);
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	size_t cut;

	if (!len)
		return 0;
	cut = (size_t)data[0] * (len - 1) / 255;
	data++;
	len--;
	apply(data, cut, data + cut, len - cut);
	create(data, cut, data + cut, len - cut);
	return 0;
}
