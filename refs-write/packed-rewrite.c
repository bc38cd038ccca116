/* SPDX-License-Identifier: MIT */
/*
 * Merges edits into packed-refs.
 *
 * The lock file is separate from the new file and is never renamed. A deletion
 * keeps the lock until the ref's loose file is removed too. If the lock were
 * released before, another process could pack the loose file again.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "refs-write/packed-rewrite.h"
#include "sys/io.h"
#include "sys/lockfile.h"

#define DEFAULT_TIMEOUT_MS 1000
#define OUT_BYTES ((size_t)1 << 16)

static int lock_file(struct packed_rewrite *rw, const struct repo *repo,
		     struct error *err)
{
	int64_t timeout_ms = DEFAULT_TIMEOUT_MS;
	char *path = repo_refs_common_path(repo, "packed-refs");
	int ret;

	if (!path)
		return error_nomem(err);
	ret = config_i64(&repo->config, "core.packedrefstimeout", &timeout_ms,
			 err);
	if (ret >= 0)
		ret = sys_lockfile_follow(&rw->lock, &rw->path, path,
					  0666 | repo->share, timeout_ms, err);
	free(path);
	return ret;
}

int packed_rewrite_begin(struct packed_rewrite *rw, const struct repo *repo,
			 struct error *err)
{
	int ret;

	*rw = (struct packed_rewrite){
		.repo = repo,
		.old = PACKED_REFS_INIT,
		.lock = SYS_TEMPFILE_INIT,
		.file = SYS_TEMPFILE_INIT,
		.out = BUF_INIT,
	};
	ret = lock_file(rw, repo, err);
	if (!ret)
		ret = repo_fsync_method(repo, REPO_FSYNC_PACKED_REFS,
					&rw->method, err);
	if (!ret)
		ret = packed_refs_open(&rw->old, rw->path, repo->algo, err);
	if (ret < 0)
		packed_rewrite_release(rw);
	rw->peeled = rw->old.peeled;
	rw->fully_peeled = rw->old.fully_peeled;
	rw->is_proved = rw->old.is_proved;
	return ret;
}

void packed_rewrite_promise_peeled(struct packed_rewrite *rw)
{
	rw->peeled = rw->fully_peeled = rw->is_proved = true;
}

void packed_rewrite_promise_no_more(struct packed_rewrite *rw)
{
	rw->peeled = !rw->old.len || rw->old.peeled;
	rw->fully_peeled = !rw->old.len || rw->old.fully_peeled;
	rw->is_proved = false;
	rw->has_fewer_traits = rw->header_len != 0;
}

bool packed_rewrite_is_changed(const struct packed_rewrite *rw)
{
	return rw->file.path != NULL;
}

/*
 * Appends the header to `out`, at least `min_len` bytes long: a shorter header
 * gets spaces before its newline. Returns 0 or ERR_NOMEM.
 */
static int put_header(const struct packed_rewrite *rw, struct buf *out,
		      size_t min_len)
{
	int ret = buf_printf(out, "# pack-refs with:%s%s sorted%s ",
			     rw->peeled ? " peeled" : "",
			     rw->fully_peeled ? " fully-peeled" : "",
			     rw->is_proved ? " " PACKED_REFS_PROVED : "");

	while (!ret && out->len + 1 < min_len)
		ret = buf_append_char(out, ' ');
	return ret ? ret : buf_append_char(out, '\n');
}

static int flush(struct packed_rewrite *rw, struct error *err)
{
	int ret = sys_tempfile_write(&rw->file, rw->out.data, rw->out.len, err);

	buf_reset(&rw->out);
	return ret;
}

/*
 * Creates the file "packed-refs.new", if rw->file is not open yet. A file of
 * this name that a killed process left is removed first. Returns 0 or a
 * negative error code.
 */
static int start(struct packed_rewrite *rw, struct error *err)
{
	struct buf path = BUF_INIT;
	int ret;

	if (packed_rewrite_is_changed(rw))
		return 0;
	ret = repo_check_quarantine(rw->repo, err);
	if (ret < 0)
		return ret;
	if (buf_printf(&path, "%s.new", rw->path) < 0)
		return error_nomem(err);
	ret = sys_unlink(path.data, err);
	if (!ret)
		ret = sys_tempfile_create_exact(&rw->file, path.data,
						0666 | rw->repo->share, err);
	if (!ret && put_header(rw, &rw->out, 0) < 0)
		ret = error_nomem(err);
	rw->header_len = rw->out.len;
	buf_release(&path);
	return ret;
}

