/* SPDX-License-Identifier: MIT */
/* Parses pathspecs: their magic, and their paths relative to the top. */
#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "config/config.h"
#include "names/pathspec.h"

/* The magic of a pattern. */
struct magic {
	bool top, literal, glob, icase, exclude;
};

/* ---- the environment */

static int env_flag(bool *flag, const char *name, struct error *err)
{
	int ret = config_env_bool(name, false, err);

	*flag = ret > 0;
	return ret < 0 ? ret : 0;
}

int pathspec_place_env(struct pathspec_place *place, struct error *err)
{
	int ret = env_flag(&place->literal, "GIT_LITERAL_PATHSPECS", err);

	if (!ret)
		ret = env_flag(&place->glob, "GIT_GLOB_PATHSPECS", err);
	if (!ret)
		ret = env_flag(&place->noglob, "GIT_NOGLOB_PATHSPECS", err);
	if (!ret)
		ret = env_flag(&place->icase, "GIT_ICASE_PATHSPECS", err);
	if (ret < 0)
		return ret;
	if (place->glob && place->noglob)
		return error_set(err, ERR_INVALID,
				 "global 'glob' and 'noglob' pathspec settings "
				 "are incompatible");
	if (place->literal && (place->glob || place->noglob || place->icase))
		return error_set(err, ERR_INVALID,
				 "global 'literal' pathspec setting is "
				 "incompatible with all other global pathspec "
				 "settings");
	return 0;
}

/* ---- magic */

static int take_word(struct magic *m, const char *word, size_t len,
		     const char *pattern, struct error *err)
{
	const struct {
		const char *name;
		bool *flag;
	} words[] = {
		{"top", &m->top},         {"literal", &m->literal},
		{"glob", &m->glob},       {"icase", &m->icase},
		{"exclude", &m->exclude},
	};

	if (!len)
		return 0;
	for (size_t i = 0; i < ARRAY_NR(words); i++) {
		if (strlen(words[i].name) != len ||
		    memcmp(words[i].name, word, len) != 0)
			continue;
		*words[i].flag = true;
		return 0;
	}
	if (!strncmp(word, "attr:", 5) || !strncmp(word, "prefix:", 7))
		return error_set(err, ERR_UNSUPPORTED,
				 "pathspec magic '%.*s' is not supported yet",
				 (int)len, word);
	return error_set(err, ERR_INVALID,
			 "Invalid pathspec magic '%.*s' in '%s'", (int)len,
			 word, pattern);
}

/*
 * Parses long magic of a pathspec: ":(word,word)". Sets *rest to the text
 * after the magic. Returns 0 or ERR_INVALID.
 */
static int parse_words(struct magic *m, const char *pattern, const char **rest,
		       struct error *err)
{
	const char *at = pattern + 2;

	while (*at != ')') {
		size_t len = strcspn(at, ",)");
		int ret;

		if (!at[len])
			return error_set(err, ERR_INVALID,
					 "Missing ')' at the end of pathspec "
					 "magic in '%s'",
					 pattern);
		ret = take_word(m, at, len, pattern, err);
		if (ret < 0)
			return ret;
		at += len + (at[len] == ',');
	}
	*rest = at + 1;
	return 0;
}

/*
 * Returns whether a character may be short magic of a pathspec. Letters,
 * digits, and characters of globs and regular expressions may not.
 */
static bool is_signature(char c)
{
	return c && strchr("!\"#%&',-/;<=>@_`~", c);
}

/*
 * Parses short magic of a pathspec such as ":/!path" or ":/!:path". Sets *rest
 * to the path. Returns 0 or ERR_INVALID.
 */
static int parse_signature(struct magic *m, const char *pattern,
			   const char **rest, struct error *err)
{
	const char *at = pattern + 1;

	for (; *at == '^' || is_signature(*at); at++) {
		if (*at == '^' || *at == '!')
			m->exclude = true;
		else if (*at == '/')
			m->top = true;
		else
			return error_set(err, ERR_INVALID,
					 "Unimplemented pathspec magic '%c' "
					 "in '%s'",
					 *at, pattern);
	}
	*rest = at + (*at == ':');
	return 0;
}

static int parse_magic(struct magic *m, const char *pattern, const char **rest,
		       const struct pathspec_place *place, struct error *err)
{
	int ret = 0;

	*m = (struct magic){.literal = place->literal, .icase = place->icase};
	*rest = pattern;
	if (place->literal)
		return 0;
	if (pattern[0] == ':')
		ret = pattern[1] == '('
			      ? parse_words(m, pattern, rest, err)
			      : parse_signature(m, pattern, rest, err);
	if (ret < 0)
		return ret;
	if (place->noglob && !m->glob)
		m->literal = true;
	if (m->literal && m->glob)
		return error_set(err, ERR_INVALID,
				 "%s: 'literal' and 'glob' are incompatible",
				 pattern);
	if (place->glob && !m->literal)
		m->glob = true;
	return 0;
}

/* ---- paths */

static int is_outside(const char *pattern, const char *path,
		      const struct pathspec_place *place, struct error *err)
{
	return error_set(err, ERR_INVALID,
			 "%s: '%s' is outside repository at '%s'", pattern,
			 path, place->name);
}

/* Removes the last component of a path. Returns false if the path has none. */
static bool go_up(struct buf *path)
{
	size_t len = path->len;

	if (!len)
		return false;
	for (len--; len && path->data[len - 1] != '/'; len--)
		;
	buf_set_len(path, len);
	return true;
}

/*
 * Appends the components of `more` to the path, which is empty or ends in a
 * slash. ".." removes a component. *kept is the number of bytes of the old path
 * that remain; ".." may lower it. Returns 1 on success, 0 if the path leaves
 * the top directory, or ERR_NOMEM.
 */
