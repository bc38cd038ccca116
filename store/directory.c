/* SPDX-License-Identifier: MIT */
/* A store in a directory: see store/open.h for the files. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/strlist.h"
#include "object/hash.h"
#include "store/open.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "sys/rangelock.h"
#include "sys/tempfile.h"

/*
 * seconds after which an incomplete file is removed, because its writer has
 * died
 */
#define TEMPORARY_AGE 86400

/* number of bytes that are read from a file at once */
#define BLOCK_LEN ((size_t)256 << 10)

struct directory {
	struct filestore store;
	char *root; /* owned */
};

static const struct directory *of_store(const struct filestore *store)
{
	return (const struct directory *)store;
}

static int make_path(struct buf *out, const struct filestore *store,
		     const char *name, struct error *err)
{
	return buf_printf(out, "%s/%s", of_store(store)->root, name) < 0
		       ? error_nomem(err)
		       : 0;
}

/* Writes the entity tag of the bytes that were hashed. Releases *hash. */
static void finish_etag(char *etag, struct hash_ctx *hash)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;

	hash_final(hash, &oid);
	hash_release(hash);
	oid_to_hex(hex, &oid, HASH_SHA256);
	snprintf(etag, STORE_ETAG_MAX + 1, "\"%s\"", hex);
}

static int make_etag(char *etag, const void *bytes, size_t len,
		     struct error *err)
{
	struct hash_ctx hash;

	if (hash_init(&hash, HASH_SHA256) < 0)
		return error_nomem(err);
	hash_update(&hash, bytes, len);
	finish_etag(etag, &hash);
	return 0;
}

/* ---- reading */

/*
 * Returns 0 if the root directory of the store exists, otherwise
 * STORE_UNAVAILABLE. The root may be missing because its file system is not
 * mounted.
 */
static int find_root(const struct filestore *store, struct error *err)
{
	const char *root = of_store(store)->root;
	struct buf path = BUF_INIT;
	int ret = make_path(&path, store, ".tmp", err);

	if (!ret && !sys_exists(path.data)) {
		error_set(err, ERR_IO,
			  "'%s' is not a store, or its file system is not "
			  "mounted",
			  root);
		ret = STORE_UNAVAILABLE;
	}
	buf_release(&path);
	return ret;
}

/*
 * Returns the result for a file that does not exist: STORE_ABSENT if the root
 * of the store exists, otherwise the result of find_root().
 */
static int absent(const struct filestore *store, struct error *err)
{
	int ret = find_root(store, err);

	return ret ? ret : STORE_ABSENT;
}

/*
 * Gives `len` bytes of a file, from `off` on, to the sink in blocks. The file
 * is not mapped: another node may remove or truncate the file of a network file
 * system, and the access to a mapped page would then kill this process. Returns
 * 0, ERR_IO (also if the file has become too short), ERR_NOMEM, or the result
 * of the sink.
 */
static int read_blocks(int fd, uint64_t off, uint64_t len,
		       const struct filestore_sink *sink, const char *path,
		       struct error *err)
{
	size_t size = len < BLOCK_LEN ? (size_t)len : BLOCK_LEN;
	uint8_t *block = mem_alloc(size, 1);
	int ret = block ? 0 : error_nomem(err);

	while (!ret && len) {
		size_t n = len < size ? (size_t)len : size;

		ret = sys_read_at(fd, block, n, off, path, err);
		if (!ret)
			ret = sink->write(sink->ctx, block, n, err);
		off += n;
		len -= n;
	}
	free(block);
	return ret;
}

static int hash_block(void *ctx, const void *bytes, size_t len,
		      struct error *err)
{
	(void)err;
	hash_update(ctx, bytes, len);
	return 0;
}

static int read_etag(char *etag, int fd, uint64_t len, const char *path,
		     struct error *err)
{
	struct hash_ctx hash;
	const struct filestore_sink sink = {hash_block, &hash};
	int ret;

	if (hash_init(&hash, HASH_SHA256) < 0)
		return error_nomem(err);
	ret = read_blocks(fd, 0, len, &sink, path, err);
	finish_etag(etag, &hash);
	return ret;
}

