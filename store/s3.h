/* SPDX-License-Identifier: MIT */
/*
 * A store in a bucket of an S3-compatible service.
 *
 * The service must have conditional puts (If-None-Match: * and If-Match) and be
 * strongly consistent; store/probe.h checks this. The bucket is part of the
 * path, not of the host's name. Requests are signed (store/sigv4.h), and the
 * signature covers the SHA-256 of the body. A large file is uploaded in parts,
 * which run in parallel.
 *
 * Which failures are temporary:
 *
 *	no effect, is repeated     no connection
 *	                           400 RequestTimeout
 *	                           409 ConditionalRequestConflict
 *	                           409 OperationAborted
 *	                           429
 *	                           503 SlowDown
 *	the effect is unknown      no whole answer
 *	                           408
 *	                           any other 5xx except 501
 *
 * A request whose effect is unknown is repeated only if a repeat does no harm
 * (store/filestore.h).
 */
#ifndef STORE_S3_H
#define STORE_S3_H

#include "store/keys.h"
#include "store/filestore.h"

/*
 * The settings of a store in a bucket. All pointers are borrowed during
 * store_s3_open().
 */
struct store_s3_settings {
	/* "https://<host>[:<port>]"; NULL: Amazon's endpoint of the region */
	const char *endpoint;
	const char *region;
	const char *bucket;
	/* the key of each file is "<prefix>/<name>"; "": the key is the name */
	const char *prefix;
	/*
	 * file with CA certificates; NULL: the CA certificates of the system
	 * are used
	 */
	const char *ca_file;
	const struct store_keys *keys;
	/* time limit for a new connection, in milliseconds */
	unsigned connect_ms;
	/* time limit for a transfer without progress, in milliseconds */
	unsigned stall_ms;
	/* maximum number of tries of a request, at least 1 */
	unsigned tries;
	/*
	 * No further try begins later than this number of milliseconds after
	 * the first try. 0: no limit.
	 */
	unsigned try_ms;
	/* pause before the second try; each further pause is twice as long */
	unsigned pause_ms;
	/*
	 * A file that is longer than this is uploaded in parts of this length,
	 * in bytes. Services require 5 MiB at least.
	 */
	size_t part_len;
	/* libcurl is loaded at the first request (struct client_limits) */
	bool is_lazy;
};

#define STORE_S3_SETTINGS_INIT                                                 \
	{                                                                      \
		.region = "us-east-1", .prefix = "", .connect_ms = 10000,      \
		.stall_ms = 30000, .tries = 6, .pause_ms = 100,                \
		.part_len = (size_t)64 << 20                                   \
	}

/*
 * Opens a store; no request is sent. Returns 0 with *out owned by the caller
 * (filestore_close()), ERR_INVALID if a setting is wrong, ERR_UNSUPPORTED if
 * libcurl is not installed, or ERR_NOMEM.
 */
int store_s3_open(struct filestore **out,
		  const struct store_s3_settings *settings, struct error *err);

#endif
