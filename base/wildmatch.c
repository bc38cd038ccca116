/* SPDX-License-Identifier: MIT */
/*
 * Glob matching without recursion.
 *
 * If a character does not match, the match goes back only to the latest "*".
 * All elements before that "*" matched as early as possible, so an earlier "*"
 * cannot give a better result. With WILDMATCH_PATHNAME a "*" does not match a
 * slash. So with this flag the match may also go back to the latest "**", which
 * can match slashes.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/wildmatch.h"

/*
 * A state of the match. If a later character does not match, the search goes
 * back to this state.
 */
struct retry {
	/* the pattern after the asterisks; NULL: nothing to return to */
	const char *pattern;
	/* the last text position from which `pattern` was tried */
	const char *text;
};

static char fold(char c, unsigned flags)
{
	if ((flags & WILDMATCH_ICASE) && c >= 'A' && c <= 'Z')
		return (char)(c - 'A' + 'a');
	return c;
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_alpha(char c)
{
	return is_upper(c) || is_lower(c);
}

static bool is_alnum(char c)
{
	return is_alpha(c) || is_digit(c);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_cntrl(char c)
{
	return (unsigned char)c < 0x20 || c == 0x7f;
}

static bool is_graph(char c)
{
	return c > 0x20 && c < 0x7f;
}

static bool is_print(char c)
{
	return c >= 0x20 && c < 0x7f;
}

static bool is_punct(char c)
{
	return is_graph(c) && !is_alnum(c);
}

static bool is_xdigit(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static const struct {
	const char *name;
	bool (*has)(char c);
} classes[] = {
	{"alnum", is_alnum}, {"alpha", is_alpha}, {"blank", is_blank},
	{"cntrl", is_cntrl}, {"digit", is_digit}, {"graph", is_graph},
	{"lower", is_lower}, {"print", is_print}, {"punct", is_punct},
	{"space", is_space}, {"upper", is_upper}, {"xdigit", is_xdigit},
};

static bool in_class(const char *name, size_t len, char c, unsigned flags,
		     bool *known)
{
	for (size_t i = 0; i < ARRAY_NR(classes); i++) {
		if (strlen(classes[i].name) != len ||
		    memcmp(classes[i].name, name, len))
			continue;
		*known = true;
		if (classes[i].has(c))
			return true;
		/*
		 * If case is ignored, letters of both cases are in [:upper:]
		 * and in [:lower:].
		 */
		return (flags & WILDMATCH_ICASE) && is_alpha(c) &&
		       classes[i].has((char)(c ^ 0x20));
	}
	*known = false;
	return false;
}

static bool in_range(char low, char high, char c, unsigned flags)
{
	unsigned char l = (unsigned char)low;
	unsigned char h = (unsigned char)high;
	unsigned char u = (unsigned char)c;

	if (u >= l && u <= h)
		return true;
	u ^= 0x20;
	return (flags & WILDMATCH_ICASE) && is_alpha(c) && u >= l && u <= h;
}

/*
 * Matches one character against the bracket expression whose "[" is before `p`.
 * Returns the pattern after the "]". Returns NULL if the bracket is not closed
 * or names an unknown class.
 */
static const char *match_bracket(const char *p, char c, unsigned flags,
				 bool *matched)
{
	bool negated = *p == '!' || *p == '^';
	bool found = false;

	p += negated;
	for (const char *first = p; *p != ']' || p == first;) {
		char low = *p++;

		if (!low)
			return NULL;
		if (low == '[' && *p == ':') {
			const char *end = strstr(p + 1, ":]");
			bool known;

			if (!end)
				return NULL;
			found |= in_class(p + 1, (size_t)(end - p - 1), c,
					  flags, &known);
			if (!known)
				return NULL;
			p = end + 2;
			continue;
		}
		if (low == '\\' && !(low = *p++))
			return NULL;
		if (*p == '-' && p[1] && p[1] != ']') {
			char high = *++p;

			if (high == '\\' && !(high = *++p))
				return NULL;
			p++;
			found |= in_range(low, high, c, flags);
		} else {
			found |= in_range(low, low, c, flags);
		}
	}
	*matched = found != negated;
	return p + 1;
}

/*
 * Matches the pattern's element at `p` against `c`. Returns the rest of the
 * pattern, or NULL if the element does not match.
 */
static const char *match_one(const char *p, char c, unsigned flags)
{
	bool slash = c == '/' && (flags & WILDMATCH_PATHNAME);
	bool matched;

	switch (*p) {
	case '\0':
		return NULL;
	case '?':
		return slash ? NULL : p + 1;
	case '[':
		p = match_bracket(p + 1, c, flags, &matched);
		return p && matched && !slash ? p : NULL;
	case '\\':
		if (!*++p)
			return NULL;
		break;
	default:
		break;
	}
	return fold(*p, flags) == fold(c, flags) ? p + 1 : NULL;
}

/*
 * Skips the asterisks at `p` and returns the pattern after them. *deep is set
 * to whether the asterisks are a "**" that can match slashes. A slash after
 * such a "**" is skipped too, because the "**" may match no directory. Returns
 * NULL if the pattern ends with such a "**": it then matches all text that is
 * left.
 */
static const char *skip_stars(const char *p, const char *start, unsigned flags,
			      bool *deep)
{
	bool at_start = p == start || p[-1] == '/';
	const char *end = p;

	while (*end == '*')
		end++;
	*deep = (flags & WILDMATCH_PATHNAME) && at_start && end - p >= 2 &&
		(!*end || *end == '/');
	if (*deep)
		return *end ? end + 1 : NULL;
	return end;
}

/*
 * Returns the next position after `text` at which a "**" may stop matching:
 * after a slash. Returns NULL if there is none.
 */
static const char *next_component(const char *text)
{
	const char *slash = strchr(text, '/');

	return slash ? slash + 1 : NULL;
}

/*
 * Goes back to the latest "*" that can match more text, or else to the latest
 * "**", and lets it match more. Returns false if neither can.
 */
static bool back_up(struct retry *star, struct retry *deep, const char **p,
		    const char **text, unsigned flags)
{
	bool path = flags & WILDMATCH_PATHNAME;

	if (star->pattern && *star->text && (!path || *star->text != '/')) {
		*p = star->pattern;
		*text = ++star->text;
		return true;
	}
	star->pattern = NULL;
	if (!deep->pattern)
		return false;
	deep->text = next_component(deep->text);
	if (!deep->text)
		return false;
	*p = deep->pattern;
	*text = deep->text;
	return true;
}

bool wildmatch(const char *pattern, const char *text, unsigned flags)
{
	struct retry star = {NULL, NULL}, deep = {NULL, NULL};
	const char *p = pattern;

	for (;;) {
		const char *next;

		if (*p == '*') {
			bool is_deep;

			p = skip_stars(p, pattern, flags, &is_deep);
			if (!p)
				return true;
			if (is_deep) {
				deep = (struct retry){p, text};
				star.pattern = NULL;
			} else {
				star = (struct retry){p, text};
			}
			continue;
		}
		if (!*p && !*text)
			return true;
		next = *text ? match_one(p, *text, flags) : NULL;
		if (next) {
			p = next;
			text++;
		} else if (!back_up(&star, &deep, &p, &text, flags)) {
			return false;
		}
	}
}
