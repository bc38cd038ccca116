/* SPDX-License-Identifier: MIT */
/* Opens a store, and its repositories, for the subcommands of git store. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/stored-parts.h"
#include "generations/names.h"
#include "sys/process.h"

static int open_place(struct stored_place *place, const char *url,
		      const struct store_s3_settings *settings, bool may_make)
{
	struct error err = ERROR_INIT;

	*place = (struct stored_place){.url = url};
	generation_host_init(&place->host);
	return (may_make ? store_make_url : store_open_url)(&place->store, url,
							    settings, &err) < 0
		       ? builtin_fail(&err)
		       : 0;
}

int stored_place_open(struct stored_place *place, const char *url,
		      const struct store_s3_settings *settings)
{
	return open_place(place, url, settings, false);
}

int stored_place_make(struct stored_place *place, const char *url,
		      const struct store_s3_settings *settings)
{
	return open_place(place, url, settings, true);
}

void stored_place_close(struct stored_place *place)
{
	filestore_close(place->store);
	place->store = NULL;
}

int stored_place_copies(struct stored_copies **out,
			const struct stored_place *place, const char *dir,
			const struct store_s3_settings *settings,
			uint64_t budget)
{
	static const struct store_s3_settings defaults = STORE_S3_SETTINGS_INIT;
	/* The texts are only read, so the casts are safe. */
	struct stored_copies_options how = {
		.dir = dir,
		.origin = {.url = (char *)place->url,
			   .endpoint = (char *)settings->endpoint,
			   .ca_file = (char *)settings->ca_file},
		.budget = budget,
	};
	struct error err = ERROR_INIT;

	if (settings->region && strcmp(settings->region, defaults.region) != 0)
		how.origin.region = (char *)settings->region;
	return stored_copies_open(out, &how, &err) ? builtin_fail(&err) : 0;
}

struct generation_place stored_place_repository(
	const struct stored_place *place, const char *name)
{
	return (struct generation_place){place->store, &place->host, name};
}

int stored_place_fail(const struct stored_place *place, int ret,
		      const struct error *err)
{
	if (ret == STORE_UNAVAILABLE)
		return builtin_die("the store '%s' does not answer: %s",
				   place->url, err->msg);
	return builtin_fail(err);
}

/* ---- repositories */

static int add_name(void *ctx, const struct filestore_entry *entry,
		    struct error *err)
{
	struct stored_names *names = ctx;
	struct buf name = BUF_INIT;
	int ret = generation_hint_repository(&name, entry->name, err);

	if (!ret && mem_grow(&names->names, &names->alloc, names->nr + 1,
			     sizeof(*names->names)) < 0)
		ret = error_nomem(err);
	if (!ret)
		names->names[names->nr++] = buf_detach(&name, NULL);
	buf_release(&name);
	/*
	 * A hint is a file with the number of a repository's generation. `ret`
	 * is 1 if the file is no hint, but comes from another program: ignore
	 * it.
	 */
	return ret > 0 ? 0 : ret;
}

static int cmp_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int stored_place_list(struct stored_names *names,
		      const struct stored_place *place, struct error *err)
{
	int ret;

	*names = (struct stored_names){0};
	ret = filestore_list_each(place->store, "hint/", add_name, names, err);
	if (!ret && names->nr)
		qsort(names->names, names->nr, sizeof(*names->names),
		      cmp_names);
	return ret;
}

void stored_names_release(struct stored_names *names)
{
	for (size_t i = 0; i < names->nr; i++)
		free(names->names[i]);
	free(names->names);
	*names = (struct stored_names){0};
}

int stored_place_each(const struct stored_place *place, const char **argv,
		      int nr,
		      int (*fn)(void *ctx, const struct generation_place *place,
				bool is_listed),
		      void *ctx)
{
	struct stored_names names = {0};
	struct error err = ERROR_INIT;
	size_t count = (size_t)nr;
	int ret = nr ? 0 : stored_place_list(&names, place, &err);
	int code = ret ? stored_place_fail(place, ret, &err) : 0;

	if (!nr)
		count = names.nr;
	for (size_t i = 0; !ret && i < count; i++) {
		const struct generation_place one = stored_place_repository(
			place, nr ? argv[i] : names.names[i]);
		int result = fn(ctx, &one, !nr);

		if (result > code)
			code = result;
	}
	stored_names_release(&names);
	return code;
}

int stored_place_run(const char **argv, int operands,
		     const struct store_s3_settings *settings,
		     int (*fn)(void *ctx, const struct generation_place *place,
			       bool is_listed),
		     void *ctx)
{
	struct stored_place place;
	int code = stored_place_open(&place, argv[1], settings);

	if (!code)
		code = stored_place_each(&place, argv + 2, operands - 1, fn,
					 ctx);
	stored_place_close(&place);
	return code;
}

int stored_place_origin(struct buf *node, struct buf *user, struct error *err)
{
	int ret = sys_host_name(node, err);

	if (!ret)
		ret = sys_user_name(user, false, err);
	return ret == ERR_MISSING ? 0 : ret;
}

const char *stored_place_tmp(void)
{
	const char *tmp = getenv("TMPDIR");

	return tmp && *tmp ? tmp : "/tmp";
}
