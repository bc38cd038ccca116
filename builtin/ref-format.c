/* SPDX-License-Identifier: MIT */
/* Parses the format strings of for-each-ref, and expands them for a ref. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/for-each-ref.h"

static int add_piece(struct ref_format *format, const struct buf *text,
		     const struct ref_atom *atom, struct error *err)
{
	struct ref_format_piece *piece;

	if (mem_grow(&format->pieces, &format->alloc, format->nr + 1,
		     sizeof(*format->pieces)) < 0)
		return error_nomem(err);
	piece = &format->pieces[format->nr];
	memset(piece, 0, sizeof(*piece));
	if (atom) {
		piece->atom = *atom;
	} else {
		piece->text = mem_strndup(text->data, text->len);
		piece->len = text->len;
		if (!piece->text)
			return error_nomem(err);
	}
	format->nr++;
	return 0;
}

/* Add the literal text in `text` to the format as a piece, and empty `text`. */
static int flush_text(struct ref_format *format, struct buf *text,
		      struct error *err)
{
	int ret = 0;

	if (text->len)
		ret = add_piece(format, text, NULL, err);
	buf_reset(text);
	return ret;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Set *byte to the byte for which the escape sequence at `p` ("%%" or "%xx")
 * stands. Returns the length of the sequence, or 0 if it is not valid.
 */
static size_t unescape(char *byte, const char *p)
{
	*byte = '%';
	if (p[1] == '%')
		return 2;
	if (hex_value(p[1]) < 0 || hex_value(p[2]) < 0)
		return 1;
	*byte = (char)(hex_value(p[1]) << 4 | hex_value(p[2]));
	return 3;
}

/* Parse the field "%(...)" at *p, and move *p past the field. */
static int parse_field(struct ref_format *format, const char **p,
		       struct error *err)
{
	const char *start = *p + 2;
	const char *end = strchr(start, ')');
	struct ref_atom atom;
	int ret;

	if (!end)
		return error_set(err, ERR_INVALID, "malformed format string %s",
				 *p);
	ret = ref_atom_parse(&atom, start, (size_t)(end - start), err);
	if (ret < 0)
		return ret;
	*p = end + 1;
	return add_piece(format, NULL, &atom, err);
}

int ref_format_parse(struct ref_format *format, const char *text,
		     struct error *err)
{
	struct buf plain = BUF_INIT;
	int ret = 0;

	while (!ret && *text) {
		char byte = *text;

		if (text[0] == '%' && text[1] == '(') {
			ret = flush_text(format, &plain, err);
			if (!ret)
				ret = parse_field(format, &text, err);
			continue;
		}
		text += byte == '%' ? unescape(&byte, text) : 1;
		if (buf_append_char(&plain, byte) < 0)
			ret = error_nomem(err);
	}
	if (!ret)
		ret = flush_text(format, &plain, err);
	buf_release(&plain);
	return ret;
}

void ref_format_release(struct ref_format *format)
{
	while (format->nr)
		free(format->pieces[--format->nr].text);
	free(format->pieces);
	*format = (struct ref_format)REF_FORMAT_INIT;
}

/*
 * Append the value between two copies of `mark`. A backslash is put before each
 * byte of the value that is in `special`.
 */
static int quote_with(struct buf *out, const struct buf *value,
		      const char *mark, const char *special)
{
	int ret = buf_append_str(out, mark);
	size_t i;

	for (i = 0; !ret && i < value->len; i++) {
		char c = value->data[i];

		if (c && strchr(special, c))
			ret = buf_append_char(out, '\\');
		if (!ret)
			ret = buf_append_char(out, c);
	}
	return ret ? ret : buf_append_str(out, mark);
}

/*
 * Append the value as a shell word. A single quote or "!" in the value is
 * escaped by a backslash, outside of the quoted strings.
 */
static int quote_shell(struct buf *out, const struct buf *value)
{
	int ret = buf_append_char(out, '\'');
	size_t i;

	for (i = 0; !ret && i < value->len; i++) {
		char c = value->data[i];

		if (c == '\'' || c == '!')
			ret = buf_printf(out, "'\\%c'", c);
		else
			ret = buf_append_char(out, c);
	}
	return ret ? ret : buf_append_char(out, '\'');
}

/*
 * Works like quote_with(), and also replaces control characters by C escapes
 * such as \n. `controls` lists the bytes to replace. letters[i] is the letter
 * of the escape for controls[i].
 */
static int quote_letters(struct buf *out, const struct buf *value,
			 const char *mark, const char *special,
			 const char *controls, const char *letters)
{
	int ret = buf_append_str(out, mark);
	size_t i;

	for (i = 0; !ret && i < value->len; i++) {
		char c = value->data[i];
		const char *control = c ? strchr(controls, c) : NULL;

		if (control || (c && strchr(special, c)))
			ret = buf_append_char(out, '\\');
		if (!ret)
			ret = buf_append_char(
				out, control ? letters[control - controls] : c);
	}
	return ret ? ret : buf_append_str(out, mark);
}

static int append_quoted(struct buf *out, const struct buf *value,
			 enum ref_format_quote quote)
{
	switch (quote) {
	case REF_FORMAT_SHELL:
		return quote_shell(out, value);
	case REF_FORMAT_PERL:
		return quote_with(out, value, "'", "\\'");
	case REF_FORMAT_PYTHON:
		return quote_letters(out, value, "'", "\\'", "\n", "n");
	case REF_FORMAT_TCL:
		return quote_letters(out, value, "\"", "[]{}$\\\"",
				     "\f\r\n\t\v", "frntv");
	default:
		return buf_append(out, value->data, value->len);
	}
}

int ref_format_append(struct buf *out, const struct ref_format *format,
		      enum ref_format_quote quote,
		      struct ref_atom_subject *subject, struct error *err)
{
	struct buf value = BUF_INIT;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < format->nr; i++) {
		const struct ref_format_piece *piece = &format->pieces[i];

		if (piece->text) {
			ret = buf_append(out, piece->text, piece->len);
		} else if (quote == REF_FORMAT_PLAIN) {
			ret = ref_atom_append(out, &piece->atom, subject, err);
		} else {
			buf_reset(&value);
			ret = ref_atom_append(&value, &piece->atom, subject,
					      err);
			if (!ret)
				ret = append_quoted(out, &value, quote);
		}
		if (ret == ERR_NOMEM)
			error_nomem(err);
	}
	buf_release(&value);
	return ret;
}
