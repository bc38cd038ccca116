/* SPDX-License-Identifier: MIT */
/*
 * The reftable backend: reads and rewrites reflogs.
 *
 * An edit holds the lock of the stack and adds a table on top. The table has
 * records that delete or replace older records with the same update index. For
 * a reflog without entries, one record with zero ids is stored (the marker).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "odb/odb.h"
#include "refs/reflog-backend.h"
#include "refs/refs-loose.h"
#include "refs/refs-reftable.h"
#include "repo/worktree.h"

/* ---- reading */

/* An iterator over the records of one reflog, newest first. */
struct records {
	struct reftable_merged merged;
	/* the ref's name in the stack of tables, without "worktrees/<id>/" */
	const char *name;
	const struct reftable_log *log;
};

static int records_open(struct records *r, const struct reftable_stack *stack,
			const char *name, struct error *err)
{
	struct buf key = BUF_INIT;
	int ret = reftable_merged_init(&r->merged, stack->tables, stack->nr,
				       false, err);

	r->name = name;
	if (ret < 0)
		return ret;
	if (reftable_log_key(&key, name, strlen(name), UINT64_MAX) < 0)
		ret = error_nomem(err);
	else
		ret = reftable_merged_seek(&r->merged, REFTABLE_LOGS, key.data,
					   key.len, err);
	buf_release(&key);
	if (ret < 0)
		reftable_merged_release(&r->merged);
	return ret;
}

/*
 * Reads the next record of the reflog. Returns 1 with r->log set, 0 at the end,
 * or a negative error code.
 */
static int records_next(struct records *r, struct error *err)
{
	const struct reftable_iter *it;
	int ret = reftable_merged_next(&r->merged, &it, err);

	if (ret <= 0)
		return ret;
	r->log = &it->log;
	return !strcmp(it->log.name, r->name);
}

static bool is_marker(const struct reftable_log *log)
{
	return oid_is_zero(&log->old_oid) && oid_is_zero(&log->new_oid);
}

/*
 * Appends a record of a reflog as a line of text. Only the first line of the
 * record's message is used. Returns 0 or ERR_NOMEM.
 */
static int append_line(struct buf *out, const struct reftable_log *log,
		       enum hash_algo algo)
{
	char from[OID_MAX_HEX_LEN + 1], to[OID_MAX_HEX_LEN + 1];
	const char *lf = log->message.len ? memchr(log->message.p, '\n',
						   log->message.len)
					  : NULL;
	size_t len = lf ? (size_t)(lf - log->message.p) : log->message.len;

	oid_to_hex(from, &log->old_oid, algo);
	oid_to_hex(to, &log->new_oid, algo);
	return buf_printf(out, "%s %s %.*s <%.*s> %" PRIu64 " %+05d\t%.*s\n",
			  from, to, (int)log->who.len, log->who.p,
			  (int)log->mail.len, log->mail.p, log->time, log->zone,
			  (int)len, log->message.p);
}

static void reverse(struct reflog_line *lines, size_t nr)
{
	for (size_t i = 0; i < nr / 2; i++) {
		struct reflog_line line = lines[i];

		lines[i] = lines[nr - 1 - i];
		lines[nr - 1 - i] = line;
	}
}

/* The update indexes of the records that were read, in the order of reading. */
struct indexes {
	uint64_t *items; /* owned */
	size_t nr, alloc;
};

/*
 * Appends all records of a reflog as lines of text. Returns 1 (also for a
 * reflog without entries), 0 if there is no reflog, or a negative error code.
 */
static int read_records(struct reflog *log, struct indexes *indexes,
			struct records *r, enum hash_algo algo,
			struct error *err)
{
	int ret, found = 0;

	while ((ret = records_next(r, err)) > 0) {
		found = 1;
		if (is_marker(r->log))
			continue;
		if (mem_grow(&indexes->items, &indexes->alloc, indexes->nr + 1,
			     sizeof(*indexes->items)) < 0 ||
		    append_line(&log->bytes, r->log, algo) < 0)
			return error_nomem(err);
		indexes->items[indexes->nr++] = r->log->update_index;
	}
	return ret < 0 ? ret : found;
}

