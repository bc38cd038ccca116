/* SPDX-License-Identifier: MIT */
/*
 * Code that all kinds of stores share: checks of arguments, and reading files
 * into memory.
 */
#include <string.h>

#include "base/mem.h"
#include "object/hash.h"
#include "store/filestore.h"
#include "sys/clock.h"
#include "sys/map.h"

/*
 * Maximum number of tries to read a file into memory. A try fails if somebody
 * replaces the file during the read.
 */
#define READS 5
/*
 * Maximum number of files in a page for filestore_list_each(). A service has a
 * smaller limit of its own. A store in a directory reads whole directories for
 * each page, so pages are large.
 */
#define PAGE_ENTRIES 100000

/* ---- names */

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' ||
	       c == '/';
}

/*
 * Returns whether the text is the beginning of a valid name. The text may end
 * with "/".
 */
static bool is_prefix(const char *name)
{
	char before = '/';
	size_t i;

	for (i = 0; name[i]; i++) {
		if (i == STORE_NAME_MAX || !is_name_char(name[i]))
			return false;
		if (before == '/' && (name[i] == '/' || name[i] == '.'))
			return false;
		before = name[i];
	}
	return true;
}

bool filestore_name_is_valid(const char *name)
{
	size_t len = strlen(name);

	return len && name[len - 1] != '/' && is_prefix(name);
}

static int check_name(const char *name, struct error *err)
{
	if (filestore_name_is_valid(name))
		return 0;
	return error_set(err, ERR_INVALID,
			 "invalid name of a file in a store: '%s'", name);
}

/* ---- watching */

void filestore_watch(struct filestore *store,
		     const struct filestore_watch *watch)
{
	store->watch = *watch;
}

/*
 * Returns the start time of a request that begins now, in nanoseconds, or 0 if
 * nobody watches the requests.
 */
static uint64_t begin(const struct filestore *store)
{
	return store->watch.fn ? sys_clock_ns() : 0;
}

/*
 * Reports an ended request to the watcher of the store, if there is one.
 * Returns `ret`, the result of the request.
 */
static int end(const struct filestore *store, uint64_t start,
	       struct filestore_event event, int ret)
{
	if (store->watch.fn) {
		event.ret = ret;
		event.ns = sys_clock_ns() - start;
		store->watch.fn(store->watch.ctx, &event);
	}
	return ret;
}

/* ---- reading */

/* A sink that counts bytes. */
struct counted {
	const struct filestore_sink *sink;
	uint64_t len;
};

static int write_counted(void *ctx, const void *bytes, size_t len,
			 struct error *err)
{
	struct counted *c = ctx;

	c->len += len;
	return c->sink->write(c->sink->ctx, bytes, len, err);
}

int filestore_read(struct filestore *store, struct filestore_info *info,
		   const struct filestore_sink *sink, const char *name,
		   uint64_t off, uint64_t len, struct error *err)
{
	struct counted counted = {sink, 0};
	const struct filestore_sink counting = {write_counted, &counted};
	uint64_t last, start;
	int ret = check_name(name, err);

	if (!ret && len != STORE_TO_END &&
	    (!len || __builtin_add_overflow(off, len, &last)))
		ret = error_set(err, ERR_INVALID,
				"a range of '%s' is empty or too large", name);
	if (info)
		memset(info, 0, sizeof(*info));
	if (ret)
		return ret;
	start = begin(store);
	ret = store->ops->read(store, info, &counting, name, off, len, err);
	return end(store, start,
		   (struct filestore_event){.operation = STORE_READ,
					    .received = counted.len},
		   ret);
}

/* A destination in memory for up to `max` bytes: `buf`, or the array `at`. */
struct memory {
	struct buf *buf; /* borrowed, or NULL */
	uint8_t *at;     /* borrowed */
	size_t max;
	size_t done; /* bytes that were received */
	const char *name;
};

static int write_memory(void *ctx, const void *bytes, size_t len,
			struct error *err)
{
	struct memory *m = ctx;

	if (len > m->max - m->done)
		return error_set(err, ERR_CORRUPT,
				 "'%s' is longer than allowed", m->name);
	if (!m->buf)
		memcpy(m->at + m->done, bytes, len);
	else if (buf_append(m->buf, bytes, len) < 0)
		return error_nomem(err);
	m->done += len;
	return 0;
}

/*
 * Reads a range into memory. If somebody replaces the file during the read,
 * starts again with the new file, at most READS times. Returns a code of
 * filestore_read(), except STORE_CONFLICT: if the file is replaced too often,
 * returns STORE_UNAVAILABLE. After an error, m->buf is unchanged.
 */
static int read_memory(struct memory *m, struct filestore *store,
		       struct filestore_info *info, uint64_t off, uint64_t len,
		       struct error *err)
{
	const struct filestore_sink sink = {write_memory, m};
	size_t before = m->buf ? m->buf->len : 0;
	int ret = STORE_CONFLICT;

	for (int i = 0; i < READS && ret == STORE_CONFLICT; i++) {
		m->done = 0;
		ret = filestore_read(store, info, &sink, m->name, off, len,
				     err);
		if (ret && m->buf && m->buf->len > before)
			buf_set_len(m->buf, before);
	}
	return ret == STORE_CONFLICT ? STORE_UNAVAILABLE : ret;
}

int filestore_get(struct filestore *store, struct buf *out,
		  struct filestore_info *info, const char *name, size_t max,
		  struct error *err)
{
	struct memory m = {.buf = out, .max = max, .name = name};

	return read_memory(&m, store, info, 0, STORE_TO_END, err);
}

