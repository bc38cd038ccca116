/* SPDX-License-Identifier: MIT */
/*
 * Matches paths with pathspecs. First the pattern is taken as plain text: a
 * path matches if it equals the pattern, or is below a directory with this
 * name. Any other path can match a pattern with wildcards: the path must start
 * with the text before the first wildcard, and the rest must match the rest of
 * the pattern.
 */
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/wildmatch.h"
#include "names/pathspec.h"

/* Returns whether `path` starts with the first `len` bytes of the pattern. */
static bool begins(const struct pathspec_item *item, const char *path,
		   size_t len)
{
	size_t exact = item->prefix_len < len ? item->prefix_len : len;

	if (!item->is_icase)
		return !memcmp(item->match, path, len);
	return !memcmp(item->match, path, exact) &&
	       !strncasecmp(item->match + exact, path + exact, len - exact);
}

/* Returns whether a path equals the literal pattern, or is below it. */
static bool is_within(const struct pathspec_item *item, const char *path,
		      size_t len)
{
	size_t name_len = item->name_len;

	if (!name_len)
		return true;
	return len >= name_len && (len == name_len || path[name_len] == '/') &&
	       begins(item, path, name_len);
}

/* Returns whether the literal pattern is a path below the directory `dir`. */
static bool is_above(const struct pathspec_item *item, const char *dir,
		     size_t len)
{
	if (!len)
		return true;
	return len < item->len && item->match[len] == '/' &&
	       begins(item, dir, len);
}

static bool matches_wild(const struct pathspec_item *item, const char *path,
			 size_t len)
{
	size_t skip = item->literal_len;
	unsigned flags = item->is_icase ? WILDMATCH_ICASE : 0;

	if (skip == item->len || len < skip || !begins(item, path, skip))
		return false;
	if (item->is_glob)
		flags |= WILDMATCH_PATHNAME;
	return wildmatch(item->match + skip, path + skip, flags);
}

static bool item_takes(const struct pathspec_item *item, const char *path,
		       size_t len, bool is_gitlink)
{
	/*
	 * The pattern "a/" matches the directory `a` with its contents, or the
	 * submodule `a`. It does not match a file `a`.
	 */
	bool is_it = len == item->name_len && item->len > item->name_len &&
		     !is_gitlink;

	if (is_within(item, path, len) && !is_it)
		return true;
	return matches_wild(item, path, len);
}

bool pathspec_takes(const struct pathspec *ps, const char *path, size_t len,
		    bool is_gitlink)
{
	bool takes = false;

	for (size_t i = 0; i < ps->nr; i++) {
		const struct pathspec_item *item = &ps->items[i];

		if ((!takes || item->is_exclude) &&
		    item_takes(item, path, len, is_gitlink)) {
			if (item->is_exclude)
				return false;
			takes = true;
		}
	}
	return takes;
}

/*
 * Returns whether a pattern with wildcards certainly matches all paths below
 * the directory `dir`. For example, "abc*" matches all paths below "abcd",
 * because "*" also matches slashes.
 */
static bool takes_wild_tail(const struct pathspec_item *item, const char *dir,
			    size_t len)
{
	return !item->is_glob && item->literal_len + 1 == item->len &&
	       item->match[item->literal_len] == '*' &&
	       matches_wild(item, dir, len);
}

static enum pathspec_below item_below(const struct pathspec_item *item,
				      const char *dir, size_t len)
{
	size_t literal_len = item->literal_len;

	if (is_within(item, dir, len) || takes_wild_tail(item, dir, len))
		return PATHSPEC_ALL;
	if (is_above(item, dir, len))
		return PATHSPEC_PART;
	/*
	 * If the directory's path starts with the part of the pattern before
	 * the first wildcard, files below the directory may match.
	 */
	if (literal_len < item->len && literal_len <= len &&
	    begins(item, dir, literal_len))
		return PATHSPEC_PART;
	return PATHSPEC_NOTHING;
}

enum pathspec_below pathspec_below(const struct pathspec *ps, const char *dir,
				   size_t len)
{
	enum pathspec_below taken = PATHSPEC_NOTHING;
	enum pathspec_below excluded = PATHSPEC_NOTHING;

	for (size_t i = 0; i < ps->nr; i++) {
		const struct pathspec_item *item = &ps->items[i];
		enum pathspec_below *at = item->is_exclude ? &excluded : &taken;

		if (*at != PATHSPEC_ALL) {
			enum pathspec_below b = item_below(item, dir, len);

			*at = b > *at ? b : *at;
		}
	}
	if (excluded == PATHSPEC_ALL)
		return PATHSPEC_NOTHING;
	return excluded == PATHSPEC_PART && taken == PATHSPEC_ALL
		       ? PATHSPEC_PART
		       : taken;
}

/* Returns the length of the directory part of a path, without the slash. */
static size_t parent_len(const char *path, size_t len)
{
	while (len && path[len - 1] != '/')
		len--;
	return len ? len - 1 : 0;
}

bool pathspec_lists(const struct pathspec *ps, const char *dir, size_t len)
{
	bool lists = false;

	if (!len)
		return true;
	for (size_t i = 0; i < ps->nr; i++) {
		const struct pathspec_item *item = &ps->items[i];

		if (item->is_exclude) {
			if (is_within(item, dir, parent_len(dir, len)))
				return false;
		} else if (!lists) {
			lists = is_within(item, dir, len) ||
				is_above(item, dir, len) ||
				matches_wild(item, dir, len);
		}
	}
	return lists;
}

void pathspec_release(struct pathspec *ps)
{
	for (size_t i = 0; i < ps->nr; i++)
		free(ps->items[i].match);
	free(ps->items);
	*ps = (struct pathspec)PATHSPEC_INIT;
}
