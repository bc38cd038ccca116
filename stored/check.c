/* SPDX-License-Identifier: MIT */
/* Checks a repository in a store. */
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "generations/names.h"
#include "object/hash.h"
#include "stored/check.h"
#include "stored/fetch.h"
#include "stored/layout.h"
#include "stored/offer-list.h"
#include "stored/side.h"
#include "sys/io.h"
#include "sys/map.h"
#include "sys/tempdir.h"

struct checking {
	const struct generation_place *place;
	const struct stored_check *how;
	struct stored_check_report *report;
	struct error *err; /* not NULL */
	/*
	 * true: a file was missing or wrong. The check of the repository as a
	 * whole is then left out, because it needs all files.
	 */
	bool lacks_files;
	/*
	 * the error of a file that could not be read; the code is 0 if all
	 * files were read
	 */
	struct error unread;
	/* protects `report`, the fields above, and calls of how->wrong() */
	pthread_mutex_t lock;
};

static void wrong(struct checking *c, const char *what)
{
	c->report->wrong_nr++;
	c->how->wrong(c->how->ctx, what);
}

/* ---- the files */

/* A file of the newest generation. */
struct expected {
	char *name; /* owned: name in the store */
	const struct generation_file *file;
	/* true: the listing of the store has the file */
	bool is_seen;
};

struct listing {
	struct checking *c;
	struct expected *files; /* owned, sorted by name */
	size_t nr;
};

static int cmp_name(const void *a, const void *b)
{
	return strcmp(((const struct expected *)a)->name,
		      ((const struct expected *)b)->name);
}

