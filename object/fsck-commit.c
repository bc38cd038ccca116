/* SPDX-License-Identifier: MIT */
/*
 * Checks whether commits and tags are well-formed.
 *
 * 	tree <hex>\n                    object <hex>\n
 * 	parent <hex>\n ...              type <type>\n
 * 	author <ident>\n                tag <name>\n
 * 	committer <ident>\n             tagger <ident>\n
 * 	further headers\n               gpgsig <line>\n <line>\n ...
 * 	\n                              \n
 * 	message                         message
 *
 * If configuration demotes an error to a warning, the check continues with the
 * next line if possible.
 */
#include <string.h>

#include "object/fsck-parts.h"
#include "object/refs-name.h"

/*
 * The part of a commit or tag that is not checked yet. check_headers() has
 * verified that each header line ends in a newline.
 */
struct lines {
	const struct fsck_check *check;
	const char *p, *end;
};

/* If the next bytes are `word`, takes them and returns true. */
static bool take(struct lines *l, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(l->end - l->p) < len || memcmp(l->p, word, len))
		return false;
	l->p += len;
	return true;
}

/*
 * Takes the rest of the current line and its newline. Returns the line; *len
 * does not count the newline.
 */
static const char *take_line(struct lines *l, size_t *len)
{
	const char *start = l->p;
	const char *eol = memchr(start, '\n', (size_t)(l->end - start));

	*len = (size_t)((eol ? eol : l->end) - start);
	l->p = eol ? eol + 1 : l->end;
	return start;
}

/*
 * Checks that the headers contain no NUL and that each header line ends in a
 * newline. The headers end at an empty line, or at the end of the object. All
 * later checks rely on these facts, so configuration cannot lower the severity
 * of this error. Returns 0 if no error was reported, 1 if an error was
 * reported, or a negative error code.
 */
static int check_headers(const struct fsck_check *c)
{
	const char *p = c->data;
	const char *end = p + c->len;

	while (p < end) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));
		const char *stop = eol ? eol : end;
		const char *nul = memchr(p, '\0', (size_t)(stop - p));

		if (nul)
			return fsck_say(c, FSCK_NUL_IN_HEADER,
					"unterminated header: NUL at offset "
					"%zu",
					(size_t)(nul - c->data));
		if (!eol)
			break;
		if (eol == p && p > c->data)
			return 0;
		p = eol + 1;
	}
	if (c->len && p == end)
		return 0;
	return fsck_say(c, FSCK_UNTERMINATED_HEADER, "unterminated header");
}

/*
 * Takes a line. Returns whether the line is "<hex>\n" with the hexadecimal form
 * of an id. In both cases the line is consumed.
 */
static bool take_id(struct lines *l)
{
	enum hash_algo algo = l->check->f->rules->algo;
	struct oid oid;
	size_t len;
	const char *hex = take_line(l, &len);

	return len == hash_hex_len(algo) && oid_from_hex(&oid, hex, len, algo);
}

/*
 * ---- checking author, committer and tagger: name SP <email> SP seconds SP
 * zone
 */

#define IDENT "invalid author/committer line - "

/*
 * Returns the number of digits at p. The digits are a date in seconds since
 * 1970; sets *overflow if the date is too large.
 */
static size_t date_digits(const char *p, bool *overflow)
{
	int64_t value = 0;
	size_t nr;

	*overflow = false;
	for (nr = 0; p[nr] >= '0' && p[nr] <= '9'; nr++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, p[nr] - '0', &value))
			*overflow = true;
	return nr;
}

static bool is_zone(const char *p)
{
	if (*p != '+' && *p != '-')
		return false;
	for (int i = 1; i < 5; i++)
		if (p[i] < '0' || p[i] > '9')
			return false;
	return p[5] == '\n';
}

/*
 * Checks the date and zone, which follow "> " in an ident. The line ends in a
 * newline. Returns 0 if no error was reported, 1 if an error was reported, or a
 * negative error code.
 */
static int check_date(const struct fsck_check *c, const char *p)
{
	bool overflow;
	size_t nr;

	while (*p == ' ' || *p == '\t' || *p == '\r')
		p++;
	if (*p < '0' || *p > '9')
		return fsck_say(c, FSCK_BAD_DATE, IDENT "bad date");
	if (*p == '0' && p[1] != ' ')
		return fsck_say(c, FSCK_ZERO_PADDED_DATE,
				IDENT "zero-padded date");
	nr = date_digits(p, &overflow);
	if (overflow)
		return fsck_say(c, FSCK_BAD_DATE_OVERFLOW,
				IDENT "date causes integer overflow");
	if (p[nr] != ' ')
		return fsck_say(c, FSCK_BAD_DATE, IDENT "bad date");
	if (!is_zone(p + nr + 1))
		return fsck_say(c, FSCK_BAD_TIMEZONE, IDENT "bad time zone");
	return 0;
}

/* Returns a pointer to the first '<', '>' or newline at or after p. */
static const char *next_mark(const char *p)
{
	while (*p != '<' && *p != '>' && *p != '\n')
		p++;
	return p;
}

/*
 * Takes an ident ("name <email> seconds zone") and its newline, and checks the
 * ident. Returns 0 if no error was reported, 1 if an error was reported, or a
 * negative error code.
 */
