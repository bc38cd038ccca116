/* SPDX-License-Identifier: MIT */
/* Reads the refs of a generation. */
#include <string.h>

#include "base/mem.h"
#include "stored/layout.h"
#include "stored/tables.h"
#include "sys/io.h"

static bool is_table(const struct generation_file *file)
{
	return generation_path_is_table(file->path);
}

/* ---- opening */

/* Reads the hash algorithm of the ids from the header of a table. */
static int peek_algo(enum hash_algo *algo, const char *path, struct error *err)
{
	uint8_t header[REFTABLE_HEADER_MAX];
	uint64_t len;
	int fd = sys_open_read(path, &len, err);
	int ret;

	if (fd < 0)
		return fd;
	ret = sys_read_at(fd, header, sizeof(header), 0, path, err);
	sys_close(fd);
	if (ret)
		return ret;
	*algo = header[4] == 2 && !memcmp(header + 24, "s256", 4) ? HASH_SHA256
								  : HASH_SHA1;
	return 0;
}

/*
 * Opens the table at `path`. Overwrites the last slash of `path`. Returns 0 or
 * a negative error code.
 */
static int open_table(struct stored_tables *t, char *path, struct error *err)
{
	struct reftable_stack *stack = &t->stack;
	char *name = strrchr(path, '/');
	int ret = stack->nr ? 0 : peek_algo(&t->algo, path, err);

	if (ret)
		return ret;
	if (mem_grow(&stack->tables, &stack->alloc, stack->nr + 1,
		     sizeof(struct reftable *)) < 0)
		return error_nomem(err);
	*name++ = '\0';
	ret = reftable_open(&stack->tables[stack->nr], path, name, t->algo,
			    err);
	stack->nr += !ret;
	return ret;
}

int stored_tables_open(struct stored_tables *t, struct stored_cache *cache,
		       const struct generation_place *place,
		       const struct generation *g, struct error *err)
{
	struct buf path = BUF_INIT;
	int ret = 0;

	*t = (struct stored_tables){.g = g, .algo = HASH_SHA1};
	for (size_t i = 0; !ret && i < g->file_nr; i++) {
		if (!is_table(&g->files[i]))
			continue;
		buf_reset(&path);
		ret = stored_cache_file(cache, &path, place, &g->files[i], err);
		if (!ret)
			ret = open_table(t, path.data, err);
	}
	buf_release(&path);
	if (ret)
		stored_tables_release(t);
	return ret;
}

void stored_tables_release(struct stored_tables *t)
{
	reftable_stack_release(&t->stack);
	*t = (struct stored_tables){0};
}

bool stored_tables_are_same(const struct generation *a,
			    const struct generation *b)
{
	size_t i = 0, k = 0;

	for (;; i++, k++) {
		while (i < a->file_nr && !is_table(&a->files[i]))
			i++;
		while (k < b->file_nr && !is_table(&b->files[k]))
			k++;
		if (i == a->file_nr || k == b->file_nr)
			return i == a->file_nr && k == b->file_nr;
		if (memcmp(a->files[i].sha256, b->files[k].sha256,
			   GENERATION_SHA256_LEN) != 0)
			return false;
	}
}

/* ---- reading */

static int append_value(struct buf *value, const struct reftable_ref *ref,
			enum hash_algo algo, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	int ret;

	if (ref->value == REFTABLE_SYMBOLIC)
		ret = buf_printf(value, STORED_SYMBOLIC "%.*s",
				 (int)ref->target_len, ref->target);
	else
		ret = buf_append_str(value, oid_to_hex(hex, &ref->oid, algo));
	return ret < 0 ? error_nomem(err) : 0;
}

int stored_tables_find(const struct stored_tables *t, struct buf *value,
		       const char *name, struct error *err)
{
	const struct generation_update *update = generation_find_update(t->g,
									name);
	struct reftable_iter it;
	struct reftable_ref ref;
	int ret;

	if (update)
		return update->value && buf_append_str(value, update->value) < 0
			       ? error_nomem(err)
			       : 0;
	reftable_iter_init(&it);
	ret = reftable_stack_find(&t->stack, &it, name, strlen(name), &ref,
				  err);
	if (ret > 0)
		ret = append_value(value, &ref, t->algo, err);
	reftable_iter_release(&it);
	return ret;
}

