/* SPDX-License-Identifier: MIT */
/*
 * Sets or removes one variable in the text of a configuration file.
 * config_parse() must have accepted the text. The bytes of other variables and
 * comments stay unchanged.
 *
 * A header and a variable may be on lines of their own, or share a line:
 *
 * 	[core]                      [core] bare = true
 * 		bare = true
 */
#include <string.h>
#include <strings.h>

#include "config/config.h"

/*
 * A line of a configuration file: a section header, a variable, both, or
 * neither.
 */
struct line {
	/*
	 * offsets in the text: the line is [start, end), including its line
	 * feed
	 */
	size_t start, end;
	/*
	 * offset in the text at which the name of the variable starts; `end` if
	 * the line sets no variable
	 */
	size_t variable;
	size_t variable_len; /* bytes of that name */
	/* true: the line has a header, so it begins a section */
	bool has_header;
	/* true: the line begins the section of the variable to set */
	bool is_wanted;
};

static size_t skip_blanks(const struct buf *text, size_t at, size_t end)
{
	while (at < end && strchr(" \t\r\n", text->data[at]))
		at++;
	return at;
}

/*
 * Returns the offset at which a line ends. After a backslash at the end of a
 * line, a value continues on the next line.
 */
static size_t find_end(const struct buf *text, size_t at, bool is_comment)
{
	while (at < text->len && text->data[at] != '\n') {
		if (text->data[at] == '\\' && !is_comment && at + 1 < text->len)
			at++;
		at++;
	}
	return at < text->len ? at + 1 : at;
}

/* Returns the offset after the ']' of the section header at `at`. */
static size_t skip_header(const struct buf *text, size_t at, size_t end)
{
	bool quoted = false;

	for (; at < end && (quoted || text->data[at] != ']'); at++) {
		if (text->data[at] == '"')
			quoted = !quoted;
		else if (quoted && text->data[at] == '\\')
			at++;
	}
	return at < end ? at + 1 : end;
}

static void read_line(struct line *line, const struct buf *text, size_t start,
		      const char *section)
{
	size_t len = strlen(section), at = skip_blanks(text, start, text->len);
	const char *p = text->data;

	/*
	 * The struct line also covers blank lines before the text: it begins at
	 * `start`.
	 */
	*line = (struct line){.start = start};
	line->end = find_end(text, at,
			     at < text->len && strchr("#;", p[at]) != NULL);
	if (at < line->end && p[at] == '[') {
		size_t after = skip_header(text, at, line->end);

		line->has_header = true;
		line->is_wanted = after - at == len + 2 &&
				  !strncasecmp(p + at + 1, section, len);
		at = skip_blanks(text, after, line->end);
	}
	line->variable = line->end;
	if (at < line->end && !strchr("#;", p[at])) {
		line->variable = at;
		while (at + line->variable_len < line->end &&
		       !strchr(" \t\r\n=#;", p[at + line->variable_len]))
			line->variable_len++;
	}
}

static bool is_variable(const struct line *line, const struct buf *text,
			const char *name)
{
	return line->variable < line->end &&
	       line->variable_len == strlen(name) &&
	       !strncasecmp(text->data + line->variable, name,
			    line->variable_len);
}

struct editor {
	const char *section, *name, *value;
	struct buf out;
	/*
	 * offset in `out` of the current section's header, if no variable
	 * follows it yet
	 */
	size_t header;
	/* true: the current section is the section of the variable to set */
	bool is_inside;
	/*
	 * true: after the section header at `header`, no variable and no
	 * comment was copied to `out`
	 */
	bool is_bare;
	/*
	 * true: since the section header at `header`, at least one variable was
	 * removed
	 */
	bool is_removed;
	/* true: the new value is already in `out` */
	bool is_done;
	/*
	 * offset in `out` after the section's last variable, where a new
	 * variable is inserted
	 */
	size_t insert;
};

static int put_variable(struct editor *e, struct buf *out)
{
	e->is_done = true;
	return buf_printf(out, "\t%s = %s\n", e->name, e->value);
}

/* Removes the header of a section that has become empty. */
static void end_section(struct editor *e)
{
	if (e->is_inside && e->is_bare && e->is_removed)
		buf_set_len(&e->out, e->header);
	e->is_bare = e->is_removed = false;
}

static int edit_variable(struct editor *e, const struct line *line)
{
	bool same_line = line->has_header;

	e->is_removed = true;
	if (same_line && buf_append_char(&e->out, '\n') < 0)
		return ERR_NOMEM;
	if (same_line)
		e->insert = e->out.len;
	if (!e->value || e->is_done)
		return 0;
	e->is_bare = false;
	if (put_variable(e, &e->out) < 0)
		return ERR_NOMEM;
	e->insert = e->out.len;
	return 0;
}

static int edit_line(struct editor *e, const struct line *line,
		     const struct buf *text)
{
	size_t len = line->end - line->start;

	if (line->has_header) {
		end_section(e);
		e->is_inside = line->is_wanted;
		e->header = e->out.len;
		e->is_bare = e->is_inside;
	}
	if (e->is_inside && is_variable(line, text, e->name)) {
		if (line->has_header &&
		    buf_append(&e->out, text->data + line->start,
			       line->variable - line->start) < 0)
			return ERR_NOMEM;
		return edit_variable(e, line);
	}
	if (buf_append(&e->out, text->data + line->start, len) < 0)
		return ERR_NOMEM;
	/*
	 * A kept variable or comment keeps the header of its section from being
	 * removed.
	 */
	if (!line->has_header || line->variable < line->end)
		e->is_bare = false;
	if (e->is_inside)
		e->insert = e->out.len;
	return 0;
}

/*
 * Adds the variable at the end of its section. Adds the section if it is
 * missing. Returns 0 or ERR_NOMEM.
 */
static int add_variable(struct editor *e)
{
	struct buf tail = BUF_INIT;
	int ret = 0;

	if (e->out.len && e->out.data[e->out.len - 1] != '\n')
		ret = buf_append_char(&e->out, '\n');
	if (!ret && !e->insert) {
		if (buf_printf(&e->out, "[%s]\n", e->section) < 0)
			ret = ERR_NOMEM;
		return ret ? ret : put_variable(e, &e->out);
	}
	if (!ret && e->insert > e->out.len)
		e->insert = e->out.len;
	if (!ret && e->insert && e->out.data[e->insert - 1] != '\n')
		e->insert = e->out.len;
	if (!ret)
		ret = buf_append(&tail, e->out.data + e->insert,
				 e->out.len - e->insert);
	if (!ret) {
		buf_set_len(&e->out, e->insert);
		ret = put_variable(e, &e->out);
	}
	if (!ret)
		ret = buf_append(&e->out, tail.data ? tail.data : "", tail.len);
	buf_release(&tail);
	return ret;
}

int config_edit(struct buf *text, const char *section, const char *name,
		const char *value)
{
	struct editor e = {section, name, value, .out = BUF_INIT};
	struct line line;
	int ret = 0;

	for (size_t at = 0; !ret && at < text->len; at = line.end) {
		read_line(&line, text, at, section);
		ret = edit_line(&e, &line, text);
	}
	end_section(&e);
	if (!ret && value && !e.is_done)
		ret = add_variable(&e);
	if (ret < 0) {
		buf_release(&e.out);
		return ERR_NOMEM;
	}
	buf_release(text);
	*text = e.out;
	return 0;
}
