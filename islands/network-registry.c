/* SPDX-License-Identifier: MIT */
/*
 * Parses and formats the registry, the file that lists the members of a fork
 * network.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "islands/network.h"

#define HEAD "# gitreach network "
#define VERSION "1"
#define LAST_ID ((uint32_t)INT32_MAX)

static const char *const names[] = {
	[NETWORK_MEMBER] = "member",     [NETWORK_FORKING] = "forking",
	[NETWORK_ADDING] = "adding",     [NETWORK_LEAVING] = "leaving",
	[NETWORK_DELETING] = "deleting",
};

const char *network_state_name(enum network_state state)
{
	return names[state];
}

void network_registry_release(struct network_registry *registry)
{
	for (size_t i = 0; i < registry->nr; i++)
		free(registry->entries[i].path);
	free(registry->entries);
	*registry = (struct network_registry)NETWORK_REGISTRY_INIT;
}

/* The part of a line of the registry that is not parsed yet. */
struct line {
	const char *p, *end;
};

/*
 * Takes the next line of the registry. Returns false at the end of the file, or
 * if the line has no newline.
 */
static bool next_line(struct line *line, const char **p, const char *end)
{
	const char *newline = memchr(*p, '\n', (size_t)(end - *p));

	if (!newline)
		return false;
	*line = (struct line){*p, newline};
	*p = newline + 1;
	return true;
}

static bool take_word(struct line *line, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(line->end - line->p) < len || memcmp(line->p, word, len))
		return false;
	line->p += len;
	return true;
}

/*
 * Takes the id of a member, a decimal number without leading zeros, from a line
 * of the registry. Returns false if there is no such number or the number is
 * too large.
 */
static bool take_id(struct line *line, uint32_t *id)
{
	const char *start = line->p;
	uint64_t value = 0;

	while (line->p < line->end && *line->p >= '0' && *line->p <= '9' &&
	       value <= LAST_ID)
		value = 10 * value + (uint64_t)(*line->p++ - '0');
	if (line->p == start || *start == '0' || value > LAST_ID)
		return false;
	*id = (uint32_t)value;
	return true;
}

static bool take_state(struct line *line, enum network_state *state)
{
	for (size_t i = 0; i < ARRAY_NR(names); i++) {
		if (!take_word(line, names[i]))
			continue;
		*state = (enum network_state)i;
		return true;
	}
	return false;
}

static int append(struct network_registry *r, uint32_t id,
		  enum network_state state, const char *path, size_t len)
{
	char *copy;

	if (mem_grow(&r->entries, &r->alloc, r->nr + 1, sizeof(*r->entries)) <
	    0)
		return ERR_NOMEM;
	copy = mem_strndup(path, len);
	if (!copy)
		return ERR_NOMEM;
	r->entries[r->nr++] = (struct network_entry){id, state, copy};
	return 0;
}

/*
 * Parses the line of a member. Returns 0, ERR_CORRUPT if the line is malformed,
 * or ERR_NOMEM.
 */
static int parse_entry(struct network_registry *r, struct line line)
{
	uint32_t last = r->nr ? r->entries[r->nr - 1].id : 0;
	enum network_state state;
	uint32_t id;
	size_t len;

	if (!take_state(&line, &state) || !take_word(&line, " ") ||
	    !take_id(&line, &id) || !take_word(&line, " "))
		return ERR_CORRUPT;
	len = (size_t)(line.end - line.p);
	if (id <= last || id >= r->next_id || !len || memchr(line.p, '\0', len))
		return ERR_CORRUPT;
	return append(r, id, state, line.p, len);
}

static int parse_head(struct network_registry *r, const char **p,
		      const char *end, const char *name, struct error *err)
{
	struct line line;

	if (!next_line(&line, p, end) || !take_word(&line, HEAD))
		return error_set(err, ERR_CORRUPT,
				 "%s: not a registry of a network", name);
	if (!take_word(&line, VERSION) || line.p != line.end)
		return error_set(
			err, ERR_UNSUPPORTED, "%s: unknown version '%.*s'",
			name,
			(int)(line.end - line.p < 40 ? line.end - line.p : 40),
			line.p);
	if (!next_line(&line, p, end) || !take_word(&line, "next ") ||
	    !take_id(&line, &r->next_id) || line.p != line.end)
		return error_set(err, ERR_CORRUPT, "%s: bad line 2", name);
	return 0;
}

int network_registry_parse(struct network_registry *registry, const void *bytes,
			   size_t len, const char *name, struct error *err)
{
	const char *p = bytes, *end = p + len;
	struct line line;
	unsigned nr = 2;
	int ret;

	network_registry_release(registry);
	ret = parse_head(registry, &p, end, name, err);
	while (!ret && p < end) {
		nr++;
		ret = next_line(&line, &p, end) ? parse_entry(registry, line)
						: ERR_CORRUPT;
		if (ret == ERR_CORRUPT)
			error_set(err, ERR_CORRUPT, "%s: bad line %u", name,
				  nr);
		else if (ret < 0)
			error_nomem(err);
	}
	if (ret < 0)
		network_registry_release(registry);
	return ret;
}

int network_registry_format(struct buf *out,
			    const struct network_registry *registry)
{
	int ret = buf_printf(out, HEAD VERSION "\nnext %" PRIu32 "\n",
			     registry->next_id);

	for (size_t i = 0; i < registry->nr && !ret; i++) {
		const struct network_entry *entry = &registry->entries[i];

		ret = buf_printf(out, "%s %" PRIu32 " %s\n",
				 names[entry->state], entry->id, entry->path);
	}
	return ret;
}

struct network_entry *network_registry_find(
	const struct network_registry *registry, uint32_t id)
{
	size_t first = 0, last = registry->nr;

	while (first < last) {
		size_t middle = first + (last - first) / 2;

		if (registry->entries[middle].id < id)
			first = middle + 1;
		else
			last = middle;
	}
	return first < registry->nr && registry->entries[first].id == id
		       ? &registry->entries[first]
		       : NULL;
}

struct network_entry *network_registry_find_path(
	const struct network_registry *registry, const char *path)
{
	for (size_t i = 0; i < registry->nr; i++)
		if (!strcmp(registry->entries[i].path, path))
			return &registry->entries[i];
	return NULL;
}

int network_registry_add(struct network_entry **out,
			 struct network_registry *registry,
			 enum network_state state, const char *path,
			 struct error *err)
{
	if (!*path || strchr(path, '\n'))
		return error_set(
			err, ERR_INVALID,
			"a member's path must not be empty or have a newline");
	if (registry->next_id == LAST_ID)
		return error_set(err, ERR_INVALID,
				 "the registry has no more ids for members");
	if (append(registry, registry->next_id, state, path, strlen(path)) < 0)
		return error_nomem(err);
	registry->next_id++;
	*out = &registry->entries[registry->nr - 1];
	return 0;
}

void network_registry_remove(struct network_registry *registry, uint32_t id)
{
	struct network_entry *entry = network_registry_find(registry, id);
	struct network_entry *end = registry->entries + registry->nr;

	if (!entry)
		return;
	free(entry->path);
	memmove(entry, entry + 1, (size_t)(end - entry - 1) * sizeof(*entry));
	registry->nr--;
}
