/* SPDX-License-Identifier: MIT */
/* Reading ids line by line. */
#include "object/oid-lines.h"

int oid_lines_next(struct oid *oid, struct cursor *c, enum hash_algo algo,
		   const char *what, struct error *err)
{
	const char *line = (const char *)c->p;
	size_t left = cursor_left(c), hex_len = hash_hex_len(algo);
	const char *nl = left ? memchr(line, '\n', left) : NULL;
	size_t len = nl ? (size_t)(nl - line) : left;

	if (!left)
		return 0;
	if (len != hex_len || !oid_from_hex(oid, line, len, algo))
		return error_set(err, ERR_CORRUPT,
				 "invalid %s: line '%.*s' not a hash", what,
				 len < OID_MAX_HEX_LEN ? (int)len
						       : OID_MAX_HEX_LEN,
				 line);
	cursor_skip(c, nl ? len + 1 : len);
	return 1;
}
