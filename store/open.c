/* SPDX-License-Identifier: MIT */
/* Opening a store by its URL. */
#include <string.h>

#include "base/mem.h"
#include "store/open.h"

/* Opens the store at `place`, which is "<bucket>[/<prefix>]". */
static int open_bucket(struct filestore **out, const char *place,
		       struct store_s3_settings set, struct error *err)
{
	struct store_keys keys = {NULL, NULL, NULL};
	char *bucket = mem_strdup(place), *slash;
	int ret = 0;

	if (!bucket)
		return error_nomem(err);
	slash = strchr(bucket, '/');
	if (slash)
		*slash = '\0';
	set.bucket = bucket;
	set.prefix = slash ? slash + 1 : "";
	if (!set.keys) {
		ret = store_keys_find(&keys, err);
		set.keys = &keys;
	}
	if (!ret)
		ret = store_s3_open(out, &set, err);
	store_keys_release(&keys);
	free(bucket);
	return ret;
}

static int open_url(struct filestore **out, const char *url,
		    const struct store_s3_settings *settings, bool may_make,
		    struct error *err)
{
	*out = NULL;
	if (!strncmp(url, "file:///", 8))
		return (may_make ? store_directory_make
				 : store_directory_open)(out, url + 7, err);
	if (!strncmp(url, "s3://", 5))
		return open_bucket(out, url + 5, *settings, err);
	return error_set(err, ERR_INVALID,
			 "invalid URL of a store: '%s' is neither "
			 "file:///<directory> nor s3://<bucket>/<prefix>",
			 url);
}

int store_open_url(struct filestore **out, const char *url,
		   const struct store_s3_settings *settings, struct error *err)
{
	return open_url(out, url, settings, false, err);
}

int store_make_url(struct filestore **out, const char *url,
		   const struct store_s3_settings *settings, struct error *err)
{
	return open_url(out, url, settings, true, err);
}