static int read_log(struct reflog *log, const struct reftable_stack *stack,
		    const char *name, enum hash_algo algo, struct error *err)
{
	struct indexes indexes = {NULL, 0, 0};
	struct records r;
	int found, ret = records_open(&r, stack, name, err);

	if (ret < 0)
		return ret;
	found = read_records(log, &indexes, &r, algo, err);
	reftable_merged_release(&r.merged);
	if (found > 0)
		ret = reflog_split(log, algo, err);
	if (found > 0 && !ret && log->nr != indexes.nr)
		ret = error_set(err, ERR_CORRUPT,
				"a reflog entry of '%s' does not fit into a "
				"line of text",
				name);
	for (size_t i = 0; !ret && i < log->nr; i++)
		log->lines[i].update_index = indexes.items[i];
	reverse(log->lines, log->nr);
	free(indexes.items);
	return ret < 0 ? ret : found;
}

/*
 * Reads a reflog like reflog_read(). Opens the stack for this call only.
 * Returns 1 if read, 0 if there is no reflog, or a negative error code.
 */
static int read_named(struct reflog *log, const struct repo *repo,
		      const char *name, struct error *err)
{
	struct buf dir = BUF_INIT;
	struct reftable_stack stack;
	const char *inner = refs_reftable_place(&dir, repo, name);
	int ret = inner ? reftable_stack_open(&stack, dir.data, repo->algo, err)
			: error_nomem(err);

	if (!ret) {
		ret = read_log(log, &stack, inner, repo->algo, err);
		reftable_stack_release(&stack);
	}
	buf_release(&dir);
	return ret;
}

static bool log_exists(const struct repo *repo, const char *name)
{
	struct reflog log = REFLOG_INIT;
	int ret = read_named(&log, repo, name, NULL);

	reflog_release(&log);
	return ret > 0;
}

/* ---- names */

/* The context of listing the reflogs in a stack of tables. */
struct lister {
	struct strlist *names;
	const struct repo *repo;
	const char *prefix; /* "worktrees/<id>/" or "" */
	bool private_only, shared_only;
	struct error *err;
};

static int add_name(struct lister *l, const char *name)
{
	struct buf full = BUF_INIT;
	bool is_private = refs_loose_is_per_worktree(name);
	int ret = 0;

	if ((l->private_only && !is_private) || (l->shared_only && is_private))
		return 0;
	if (buf_printf(&full, "%s%s", l->prefix, name) < 0 ||
	    strlist_add(l->names, full.data) < 0)
		ret = error_nomem(l->err);
	buf_release(&full);
	return ret;
}

static int list_logs(struct lister *l, const struct reftable_stack *stack)
{
	const struct reftable_iter *it;
	struct reftable_merged merged;
	struct buf last = BUF_INIT;
	int ret = reftable_merged_init(&merged, stack->tables, stack->nr, false,
				       l->err);

	if (ret < 0)
		return ret;
	ret = reftable_merged_seek(&merged, REFTABLE_LOGS, "", 0, l->err);
	while (!ret) {
		ret = reftable_merged_next(&merged, &it, l->err);
		if (ret <= 0)
			break;
		ret = 0;
		if (last.len && !strcmp(last.data, it->log.name))
			continue;
		buf_reset(&last);
		if (buf_append_str(&last, it->log.name) < 0)
			ret = error_nomem(l->err);
		if (!ret)
			ret = add_name(l, it->log.name);
	}
	reftable_merged_release(&merged);
	buf_release(&last);
	return ret;
}

static int list_stack(struct lister *l, const char *git_dir)
{
	struct buf dir = BUF_INIT;
	struct reftable_stack stack;
	int ret = buf_printf(&dir, "%s/reftable", git_dir) < 0
			  ? error_nomem(l->err)
			  : reftable_stack_open(&stack, dir.data, l->repo->algo,
						l->err);

	if (!ret) {
		ret = list_logs(l, &stack);
		reftable_stack_release(&stack);
	}
	buf_release(&dir);
	return ret;
}

/*
 * Lists the reflogs of a linked work tree. The work tree of l->repo is
 * skipped, because its reflogs are listed already. Returns 0 or a negative
 * error code.
 */
static int list_worktree(void *ctx, const char *id, const char *git_dir)
{
	struct lister *l = ctx, other = *l;
	struct buf prefix = BUF_INIT;
	int ret = 0;

	if (buf_printf(&prefix, "worktrees/%s/", id) < 0)
		ret = error_nomem(l->err);
	other.prefix = prefix.data;
	other.private_only = true;
	if (!ret && strcmp(git_dir, repo_refs_dir(l->repo)) != 0)
		ret = list_stack(&other, git_dir);
	buf_release(&prefix);
	return ret;
}

