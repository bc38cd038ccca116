/* SPDX-License-Identifier: MIT */
/*
 * Reports a collision attack, with the message of stock Git. The function is in
 * a file of its own so that a test can replace it. A test cannot cause a real
 * report, because no two Git objects with the same SHA-1 are public.
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
