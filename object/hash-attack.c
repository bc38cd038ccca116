/* SPDX-License-Identifier: MIT */
/*
 * What to say of a collision attack; the words are the stock Git's. In a file
 * of its own, so that a test can put another in its place: nobody knows two
 * objects that collide.
 */
#include "object/hash.h"

int hash_refuse_attack(const struct hash_ctx *h, const struct oid *oid,
		       struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];

	if (!h->is_attack)
		return 0;
	return error_set(err, ERR_CORRUPT,
			 "SHA-1 appears to be part of a collision attack: %s",
			 oid_to_hex(hex, oid, h->algo));
}
