/* SPDX-License-Identifier: MIT */
/* Translation of extended regular expressions to PCRE2's syntax. */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/pattern.h"

/*
 * Maximum depth of nested parentheses, and maximum count in an interval
 * "{m,n}".
 */
#define MAX_DEPTH 250
#define MAX_REPEAT 32767

/* The state of one translation. */
struct rewrite {
	/* the part of the pattern that is not translated yet */
	const char *p;
	struct buf *out;
	/* offsets in the output of the parentheses that are still open */
	size_t opened[MAX_DEPTH];
	unsigned depth;
	/*
	 * true: the output ends with an atom, such as a character or a group,
	 * so a quantifier like '*' may follow
	 */
	bool has_atom;
	/* offset in the output at which the last atom starts */
	size_t atom;
	/* the last atom has a quantifier already */
	bool is_repeated;
};

/*
 * Appends an atom to the output. Returns 0, ERR_NOMEM or ERR_INVALID. The
 * functions below in this file return the same values.
 */
static int put_atom(struct rewrite *r, const char *text)
{
	r->atom = r->out->len;
	r->has_atom = true;
	r->is_repeated = false;
	return buf_append_str(r->out, text);
}

/*
 * Takes a bracket expression, from "[" to "]". In POSIX syntax a backslash in
 * brackets is an ordinary character.
 */
static int take_bracket(struct rewrite *r)
{
	const char *start;

	if (put_atom(r, "[") < 0)
		return ERR_NOMEM;
	r->p++;
	if (*r->p == '^' && buf_append_char(r->out, *r->p++) < 0)
		return ERR_NOMEM;
	for (start = r->p; *r->p != ']' || r->p == start; r->p++) {
		if (!*r->p)
			return ERR_INVALID;
		if (*r->p == '[' && (r->p[1] == '=' || r->p[1] == '.'))
			return ERR_INVALID;
		if (*r->p == '[' && r->p[1] == ':') {
			const char *end = strstr(r->p + 2, ":]");

			if (!end || !isalpha((unsigned char)r->p[2]))
				return ERR_INVALID;
			if (buf_append(r->out, r->p, (size_t)(end + 1 - r->p)) <
			    0)
				return ERR_NOMEM;
			r->p = end + 1;
		} else if ((*r->p == '\\' || *r->p == '[') &&
			   buf_append_char(r->out, '\\') < 0) {
			return ERR_NOMEM;
		}
		if (buf_append_char(r->out, *r->p) < 0)
			return ERR_NOMEM;
	}
	r->p++;
	return buf_append_char(r->out, ']');
}

static int take_escape(struct rewrite *r)
{
	char c = r->p[1], literal[3] = {'\\', c, 0};

	if (!c)
		return ERR_INVALID;
	r->p += 2;
	switch (c) {
	case '<':
		return put_atom(r, "\\b(?=\\w)");
	case '>':
		return put_atom(r, "\\b(?<=\\w)");
	case '`':
		return put_atom(r, "\\A");
	case '\'':
		return put_atom(r, "\\z");
	}
	if (isalpha((unsigned char)c) && !strchr("wWsSbB", c))
		return put_atom(r, literal + 1);
	return put_atom(r, literal);
}

static bool take_number(struct rewrite *r, unsigned *nr)
{
	const char *start = r->p;

	*nr = 0;
	while (isdigit((unsigned char)*r->p) && *nr <= MAX_REPEAT)
		*nr = *nr * 10 + (unsigned)(*r->p++ - '0');
	return r->p > start;
}

/* Takes an interval: "{m}", "{m,}", "{,n}" or "{m,n}". */
static int take_interval(struct rewrite *r)
{
	unsigned from, to = 0;
	bool has_from, has_comma, has_to = false;

	r->p++;
	has_from = take_number(r, &from);
	has_comma = *r->p == ',';
	if (has_comma) {
		r->p++;
		has_to = take_number(r, &to);
	}
	if (*r->p != '}' || (!has_from && !has_to) || from > MAX_REPEAT ||
	    (has_to && (to > MAX_REPEAT || to < from)))
		return ERR_INVALID;
	r->p++;
	if (!has_comma)
		return buf_printf(r->out, "{%u}", from);
	if (!has_to)
		return buf_printf(r->out, "{%u,}", from);
	return buf_printf(r->out, "{%u,%u}", from, to);
}

/*
 * Puts "(?:" and ")" around an atom that has a quantifier, so that a second
 * quantifier can follow.
 */
static int group_atom(struct rewrite *r)
{
	size_t len = r->out->len - r->atom;

	if (buf_append_str(r->out, "(?:)") < 0)
		return ERR_NOMEM;
	memmove(r->out->data + r->atom + 3, r->out->data + r->atom, len);
	memcpy(r->out->data + r->atom, "(?:", 3);
	r->out->data[r->out->len - 1] = ')';
	return 0;
}

static int take_repeat(struct rewrite *r)
{
	if (!r->has_atom)
		return ERR_INVALID;
	if (r->is_repeated && group_atom(r) < 0)
		return ERR_NOMEM;
	r->is_repeated = true;
	if (*r->p == '{')
		return take_interval(r);
	return buf_append_char(r->out, *r->p++);
}

static int take_open(struct rewrite *r)
{
	if (r->depth == MAX_DEPTH)
		return ERR_INVALID;
	r->opened[r->depth++] = r->out->len;
	r->has_atom = false;
	r->p++;
	return buf_append_char(r->out, '(');
}

static int take_close(struct rewrite *r)
{
	r->p++;
	if (!r->depth)
		return put_atom(r, "\\)");
	r->atom = r->opened[--r->depth];
	r->has_atom = true;
	r->is_repeated = false;
	return buf_append_char(r->out, ')');
}

static int take(struct rewrite *r)
{
	char literal[3] = {'\\', *r->p, 0};

	switch (*r->p) {
	case '[':
		return take_bracket(r);
	case '\\':
		return take_escape(r);
	case '*':
	case '+':
	case '?':
	case '{':
		return take_repeat(r);
	case '(':
		return take_open(r);
	case ')':
		return take_close(r);
	case '|':
	case '^':
		r->has_atom = false;
		return buf_append_char(r->out, *r->p++);
	}
	r->p++;
	/*
	 * An escaped "}", "]" or "#" stays escaped for PCRE2. Other escaped
	 * literals lose their backslash.
	 */
	return put_atom(r, strchr("}]#", literal[1]) ? literal : literal + 1);
}

int ere_to_pcre(struct buf *out, const char *ere, size_t *at)
{
	struct rewrite r = {.p = ere, .out = out};
	size_t before = out->len;
	int ret = 0;

	while (*r.p && !ret)
		ret = take(&r);
	if (!ret && r.depth)
		ret = ERR_INVALID;
	if (ret < 0) {
		*at = (size_t)(r.p - ere);
		buf_set_len(out, before);
	}
	return ret;
}