/*
 * Copies records of the old packed-refs file up to the offset `end`. Returns 0
 * or a negative error code.
 */
static int copy_until(struct packed_rewrite *rw, size_t end, struct error *err)
{
	size_t len = end - rw->copied;
	const char *from = rw->old.table + rw->copied;
	int ret = 0;

	rw->copied = end;
	if (len < OUT_BYTES) {
		if (buf_append(&rw->out, from, len) < 0)
			return error_nomem(err);
		return rw->out.len < OUT_BYTES ? 0 : flush(rw, err);
	}
	ret = flush(rw, err);
	return ret ? ret : sys_tempfile_write(&rw->file, from, len, err);
}

/*
 * Finds the record of a name. Records before it are [copied, *off), and the
 * record itself is [*off, *end). Returns 1 if there is such a record, 0 with
 * *end == *off if not, or ERR_CORRUPT. If the header wrongly says that the file
 * is sorted, a search can lead to a record that was copied already.
 */
static int go_to(struct packed_rewrite *rw, const char *name, size_t *off,
		 size_t *end, struct error *err)
{
	size_t len = strlen(name);
	struct packed_ref ref;
	int ret = packed_refs_seek(&rw->old, name, len, off, err);

	*end = *off;
	if (!ret && *off < rw->copied)
		return error_set(err, ERR_CORRUPT, "%s is not sorted",
				 rw->path);
	if (!ret)
		ret = packed_refs_next(&rw->old, end, &ref, err);
	if (ret <= 0)
		return ret;
	if (!packed_refs_name_cmp(ref.name, ref.name_len, name, len))
		return 1;
	*end = *off;
	return 0;
}

int packed_rewrite_delete(struct packed_rewrite *rw, const char *name,
			  struct error *err)
{
	size_t off, end;
	int ret = go_to(rw, name, &off, &end, err);

	if (ret <= 0)
		return ret;
	ret = start(rw, err);
	if (!ret)
		ret = copy_until(rw, off, err);
	rw->copied = end;
	return ret < 0 ? ret : 1;
}

int packed_rewrite_put(struct packed_rewrite *rw, const char *name,
		       const struct oid *oid, const struct oid *peeled,
		       struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	enum hash_algo algo = rw->repo->algo;
	size_t off, end;
	int ret = go_to(rw, name, &off, &end, err);

	if (ret >= 0)
		ret = start(rw, err);
	if (!ret)
		ret = copy_until(rw, off, err);
	if (ret < 0)
		return ret;
	rw->copied = end;
	if (buf_printf(&rw->out, "%s %s\n", oid_to_hex(hex, oid, algo), name))
		return error_nomem(err);
	if (peeled &&
	    buf_printf(&rw->out, "^%s\n", oid_to_hex(hex, peeled, algo)))
		return error_nomem(err);
	return rw->out.len < OUT_BYTES ? 0 : flush(rw, err);
}

/*
 * Writes the header again, after packed_rewrite_promise_no_more(). The header
 * keeps its length. Returns 0 or a negative error code.
 */
static int replace_header(struct packed_rewrite *rw, struct error *err)
{
	struct buf header = BUF_INIT;
	int ret = put_header(rw, &header, rw->header_len);

	ret = ret < 0 ? error_nomem(err)
		      : sys_tempfile_write_at(&rw->file, 0, header.data,
					      header.len, err);
	buf_release(&header);
	return ret;
}

int packed_rewrite_finish(struct packed_rewrite *rw, struct error *err)
{
	int ret;

	if (!packed_rewrite_is_changed(rw))
		return 0;
	ret = copy_until(rw, rw->old.len, err);
	if (!ret)
		ret = flush(rw, err);
	if (!ret && rw->has_fewer_traits)
		ret = replace_header(rw, err);
	return ret ? ret : sys_tempfile_finish(&rw->file, rw->method, err);
}

int packed_rewrite_commit(struct packed_rewrite *rw, struct error *err)
{
	if (!packed_rewrite_is_changed(rw))
		return 0;
	return sys_tempfile_commit(&rw->file, rw->path, rw->method, err);
}

void packed_rewrite_release(struct packed_rewrite *rw)
{
	sys_tempfile_abort(&rw->file);
	sys_tempfile_abort(&rw->lock);
	packed_refs_release(&rw->old);
	buf_release(&rw->out);
	free(rw->path);
	rw->path = NULL;
}
