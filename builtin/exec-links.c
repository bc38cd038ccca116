/* SPDX-License-Identifier: MIT */
/* The exec-path directories of several stock Gits; see builtin/exec-path.h. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/affix.h"
#include "base/mem.h"
#include "builtin/exec-path.h"
#include "sys/io.h"
#include "sys/map.h"
#include "sys/tempdir.h"

#define NS_PER_SECOND 1000000000

/* ---- records */

/*
 * If the line has the form "<name> <value>", returns <value>. Otherwise returns
 * `before`, the value so far.
 */
static const char *value_of(const char *line, const char *name,
			    const char *before)
{
	const char *value = after_word(line, name);

	return value ? value : before;
}

int exec_record_read(struct exec_record *r, const char *dir, struct error *err)
{
	struct buf path = BUF_INIT;
	const char *file = "";
	int ret = -1;

	*r = (struct exec_record){BUF_INIT, "", "", "", 0, 0};
	if (!buf_printf(&path, "%s/gitreach", dir))
		ret = sys_read_file(&r->text, path.data, NULL);
	buf_release(&path);
	if (ret < 0)
		return ret == ERR_NOMEM ? error_nomem(err) : 0;
	for (char *line = r->text.data, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		r->stock = value_of(line, "stock", r->stock);
		r->links = value_of(line, "links", r->links);
		r->version = value_of(line, "version", r->version);
		file = value_of(line, "file", file);
	}
	r->size = strtoumax(file, (char **)&file, 10);
	r->mtime_sec = strtoimax(file, NULL, 10);
	return 0;
}

void exec_record_release(struct exec_record *r)
{
	buf_release(&r->text);
}

static bool is_same_file(const char *a, const char *b, struct sys_stat *st)
{
	struct sys_stat other;

	return *a && !sys_stat(st, b, NULL) && !sys_stat(&other, a, NULL) &&
	       sys_is_same(st, &other);
}

bool exec_record_is_current(const struct exec_record *r, const char *stock)
{
	struct sys_stat st;

	return is_same_file(r->stock, stock, &st) && st.size == r->size &&
	       st.mtime_ns / NS_PER_SECOND == r->mtime_sec;
}

/* ---- the exec-path directory for one stock Git */

static int add_dir(struct buf *out, const char *ours, const char *stock)
{
	int ret = buf_printf(out, "%s/stock/", ours);

	for (; *stock && !ret; stock++) {
		unsigned char c = (unsigned char)*stock;

		ret = isalnum(c) || strchr("._-", c)
			      ? buf_append_char(out, *stock)
			      : buf_printf(out, "%%%02x", c);
	}
	return ret;
}

int exec_path_find(struct buf *out, const char *ours, const char *stock,
		   struct error *err)
{
	struct exec_record r;
	struct buf dir = BUF_INIT;
	struct sys_stat st;
	int ret = exec_record_read(&r, ours, err);

	if (ret < 0)
		goto out;
	if (is_same_file(r.stock, stock, &st)) {
		ret = buf_append_str(out, ours);
		goto out;
	}
	exec_record_release(&r);
	ret = add_dir(&dir, ours, stock);
	if (!ret)
		ret = exec_record_read(&r, dir.data, err);
	if (ret < 0)
		goto out;
	ret = exec_record_is_current(&r, stock)
		      ? buf_append(out, dir.data, dir.len)
		      : ERR_MISSING;
out:
	if (ret == ERR_NOMEM)
		error_nomem(err);
	exec_record_release(&r);
	buf_release(&dir);
	return ret;
}

/* ---- making an exec-path directory */

struct maker {
	/*
	 * the exec-path directory whose entries are copied to the new directory
	 */
	const char *from;
	const char *into; /* the new directory */
	/*
	 * true: `from` is our own exec-path directory; false: it is that of
	 * stock Git
	 */
	bool is_ours;
	struct error *err;
};