/* Returns 1 if the tables have the ref, 0 if not, or a negative error code. */
static int has_ref(const struct stored_tables *t, const char *name,
		   struct error *err)
{
	struct reftable_iter it;
	struct reftable_ref ref;
	int ret;

	reftable_iter_init(&it);
	ret = reftable_stack_find(&t->stack, &it, name, strlen(name), &ref,
				  err);
	reftable_iter_release(&it);
	return ret;
}

static int collide_below(const struct stored_tables *t, const char *dir,
			 bool (*ignores)(void *ctx, const char *ref), void *ctx,
			 struct error *err)
{
	struct reftable_merged merged;
	const struct reftable_iter *it;
	size_t len = strlen(dir);
	int ret = reftable_merged_init(&merged, t->stack.tables, t->stack.nr,
				       false, err);

	if (ret)
		return ret;
	ret = reftable_merged_seek(&merged, REFTABLE_REFS, dir, len, err);
	while (!ret) {
		ret = reftable_merged_next(&merged, &it, err);
		if (ret <= 0)
			break;
		ret = !strncmp(it->ref.name, dir, len);
		if (!ret || !ignores(ctx, it->ref.name))
			break;
		ret = 0;
	}
	reftable_merged_release(&merged);
	return ret;
}

int stored_tables_collide(const struct stored_tables *t, const char *ref,
			  bool (*ignores)(void *ctx, const char *ref),
			  void *ctx, struct error *err)
{
	struct buf part = BUF_INIT;
	int ret = 0;

	for (const char *p = strchr(ref, '/'); p && !ret; p = strchr(p, '/')) {
		buf_reset(&part);
		if (buf_append(&part, ref, (size_t)(p++ - ref)) < 0)
			ret = error_nomem(err);
		else if (!ignores(ctx, part.data))
			ret = has_ref(t, part.data, err);
	}
	buf_reset(&part);
	if (!ret && buf_printf(&part, "%s/", ref) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = collide_below(t, part.data, ignores, ctx, err);
	buf_release(&part);
	return ret;
}

/* A visit of all refs. */
struct visit {
	const struct stored_tables *t;
	int (*fn)(void *ctx, const char *ref, const char *value,
		  struct error *err);
	void *ctx;
	/* number of updates that were visited */
	size_t update_nr;
	struct error *err;
};

/*
 * Visits the updates of refs that sort before `name`. If `name` is NULL, visits
 * all updates that are left.
 */
static int pass_updates(struct visit *v, const char *name)
{
	const struct generation *g = v->t->g;
	int ret = 0;

	for (; !ret && v->update_nr < g->update_nr; v->update_nr++) {
		const struct generation_update *update =
			&g->updates[v->update_nr];

		if (name && strcmp(update->ref, name) >= 0)
			break;
		if (update->value)
			ret = v->fn(v->ctx, update->ref, update->value, v->err);
	}
	return ret;
}

/*
 * Returns whether a text has control characters. A table may have any bytes,
 * but programs print names and values.
 */
static bool has_control(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return true;
	return false;
}

static int pass_record(struct visit *v, const struct reftable_ref *ref)
{
	struct buf value = BUF_INIT;
	int ret = pass_updates(v, ref->name);

	if (ret || generation_find_update(v->t->g, ref->name))
		return ret;
	ret = append_value(&value, ref, v->t->algo, v->err);
	if (!ret && (has_control(ref->name) || has_control(value.data)))
		ret = error_set(v->err, ERR_CORRUPT,
				"a reftable of the generation has a ref name "
				"or a value with control characters");
	if (!ret)
		ret = v->fn(v->ctx, ref->name, value.data, v->err);
	buf_release(&value);
	return ret;
}

int stored_tables_each(const struct stored_tables *t,
		       int (*fn)(void *ctx, const char *ref, const char *value,
				 struct error *err),
		       void *ctx, struct error *err)
{
	struct visit v = {.t = t, .fn = fn, .ctx = ctx, .err = err};
	struct reftable_merged merged;
	const struct reftable_iter *it;
	int ret = reftable_merged_init(&merged, t->stack.tables, t->stack.nr,
				       false, err);

	if (ret)
		return ret;
	ret = reftable_merged_seek(&merged, REFTABLE_REFS, "", 0, err);
	while (!ret) {
		ret = reftable_merged_next(&merged, &it, err);
		if (ret <= 0)
			break;
		ret = pass_record(&v, &it->ref);
	}
	reftable_merged_release(&merged);
	return ret ? ret : pass_updates(&v, NULL);
}
