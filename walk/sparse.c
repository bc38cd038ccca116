/* SPDX-License-Identifier: MIT */
/*
 * Parses and matches the patterns of a sparse checkout, which have the form of
 * gitignore(5).
 */
#include <string.h>

#include "base/mem.h"
#include "base/wildmatch.h"
#include "walk/sparse.h"

struct pattern {
	/* owned: the pattern without "!" and without slashes at either end */
	char *text;
	/*
	 * true: the pattern includes paths; false: it begins with "!" and
	 * excludes them
	 */
	bool is_taking;
	/*
	 * true: the pattern ends with a slash, so it matches directories only
	 */
	bool dir_only;
	/*
	 * true: the pattern has no slash, except perhaps one at its end, so it
	 * is compared with the last component of a path
	 */
	bool by_name;
};

struct sparse {
	struct pattern *patterns; /* owned */
	size_t nr, alloc;
};

/*
 * Returns the length of a line without trailing blanks. A blank after a
 * backslash stays.
 */
static size_t trimmed_len(const char *line, size_t len)
{
	size_t kept = 0;

	for (size_t i = 0; i < len; i++) {
		if (line[i] == '\\' && i + 1 < len)
			i++;
		else if (line[i] == ' ')
			continue;
		kept = i + 1;
	}
	return kept;
}

static int add_line(struct sparse *sparse, const char *line, size_t len)
{
	struct pattern pattern = {.is_taking = true};

	if (len && line[len - 1] == '\r')
		len--;
	if (!len || *line == '#')
		return 0;
	len = trimmed_len(line, len);
	if (len && *line == '!') {
		pattern.is_taking = false;
		line++;
		len--;
	}
	if (len && line[len - 1] == '/') {
		pattern.dir_only = true;
		len--;
	}
	pattern.by_name = !memchr(line, '/', len);
	if (len && *line == '/') {
		line++;
		len--;
	}
	if (!len)
		return 0;
	if (mem_grow(&sparse->patterns, &sparse->alloc, sparse->nr + 1,
		     sizeof(pattern)) < 0)
		return ERR_NOMEM;
	pattern.text = mem_strndup(line, len);
	if (!pattern.text)
		return ERR_NOMEM;
	sparse->patterns[sparse->nr++] = pattern;
	return 0;
}

int sparse_parse(struct sparse **out, const char *text, size_t len,
		 struct error *err)
{
	struct sparse *sparse = mem_calloc(1, sizeof(*sparse));
	const char *end = text + len;
	int ret = sparse ? 0 : ERR_NOMEM;

	while (!ret && text < end) {
		const char *eol = memchr(text, '\n', (size_t)(end - text));

		if (!eol)
			eol = end;
		ret = add_line(sparse, text, (size_t)(eol - text));
		text = eol < end ? eol + 1 : end;
	}
	if (ret < 0) {
		sparse_free(sparse);
		sparse = NULL;
		error_nomem(err);
	}
	*out = sparse;
	return ret;
}

void sparse_free(struct sparse *sparse)
{
	if (!sparse)
		return;
	for (size_t i = 0; i < sparse->nr; i++)
		free(sparse->patterns[i].text);
	free(sparse->patterns);
	free(sparse);
}

bool sparse_takes(const struct sparse *sparse, const char *path,
		  const char *name, bool is_dir, bool dir)
{
	for (size_t i = sparse->nr; i-- > 0;) {
		const struct pattern *p = &sparse->patterns[i];

		if (p->dir_only && !is_dir)
			continue;
		if (p->by_name ? wildmatch(p->text, name, 0)
			       : wildmatch(p->text, path, WILDMATCH_PATHNAME))
			return p->is_taking;
	}
	return dir;
}