static int list_names(struct strlist *names, const struct repo *repo,
		      bool all_worktrees, struct error *err)
{
	bool is_linked = strcmp(repo_refs_dir(repo),
				repo_refs_common_dir(repo)) != 0;
	struct lister l = {
		.names = names, .repo = repo, .prefix = "", .err = err};
	int ret;

	l.shared_only = is_linked;
	ret = list_stack(&l, repo_refs_common_dir(repo));
	l.shared_only = false;
	l.private_only = true;
	if (!ret && is_linked)
		ret = list_stack(&l, repo_refs_dir(repo));
	if (!ret && is_linked && all_worktrees) {
		l.prefix = "main-worktree/";
		ret = list_stack(&l, repo_refs_common_dir(repo));
	}
	if (!ret && all_worktrees)
		ret = worktree_each_refs(repo, list_worktree, &l, err);
	return ret;
}

/* ---- editing */

/* An edit of one reflog. */
struct edit {
	const struct repo *repo;
	const struct reflog_edit *how; /* NULL: remove the reflog */
	const char *full;              /* full name of the ref */
	/* the ref's name in the stack of tables, without "worktrees/<id>/" */
	const char *name;
	struct reftable_append append;
	struct reflog log;
	/*
	 * owned array: before[i] is the new id of the last kept line before
	 * line i. It has one element more than there are lines.
	 */
	struct oid *before;
	struct oid tip;
	bool has_tip;
	struct error *err;
};

static int read_tip(struct edit *e)
{
	struct reftable_iter it;
	struct reftable_ref ref;
	int ret;

	reftable_iter_init(&it);
	ret = reftable_stack_find(&e->append.stack, &it, e->name,
				  strlen(e->name), &ref, e->err);
	e->has_tip = ret > 0 && ref.value != REFTABLE_SYMBOLIC;
	if (e->has_tip)
		e->tip = ref.oid;
	reftable_iter_release(&it);
	return ret < 0 ? ret : 0;
}

/*
 * Writes a record with the ref's new value, and with the peeled id if the
 * object is a tag. Returns 0 or a negative error code.
 */
static int put_ref(struct edit *e, const struct oid *oid)
{
	struct reftable_ref ref = {
		.name = e->name,
		.name_len = strlen(e->name),
		.update_index = e->append.index,
		.value = REFTABLE_OID,
		.oid = *oid,
	};
	struct odb_reader *reader = NULL;
	struct odb *odb;
	int ret = repo_check_quarantine(e->repo, e->err);

	if (!ret)
		ret = odb_open(&odb, e->repo, NULL, e->err);
	if (ret < 0)
		return ret;
	reader = odb_reader_new(odb, ODB_PEELED_CACHE_LIMIT);
	ret = reader ? odb_find_peeled(reader, oid, &ref.peeled, e->err)
		     : error_nomem(e->err);
	if (ret == ODB_PEELED_TAG)
		ref.value = REFTABLE_TAG;
	odb_reader_free(reader);
	odb_close(odb);
	return ret < 0 ? ret
		       : reftable_writer_add_ref(e->append.writer, &ref,
						 e->err);
}

static int put_log(struct edit *e, const struct reftable_log *log)
{
	return reftable_writer_add_log(e->append.writer, log, e->err);
}

/*
 * Writes the record that stands for a reflog without entries. Returns 0 or a
 * negative error code.
 */
static int put_marker(struct edit *e)
{
	const struct reftable_log log = {
		.name = e->name,
		.name_len = strlen(e->name),
		.update_index = e->append.index,
		.who = {"", 0},
		.mail = {"", 0},
		.message = {"", 0},
	};

	return put_log(e, &log);
}

/*
 * Writes the record of a reflog line again, with the old id `old`. Returns 0
 * or a negative error code.
 */
static int put_line(struct edit *e, const struct reflog_line *line,
		    const struct oid *old)
{
	size_t len = line->text_len - line->message_len;
	struct buf committer = BUF_INIT, message = BUF_INIT;
	struct reftable_log log = {
		.name = e->name,
		.name_len = strlen(e->name),
		.update_index = line->update_index,
		.old_oid = *old,
		.new_oid = line->new_oid,
	};
	int ret = 0;

	/*
	 * In the record, the identity has no space before it, and the message
	 * has no tab before it.
	 */
	if (buf_append(&committer, line->text + 1, len - 2) < 0 ||
	    buf_append(&message, line->message, line->message_len) < 0 ||
	    buf_append_char(&message, '\n') < 0)
		ret = error_nomem(e->err);
	else if (!refs_reftable_take_committer(&log, committer.data))
		ret = error_set(e->err, ERR_CORRUPT, "bad committer '%s'",
				committer.data);
	log.message.p = message.data;
	log.message.len = message.len;
	if (!ret)
		ret = put_log(e, &log);
	buf_release(&committer);
	buf_release(&message);
	return ret;
}