int filestore_get_range(struct filestore *store, void *out, const char *name,
			uint64_t off, size_t len, struct error *err)
{
	struct memory m = {.at = out, .max = len, .name = name};
	int ret;

	if (!len)
		return check_name(name, err);
	ret = read_memory(&m, store, NULL, off, len, err);
	if (!ret && m.done < len)
		ret = error_set(err, ERR_PEER,
				"the store sent too few bytes of '%s'", name);
	return ret;
}

int filestore_head(struct filestore *store, struct filestore_info *info,
		   const char *name, struct error *err)
{
	int ret = check_name(name, err);
	uint64_t start;

	memset(info, 0, sizeof(*info));
	if (ret)
		return ret;
	start = begin(store);
	return end(store, start,
		   (struct filestore_event){.operation = STORE_HEAD},
		   store->ops->head(store, info, name, err));
}

/* ---- writing */

int filestore_put(struct filestore *store, char *etag, const char *name,
		  const void *bytes, size_t len,
		  const struct filestore_condition *condition,
		  struct error *err)
{
	char unused[STORE_ETAG_MAX + 1];
	uint64_t start;
	int ret = check_name(name, err);

	if (!etag)
		etag = unused;
	*etag = '\0';
	if (!ret && condition->kind == STORE_REPLACE &&
	    (!condition->etag || !*condition->etag))
		ret = error_set(err, ERR_INVALID,
				"no entity tag is given for '%s'", name);
	if (ret)
		return ret;
	start = begin(store);
	ret = store->ops->put(store, etag, name, bytes, len, condition, err);
	return end(store, start,
		   (struct filestore_event){.operation = STORE_PUT,
					    .sent = ret ? 0 : len},
		   ret);
}

/*
 * Checks that the content of a local file has the SHA-256 hash `sha256`.
 * Returns 0, ERR_IO if not, or ERR_NOMEM.
 */
static int check_content(const struct sys_map *map, const uint8_t *sha256,
			 const char *path, struct error *err)
{
	struct hash_ctx hash;
	struct oid oid;

	if (hash_init(&hash, HASH_SHA256) < 0)
		return error_nomem(err);
	hash_update(&hash, map->data, map->len);
	hash_final(&hash, &oid);
	hash_release(&hash);
	return memcmp(oid.bytes, sha256, hash_len(HASH_SHA256))
		       ? error_set(err, ERR_IO,
				   "'%s' was changed before it was uploaded; "
				   "try again",
				   path)
		       : 0;
}

int filestore_put_file(struct filestore *store, char *etag, const char *name,
		       const char *path, const uint8_t *sha256,
		       const struct filestore_condition *condition,
		       struct error *err)
{
	struct sys_map map;
	int ret = sys_map_open(&map, path, err);

	if (ret < 0)
		return ret;
	if (sha256)
		ret = check_content(&map, sha256, path, err);
	if (!ret)
		ret = filestore_put(store, etag, name, map.data, map.len,
				    condition, err);
	sys_map_close(&map);
	return ret;
}

int filestore_delete(struct filestore *store, const char *name,
		     struct error *err)
{
	int ret = check_name(name, err);
	uint64_t start = begin(store);

	return ret ? ret
		   : end(store, start,
			 (struct filestore_event){.operation = STORE_DELETE},
			 store->ops->delete (store, name, err));
}

/* ---- listing */

void filestore_page_release(struct filestore_page *page)
{
	for (size_t i = 0; i < page->nr; i++)
		free(page->entries[i].name);
	free(page->entries);
	free(page->next);
	*page = (struct filestore_page){NULL, 0, 0, NULL};
}

int filestore_page_add(struct filestore_page *page, const char *name,
		       const struct filestore_info *info)
{
	struct filestore_entry entry = {NULL, *info};

	if (!filestore_name_is_valid(name))
		return 0;
	if (mem_grow(&page->entries, &page->alloc, page->nr + 1,
		     sizeof(*page->entries)) < 0)
		return ERR_NOMEM;
	entry.name = mem_strdup(name);
	if (!entry.name)
		return ERR_NOMEM;
	page->entries[page->nr++] = entry;
	return 0;
}

int filestore_list(struct filestore *store, struct filestore_page *page,
		   const char *prefix, size_t limit, struct error *err)
{
	uint64_t start = begin(store);
	int ret;

	for (size_t i = 0; i < page->nr; i++)
		free(page->entries[i].name);
	page->nr = 0;
	if (is_prefix(prefix) && limit)
		ret = end(store, start,
			  (struct filestore_event){.operation = STORE_LIST},
			  store->ops->list(store, page, prefix, limit, err));
	else
		ret = error_set(err, ERR_INVALID,
				"invalid prefix for a listing: '%s'", prefix);
	if (ret)
		filestore_page_release(page);
	return ret;
}

int filestore_list_each(struct filestore *store, const char *prefix,
			int (*fn)(void *ctx,
				  const struct filestore_entry *entry,
				  struct error *err),
			void *ctx, struct error *err)
{
	struct filestore_page page = {NULL, 0, 0, NULL};
	int ret;

	do {
		ret = filestore_list(store, &page, prefix, PAGE_ENTRIES, err);
		for (size_t i = 0; !ret && i < page.nr; i++)
			ret = fn(ctx, &page.entries[i], err);
	} while (!ret && page.next);
	filestore_page_release(&page);
	return ret;
}

/* ---- the rest */

int filestore_presign(struct filestore *store, struct buf *url,
		      const char *name, unsigned seconds, struct error *err)
{
	int ret = check_name(name, err);

	if (!ret && (seconds < 1 || seconds > 604800))
		ret = error_set(err, ERR_INVALID,
				"a URL is valid for 1 to 604800 seconds");
	return ret ? ret : store->ops->presign(store, url, name, seconds, err);
}

void filestore_close(struct filestore *store)
{
	if (store)
		store->ops->close(store);
}
