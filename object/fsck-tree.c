/* SPDX-License-Identifier: MIT */
/*
 * Checks whether trees are well-formed. Problems with entries are collected and
 * reported once for the tree, in a fixed order. Symbolic links in place of
 * Git's own files are reported at once.
 *
 * Entries sort as if the name of a directory ended in '/'. So names like "a-b"
 * may come between a file "a" and a directory "a". A stack holds the files
 * whose names are a prefix of the current name. A directory with the name of a
 * file on the stack is a duplicate.
 */
#include <string.h>

#include "base/mem.h"
#include "object/fsck-parts.h"
#include "object/parse.h"

/* The name of a file on the stack. Points into the tree. */
struct fsck_name {
	const char *name;
	size_t len;
};

/*
 * The state of checking one tree. `seen` has a flag for each message that will
 * be reported about the tree.
 */
struct tree_check {
	const struct fsck_check *c;
	struct cursor rest;
	struct tree_entry entry, before; /* `raw` is not set */
	bool has_before;
	size_t stack_nr;
	int ret;
	bool seen[FSCK_MSG_NR];
};

/* The messages about a tree in the order in which they are reported. */
static const struct {
	enum fsck_msg msg;
	const char *text;
} sayings[] = {
	{FSCK_BAD_TREE, "cannot be parsed as a tree"},
	{FSCK_NULL_SHA1, "contains entries pointing to null sha1"},
	{FSCK_FULL_PATHNAME, "contains full pathnames"},
	{FSCK_EMPTY_NAME, "contains empty pathname"},
	{FSCK_HAS_DOT, "contains '.'"},
	{FSCK_HAS_DOTDOT, "contains '..'"},
	{FSCK_HAS_DOTGIT, "contains '.git'"},
	{FSCK_ZERO_PADDED_FILEMODE, "contains zero-padded file modes"},
	{FSCK_BAD_FILEMODE, "contains bad file modes"},
	{FSCK_DUPLICATE_ENTRIES, "contains duplicate file entries"},
	{FSCK_TREE_NOT_SORTED, "not properly sorted"},
	{FSCK_LARGE_PATHNAME, "contains excessively large pathname"},
};

/* ---- reading the entries of a tree */

/*
 * Takes the next entry like tree_next(), but the name may contain slashes.
 * Returns 1 if there is an entry, 0 at the end, or ERR_CORRUPT.
 */
static int next_entry(struct tree_check *t)
{
	size_t id_len = hash_len(t->c->f->rules->algo);
	struct cursor *c = &t->rest;
	const uint8_t *p = c->p, *nul;
	uint32_t mode = 0;

	if (p == c->end)
		return 0;
	/*
	 * The shortest possible entry has a digit, a space, a letter, a NUL and
	 * an id. The byte before the last id must be a NUL.
	 */
	if (cursor_left(c) < 4 + id_len || *(c->end - id_len - 1))
		return ERR_CORRUPT;
	if (*p == '0')
		t->seen[FSCK_ZERO_PADDED_FILEMODE] = true;
	for (; (uint8_t)(*p - '0') < 8; p++)
		mode = mode << 3 | (uint32_t)(*p - '0');
	if (p == c->p || *p != ' ')
		return ERR_CORRUPT;
	p++;
	nul = memchr(p, '\0', cursor_left(c) - (size_t)(p - c->p));
	if (!nul || nul == p || (size_t)(c->end - nul) < 1 + id_len)
		return ERR_CORRUPT;
	t->entry.mode = mode;
	t->entry.name = (const char *)p;
	t->entry.name_len = (size_t)(nul - p);
	t->entry.oid = nul + 1;
	c->p = nul + 1 + id_len;
	return 1;
}

/* ---- order */

/*
 * Pushes the name of a file on the stack. The caller has removed from the stack
 * all names that are not a prefix of this name. Returns 0 or ERR_NOMEM.
 */
static int push(struct tree_check *t)
{
	struct fsck *f = t->c->f;

	if (mem_grow(&f->names, &f->name_alloc, t->stack_nr + 1,
		     sizeof(*f->names)) < 0)
		return error_nomem(t->c->err);
	f->names[t->stack_nr++] = (struct fsck_name){t->entry.name,
						     t->entry.name_len};
	return 0;
}

static int check_duplicate(struct tree_check *t)
{
	const struct tree_entry *e = &t->entry;

	while (t->stack_nr) {
		const struct fsck_name *top = &t->c->f->names[t->stack_nr - 1];

		if (top->len <= e->name_len &&
		    !memcmp(top->name, e->name, top->len)) {
			if (top->len == e->name_len)
				t->seen[FSCK_DUPLICATE_ENTRIES] = true;
			break;
		}
		t->stack_nr--;
	}
	return tree_entry_is_dir(e) ? 0 : push(t);
}