/*
 * Opens a file and fills *info. The entity tag is computed only if `tag` is
 * set. Returns 0, STORE_ABSENT, ERR_IO or ERR_NOMEM. The caller closes *fd in
 * any case.
 */
static int open_file(int *fd, struct filestore_info *info, bool tag,
		     const char *path, struct error *err)
{
	struct sys_stat st;

	*fd = sys_open_file(&st, path, err);
	if (*fd < 0)
		return *fd == ERR_MISSING ? STORE_ABSENT : *fd;
	memset(info, 0, sizeof(*info));
	info->size = st.size;
	info->mtime = st.mtime_ns / 1000000000;
	return tag ? read_etag(info->etag, *fd, info->size, path, err) : 0;
}

static int read_file(struct filestore *store, struct filestore_info *info,
		     const struct filestore_sink *sink, const char *name,
		     uint64_t off, uint64_t len, struct error *err)
{
	bool whole = !off && len == STORE_TO_END;
	struct buf path = BUF_INIT;
	struct filestore_info found;
	int fd = -1, ret = make_path(&path, store, name, err);

	if (!ret)
		ret = open_file(&fd, &found, whole && info, path.data, err);
	if (ret == STORE_ABSENT)
		ret = absent(store, err);
	if (ret)
		goto out;
	if (len == STORE_TO_END && off <= found.size)
		len = found.size - off;
	if (off > found.size || len > found.size - off) {
		ret = error_set(err, ERR_INVALID,
				"'%s' ends before the requested range", name);
		goto out;
	}
	if (info)
		*info = found;
	ret = read_blocks(fd, off, len, sink, path.data, err);
out:
	sys_close(fd);
	buf_release(&path);
	return ret;
}

/* Returns the time by the clock of the file system, or 0 if it is unknown. */
static int64_t read_clock(const struct filestore *store)
{
	struct buf path = BUF_INIT;
	struct sys_stat st = {0};
	int ret = make_path(&path, store, ".tmp", NULL);

	if (!ret)
		ret = sys_touch(path.data, NULL);
	if (!ret)
		ret = sys_stat(&st, path.data, NULL);
	buf_release(&path);
	return ret ? 0 : st.mtime_ns / 1000000000;
}

static int head_file(struct filestore *store, struct filestore_info *info,
		     const char *name, struct error *err)
{
	struct buf path = BUF_INIT;
	int fd = -1, ret = make_path(&path, store, name, err);

	if (!ret)
		ret = open_file(&fd, info, true, path.data, err);
	if (ret == STORE_ABSENT)
		ret = absent(store, err);
	if (!ret)
		info->now = read_clock(store);
	sys_close(fd);
	buf_release(&path);
	return ret;
}

/* ---- locks of names */

static int lock_name(const struct filestore *store, const char *name,
		     struct error *err)
{
	struct buf path = BUF_INIT;
	uint32_t nr = 0;
	int fd, ret = make_path(&path, store, ".lock", err);

	if (ret < 0)
		return ret;
	/*
	 * Two names may get the same lock number. The writers of these names
	 * then wait for each other, which does no harm.
	 */
	for (const char *p = name; *p; p++)
		nr = nr * 31 + (unsigned char)*p;
	/*
	 * Open the file ".lock" anew for each lock, so that the locks also
	 * exclude threads of this process.
	 */
	fd = sys_rangelock_open(path.data, err);
	buf_release(&path);
	if (fd < 0)
		return fd;
	ret = sys_rangelock_take(fd, nr & 0x7fffffff, false, true, err);
	if (!ret)
		return fd;
	sys_close(fd);
	return ret;
}

/* ---- writing */

/*
 * Makes the entry of a file durable, and the entries of the directories that
 * contain the file. `path` is modified.
 */
static int sync_path(const struct filestore *store, char *path,
		     struct error *err)
{
	size_t root_len = strlen(of_store(store)->root);
	char *slash;

