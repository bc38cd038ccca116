/* SPDX-License-Identifier: MIT */
/*
 * The public functions about references, names, ids in hexadecimal digits, and
 * single objects.
 */
#include <string.h>

#include "base/mem.h"
#include "libgitreach/internal.h"
#include "names/revname.h"

/*
 * Bytes of the object reader's cache. The cache is small, because resolving a
 * name reads only a tag or a few commits.
 */
#define READER_CACHE_LIMIT ((size_t)1 << 20)

/* ---- ids */

static enum hash_algo algo_of(size_t id_len)
{
	return id_len == hash_len(HASH_SHA256) ? HASH_SHA256 : HASH_SHA1;
}

static bool is_id_len(size_t id_len)
{
	return id_len == hash_len(algo_of(id_len));
}

int gitreach_id_print(char *hex, const uint8_t *id, size_t id_len,
		      gitreach_error *err)
{
	struct error *inner = libgitreach_error(err);
	int ret = libgitreach_need(hex && id, inner);
	struct oid oid;

	if (!ret && !is_id_len(id_len))
		ret = error_set(inner, ERR_INVALID,
				"%zu bytes is not the length of an object id",
				id_len);
	if (ret < 0)
		return ret;
	oid_from_raw(&oid, id, algo_of(id_len));
	oid_to_hex(hex, &oid, algo_of(id_len));
	return libgitreach_done(0, err);
}

int gitreach_id_parse(uint8_t *id, size_t *id_len, const char *hex,
		      gitreach_error *err)
{
	struct error *inner = libgitreach_error(err);
	int ret = libgitreach_need(id && id_len && hex, inner);
	size_t len;
	struct oid oid;

	if (ret < 0)
		return ret;
	len = strnlen(hex, OID_MAX_HEX_LEN + 1);
	if (len % 2 || !is_id_len(len / 2) ||
	    !oid_from_hex(&oid, hex, len, algo_of(len / 2)))
		return error_set(inner, ERR_INVALID,
				 "'%.100s' is not an object id", hex);
	*id_len = len / 2;
	memcpy(id, oid.bytes, len / 2);
	return libgitreach_done(0, err);
}

/* ---- names */

int libgitreach_repo_resolve(gitreach_repo *repo, struct oid *oid,
			     const char *name, struct error *err)
{
	struct odb_reader *reader = odb_reader_new(repo->odb,
						   READER_CACHE_LIMIT);
	struct error why = ERROR_INIT;
	int ret;

	if (!reader)
		return error_nomem(err);
	pthread_mutex_lock(&repo->lock);
	ret = revname_resolve(oid, name, repo->refs, reader, repo->odb, &why);
	pthread_mutex_unlock(&repo->lock);
	odb_reader_free(reader);
	/*
	 * The message that commands print for an unknown name also mentions
	 * files of a work tree, which mean nothing to users of the library. So
	 * the library has its own message.
	 */
	if (ret < 0 && revname_error_is_unknown(&why))
		return error_set(err, ERR_MISSING,
				 "no object has the name '%.200s'", name);
	if (ret < 0 && err)
		*err = why;
	return ret;
}

int gitreach_repo_resolve(uint8_t *id, gitreach_repo *repo, const char *name,
			  gitreach_error *err)
{
	struct error *inner = libgitreach_error(err);
	int ret = libgitreach_need(id && repo && name, inner);
	struct oid oid;

	if (!ret)
		ret = libgitreach_repo_resolve(repo, &oid, name, inner);
	if (!ret)
		memcpy(id, oid.bytes, gitreach_repo_id_len(repo));
	return libgitreach_done(ret, err);
}

/* ---- references */

/* The caller's callback. */
struct each {
	const gitreach_repo *repo;
	gitreach_ref_fn fn;
	void *ctx;
	struct error *err;
};

static int call_ref_fn(void *ctx, const struct ref *ref)
{
	struct each *e = ctx;
	const struct gitreach_ref given = {
		.size = sizeof(given),
		.name = ref->name,
		.id = ref->oid.bytes,
		.id_len = gitreach_repo_id_len(e->repo),
		.target = ref->target,
	};
	int ret = e->fn(e->ctx, &given);

	return ret ? libgitreach_stopped(ret, e->err) : 0;
}

static int each_ref(struct each *e, const char *prefix)
{
	struct refs *refs = e->repo->refs;
	struct ref head;
	int ret = *prefix ? 0 : refs_lookup(refs, "HEAD", &head, e->err);

	if (ret > 0)
		ret = call_ref_fn(e, &head);
	return ret ? ret
		   : refs_each_strict(refs, prefix, call_ref_fn, e, e->err);
}

int gitreach_repo_each_ref(gitreach_repo *repo, const char *prefix,
			   gitreach_ref_fn fn, void *ctx, gitreach_error *err)
{
	struct each e = {repo, fn, ctx, libgitreach_error(err)};
	int ret = libgitreach_need(repo && prefix && fn, e.err);

	if (ret < 0)
		return ret;
	pthread_mutex_lock(&repo->lock);
	ret = each_ref(&e, prefix);
	pthread_mutex_unlock(&repo->lock);
	return libgitreach_done(ret, err);
}

/* ---- objects */

int gitreach_object_info(struct gitreach_object_info *out,
			 const gitreach_repo *repo, const uint8_t *id,
			 size_t id_len, gitreach_error *err)
{
	struct error *inner = libgitreach_error(err);
	struct gitreach_object_info info = {0};
	struct odb_reader *reader;
	enum object_type type;
	struct oid oid;
	int ret = libgitreach_need(out && repo, inner);

	if (!ret)
		ret = libgitreach_repo_id(&oid, repo, id, id_len, inner);
	if (ret < 0)
		return ret;
	reader = odb_reader_new(repo->odb, READER_CACHE_LIMIT);
	if (!reader)
		return error_nomem(inner);
	ret = odb_info(reader, &oid, &type, &info.bytes, inner);
	odb_reader_free(reader);
	info.type = (uint64_t)type;
	if (!ret)
		ret = libgitreach_struct_out(out, &info, sizeof(info), inner);
	return libgitreach_done(ret, err);
}
