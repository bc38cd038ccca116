/* SPDX-License-Identifier: MIT */
/* Writes info/refs and objects/info/packs. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "odb/odb.h"
#include "repack/server-info.h"
#include "sys/io.h"
#include "sys/map.h"
#include "sys/tempfile.h"

struct listing {
	struct buf text;
	const struct odb *odb;
	struct odb_reader *reader;
	/* true: a ref was left out: it is broken, or its object is missing */
	bool is_incomplete;
	struct error *err;
};

/* Returns whether an object can be read as a whole. */
static bool can_read(struct odb_reader *reader, const struct oid *oid)
{
	struct odb_object obj;

	if (odb_read(reader, oid, &obj, NULL) < 0)
		return false;
	odb_object_release(reader, &obj);
	return true;
}

int server_info_put_ref(struct buf *out, struct odb_reader *reader,
			enum hash_algo algo, const struct ref *ref,
			struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid peeled = ref->peeled;
	bool is_tag = ref->is_tag;

	if (!ref->has_peeled) {
		enum object_type type;
		int ret = odb_peel(reader, &ref->oid, &peeled, &type, err);

		if (ret == ERR_MISSING && !odb_reader_has(reader, &ref->oid))
			return 0;
		/*
		 * A tag normally has a second line for its target. If the
		 * target is missing or damaged, write only the first line.
		 */
		if (ret < 0 && ret != ERR_MISSING &&
		    !(ret == ERR_CORRUPT && can_read(reader, &ref->oid)))
			return ret;
		is_tag = !ret && !oid_equal(&peeled, &ref->oid);
	}
	if (buf_printf(out, "%s\t%s\n", oid_to_hex(hex, &ref->oid, algo),
		       ref->name) < 0)
		return error_nomem(err);
	if (is_tag && buf_printf(out, "%s\t%s^{}\n",
				 oid_to_hex(hex, &peeled, algo), ref->name) < 0)
		return error_nomem(err);
	return 0;
}

int server_info_put_packs(struct buf *out, const struct odb *odb,
			  struct error *err)
{
	for (uint32_t i = 0; i < odb->pack_nr; i++)
		if (odb->packs[i].pack->is_local &&
		    buf_printf(out, "P %s.pack\n", odb->packs[i].pack->name) <
			    0)
			return error_nomem(err);
	/* An empty line ends objects/info/packs. */
	return buf_append_char(out, '\n') < 0 ? error_nomem(err) : 0;
}

/*
 * Returns whether a loose file of the object is empty. A crash of the system
 * can leave such a file. As in stock Git, the object then counts as missing.
 */
static bool is_empty_file(const struct odb *odb, const struct oid *oid)
{
	bool is_empty = false;

	for (size_t i = 0; i < odb->dir_nr && !is_empty; i++) {
		struct buf path = BUF_INIT;
		struct sys_stat st;

		is_empty = !odb_loose_path(&path, odb, odb->dirs[i], oid) &&
			   !sys_stat(&st, path.data, NULL) && !st.size;
		buf_release(&path);
	}
	return is_empty;
}

/*
 * Appends the lines of info/refs for a ref. Returns 0 on success,
 * SERVER_INFO_DAMAGED if the ref's object is damaged, or a negative error code.
 */
static int list_ref(void *ctx, const struct ref *ref)
{
	struct listing *l = ctx;
	size_t before = l->text.len;
	int ret = server_info_put_ref(&l->text, l->reader, l->odb->repo->algo,
				      ref, l->err);

	if (ret == ERR_CORRUPT && is_empty_file(l->odb, &ref->oid))
		ret = 0;
	l->is_incomplete |= l->text.len == before;
	return ret == ERR_CORRUPT ? SERVER_INFO_DAMAGED : ret;
}

static int note_broken(void *ctx, const char *name, enum refs_flaw flaw)
{
	struct listing *l = ctx;

	(void)name;
	l->is_incomplete |= flaw == REFS_FLAW_NAME || flaw == REFS_FLAW_VALUE;
	return 0;
}

/*
 * Write the text to "<dir>/<name>", unless the file already has this content.
 * Returns 0 or a negative error code.
 */
static int write_if_changed(const char *dir, const char *name, unsigned share,
			    const struct buf *text, struct error *err)
{
	struct sys_tempfile file = SYS_TEMPFILE_INIT;
	struct buf path = BUF_INIT, old = BUF_INIT;
	int ret = 0;

	if (buf_printf(&path, "%s/%s", dir, name) < 0) {
		ret = error_nomem(err);
		goto out;
	}
	if (!sys_read_file(&old, path.data, NULL) && old.len == text->len &&
	    !memcmp(old.data, text->data, text->len))
		goto out;
	ret = sys_mkdir_shared(dir, share, err);
	if (!ret)
		ret = sys_tempfile_create(&file, dir, "tmp_info_", 0666 | share,
					  err);
	if (!ret)
		ret = sys_tempfile_write(&file, text->data, text->len, err);
	if (!ret)
		ret = sys_tempfile_commit(&file, path.data, SYS_FSYNC_NONE,
					  err);
out:
	sys_tempfile_abort(&file);
	buf_release(&path);
	buf_release(&old);
	return ret;
}

