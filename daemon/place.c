/* SPDX-License-Identifier: MIT */
/*
 * Finds the repository of a request. With a store, the path of a request names
 * a repository of the store: "/team/app.git" is "team/app.git". If the store
 * has none of this name, "<name>.git" is tried, as on the local disk.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "daemon/daemon-parts.h"

/* Makes the path of a repository below the base path. The disk is not read. */
static int find_below(struct daemon_place *place, const char *base,
		      const char *path, size_t len, struct error *err)
{
	struct buf full = BUF_INIT;

	if (buf_printf(&full, "%s%.*s", base, (int)len, path) < 0) {
		buf_release(&full);
		return error_nomem(err);
	}
	place->path = buf_detach(&full, NULL);
	return 0;
}

/* Returns the name of a repository without slashes at its ends, or NULL. */
static char *name_of(const char *path, size_t len)
{
	while (len && path[len - 1] == '/')
		len--;
	while (len && *path == '/') {
		path++;
		len--;
	}
	return mem_strndup(path, len);
}

/* Enters the copy. A name that no repository can have counts as missing. */
static int try_name(struct daemon_place *place, const struct daemon_conn *conn,
		    const char *name, struct error *err)
{
	int ret = stored_copies_enter(conn->copies, &place->use, name, err);

	return ret == ERR_INVALID ? error_recode(err, ERR_MISSING) : ret;
}

/* Tries the name, and then the name with ".git". */
static int enter(struct daemon_place *place, const struct daemon_conn *conn,
		 const char *name, bool strict, struct error *err)
{
	struct buf longer = BUF_INIT;
	int ret = try_name(place, conn, name, err);

	if (ret != ERR_MISSING || strict)
		return ret;
	if (buf_printf(&longer, "%s.git", name) < 0)
		ret = error_nomem(err);
	else
		ret = try_name(place, conn, longer.data, err);
	buf_release(&longer);
	return ret;
}

static void tell(const struct daemon_options *options,
		 const struct daemon_conn *conn, const char *name,
		 const char *what, const struct error *why)
{
	char line[ERROR_MESSAGE_MAX + 512];

	snprintf(line, sizeof(line), "%.400s: %s: %s", name, what, why->msg);
	daemon_log(options, conn, line);
}

static int find_copy(struct daemon_place *place,
		     const struct daemon_options *options,
		     const struct daemon_conn *conn, const char *path,
		     size_t len, bool strict, struct error *err)
{
	char *name = name_of(path, len);
	struct error why = ERROR_INIT;
	int ret = name ? enter(place, conn, name, strict, &why)
		       : error_nomem(&why);

	if (!ret) {
		place->path = mem_strdup(stored_copy_dir(place->use.copy));
		if (!place->path)
			ret = error_nomem(&why);
	}
	if (!ret && place->use.is_news)
		tell(options, conn, name,
		     "the copy may be old, because the store does not answer",
		     &why);
	if (ret == ERR_MISSING) {
		error_set(err, ret, "no such repository in the store");
	} else if (ret) {
		tell(options, conn, name, "cannot be served from the store",
		     &why);
		error_set(err, ret, "the repository cannot be served now");
	}
	free(name);
	return ret;
}

int daemon_place_find(struct daemon_place *place,
		      const struct daemon_options *options,
		      const struct daemon_conn *conn, const char *path,
		      size_t len, bool strict, struct error *err)
{
	int ret = conn->copies ? find_copy(place, options, conn, path, len,
					   strict, err)
			       : find_below(place, options->base_path, path,
					    len, err);

	if (ret)
		daemon_place_release(place);
	return ret;
}

void daemon_place_release(struct daemon_place *place)
{
	stored_copies_leave(&place->use);
	free(place->path);
	place->path = NULL;
}
