/* SPDX-License-Identifier: MIT */
/* Prints and parses the text files of a cache directory. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "copies/marker.h"

static const char origin_line[] = "gitreach cache 1";
static const char marker_line[] = "gitreach store-copy 1";

/* ---- lines */

static bool is_plain(const char *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)p[i] < 0x20 || p[i] == 0x7f)
			return false;
	return len <= GENERATION_TEXT_MAX;
}

/* Appends the line "<key> <value>", or nothing if the value is NULL. */
static int put_line(struct buf *out, const char *key, const char *value,
		    struct error *err)
{
	if (!value)
		return 0;
	if (!*value || !is_plain(value, strlen(value)))
		return error_set(err, ERR_INVALID,
				 "'%.200s' is not a valid %s of a store", value,
				 key);
	return buf_printf(out, "%s %s\n", key, value) < 0 ? error_nomem(err)
							  : 0;
}

/* The part of a text that is not parsed yet. */
struct lines {
	const char *p, *end;
};

/*
 * If the next line is `text`, takes it and returns true. Otherwise returns
 * false.
 */
static bool take_fixed(struct lines *l, const char *text)
{
	size_t len = strlen(text);

	if ((size_t)(l->end - l->p) <= len || memcmp(l->p, text, len) != 0 ||
	    l->p[len] != '\n')
		return false;
	l->p += len + 1;
	return true;
}

/*
 * If the next line has the form "<key> <value>", takes it. Returns 0 with
 * *value owned by the caller, 1 if the next line has another form, or
 * ERR_NOMEM.
 */
static int take_line(struct lines *l, char **value, const char *key)
{
	size_t key_len = strlen(key), len;
	const char *start, *stop;

	if ((size_t)(l->end - l->p) <= key_len ||
	    memcmp(l->p, key, key_len) != 0 || l->p[key_len] != ' ')
		return 1;
	start = l->p + key_len + 1;
	stop = memchr(start, '\n', (size_t)(l->end - start));
	len = stop ? (size_t)(stop - start) : 0;
	if (!len || !is_plain(start, len))
		return 1;
	*value = mem_strndup(start, len);
	l->p = stop + 1;
	return *value ? 0 : ERR_NOMEM;
}

/*
 * Works like take_line(), but the line may be missing. Returns 0 or ERR_NOMEM.
 */
static int take_optional(struct lines *l, char **value, const char *key)
{
	int ret = take_line(l, value, key);

	return ret > 0 ? 0 : ret;
}

/* ---- the file "store" of a cache directory */

void stored_origin_release(struct stored_origin *origin)
{
	free(origin->url);
	free(origin->endpoint);
	free(origin->region);
	free(origin->ca_file);
	*origin = (struct stored_origin){0};
}

int stored_origin_print(struct buf *out, const struct stored_origin *origin,
			struct error *err)
{
	size_t before = out->len;
	int ret = buf_printf(out, "%s\n", origin_line) < 0 ? error_nomem(err)
							   : 0;

	if (!ret)
		ret = put_line(out, "url", origin->url, err);
	if (!ret)
		ret = put_line(out, "endpoint", origin->endpoint, err);
	if (!ret)
		ret = put_line(out, "region", origin->region, err);
	if (!ret)
		ret = put_line(out, "ca-file", origin->ca_file, err);
	if (ret)
		buf_set_len(out, before);
	return ret;
}

int stored_origin_parse(struct stored_origin *out, const char *text, size_t len,
			struct error *err)
{
	struct lines l = {text, text + len};
	int ret;

	*out = (struct stored_origin){0};
	ret = take_fixed(&l, origin_line) ? 0 : 1;
	if (!ret)
		ret = take_line(&l, &out->url, "url");
	if (!ret)
		ret = take_optional(&l, &out->endpoint, "endpoint");
	if (!ret)
		ret = take_optional(&l, &out->region, "region");
	if (!ret)
		ret = take_optional(&l, &out->ca_file, "ca-file");
	if (!ret && l.p < l.end)
		ret = 1;
	if (ret > 0)
		ret = error_set(err, ERR_CORRUPT,
				"this is not a file that describes the store "
				"of a cache");
	else if (ret)
		error_nomem(err);
	if (ret)
		stored_origin_release(out);
	return ret;
}

/* ---- markers */

void stored_marker_release(struct stored_marker *m)
{
	free(m->boot);
	free(m->name);
	generation_release(&m->g);
	*m = (struct stored_marker){0};
}

int stored_marker_print(struct buf *out, const struct stored_marker *m,
			struct error *err)
{
	size_t before = out->len;
	int ret = buf_printf(out, "%s\n", marker_line) < 0 ? error_nomem(err)
							   : 0;

	if (!ret)
		ret = put_line(out, "boot", m->boot, err);
	if (!ret)
		ret = put_line(out, "name", m->name, err);
	if (!ret && buf_append_char(out, '\n') < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = generation_print(out, NULL, &m->g, err);
	if (ret)
		buf_set_len(out, before);
	return ret;
}

int stored_marker_parse(struct stored_marker *out, const char *text, size_t len,
			struct error *err)
{
	struct lines l = {text, text + len};
	int ret;

	*out = (struct stored_marker){0};
	ret = take_fixed(&l, marker_line) ? 0 : 1;
	if (!ret)
		ret = take_line(&l, &out->boot, "boot");
	if (!ret)
		ret = take_line(&l, &out->name, "name");
	if (!ret)
		ret = take_fixed(&l, "") ? 0 : 1;
	if (ret > 0)
		ret = error_set(err, ERR_CORRUPT,
				"this is not a marker of a local copy");
	else if (ret)
		error_nomem(err);
	if (!ret)
		ret = generation_parse(&out->g, l.p, (size_t)(l.end - l.p),
				       "marker", err);
	if (!ret && out->g.is_retired)
		ret = error_set(err, ERR_CORRUPT,
				"a local copy cannot have a retired "
				"generation");
	if (ret)
		stored_marker_release(out);
	return ret;
}
