/* SPDX-License-Identifier: MIT */
/* Parses the answers of S3 that are XML documents. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "store/s3-answer.h"
#include "store/xml.h"

/* ---- values */

/*
 * Copies the text of an element to *out. Returns 0, or ERR_CORRUPT if the text
 * is longer than `max` bytes or has a NUL.
 */
static int copy_text(char *out, size_t max, const struct xml *x,
		     struct error *err)
{
	if (x->text.len > max || memchr(x->text.data, '\0', x->text.len))
		return error_set(err, ERR_CORRUPT,
				 "XML: a value is too long, or has a NUL byte");
	memcpy(out, x->text.data, x->text.len + 1);
	return 0;
}

/*
 * Reads a number of exactly `nr` digits, and the character `after` behind it.
 * Returns the position behind this character, or NULL if the text has another
 * form or `p` is NULL.
 */
static const char *read_digits(int *out, const char *p, int nr, char after)
{
	*out = 0;
	for (; p && nr; nr--, p++) {
		if (*p < '0' || *p > '9')
			return NULL;
		*out = *out * 10 + (*p - '0');
	}
	return p && *p == after ? p + 1 : NULL;
}

int64_t s3_answer_time(const char *text)
{
	struct tm tm = {0};
	int zone_at_end;
	const char *p = read_digits(&tm.tm_year, text, 4, '-');

	p = read_digits(&tm.tm_mon, p, 2, '-');
	p = read_digits(&tm.tm_mday, p, 2, 'T');
	p = read_digits(&tm.tm_hour, p, 2, ':');
	p = read_digits(&tm.tm_min, p, 2, ':');
	if (!p || strlen(p) < 3)
		return -1;
	/* seconds: "54Z" or "54.000Z" */
	zone_at_end = p[2] == 'Z';
	p = read_digits(&tm.tm_sec, p, 2, zone_at_end ? 'Z' : '.');
	if (p && !zone_at_end)
		p += strspn(p, "0123456789");
	if (!p || strcmp(p, zone_at_end ? "" : "Z") || tm.tm_year < 1970 ||
	    tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 ||
	    tm.tm_mday > 31 || tm.tm_hour > 23 || tm.tm_min > 59 ||
	    tm.tm_sec > 60)
		return -1;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	return timegm(&tm);
}

static int read_size(uint64_t *out, const char *text, struct error *err)
{
	uint64_t size = 0;

	if (!*text)
		return error_set(err, ERR_CORRUPT, "XML: a size is missing");
	for (; *text; text++) {
		if (*text < '0' || *text > '9' ||
		    __builtin_mul_overflow(size, 10, &size) ||
		    __builtin_add_overflow(size, (uint64_t)(*text - '0'),
					   &size))
			return error_set(err, ERR_CORRUPT,
					 "XML: a size is not a number");
	}
	*out = size;
	return 0;
}

/* ---- listings */

struct listing {
	struct filestore_page *page;
	const char *prefix;
	struct xml xml;
	/* the entry that is read */
	char key[1024 + 1];
	bool has_size;
	struct filestore_info info;
	bool is_truncated;
	char token[S3_TOKEN_MAX + 1];
	struct error *err;
};

static int finish_entry(struct listing *l)
{
	size_t len = strlen(l->prefix);

	if (!l->key[0] || !l->has_size || strncmp(l->key, l->prefix, len))
		return error_set(l->err, ERR_CORRUPT,
				 "the store listed a file without a size, or "
				 "one outside of the requested prefix");
	if (filestore_page_add(l->page, l->key + len, &l->info) < 0)
		return error_nomem(l->err);
	return 0;
}

static int read_entry(struct listing *l)
{
	const struct xml *x = &l->xml;
	int ret = 0;

	if (xml_is_at(x, "ListBucketResult/Contents/Key")) {
		ret = copy_text(l->key, sizeof(l->key) - 1, x, l->err);
	} else if (xml_is_at(x, "ListBucketResult/Contents/ETag")) {
		ret = copy_text(l->info.etag, STORE_ETAG_MAX, x, l->err);
	} else if (xml_is_at(x, "ListBucketResult/Contents/Size")) {
		l->has_size = true;
		ret = read_size(&l->info.size, x->text.data, l->err);
	} else if (xml_is_at(x, "ListBucketResult/Contents/LastModified")) {
		l->info.mtime = s3_answer_time(x->text.data);
		if (l->info.mtime < 0)
			ret = error_set(
				l->err, ERR_CORRUPT,
				"the store listed a file with an invalid time");
	} else if (xml_is_at(x, "ListBucketResult/Contents")) {
		ret = finish_entry(l);
	}
	return ret;
}

