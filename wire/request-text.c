/* SPDX-License-Identifier: MIT */
/* Prints and parses a fetch request as one line of text, for the log. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "wire/request-text.h"

void request_text_ids_set(struct request_text_ids *ids, const struct oid *oids,
			  size_t nr)
{
	ids->nr = nr < REQUEST_TEXT_IDS_MAX ? nr : REQUEST_TEXT_IDS_MAX;
	ids->more = nr - ids->nr;
	if (ids->nr)
		memcpy(ids->oids, oids, ids->nr * sizeof(*oids));
}

/* ---- printing */

/*
 * Append a word, with a space before it unless it is the first one. Returns 0
 * or ERR_NOMEM.
 */
static int put_word(struct buf *out, size_t start, const char *word)
{
	return buf_printf(out, "%s%s", out->len > start ? " " : "", word);
}

static int put_ids(struct buf *out, size_t start, const char *word,
		   const struct request_text_ids *ids, enum hash_algo algo)
{
	char hex[OID_MAX_HEX_LEN + 1];
	int ret;

	if (!ids->nr)
		return 0;
	ret = put_word(out, start, word);
	for (size_t i = 0; !ret && i < ids->nr; i++)
		ret = buf_printf(out, "%c%s", i ? ',' : '=',
				 oid_to_hex(hex, &ids->oids[i], algo));
	if (!ret && ids->more)
		ret = buf_printf(out, ",+%" PRIu64, ids->more);
	return ret;
}

int request_text_print(struct buf *out, const struct request_text *request,
		       enum hash_algo algo)
{
	size_t start = out->len;
	int ret = put_ids(out, start, "want", &request->wants, algo);

	if (!ret)
		ret = put_ids(out, start, "have", &request->haves, algo);
	if (!ret)
		ret = put_ids(out, start, "shallow", &request->shallow, algo);
	if (!ret && request->thin)
		ret = put_word(out, start, "thin");
	if (!ret && request->ofs_delta)
		ret = put_word(out, start, "ofs-delta");
	if (!ret && request->include_tag)
		ret = put_word(out, start, "include-tag");
	if (!ret && request->filter) {
		ret = put_word(out, start, "filter=");
		if (!ret)
			ret = buf_append_str(out, request->filter);
	}
	return ret;
}

/* ---- parsing */

static int bad_word(struct error *err, const char *word, size_t len)
{
	int shown = len < 80 ? (int)len : 80;

	return error_set(err, ERR_INVALID, "request: wrong word '%.*s'", shown,
			 word);
}

/*
 * Parse "+<number>", which must end at `end`. Returns false if the text has
 * another form or the number is 0.
 */
static bool parse_more(uint64_t *more, const char *p, const char *end)
{
	char *stop;

	if (end - p < 2 || *p != '+' || p[1] < '1' || p[1] > '9')
		return false;
	errno = 0;
	*more = strtoumax(p + 1, &stop, 10);
	return !errno && stop == end;
}

/* Parse "<id>,<id>,+<number>". Returns whether the list has this form. */
static bool parse_ids(struct request_text_ids *ids, const char *p,
		      const char *end, enum hash_algo algo)
{
	size_t hex_len = hash_hex_len(algo);

	if (ids->nr)
		return false;
	for (;; p++) {
		if (ids->nr && parse_more(&ids->more, p, end))
			return true;
		if (ids->nr == REQUEST_TEXT_IDS_MAX ||
		    !oid_from_hex(&ids->oids[ids->nr], p, (size_t)(end - p),
				  algo))
			return false;
		ids->nr++;
		p += hex_len;
		if (p == end)
			return true;
		if (*p != ',')
			return false;
	}
}

/*
 * Take a flag. Returns false if `word` is no flag, or if it was given before.
 */
static bool take_flag(struct request_text *request, const char *word,
		      size_t len)
{
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{"thin", &request->thin},
		{"ofs-delta", &request->ofs_delta},
		{"include-tag", &request->include_tag},
	};

	for (size_t i = 0; i < ARRAY_NR(flags); i++) {
		if (strlen(flags[i].name) != len ||
		    memcmp(flags[i].name, word, len) || *flags[i].flag)
			continue;
		*flags[i].flag = true;
		return true;
	}
	return false;
}

/*
 * Take a list of ids. Returns false if `word` is no such list, or if the list
 * was given before.
 */
static bool take_ids(struct request_text *request, const char *word, size_t len,
		     enum hash_algo algo)
{
	const struct {
		const char *name;
		struct request_text_ids *ids;
	} lists[] = {
		{"want=", &request->wants},
		{"have=", &request->haves},
		{"shallow=", &request->shallow},
	};

	for (size_t i = 0; i < ARRAY_NR(lists); i++) {
		size_t name_len = strlen(lists[i].name);

		if (len > name_len && !memcmp(lists[i].name, word, name_len))
			return parse_ids(lists[i].ids, word + name_len,
					 word + len, algo);
	}
	return false;
}

int request_text_parse(struct request_text *request, const char *text,
		       enum hash_algo algo, struct error *err)
{
	static const char filter[] = "filter=";
	const char *p = text;

	*request = (struct request_text){0};
	for (;;) {
		size_t len = strcspn(p, " ");

		if (!strncmp(p, filter, sizeof(filter) - 1)) {
			request->filter = p + sizeof(filter) - 1;
			break;
		}
		if (!take_flag(request, p, len) &&
		    !take_ids(request, p, len, algo))
			return bad_word(err, p, len);
		if (!p[len])
			break;
		p += len + 1;
	}
	if (!request->wants.nr)
		return error_set(err, ERR_INVALID, "request: no wanted object");
	return 0;
}
