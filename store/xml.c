/* SPDX-License-Identifier: MIT */
/*
 * A strict reader of small XML documents; xml.h describes which documents are
 * accepted.
 */
#include <stdint.h>
#include <string.h>

#include "store/xml.h"

void xml_init(struct xml *x, const char *bytes, size_t len)
{
	memset(x, 0, sizeof(*x));
	x->p = bytes;
	x->end = bytes + len;
	buf_init(&x->text);
}

void xml_release(struct xml *x)
{
	buf_release(&x->text);
}

static int broken(const char *what, struct error *err)
{
	return error_set(err, ERR_CORRUPT, "XML: %s", what);
}

static bool starts(const struct xml *x, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(x->end - x->p) >= len && !memcmp(x->p, text, len);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_space(struct xml *x)
{
	while (x->p < x->end && is_space(*x->p))
		x->p++;
}

/* ---- text */

/* Returns whether XML 1.0 allows a Unicode character. */
static bool is_char(uint32_t c)
{
	return c == 9 || c == 10 || c == 13 || (c >= 0x20 && c < 0xd800) ||
	       (c >= 0xe000 && c < 0xfffe) || (c >= 0x10000 && c < 0x110000);
}

static int append_utf8(struct buf *out, uint32_t c)
{
	char bytes[4];
	size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = len; i-- > 1; c >>= 6)
		bytes[i] = (char)(0x80 | (c & 0x3f));
	bytes[0] = (char)(len == 1 ? c : (0xf00u >> len & 0xff) | c);
	return buf_append(out, bytes, len);
}

/*
 * Reads the digits of a numeric character reference, such as "65" of "&#65;" or
 * "x41" of "&#x41;". Returns whether they are valid.
 */
static bool read_number(uint32_t *out, const char *p, size_t len)
{
	unsigned base = 10;
	uint32_t c = 0;

	if (len && *p == 'x') {
		base = 16;
		p++;
		len--;
	}
	if (!len)
		return false;
	for (; len; p++, len--) {
		unsigned digit = *p >= '0' && *p <= '9' ? (unsigned)(*p - '0')
				 : *p >= 'a' && *p <= 'f'
					 ? (unsigned)(*p - 'a') + 10
				 : *p >= 'A' && *p <= 'F'
					 ? (unsigned)(*p - 'A') + 10
					 : 16;

		if (digit >= base || c > 0x110000)
			return false;
		c = c * base + digit;
	}
	*out = c;
	return is_char(c);
}

static int read_entity(struct xml *x, struct error *err)
{
	static const struct {
		const char *name;
		char c;
	} named[] = {
		{"amp", '&'},  {"lt", '<'},    {"gt", '>'},
		{"quot", '"'}, {"apos", '\''},
	};
	const char *p = x->p + 1;
	const char *stop = memchr(p, ';', (size_t)(x->end - p));
	size_t len = stop ? (size_t)(stop - p) : 0;
	uint32_t c = 0;

	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		if (len == strlen(named[i].name) &&
		    !memcmp(p, named[i].name, len))
			c = (unsigned char)named[i].c;
	if (!c && (!len || *p != '#' || !read_number(&c, p + 1, len - 1)))
		return broken("an entity is not known", err);
	x->p = stop + 1;
	return append_utf8(&x->text, c) < 0 ? error_nomem(err) : 0;
}

/* Reads text up to the next "<" or the end. */
static int read_text(struct xml *x, struct error *err)
{
	int ret = 0;

	while (!ret && x->p < x->end && *x->p != '<') {
		const char *start = x->p;

		if (*start == '&') {
			ret = read_entity(x, err);
			continue;
		}
		while (x->p < x->end && *x->p != '<' && *x->p != '&') {
			if (!is_char((unsigned char)*x->p))
				return broken("a character is not allowed",
					      err);
			x->p++;
		}
		if (buf_append(&x->text, start, (size_t)(x->p - start)) < 0)
			ret = error_nomem(err);
	}
	return ret;
}

/* ---- tags */

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == ':' || c == '-' ||
	       c == '.';
}

static int read_name(struct xml_name *name, struct xml *x, struct error *err)
{
	name->p = x->p;
	while (x->p < x->end && is_name_char(*x->p))
		x->p++;
	name->len = (size_t)(x->p - name->p);
	if (!name->len || name->len > XML_NAME_MAX)
		return broken("a name is empty or too long", err);
	return 0;
}

