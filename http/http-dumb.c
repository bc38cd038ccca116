/* SPDX-License-Identifier: MIT */
/*
 * Answers dumb HTTP clients: such clients fetch files of the repository, and
 * run no Git service. The lists of refs and of packs are made for each request,
 * so that the lists are never out of date.
 *
 * Clients may cache two kinds of files: loose objects, whose file names are
 * object ids, and packs whose file names have a checksum. Such a name is
 * computed from the content, so a file of this name never changes. Clients may
 * not cache other files.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "http/http-exchange.h"
#include "odb/odb.h"
#include "pack/pack-name.h"
#include "repack/server-info.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "wire/refview.h"

/* bytes of a file that are read and sent at once */
#define PIECE 65536

static int put_text(struct http_exchange *x, const char *type,
		    const struct buf *text, struct error *err)
{
	int ret = http_reply_length(&x->reply, text->len, err);

	if (!ret)
		ret = http_reply_header(&x->reply, "Content-Type", type, err);
	return ret ? ret
		   : http_reply_put(&x->reply, text->data, text->len, err);
}

static int open_view(struct refview *view, const struct http_exchange *x,
		     struct error *err)
{
	return refview_open(view, x->repo, "uploadpack.hiderefs",
			    x->options->namespace, err);
}

static int describe_head(struct buf *text, struct refview *view,
			 enum hash_algo algo, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct ref head;
	int ret = refview_lookup(view, "HEAD", &head, err);

	/* If HEAD names an unborn branch, the client gets an empty file. */
	if (ret <= 0)
		return ret;
	if (head.target)
		ret = buf_printf(text, "ref: %s\n", head.target);
	else
		ret = buf_printf(text, "%s\n",
				 oid_to_hex(hex, &head.oid, algo));
	return ret < 0 ? error_nomem(err) : 0;
}

static int put_head(struct http_exchange *x, struct error *err)
{
	struct buf text = BUF_INIT;
	struct refview view;
	int ret = open_view(&view, x, err);

	if (!ret)
		ret = describe_head(&text, &view, x->repo->algo, err);
	if (!ret)
		ret = put_text(x, "text/plain", &text, err);
	refview_release(&view);
	buf_release(&text);
	return ret;
}

struct listing {
	struct buf text;
	struct odb_reader *reader;
	enum hash_algo algo;
	struct error *err;
};

static int list_ref(void *ctx, const struct ref *ref)
{
	struct listing *l = ctx;
	int ret = server_info_put_ref(&l->text, l->reader, l->algo, ref,
				      l->err);

	/* A broken ref does not prevent the listing of the other refs. */
	return ret == ERR_NOMEM ? ret : 0;
}

static int list_refs(struct listing *l, struct http_exchange *x,
		     struct error *err)
{
	struct refview view;
	int ret = open_view(&view, x, err);

	/*
	 * Hidden refs are listed, because a client that may read any file can
	 * read hidden refs anyway.
	 */
	if (!ret)
		ret = refview_each(&view, "", true, list_ref, l, NULL, err);
	refview_release(&view);
	return ret;
}

static int put_refs(struct http_exchange *x, struct error *err)
{
	struct listing l = {BUF_INIT, NULL, x->repo->algo, err};
	struct odb *odb = NULL;
	int ret = odb_open(&odb, x->repo, NULL, err);

	if (!ret) {
		l.reader = odb_reader_new(odb, 0);
		ret = l.reader ? list_refs(&l, x, err) : error_nomem(err);
	}
	if (!ret)
		ret = http_reply_never_cache(&x->reply, err);
	if (!ret)
		ret = put_text(x, "text/plain", &l.text, err);
	odb_reader_free(l.reader);
	odb_close(odb);
	buf_release(&l.text);
	return ret;
}