/* Reports a problem, formatted like printf(). Returns 0 or ERR_NOMEM. */
static int tell(struct checking *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static int tell(struct checking *c, const char *fmt, ...)
{
	struct buf what = BUF_INIT;
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = buf_vprintf(&what, fmt, ap);
	va_end(ap);
	if (!ret)
		wrong(c, what.data);
	buf_release(&what);
	return ret < 0 ? error_nomem(c->err) : 0;
}

static int note_entry(void *ctx, const struct filestore_entry *entry,
		      struct error *err)
{
	const struct listing *l = ctx;
	const struct expected key = {.name = entry->name};
	struct expected *x = bsearch(&key, l->files, l->nr, sizeof(*l->files),
				     cmp_name);

	(void)err;
	if (!x)
		return 0;
	x->is_seen = true;
	if (entry->info.size == x->file->size)
		return 0;
	return tell(l->c,
		    "'%s' has %" PRIu64 " bytes in the store, but %" PRIu64
		    " in its generation",
		    x->file->path, entry->info.size, x->file->size);
}

static int name_files(struct listing *l, const struct generation *g)
{
	l->files = mem_calloc(g->file_nr, sizeof(*l->files));
	if (!l->files)
		return error_nomem(l->c->err);
	for (; l->nr < g->file_nr; l->nr++) {
		struct buf name = BUF_INIT;
		int ret = generation_file_name(&name, l->c->place->repository,
					       &g->files[l->nr], l->c->err);

		if (ret) {
			buf_release(&name);
			return ret;
		}
		l->files[l->nr].name = buf_detach(&name, NULL);
		l->files[l->nr].file = &g->files[l->nr];
	}
	qsort(l->files, l->nr, sizeof(*l->files), cmp_name);
	return 0;
}

/*
 * Compares the files of the generation with a listing of the store, which costs
 * fewer requests than looking up each file.
 */
static int check_files(struct checking *c, const struct generation *g)
{
	struct listing l = {.c = c};
	struct buf prefix = BUF_INIT;
	int ret = generation_file_prefix(&prefix, c->place->repository, c->err);

	if (!ret)
		ret = name_files(&l, g);
	if (!ret)
		ret = stored_result(filestore_list_each(c->place->store,
							prefix.data, note_entry,
							&l, c->err),
				    prefix.data, c->err);
	for (size_t i = 0; i < l.nr; i++) {
		if (!ret && !l.files[i].is_seen)
			ret = tell(c, "'%s' is not in the store",
				   l.files[i].file->path);
		free(l.files[i].name);
	}
	free(l.files);
	buf_release(&prefix);
	return ret;
}

/* ---- the records */

/*
 * Reads a record into *g, and its hash into `sha256`. *g must be zeroed.
 * Returns 0, STORE_ABSENT, or a negative error code.
 */
static int read_record(struct checking *c, struct generation *g,
		       uint8_t *sha256, uint64_t number)
{
	struct buf name = BUF_INIT, bytes = BUF_INIT;
	struct hash_ctx hash = {0};
	struct oid oid;
	int ret = generation_record_name(&name, c->place->repository, number,
					 c->err);

	if (!ret)
		ret = filestore_get(c->place->store, &bytes, NULL, name.data,
				    GENERATION_RECORD_MAX, c->err);
	if (!ret)
		ret = generation_parse(g, bytes.data, bytes.len, name.data,
				       c->err);
	if (!ret && hash_init(&hash, HASH_SHA256) < 0)
		ret = error_nomem(c->err);
	if (!ret) {
		hash_update(&hash, bytes.data, bytes.len);
		hash_final(&hash, &oid);
		memcpy(sha256, oid.bytes, GENERATION_SHA256_LEN);
	}
	if (ret)
		generation_release(g);
	hash_release(&hash);
	buf_release(&name);
	buf_release(&bytes);
	return ret == STORE_ABSENT ? ret
				   : stored_result(ret, "a record", c->err);
}

static int tell_record(struct checking *c, uint64_t number, const char *why)
{
	return tell(c, "generation %" PRIu64 ": %s", number, why);
}

/*
 * Checks the parent record of *g, and then replaces *g by the parent. Returns 1
 * if there is a parent, 0 if the chain ends, or a negative error code.
 */
static int check_parent(struct checking *c, struct generation *g)
{
	uint8_t sha256[GENERATION_SHA256_LEN];
	struct generation parent = {0};
	uint64_t number = g->number - 1;
	int ret = read_record(c, &parent, sha256, number);

	if (ret == STORE_ABSENT)
		return tell_record(c, number, "the record is missing");
	if (ret == ERR_CORRUPT || ret == ERR_UNSUPPORTED)
		return tell_record(c, number, c->err->msg);
	if (ret)
		return ret;
	c->report->generation_nr++;
	if (parent.number != number)
		ret = tell_record(
			c, number,
			"the record has the number of another generation");
	/*
	 * The hash of a retired record differs from that of the record that it
	 * replaced, so do not compare it.
	 */
	else if (!parent.is_retired &&
		 memcmp(sha256, g->parent, GENERATION_SHA256_LEN) != 0)
		ret = tell_record(c, g->number,
				  "the record has a wrong hash of its parent");
	generation_release(g);
	*g = parent;
	return ret ? ret : !g->is_retired;
}

static int check_chain(struct checking *c, struct generation *g)
{
	int ret = 1;

	while (ret > 0 && g->number > 1)
		ret = check_parent(c, g);
	return ret < 0 ? ret : 0;
}

/* ---- the content */

/*
 * Downloads a file of the generation. If the file is missing or wrong, reports
 * this as a problem and returns 0, so that the other files are downloaded, too.
 */
static int fetch_file(void *ctx, const struct generation_file *file,
		      const char *path, struct error *err)
{
	struct checking *c = ctx;
	struct error why = ERROR_INIT;
	int ret = stored_fetch(c->place, file, path, SYS_FSYNC_NONE, &why);

	if (ret == ERR_CORRUPT || ret == ERR_MISSING) {
		pthread_mutex_lock(&c->lock);
		wrong(c, why.msg);
		c->lacks_files = true;
		pthread_mutex_unlock(&c->lock);
		return 0;
	}
	if (ret) {
		pthread_mutex_lock(&c->lock);
		if (!c->unread.code)
			c->unread = why;
		pthread_mutex_unlock(&c->lock);
	}
	if (ret && err)
		*err = why;
	return ret;
}

/*
 * Returns whether an error code means that a file is missing or has wrong
 * content. With any other code, the file may be right but could not be read.
 */
static bool is_problem(int ret)
{
	return ret == ERR_CORRUPT || ret == ERR_UNSUPPORTED ||
	       ret == ERR_MISSING || ret == ERR_INVALID;
}

static int check_laid_out(struct checking *c, const char *dir)
{
	int ret = stored_check_objects(dir, c->how, c->err);

	c->report->wrong_nr += ret > 0 ? (uint64_t)ret : 0;
	return ret < 0 ? ret : 0;
}

/*
 * Checks the side bundle: one file of the generation with the content of its
 * small files (stored/side.h). A reader downloads this file in place of the
 * small files. The directory that was made from the generation does not have
 * the side bundle. So the checks of this directory do not read it.
 */
static int check_bundle(struct checking *c, const struct generation *g,
			const char *dir)
{
	const struct generation_file *file = generation_find_file(
		g, STORED_SIDE_PATH);
	char *path = file ? stored_join(dir, "side-files", c->err) : NULL;
	struct stored_side side = {0};
	struct sys_map map;
	int ret = !file  ? 0
		  : path ? fetch_file(c, file, path, c->err)
			 : ERR_NOMEM;

	if (!file || ret || !sys_exists(path)) {
		free(path);
		return ret;
	}
	ret = sys_map_open(&map, path, c->err);
	if (!ret) {
		ret = stored_side_parse(&side, map.data, map.len, c->err);
		if (!ret)
			ret = stored_side_verify(&side, c->err);
		if (is_problem(ret))
			ret = tell(c, "%s", c->err->msg);
		stored_side_release(&side);
		sys_map_close(&map);
	}
	free(path);
	return ret;
}

/*
 * Checks the published packs. Other checks do not see these files, because they
 * are not a part of the repository's directory.
 */
static int check_published(struct checking *c, const struct generation *g,
			   const char *dir)
{
	char *path = stored_join(dir, "published", c->err);
	int ret = path ? 0 : ERR_NOMEM;

	for (size_t i = 0; !ret && i < g->file_nr; i++) {
		if (!stored_offer_is_remote(g->files[i].path))
			continue;
		ret = fetch_file(c, &g->files[i], path, c->err);
		if (!ret)
			ret = sys_unlink(path, c->err);
	}
	free(path);
	return ret;
}

static int check_content(struct checking *c, const struct generation *g)
{
	const struct stored_layout how = {
		.put = fetch_file,
		.ctx = c,
		.threads = STORED_THREADS,
		.method = SYS_FSYNC_NONE,
	};
	struct sys_tempdir td = SYS_TEMPDIR_INIT;
	int ret = sys_tempdir_create(&td, c->how->tmp, "gitreach-verify-",
				     c->err);

	if (ret)
		return ret;
	ret = check_bundle(c, g, td.path);
	if (!ret)
		ret = check_published(c, g, td.path);
	if (!ret)
		ret = stored_layout_make(td.path, g, &how, c->err);
	if (c->unread.code) {
		ret = c->unread.code;
		*c->err = c->unread;
	} else if (c->lacks_files && ret != ERR_NOMEM) {
		/*
		 * The files that are missing or wrong were reported already.
		 * The rest of the repository cannot be checked without these
		 * files.
		 */
		ret = 0;
	} else {
		if (!ret)
			ret = check_laid_out(c, td.path);
		if (is_problem(ret))
			ret = tell(c, "%s", c->err->msg);
	}
	sys_tempdir_release(&td);
	return ret;
}

int stored_check_run(struct stored_check_report *report,
		     const struct generation_place *place,
		     const struct stored_check *how, struct error *err)
{
	struct error own = ERROR_INIT;
	struct checking c = {
		.place = place,
		.how = how,
		.report = report,
		.err = err ? err : &own,
		.unread = ERROR_INIT,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	struct generation g = {0};
	int ret = stored_result(generation_newest(&g, place, 0, c.err),
				place->repository, c.err);

	*report = (struct stored_check_report){0};
	if (ret == ERR_CORRUPT || ret == ERR_UNSUPPORTED)
		return tell(&c, "%s", c.err->msg);
	if (!ret) {
		report->number = g.number;
		report->generation_nr = 1;
		report->file_nr = g.file_nr;
		for (size_t i = 0; i < g.file_nr; i++)
			report->bytes += g.files[i].size;
		ret = check_files(&c, &g);
	}
	if (!ret && how->full && !report->wrong_nr)
		ret = check_content(&c, &g);
	if (!ret)
		ret = check_chain(&c, &g);
	generation_release(&g);
	return ret;
}
