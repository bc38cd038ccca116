/* SPDX-License-Identifier: MIT */
/* Object ids to and from hexadecimal, and the names of hash functions. */
#include "object/oid.h"

/* Value of each hexadecimal digit plus one; 0 for other characters. */
static const uint8_t hex_value_plus_one[256] = {
	['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,  ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

const char *hash_name(enum hash_algo algo)
{
	return algo == HASH_SHA256 ? "sha256" : "sha1";
}

bool hash_by_name(enum hash_algo *algo, const char *name)
{
	if (!strcmp(name, "sha1"))
		*algo = HASH_SHA1;
	else if (!strcmp(name, "sha256"))
		*algo = HASH_SHA256;
	else
		return false;
	return true;
}

bool oid_is_zero(const struct oid *oid)
{
	static const struct oid zero = OID_ZERO_INIT;

	return oid_equal(oid, &zero);
}

bool oid_from_hex(struct oid *oid, const char *hex, size_t len,
		  enum hash_algo algo)
{
	struct oid parsed = OID_ZERO_INIT;

	if (len < hash_hex_len(algo))
		return false;
	for (size_t i = 0; i < hash_len(algo); i++) {
		unsigned hi = hex_value_plus_one[(uint8_t)hex[2 * i]];
		unsigned lo = hex_value_plus_one[(uint8_t)hex[2 * i + 1]];

		if (!hi || !lo)
			return false;
		parsed.bytes[i] = (uint8_t)((hi - 1) << 4 | (lo - 1));
	}
	*oid = parsed;
	return true;
}

char *oid_to_hex(char out[OID_MAX_HEX_LEN + 1], const struct oid *oid,
		 enum hash_algo algo)
{
	return oid_raw_to_hex(out, oid->bytes, algo);
}

char *oid_raw_to_hex(char out[OID_MAX_HEX_LEN + 1], const uint8_t *raw,
		     enum hash_algo algo)
{
	static const char digits[] = "0123456789abcdef";
	size_t len = hash_len(algo);

	for (size_t i = 0; i < len; i++) {
		out[2 * i] = digits[raw[i] >> 4];
		out[2 * i + 1] = digits[raw[i] & 15];
	}
	out[2 * len] = '\0';
	return out;
}
