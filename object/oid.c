/* SPDX-License-Identifier: MIT */
/*
 * Object ids to and from hexadecimal, and the names of hash functions.
 *
 * A list of refs consists mostly of ids. The SSE2 code, which every x86-64
 * processor can run, converts 16 digits at once.
 */
#include "base/bytes.h"
#include "object/oid.h"

/*
 * Number of ids between the first two probes of oid_raw_find(). Later distances
 * are larger.
 */
#define FIRST_STEP 16

#ifdef __SSE2__
#include <emmintrin.h>

/*
 * Returns the values of 16 hexadecimal digits. For a byte that is not a digit,
 * clears the byte in *good.
 */
static __m128i values_of(const char *hex, __m128i *good)
{
	__m128i text = _mm_loadu_si128((const __m128i *)hex);
	__m128i digit = _mm_sub_epi8(text, _mm_set1_epi8('0'));
	__m128i letter = _mm_sub_epi8(_mm_or_si128(text, _mm_set1_epi8(0x20)),
				      _mm_set1_epi8('a'));
	__m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)),
					  digit);
	__m128i is_letter = _mm_cmpeq_epi8(
		_mm_min_epu8(letter, _mm_set1_epi8(5)), letter);
	__m128i value = _mm_or_si128(
		_mm_and_si128(is_digit, digit),
		_mm_and_si128(is_letter,
			      _mm_add_epi8(letter, _mm_set1_epi8(10))));

	*good = _mm_and_si128(*good, _mm_or_si128(is_digit, is_letter));
	return value;
}

/* Joins each pair of 4-bit values in a vector into a byte. */
static __m128i join(__m128i values)
{
	__m128i pairs = _mm_or_si128(_mm_slli_epi16(values, 4),
				     _mm_srli_epi16(values, 8));

	return _mm_and_si128(pairs, _mm_set1_epi16(0xff));
}

/*
 * Converts the hexadecimal digits of an id to bytes. The bytes are stored as
 * two halves of 16 bytes, because later code loads such halves: a load would be
 * slow if its bytes came from several smaller stores. Returns false if a byte
 * is no hexadecimal digit.
 */
static bool from_hex(struct oid *oid, const char *hex, size_t nr)
{
	__m128i good = _mm_set1_epi8(-1), zero = _mm_setzero_si128();
	__m128i a = join(values_of(hex, &good));
	__m128i b = join(values_of(hex + 16, &good));
	__m128i c, d = zero;

	if (nr == 32) {
		c = join(values_of(hex + 32, &good));
		d = join(values_of(hex + 48, &good));
	} else {
		/*
		 * An id of 20 bytes has 40 digits: `a` and `b` have 32 of them.
		 * A load of 16 digits must not go beyond the id, so it begins
		 * at digit 24. The shift drops the eight digits that `b` has
		 * already.
		 */
		c = _mm_srli_si128(join(values_of(hex + 24, &good)), 8);
	}
	if (_mm_movemask_epi8(good) != 0xffff)
		return false;
	_mm_storeu_si128((__m128i *)oid->bytes, _mm_packus_epi16(a, b));
	_mm_storeu_si128((__m128i *)(oid->bytes + 16), _mm_packus_epi16(c, d));
	return true;
}

/* Returns the 16 hexadecimal digits of eight bytes. */
static __m128i digits_of(__m128i bytes)
{
	__m128i low = _mm_set1_epi8(0xf);
	__m128i value = _mm_unpacklo_epi8(
		_mm_and_si128(_mm_srli_epi16(bytes, 4), low),
		_mm_and_si128(bytes, low));
	__m128i is_letter = _mm_cmpgt_epi8(value, _mm_set1_epi8(9));

	return _mm_add_epi8(
		_mm_add_epi8(value, _mm_set1_epi8('0')),
		_mm_and_si128(is_letter, _mm_set1_epi8('a' - '0' - 10)));
}

/*
 * Returns the offset of the eight bytes that are converted after the eight
 * bytes at offset `i`. `nr` is the length of the id. Of 20 bytes, the last
 * eight overlap the eight before them.
 */
static size_t step(size_t i, size_t nr)
{
	return i + 8 < nr && nr < i + 16 ? nr - 8 : i + 8;
}

