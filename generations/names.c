/* SPDX-License-Identifier: MIT */
/*
 * Makes and parses names of files in a store: quotes and unquotes the path of a
 * repository.
 */
#include <inttypes.h>
#include <string.h>

#include "generations/names.h"
#include "object/oid.h"
#include "store/filestore.h"

#define REPO "repo/"
#define HINT "hint/"
#define LEASE "lease/"
/* the text that follows the repository's path in each name */
#define INNER "/_"
#define HEX_SHA256 (2 * GENERATION_SHA256_LEN)
#define HEX_TOKEN (2 * GENERATION_TOKEN_LEN)
/* length in bytes of the longest name, without the repository's path */
#define AROUND_MAX (sizeof(REPO INNER "/file/.") - 1 + HEX_SHA256 + HEX_TOKEN)

/*
 * Maximum number of bytes in a part of a repository's path after quoting. A
 * part is the text between two slashes. Quoting replaces some bytes by "_" and
 * two hexadecimal digits (generations/names.h). In a cache directory, and in a
 * store that is a directory, each quoted part is the name of a directory, and
 * file systems limit the length of such a name.
 */
#define PART_MAX 255

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '/';
}

static bool is_repository(const char *path)
{
	/* Refuse control characters, because names are printed on terminals. */
	for (const char *p = path; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			return false;
	for (;;) {
		size_t len = strcspn(path, "/");

		if (!len || (len == 1 && *path == '.') ||
		    (len == 2 && path[0] == '.' && path[1] == '.'))
			return false;
		if (!path[len])
			return true;
		path += len + 1;
	}
}

static int quote(struct buf *out, const char *repository)
{
	char before = '/';
	int ret = 0;

	for (const char *p = repository; !ret && *p; p++) {
		if (!is_plain(*p) || (*p == '.' && before == '/'))
			ret = buf_printf(out, "_%02x", (unsigned char)*p);
		else
			ret = buf_append_char(out, *p);
		before = *p;
	}
	return ret;
}

/* Returns whether a part of a quoted path is longer than PART_MAX. */
static bool has_long_part(const char *path)
{
	size_t len;

	for (; (len = strcspn(path, "/")) <= PART_MAX; path += len + 1)
		if (!path[len])
			return false;
	return true;
}

/*
 * Appends the beginning of the names of a repository's files: `start` and the
 * quoted path of the repository.
 */
static int append_start(struct buf *out, const char *start,
			const char *repository, struct error *err)
{
	size_t before = out->len, len;

	if (!is_repository(repository))
		return error_set(err, ERR_INVALID,
				 "'%.200s' is not a valid path of a repository "
				 "in a store",
				 repository);
	/*
	 * Check the length before quoting, so that little memory is needed.
	 * Quoting never makes a path shorter.
	 */
	if (strlen(repository) + AROUND_MAX > STORE_NAME_MAX)
		goto too_long;
	if (buf_append_str(out, start) < 0)
		return error_nomem(err);
	len = out->len;
	if (quote(out, repository) < 0 ||
	    out->len - len + AROUND_MAX > STORE_NAME_MAX) {
		bool fits = out->len - len + AROUND_MAX <= STORE_NAME_MAX;

		buf_set_len(out, before);
		if (fits)
			return error_nomem(err);
		goto too_long;
	}
	if (has_long_part(out->data + len)) {
		buf_set_len(out, before);
		goto too_long;
	}
	if (buf_append_str(out, INNER) == 0)
		return 0;
	buf_set_len(out, before);
	return error_nomem(err);
too_long:
	return error_set(err, ERR_INVALID,
			 "the path '%.200s...' is too long for a store",
			 repository);
}

/*
 * Completes a name. `ret` is the result of the last append. If `ret` is an
 * error, cuts *out back to the `before` bytes that it had before this name.
 * Returns 0 or ERR_NOMEM.
 */
static int finish(struct buf *out, size_t before, int ret, struct error *err)
{
	if (ret == 0)
		return 0;
	buf_set_len(out, before);
	return error_nomem(err);
}

int generation_record_name(struct buf *out, const char *repository,
			   uint64_t number, struct error *err)
{
	size_t before = out->len;
	int ret = append_start(out, REPO, repository, err);

	if (ret < 0)
		return ret;
	ret = buf_printf(out, "/gen/%016" PRIx64, number);
	return finish(out, before, ret, err);
}

int generation_file_prefix(struct buf *out, const char *repository,
			   struct error *err)
{
	size_t before = out->len;
	int ret = append_start(out, REPO, repository, err);

	if (ret < 0)
		return ret;
	return finish(out, before, buf_append_str(out, "/file/"), err);
}

int generation_file_name(struct buf *out, const char *repository,
			 const struct generation_file *file, struct error *err)
{
	size_t before = out->len;
	int ret = generation_file_prefix(out, repository, err);

	if (ret < 0)
		return ret;
	ret = generation_append_hex(out, file->sha256, GENERATION_SHA256_LEN);
	if (!ret)
		ret = buf_append_char(out, '.');
	if (!ret)
		ret = generation_append_hex(out, file->upload,
					    GENERATION_TOKEN_LEN);
	return finish(out, before, ret, err);
}

int generation_hint_name(struct buf *out, const char *repository,
			 struct error *err)
{
	return append_start(out, HINT, repository, err);
}

int generation_lease_name(struct buf *out, const char *repository,
			  struct error *err)
{
	return append_start(out, LEASE, repository, err);
}

/* ---- back */

/*
 * Appends the unquoted text to *out. Returns 0, 1 if the text is not quoted as
 * in names.h, or ERR_NOMEM.
 */
static int unquote(struct buf *out, const char *p, const char *end)
{
	int ret = 0;

	while (!ret && p < end) {
		uint8_t byte;

		if (*p != '_') {
			ret = buf_append_char(out, *p++);
			continue;
		}
		if (end - p < 3 || !generation_parse_hex(&byte, p + 1, 1) ||
		    !byte)
			return 1;
		ret = buf_append_char(out, (char)byte);
		p += 3;
	}
	return ret;
}

int generation_hint_repository(struct buf *out, const char *name,
			       struct error *err)
{
	const size_t start = sizeof(HINT) - 1, inner = sizeof(INNER) - 1;
	size_t len = strlen(name);
	struct buf path = BUF_INIT, again = BUF_INIT;
	int ret = 1;

	if (len <= start + inner || memcmp(name, HINT, start) != 0 ||
	    memcmp(name + len - inner, INNER, inner) != 0)
		return 1;
	ret = unquote(&path, name + start, name + len - inner);
	/* Refuse a name that generation_hint_name() would quote differently. */
	if (!ret)
		ret = generation_hint_name(&again, path.data, NULL);
	if (ret == ERR_INVALID || (!ret && strcmp(again.data, name) != 0))
		ret = 1;
	if (!ret)
		ret = buf_append(out, path.data, path.len);
	if (ret < 0)
		ret = error_nomem(err);
	buf_release(&path);
	buf_release(&again);
	return ret;
}

bool generation_file_of_name(struct generation_file *out, const char *name,
			     size_t prefix_len)
{
	const char *p = name + prefix_len;
	struct oid oid;

	memset(out, 0, sizeof(*out));
	if (strlen(name) != prefix_len + HEX_SHA256 + 1 + HEX_TOKEN ||
	    p[HEX_SHA256] != '.' || p[strspn(p, "0123456789abcdef.")] != '\0' ||
	    !oid_from_hex(&oid, p, HEX_SHA256, HASH_SHA256))
		return false;
	memcpy(out->sha256, oid.bytes, sizeof(out->sha256));
	return generation_parse_hex(out->upload, p + HEX_SHA256 + 1,
				    GENERATION_TOKEN_LEN);
}
