/* SPDX-License-Identifier: MIT */
/* Writing a multi-pack-index into a repository. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "pack/midx-verify.h"
#include "pack/midx-write.h"
#include "repack/multi-pack.h"
#include "repo/odb-midx.h"
#include "sys/io.h"
#include "sys/map.h"
#include "sys/tempfile.h"

#define FILE_MODE 0644

/* Whether a pack lies in object directory `dir_nr` of the snapshot. */
static bool is_in(const struct odb *odb, size_t dir_nr, const struct pack *pack)
{
	size_t dir_len = (size_t)(pack->name - pack->path);
	const char *dir = odb->dirs[dir_nr];
	size_t len = strlen(dir);

	return dir_len == len + 6 && !memcmp(pack->path, dir, len) &&
	       !memcmp(pack->path + len, "/pack/", 6);
}

/* The packs to be covered, and their names. */
struct sources {
	struct pack_midx_source *packs; /* owned array, names too */
	uint32_t nr;
};

static void sources_release(struct sources *s)
{
	for (uint32_t i = 0; i < s->nr; i++)
		free((char *)s->packs[i].name);
	free(s->packs);
}

static int cmp_sources(const void *a, const void *b)
{
	const struct pack_midx_source *pa = a, *pb = b;

	return strcmp(pa->name, pb->name);
}

static int add_source(struct sources *s, const struct pack *pack,
		      const struct multi_pack_options *o)
{
	struct buf name = BUF_INIT;

	if ((o->only && !named_packs_has(o->only, pack)) ||
	    named_packs_has(o->but, pack))
		return 0;
	if (buf_printf(&name, "%s.idx", pack->name) < 0)
		return ERR_NOMEM;
	s->packs[s->nr++] = (struct pack_midx_source){
		buf_detach(&name, NULL), &pack->idx, pack->mtime_ns};
	return 0;
}

static int sources_init(struct sources *s, const struct odb *odb,
			const struct multi_pack_options *o, struct error *err)
{
	s->packs = mem_calloc(odb->pack_nr, sizeof(*s->packs));
	if (!s->packs)
		return error_nomem(err);
	for (uint32_t i = 0; i < odb->pack_nr; i++)
		if (is_in(odb, o->dir_nr, odb->packs[i].pack) &&
		    add_source(s, odb->packs[i].pack, o) < 0)
			return error_nomem(err);
	if (!s->nr)
		return error_set(err, ERR_MISSING, "no pack files to index.");
	qsort(s->packs, s->nr, sizeof(*s->packs), cmp_sources);
	return 0;
}

/* Whether "pack-<hex>.idx" is what was meant: ".pack", ".idx" or no end. */
static bool is_same_pack(const char *idx_name, const char *given)
{
	size_t base_len = strlen(idx_name) - 4;

	return !strncmp(idx_name, given, base_len) &&
	       (!given[base_len] || !strcmp(given + base_len, ".idx") ||
		!strcmp(given + base_len, ".pack"));
}

static uint32_t find_preferred(const struct sources *s, const char *given)
{
	for (uint32_t i = 0; i < s->nr && given; i++)
		if (is_same_pack(s->packs[i].name, given))
			return i;
	return PACK_MIDX_NO_PACK;
}

static int load_version(unsigned *version, const struct repo *repo,
			struct error *err)
{
	uint64_t configured = 1;

	if (config_u64(&repo->config, "midx.version", &configured, err) < 0)
		return ERR_INVALID;
	if (configured != 1 && configured != 2)
		return error_set(err, ERR_INVALID, "unknown MIDX version: %llu",
				 (unsigned long long)configured);
	*version = (unsigned)configured;
	return 0;
}

/* Whether the file holds these bytes already. */
static bool is_same(const char *path, const struct buf *bytes)
{
	struct sys_map map;
	bool same;

	if (sys_map_open(&map, path, NULL) < 0)
		return false;
	same = map.len == bytes->len && !memcmp(map.data, bytes->data, map.len);
	sys_map_close(&map);
	return same;
}

struct removal {
	const char *dir;
	const char *keep; /* hex of the checksum whose files stay; or "" */
	struct error *err;
};

static int remove_named(const struct removal *r, const char *name)
{
	struct buf path = BUF_INIT;
	int ret = buf_printf(&path, "%s/%s", r->dir, name) < 0
			  ? error_nomem(r->err)
			  : sys_unlink(path.data, r->err);

	buf_release(&path);
	return ret;
}

/* "multi-pack-index-<hex>.bitmap" and ".rev". */
static int remove_part(void *ctx, const char *name)
{
	static const char prefix[] = "multi-pack-index-";
	const struct removal *r = ctx;
	size_t len = sizeof(prefix) - 1, keep_len = strlen(r->keep);

	if (strncmp(name, prefix, len) != 0 ||
	    (keep_len && !strncmp(name + len, r->keep, keep_len)))
		return 0;
	return remove_named(r, name);
}

