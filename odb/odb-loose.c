/* SPDX-License-Identifier: MIT */
/*
 * Finds and lists loose objects. The path of a loose object is <object
 * dir>/xx/yyyy..., where xx are the first two hexadecimal digits of its id.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "odb/odb.h"
#include "sys/io.h"

int odb_loose_path(struct buf *out, const struct odb *odb, const char *dir,
		   const struct oid *oid)
{
	char hex[OID_MAX_HEX_LEN + 1];
	size_t dir_len = strlen(dir), hex_len;

	oid_to_hex(hex, oid, odb->algo);
	hex_len = strlen(hex);
	/*
	 * Do not use printf() here: it would cost as much as the look-up of the
	 * file.
	 */
	if (buf_reserve(out, dir_len + hex_len + 2) < 0)
		return ERR_NOMEM;
	(void)buf_append(out, dir, dir_len);
	(void)buf_append_char(out, '/');
	(void)buf_append(out, hex, 2);
	(void)buf_append_char(out, '/');
	return buf_append(out, hex + 2, hex_len - 2);
}

bool odb_has_loose(const struct odb *odb, const struct oid *oid)
{
	struct buf path = BUF_INIT;
	bool found = false;
	size_t i;

	for (i = 0; !found && i < odb->dir_nr; i++) {
		buf_reset(&path);
		if (odb_loose_path(&path, odb, odb->dirs[i], oid) < 0)
			break;
		found = sys_exists(path.data);
	}
	buf_release(&path);
	return found;
}

/* A visit of the loose objects in one of the 256 directories. */
struct loose_visit {
	const struct odb *odb;
	/* path of the directory, followed by the name of a file in it */
	struct buf path;
	/* length of the directory's path including the slash */
	size_t dir_len;
	char hex[OID_MAX_HEX_LEN + 1];
	int (*fn)(void *ctx, const struct oid *oid, const char *path);
	void *ctx;
	struct error *err;
};

static int visit_file(void *ctx, const char *name)
{
	struct loose_visit *v = ctx;
	size_t hex_len = hash_hex_len(v->odb->algo);
	struct oid oid;

	/*
	 * Names of another length are skipped: temporary files, and files that
	 * do not belong to Git.
	 */
	if (strlen(name) != hex_len - 2)
		return 0;
	memcpy(v->hex + 2, name, hex_len - 2);
	if (!oid_from_hex(&oid, v->hex, hex_len, v->odb->algo))
		return 0;
	buf_set_len(&v->path, v->dir_len);
	if (buf_append_str(&v->path, name) < 0)
		return error_nomem(v->err);
	return v->fn(v->ctx, &oid, v->path.data);
}

/*
 * Returns whether a directory of loose objects that could not be opened may
 * have been removed or made meanwhile. Returns true if nothing is at `path`, or
 * if a directory is there. Returns false if anything else is there.
 */
static bool may_appear(const char *path)
{
	struct sys_stat st;
	int ret = sys_stat(&st, path, NULL);

	return ret == ERR_MISSING || (!ret && st.is_dir);
}

static int visit_dir(struct loose_visit *v, const char *object_dir,
		     unsigned first)
{
	struct buf dir = BUF_INIT;
	int ret;

	buf_reset(&v->path);
	snprintf(v->hex, sizeof(v->hex), "%02x", first & 0xff);
	if (buf_printf(&dir, "%s/%s", object_dir, v->hex) < 0 ||
	    buf_printf(&v->path, "%s/", dir.data) < 0) {
		ret = error_nomem(v->err);
		goto out;
	}
	v->dir_len = v->path.len;
	ret = sys_dir_each(dir.data, visit_file, v, v->err);
	/*
	 * Another process may have removed the directory with its last object,
	 * and may have made it again for a new object. Objects that arrive
	 * during the visit need not be visited.
	 */
	if (ret == ERR_MISSING && may_appear(dir.data))
		ret = 0;
out:
	buf_release(&dir);
	return ret;
}

/*
 * Visits loose objects in each of the first dir_nr object directories. Of the
 * 256 directories named by the first byte of an id, only [first, end) are
 * visited. Returns 0, the first nonzero result of the callback, or a negative
 * error code.
 */
static int visit_dirs(struct loose_visit *v, size_t dir_nr, unsigned first,
		      unsigned end)
{
	unsigned at;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < dir_nr; i++)
		for (at = first; !ret && at < end; at++)
			ret = visit_dir(v, v->odb->dirs[i], at);
	buf_release(&v->path);
	return ret;
}

int odb_each_loose(const struct odb *odb, bool local_only,
		   int (*fn)(void *ctx, const struct oid *oid,
			     const char *path),
		   void *ctx, struct error *err)
{
	struct loose_visit v = {
		.odb = odb, .path = BUF_INIT, .fn = fn, .ctx = ctx, .err = err};

	return visit_dirs(&v, local_only ? 1 : odb->dir_nr, 0, 256);
}

int odb_each_loose_with(const struct odb *odb, uint8_t first,
			int (*fn)(void *ctx, const struct oid *oid,
				  const char *path),
			void *ctx, struct error *err)
{
	struct loose_visit v = {
		.odb = odb, .path = BUF_INIT, .fn = fn, .ctx = ctx, .err = err};

	return visit_dirs(&v, odb->dir_nr, first, first + 1u);
}
