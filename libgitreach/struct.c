/* SPDX-License-Identifier: MIT */
/* Structs of the public interface whose sizes the caller and we may differ in.
 */
#include <string.h>

#include "libgitreach/internal.h"

static int size_of(uint64_t *size, const void *given, struct error *err)
{
	memcpy(size, given, sizeof(*size));
	return *size < sizeof(*size) ? error_set(err, ERR_INVALID,
						 "a struct's size is not set")
				     : 0;
}

int libgitreach_struct_out(void *out, const void *in, size_t len,
			   struct error *err)
{
	uint64_t size;
	int ret = size_of(&size, out, err);

	if (ret < 0)
		return ret;
	if (len > size)
		len = (size_t)size;
	memcpy((char *)out + sizeof(size), (const char *)in + sizeof(size),
	       len - sizeof(size));
	return 0;
}

int libgitreach_struct_in(void *out, const void *in, size_t len,
			  struct error *err)
{
	const uint8_t *bytes = in;
	uint64_t size;
	int ret;

	memset(out, 0, len);
	if (!in)
		return 0;
	ret = size_of(&size, in, err);
	for (uint64_t i = len; i < size && !ret; i++)
		if (bytes[i])
			ret = error_set(err, ERR_UNSUPPORTED,
					"a struct has members of a later "
					"version");
	if (!ret)
		memcpy(out, in, size < len ? (size_t)size : len);
	return ret;
}
