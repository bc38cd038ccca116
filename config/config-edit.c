/* SPDX-License-Identifier: MIT */
/*
 * Sets or removes one variable in the text of a configuration file. The parser
 * (config-parse.c) says which bytes are section headers and variables. All
 * other bytes are blanks and comments.
 *
 * A header and a variable may be on lines of their own, or share a line:
 *
 * 	[core]                      [core] bare = true
 * 		bare = true
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "config/config-internal.h"

/* A section header or a variable. */
struct item {
	size_t start, end; /* its bytes in the text */
	bool is_header;
	/*
	 * true: the header of the section of the variable to edit, or a
	 * variable in this section
	 */
	bool is_inside;
	bool is_wanted; /* true: the variable to edit */
};

struct editor {
	const char *section, *name, *value;
	const struct buf *text;
	/* owned: headers and variables in the order of the text */
	struct item *items;
	size_t nr, alloc;
	size_t wanted_nr; /* number of items with is_wanted */
	struct buf out;   /* owned: the new text */
	/* offset in the old text: the bytes before it are copied or left out */
	size_t copied;
	bool is_done; /* true: the new value is in `out` */
};

static int add_item(struct editor *e, const struct config_line *line,
		    bool is_header, bool is_inside, bool is_wanted)
{
	if (mem_grow(&e->items, &e->alloc, e->nr + 1, sizeof(*e->items)) < 0)
		return ERR_NOMEM;
	e->items[e->nr++] = (struct item){line->start_off, line->end_off,
					  is_header, is_inside, is_wanted};
	e->wanted_nr += is_wanted;
	return 0;
}

static int add_header(void *ctx, const struct config_line *line)
{
	struct editor *e = ctx;
	size_t len = strlen(e->section);
	bool is_inside = strlen(line->key) == len + 1 &&
			 !strncasecmp(line->key, e->section, len);

	return add_item(e, line, true, is_inside, false);
}

static int add_variable(void *ctx, const struct config_line *line)
{
	struct editor *e = ctx;
	bool is_inside = e->nr && e->items[e->nr - 1].is_inside;

	return add_item(e, line, false, is_inside,
			is_inside &&
				!strcasecmp(line->key + strlen(e->section) + 1,
					    e->name));
}

/*
 * Returns the offset at which the line of an item begins, or at which the
 * preceding item on the same line ends.
 */
static size_t line_start(const struct editor *e, size_t i)
{
	size_t min = i ? e->items[i - 1].end : 0, at = e->items[i].start;

	while (at > min && e->text->data[at - 1] != '\n')
		at--;
	return at;
}

/*
 * Returns the offset after the line feed that ends the line of an item, or the
 * offset at which the next item on the same line begins.
 */
static size_t line_end(const struct editor *e, size_t i)
{
	size_t max = i + 1 < e->nr ? e->items[i + 1].start : e->text->len;
	size_t at = e->items[i].end;

	while (at < max && e->text->data[at - 1] != '\n')
		at++;
	return at;
}

static int copy_to(struct editor *e, size_t end)
{
	int ret = buf_append(&e->out, e->text->data + e->copied,
			     end - e->copied);

	e->copied = end;
	return ret;
}

/* Appends a line feed, unless `out` ends with a line feed or is empty. */
static int end_line(struct buf *out)
{
	return !out->len || out->data[out->len - 1] == '\n'
		       ? 0
		       : buf_append_char(out, '\n');
}

/*
 * Ends the last line of `out`, which has the whole text. If this line ends with
 * a backslash, its value continues on the next line. So an empty line is
 * appended as the next line.
 */
static int end_text(struct buf *out)
{
	size_t len;
	int ret = end_line(out);

	len = out->len ? out->len - 1 : 0;
	len -= len && out->data[len - 1] == '\r';
	return !ret && len && out->data[len - 1] == '\\'
		       ? buf_append_char(out, '\n')
		       : ret;
}

/* Leaves out the bytes [start, end) of the text. */
static int cut(struct editor *e, size_t start, size_t end)
{
	int ret = copy_to(e, start);

	e->copied = end;
	return ret ? ret : end_line(&e->out);
}

static int put_variable(struct editor *e)
{
	e->is_done = true;
	return buf_printf(&e->out, "\t%s = %s\n", e->name, e->value);
}

/* Returns whether [start, end) of the text is only whitespace. */
static bool is_blank(const struct editor *e, size_t start, size_t end)
{
	for (; start < end; start++)
		if (!strchr(" \t\r\n", e->text->data[start]))
			return false;
	return true;
}

/*
 * Returns whether the section of items [first, end) becomes empty: it has
 * variables, all of them are to be removed, and it has no comment.
 */
static bool becomes_empty(const struct editor *e, size_t first, size_t end)
{
	if (first + 1 == end || (e->value && !e->is_done))
		return false;
	for (size_t i = first; i < end; i++) {
		size_t next = i + 1 < e->nr ? e->items[i + 1].start
					    : e->text->len;

		if ((i > first && !e->items[i].is_wanted) ||
		    !is_blank(e, e->items[i].end, next))
			return false;
	}
	return true;
}

/* Edits a section whose header and variables are the items [first, end). */
static int edit_section(struct editor *e, size_t first, size_t end)
{
	int ret = 0;

	if (becomes_empty(e, first, end))
		return cut(e, line_start(e, first),
			   end < e->nr ? line_start(e, end) : e->text->len);
	for (size_t i = first; !ret && i < end; i++) {
		if (!e->items[i].is_wanted)
			continue;
		ret = cut(e, line_start(e, i), e->items[i].end);
		if (!ret && e->value && !e->is_done)
			ret = put_variable(e);
	}
	return ret;
}

/* Replaces the variable, or removes it. Returns 0 or ERR_NOMEM. */
static int edit_sections(struct editor *e)
{
	size_t end;
	int ret = 0;

	for (size_t i = 0; !ret && i < e->nr; i = end) {
		end = i + 1;
		while (end < e->nr && !e->items[end].is_header)
			end++;
		if (e->items[i].is_inside)
			ret = edit_section(e, i, end);
	}
	return ret;
}

/*
 * Adds the variable after the last variable of its section, or in a new section
 * at the end of the text. Returns 0 or ERR_NOMEM.
 */
static int insert_variable(struct editor *e)
{
	size_t i = e->nr;
	int ret;

	while (i && !e->items[i - 1].is_inside)
		i--;
	ret = copy_to(e, i ? line_end(e, i - 1) : e->text->len);
	if (!ret)
		ret = e->copied < e->text->len ? end_line(&e->out)
					       : end_text(&e->out);
	if (!ret && !i)
		ret = buf_printf(&e->out, "[%s]\n", e->section);
	return ret ? ret : put_variable(e);
}

int config_edit(struct buf *text, const char *section, const char *name,
		const char *value)
{
	struct editor e = {.section = section,
			   .name = name,
			   .value = value,
			   .text = text,
			   .out = BUF_INIT};
	int ret = config_each_item(text->data, text->len, NULL, add_header,
				   add_variable, &e, NULL);

	if (!ret && e.wanted_nr)
		ret = edit_sections(&e);
	else if (!ret && value)
		ret = insert_variable(&e);
	if (!ret)
		ret = copy_to(&e, text->len);
	free(e.items);
	if (ret < 0) {
		buf_release(&e.out);
		return ret;
	}
	buf_release(text);
	*text = e.out;
	return 0;
}
