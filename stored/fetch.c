/* SPDX-License-Identifier: MIT */
/* Downloads one file of a generation. */
#include <string.h>

#include "base/mem.h"
#include "generations/names.h"
#include "object/hash.h"
#include "sys/map.h"
#include "stored/fetch.h"

/* A file that is being received. */
struct receiver {
	const struct generation_file *file; /* borrowed */
	struct hash_ctx hash;
	struct sys_tempfile tmp;
	uint64_t len;
};

char *stored_join(const char *dir, const char *name, struct error *err)
{
	size_t dir_len = strlen(dir), name_len = strlen(name);
	struct buf path = BUF_INIT;

	/*
	 * Do not use printf() here: it is slower, and a server calls this
	 * function several times for each request.
	 */
	if (buf_reserve(&path, dir_len + name_len + 1) < 0 ||
	    buf_append(&path, dir, dir_len) < 0 ||
	    buf_append_char(&path, '/') < 0 ||
	    buf_append(&path, name, name_len) < 0) {
		buf_release(&path);
		error_nomem(err);
		return NULL;
	}
	return path.data;
}

int stored_describe(struct generation_file *file, const char *path,
		    struct error *err)
{
	struct hash_ctx hash;
	struct sys_map map;
	struct oid oid;
	int ret = sys_map_open(&map, path, err);

	if (ret)
		return ret;
	if (hash_init(&hash, HASH_SHA256) < 0) {
		sys_map_close(&map);
		return error_nomem(err);
	}
	sys_map_advise_sequential(&map);
	hash_update(&hash, map.data, map.len);
	hash_final(&hash, &oid);
	hash_release(&hash);
	memcpy(file->sha256, oid.bytes, GENERATION_SHA256_LEN);
	file->size = map.len;
	sys_map_close(&map);
	return 0;
}

int stored_result(int ret, const char *what, struct error *err)
{
	if (ret == STORE_ABSENT)
		return error_set(err, ERR_MISSING, "'%s' is not in the store",
				 what);
	if (ret == STORE_UNAVAILABLE || ret == STORE_AMBIGUOUS ||
	    ret == STORE_CONFLICT)
		return error_recode(err, ERR_IO);
	if (ret > 0)
		return error_set(err, ERR_IO,
				 "'%s': the store refused a request", what);
	return ret;
}

static int too_long(const struct receiver *r, struct error *err)
{
	return error_set(err, ERR_CORRUPT,
			 "'%s' is longer in the store than its generation says",
			 r->file->path);
}

static int receive(void *ctx, const void *bytes, size_t len, struct error *err)
{
	struct receiver *r = ctx;

	if (len > r->file->size - r->len)
		return too_long(r, err);
	r->len += len;
	hash_update(&r->hash, bytes, len);
	return sys_tempfile_write(&r->tmp, bytes, len, err);
}

static int check(struct receiver *r, struct error *err)
{
	struct oid hash;

	hash_final(&r->hash, &hash);
	if (r->len != r->file->size)
		return error_set(err, ERR_CORRUPT,
				 "'%s' is shorter in the store than its "
				 "generation says",
				 r->file->path);
	if (memcmp(hash.bytes, r->file->sha256, GENERATION_SHA256_LEN) != 0)
		return error_set(err, ERR_CORRUPT,
				 "'%s' has another SHA-256 in the store than "
				 "its generation says",
				 r->file->path);
	return 0;
}

/* Returns the permissions of a file in a repository. */
static unsigned mode_of(const struct generation_file *file)
{
	if (!strncmp(file->path, "objects/", strlen("objects/")))
		return 0444;
	return file->is_executable ? 0777 : 0666;
}

static int start(struct receiver *r, const char *path, struct error *err)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? mem_strndup(path, (size_t)(slash - path))
			  : mem_strdup(".");
	int ret;

	if (!dir)
		return error_nomem(err);
	ret = sys_tempfile_create(&r->tmp, dir, "tmp_", mode_of(r->file), err);
	free(dir);
	if (!ret && hash_init(&r->hash, HASH_SHA256) < 0)
		ret = error_nomem(err);
	return ret;
}

/*
 * Ends the receiver. If `ret` is 0 and the content has the right size and hash,
 * the temporary file gets its name. Returns `ret`, or another negative error
 * code.
 */
static int finish(struct receiver *r, int ret, const char *path,
		  enum sys_fsync_method method, struct error *err)
{
	if (!ret)
		ret = check(r, err);
	if (!ret)
		ret = sys_tempfile_commit(&r->tmp, path, method, err);
	sys_tempfile_abort(&r->tmp);
	hash_release(&r->hash);
	return ret;
}

int stored_fetch(const struct generation_place *place,
		 const struct generation_file *file, const char *path,
		 enum sys_fsync_method method, struct error *err)
{
	struct receiver r = {.file = file, .tmp = SYS_TEMPFILE_INIT};
	const struct filestore_sink sink = {receive, &r};
	struct buf name = BUF_INIT;
	int ret = generation_file_name(&name, place->repository, file, err);

	if (!ret)
		ret = start(&r, path, err);
	if (!ret)
		ret = stored_result(filestore_read(place->store, NULL, &sink,
						   name.data, 0, STORE_TO_END,
						   err),
				    file->path, err);
	buf_release(&name);
	return finish(&r, ret, path, method, err);
}

int stored_fetch_put(const struct generation_file *file, const char *path,
		     const void *bytes, size_t len,
		     enum sys_fsync_method method, struct error *err)
{
	struct receiver r = {.file = file, .tmp = SYS_TEMPFILE_INIT};
	int ret = start(&r, path, err);

	if (!ret)
		ret = receive(&r, bytes, len, err);
	return finish(&r, ret, path, method, err);
}
