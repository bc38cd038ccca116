/* SPDX-License-Identifier: MIT */
/*
 * Parses commits and tags, and computes the path hash. Trees are parsed by
 * inline functions in object/parse.h.
 *
 * The parsers check only the lines that reachability and serving need: those
 * with ids (tree, parent, object), and the type and name of a tag. These lines
 * must be at their places. The parsers accept malformed idents and unknown
 * header lines; object/fsck.h checks these.
 */
#include <string.h>

#include "object/parse.h"

/* If the next bytes are `word`, takes them and returns true. */
static bool take_word(struct cursor *c, const char *word)
{
	size_t len = strlen(word);

	if (cursor_left(c) < len || memcmp(c->p, word, len) != 0)
		return false;
	c->p += len;
	return true;
}

/*
 * Takes a header line "<word><hex>\n", and sets *oid to the id. Returns false
 * if the next line has another form; then nothing is taken.
 */
static bool take_oid_line(struct cursor *c, const char *word, struct oid *oid,
			  enum hash_algo algo)
{
	size_t hex_len = hash_hex_len(algo);
	struct cursor t = *c;

	if (!take_word(&t, word) || cursor_left(&t) <= hex_len ||
	    t.p[hex_len] != '\n' ||
	    !oid_from_hex(oid, (const char *)t.p, hex_len, algo))
		return false;
	t.p += hex_len + 1;
	*c = t;
	return true;
}

/*
 * Takes a header line "<word><text>\n". The last line may lack its newline.
 * Returns false if the next line does not start with `word`.
 */
static bool take_text_line(struct cursor *c, const char *word,
			   const char **text, size_t *len)
{
	struct cursor t = *c;
	const uint8_t *eol;

	if (!take_word(&t, word))
		return false;
	eol = memchr(t.p, '\n', cursor_left(&t));
	*text = (const char *)t.p;
	*len = (size_t)((eol ? eol : t.end) - t.p);
	c->p = eol ? eol + 1 : t.end;
	return true;
}

/*
 * Returns the seconds in "Name <mail> seconds zone", or 0 if they are
 * unreadable.
 */
static uint64_t ident_date(const char *ident, size_t len)
{
	const char *end = ident + len;
	const char *p = memrchr(ident, '>', len);
	uint64_t date = 0;

	if (!p)
		return 0;
	for (p++; p < end && *p == ' '; p++)
		;
	for (; p < end && *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(date, 10, &date) ||
		    __builtin_add_overflow(date, (uint64_t)(*p - '0'), &date))
			return 0;
	return date;
}

static void find_message(struct commit_view *view, const struct cursor *c)
{
	const char *blank;

	/*
	 * The search for the blank line starts one byte before the cursor,
	 * because the newline there ends the last header.
	 */
	view->message = "";
	view->message_len = 0;
	blank = memmem(c->p - 1, cursor_left(c) + 1, "\n\n", 2);
	if (!blank)
		return;
	view->message = blank + 2;
	view->message_len = (size_t)((const char *)c->end - view->message);
}

int commit_parse(struct commit_view *view, const void *data, size_t len,
		 enum hash_algo algo, struct error *err)
{
	struct cursor c = cursor_make(data, len);
	struct commit_view v = {0};
	const char *ident;
	size_t ident_len;
	struct oid parent;

	if (!take_oid_line(&c, "tree ", &v.tree, algo))
		return error_set(err, ERR_CORRUPT,
				 "commit without a valid tree line");
	v.parents = (const char *)c.p;
	while (take_oid_line(&c, "parent ", &parent, algo))
		v.parent_nr++;
	if (!v.parent_nr)
		v.parents = NULL;
	if (take_word(&c, "parent "))
		return error_set(err, ERR_CORRUPT,
				 "commit with an invalid parent line");
	if (take_text_line(&c, "author ", &ident, &ident_len) &&
	    take_text_line(&c, "committer ", &ident, &ident_len))
		v.committer_date = ident_date(ident, ident_len);
	find_message(&v, &c);
	*view = v;
	return 0;
}

void commit_parent(struct oid *oid, const struct commit_view *view, size_t i,
		   enum hash_algo algo)
{
	size_t hex_len = hash_hex_len(algo);
	size_t word_len = strlen("parent ");
	const char *line = view->parents + i * (word_len + hex_len + 1);

	oid_from_hex(oid, line + word_len, hex_len, algo);
}

int tag_parse(struct tag_view *view, const void *data, size_t len,
	      enum hash_algo algo, struct error *err)
{
	struct cursor c = cursor_make(data, len);
	struct tag_view v = {0};
	const char *text;
	size_t text_len;

	if (!take_oid_line(&c, "object ", &v.target, algo))
		return error_set(err, ERR_CORRUPT,
				 "tag without a valid object line");
	if (!take_text_line(&c, "type ", &text, &text_len) ||
	    !(v.target_type = object_type_by_name(text, text_len)))
		return error_set(err, ERR_CORRUPT,
				 "tag without a valid type line");
	if (!take_text_line(&c, "tag ", &v.name, &v.name_len))
		return error_set(err, ERR_CORRUPT, "tag without a tag line");
	if (take_text_line(&c, "tagger ", &text, &text_len))
		v.tagger_date = ident_date(text, text_len);
	*view = v;
	return 0;
}

uint32_t name_hash_add(uint32_t h, const char *path, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		uint32_t c = (uint8_t)path[i];

		if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
			continue;
		h = (h >> 2) + (c << 24);
	}
	return h;
}
