/* SPDX-License-Identifier: MIT */
/*
 * Makes the stack of reftables of a local copy from the record of a generation.
 */
#include <inttypes.h>
#include <string.h>

#include "base/affix.h"
#include "base/mem.h"
#include "object/refs-name.h"
#include "odb/odb.h"
#include "reftable/stack.h"
#include "reftable/writer.h"
#include "repo/repo.h"
#include "stored/updates.h"
#include "sys/lockfile.h"
#include "sys/io.h"

/* The stack that is being made. */
struct stack {
	struct buf dir;  /* "<dir>/reftable" */
	struct buf list; /* the text of tables.list */
	/* update index that the new table gets */
	uint64_t index;
	struct repo *repo; /* owned */
	/* owned: opened when the first object is needed; NULL until then */
	struct odb *odb;
	struct odb_reader *reader;
	enum sys_fsync_method method;
};

static void stack_release(struct stack *s)
{
	odb_reader_free(s->reader);
	odb_close(s->odb);
	repo_close(s->repo);
	buf_release(&s->dir);
	buf_release(&s->list);
}

/* ---- the reftables that the generation's record lists */

/*
 * Adds a reftable to the text of tables.list. The record of the generation (a
 * file in the store) lists this reftable. Afterwards, s->index is larger than
 * every update index of the reftable.
 */
static int add_table(struct stack *s, const char *name, struct error *err)
{
	struct reftable_stack one = {0};
	struct reftable *table;
	int ret = reftable_open(&table, s->dir.data, name, s->repo->algo, err);

	if (ret)
		return ret;
	one.tables = &table;
	one.nr = 1;
	if (reftable_stack_max_index(&one) >= UINT64_MAX / 2)
		ret = error_set(err, ERR_CORRUPT,
				"%s: no update indexes are left", name);
	else if (reftable_stack_max_index(&one) >= s->index)
		s->index = reftable_stack_max_index(&one) + 1;
	reftable_close(table);
	return !ret && buf_printf(&s->list, "%s\n", name) < 0 ? error_nomem(err)
							      : ret;
}

static int add_tables(struct stack *s, const struct generation *g,
		      struct error *err)
{
	int ret = 0;

	s->index = 1;
	for (size_t i = 0; !ret && i < g->file_nr; i++)
		if (generation_path_is_table(g->files[i].path))
			ret = add_table(
				s, g->files[i].path + strlen(GENERATION_TABLES),
				err);
	return ret;
}

/* ---- the table with the updates */

static int open_objects(struct stack *s, struct error *err)
{
	int ret = s->odb ? 0 : odb_open(&s->odb, s->repo, NULL, err);

	if (!ret && !s->reader) {
		s->reader = odb_reader_new(s->odb, ODB_PEELED_CACHE_LIMIT);
		ret = s->reader ? 0 : error_nomem(err);
	}
	return ret;
}

/*
 * Peels the id of a ref. If the object is missing, the ref is stored without a
 * peeled id, as in a ref transaction. A push can set a branch only to a commit,
 * so branches are not read. Opening the objects costs more than all other work
 * here, because a repository has a pack for each push since the last repack.
 */
static int peel(struct stack *s, struct reftable_ref *ref, struct error *err)
{
	int ret;

	if (starts_with(ref->name, "refs/heads/"))
		return 0;
	ret = open_objects(s, err);
	if (!ret)
		ret = odb_find_peeled(s->reader, &ref->oid, &ref->peeled, err);
	if (ret == ODB_PEELED_TAG)
		ref->value = REFTABLE_TAG;
	return ret < 0 ? ret : 0;
}

static bool may_be_set(const char *name)
{
	return refs_name_is_root(name) ||
	       (!strncmp(name, "refs/", 5) && refs_name_is_valid(name));
}

/*
 * Returns the target that an update gives to a symbolic ref, or NULL if the ref
 * is not symbolic.
 */
static const char *target_of(const struct generation_update *update)
{
	const size_t start = strlen(STORED_SYMBOLIC);
	const char *value = update->value;

	return value && !strncmp(value, STORED_SYMBOLIC, start) ? value + start
								: NULL;
}

static int put_update(struct stack *s, struct reftable_writer *writer,
		      const struct generation_update *update, struct error *err)
{
	struct reftable_ref ref = {
		.name = update->ref,
		.name_len = strlen(update->ref),
		.update_index = s->index,
		.value = REFTABLE_OID,
	};
	const char *value = update->value, *target = target_of(update);
	int ret = 0;

	if (!may_be_set(update->ref))
		return error_set(err, ERR_CORRUPT,
				 "a generation has a ref with the name '%s', "
				 "which is not allowed",
				 update->ref);
	if (!value) {
		ref.value = REFTABLE_DELETED;
	} else if (target) {
		ref.value = REFTABLE_SYMBOLIC;
		ref.target = target;
		ref.target_len = strlen(target);
	} else if (oid_from_hex(&ref.oid, value, strlen(value),
				s->repo->algo)) {
		ret = peel(s, &ref, err);
	} else {
		return error_set(
			err, ERR_CORRUPT,
			"the value of ref '%s' is not an object id: '%s'",
			update->ref, value);
	}
	return ret ? ret : reftable_writer_add_ref(writer, &ref, err);
}