static int remove_parts(const char *dir, const char *keep, struct error *err)
{
	struct removal r = {dir, keep, err};

	return sys_dir_each(dir, remove_part, &r, err);
}

int multi_pack_remove(const char *dir, struct error *err)
{
	struct removal r = {dir, "", err};
	int ret = remove_named(&r, "multi-pack-index");

	return ret < 0 ? ret : remove_parts(dir, "", err);
}

/* The bytes into place, unless they are there. The caller has the lock. */
static int replace(struct sys_tempfile *lock, const char *path,
		   const struct buf *bytes, const struct repo *repo,
		   struct error *err)
{
	enum sys_fsync_method method;
	int ret = repo_fsync_method(repo, REPO_FSYNC_PACK_METADATA, &method,
				    err);

	if (ret < 0)
		return ret;
	if (is_same(path, bytes)) {
		sys_tempfile_abort(lock);
		return 0;
	}
	ret = sys_tempfile_write(lock, bytes->data, bytes->len, err);
	return ret < 0 ? ret : sys_tempfile_commit(lock, path, method, err);
}

static int install(const char *dir, const struct buf *bytes,
		   const struct oid *checksum, const struct repo *repo,
		   struct error *err)
{
	struct sys_tempfile lock = SYS_TEMPFILE_INIT;
	struct buf lock_path = BUF_INIT;
	char hex[OID_MAX_HEX_LEN + 1];
	char *path = odb_midx_path(dir);
	int ret;

	if (!path || buf_printf(&lock_path, "%s.lock", path) < 0)
		ret = error_nomem(err);
	else
		ret = sys_tempfile_create_exact(&lock, lock_path.data,
						FILE_MODE, err);
	if (!ret)
		ret = replace(&lock, path, bytes, repo, err);
	sys_tempfile_abort(&lock);
	if (!ret)
		ret = remove_parts(dir, oid_to_hex(hex, checksum, repo->algo),
				   err);
	buf_release(&lock_path);
	free(path);
	return ret;
}

int multi_pack_write(struct multi_pack_result *result, const struct odb *odb,
		     const struct multi_pack_options *options,
		     struct error *err)
{
	struct pack_midx_request rq = {
		.algo = odb->algo,
		.progress = options->progress,
	};
	struct buf bytes = BUF_INIT, dir = BUF_INIT;
	struct pack_midx_written written;
	struct sources s = {NULL, 0};
	int ret = load_version(&rq.version, odb->repo, err);

	*result = (struct multi_pack_result){0};
	if (!ret)
		ret = sources_init(&s, odb, options, err);
	if (!ret) {
		rq.packs = s.packs;
		rq.pack_nr = s.nr;
		rq.preferred = find_preferred(&s, options->preferred);
		result->no_such_preferred = options->preferred &&
					    rq.preferred == PACK_MIDX_NO_PACK;
		ret = pack_midx_write(&bytes, &rq, &written, err);
	}
	if (!ret && buf_printf(&dir, "%s/pack", odb->dirs[options->dir_nr]) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = install(dir.data, &bytes, &written.checksum, odb->repo,
			      err);
	if (!ret) {
		result->object_nr = written.nr;
		result->pack_nr = s.nr;
		result->checksum = written.checksum;
	}
	sources_release(&s);
	buf_release(&bytes);
	buf_release(&dir);
	return ret;
}

/* The index of each pack that a multi-pack-index names; NULL: not there. */
static const struct pack_idx **find_packs(const struct odb *odb, size_t dir_nr,
					  const struct pack_midx *midx)
{
	const struct pack_idx **packs = mem_calloc(
		midx->pack_nr, sizeof(const struct pack_idx *));

	for (uint32_t i = 0; i < midx->pack_nr && packs; i++)
		for (uint32_t p = 0; p < odb->pack_nr && !packs[i]; p++) {
			const struct pack *pack = odb->packs[p].pack;
			size_t len = strlen(pack->name);

			if (is_in(odb, dir_nr, pack) &&
			    !strncmp(midx->names[i], pack->name, len) &&
			    !strcmp(midx->names[i] + len, ".idx"))
				packs[i] = &pack->idx;
		}
	return packs;
}

int multi_pack_verify(const struct odb *odb, size_t dir_nr,
		      void (*report)(void *ctx, const char *line), void *ctx,
		      const struct progress_out *progress, struct error *err)
{
	struct pack_midx_check check = {
		.report = report,
		.ctx = ctx,
		.progress = progress,
	};
	const struct pack_idx **packs;
	struct odb_midx *om;
	int ret = odb_midx_open(&om, odb->dirs[dir_nr], odb->algo, err);

	if (ret < 0)
		return ret == ERR_MISSING ? 0 : ret;
	packs = find_packs(odb, dir_nr, &om->midx);
	check.packs = packs;
	ret = packs ? pack_midx_verify(&om->midx, &check, err)
		    : error_nomem(err);
	free(packs);
	odb_midx_close(om);
	return ret;
}
