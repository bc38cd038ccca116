/* SPDX-License-Identifier: MIT */
/* Names objects by a path of links from a root, for messages of fsck. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "check/fsck-objects.h"

void fsck_names_init(struct fsck_names *n, struct objspace *space)
{
	*n = (struct fsck_names){space, NULL, 0};
}

void fsck_names_release(struct fsck_names *n)
{
	for (size_t i = 0; i < n->alloc; i++)
		free(n->names[i]);
	free(n->names);
}

/*
 * Returns a pointer to the element of n->names for an object, or NULL if memory
 * runs out.
 */
static char **slot(struct fsck_names *n, const struct oid *oid)
{
	size_t before = n->alloc;
	uint32_t obj_pos;

	if (objspace_add(n->space, oid->bytes, &obj_pos) < 0 ||
	    mem_grow(&n->names, &n->alloc, (size_t)obj_pos + 1,
		     sizeof(*n->names)) < 0)
		return NULL;
	memset(n->names + before, 0, (n->alloc - before) * sizeof(*n->names));
	return &n->names[obj_pos];
}

int fsck_names_root(struct fsck_names *n, const struct oid *oid,
		    const char *fmt, ...)
{
	struct buf name = BUF_INIT;
	char **at = slot(n, oid);
	va_list ap;
	int ret;

	if (!at)
		return ERR_NOMEM;
	if (*at)
		return 0;
	va_start(ap, fmt);
	ret = buf_vprintf(&name, fmt, ap);
	va_end(ap);
	*at = ret < 0 ? NULL : buf_detach(&name, NULL);
	buf_release(&name);
	return *at ? 0 : ERR_NOMEM;
}

/*
 * Returns the length of a name without the "~<n>" or "^" at its end. Sets *back
 * to <n>, to 1 for "^", or to 0 if there is neither.
 */
static size_t generation(unsigned long *back, const char *name)
{
	const char *tilde = strrchr(name, '~');
	size_t len = strlen(name);
	char *end;

	*back = len && name[len - 1] == '^';
	if (*back)
		return len - 1;
	if (!tilde || !tilde[1] || tilde[1 + strspn(tilde + 1, "0123456789")])
		return len;
	*back = strtoul(tilde + 1, &end, 10);
	return (size_t)(tilde - name);
}

static int parent_name(struct buf *out, const char *name, size_t parent_nr)
{
	unsigned long back;
	size_t len = generation(&back, name);

	if (parent_nr > 1)
		return buf_printf(out, "%s^%zu", name, parent_nr);
	if (!back)
		return buf_printf(out, "%s^", name);
	return buf_printf(out, "%.*s~%lu", (int)len, name, back + 1);
}

/*
 * Makes the name of a tree entry: the name of the tree, then the name of the
 * entry. If the tree's name has no ":", a ":" separates the two names.
 * Otherwise a "/" separates them, unless the tree's name ends in ":" or "/"
 * already. A directory gets a "/" at its end. Returns 0 or ERR_NOMEM.
 */
static int entry_name(struct buf *out, const char *name, bool is_dir,
		      const struct fsck_way *way)
{
	size_t len = strlen(name);
	const char *glue = !strchr(name, ':')            ? ":"
			   : strchr(":/", name[len - 1]) ? ""
							 : "/";

	return buf_printf(out, "%s%s%.*s%s", name, glue, (int)way->entry_len,
			  way->entry, is_dir ? "/" : "");
}

int fsck_names_link(struct fsck_names *n, const struct oid *from,
		    enum object_type from_type, const struct oid *to,
		    enum object_type type, const struct fsck_way *way)
{
	const char *base = fsck_names_get(n, from);
	struct buf name = BUF_INIT;
	char **at = base ? slot(n, to) : NULL;
	int ret;

	if (!base)
		return 0;
	if (!at)
		return ERR_NOMEM;
	if (*at)
		return 0;
	if (way->parent_nr)
		ret = parent_name(&name, base, way->parent_nr);
	else if (way->entry)
		ret = entry_name(&name, base, type == OBJ_TREE, way);
	else
		ret = buf_printf(&name, "%s%s", base,
				 from_type == OBJ_COMMIT ? ":" : "");
	if (!ret)
		*at = buf_detach(&name, NULL);
	buf_release(&name);
	return *at ? 0 : ERR_NOMEM;
}

const char *fsck_names_get(const struct fsck_names *n, const struct oid *oid)
{
	uint32_t obj_pos;

	if (!objspace_find(n->space, oid->bytes, &obj_pos) ||
	    obj_pos >= n->alloc)
		return NULL;
	return n->names[obj_pos];
}