/* Make the link "<into>/<name>" to `target`, unless the name exists. */
static int make_link(const struct maker *m, const char *name,
		     const char *target)
{
	struct sys_stat st;
	struct buf path = BUF_INIT;
	int ret = buf_printf(&path, "%s/%s", m->into, name);

	if (ret < 0)
		error_nomem(m->err);
	else if (sys_lstat(&st, path.data, NULL) < 0)
		ret = sys_symlink(target, path.data, m->err);
	buf_release(&path);
	return ret;
}

/*
 * Called for each entry of the directory m->from; `name` is the name of the
 * entry. Makes an entry of this name in the new directory m->into:
 * - If m->from is the exec-path directory of stock Git, makes a symbolic link
 *   to the old entry.
 * - If m->from is our own exec-path directory, and the old entry is a symbolic
 *   link to "git", makes the same link. Any other entry is skipped.
 */
static int link_entry(void *ctx, const char *name)
{
	const struct maker *m = ctx;
	struct buf path = BUF_INIT, target = BUF_INIT;
	int ret = buf_printf(&path, "%s/%s", m->from, name);

	if (ret < 0)
		error_nomem(m->err);
	else if (!m->is_ours)
		ret = make_link(m, name, path.data);
	else if (!sys_readlink(&target, path.data, NULL) &&
		 !strcmp(target.data, "git"))
		ret = make_link(m, name, "git");
	buf_release(&path);
	buf_release(&target);
	return ret;
}

static int write_record(const char *dir, const char *stock, const char *links,
			const char *version, struct error *err)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	struct sys_stat st;
	int ret = sys_stat(&st, stock, err);

	if (ret < 0)
		return ret;
	if (buf_printf(&path, "%s/gitreach", dir) < 0 ||
	    buf_printf(&text,
		       "exec path of gitreach; made when it was needed\n"
		       "stock %s\nlinks %s\nversion %s\nfile %" PRIu64
		       " %" PRId64 "\n",
		       stock, links, version, st.size,
		       st.mtime_ns / NS_PER_SECOND) < 0)
		ret = error_nomem(err);
	else
		ret = sys_append(path.data, text.data, text.len, 0644, err);
	buf_release(&path);
	buf_release(&text);
	return ret;
}

/*
 * Fill a new exec-path directory with links to our programs and to those of
 * stock Git.
 */
static int fill(const char *dir, const char *ours, const char *links,
		struct error *err)
{
	struct maker m = {ours, dir, true, err};
	/*
	 * These paths are relative to the new directory, which is two levels
	 * below our own exec-path directory.
	 */
	int ret = make_link(&m, "git", "../../git");

	if (!ret)
		ret = sys_dir_each(ours, link_entry, &m, err);
	m.from = links;
	m.is_ours = false;
	if (!ret)
		ret = sys_dir_each(links, link_entry, &m, err);
	if (!ret && chmod(dir, 0755) < 0)
		ret = error_set_errno(err, "cannot change '%s'", dir);
	return ret;
}

int exec_path_make(struct buf *out, const char *ours, const char *stock,
		   const char *links, const char *version, struct error *err)
{
	struct buf dir = BUF_INIT;
	struct sys_tempdir td = SYS_TEMPDIR_INIT;
	int ret = buf_printf(&dir, "%s/stock", ours);

	if (ret < 0)
		error_nomem(err);
	else
		ret = sys_mkdir_p(dir.data, err);
	if (!ret)
		ret = sys_tempdir_create(&td, dir.data, "new-", err);
	if (!ret)
		ret = fill(td.path, ours, links, err);
	if (!ret)
		ret = write_record(td.path, stock, links, version, err);
	buf_reset(&dir);
	if (!ret && add_dir(&dir, ours, stock) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = sys_tempdir_remove(dir.data, err);
	if (!ret)
		ret = sys_rename(td.path, dir.data, err);
	if (!ret)
		sys_tempdir_keep(&td);
	/*
	 * If the rename failed because another process has just made the same
	 * directory, use that directory.
	 */
	if (ret < 0)
		ret = exec_path_find(out, ours, stock, NULL) < 0 ? ret : 0;
	else if (buf_append(out, dir.data, dir.len) < 0)
		ret = error_nomem(err);
	sys_tempdir_release(&td);
	buf_release(&dir);
	return ret;
}
