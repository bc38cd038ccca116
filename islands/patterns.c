/* SPDX-License-Identifier: MIT */
/* Finds the islands of references by the patterns of pack.island. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "islands/islands.h"

struct loading {
	struct island_patterns *patterns;
	struct error *err;
};

/*
 * Compiles a pattern of pack.island with a caret before it, as stock Git does.
 * If the pattern has several alternatives, only the first is anchored to the
 * start of the name.
 */
static int compile(struct pattern **out, const char *text, struct error *err)
{
	struct buf anchored = BUF_INIT;
	int ret;

	if (buf_printf(&anchored, "%s%s", *text == '^' ? "" : "^", text) < 0)
		ret = error_nomem(err);
	else
		ret = pattern_new(out, anchored.data, false, err);
	if (ret == ERR_INVALID)
		error_set(err, ERR_INVALID,
			  "failed to load island regex for 'pack.island': %s",
			  anchored.data);
	buf_release(&anchored);
	return ret;
}

static int add_pattern(void *ctx, const struct config_entry *entry)
{
	struct loading *l = ctx;
	struct island_patterns *p = l->patterns;
	int ret;

	if (!entry->value)
		return error_set(l->err, ERR_INVALID,
				 "missing value for 'pack.island'");
	if (mem_grow(&p->patterns, &p->alloc, p->nr + 1, sizeof(*p->patterns)) <
	    0)
		return error_nomem(l->err);
	ret = compile(&p->patterns[p->nr], entry->value, l->err);
	if (!ret)
		p->nr++;
	return ret;
}

int island_patterns_load(struct island_patterns *patterns,
			 const struct config *config, struct error *err)
{
	struct loading l = {patterns, err};

	return config_each(config, "pack.island", add_pattern, &l);
}

void island_patterns_release(struct island_patterns *patterns)
{
	for (size_t i = 0; i < patterns->nr; i++)
		pattern_free(patterns->patterns[i]);
	for (size_t i = 0; i < patterns->name_nr; i++)
		free(patterns->names[i].name);
	free(patterns->patterns);
	free(patterns->names);
	buf_release(&patterns->scratch);
	*patterns = (struct island_patterns)ISLAND_PATTERNS_INIT;
}

/*
 * Finds an island's name in the sorted list. Returns its index with *found
 * true. If the list lacks the name, sets *found to false and returns the index
 * at which to insert the name.
 */
static size_t find_name(const struct island_patterns *p, const char *name,
			bool *found)
{
	size_t low = 0, high = p->name_nr;

	*found = false;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int order = strcmp(p->names[mid].name, name);

		if (!order) {
			*found = true;
			return mid;
		}
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int add_name(struct island_patterns *p, size_t at, const char *name)
{
	char *copy = mem_strdup(name);

	if (!copy || mem_grow(&p->names, &p->name_alloc, p->name_nr + 1,
			      sizeof(*p->names)) < 0) {
		free(copy);
		return ERR_NOMEM;
	}
	memmove(&p->names[at + 1], &p->names[at],
		(p->name_nr - at) * sizeof(*p->names));
	p->names[at] = (struct island_name){copy, (uint32_t)p->name_nr};
	p->name_nr++;
	return 0;
}

/*
 * Finds the last pattern that matches a reference. *matched is NULL if none
 * matches.
 */
static int find_pattern(struct pattern **matched, struct island_patterns *p,
			const char *ref, struct error *err)
{
	size_t len = strlen(ref);

	*matched = NULL;
	for (size_t i = p->nr; i-- > 0;) {
		int ret = pattern_match(p->patterns[i], ref, len, err);

		if (ret < 0)
			return ret;
		if (ret) {
			*matched = p->patterns[i];
			return 0;
		}
	}
	return 0;
}

int island_patterns_match(uint32_t *island, struct island_patterns *patterns,
			  const char *ref, struct error *err)
{
	struct pattern *matched;
	bool found;
	size_t at;
	int ret = find_pattern(&matched, patterns, ref, err);

	if (ret < 0 || !matched)
		return ret;
	buf_reset(&patterns->scratch);
	if (pattern_captures(&patterns->scratch, matched, ref) < 0)
		return error_nomem(err);
	at = find_name(patterns, patterns->scratch.data, &found);
	if (!found && add_name(patterns, at, patterns->scratch.data) < 0)
		return error_nomem(err);
	*island = patterns->names[at].island;
	return 1;
}

uint32_t island_patterns_find(const struct island_patterns *patterns,
			      const char *name)
{
	bool found;
	size_t at = find_name(patterns, name, &found);

	return found ? patterns->names[at].island : UINT32_MAX;
}
