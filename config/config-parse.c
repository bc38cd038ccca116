/* SPDX-License-Identifier: MIT */
/*
 * The syntax of a configuration file (git-config(1), "Syntax"):
 *
 * 	file     = [BOM] { blank | comment | section | variable }
 * 	section  = "[" name [ blanks '"' subsection '"' ] "]"
 * 	variable = name blanks ( end-of-line | "=" value end-of-line )
 * 	value    = { character | escape | quoted | "\" end-of-line } [ comment ]
 *
 * A carriage return before a newline is ignored. Whitespace inside a value is
 * kept, as the manual says and Git does since 2.45. Git 2.39 differs.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/config-internal.h"

#define END_OF_TEXT (-1)

struct parser {
	const char *text; /* the whole text */
	const char *p, *end;
	/* where the current section header or variable begins */
	const char *start;
	const char *name; /* of the file, or NULL */
	/* line number of the last character that was read */
	unsigned line;
	/* true: the last character that was read was a newline */
	bool line_ended;
	/*
	 * key of the current variable: "section.subsection." and the variable's
	 * name
	 */
	struct buf key;
	/* length of "section.subsection." in `key` */
	size_t prefix_len;
	struct buf value;
};

static bool is_blank(int c)
{
	return c == ' ' || c == '\t';
}

static bool is_space(int c)
{
	return is_blank(c) || c == '\n' || c == '\r';
}

