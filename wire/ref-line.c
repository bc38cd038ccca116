/* SPDX-License-Identifier: MIT */
/* Writing the line of a ref. */
#include <string.h>

#include "wire/ref-line.h"

int ref_line_write(struct pktline_writer *w, enum hash_algo algo,
		   const struct oid *oid, const char *name, const void *rest,
		   size_t rest_len, struct error *err)
{
	size_t hex_len = hash_hex_len(algo), name_len = strlen(name);
	size_t len = hex_len + 1 + name_len + rest_len + 1;
	char *at;
	int ret = pktline_begin(&at, w, len, err);

	if (ret < 0)
		return ret;
	oid_to_hex(at, oid, algo);
	at += hex_len;
	*at++ = ' ';
	memcpy(at, name, name_len);
	at += name_len;
	if (rest_len)
		memcpy(at, rest, rest_len);
	at[rest_len] = '\n';
	return pktline_end(w, len, err);
}