static int read_close(struct listing *l)
{
	const struct xml *x = &l->xml;

	if (xml_is_at(x, "ListBucketResult/IsTruncated"))
		l->is_truncated = !strcmp(x->text.data, "true");
	else if (xml_is_at(x, "ListBucketResult/NextContinuationToken"))
		return copy_text(l->token, S3_TOKEN_MAX, x, l->err);
	return read_entry(l);
}

static void read_open(struct listing *l)
{
	if (!xml_is_at(&l->xml, "ListBucketResult/Contents"))
		return;
	l->key[0] = '\0';
	l->has_size = false;
	memset(&l->info, 0, sizeof(l->info));
}

static int set_next(struct listing *l)
{
	if (!l->is_truncated)
		return 0;
	if (!l->token[0])
		return error_set(l->err, ERR_CORRUPT,
				 "the store sent a part of a listing without "
				 "the token of the next part");
	l->page->next = mem_strdup(l->token);
	return l->page->next ? 0 : error_nomem(l->err);
}

int s3_answer_listing(struct filestore_page *page, const char *prefix,
		      const char *bytes, size_t len, struct error *err)
{
	struct listing *l = mem_calloc(1, sizeof(*l));
	bool is_listing = false;
	int ret;

	free(page->next);
	page->next = NULL;
	if (!l)
		return error_nomem(err);
	l->page = page;
	l->prefix = prefix;
	l->err = err;
	xml_init(&l->xml, bytes, len);
	while ((ret = xml_next(&l->xml, err)) > 0) {
		is_listing |= xml_is_at(&l->xml, "ListBucketResult");
		if (ret == XML_OPEN)
			read_open(l);
		else
			ret = read_close(l);
		if (ret < 0)
			break;
	}
	if (!ret && !is_listing)
		ret = error_set(err, ERR_CORRUPT,
				"the answer of the store is not a listing");
	if (!ret)
		ret = set_next(l);
	xml_release(&l->xml);
	free(l);
	return ret;
}

/* ---- errors */

static void copy_visible(char *out, size_t max, const struct buf *text)
{
	size_t len = text->len < max ? text->len : max;

	for (size_t i = 0; i < len; i++) {
		char c = text->data[i];

		out[i] = c >= ' ' && c <= '~' ? c : '?';
	}
	out[len] = '\0';
}

void s3_answer_error(struct s3_error *out, const char *bytes, size_t len)
{
	struct xml x;
	int ret;

	memset(out, 0, sizeof(*out));
	xml_init(&x, bytes, len);
	while ((ret = xml_next(&x, NULL)) > 0) {
		if (ret != XML_CLOSE)
			continue;
		if (xml_is_at(&x, "Error/Code"))
			copy_visible(out->code, S3_CODE_MAX, &x.text);
		else if (xml_is_at(&x, "Error/Message"))
			copy_visible(out->message, S3_MESSAGE_MAX, &x.text);
	}
	if (ret < 0)
		memset(out, 0, sizeof(*out));
	xml_release(&x);
}

/* ---- uploads in parts */

int s3_answer_upload(struct buf *out, const char *bytes, size_t len,
		     struct error *err)
{
	char id[S3_UPLOAD_MAX + 1] = "";
	struct xml x;
	int ret;

	xml_init(&x, bytes, len);
	while ((ret = xml_next(&x, err)) > 0) {
		if (ret != XML_CLOSE ||
		    !xml_is_at(&x, "InitiateMultipartUploadResult/UploadId"))
			continue;
		ret = copy_text(id, S3_UPLOAD_MAX, &x, err);
		if (ret < 0)
			break;
	}
	xml_release(&x);
	if (!ret && !*id)
		ret = error_set(err, ERR_CORRUPT,
				"the store did not send the id of the upload");
	if (!ret && buf_append_str(out, id) < 0)
		ret = error_nomem(err);
	return ret;
}

int s3_answer_complete(char *etag, struct s3_error *error, const char *bytes,
		       size_t len, struct error *err)
{
	bool is_complete = false;
	struct xml x;
	int ret;

	*etag = '\0';
	s3_answer_error(error, bytes, len);
	if (error->code[0])
		return 1;
	xml_init(&x, bytes, len);
	while ((ret = xml_next(&x, err)) > 0) {
		if (ret != XML_CLOSE)
			continue;
		is_complete |= xml_is_at(&x, "CompleteMultipartUploadResult");
		if (!xml_is_at(&x, "CompleteMultipartUploadResult/ETag"))
			continue;
		ret = copy_text(etag, STORE_ETAG_MAX, &x, err);
		if (ret < 0)
			break;
	}
	xml_release(&x);
	if (!ret && !is_complete)
		ret = error_set(err, ERR_CORRUPT,
				"the store did not confirm that the upload is "
				"complete");
	return ret;
}