static bool is_alpha(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_key_char(int c)
{
	return is_alpha(c) || (c >= '0' && c <= '9') || c == '-';
}

static char to_lower(int c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static int bad_line(const struct parser *ps, struct error *err)
{
	if (!ps->name)
		return error_set(err, ERR_CORRUPT, "bad config line %u",
				 ps->line);
	return error_set(err, ERR_CORRUPT, "bad config line %u in file %s",
			 ps->line, ps->name);
}

/*
 * Adds the file name and line number to the message about a variable. Returns
 * ERR_CORRUPT.
 */
static int bad_variable(const struct parser *ps, const struct error *reason,
			struct error *err)
{
	if (!ps->name)
		return error_set(err, ERR_CORRUPT, "bad config line %u: %s",
				 ps->line, reason->msg);
	return error_set(err, ERR_CORRUPT, "bad config line %u in file %s: %s",
			 ps->line, ps->name, reason->msg);
}

static int next_char(struct parser *ps)
{
	int c;

	if (ps->line_ended) {
		ps->line++;
		ps->line_ended = false;
	}
	if (ps->p == ps->end)
		return END_OF_TEXT;
	c = (unsigned char)*ps->p++;
	if (c == '\r' && ps->p < ps->end && *ps->p == '\n')
		c = (unsigned char)*ps->p++;
	ps->line_ended = c == '\n';
	return c;
}

/*
 * Parses the rest of a section header, after the section's name and blanks:
 * the optional subsection and the "]". Returns 0, ERR_CORRUPT or ERR_NOMEM.
 */
static int parse_subsection(struct parser *ps, int c, struct error *err)
{
	while (is_space(c) && c != '\n')
		c = next_char(ps);
	if (c != '"' || buf_append_char(&ps->key, '.') < 0)
		return c == '"' ? error_nomem(err) : bad_line(ps, err);
	for (;;) {
		c = next_char(ps);
		if (c == '"')
			break;
		if (c == '\\')
			c = next_char(ps);
		if (c == END_OF_TEXT || c == '\n' || !c)
			return bad_line(ps, err);
		if (buf_append_char(&ps->key, (char)c) < 0)
			return error_nomem(err);
	}
	if (next_char(ps) != ']')
		return bad_line(ps, err);
	return 0;
}

/*
 * Parses a section header whose "[" was read. Returns 0, ERR_CORRUPT or
 * ERR_NOMEM.
 */
static int parse_section(struct parser *ps, struct error *err)
{
	int c;

	buf_reset(&ps->key);
	for (;;) {
		c = next_char(ps);
		if (!is_key_char(c) && c != '.')
			break;
		if (buf_append_char(&ps->key, to_lower(c)) < 0)
			return error_nomem(err);
	}
	if (!ps->key.len)
		return bad_line(ps, err);
	if (is_space(c) && c != '\n') {
		int ret = parse_subsection(ps, c, err);

		if (ret < 0)
			return ret;
	} else if (c != ']') {
		return bad_line(ps, err);
	}
	if (buf_append_char(&ps->key, '.') < 0)
		return error_nomem(err);
	ps->prefix_len = ps->key.len;
	return 0;
}

/*
 * Parses the character after a backslash in a value. *out is the character to
 * add, or END_OF_TEXT if the escape adds none. Returns 0 or ERR_CORRUPT.
 */
static int parse_escape(struct parser *ps, int *out, struct error *err)
{
	int c = next_char(ps);

	switch (c) {
	case END_OF_TEXT:
	case '\n':
		*out = END_OF_TEXT;
		return 0;
	case 't':
		*out = '\t';
		return 0;
	case 'b':
		*out = '\b';
		return 0;
	case 'n':
		*out = '\n';
		return 0;
	case '\\':
	case '"':
		*out = c;
		return 0;
	default:
		return bad_line(ps, err);
	}
}

static void skip_comment(struct parser *ps)
{
	int c;

	do {
		c = next_char(ps);
	} while (c != '\n' && c != END_OF_TEXT);
}

/*
 * Parses a variable's value after the "=" into ps->value, up to and including
 * the end of the line. Returns 0, ERR_CORRUPT or ERR_NOMEM.
 */
static int parse_value(struct parser *ps, struct error *err)
{
	bool quoted = false;
	/*
	 * The value ends after this many bytes: unquoted blanks at its end are
	 * dropped.
	 */
	size_t keep = 0;

	buf_reset(&ps->value);
	for (;;) {
		int c = next_char(ps);
		bool blank = !quoted && is_space(c);

		if (c == '\n' || c == END_OF_TEXT) {
			if (quoted)
				return bad_line(ps, err);
			break;
		}
		if (!quoted && (c == '#' || c == ';')) {
			skip_comment(ps);
			break;
		}
		if (blank && !ps->value.len)
			continue;
		if (c == '"') {
			quoted = !quoted;
			keep = ps->value.len;
			continue;
		}
		if (c == '\\') {
			int ret = parse_escape(ps, &c, err);

			if (ret < 0)
				return ret;
			if (c == END_OF_TEXT) {
				keep = ps->value.len;
				continue;
			}
		}
		if (buf_append_char(&ps->value, (char)c) < 0)
			return error_nomem(err);
		if (!blank)
			keep = ps->value.len;
	}
	buf_set_len(&ps->value, keep);
	return 0;
}

/*
 * Parses a variable, and passes it to `fn`. `c` is the first letter of the name
 * of the variable, which was read already. Returns 0, ERR_CORRUPT, ERR_NOMEM,
 * or another result of `fn`.
 */
static int parse_variable(struct parser *ps, int c, config_var_fn *fn,
			  void *ctx, struct error *err)
{
	struct error reason = ERROR_INIT;
	const char *value = NULL;
	int ret;

	buf_set_len(&ps->key, ps->prefix_len);
	for (; is_key_char(c); c = next_char(ps))
		if (buf_append_char(&ps->key, to_lower(c)) < 0)
			return error_nomem(err);
	while (is_blank(c))
		c = next_char(ps);
	if (c == '=') {
		ret = parse_value(ps, err);
		if (ret < 0)
			return ret;
		value = ps->value.data;
	} else if (c != '\n' && c != END_OF_TEXT) {
		return bad_line(ps, err);
	}
	ret = fn(ctx, ps->key.data, value, &reason);
	if (ret == ERR_INVALID)
		return bad_variable(ps, &reason, err);
	if (ret && err)
		*err = reason;
	return ret;
}

/*
 * Parses the next section header, variable or comment, whose first character
 * `c` was read already. Calls `fn` for a variable, and `on_header` (NULL: no
 * call) for a section header. Returns 0, ERR_CORRUPT, ERR_NOMEM, or another
 * result of `fn` or `on_header`.
 */
static int parse_item(struct parser *ps, int c, config_var_fn *fn,
		      int (*on_header)(void *ctx), void *ctx, struct error *err)
{
	int ret;

	ps->start = ps->p - 1;
	if (is_alpha(c))
		return parse_variable(ps, c, fn, ctx, err);
	if (c == '[') {
		ret = parse_section(ps, err);
		return ret || !on_header ? ret : on_header(ctx);
	}
	if (c != '#' && c != ';')
		return bad_line(ps, err);
	skip_comment(ps);
	return 0;
}

static int parse_lines(struct parser *ps, config_var_fn *fn,
		       int (*on_header)(void *ctx), void *ctx,
		       struct error *err)
{
	int ret = 0;

	while (!ret) {
		int c = next_char(ps);

		if (c == END_OF_TEXT)
			break;
		if (!is_space(c))
			ret = parse_item(ps, c, fn, on_header, ctx, err);
	}
	return ret;
}

static void parser_init(struct parser *ps, const char *text, size_t len,
			const char *name)
{
	*ps = (struct parser){.text = text,
			      .p = text,
			      .end = text + len,
			      .name = name,
			      .line = 1};
	buf_init(&ps->key);
	buf_init(&ps->value);
	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		ps->p += 3;
}

static void parser_release(struct parser *ps)
{
	buf_release(&ps->key);
	buf_release(&ps->value);
}

int config_parse_text(const char *text, size_t len, const char *name,
		      config_var_fn *fn, void *ctx, struct error *err)
{
	struct parser ps;
	int ret;

	parser_init(&ps, text, len, name);
	ret = parse_lines(&ps, fn, NULL, ctx, err);
	parser_release(&ps);
	return ret;
}

/* A visit of variables and section headers with their positions. */
struct visit {
	const struct parser *ps;
	config_line_fn *on_header, *on_variable;
	void *ctx;
};

static struct config_line current_line(const struct parser *ps, const char *key,
				       const char *value)
{
	return (struct config_line){
		.key = key,
		.value = value,
		.line = ps->line,
		.start_off = (size_t)(ps->start - ps->text),
		.end_off = (size_t)(ps->p - ps->text),
	};
}

static int visit_variable(void *ctx, const char *key, const char *value,
			  struct error *err)
{
	const struct visit *v = ctx;
	const struct config_line line = current_line(v->ps, key, value);

	return v->on_variable(v->ctx, &line);
}

static int visit_header(void *ctx)
{
	const struct visit *v = ctx;
	const struct config_line line = current_line(v->ps, v->ps->key.data,
						     NULL);

	return v->on_header(v->ctx, &line);
}

int config_each_item(const char *text, size_t len, const char *name,
		     config_line_fn *on_header, config_line_fn *on_variable,
		     void *ctx, struct error *err)
{
	struct parser ps;
	struct visit visit = {&ps, on_header, on_variable, ctx};
	int ret;

	parser_init(&ps, text, len, name);
	ret = parse_lines(&ps, visit_variable, on_header ? visit_header : NULL,
			  &visit, err);
	parser_release(&ps);
	return ret;
}

int config_each_line(const char *text, size_t len, const char *name,
		     config_line_fn *fn, void *ctx, struct error *err)
{
	return config_each_item(text, len, name, NULL, fn, ctx, err);
}

static const char *last_dot(const char *key, size_t len)
{
	while (len--)
		if (key[len] == '.')
			return key + len;
	return NULL;
}

static bool key_is_valid(const char *key, size_t len, size_t first_dot,
			 size_t dot)
{
	for (size_t i = 0; i < len; i++) {
		bool in_subsection = i >= first_dot && i <= dot;

		if (!in_subsection && !is_key_char((unsigned char)key[i]))
			return false;
	}
	return is_alpha((unsigned char)key[dot + 1]);
}

int config_normalise_key(struct buf *out, const char *key, size_t len,
			 struct error *err)
{
	const char *dot = last_dot(key, len);
	size_t first, last;
	int n = len > 512 ? 512 : (int)len;

	if (!len)
		return error_set(err, ERR_INVALID, "empty config key");
	if (!dot || dot == key)
		return error_set(err, ERR_INVALID,
				 "key does not contain a section: %.*s", n,
				 key);
	if (dot == key + len - 1)
		return error_set(err, ERR_INVALID,
				 "key does not contain variable name: %.*s", n,
				 key);
	last = (size_t)(dot - key);
	first = (size_t)((const char *)memchr(key, '.', len) - key);
	if (memchr(key, '\n', len) && !memchr(key + last, '\n', len - last) &&
	    !memchr(key, '\n', first))
		return error_set(err, ERR_INVALID,
				 "invalid key (newline): %.*s", n, key);
	if (!key_is_valid(key, len, first, last))
		return error_set(err, ERR_INVALID, "invalid key: %.*s", n, key);
	for (size_t i = 0; i < len; i++) {
		bool in_subsection = i >= first && i <= last;
		char c = in_subsection ? key[i]
				       : to_lower((unsigned char)key[i]);

		if (buf_append_char(out, c) < 0)
			return error_nomem(err);
	}
	return 0;
}