static int walk_path(struct buf *path, const char *more, size_t *kept)
{
	while (*more) {
		size_t len = strcspn(more, "/");
		bool is_dir = more[len] == '/';

		if (len == 2 && !memcmp(more, "..", 2)) {
			if (!go_up(path))
				return 0;
			if (path->len < *kept)
				*kept = path->len;
		} else if (len && (len != 1 || *more != '.')) {
			if (buf_append(path, more, len) < 0 ||
			    (is_dir && buf_append_char(path, '/') < 0))
				return ERR_NOMEM;
		}
		more += len;
		while (*more == '/')
			more++;
	}
	return 1;
}

/*
 * Returns the part of an absolute path that follows the path of the work tree,
 * or NULL if the path is outside the work tree.
 */
static const char *below_worktree(const char *path,
				  const struct pathspec_place *place)
{
	size_t len = place->worktree ? strlen(place->worktree) : 0;

	if (!len || strncmp(path, place->worktree, len) != 0)
		return NULL;
	if (place->worktree[len - 1] == '/')
		return path + len;
	return !path[len] || path[len] == '/' ? path + len : NULL;
}

/*
 * Appends the path of a pathspec pattern to `out`, relative to the top of the
 * work tree. *prefix_len is set to the number of bytes that come from the
 * current directory. Returns 0, ERR_INVALID if the path is outside of the work
 * tree, or ERR_NOMEM.
 */
static int resolve(struct buf *out, size_t *prefix_len, const char *pattern,
		   const char *path, bool top,
		   const struct pathspec_place *place, struct error *err)
{
	const char *prefix = place->prefix && !top ? place->prefix : "";
	const char *more = path;
	int ret = 1;

	if (*path == '/') {
		more = below_worktree(path, place);
		if (!more)
			return is_outside(pattern, path, place, err);
		prefix = "";
	}
	if (*prefix && (buf_append_str(out, prefix) < 0 ||
			(prefix[strlen(prefix) - 1] != '/' &&
			 buf_append_char(out, '/') < 0)))
		ret = ERR_NOMEM;
	*prefix_len = out->len;
	if (ret > 0)
		ret = walk_path(out, more, prefix_len);
	if (ret < 0)
		return error_nomem(err);
	return ret ? 0 : is_outside(pattern, path, place, err);
}

/* ---- whole patterns */

static int add_item(struct pathspec *ps, struct buf *match,
		    const struct magic *m, size_t prefix_len)
{
	struct pathspec_item *item = &ps->items[ps->nr];
	size_t wild;

	*item = (struct pathspec_item){
		.match = buf_detach(match, NULL),
		.prefix_len = prefix_len,
		.is_glob = m->glob,
		.is_icase = m->icase,
		.is_exclude = m->exclude,
	};
	if (!item->match)
		return ERR_NOMEM;
	item->len = strlen(item->match);
	item->name_len = item->len;
	if (item->len && item->match[item->len - 1] == '/')
		item->name_len--;
	wild = m->literal ? item->len : strcspn(item->match, "*?[\\");
	item->literal_len = wild < prefix_len ? prefix_len : wild;
	ps->has_wildcards |= item->literal_len < item->len;
	ps->has_icase |= m->icase;
	ps->has_excludes |= m->exclude;
	ps->nr++;
	return 0;
}

static int parse_one(struct pathspec *ps, const char *pattern,
		     const struct pathspec_place *place, struct error *err)
{
	struct buf match = BUF_INIT;
	size_t prefix_len = 0;
	const char *path;
	struct magic m;
	int ret;

	ret = parse_magic(&m, pattern, &path, place, err);
	if (!ret)
		ret = resolve(&match, &prefix_len, pattern, path, m.top, place,
			      err);
	if (!ret && add_item(ps, &match, &m, prefix_len) < 0)
		ret = error_nomem(err);
	buf_release(&match);
	return ret;
}

/*
 * Returns ERR_INVALID if one of the patterns is empty, otherwise 0. Stock Git
 * reports an empty pattern before any other error of the patterns.
 */
static int refuse_empty(const char *const *patterns, size_t nr,
			struct error *err)
{
	for (size_t i = 0; i < nr; i++)
		if (!*patterns[i])
			return error_set(err, ERR_INVALID,
					 "empty string is not a valid "
					 "pathspec; '.' matches all paths");
	return 0;
}

/*
 * If all patterns of a pathspec exclude paths, adds a pattern that matches
 * every path. Returns 0 or ERR_NOMEM.
 */
static int add_everything(struct pathspec *ps)
{
	struct buf match = BUF_INIT;
	const struct magic none = {.literal = true};

	for (size_t i = 0; i < ps->nr; i++)
		if (!ps->items[i].is_exclude)
			return 0;
	return ps->nr ? add_item(ps, &match, &none, 0) : 0;
}

int pathspec_parse(struct pathspec *ps, const char *const *patterns, size_t nr,
		   const struct pathspec_place *place, struct error *err)
{
	int ret = refuse_empty(patterns, nr, err);

	*ps = (struct pathspec)PATHSPEC_INIT;
	if (ret < 0)
		return ret;
	ps->items = mem_calloc(nr + 1, sizeof(*ps->items));
	if (!ps->items)
		return error_nomem(err);
	for (size_t i = 0; i < nr && !ret; i++)
		ret = parse_one(ps, patterns[i], place, err);
	if (!ret && add_everything(ps) < 0)
		ret = error_nomem(err);
	if (ret < 0)
		pathspec_release(ps);
	return ret;
}
