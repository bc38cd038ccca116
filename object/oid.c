/* SPDX-License-Identifier: MIT */
/* Object ids to and from hexadecimal, and the names of hash functions. */
#include "object/oid.h"

/* A flag beside the value of each hexadecimal digit; 0: no digit. */
#define DIGIT 0x10

static const uint8_t hex_values[256] = {
	['0'] = DIGIT | 0,  ['1'] = DIGIT | 1,  ['2'] = DIGIT | 2,
	['3'] = DIGIT | 3,  ['4'] = DIGIT | 4,  ['5'] = DIGIT | 5,
	['6'] = DIGIT | 6,  ['7'] = DIGIT | 7,  ['8'] = DIGIT | 8,
	['9'] = DIGIT | 9,  ['a'] = DIGIT | 10, ['b'] = DIGIT | 11,
	['c'] = DIGIT | 12, ['d'] = DIGIT | 13, ['e'] = DIGIT | 14,
	['f'] = DIGIT | 15, ['A'] = DIGIT | 10, ['B'] = DIGIT | 11,
	['C'] = DIGIT | 12, ['D'] = DIGIT | 13, ['E'] = DIGIT | 14,
	['F'] = DIGIT | 15,
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
	size_t nr = hash_len(algo);
	unsigned good = DIGIT;

	if (len < 2 * nr)
		return false;
	for (size_t i = 0; i < nr; i++) {
		unsigned hi = hex_values[(uint8_t)hex[2 * i]];
		unsigned lo = hex_values[(uint8_t)hex[2 * i + 1]];

		good &= hi & lo;
		parsed.bytes[i] = (uint8_t)(hi << 4 | (lo & 0xf));
	}
	if (!good)
		return false;
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
