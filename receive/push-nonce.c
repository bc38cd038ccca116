/* SPDX-License-Identifier: MIT */
/* Makes and checks nonces of signed pushes. */
#include <string.h>

#include "base/error.h"
#include "object/hash.h"
#include "receive/receive-cert.h"

/*
 * The maximum number of digits for seconds in a nonce. A number of 18 digits
 * fits into 63 bits.
 */
enum { SECONDS_DIGITS_MAX = 18 };

int push_nonce_make(struct buf *out, const struct push_nonce_maker *maker,
		    int64_t seconds)
{
	struct buf key = BUF_INIT;
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid code;
	int ret = buf_printf(&key, "%s:%lld", maker->path, (long long)seconds);

	if (!ret)
		ret = hash_hmac(&code, maker->algo, key.data, key.len,
				maker->seed, strlen(maker->seed));
	if (!ret)
		ret = buf_printf(out, "%lld-%s", (long long)seconds,
				 oid_to_hex(hex, &code, maker->algo));
	buf_release(&key);
	return ret;
}

const char *push_nonce_status_name(enum push_nonce_status status)
{
	static const char *const names[] = {
		[PUSH_NONCE_MISSING] = "MISSING",
		[PUSH_NONCE_BAD] = "BAD",
		[PUSH_NONCE_OK] = "OK",
		[PUSH_NONCE_SLOP] = "SLOP",
	};

	return names[status];
}

/*
 * Returns the seconds in a nonce "<seconds>-...", or -1 if `nonce` is
 * malformed.
 */
static int64_t parse_seconds(const char *nonce)
{
	size_t digits = strspn(nonce, "0123456789");
	int64_t seconds = 0;

	if (!digits || digits > SECONDS_DIGITS_MAX || nonce[digits] != '-')
		return -1;
	for (size_t i = 0; i < digits; i++)
		seconds = 10 * seconds + (nonce[i] - '0');
	return seconds;
}

/*
 * Returns whether two nonces are equal. The time of the comparison does not
 * depend on the bytes, so that a client cannot guess a nonce byte by byte.
 */
static bool is_same(const struct buf *ours, const char *theirs)
{
	size_t len = strlen(theirs);
	unsigned char differs = 0;

	if (len != ours->len)
		return false;
	for (size_t i = 0; i < len; i++)
		differs |= (unsigned char)(ours->data[i] ^ theirs[i]);
	return !differs;
}

int push_nonce_check(struct push_nonce_check *out,
		     const struct push_nonce_maker *maker, int64_t seconds,
		     const char *nonce, bool stateless, uint64_t slop_max)
{
	int64_t theirs = nonce ? parse_seconds(nonce) : -1;
	struct buf ours = BUF_INIT;

	*out = (struct push_nonce_check){.status = nonce ? PUSH_NONCE_BAD
							 : PUSH_NONCE_MISSING};
	if (theirs < 0 || (theirs != seconds && !stateless))
		return 0;
	if (push_nonce_make(&ours, maker, theirs) < 0) {
		buf_release(&ours);
		return ERR_NOMEM;
	}
	if (is_same(&ours, nonce)) {
		int64_t slop = seconds - theirs;

		out->was_slop = slop &&
				(uint64_t)(slop < 0 ? -slop : slop) <= slop_max;
		out->status = !slop || out->was_slop ? PUSH_NONCE_OK
						     : PUSH_NONCE_SLOP;
		out->slop = slop;
	}
	buf_release(&ours);
	return 0;
}
