/* SPDX-License-Identifier: MIT */
/* Removes published files that no request gets any more. */
#include <stdlib.h>
#include <string.h>

#include "base/affix.h"
#include "base/mem.h"
#include "publish/bundle-list.h"
#include "publish/publish-parts.h"
#include "sys/io.h"

static int list_name(void *ctx, const char *name)
{
	return strlist_add(ctx, name);
}

static char *path_of(const struct publishing *p, const char *name,
		     const char *end, struct error *err)
{
	struct buf path = BUF_INIT;

	if (buf_printf(&path, "%s/%s%s", p->place, name, end) < 0) {
		error_nomem(err);
		buf_release(&path);
		return NULL;
	}
	return buf_detach(&path, NULL);
}

/*
 * Remove the marker file "<name>.retired" of a file that is offered to clients
 * again. Returns 0 or a negative error code.
 */
static int unmark(const struct publishing *p, const char *name,
		  struct error *err)
{
	char *mark = path_of(p, name, PUBLISHED_RETIRED, err);
	int ret = mark ? sys_unlink(mark, err) : ERR_NOMEM;

	free(mark);
	return ret;
}

/*
 * Set *since to the time at which a file was retired (not offered to clients
 * any more), in seconds since 1970. This is the modification time of the file's
 * marker file `mark`. If the marker file does not exist, makes it with the
 * present time. Returns 0 or a negative error code.
 */
static int retire(int64_t *since, const struct publishing *p, const char *mark,
		  struct error *err)
{
	struct sys_stat st;
	int ret = sys_stat(&st, mark, err);

	if (ret == ERR_MISSING) {
		*since = p->options->now;
		ret = sys_append(mark, "", 0, 0444 | PUBLISH_SHARE, err);
		if (!ret)
			ret = sys_set_mtime(mark, *since, err);
	} else if (!ret) {
		*since = st.mtime_ns / 1000000000;
	}
	return ret;
}

/*
 * Retire a file (stop offering the file), or remove a file that retired before
 * `expire`.
 */
static int handle_old(const struct publishing *p, const char *name,
		      int64_t expire, struct error *err)
{
	char *path = path_of(p, name, "", err);
	char *mark = path_of(p, name, PUBLISHED_RETIRED, err);
	struct sys_stat st = {.size = 0};
	int64_t since = 0;
	int ret = path && mark ? 0 : ERR_NOMEM;

	if (!ret)
		ret = retire(&since, p, mark, err);
	if (!ret)
		ret = sys_stat(&st, path, err);
	if (!ret && since >= expire) {
		publish_note(p, PUBLISH_RETIRED, name, st.size);
	} else if (!ret) {
		ret = sys_unlink(path, err);
		if (!ret)
			ret = sys_unlink(mark, err);
		if (!ret)
			publish_note(p, PUBLISH_REMOVED, name, st.size);
	}
	free(path);
	free(mark);
	return ret;
}

/*
 * Remove a temporary file of a killed process, or a marker file
 * "<name>.retired" whose file <name> is gone.
 */
static int remove_remains(const struct publishing *p, const char *name,
			  const struct strlist *all, struct error *err)
{
	char *path = path_of(p, name, "", err), *file;
	int ret = path ? 0 : ERR_NOMEM;

	if (!ret && ends_with(name, PUBLISHED_RETIRED)) {
		file = mem_strndup(name,
				   strlen(name) - strlen(PUBLISHED_RETIRED));
		if (!file)
			ret = error_nomem(err);
		else if (strlist_has(all, file))
			ret = 1;
		free(file);
	}
	if (!ret)
		ret = sys_unlink(path, err);
	free(path);
	return ret < 0 ? ret : 0;
}

/*
 * Keep the bundles that the list of published bundles names: add their file
 * names to p->current. Without gitreach.publishBundles, remove the list. A
 * damaged list counts as a list without bundles.
 */
static int keep_bundles(struct publishing *p, struct error *err)
{
	char *path = path_of(p, BUNDLE_LIST_FILE, "", err);
	struct bundle_list list = {.nr = 0};
	struct buf name = BUF_INIT;
	int ret = path ? 0 : ERR_NOMEM;

	if (!ret && !p->config->bundles)
		ret = sys_unlink(path, err);
	if (!ret)
		ret = bundle_list_read(&list, p->place, p->odb->algo, err);
	for (size_t i = 0; i < list.nr && ret > 0; i++) {
		char hex[OID_MAX_HEX_LEN + 1];

		oid_to_hex(hex, &list.items[i].hash, list.algo);
		buf_reset(&name);
		if (buf_printf(&name, "%s.bundle", hex) < 0 ||
		    strlist_add(&p->current, name.data) < 0)
			ret = error_nomem(err);
	}
	buf_release(&name);
	free(path);
	return ret < 0 && ret != ERR_CORRUPT ? ret : 0;
}

int publish_expire(struct publishing *p, int64_t expire, struct error *err)
{
	struct strlist all = STRLIST_INIT;
	int ret = keep_bundles(p, err);

	if (!ret)
		ret = sys_dir_each(p->place, list_name, &all, err);
	if (ret == ERR_NOMEM)
		error_nomem(err);
	for (size_t i = 0; i < all.nr && !ret; i++) {
		const char *name = all.items[i];

		if (strlist_has(&p->current, name))
			ret = unmark(p, name, err);
		else if (ends_with(name, ".pack") || ends_with(name, ".bundle"))
			ret = handle_old(p, name, expire, err);
		else if (starts_with(name, "tmp_publish_") ||
			 ends_with(name, PUBLISHED_RETIRED))
			ret = remove_remains(p, name, &all, err);
	}
	strlist_release(&all);
	return ret;
}