/*
 * Writes info/refs. If a ref is broken, the file is not written: a list without
 * this ref would make clients delete the ref. Returns the values of
 * server_info_update().
 */
static int update_refs(const struct repo *repo, const struct odb *odb,
		       struct refs *refs, struct error *err)
{
	struct listing l = {.text = BUF_INIT, .odb = odb, .err = err};
	char *dir = repo_common_path(repo, "info");
	int ret;

	l.reader = odb_reader_new(odb, 0);
	ret = dir && l.reader ? refs_each_from(refs, "", NULL, list_ref,
					       note_broken, &l, err)
			      : error_nomem(err);
	if (!ret && l.is_incomplete)
		ret = SERVER_INFO_INCOMPLETE;
	if (!ret)
		ret = write_if_changed(dir, "refs", repo->share, &l.text, err);
	odb_reader_free(l.reader);
	buf_release(&l.text);
	free(dir);
	return ret;
}

/* One line of objects/info/packs, without its line feed. */
struct row {
	const char *text; /* points into the list */
	size_t len;
	/* index of this line in the old file; SIZE_MAX: not in the old file */
	size_t old_nr;
	/* index of this line in the new file */
	size_t new_nr;
};

struct rows {
	struct row *at; /* owned */
	size_t nr;
};

static int by_text(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	size_t len = x->len < y->len ? x->len : y->len;
	int ret = len ? memcmp(x->text, y->text, len) : 0;

	return ret ? ret : (x->len > y->len) - (x->len < y->len);
}

static int by_place(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->old_nr != y->old_nr)
		return x->old_nr < y->old_nr ? -1 : 1;
	return (x->new_nr > y->new_nr) - (x->new_nr < y->new_nr);
}

/*
 * Split the text of objects/info/packs into lines, sorted by text. Returns 0 or
 * ERR_NOMEM.
 */
static int rows_split(struct rows *rows, const struct buf *list)
{
	const char *end = list->data + list->len;
	size_t nr = 1;

	for (size_t i = 0; i < list->len; i++)
		nr += list->data[i] == '\n';
	rows->at = mem_calloc(nr, sizeof(*rows->at));
	if (!rows->at)
		return ERR_NOMEM;
	for (const char *p = list->data; p < end;) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		size_t len = (size_t)((stop ? stop : end) - p);

		if (len) {
			rows->at[rows->nr] = (struct row){p, len, SIZE_MAX,
							  rows->nr};
			rows->nr++;
		}
		p += len + 1;
	}
	qsort(rows->at, rows->nr, sizeof(*rows->at), by_text);
	return 0;
}

/*
 * Sort the lines of objects/info/packs: packs of the old file come first, in
 * their old order. If no pack was added or removed, the file does not change.
 * Returns 0 or ERR_NOMEM.
 */
static int keep_order(struct buf *list, const struct buf *old)
{
	struct rows now = {NULL, 0}, then = {NULL, 0};
	struct buf out = BUF_INIT;
	int ret = rows_split(&now, list);

	if (!ret)
		ret = rows_split(&then, old);
	for (size_t i = 0, k = 0; i < now.nr && !ret; i++) {
		while (k < then.nr && by_text(&then.at[k], &now.at[i]) < 0)
			k++;
		if (k < then.nr && !by_text(&then.at[k], &now.at[i]))
			now.at[i].old_nr = then.at[k].new_nr;
	}
	if (!ret)
		qsort(now.at, now.nr, sizeof(*now.at), by_place);
	for (size_t i = 0; i < now.nr && !ret; i++)
		ret = buf_printf(&out, "%.*s\n", (int)now.at[i].len,
				 now.at[i].text);
	if (!ret)
		ret = buf_append_char(&out, '\n');
	if (!ret) {
		buf_release(list);
		*list = out;
	} else {
		buf_release(&out);
	}
	free(now.at);
	free(then.at);
	return ret < 0 ? ERR_NOMEM : 0;
}

static int update_packs(const struct repo *repo, const struct odb *odb,
			struct error *err)
{
	char *dir = repo_object_path(repo, "info");
	char *path = repo_object_path(repo, "info/packs");
	struct buf text = BUF_INIT, old = BUF_INIT;
	int ret = dir && path ? 0 : error_nomem(err);

	if (!ret)
		ret = server_info_put_packs(&text, odb, err);
	if (!ret && !sys_read_file(&old, path, NULL) &&
	    keep_order(&text, &old) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = write_if_changed(dir, "packs", repo->share, &text, err);
	buf_release(&text);
	buf_release(&old);
	free(dir);
	free(path);
	return ret;
}

int server_info_update(const struct repo *repo, struct refs *refs,
		       struct error *err)
{
	struct error why = ERROR_INIT;
	struct odb *odb;
	int ret = odb_open_named(&odb, repo, NULL, err), packs = 0;

	if (ret < 0)
		return ret;
	ret = update_refs(repo, odb, refs, err);
	if (ret >= 0)
		packs = update_packs(repo, odb, &why);
	odb_close(odb);
	if (packs < 0 && err)
		*err = why;
	return packs < 0 ? packs : ret;
}
