/* SPDX-License-Identifier: MIT */
/*
 * Writes all refs and reflogs into a new store. A store of files gets
 * packed-refs, and loose files for refs that cannot be packed. A store of
 * reftables gets one table.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "odb/odb.h"
#include "refs-write/packed-rewrite.h"
#include "refs-write/ref-migrate.h"
#include "refs/reflog.h"
#include "refs/refs-loose.h"
#include "refs/refs-reftable.h"
#include "sys/io.h"

struct writer {
	const struct repo *from, *to; /* borrowed */
	struct refs *refs;            /* owned: the old store */
	struct odb *odb;              /* owned: for peeling tags */
	struct odb_reader *reader;    /* owned */
	bool has_head;                /* the old store has HEAD */
	/* the new store: packed-refs, or a table */
	struct packed_rewrite packed;
	struct reftable_append table;
	char *table_dir; /* owned */
	/*
	 * number of entries in the longest reflog; the table needs this many
	 * update indexes
	 */
	uint64_t longest;
	struct error *err; /* borrowed */
};

static bool to_tables(const struct writer *w)
{
	return w->to->ref_storage == REPO_REFS_REFTABLE;
}

/* ---- refs */

static int put_record(struct writer *w, const struct ref *ref)
{
	struct reftable_ref record = {
		.name = ref->name,
		.name_len = strlen(ref->name),
		.update_index = w->table.index,
	};
	int ret = 0;

	if (ref->target) {
		record.value = REFTABLE_SYMBOLIC;
		record.target = ref->target;
		record.target_len = strlen(ref->target);
	} else {
		record.oid = ref->oid;
		ret = odb_find_peeled(w->reader, &ref->oid, &record.peeled,
				      w->err);
		record.value = ret == ODB_PEELED_TAG ? REFTABLE_TAG
						     : REFTABLE_OID;
	}
	return ret < 0 ? ret
		       : reftable_writer_add_ref(w->table.writer, &record,
						 w->err);
}

/*
 * Creates a file in the directory of the new store. No other process reads
 * this directory yet, so no lock is needed. Returns 0 or a negative error
 * code.
 */
static int put_file(struct writer *w, const char *path, const struct buf *text)
{
	const char *slash = strrchr(path, '/');
	char *dir = mem_strndup(path, (size_t)(slash - path));
	int ret = dir ? sys_mkdir_shared(dir, w->to->share, w->err)
		      : error_nomem(w->err);

	free(dir);
	return ret ? ret
		   : sys_append(path, text->data ? text->data : "", text->len,
				0666 | w->to->share, w->err);
}

static int put_loose(struct writer *w, const struct ref *ref)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	char hex[OID_MAX_HEX_LEN + 1];
	int ret = refs_loose_path(&path, w->to, ref->name);

	if (!ret && ref->target)
		ret = buf_printf(&text, "ref: %s\n", ref->target);
	else if (!ret)
		ret = buf_printf(&text, "%s\n",
				 oid_to_hex(hex, &ref->oid, w->to->algo));
	ret = ret < 0 ? error_nomem(w->err) : put_file(w, path.data, &text);
	buf_release(&path);
	buf_release(&text);
	return ret;
}

static int put_packed(struct writer *w, const struct ref *ref)
{
	struct oid peeled;
	int ret = odb_find_peeled(w->reader, &ref->oid, &peeled, w->err);

	if (ret == ODB_PEELED_UNKNOWN)
		packed_rewrite_promise_no_more(&w->packed);
	return ret < 0 ? ret
		       : packed_rewrite_put(&w->packed, ref->name, &ref->oid,
					    ret == ODB_PEELED_TAG ? &peeled
								  : NULL,
					    w->err);
}

static int put_ref(void *ctx, const struct ref *ref)
{
	struct writer *w = ctx;

	if (ref->is_broken)
		return ref_migrate_broken(ref->name, w->err);
	w->has_head |= !strcmp(ref->name, "HEAD");
	if (to_tables(w))
		return put_record(w, ref);
	if (ref->target || refs_loose_is_per_worktree(ref->name))
		return put_loose(w, ref);
	return put_packed(w, ref);
}

int ref_migrate_broken(const char *name, struct error *err)
{
	return error_set(err, ERR_CORRUPT, "cannot migrate broken ref '%s'",
			 name);
}

static int put_refs(struct writer *w)
{
	int ret = refs_each_stored(w->refs, put_ref, w, w->err);

	return ret || w->has_head ? ret : ref_migrate_broken("HEAD", w->err);
}

/* ---- reflogs */

static int measure_log(void *ctx, const char *name)
{
	struct reflog log = REFLOG_INIT;
	struct writer *w = ctx;
	int ret = reflog_read(&log, w->from, name, w->err);

	if (log.nr > w->longest)
		w->longest = log.nr;
	reflog_release(&log);
	return ret < 0 ? ret : 0;
}

/*
 * Returns the length of "Name <mail> seconds zone". This part of the line
 * begins after the space that follows the ids, and ends before the tab or at
 * the end.
 */
static size_t committer_len(const struct reflog_line *line)
{
	const char *tab = memchr(line->text, '\t', line->text_len);

	return (tab ? (size_t)(tab - line->text) : line->text_len) - 1;
}

