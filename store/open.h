/* SPDX-License-Identifier: MIT */
/* Opening a store by its URL. */
#ifndef STORE_OPEN_H
#define STORE_OPEN_H

#include "store/s3.h"

/*
 * Opens the store at
 *
 *	file:///<directory>
 *	s3://<bucket>[/<prefix>]
 *
 * For "s3", `settings` has everything but the bucket, the prefix and the keys.
 * If settings->keys is NULL, the keys are those of the process
 * (store_keys_find()). Returns 0 with *out owned by the caller
 * (filestore_close()), ERR_INVALID if the URL has another form, or an error of
 * the kind of store.
 */
int store_open_url(struct filestore **out, const char *url,
		   const struct store_s3_settings *settings, struct error *err);

/*
 * Works like store_open_url(), with the same results, and makes a directory a
 * store if it is none yet. A bucket must exist.
 */
int store_make_url(struct filestore **out, const char *url,
		   const struct store_s3_settings *settings, struct error *err);

#endif
