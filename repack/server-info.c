/* SPDX-License-Identifier: MIT */
/* Writing info/refs and objects/info/packs. */
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
	struct odb_reader *reader;
	enum hash_algo algo;
	struct error *err;
};

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

		if (ret < 0)
			return ret;
		is_tag = !oid_equal(&peeled, &ref->oid);
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
	/* The list ends with an empty line. */
	return buf_append_char(out, '\n') < 0 ? error_nomem(err) : 0;
}

static int list_ref(void *ctx, const struct ref *ref)
{
	struct listing *l = ctx;

	return server_info_put_ref(&l->text, l->reader, l->algo, ref, l->err);
}

/* Replaces "<dir>/<name>" unless it has this content already. */
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

static int update_refs(const struct repo *repo, const struct odb *odb,
		       struct refs *refs, struct error *err)
{
	struct listing l = {BUF_INIT, NULL, repo->algo, err};
	char *dir = repo_common_path(repo, "info");
	int ret;

	l.reader = odb_reader_new(odb, 0);
	ret = dir && l.reader ? refs_each(refs, "", list_ref, &l, NULL, err)
			      : error_nomem(err);
	if (!ret)
		ret = write_if_changed(dir, "refs", repo->share, &l.text, err);
	odb_reader_free(l.reader);
	buf_release(&l.text);
	free(dir);
	return ret;
}

static int update_packs(const struct repo *repo, const struct odb *odb,
			struct error *err)
{
	char *dir = repo_object_path(repo, "info");
	struct buf text = BUF_INIT;
	int ret = dir ? 0 : error_nomem(err);

	if (!ret)
		ret = server_info_put_packs(&text, odb, err);
	if (!ret)
		ret = write_if_changed(dir, "packs", repo->share, &text, err);
	buf_release(&text);
	free(dir);
	return ret;
}

int server_info_update(const struct repo *repo, struct refs *refs,
		       struct error *err)
{
	struct odb *odb;
	int ret = odb_open_named(&odb, repo, NULL, err);

	if (ret < 0)
		return ret;
	ret = update_refs(repo, odb, refs, err);
	if (!ret)
		ret = update_packs(repo, odb, err);
	odb_close(odb);
	return ret;
}
