/* SPDX-License-Identifier: MIT */
/* Writes published packs. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pack/writer.h"
#include "publish/publish-parts.h"
#include "sys/io.h"

/* Returns the length in bytes of a pack that consists of `content`. */
static uint64_t pack_len(const struct publishing *p,
			 const struct prepared_content *content)
{
	return PACK_HEADER_LEN + prepared_bytes(content) +
	       hash_len(p->odb->algo);
}

/*
 * Write a pack into an open temporary file. Returns 0 or a negative error code:
 * ERR_CORRUPT if the bytes of the repository's pack have changed.
 */
static int fill(struct publishing *p, struct sys_tempfile *file,
		const struct prepared_content *content,
		const struct odb_pack *pack, struct error *err)
{
	struct pack_file_sink sink;
	struct pack_writer writer;
	struct progress no_progress;
	struct oid checksum;
	int ret = pack_file_sink_init(&sink, file, err);

	if (ret < 0) {
		pack_file_sink_release(&sink);
		return ret;
	}
	progress_start(&no_progress, NULL, "", 0);
	ret = pack_writer_init(&writer, pack_file_sink(&sink),
			       content->object_nr, p->odb->algo, false, err);
	if (!ret)
		ret = prepared_send(content, pack->pack, &writer, &no_progress,
				    err);
	if (!ret)
		ret = pack_writer_finish(&writer, &checksum, err);
	if (!ret)
		ret = pack_file_sink_flush(&sink, err);
	if (!ret && !oid_equal(&checksum, &content->checksum))
		ret = error_set(err, ERR_CORRUPT,
				"%s.pack has changed since its answers were "
				"prepared",
				pack->pack->path);
	progress_stop(&no_progress);
	pack_writer_release(&writer);
	pack_file_sink_release(&sink);
	return ret;
}

static int write_pack(struct publishing *p, const char *path,
		      const struct prepared_content *content,
		      const struct odb_pack *pack, struct error *err)
{
	struct sys_tempfile file = SYS_TEMPFILE_INIT;
	int ret = sys_tempfile_create(&file, p->place, "tmp_publish_",
				      0444 | PUBLISH_SHARE, err);

	if (!ret)
		ret = fill(p, &file, content, pack, err);
	if (!ret)
		ret = sys_tempfile_commit(&file, path, p->method, err);
	sys_tempfile_abort(&file);
	return ret;
}

/*
 * Publish the repository's pack by a hard link, if `content` is the whole pack
 * and everybody may read its file. Returns 1 if it was linked, 0 if it must be
 * copied, or a negative error code.
 */
static int link_pack(struct publishing *p, const char *path,
		     const struct prepared_content *content,
		     const struct odb_pack *pack, struct error *err)
{
	struct buf source = BUF_INIT;
	struct sys_stat st;
	int ret;

	if (!oid_equal(&content->checksum, &pack->pack->checksum))
		return 0;
	if (buf_printf(&source, "%s.pack", pack->pack->path) < 0)
		return error_nomem(err);
	ret = sys_stat(&st, source.data, err);
	if (!ret && (st.mode & 0444) == 0444)
		ret = sys_link(source.data, path, err) ? 0 : 1;
	if (ret > 0 && p->method != SYS_FSYNC_NONE &&
	    sys_sync_dir(p->place, err) < 0)
		ret = ERR_IO;
	buf_release(&source);
	return ret == ERR_MISSING ? 0 : ret;
}

int publish_content(struct publishing *p,
		    const struct prepared_content *content,
		    const struct odb_pack *pack, struct error *err)
{
	struct buf name = BUF_INIT, path = BUF_INIT;
	enum publish_event event = PUBLISH_KEPT;
	uint64_t len = pack_len(p, content);
	struct sys_stat st;
	int ret = published_pack_name(&name, &content->checksum, p->odb->algo);

	if (!ret)
		ret = buf_printf(&path, "%s/%s", p->place, name.data);
	if (!ret && strlist_has(&p->current, name.data))
		goto out;
	if (!ret)
		ret = strlist_add(&p->current, name.data);
	if (ret < 0) {
		error_nomem(err);
		goto out;
	}
	if (sys_stat(&st, path.data, NULL) < 0 || st.size != len) {
		event = PUBLISH_LINKED;
		ret = sys_unlink(path.data, err);
		if (!ret)
			ret = link_pack(p, path.data, content, pack, err);
		if (!ret) {
			event = PUBLISH_WRITTEN;
			ret = write_pack(p, path.data, content, pack, err);
		}
	}
	if (ret >= 0) {
		ret = 0;
		publish_note(p, event, name.data, len);
	}
out:
	buf_release(&name);
	buf_release(&path);
	return ret;
}

int publish_content_into(struct publishing *p,
			 const struct prepared_content *content,
			 const struct odb_pack *pack, struct error *err)
{
	struct buf name = BUF_INIT, path = BUF_INIT;
	struct publish_pack found = {
		.checksum = content->checksum,
		.len = pack_len(p, content),
		.is_own = oid_equal(&content->checksum, &pack->pack->checksum),
	};
	int ret = published_pack_name(&name, &content->checksum, p->odb->algo);

	if (!ret && strlist_has(&p->current, name.data))
		goto out;
	if (!ret)
		ret = strlist_add(&p->current, name.data);
	if (!ret)
		ret = found.is_own
			      ? buf_printf(&path, "%s.pack", pack->pack->path)
			      : buf_printf(&path, "%s/%s", p->place, name.data);
	if (ret < 0) {
		error_nomem(err);
		goto out;
	}
	if (!found.is_own)
		ret = write_pack(p, path.data, content, pack, err);
	found.path = path.data;
	if (!ret)
		ret = p->note(p->ctx, &found, err);
out:
	buf_release(&name);
	buf_release(&path);
	return ret;
}