/* Skips ` name="value"`, with either kind of quotes. */
static int skip_attribute(struct xml *x, struct error *err)
{
	struct xml_name name;
	const char *stop = NULL;
	int ret = read_name(&name, x, err);

	if (ret < 0)
		return ret;
	skip_space(x);
	if (x->p == x->end || *x->p++ != '=')
		return broken("an attribute has no value", err);
	skip_space(x);
	if (x->p < x->end && (*x->p == '"' || *x->p == '\''))
		stop = memchr(x->p + 1, *x->p, (size_t)(x->end - x->p - 1));
	if (!stop || memchr(x->p, '<', (size_t)(stop - x->p)))
		return broken("an attribute has no value", err);
	x->p = stop + 1;
	return 0;
}

static int read_open_tag(struct xml *x, struct error *err)
{
	struct xml_name name;
	int ret;

	x->p++;
	ret = read_name(&name, x, err);
	if (ret < 0)
		return ret;
	if (x->depth == XML_DEPTH_MAX || (!x->depth && x->has_root))
		return broken("an element is at a wrong place", err);
	for (;;) {
		const char *before = x->p;

		skip_space(x);
		if (x->p == x->end || *x->p == '>' || *x->p == '/')
			break;
		if (x->p == before)
			return broken("a tag is not valid", err);
		ret = skip_attribute(x, err);
		if (ret < 0)
			return ret;
	}
	x->is_empty = x->p < x->end && *x->p == '/';
	x->p += x->is_empty;
	if (x->p == x->end || *x->p++ != '>')
		return broken("a tag does not end", err);
	x->names[x->depth++] = name;
	x->has_root = true;
	buf_reset(&x->text);
	return XML_OPEN;
}

static int read_close_tag(struct xml *x, struct error *err)
{
	struct xml_name name;
	const struct xml_name *open;
	int ret;

	x->p += 2;
	ret = read_name(&name, x, err);
	if (ret < 0)
		return ret;
	skip_space(x);
	if (x->p == x->end || *x->p++ != '>')
		return broken("a tag does not end", err);
	open = x->depth ? &x->names[x->depth - 1] : NULL;
	if (!open || open->len != name.len || memcmp(open->p, name.p, name.len))
		return broken("an element is closed that is not open", err);
	x->is_closing = true;
	return XML_CLOSE;
}

/* ---- the document */

/* Skips a comment or the XML declaration, up to and including `close`. */
static int skip_to(struct xml *x, const char *open, const char *close,
		   struct error *err)
{
	const char *p = x->p + strlen(open);
	const char *stop = memmem(p, (size_t)(x->end - p), close,
				  strlen(close));

	if (!stop)
		return broken("a comment does not end", err);
	x->p = stop + strlen(close);
	return 0;
}

/* Refuses text outside of the root element, except white space. */
static int check_outside(struct xml *x, struct error *err)
{
	for (size_t i = 0; i < x->text.len; i++)
		if (!is_space(x->text.data[i]))
			return broken("text is outside of the elements", err);
	return 0;
}

/*
 * Reads up to the next tag. Returns the event of this tag, 0 at the end of the
 * document, or a negative error code.
 */
static int read_next(struct xml *x, struct error *err)
{
	const char *start = x->p;
	int ret = 0;

	if (starts(x, "<?xml ") && !x->has_root && !x->depth)
		ret = skip_to(x, "<?xml ", "?>", err);
	while (!ret && x->p < x->end) {
		ret = read_text(x, err);
		if (!ret && !x->depth)
			ret = check_outside(x, err);
		if (ret || x->p == x->end)
			break;
		if (starts(x, "<!--"))
			ret = skip_to(x, "<!--", "-->", err);
		else if (starts(x, "</"))
			return read_close_tag(x, err);
		else
			return read_open_tag(x, err);
	}
	if (!ret && (x->depth || !x->has_root))
		ret = broken(start == x->end && !x->has_root
				     ? "the document is empty"
				     : "the document is cut off",
			     err);
	return ret;
}

int xml_next(struct xml *x, struct error *err)
{
	if (x->is_closing) {
		x->is_closing = false;
		x->depth--;
		buf_reset(&x->text);
	}
	if (x->is_empty) {
		x->is_empty = false;
		x->is_closing = true;
		return XML_CLOSE;
	}
	return read_next(x, err);
}

bool xml_is_at(const struct xml *x, const char *path)
{
	for (size_t i = 0; i < x->depth; i++) {
		const struct xml_name *name = &x->names[i];
		char after = i + 1 < x->depth ? '/' : '\0';

		if (strncmp(path, name->p, name->len) ||
		    path[name->len] != after)
			return false;
		path += name->len + 1;
	}
	return x->depth;
}
