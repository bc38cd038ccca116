/* SPDX-License-Identifier: MIT */
/* Parses and prints the list of published packs of a generation. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/affix.h"
#include "base/mem.h"
#include "stored/offer-list.h"

static const char first_line[] = "gitreach published 1\n";

bool stored_offer_is_remote(const char *path)
{
	return starts_with(path, STORED_OFFER_DIR);
}

void stored_offer_list_release(struct stored_offer_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->items[i].path);
	free(list->items);
	*list = (struct stored_offer_list){0};
}

/*
 * Parses a decimal number of at least 1, without leading zeros. Returns false
 * if the text is no such number.
 */
static bool parse_len(uint64_t *out, const char *text, size_t len)
{
	uint64_t value = 0;

	if (!len || len > 18 || *text == '0')
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		value = value * 10 + (uint64_t)(text[i] - '0');
	}
	*out = value;
	return true;
}

/* Returns whether the text is the path of a pack, without blanks. */
static bool is_path(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f)
			return false;
	return len > 5 && !memcmp(text + len - 5, ".pack", 5);
}

/*
 * Parses a checksum in lower case. Returns false if the text is no such
 * checksum.
 */
static bool parse_checksum(struct oid *out, const char *text,
			   enum hash_algo algo)
{
	char hex[OID_MAX_HEX_LEN + 1];
	size_t len = hash_hex_len(algo);

	if (!oid_from_hex(out, text, len, algo))
		return false;
	oid_to_hex(hex, out, algo);
	return !memcmp(hex, text, len);
}

/*
 * Parses a line, which has no line feed at its end. Returns 0, 1 if the line is
 * wrong, or ERR_NOMEM.
 */
static int parse_line(struct stored_offer *out, const char *text, size_t len,
		      enum hash_algo algo)
{
	size_t hex = hash_hex_len(algo), number;
	const char *end = text + len, *space;

	if (len <= hex || text[hex] != ' ' ||
	    !parse_checksum(&out->checksum, text, algo))
		return 1;
	text += hex + 1;
	space = memchr(text, ' ', (size_t)(end - text));
	number = space ? (size_t)(space - text) : 0;
	if (!parse_len(&out->len, text, number) ||
	    !is_path(space + 1, (size_t)(end - space - 1)))
		return 1;
	out->path = mem_strndup(space + 1, (size_t)(end - space - 1));
	return out->path ? 0 : ERR_NOMEM;
}

static int parse(struct stored_offer_list *out, const char *text, size_t len,
		 enum hash_algo algo)
{
	const char *end = text + len;

	if (len > STORED_OFFER_LIST_MAX || len < strlen(first_line) ||
	    memcmp(text, first_line, strlen(first_line)) != 0)
		return 1;
	text += strlen(first_line);
	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		int ret;

		if (!stop || out->nr == STORED_OFFER_MAX)
			return 1;
		ret = parse_line(&out->items[out->nr], text,
				 (size_t)(stop - text), algo);
		if (ret)
			return ret;
		out->nr++;
		text = stop + 1;
	}
	return 0;
}

int stored_offer_list_parse(struct stored_offer_list *out, const char *text,
			    size_t len, enum hash_algo algo, struct error *err)
{
	int ret;

	*out = (struct stored_offer_list){
		.items = mem_calloc(STORED_OFFER_MAX, sizeof(*out->items)),
	};
	ret = out->items ? parse(out, text, len, algo) : ERR_NOMEM;
	if (ret)
		stored_offer_list_release(out);
	return ret > 0   ? error_set(err, ERR_CORRUPT, "%s is damaged",
				     STORED_OFFER_LIST)
	       : ret < 0 ? error_nomem(err)
			 : 0;
}

int stored_offer_list_begin(struct buf *out)
{
	return buf_append_str(out, first_line);
}

int stored_offer_list_append(struct buf *out, const struct stored_offer *offer,
			     enum hash_algo algo)
{
	char hex[OID_MAX_HEX_LEN + 1];

	oid_to_hex(hex, &offer->checksum, algo);
	return buf_printf(out, "%s %" PRIu64 " %s\n", hex, offer->len,
			  offer->path);
}