/*
 * The record of a generation lists changes of refs, its updates. One new
 * reftable gets these updates. Returns the block size of this table. Each ref
 * must fit into a block, so blocks are larger than usual if a name is very
 * long.
 */
static uint32_t block_size(const struct stack *s, const struct generation *g)
{
	size_t size = REFTABLE_BLOCK_SIZE_DEFAULT;

	for (size_t i = 0; i < g->update_nr; i++) {
		const char *target = target_of(&g->updates[i]);
		size_t need = reftable_writer_ref_size(
			strlen(g->updates[i].ref), target ? strlen(target) : 0,
			s->repo->algo);

		if (need > size)
			size = need;
	}
	/*
	 * The cast is safe: the name and the target of a ref have at most
	 * GENERATION_TEXT_MAX bytes each.
	 */
	return (uint32_t)size;
}

static int fill_table(struct stack *s, struct sys_tempfile *file,
		      const struct generation *g, struct error *err)
{
	const struct reftable_writer_options options = {
		.algo = s->repo->algo,
		.min_index = s->index,
		.max_index = s->index,
		.block_size = block_size(s, g),
	};
	struct reftable_writer *writer = NULL;
	int ret = reftable_writer_new(&writer, file, &options, err);

	for (size_t i = 0; !ret && i < g->update_nr; i++)
		ret = put_update(s, writer, &g->updates[i], err);
	if (!ret)
		ret = reftable_writer_finish(writer, err);
	reftable_writer_free(writer);
	return ret;
}

/*
 * Appends a random name for the new table, so that no table has ever had this
 * name.
 */
static int choose_name(const struct stack *s, struct buf *name,
		       struct error *err)
{
	uint32_t random;
	int ret = sys_secret(&random, sizeof(random), err);

	if (!ret &&
	    buf_printf(name,
		       "0x%012" PRIx64 "-0x%012" PRIx64 "-%08" PRIx32 ".ref",
		       s->index, s->index, random) < 0)
		ret = error_nomem(err);
	return ret;
}

static int put_table(struct stack *s, const struct generation *g,
		     struct error *err)
{
	struct sys_tempfile file = SYS_TEMPFILE_INIT;
	struct buf name = BUF_INIT, path = BUF_INIT;
	int ret = choose_name(s, &name, err);

	if (!ret && (buf_printf(&path, "%s/%s", s->dir.data, name.data) < 0 ||
		     buf_printf(&s->list, "%s\n", name.data) < 0))
		ret = error_nomem(err);
	if (!ret)
		ret = sys_tempfile_create(&file, s->dir.data, "tmp_", 0666,
					  err);
	if (!ret)
		ret = fill_table(s, &file, g, err);
	if (!ret)
		ret = sys_tempfile_commit(&file, path.data, s->method, err);
	sys_tempfile_abort(&file);
	buf_release(&name);
	buf_release(&path);
	return ret;
}

/* ---- all of it */

static int open_repo(struct stack *s, const char *dir, struct error *err)
{
	const struct repo_options options = {
		.path = dir,
		.flags = REPO_OPEN_EXACT | REPO_OPEN_NO_OWNER,
	};
	int ret = repo_open(&s->repo, &options, err);

	if (!ret && s->repo->ref_storage != REPO_REFS_REFTABLE)
		ret = error_set(err, ERR_CORRUPT,
				"the configuration of the generation does not "
				"set extensions.refStorage to reftable");
	if (!ret && buf_printf(&s->dir, "%s/reftable", dir) < 0)
		ret = error_nomem(err);
	return ret;
}

/* Writes the new table, and the new tables.list into the lock file. */
static int prepare(struct stack *s, struct sys_tempfile *lock,
		   const struct generation *g, struct error *err)
{
	int ret = add_tables(s, g, err);

	if (!ret && g->update_nr)
		ret = put_table(s, g, err);
	return ret ? ret
		   : sys_tempfile_write(lock, s->list.data, s->list.len, err);
}

int stored_updates_install(const char *dir, const struct generation *g,
			   enum sys_fsync_method method, int64_t wait_ms,
			   struct error *err)
{
	struct stack s = {.dir = BUF_INIT, .list = BUF_INIT, .method = method};
	struct sys_tempfile lock = SYS_TEMPFILE_INIT;
	struct buf path = BUF_INIT;
	int ret = open_repo(&s, dir, err);

	if (!ret && buf_printf(&path, "%s/tables.list.lock", s.dir.data) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = sys_lockfile_create(&lock, path.data, wait_ms, err);
	if (!ret)
		ret = prepare(&s, &lock, g, err);
	if (!ret) {
		buf_set_len(&path, path.len - strlen(".lock"));
		ret = sys_tempfile_commit(&lock, path.data, method, err);
	}
	sys_tempfile_abort(&lock);
	buf_release(&path);
	stack_release(&s);
	return ret;
}