static void to_hex(char *out, const uint8_t *bytes, size_t nr)
{
	for (size_t i = 0; i < nr; i = step(i, nr))
		_mm_storeu_si128((__m128i *)(out + 2 * i),
				 digits_of(_mm_loadl_epi64(
					 (const __m128i *)(bytes + i))));
}
#else
/*
 * In hex_values[], a hexadecimal digit has the value DIGIT plus its number. All
 * other bytes have the value 0.
 */
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

static bool from_hex(struct oid *oid, const char *hex, size_t nr)
{
	struct oid parsed = OID_ZERO_INIT;
	unsigned good = DIGIT;

	for (size_t i = 0; i < nr; i++) {
		unsigned hi = hex_values[(uint8_t)hex[2 * i]];
		unsigned lo = hex_values[(uint8_t)hex[2 * i + 1]];

		good &= hi & lo;
		parsed.bytes[i] = (uint8_t)(hi << 4 | (lo & 0xf));
	}
	if (good)
		*oid = parsed;
	return good;
}

static void to_hex(char *out, const uint8_t *bytes, size_t nr)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < nr; i++) {
		out[2 * i] = digits[bytes[i] >> 4];
		out[2 * i + 1] = digits[bytes[i] & 15];
	}
}
#endif

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

const struct oid *oid_empty_tree(enum hash_algo algo)
{
	static const struct oid sha1 = {
		{0x4b, 0x82, 0x5d, 0xc6, 0x42, 0xcb, 0x6e, 0xb9, 0xa0, 0x60,
		 0xe5, 0x4b, 0xf8, 0xd6, 0x92, 0x88, 0xfb, 0xee, 0x49, 0x04}};
	static const struct oid sha256 = {
		{0x6e, 0xf1, 0x9b, 0x41, 0x22, 0x5c, 0x53, 0x69,
		 0xf1, 0xc1, 0x04, 0xd4, 0x5d, 0x8d, 0x85, 0xef,
		 0xa9, 0xb0, 0x57, 0xb5, 0x3b, 0x14, 0xb4, 0xb9,
		 0xb9, 0x39, 0xdd, 0x74, 0xde, 0xcc, 0x53, 0x21}};

	return algo == HASH_SHA256 ? &sha256 : &sha1;
}

bool oid_from_hex(struct oid *oid, const char *hex, size_t len,
		  enum hash_algo algo)
{
	size_t nr = hash_len(algo);

	return len >= 2 * nr && from_hex(oid, hex, nr);
}

char *oid_to_hex(char out[OID_MAX_HEX_LEN + 1], const struct oid *oid,
		 enum hash_algo algo)
{
	return oid_raw_to_hex(out, oid->bytes, algo);
}

char *oid_raw_to_hex(char out[OID_MAX_HEX_LEN + 1], const uint8_t *raw,
		     enum hash_algo algo)
{
	size_t len = hash_len(algo);

	to_hex(out, raw, len);
	out[2 * len] = '\0';
	return out;
}

/*
 * Compare a raw id with *oid, whose first 8 bytes are `key`. Returns a negative
 * number if `raw` is the smaller id, 0 if both are equal, or a positive number.
 */
static int cmp_raw(const uint8_t *raw, const struct oid *oid, uint64_t key,
		   enum hash_algo algo)
{
	uint64_t at = load_be64(raw);

	if (at != key)
		return at < key ? -1 : 1;
	return memcmp(raw + 8, oid->bytes + 8, hash_len(algo) - 8);
}

bool oid_raw_find(const uint8_t *ids, uint32_t nr, const struct oid *oid,
		  enum hash_algo algo, uint32_t *at)
{
	size_t id_len = hash_len(algo);
	uint64_t key = load_be64(oid->bytes);
	uint32_t low = 0, high = nr, step = FIRST_STEP;
	uint32_t mid = (uint32_t)((key >> 32) * nr >> 32);

	while (low < high) {
		int cmp = cmp_raw(ids + mid * id_len, oid, key, algo);

		*at = mid;
		if (!cmp)
			return true;
		if (cmp < 0)
			low = mid + 1;
		else
			high = mid;
		if (high - low <= step) {
			mid = low + (high - low) / 2;
			continue;
		}
		mid = cmp < 0 ? low + step : high - 1 - step;
		step *= 2;
	}
	return false;
}

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