static int check_ident(struct lines *l)
{
	const struct fsck_check *c = l->check;
	size_t len;
	const char *p = take_line(l, &len);

	if (*p == '<')
		return fsck_say(c, FSCK_MISSING_NAME_BEFORE_EMAIL,
				IDENT "missing space before email");
	p = next_mark(p);
	if (*p == '>')
		return fsck_say(c, FSCK_BAD_NAME, IDENT "bad name");
	if (*p != '<')
		return fsck_say(c, FSCK_MISSING_EMAIL, IDENT "missing email");
	if (p[-1] != ' ')
		return fsck_say(c, FSCK_MISSING_SPACE_BEFORE_EMAIL,
				IDENT "missing space before email");
	p = next_mark(p + 1);
	if (*p != '>')
		return fsck_say(c, FSCK_BAD_EMAIL, IDENT "bad email");
	if (p[1] != ' ')
		return fsck_say(c, FSCK_MISSING_SPACE_BEFORE_DATE,
				IDENT "missing space before date");
	return check_date(c, p + 2);
}

/* ---- commits */

static int check_ids(struct lines *l)
{
	const struct fsck_check *c = l->check;
	int ret = 0;

	if (!take(l, "tree "))
		return fsck_say(c, FSCK_MISSING_TREE,
				"invalid format - expected 'tree' line");
	if (!take_id(l))
		ret = fsck_say(c, FSCK_BAD_TREE_SHA1,
			       "invalid 'tree' line format - bad sha1");
	while (!ret && take(l, "parent "))
		if (!take_id(l))
			ret = fsck_say(c, FSCK_BAD_PARENT_SHA1,
				       "invalid 'parent' line format - bad "
				       "sha1");
	return ret;
}

static int check_people(struct lines *l)
{
	const struct fsck_check *c = l->check;
	size_t author_nr = 0;
	int ret = 0;

	while (!ret && take(l, "author ")) {
		author_nr++;
		ret = check_ident(l);
	}
	if (ret)
		return ret;
	if (!author_nr)
		ret = fsck_say(c, FSCK_MISSING_AUTHOR,
			       "invalid format - expected 'author' line");
	else if (author_nr > 1)
		ret = fsck_say(c, FSCK_MULTIPLE_AUTHORS,
			       "invalid format - multiple 'author' lines");
	if (ret)
		return ret;
	if (!take(l, "committer "))
		return fsck_say(c, FSCK_MISSING_COMMITTER,
				"invalid format - expected 'committer' line");
	return check_ident(l);
}

int fsck_commit(const struct fsck_check *c)
{
	struct lines l = {c, c->data, c->data + c->len};
	int ret = check_headers(c);

	if (!ret)
		ret = check_ids(&l);
	if (!ret)
		ret = check_people(&l);
	if (!ret && memchr(c->data, '\0', c->len))
		ret = fsck_say(c, FSCK_NUL_IN_COMMIT,
			       "NUL byte in the commit object body");
	return ret;
}

/* ---- tags */

static int check_target(struct lines *l)
{
	const struct fsck_check *c = l->check;
	const char *type;
	size_t len;
	int ret = 0;

	if (!take(l, "object "))
		return fsck_say(c, FSCK_MISSING_OBJECT,
				"invalid format - expected 'object' line");
	if (!take_id(l))
		ret = fsck_say(c, FSCK_BAD_OBJECT_SHA1,
			       "invalid 'object' line format - bad sha1");
	if (ret)
		return ret;
	if (!take(l, "type "))
		return fsck_say(c, FSCK_MISSING_TYPE_ENTRY,
				"invalid format - expected 'type' line");
	type = take_line(l, &len);
	if (object_type_by_name(type, len) == OBJ_NONE)
		return fsck_say(c, FSCK_BAD_TYPE, "invalid 'type' value");
	return 0;
}

static int check_tag_name(struct lines *l)
{
	const struct fsck_check *c = l->check;
	const char *name;
	size_t len;

	if (!take(l, "tag "))
		return fsck_say(c, FSCK_MISSING_TAG_ENTRY,
				"invalid format - expected 'tag' line");
	name = take_line(l, &len);
	/*
	 * The name of a tag follows the rules for a ref name below refs/tags/.
	 * So a name without a slash is valid, and so is "@".
	 */
	if (refs_name_is_valid_len(name, len, true) ||
	    (len == 1 && *name == '@'))
		return 0;
	return fsck_say(c, FSCK_BAD_TAG_NAME, "invalid 'tag' name: %.*s",
			(int)len, name);
}

static int check_tagger(struct lines *l)
{
	if (!take(l, "tagger "))
		return fsck_say(l->check, FSCK_MISSING_TAGGER_ENTRY,
				"invalid format - expected 'tagger' line");
	return check_ident(l);
}

/*
 * Skips the signature of a tag, and reports further headers before the empty
 * line. Returns 0 if no error was reported, 1 if an error was reported, or a
 * negative error code.
 */
static int check_tag_rest(struct lines *l)
{
	size_t len;

	if (take(l, "gpgsig ") || take(l, "gpgsig-sha256 ")) {
		take_line(l, &len);
		while (take(l, " "))
			take_line(l, &len);
	}
	if (l->p == l->end || *l->p == '\n')
		return 0;
	return fsck_say(l->check, FSCK_EXTRA_HEADER_ENTRY,
			"invalid format - extra header(s) after 'tagger'");
}

int fsck_tag(const struct fsck_check *c)
{
	struct lines l = {c, c->data, c->data + c->len};
	int ret = check_headers(c);

	if (!ret)
		ret = check_target(&l);
	if (!ret)
		ret = check_tag_name(&l);
	if (!ret)
		ret = check_tagger(&l);
	if (!ret)
		ret = check_tag_rest(&l);
	return ret;
}
