/* SPDX-License-Identifier: MIT */
/* Reads and writes the header of a bundle, which precedes the pack. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pack/bundle.h"

#define SIGNATURE_LEN 16 /* of "# v2 git bundle\n" */
/* limit for the name of an algorithm; all known names are shorter */
#define ALGO_NAME_MAX 15

void bundle_header_init(struct bundle_header *header, enum hash_algo algo)
{
	*header = (struct bundle_header){.version = 2, .algo = algo};
}

static void items_release(struct bundle_items *items)
{
	for (size_t i = 0; i < items->nr; i++)
		free(items->items[i].text);
	free(items->items);
	*items = (struct bundle_items){NULL, 0, 0};
}

void bundle_header_release(struct bundle_header *header)
{
	items_release(&header->prerequisites);
	items_release(&header->refs);
	free(header->filter);
	header->filter = NULL;
}

int bundle_items_add(struct bundle_items *items, const struct oid *oid,
		     const char *text, size_t text_len)
{
	char *copy = mem_strndup(text, text_len);

	if (!copy || mem_grow(&items->items, &items->alloc, items->nr + 1,
			      sizeof(*items->items)) < 0) {
		free(copy);
		return ERR_NOMEM;
	}
	items->items[items->nr++] = (struct bundle_item){*oid, copy};
	return 0;
}

/* ---- parsing */

/* The state of parsing the header of a bundle. */
struct parsing {
	struct bundle_header *header;
	const char *line;
	size_t len;
	struct error *err;
};

/*
 * If the current line of the header is the capability `key`, returns its value.
 * Returns NULL for any other line.
 */
static const char *value_of(const struct parsing *p, const char *key,
			    size_t *value_len)
{
	size_t key_len = strlen(key);

	if (p->len < key_len + 2 || memcmp(p->line + 1, key, key_len) != 0 ||
	    p->line[1 + key_len] != '=')
		return NULL;
	*value_len = p->len - key_len - 2;
	return p->line + key_len + 2;
}

static int take_algo(struct parsing *p, const char *value, size_t len)
{
	char name[ALGO_NAME_MAX + 1];

	snprintf(name, sizeof(name), "%.*s", (int)len, value);
	if (hash_by_name(&p->header->algo, name))
		return 0;
	return error_set(p->err, ERR_CORRUPT,
			 "unrecognized bundle hash algorithm: %.*s", (int)len,
			 value);
}

/*
 * Parses the capability in the current line of the header, "@<key>[=<value>]",
 * into p->header. Returns 0, ERR_CORRUPT if the capability is unknown, or
 * ERR_NOMEM.
 */
static int take_capability(struct parsing *p)
{
	struct bundle_header *h = p->header;
	size_t len;
	const char *value = value_of(p, "object-format", &len);

	if (value)
		return take_algo(p, value, len);
	value = value_of(p, "filter", &len);
	if (!value)
		return error_set(p->err, ERR_CORRUPT,
				 "unknown capability '%.*s'", (int)p->len - 1,
				 p->line + 1);
	free(h->filter);
	h->filter = mem_strndup(value, len);
	return h->filter ? 0 : error_nomem(p->err);
}

/*
 * Parses the current line of the header: a prerequisite, "-<id>[ <comment>]",
 * or a ref, "<id> <ref>". Returns 0, ERR_CORRUPT or ERR_NOMEM.
 */
static int take_item(struct parsing *p)
{
	struct bundle_header *h = p->header;
	bool is_prerequisite = p->line[0] == '-';
	const char *hex = p->line + is_prerequisite;
	size_t left = p->len - is_prerequisite, hex_len = hash_hex_len(h->algo);
	struct oid oid;

	if (!oid_from_hex(&oid, hex, left, h->algo) ||
	    (left == hex_len ? !is_prerequisite : hex[hex_len] != ' '))
		return error_set(p->err, ERR_CORRUPT,
				 "unrecognized header: %.*s (%d)", (int)p->len,
				 p->line, (int)p->len);
	hex_len += left > hex_len;
	return bundle_items_add(is_prerequisite ? &h->prerequisites : &h->refs,
				&oid, hex + hex_len, left - hex_len) < 0
		       ? error_nomem(p->err)
		       : 0;
}

static int take_line(struct parsing *p)
{
	return p->header->version == 3 && *p->line == '@' ? take_capability(p)
							  : take_item(p);
}

static bool take_signature(struct bundle_header *header, const char *bytes)
{
	if (!memcmp(bytes, "# v2 git bundle\n", SIGNATURE_LEN))
		header->version = 2;
	else if (!memcmp(bytes, "# v3 git bundle\n", SIGNATURE_LEN))
		header->version = 3;
	else
		return false;
	return true;
}

int bundle_header_parse(struct bundle_header *header, size_t *header_len,
			const void *bytes, size_t len, bool is_all,
			const char *name, struct error *err)
{
	struct parsing p = {.header = header, .err = err};
	const char *at = bytes, *end = at + len, *newline;

	bundle_header_init(header, HASH_SHA1);
	if (len < SIGNATURE_LEN && !is_all)
		return 0;
	if (len < SIGNATURE_LEN || !take_signature(header, at))
		return error_set(err, ERR_CORRUPT,
				 "'%s' does not look like a v2 or v3 bundle "
				 "file",
				 name);
	for (at += SIGNATURE_LEN; at < end; at = newline + (newline < end)) {
		int ret;

		newline = memchr(at, '\n', (size_t)(end - at));
		if (!newline && !is_all)
			return 0;
		if (!newline)
			newline = end;
		p.line = at;
		p.len = (size_t)(newline - at);
		if (!p.len) {
			*header_len = (size_t)(newline + 1 -
					       (const char *)bytes);
			return 1;
		}
		ret = take_line(&p);
		if (ret < 0)
			return ret;
	}
	*header_len = len;
	return is_all;
}

/* ---- writing */

static int format_items(struct buf *out, const struct bundle_items *items,
			const char *mark, enum hash_algo algo)
{
	char hex[OID_MAX_HEX_LEN + 1];
	int ret = 0;

	for (size_t i = 0; i < items->nr && !ret; i++)
		ret = buf_printf(out, "%s%s %s\n", mark,
				 oid_to_hex(hex, &items->items[i].oid, algo),
				 items->items[i].text);
	return ret;
}

int bundle_header_format(struct buf *out, const struct bundle_header *header)
{
	int ret = buf_printf(out, "# v%u git bundle\n", header->version);

	if (!ret && header->version > 2)
		ret = buf_printf(out, "@object-format=%s\n",
				 hash_name(header->algo));
	if (!ret && header->filter)
		ret = buf_printf(out, "@filter=%s\n", header->filter);
	if (!ret)
		ret = format_items(out, &header->prerequisites, "-",
				   header->algo);
	if (!ret)
		ret = format_items(out, &header->refs, "", header->algo);
	return ret ? ret : buf_append_char(out, '\n');
}
