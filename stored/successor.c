/* SPDX-License-Identifier: MIT */
/*
 * Makes the next generation (version) of a repository in a store from the files
 * of a directory.
 */
#include <string.h>

#include "base/mem.h"
#include "stored/fetch.h"
#include "stored/layout.h"
#include "stored/side.h"
#include "stored/successor.h"
#include "sys/io.h"
#include "sys/thread.h"

#define NS_PER_SECOND UINT64_C(1000000000)

struct making {
	const struct generation_place *place;
	const struct stored_successor *how;
	struct generation *base; /* borrowed */
	/*
	 * owned: at first all files of the directory; compare() removes the
	 * files that need no upload
	 */
	struct generation_upload *files;
	size_t nr, alloc;
	/*
	 * owned array: the files of the base generation that the new generation
	 * drops; their paths are borrowed
	 */
	struct generation_file *drops;
	size_t drop_nr;
	/*
	 * Whether the new generation keeps the reftable of the base generation.
	 * It does so if the base generation has exactly one reftable and no
	 * updates of refs, and if this reftable is equal to the one in how->dir
	 * (the directory from which the new generation is made).
	 */
	bool same_refs;
	struct error *err;
};

/* ---- the files of the directory */

/* A directory below `dir` that is being listed. */
struct listing {
	struct making *m;
	/* name of the directory with a slash at the end, or "" */
	struct buf *name;
};

static int list_dir(struct making *m, struct buf *name);

/*
 * Adds a file of the directory to m->files, without its hash, which is computed
 * later.
 */
static int add_path(struct making *m, const char *name, uint64_t size)
{
	struct generation_upload upload = {
		.file.size = size,
		.file.is_executable = !strncmp(name, "hooks/", 6),
	};
	struct generation_upload *added;

	if (mem_grow(&m->files, &m->alloc, m->nr + 1, sizeof(*m->files)) < 0)
		return error_nomem(m->err);
	added = &m->files[m->nr++];
	*added = upload;
	added->file.path = mem_strdup(name);
	if (!added->file.path)
		return error_nomem(m->err);
	added->local_path = stored_join(m->how->dir, name, m->err);
	return added->local_path ? 0 : ERR_NOMEM;
}

static int add_file(struct making *m, const char *name,
		    const struct sys_stat *st)
{
	/* Skip files such as HEAD, which stored_layout_make() makes. */
	if (!stored_layout_allows(name) || stored_side_is(name))
		return 0;
	return add_path(m, name, st->size);
}

static int list_entry(void *ctx, const char *entry)
{
	const struct listing *l = ctx;
	struct buf *name = l->name;
	size_t len = name->len;
	struct sys_stat st;
	char *path = NULL;
	int ret = 0;

	if (*entry == '.')
		return 0;
	if (buf_append_str(name, entry) < 0)
		ret = error_nomem(l->m->err);
	if (!ret)
		path = stored_join(l->m->how->dir, name->data, l->m->err);
	if (!ret)
		ret = path ? sys_stat(&st, path, l->m->err) : ERR_NOMEM;
	if (!ret && st.is_file)
		ret = add_file(l->m, name->data, &st);
	if (!ret && st.is_dir)
		ret = buf_append_char(name, '/') < 0 ? error_nomem(l->m->err)
						     : list_dir(l->m, name);
	buf_set_len(name, len);
	free(path);
	return ret;
}

static int list_dir(struct making *m, struct buf *name)
{
	struct listing l = {m, name};
	char *path = stored_join(m->how->dir, name->data, m->err);
	int ret = path ? sys_dir_each(path, list_entry, &l, m->err) : ERR_NOMEM;

	free(path);
	return ret;
}

static int hash_file(void *ctx, unsigned thread_nr, size_t nr,
		     struct error *err)
{
	const struct making *m = ctx;
	struct generation_upload *upload = &m->files[nr];

	(void)thread_nr;
	return stored_describe(&upload->file, upload->local_path, err);
}

static int list_files(struct making *m)
{
	struct buf name = BUF_INIT;
	int ret = list_dir(m, &name);

	buf_release(&name);
	return ret ? ret
		   : sys_parallel(sys_cpu_nr(), m->nr, hash_file, m, m->err);
}

/*
 * Adds a side bundle to the files of the new generation. A side bundle
 * (stored/side.h) is one file with the content of the generation's small files,
 * such as .idx files and refs. With a side bundle, a reader needs one request
 * in place of one for each small file. The record lists the bundle after the
 * files that it contains. Does nothing if stored_side_write() writes no bundle.
 * Returns 0 or a negative error code.
 */
static int bundle(struct making *m)
{
	char *path = stored_join(m->how->dir, STORED_SIDE_PATH, m->err);
	int ret = path ? stored_side_write(path, m->files, m->nr, m->err)
		       : ERR_NOMEM;

	free(path);
	if (!ret)
		ret = add_path(m, STORED_SIDE_PATH, 0);
	if (!ret)
		ret = hash_file(m, 0, m->nr - 1, m->err);
	return ret > 0 ? 0 : ret;
}

/* ---- what the base has */

static bool is_table(const struct generation_file *file)
{
	return generation_path_is_table(file->path);
}

/*
 * Returns whether two files are the same: content, mode and path are equal. One
 * file is of the base generation (the generation from which the next one is
 * made). The other file is of the repository whose files become the next
 * generation. The paths of two reftables may differ, because equal reftables
 * can have different names.
 */