static int find_before(struct edit *e)
{
	e->before = mem_calloc(e->log.nr + 1, sizeof(*e->before));
	if (!e->before)
		return error_nomem(e->err);
	for (size_t i = 0; i < e->log.nr; i++)
		e->before[i + 1] = e->log.lines[i].drop
					   ? e->before[i]
					   : e->log.lines[i].new_oid;
	return 0;
}

static int put_changes(struct edit *e)
{
	int ret = find_before(e);
	struct oid last;

	if (ret < 0)
		return ret;
	last = e->before[e->log.nr];
	if (e->how->update_ref && e->has_tip && !oid_is_zero(&last) &&
	    !oid_equal(&last, &e->tip))
		ret = put_ref(e, &last);
	if (!ret && e->log.nr && oid_is_zero(&last))
		ret = put_marker(e);
	for (size_t i = e->log.nr; i-- > 0 && !ret;) {
		const struct reflog_line *line = &e->log.lines[i];
		const struct reftable_log gone = {
			.name = e->name,
			.name_len = strlen(e->name),
			.update_index = line->update_index,
			.is_deleted = true,
		};

		if (line->drop)
			ret = put_log(e, &gone);
		else if (e->how->rewrite &&
			 !oid_equal(&e->before[i], &line->old_oid))
			ret = put_line(e, line, &e->before[i]);
	}
	return ret;
}

/*
 * Writes records that delete all records of the reflog, including the marker
 * of an empty reflog. Returns 0 or a negative error code.
 */
static int put_deletions(struct edit *e)
{
	struct records r;
	int ret = records_open(&r, &e->append.stack, e->name, e->err);

	if (ret < 0)
		return ret;
	while ((ret = records_next(&r, e->err)) > 0) {
		const struct reftable_log gone = {
			.name = e->name,
			.name_len = strlen(e->name),
			.update_index = r.log->update_index,
			.is_deleted = true,
		};

		ret = put_log(e, &gone);
		if (ret < 0)
			break;
	}
	reftable_merged_release(&r.merged);
	return ret;
}

/*
 * Reads the reflog and calls the callback `decide` of the edit. Returns 1 if a
 * table must be written, 0 if not, or a negative error code.
 */
static int decide(struct edit *e)
{
	int ret = read_log(&e->log, &e->append.stack, e->name, e->repo->algo,
			   e->err);

	if (ret <= 0 || !e->how)
		return ret;
	ret = read_tip(e);
	if (!ret)
		ret = e->how->decide(e->how->ctx, e->full,
				     e->has_tip ? &e->tip : NULL, &e->log,
				     e->err);
	return ret < 0 ? ret : !e->how->dry_run;
}

static int write_table(struct edit *e,
		       const struct reftable_append_options *options)
{
	struct reftable_append *append = &e->append;
	int ret = reftable_append_start(append, 1, e->err);

	if (!ret)
		ret = e->how ? put_changes(e) : put_deletions(e);
	if (!ret && !reftable_writer_is_empty(append->writer))
		ret = reftable_append_finish(append, e->err);
	if (!ret)
		ret = reftable_append_commit(append, e->err);
	/* The edit is complete, so it does not fail if the compaction fails. */
	if (!ret && reftable_append_is_full(append) > 0)
		reftable_compact_auto(append->dir, options, NULL);
	return ret;
}

static int edit_log(const struct repo *repo, const char *name,
		    const struct reflog_edit *how, struct error *err)
{
	struct reftable_append_options options;
	struct buf dir = BUF_INIT;
	struct edit e = {
		.repo = repo,
		.how = how,
		.full = name,
		.log = REFLOG_INIT,
		.err = err,
	};
	int ret = repo_check_copy(repo, "change reflogs", err);

	if (!ret)
		ret = refs_reftable_options(&options, repo, err);
	if (!ret) {
		e.name = refs_reftable_place(&dir, repo, name);
		ret = e.name ? reftable_append_begin(&e.append, dir.data,
						     &options, err)
			     : error_nomem(err);
	}
	if (ret < 0)
		goto out;
	ret = decide(&e);
	if (ret > 0)
		ret = write_table(&e, &options);
	reftable_append_release(&e.append);
	reflog_release(&e.log);
	free(e.before);
out:
	buf_release(&dir);
	return ret;
}

static int drop_log(const struct repo *repo, const char *name,
		    struct error *err)
{
	return edit_log(repo, name, NULL, err);
}

const struct reflog_backend reflog_reftable_backend = {
	.exists = log_exists,
	.read = read_named,
	.list = list_names,
	.edit = edit_log,
	.drop = drop_log,
};