static int put_entry(struct writer *w, const char *name,
		     const struct reflog_line *line, uint64_t index)
{
	struct buf who = BUF_INIT, message = BUF_INIT;
	struct reftable_log log = {
		.name = name,
		.name_len = strlen(name),
		.update_index = index,
		.old_oid = line->old_oid,
		.new_oid = line->new_oid,
	};
	int ret = 0;

	if (buf_append(&who, line->text + 1, committer_len(line)) < 0 ||
	    buf_append(&message, line->message, line->message_len) < 0 ||
	    buf_append_char(&message, '\n') < 0)
		ret = error_nomem(w->err);
	else if (!refs_reftable_take_committer(&log, who.data))
		ret = error_set(w->err, ERR_CORRUPT,
				"bad committer '%s' in the reflog of '%s'",
				who.data, name);
	log.message.p = message.data;
	log.message.len = message.len;
	if (!ret)
		ret = reftable_writer_add_log(w->table.writer, &log, w->err);
	buf_release(&who);
	buf_release(&message);
	return ret;
}

/*
 * Writes the log record that stands for an empty reflog (a reflog that exists
 * and has no entries). The old id and the new id of this record consist of
 * zeros. Returns 0 or a negative error code.
 */
static int put_marker(struct writer *w, const char *name)
{
	const struct reftable_log log = {
		.name = name,
		.name_len = strlen(name),
		.update_index = w->table.index,
		.who = {"", 0},
		.mail = {"", 0},
		.message = {"", 0},
	};

	return reftable_writer_add_log(w->table.writer, &log, w->err);
}

static int put_log_records(struct writer *w, const char *name,
			   const struct reflog *log)
{
	int ret = log->nr ? 0 : put_marker(w, name);

	for (size_t i = log->nr; !ret && i; i--)
		ret = put_entry(w, name, &log->lines[i - 1],
				w->table.index + i - 1);
	return ret;
}

static int put_log_file(struct writer *w, const char *name,
			const struct reflog *log)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	int ret = refs_log_path(&path, w->to, name);

	for (size_t i = 0; ret >= 0 && i < log->nr; i++) {
		const struct reflog_line *line = &log->lines[i];
		char from[OID_MAX_HEX_LEN + 1], to[OID_MAX_HEX_LEN + 1];
		bool has_message = line->message_len != 0;

		ret = buf_printf(&text, "%s %s %.*s%s%.*s\n",
				 oid_to_hex(from, &line->old_oid, w->to->algo),
				 oid_to_hex(to, &line->new_oid, w->to->algo),
				 (int)committer_len(line), line->text + 1,
				 has_message ? "\t" : "",
				 (int)line->message_len,
				 has_message ? line->message : "");
	}
	ret = ret < 0 ? error_nomem(w->err) : put_file(w, path.data, &text);
	buf_release(&path);
	buf_release(&text);
	return ret;
}

static int put_log(void *ctx, const char *name)
{
	struct reflog log = REFLOG_INIT;
	struct writer *w = ctx;
	int ret = reflog_read(&log, w->from, name, w->err);

	if (ret > 0)
		ret = to_tables(w) ? put_log_records(w, name, &log)
				   : put_log_file(w, name, &log);
	reflog_release(&log);
	return ret;
}

/* ---- stores */

static int write_table(struct writer *w, bool no_reflog)
{
	struct reftable_append_options options;
	struct error *err = w->err;
	int ret = refs_reftable_options(&options, w->to, err);

	if (!ret)
		ret = repo_fsync_method(w->to, REPO_FSYNC_PACKED_REFS,
					&options.method, err);
	if (!ret && !no_reflog)
		ret = reflog_each(w->from, false, measure_log, w, err);
	w->table_dir = repo_refs_common_path(w->to, "reftable");
	if (!w->table_dir)
		return error_nomem(err);
	if (!ret)
		ret = sys_mkdir_shared(w->table_dir, w->to->share, err);
	if (!ret)
		ret = reftable_append_begin(&w->table, w->table_dir, &options,
					    err);
	if (ret)
		return ret;
	ret = reftable_append_start(&w->table, w->longest ? w->longest : 1,
				    err);
	if (!ret)
		ret = put_refs(w);
	if (!ret && !no_reflog)
		ret = reflog_each(w->from, false, put_log, w, err);
	if (!ret)
		ret = reftable_append_finish(&w->table, err);
	if (!ret)
		ret = reftable_append_commit(&w->table, err);
	reftable_append_release(&w->table);
	return ret;
}

static int make_dir(struct writer *w, const char *name)
{
	char *path = repo_refs_common_path(w->to, name);
	int ret = path ? sys_mkdir_shared(path, w->to->share, w->err)
		       : error_nomem(w->err);

	free(path);
	return ret;
}

static int write_files(struct writer *w, bool no_reflog)
{
	struct error *err = w->err;
	int ret = make_dir(w, "refs/heads");

	if (!ret)
		ret = make_dir(w, "refs/tags");
	if (!ret)
		ret = packed_rewrite_begin(&w->packed, w->to, err);
	if (ret)
		return ret;
	packed_rewrite_promise_peeled(&w->packed);
	ret = put_refs(w);
	if (!ret)
		ret = packed_rewrite_finish(&w->packed, err);
	if (!ret)
		ret = packed_rewrite_commit(&w->packed, err);
	packed_rewrite_release(&w->packed);
	if (!ret && !no_reflog)
		ret = reflog_each(w->from, false, put_log, w, err);
	return ret;
}

int ref_migrate_write(const struct repo *from, const struct repo *to,
		      bool no_reflog, struct error *err)
{
	struct writer w = {.from = from, .to = to, .err = err};
	int ret = refs_open(&w.refs, from, err);

	if (!ret)
		ret = odb_open(&w.odb, from, NULL, err);
	if (!ret) {
		w.reader = odb_reader_new(w.odb, ODB_PEELED_CACHE_LIMIT);
		ret = w.reader ? 0 : error_nomem(err);
	}
	if (!ret)
		ret = to_tables(&w) ? write_table(&w, no_reflog)
				    : write_files(&w, no_reflog);
	odb_reader_free(w.reader);
	odb_close(w.odb);
	refs_close(w.refs);
	free(w.table_dir);
	return ret;
}
