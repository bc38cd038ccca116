/* SPDX-License-Identifier: MIT */
/* Tells whether files have changed since they were read. */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sys/io.h"
#include "sys/witness.h"

#define SECOND_NS INT64_C(1000000000)

/*
 * Two changes of a file within one tick of the file system's clock may get the
 * same time stamp. Most file systems tick every 10 ms or faster, so TICK_NS is
 * enough for them. If a time stamp has no fraction of a second, the file system
 * may store only whole seconds, or only even numbers of seconds. LONG_TICK_NS
 * applies in this case.
 */
#define TICK_NS (SECOND_NS / 10)
#define LONG_TICK_NS (3 * SECOND_NS)

/*
 * The attributes of a file from lstat() or stat(). If one of them differs
 * later, the file has changed.
 */
struct attributes {
	bool exists;
	uint64_t dev, ino, size;
	uint32_t mode, uid, gid;
	int64_t ctime_ns;
};

struct sys_witness_entry {
	char *path; /* owned */
	enum sys_witness_kind kind;
	struct attributes own;    /* of the path itself */
	struct attributes target; /* of a symlink's target */
	/*
	 * Only for SYS_WITNESS_LISTING: the names and attributes of the
	 * directory's files, in the order in which the system lists them.
	 *
	 * Empty if the directory had been unchanged for long when this entry
	 * was made. In this case, each later change gives the directory a
	 * different change time. So comparing the attributes of the directory
	 * itself (`own`) is enough.
	 */
	struct buf listing;
	/*
	 * true: the listing need not be compared again. When it was compared
	 * last, the directory had been unchanged for long. So any later change
	 * gives the directory a different change time.
	 */
	atomic_bool is_proven;
};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * SECOND_NS + t.tv_nsec;
}

/*
 * Copies the attributes from *s, which stat() or lstat() has filled. `ret` is
 * the return value of that call. Returns 0, or -1 if the attributes could not
 * be read.
 */