static int put_packs(struct http_exchange *x, struct error *err)
{
	struct buf text = BUF_INIT;
	struct odb *odb = NULL;
	int ret = odb_open_named(&odb, x->repo, NULL, err);

	if (!ret)
		ret = server_info_put_packs(&text, odb, err);
	if (!ret)
		ret = http_reply_never_cache(&x->reply, err);
	if (!ret)
		ret = put_text(x, "text/plain; charset=utf-8", &text, err);
	odb_close(odb);
	buf_release(&text);
	return ret;
}

static int copy_file(struct http_exchange *x, int fd, uint64_t size,
		     const char *path, struct error *err)
{
	char *piece = mem_alloc(PIECE, 1);
	int ret = piece ? http_reply_begin(&x->reply, err) : error_nomem(err);

	/*
	 * Send exactly as many bytes as Content-Length says, even if the file
	 * grows.
	 */
	for (uint64_t off = 0; !ret && off < size && !x->reply.no_body;) {
		uint64_t left = size - off;
		size_t len = left < PIECE ? (size_t)left : PIECE;

		ret = sys_read_at(fd, piece, len, off, path, err);
		if (!ret)
			ret = http_reply_put(&x->reply, piece, len, err);
		off += len;
	}
	free(piece);
	return ret;
}

static int describe_file(struct http_exchange *x, const char *type,
			 const struct sys_stat *st, bool is_fixed,
			 struct error *err)
{
	struct http_reply *r = &x->reply;
	int ret = is_fixed ? http_reply_cache_for_ever(r, sys_clock_seconds(),
						       err)
			   : http_reply_never_cache(r, err);

	if (!ret)
		ret = http_reply_length(r, st->size, err);
	if (!ret)
		ret = http_reply_header(r, "Content-Type", type, err);
	if (!ret)
		ret = http_reply_date(r, "Last-Modified",
				      st->mtime_ns / 1000000000, err);
	return ret;
}

static int put_file(struct http_exchange *x, const char *type, bool is_fixed,
		    struct error *err)
{
	/*
	 * x->url.name begins with "objects/" (8 bytes); the argument of
	 * repo_object_path() does not.
	 */
	char *path = repo_object_path(x->repo, x->url.name + 8);
	struct sys_stat st;
	int fd = -1, ret;

	if (!path)
		return error_nomem(err);
	ret = sys_stat(&st, path, err);
	if (!ret && !st.is_file)
		ret = error_set(err, ERR_MISSING, "not a file: '%s'", path);
	if (!ret)
		ret = sys_open_file(&st, path, err);
	if (ret >= 0)
		fd = ret;
	if (ret == ERR_MISSING) {
		ret = http_refuse(x, "404 Not Found", err,
				  "Cannot open '%s': %s", x->url.name,
				  "No such file or directory");
		goto out;
	}
	if (ret >= 0)
		ret = describe_file(x, type, &st, is_fixed, err);
	if (!ret)
		ret = copy_file(x, fd, st.size, path, err);
out:
	sys_close(fd);
	free(path);
	return ret;
}

/*
 * Returns whether the name of a pack's file ends with a checksum, so that the
 * content never changes.
 */
static bool has_checksum(const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	size_t len = pack_name_len(name), digits = 0;

	while (digits < len &&
	       strchr("0123456789abcdef", name[len - digits - 1]))
		digits++;
	return digits == hash_hex_len(HASH_SHA1) ||
	       digits == hash_hex_len(HASH_SHA256);
}

int http_dumb(struct http_exchange *x, struct error *err)
{
	switch (x->url.route) {
	case HTTP_HEAD:
		return put_head(x, err);
	case HTTP_INFO_REFS:
		return put_refs(x, err);
	case HTTP_INFO_PACKS:
		return put_packs(x, err);
	case HTTP_LOOSE:
		return put_file(x, "application/x-git-loose-object", true, err);
	case HTTP_PACK:
		return put_file(x, "application/x-git-packed-objects",
				has_checksum(x->url.name), err);
	case HTTP_IDX:
		return put_file(x, "application/x-git-packed-objects-toc",
				has_checksum(x->url.name), err);
	default:
		return put_file(x, "text/plain", false, err);
	}
}