	while ((slash = strrchr(path, '/')) && slash >= path + root_len) {
		int ret;

		*slash = '\0';
		ret = sys_sync_dir(path, err);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int make_directory(const struct filestore *store, char *path,
			  struct error *err)
{
	char *slash = strrchr(path, '/');
	int ret;

	*slash = '\0';
	ret = sys_mkdir_p(path, err);
	*slash = '/';
	return ret;
}

static int write_temporary(struct sys_tempfile *tf,
			   const struct filestore *store, const void *bytes,
			   size_t len, struct error *err)
{
	struct buf dir = BUF_INIT;
	int ret = make_path(&dir, store, ".tmp", err);

	if (!ret)
		ret = sys_tempfile_create(tf, dir.data, "file-", 0666, err);
	if (!ret)
		ret = sys_tempfile_write(tf, bytes, len, err);
	if (!ret)
		ret = sys_tempfile_finish(tf, SYS_FSYNC_FSYNC, err);
	buf_release(&dir);
	return ret;
}

/*
 * Gives a temporary file its final name if the name is free. Returns 0,
 * STORE_CONFLICT if the name is taken, or a negative error code.
 */
static int place_new(struct sys_tempfile *tf, const char *path,
		     struct error *err)
{
	int ret = sys_link_new(tf->path, path, err);

	return ret > 0 ? STORE_CONFLICT : ret;
}

/*
 * Checks the condition of STORE_REPLACE. Returns 0 if the file has the entity
 * tag, STORE_CONFLICT if it has another one or does not exist, or a negative
 * error code.
 */
static int check_etag(const char *path, const char *etag, struct error *err)
{
	struct filestore_info info;
	int fd, ret = open_file(&fd, &info, true, path, err);

	sys_close(fd);
	if (ret)
		return ret == STORE_ABSENT ? STORE_CONFLICT : ret;
	return strcmp(info.etag, etag) ? STORE_CONFLICT : 0;
}

static int place_over(struct sys_tempfile *tf, struct filestore *store,
		      const char *name, const char *path,
		      const struct filestore_condition *condition,
		      struct error *err)
{
	int lock = lock_name(store, name, err), ret = 0;

	if (lock < 0)
		return lock;
	if (condition->kind == STORE_REPLACE)
		ret = check_etag(path, condition->etag, err);
	if (!ret)
		ret = sys_tempfile_commit(tf, path, SYS_FSYNC_NONE, err);
	sys_close(lock);
	return ret;
}

static int put_file(struct filestore *store, char *etag, const char *name,
		    const void *bytes, size_t len,
		    const struct filestore_condition *condition,
		    struct error *err)
{
	struct sys_tempfile tf = SYS_TEMPFILE_INIT;
	struct buf path = BUF_INIT;
	int ret = find_root(store, err);

	if (!ret)
		ret = make_path(&path, store, name, err);
	if (!ret)
		ret = make_directory(store, path.data, err);
	if (!ret)
		ret = make_etag(etag, bytes, len, err);
	if (!ret)
		ret = write_temporary(&tf, store, bytes, len, err);
	if (!ret && condition->kind == STORE_CREATE)
		ret = place_new(&tf, path.data, err);
	else if (!ret)
		ret = place_over(&tf, store, name, path.data, condition, err);
	/*
	 * Sync the directory of the file. If this fails, a power loss may
	 * remove the new name, so the result is STORE_AMBIGUOUS. After
	 * STORE_CONFLICT, sync the directory, too: the put that made the file
	 * may have failed to sync it, and the caller may rely on the file.
	 */
	if ((!ret || ret == STORE_CONFLICT) &&
	    sync_path(store, path.data, err) < 0)
		ret = STORE_AMBIGUOUS;
	if (ret)
		*etag = '\0';
	sys_tempfile_abort(&tf);
	buf_release(&path);
	return ret;
}

static int delete_file(struct filestore *store, const char *name,
		       struct error *err)
{
	struct buf path = BUF_INIT;
	int lock, ret = find_root(store, err);

	if (!ret)
		ret = make_path(&path, store, name, err);
	if (ret)
		goto out;
	lock = lock_name(store, name, err);
	ret = lock < 0 ? lock : sys_unlink(path.data, err);
	sys_close(lock);
	if (ret < 0)
		goto out;
	/*
	 * If the directory of the file does not exist, there is nothing to
	 * sync.
	 */
	*strrchr(path.data, '/') = '\0';
	if (sys_exists(path.data) && sys_sync_dir(path.data, err) < 0)
		ret = STORE_AMBIGUOUS;
out:
	buf_release(&path);
	return ret;
}

/* ---- listing */

/* The names of files in the store that start with a prefix. */
struct names {
	const struct filestore *store;
	const char *prefix; /* borrowed */
	/* borrowed: names up to this one are left out; NULL: all stay */
	const char *after;
	struct strlist found; /* owned */
	/* name of the directory that is read, with its slash */
	struct buf dir;
	struct error *err;
};

static int read_directory(struct names *n);

static int note_name(struct names *n, const char *name)
{
	return strlist_add(&n->found, name) < 0 ? error_nomem(n->err) : 0;
}

static int append_name(struct names *n, const char *text)
{
	return buf_append_str(&n->dir, text) < 0 ? error_nomem(n->err) : 0;
}

/*
 * Returns whether earlier pages have listed the file `name`, or all files below
 * the directory `name`. `after` is the last name that they have listed.
 */
static bool is_listed(const char *name, const char *after)
{
	size_t len = strlen(name);
	int cmp = strncmp(name, after, len);

	/*
	 * If `name` is a directory, a slash follows `name` in the names of its
	 * files. So if `after` begins with `name`, compare the slash with the
	 * next byte of `after`.
	 */
	return cmp < 0 || (!cmp && after[len] > '/');
}

/*
 * Handles one entry of the directory n->dir: reads a directory, or notes a file
 * whose name starts with the prefix. Entries that earlier pages have listed are
 * skipped without a look-up. So in a large directory, listing one page does not
 * look up all entries.
 */
static int add_entry(void *ctx, const char *entry)
{
	struct names *n = ctx;
	struct buf path = BUF_INIT;
	struct sys_stat st;
	size_t before = n->dir.len, common;
	int ret = append_name(n, entry);

	if (!ret)
		ret = make_path(&path, n->store, n->dir.data, n->err);
	common = strlen(n->prefix);
	if (n->dir.len < common)
		common = n->dir.len;
	if (ret < 0 || entry[0] == '.' || n->dir.len > STORE_NAME_MAX ||
	    strncmp(n->dir.data, n->prefix, common) ||
	    (n->after && is_listed(n->dir.data, n->after)) ||
	    sys_stat(&st, path.data, NULL) < 0)
		/*
		 * Skip entries without the prefix, temporary files, and entries
		 * that were removed meanwhile.
		 */
		goto out;
	if (st.is_dir) {
		ret = append_name(n, "/");
		if (!ret)
			ret = read_directory(n);
	} else if (st.is_file &&
		   !strncmp(n->dir.data, n->prefix, strlen(n->prefix))) {
		ret = note_name(n, n->dir.data);
	}
out:
	buf_set_len(&n->dir, before);
	buf_release(&path);
	return ret;
}

static int read_directory(struct names *n)
{
	struct buf path = BUF_INIT;
	int ret = make_path(&path, n->store, n->dir.data, n->err);

	if (!ret)
		ret = sys_dir_each(path.data, add_entry, n, n->err);
	buf_release(&path);
	return ret == ERR_MISSING ? 0 : ret;
}

static int add_page_entry(struct filestore *store, struct filestore_page *page,
			  const char *name, struct error *err)
{
	struct filestore_info info = {0};
	struct buf path = BUF_INIT;
	struct sys_stat st;
	int ret = make_path(&path, store, name, err);

	if (!ret && !sys_stat(&st, path.data, NULL)) {
		info.size = st.size;
		info.mtime = st.mtime_ns / 1000000000;
		if (filestore_page_add(page, name, &info) < 0)
			ret = error_nomem(err);
	}
	buf_release(&path);
	return ret;
}

/* Fills the page with the found names that follow n->after, sorted. */
static int fill_page(struct filestore *store, struct filestore_page *page,
		     struct names *n, size_t limit, struct error *err)
{
	const struct strlist *found = &n->found;
	size_t i = 0, end;
	int ret = 0;

	strlist_sort(&n->found);
	while (n->after && i < found->nr &&
	       strcmp(found->items[i], n->after) <= 0)
		i++;
	end = found->nr - i > limit ? i + limit : found->nr;
	for (; !ret && i < end; i++)
		ret = add_page_entry(store, page, found->items[i], err);
	if (ret || end == found->nr)
		return ret;
	page->next = mem_strdup(found->items[end - 1]);
	return page->next ? 0 : error_nomem(err);
}

static int list_files(struct filestore *store, struct filestore_page *page,
		      const char *prefix, size_t limit, struct error *err)
{
	const char *slash = strrchr(prefix, '/');
	char *after = page->next;
	struct names n = {
		.store = store,
		.prefix = prefix,
		.after = after,
		.found = STRLIST_INIT,
		.dir = BUF_INIT,
		.err = err,
	};
	int ret = find_root(store, err);

	page->next = NULL;
	if (!ret && slash &&
	    buf_append(&n.dir, prefix, (size_t)(slash - prefix) + 1) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = read_directory(&n);
	if (!ret)
		ret = fill_page(store, page, &n, limit, err);
	strlist_release(&n.found);
	free(after);
	buf_release(&n.dir);
	return ret;
}

/* ---- opening */

static int no_url(struct filestore *store, struct buf *url, const char *name,
		  unsigned seconds, struct error *err)
{
	return error_set(err, ERR_UNSUPPORTED,
			 "a store in a directory has no URLs");
}

static void close_directory(struct filestore *store)
{
	struct directory *d = (struct directory *)store;

	free(d->root);
	free(d);
}

static const struct filestore_ops directory_ops = {
	.read = read_file,
	.head = head_file,
	.put = put_file,
	.list = list_files,
	.delete = delete_file,
	.presign = no_url,
	.close = close_directory,
};

static int remove_if_old(void *ctx, const char *entry)
{
	const char *dir = ctx;
	struct buf path = BUF_INIT;
	struct sys_stat st;

	if (!buf_printf(&path, "%s/%s", dir, entry) &&
	    !sys_stat(&st, path.data, NULL) && st.is_file &&
	    st.mtime_ns / 1000000000 < sys_clock_seconds() - TEMPORARY_AGE)
		sys_unlink(path.data, NULL);
	buf_release(&path);
	return 0;
}

static int prepare_root(struct directory *d, bool may_make, struct error *err)
{
	struct buf path = BUF_INIT;
	struct sys_stat st;
	bool is_new = sys_stat(&st, d->root, NULL) < 0;
	int ret;

	if (!is_new && !st.is_dir)
		return error_set(err, ERR_INVALID, "'%s' is not a directory",
				 d->root);
	ret = may_make ? 0 : find_root(&d->store, err);
	if (ret == STORE_UNAVAILABLE)
		return ERR_IO;
	if (!ret)
		ret = make_path(&path, &d->store, ".tmp", err);
	if (!ret && may_make)
		ret = sys_mkdir_p(path.data, err);
	if (!ret)
		ret = sys_dir_each(path.data, remove_if_old, path.data, err);
	/*
	 * If the root is new, directories above it may be new, too, so they are
	 * synced.
	 */
	if (!ret && is_new)
		ret = sys_sync_file_system(d->root, err);
	buf_release(&path);
	return ret;
}

static int open_directory(struct filestore **out, const char *root,
			  bool may_make, struct error *err)
{
	struct directory *d = mem_calloc(1, sizeof(*d));
	int ret;

	*out = NULL;
	if (!d)
		return error_nomem(err);
	d->store.ops = &directory_ops;
	d->root = mem_strdup(root);
	ret = d->root ? prepare_root(d, may_make, err) : error_nomem(err);
	if (ret < 0)
		close_directory(&d->store);
	else
		*out = &d->store;
	return ret;
}

int store_directory_open(struct filestore **out, const char *root,
			 struct error *err)
{
	return open_directory(out, root, false, err);
}

int store_directory_make(struct filestore **out, const char *root,
			 struct error *err)
{
	return open_directory(out, root, true, err);
}
