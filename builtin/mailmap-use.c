/* SPDX-License-Identifier: MIT */
/* Loads the mailmap of a repository, and applies it to commits and tags. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mailmap.h"
#include "base/mem.h"
#include "builtin/mailmap-use.h"
#include "builtin/message.h"
#include "config/config.h"
#include "sys/io.h"
#include "sys/map.h"

/* ---- loading */

static void cannot_open(const char *path, int sys_errno)
{
	builtin_error("unable to open mailmap at %s: %s", path,
		      strerror(sys_errno));
}

static int add_file(struct mailmap *m, const char *path)
{
	struct error err = ERROR_INIT;
	struct buf text = BUF_INIT;
	int ret = sys_read_file(&text, path, &err);

	if (!ret)
		ret = mailmap_add(m, text.data, text.len);
	else if (ret == ERR_IO && err.sys_errno != EISDIR)
		cannot_open(path, err.sys_errno);
	buf_release(&text);
	return ret == ERR_NOMEM ? ret : 0;
}

static int add_worktree_file(struct mailmap *m, const char *worktree)
{
	struct buf path = BUF_INIT;
	struct sys_stat st;
	int ret = buf_printf(&path, "%s/.mailmap", worktree);

	/*
	 * Refuse a symbolic link, because it could point out of the work tree.
	 */
	if (!ret && !sys_lstat(&st, path.data, NULL)) {
		if (st.is_link)
			cannot_open(".mailmap", ELOOP);
		else
			ret = add_file(m, path.data);
	}
	buf_release(&path);
	return ret;
}

static int add_blob(struct mailmap *m, const struct store *store,
		    const char *name)
{
	struct odb_object obj;
	struct oid oid;
	int ret = 0;

	if (store_resolve_quietly(store, &oid, name, NULL) < 0)
		return 0;
	if (odb_read(store->reader, &oid, &obj, NULL) < 0) {
		builtin_error("unable to read mailmap object at %s", name);
		return 0;
	}
	if (obj.type == OBJ_BLOB)
		ret = mailmap_add(m, (const char *)obj.data, obj.len);
	else
		builtin_error("mailmap is not a blob: %s", name);
	odb_object_release(store->reader, &obj);
	return ret;
}

static int add_configured_file(struct mailmap *m, const char *value)
{
	char *path;
	int ret = config_path(&path, value, NULL) > 0 ? add_file(m, path) : 0;

	free(path);
	return ret;
}

int mailmap_use_load(struct mailmap_use *use, const struct store *store,
		     struct error *err)
{
	struct mailmap *m = &use->map;
	const struct repo *repo = store->repo;
	const char *blob = config_string(&repo->config, "mailmap.blob");
	const char *file = config_string(&repo->config, "mailmap.file");
	int ret = 0;

	if (use->loaded)
		return 0;
	use->loaded = true;
	if (!blob && repo->is_bare)
		blob = "HEAD:.mailmap";
	if (!repo->is_bare && repo->worktree)
		ret = add_worktree_file(m, repo->worktree);
	if (!ret && blob)
		ret = add_blob(m, store, blob);
	if (!ret && file && *file)
		ret = add_configured_file(m, file);
	mailmap_sort(m);
	return ret < 0 ? error_nomem(err) : 0;
}

void mailmap_use_release(struct mailmap_use *use)
{
	mailmap_release(&use->map);
}

/* ---- applying */

static struct mailmap_span to_span(struct message_span part)
{
	return (struct mailmap_span){part.len ? part.p : NULL, part.len};
}

int mailmap_use_append(struct buf *out, const struct mailmap_use *use,
		       struct message_span line)
{
	struct message_span given = message_person_email(line, true, false);
	struct mailmap_span name = to_span(message_person_name(line));
	struct mailmap_span email = {given.p, given.len};
	const char *rest = given.p + given.len, *end = line.p + line.len;

	/* given.p is equal to line.p if no address was found in the line. */
	if (given.p == line.p || !mailmap_map(&use->map, &name, &email))
		return buf_append(out, line.p, line.len);
	if (buf_append(out, name.p ? name.p : "", name.len) < 0 ||
	    buf_append_str(out, name.len ? " <" : "<") < 0 ||
	    buf_append(out, email.p, email.len) < 0 ||
	    buf_append(out, rest, (size_t)(end - rest)) < 0)
		return ERR_NOMEM;
	return 1;
}

/*
 * Returns the length of the line's first word ("author ", "committer " or
 * "tagger ") if a person follows it, otherwise 0.
 */
static size_t person_prefix(const char *p, size_t len, enum object_type type)
{
	static const char *const names[] = {"author ", "committer ", "tagger "};
	size_t from = type == OBJ_TAG ? 2 : 0, to = type == OBJ_TAG ? 3 : 2;

	for (size_t i = from; i < to; i++)
		if (len > strlen(names[i]) &&
		    !memcmp(p, names[i], strlen(names[i])))
			return strlen(names[i]);
	return 0;
}

int mailmap_use_rewrite(struct buf *out, const struct mailmap_use *use,
			enum object_type type, const void *data, size_t len,
			struct error *err)
{
	const char *p = data, *end = p + len;
	int changed = 0, ret = 0;

	buf_reset(out);
	if (type != OBJ_COMMIT && type != OBJ_TAG)
		return 0;
	/* The headers end at the first empty line. */
	while (ret >= 0 && p < end && *p != '\n') {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t line_len = (size_t)((nl ? nl : end) - p);
		size_t prefix = person_prefix(p, line_len, type);

		ret = buf_append(out, p, prefix);
		p += prefix;
		line_len -= prefix;
		if (!ret)
			ret = prefix ? mailmap_use_append(out, use,
							  (struct message_span){
								  p, line_len})
				     : buf_append(out, p, line_len);
		changed |= ret > 0;
		if (ret >= 0 && nl)
			ret = buf_append_char(out, '\n');
		p += line_len + (nl != NULL);
	}
	if (ret >= 0)
		ret = buf_append(out, p, (size_t)(end - p));
	return ret < 0 ? error_nomem(err) : changed;
}