static int fill(struct attributes *a, const struct stat *s, int ret)
{
	memset(a, 0, sizeof(*a));
	if (ret < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
	*a = (struct attributes){
		.exists = true,
		.dev = s->st_dev,
		.ino = s->st_ino,
		.size = (uint64_t)s->st_size,
		.mode = s->st_mode,
		.uid = s->st_uid,
		.gid = s->st_gid,
		.ctime_ns = s->st_ctim.tv_sec * SECOND_NS + s->st_ctim.tv_nsec,
	};
	return 0;
}

static int examine(struct sys_witness_entry *entry)
{
	struct stat s;
	int ret = lstat(entry->path, &s);

	memset(&entry->target, 0, sizeof(entry->target));
	if (fill(&entry->own, &s, ret) < 0)
		return -1;
	if (!entry->own.exists || !S_ISLNK(entry->own.mode))
		return 0;
	ret = stat(entry->path, &s);
	return fill(&entry->target, &s, ret);
}

static bool is_same_file(const struct attributes *a, const struct attributes *b)
{
	return a->exists == b->exists && a->dev == b->dev && a->ino == b->ino &&
	       a->mode == b->mode && a->uid == b->uid && a->gid == b->gid;
}

static bool is_unchanged(const struct attributes *a, const struct attributes *b)
{
	return is_same_file(a, b) && a->size == b->size &&
	       a->ctime_ns == b->ctime_ns;
}

/*
 * Returns whether the file's last change was more than one tick of the file
 * system's clock before `since_ns`. Also returns true for a missing file.
 */
static bool is_settled(const struct attributes *a, int64_t since_ns)
{
	int64_t tick = a->ctime_ns % SECOND_NS ? TICK_NS : LONG_TICK_NS;

	return !a->exists || a->ctime_ns < since_ns - tick;
}

/*
 * Returns whether is_settled() is true for the path of the entry and, if the
 * path is a symlink, for its target.
 */
static bool has_settled(const struct sys_witness_entry *entry, int64_t since_ns)
{
	return is_settled(&entry->own, since_ns) &&
	       is_settled(&entry->target, since_ns);
}

/*
 * The context of listing a directory: its path, and the buffer for the listing.
 */
struct listing {
	const char *dir;
	struct buf *out;
};

static int list_one(void *ctx, const char *name)
{
	struct listing *l = ctx;
	struct buf path = BUF_INIT;
	struct attributes a;
	struct stat s;
	int ret = buf_printf(&path, "%s/%s", l->dir, name);

	if (!ret && fill(&a, &s, lstat(path.data, &s)) < 0)
		ret = ERR_IO;
	if (!ret)
		ret = buf_printf(l->out,
				 "%s/%" PRIu64 " %" PRIu64 " %" PRIu64
				 " %" PRId64 "\n",
				 name, a.dev, a.ino, a.size, a.ctime_ns);
	buf_release(&path);
	return ret;
}

/*
 * Appends the name and attributes of each file in the directory `dir` to *out.
 * Returns 0, also if there is no such directory, or a negative error code.
 */
static int list(struct buf *out, const char *dir)
{
	struct listing l = {dir, out};
	int ret = buf_append_char(out, '\n');

	if (!ret)
		ret = sys_dir_each(dir, list_one, &l, NULL);
	return ret == ERR_MISSING ? 0 : ret;
}

/*
 * Returns whether a directory has the same files as when it was added. The
 * caller must have found that the directory's own attributes are the same.
 */
static bool has_same_listing(struct sys_witness_entry *entry)
{
	int64_t begin_ns = now_ns();
	struct buf now = BUF_INIT;
	bool is_same;

	if (!entry->listing.len)
		return false;
	if (atomic_load(&entry->is_proven))
		return true;
	is_same = !list(&now, entry->path) && now.len == entry->listing.len &&
		  !memcmp(now.data, entry->listing.data, now.len);
	if (is_same && has_settled(entry, begin_ns))
		atomic_store(&entry->is_proven, true);
	buf_release(&now);
	return is_same;
}

static bool entry_holds(struct sys_witness_entry *entry, int64_t since_ns)
{
	struct sys_witness_entry now = {.path = entry->path};

	if (examine(&now) < 0)
		return false;
	if (entry->kind == SYS_WITNESS_IDENTITY)
		return is_same_file(&entry->own, &now.own) &&
		       is_same_file(&entry->target, &now.target);
	return is_unchanged(&entry->own, &now.own) &&
	       is_unchanged(&entry->target, &now.target) &&
	       (has_settled(entry, since_ns) || has_same_listing(entry));
}

void sys_witness_init(struct sys_witness *witness)
{
	*witness = (struct sys_witness){.since_ns = now_ns()};
}

static void release_entry(struct sys_witness_entry *entry)
{
	free(entry->path);
	buf_release(&entry->listing);
}

void sys_witness_release(struct sys_witness *witness)
{
	for (size_t i = 0; i < witness->nr; i++)
		release_entry(&witness->entries[i]);
	free(witness->entries);
	memset(witness, 0, sizeof(*witness));
}

static bool has_entry(const struct sys_witness *witness, const char *path,
		      enum sys_witness_kind kind)
{
	for (size_t i = 0; i < witness->nr; i++) {
		enum sys_witness_kind noted = witness->entries[i].kind;

		if ((noted == kind || (noted == SYS_WITNESS_LISTING &&
				       kind == SYS_WITNESS_CONTENT)) &&
		    !strcmp(witness->entries[i].path, path))
			return true;
	}
	return false;
}

/*
 * Stores the attributes of a file. If the kind is SYS_WITNESS_LISTING and the
 * directory has changed only a short time ago, also stores the names and
 * attributes of the directory's files. The reason: a further change soon after
 * the last one may leave the directory's change time (st_ctime) as it is. So
 * the change time alone does not show that change. Returns 0 or a negative
 * error code.
 */
static int note(struct sys_witness_entry *entry, int64_t since_ns)
{
	if (examine(entry) < 0)
		return ERR_IO;
	return entry->kind == SYS_WITNESS_LISTING &&
			       !has_settled(entry, since_ns)
		       ? list(&entry->listing, entry->path)
		       : 0;
}

void sys_witness_add(struct sys_witness *witness, const char *path,
		     enum sys_witness_kind kind)
{
	struct sys_witness_entry *entry;

	if (has_entry(witness, path, kind))
		return;
	if (mem_grow(&witness->entries, &witness->alloc, witness->nr + 1,
		     sizeof(*witness->entries)) < 0) {
		witness->is_void = true;
		return;
	}
	entry = &witness->entries[witness->nr];
	*entry = (struct sys_witness_entry){
		.path = mem_strdup(path), .kind = kind, .listing = BUF_INIT};
	if (!entry->path || note(entry, witness->since_ns) < 0) {
		release_entry(entry);
		witness->is_void = true;
		return;
	}
	witness->nr++;
}

bool sys_witness_holds(const struct sys_witness *witness)
{
	for (size_t i = 0; i < witness->nr; i++)
		if (!entry_holds(&witness->entries[i], witness->since_ns))
			return false;
	return !witness->is_void;
}

bool sys_witness_can_trust(const char *path)
{
	/*
	 * local file systems: ext2 to ext4, xfs, btrfs, zfs, tmpfs, ramfs,
	 * f2fs, overlay, bcachefs
	 */
	static const uint32_t local[] = {
		0xef53,     0x58465342, 0x9123683e, 0x2fc12fc1, 0x01021994,
		0x858458f6, 0xf2f52010, 0x794c7630, 0xca451a4e,
	};
	struct statfs fs;

	if (statfs(path, &fs) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_NR(local); i++)
		if ((uint32_t)fs.f_type == local[i])
			return true;
	return false;
}
