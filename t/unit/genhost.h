/* SPDX-License-Identifier: MIT */
/* The clock and the source of random numbers that tests of generations/ use. */
#ifndef GENHOST_H
#define GENHOST_H

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/splitmix.h"
#include "generations/history.h"
#include "object/hash.h"

struct genhost {
	struct generation_host host;
	atomic_uint_least64_t now_ns;
	atomic_int_least64_t seconds;
	atomic_uint_least64_t seed;
	atomic_uint_least64_t slept_ns;
};

static inline uint64_t genhost_now(void *ctx)
{
	return ((struct genhost *)ctx)->now_ns;
}

static inline int64_t genhost_time(void *ctx)
{
	return ((struct genhost *)ctx)->seconds;
}

/*
 * Fills `out` with bytes that differ from the bytes of all other calls, even if
 * several threads call the function.
 */
static inline int genhost_random(void *ctx, void *out, size_t len,
				 struct error *err)
{
	uint64_t state = atomic_fetch_add(&((struct genhost *)ctx)->seed, 1);

	for (size_t i = 0; i < len; i++)
		((uint8_t *)out)[i] = (uint8_t)splitmix_next(&state);
	return 0;
}

static inline void genhost_sleep(void *ctx, uint64_t ns)
{
	atomic_fetch_add(&((struct genhost *)ctx)->slept_ns, ns);
}

static inline void genhost_init(struct genhost *h)
{
	memset(h, 0, sizeof(*h));
	h->host = (struct generation_host){
		.now_ns = genhost_now,
		.time = genhost_time,
		.random = genhost_random,
		.sleep_ns = genhost_sleep,
		.ctx = h,
		.threads = 1,
	};
	h->seconds = 1764200000;
	h->seed = 1;
}

/* Returns the description of an upload: a file with the content `text`. */
static inline struct generation_upload genhost_upload(const char *path,
						      const char *text)
{
	struct generation_upload up = {.bytes = text};
	struct hash_ctx hash;
	struct oid oid;

	if (hash_init(&hash, HASH_SHA256) < 0)
		abort();
	hash_update(&hash, text, strlen(text));
	hash_final(&hash, &oid);
	hash_release(&hash);
	up.file.path = (char *)path;
	up.file.size = strlen(text);
	memcpy(up.file.sha256, oid.bytes, sizeof(up.file.sha256));
	return up;
}

#endif