static int check_order(struct tree_check *t)
{
	const struct tree_entry *e = &t->entry, *b = &t->before;

	if (t->has_before) {
		if (e->name_len == b->name_len &&
		    !memcmp(e->name, b->name, e->name_len))
			t->seen[FSCK_DUPLICATE_ENTRIES] = true;
		else if (tree_name_cmp(b, e) > 0)
			t->seen[FSCK_TREE_NOT_SORTED] = true;
	}
	t->before = *e;
	t->has_before = true;
	return check_duplicate(t);
}

/* ---- one entry */

static bool mode_is_good(const struct tree_check *t, uint32_t mode)
{
	switch (mode) {
	case 0100644:
	case 0100755:
	case 0120000:
	case TREE_MODE_DIR:
	case TREE_MODE_GITLINK:
		return true;
	/*
	 * very old versions of Git wrote this mode; an error only in strict
	 * mode
	 */
	case 0100664:
		return !t->c->f->rules->strict;
	default:
		return false;
	}
}

static bool id_is_null(const uint8_t *id, size_t len)
{
	while (len && !*id) {
		id++;
		len--;
	}
	return !len;
}

static void check_name(struct tree_check *t)
{
	const struct tree_entry *e = &t->entry;

	if (memchr(e->name, '/', e->name_len))
		t->seen[FSCK_FULL_PATHNAME] = true;
	if (e->name_len > t->c->f->rules->path_max)
		t->seen[FSCK_LARGE_PATHNAME] = true;
	if (e->name[0] != '.')
		return;
	if (e->name_len == 1)
		t->seen[FSCK_HAS_DOT] = true;
	if (e->name_len == 2 && e->name[1] == '.')
		t->seen[FSCK_HAS_DOTDOT] = true;
}

/*
 * Merges `ret`, the result of reporting a message, into t->ret. Returns false
 * if the check has to stop.
 */
static bool note(struct tree_check *t, int ret)
{
	if (ret < 0)
		t->ret = ret;
	else if (ret > 0 && !t->ret)
		t->ret = 1;
	return t->ret >= 0;
}

static bool check_links(struct tree_check *t, unsigned names)
{
	const struct fsck_check *c = t->c;
	bool go_on = true;

	if (names & DOTNAME_GITMODULES)
		go_on = note(t, fsck_say(c, FSCK_GITMODULES_SYMLINK,
					 ".gitmodules is a symbolic link"));
	if (go_on && (names & DOTNAME_GITATTRIBUTES))
		go_on = note(t, fsck_say(c, FSCK_GITATTRIBUTES_SYMLINK,
					 ".gitattributes is a symlink"));
	if (go_on && (names & DOTNAME_GITIGNORE))
		go_on = note(t, fsck_say(c, FSCK_GITIGNORE_SYMLINK,
					 ".gitignore is a symlink"));
	if (go_on && (names & DOTNAME_MAILMAP))
		go_on = note(t, fsck_say(c, FSCK_MAILMAP_SYMLINK,
					 ".mailmap is a symlink"));
	return go_on;
}

static bool tell_found(struct tree_check *t, unsigned names)
{
	struct fsck *f = t->c->f;
	struct oid oid;
	int ret = 0;

	if (!f->found)
		return true;
	oid_from_raw(&oid, t->entry.oid, f->rules->algo);
	if (names & DOTNAME_GITMODULES)
		ret = f->found(f->ctx, &oid, FSCK_GITMODULES, t->c->err);
	if (!ret && (names & DOTNAME_GITATTRIBUTES))
		ret = f->found(f->ctx, &oid, FSCK_GITATTRIBUTES, t->c->err);
	return ret < 0 ? note(t, ret) : true;
}

static bool check_special(struct tree_check *t)
{
	const struct tree_entry *e = &t->entry;
	unsigned names = dotname_find(e->name, e->name_len);

	if (!names)
		return true;
	if (names & DOTNAME_GIT)
		t->seen[FSCK_HAS_DOTGIT] = true;
	if ((e->mode & TREE_MODE_TYPE) == 0120000)
		return check_links(t, names);
	if (tree_entry_is_gitlink(e))
		return true;
	return tell_found(t, names);
}

static bool check_entry(struct tree_check *t)
{
	if (id_is_null(t->entry.oid, hash_len(t->c->f->rules->algo)))
		t->seen[FSCK_NULL_SHA1] = true;
	if (!mode_is_good(t, t->entry.mode))
		t->seen[FSCK_BAD_FILEMODE] = true;
	check_name(t);
	return check_special(t) && note(t, check_order(t));
}

int fsck_tree(const struct fsck_check *c)
{
	struct tree_check t = {.c = c, .rest = cursor_make(c->data, c->len)};
	int more = next_entry(&t);

	while (more > 0 && check_entry(&t))
		more = next_entry(&t);
	t.seen[FSCK_BAD_TREE] = more < 0;
	for (size_t i = 0; t.ret >= 0 && i < ARRAY_NR(sayings); i++)
		if (t.seen[sayings[i].msg])
			note(&t, fsck_say(c, sayings[i].msg, "%s",
					  sayings[i].text));
	return t.ret;
}