static bool is_same(const struct generation_file *a,
		    const struct generation_file *b)
{
	return a->size == b->size && a->is_executable == b->is_executable &&
	       !memcmp(a->sha256, b->sha256, GENERATION_SHA256_LEN) &&
	       (!strcmp(a->path, b->path) || (is_table(a) && is_table(b)));
}

/*
 * Returns whether the base generation has exactly one reftable and no updates
 * of refs, and this reftable is equal to the one in how->dir (the directory
 * from which the new generation is made).
 */
static bool has_same_refs(const struct making *m)
{
	const struct generation_file *table = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < m->base->file_nr; i++)
		if (is_table(&m->base->files[i])) {
			table = &m->base->files[i];
			nr++;
		}
	if (nr != 1 || m->base->update_nr)
		return false;
	for (size_t i = 0; i < m->nr; i++)
		if (is_table(&m->files[i].file))
			return is_same(&m->files[i].file, table);
	return false;
}

static void free_upload(struct generation_upload *upload)
{
	free(upload->file.path);
	free((void *)upload->local_path);
}

/*
 * Compares the files of the directory with those of the base generation. Files
 * that are in both are removed from the list of uploads. Files of the base
 * generation that the directory lacks, or has with other content, are listed as
 * drops. All reftables count as files with other content, unless
 * has_same_refs() is true.
 */
static int compare(struct making *m, struct stored_written *result)
{
	size_t kept = 0;

	m->drops = mem_alloc(m->base->file_nr, sizeof(*m->drops));
	if (!m->drops)
		return error_nomem(m->err);
	if (m->base->file_nr)
		memcpy(m->drops, m->base->files,
		       m->base->file_nr * sizeof(*m->drops));
	m->drop_nr = m->base->file_nr;
	m->same_refs = has_same_refs(m);
	for (size_t i = 0; i < m->nr; i++) {
		const struct generation_file *file = &m->files[i].file;
		size_t k = m->drop_nr;

		result->file_nr++;
		result->bytes += file->size;
		if (m->same_refs || !is_table(file))
			for (k = 0; k < m->drop_nr; k++)
				if (is_same(file, &m->drops[k]))
					break;
		if (k < m->drop_nr) {
			m->drops[k] = m->drops[--m->drop_nr];
			free_upload(&m->files[i]);
		} else {
			result->upload_nr++;
			result->upload_bytes += file->size;
			m->files[kept++] = m->files[i];
		}
	}
	m->nr = kept;
	return 0;
}

/* ---- the record */

static int judge(struct making *m, int ret)
{
	switch (ret) {
	case GENERATION_REF_CHANGED:
	case GENERATION_EPOCH_CHANGED:
	case GENERATION_FILE_CHANGED:
		return error_set(m->err, ERR_DENIED,
				 "'%s' was changed in the store meanwhile; try "
				 "again",
				 m->place->repository);
	case GENERATION_BUSY:
	case GENERATION_TOO_LATE:
	case GENERATION_LOST:
	case GENERATION_STORE_DOWN:
		return error_recode(m->err, ERR_IO);
	case GENERATION_UNKNOWN:
		return error_set(m->err, ERR_IO,
				 "it is unknown whether the new generation was "
				 "written, see git store log: %s",
				 m->err ? m->err->msg : "");
	default:
		return ret;
	}
}

static int commit(struct making *m)
{
	const struct generation_change change = {
		.node = m->how->node,
		.user = m->how->user,
		.action = m->how->action,
		.seen = m->base->number,
		.drops_objects = m->how->drops_objects,
		.uploads = m->files,
		.upload_nr = m->nr,
		.drops = m->drops,
		.drop_nr = m->drop_nr,
		.tables_up_to = m->same_refs ? 0 : m->base->number,
		.session_ns = (uint64_t)STORED_SESSION_MAX * NS_PER_SECOND,
	};

	return judge(m, generation_commit(m->base, m->place, &change, m->err));
}

/*
 * With `drops_objects`, checks before the upload that the base is still the
 * newest generation. generation_commit() would also fail if it is not, but only
 * after the upload, which may take very long.
 */
static int check_base(struct making *m)
{
	struct generation newest;
	int ret = generation_newest(&newest, m->place, m->base->number, m->err);

	if (ret == STORE_ABSENT && !m->base->number)
		return 0;
	if (!ret && newest.number != m->base->number)
		ret = judge(m, GENERATION_EPOCH_CHANGED);
	generation_release(&newest);
	return stored_result(ret, m->place->repository, m->err);
}

static int run(struct making *m, struct stored_written *out)
{
	int ret = list_files(m);

	if (!ret)
		ret = bundle(m);
	if (!ret)
		ret = compare(m, out);
	out->is_same = !m->nr && !m->drop_nr;
	if (!ret && !out->is_same && m->how->drops_objects)
		ret = check_base(m);
	if (!ret && !out->is_same)
		ret = commit(m);
	/* Ignore a failure: without the hint, a search only takes longer. */
	if (!ret && !out->is_same)
		generation_write_hint_record(m->place, m->base, NULL);
	out->number = m->base->number;
	return ret;
}

int stored_successor_commit(struct stored_written *out, struct generation *base,
			    const struct generation_place *place,
			    const struct stored_successor *how,
			    struct error *err)
{
	struct making m = {
		.place = place,
		.how = how,
		.base = base,
		.err = err,
	};
	int ret;

	*out = (struct stored_written){0};
	ret = run(&m, out);
	for (size_t i = 0; i < m.nr; i++)
		free_upload(&m.files[i]);
	free(m.files);
	free(m.drops);
	return ret;
}
