/* SPDX-License-Identifier: MIT */
/*
 * Scripted dialogs with upload-pack in a small repository, for unit tests and
 * fuzzing. Include this header after cmocka.h.
 *
 * Scripts and transcripts are packets separated by '|': "F" is a flush, "D" a
 * delim, "E" a response end. "=bytes" is sent without change and without a
 * packet header. Any other text is the line of a packet. Objects have names,
 * which replace their ids in both directions:
 *
 *	c0---c1---c2---c3---c4   refs/heads/main, HEAD
 *	       \         \
 *	        s0        v1     refs/heads/side, refs/tags/v1 (annotated)
 *
 *	h0   refs/hidden/h, without parents    lost   a commit without ref
 *	t    the tree of all commits           none   an id without object
 *
 * No pack is made. A description of the request is sent in place of a pack:
 * "PACK wants=... haves=... shallow=... tags=... filter=... <flags>".
 */
#ifndef T_UNIT_DIALOG_H
#define T_UNIT_DIALOG_H

#include <zlib.h>

#include "t/unit/taglist.h"
#include "t/unit/tmprepo.h"

#include "base/cursor.h"
#include "object/hash.h"
#include "serve/upload-pack.h"
#include "walk/filter.h"
#include "wire/pktline.h"

#define DIALOG_OBJECTS_MAX 64

struct dialog_object {
	const char *name;
	struct oid oid;
};

struct dialog {
	struct tmprepo t;
	struct hash_ctx hash;
	struct dialog_object objects[DIALOG_OBJECTS_MAX];
	size_t nr;
	/*
	 * `in`: bytes that upload-pack reads; `out`: bytes that upload-pack has
	 * written.
	 */
	struct buf in, out;
	/* Number of bytes of `in` that upload-pack has read. */
	size_t read;
	/* Maximum number of bytes that one read returns; 0: no limit. */
	size_t chunk;
	/* Number of bytes of output after which writes fail. */
	size_t write_max;
	struct buf text; /* transcript */
	struct buf warnings;
	struct serve_options options;
	struct error err;
	/* Return value of the last run of upload-pack. */
	int ret;
};

static inline const struct oid *dialog_oid(const struct dialog *d,
					   const char *name)
{
	for (size_t i = 0; i < d->nr; i++)
		if (!strcmp(d->objects[i].name, name))
			return &d->objects[i].oid;
	return NULL;
}

static inline const char *dialog_hex(const struct dialog *d, const char *name)
{
	static char hex[OID_MAX_HEX_LEN + 1];

	return oid_to_hex(hex, dialog_oid(d, name), d->t.repo.algo);
}

static inline void dialog_name(struct dialog *d, const char *name,
			       const struct oid *oid)
{
	assert_true(d->nr < DIALOG_OBJECTS_MAX);
	d->objects[d->nr++] = (struct dialog_object){name, *oid};
}

/* Write a loose object, and register the name that scripts use for it. */
static inline void dialog_object(struct dialog *d, const char *name,
				 enum object_type type, const char *data)
{
	size_t len = strlen(data);
	struct buf whole = BUF_INIT, path = BUF_INIT;
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;
	uLongf packed_len;
	Bytef *packed;

	hash_object(&d->hash, &oid, type, data, len);
	oid_to_hex(hex, &oid, d->t.repo.algo);
	buf_printf(&whole, "%s %zu%c%s", object_type_name(type), len, '\0',
		   data);
	packed_len = compressBound(whole.len);
	packed = malloc(packed_len);
	assert_int_equal(compress(packed, &packed_len,
				  (const Bytef *)whole.data, whole.len),
			 Z_OK);
	buf_printf(&path, "objects/%.2s/%s", hex, hex + 2);
	tmprepo_write_len(&d->t, path.data, packed, packed_len);
	free(packed);
	buf_release(&path);
	buf_release(&whole);
	dialog_name(d, name, &oid);
}

/*
 * Write a commit with the name `name`. Its tree is the object with the name
 * "t", which all commits share. `date`: date of author and committer. `parent`
 * and `parent2` are names of objects; NULL: no such parent.
 */
static inline void dialog_commit(struct dialog *d, const char *name,
				 uint64_t date, const char *parent,
				 const char *parent2)
{
	struct buf text = BUF_INIT;

	buf_printf(&text, "tree %s\n", dialog_hex(d, "t"));
	if (parent)
		buf_printf(&text, "parent %s\n", dialog_hex(d, parent));
	if (parent2)
		buf_printf(&text, "parent %s\n", dialog_hex(d, parent2));
	buf_printf(&text,
		   "author A <a@b> %ju +0000\ncommitter A <a@b> %ju +0000\n\n"
		   "%s\n",
		   (uintmax_t)date, (uintmax_t)date, name);
	dialog_object(d, name, OBJ_COMMIT, text.data);
	buf_release(&text);
}

static inline void dialog_ref(struct dialog *d, const char *ref,
			      const char *name)
{
	struct buf text = BUF_INIT;

	buf_printf(&text, "%s\n", dialog_hex(d, name));
	tmprepo_write(&d->t, ref, text.data);
	buf_release(&text);
}

static inline void dialog_put_ids(const struct dialog *d, struct buf *out,
				  const char *key, const struct oid *oids,
				  size_t nr)
{
	char hex[OID_MAX_HEX_LEN + 1];

	for (size_t i = 0; i < nr; i++)
		buf_printf(out, "%s%s", i ? "," : key,
			   oid_to_hex(hex, &oids[i], d->t.repo.algo));
}

/*
 * Callback that replaces packing_send(): describes the request instead of
 * sending a pack.
 */
static inline int dialog_make_pack(void *ctx, const struct odb *odb,
				   const struct packing_request *r,
				   const struct packing_send_options *options,
				   struct pack_sink sink,
				   struct packing_report *report,
				   struct error *err)
{
	struct dialog d = {.t.repo.algo = odb->algo};
	struct buf text = BUF_INIT;
	int ret;

	buf_append_str(&text, "PACK");
	dialog_put_ids(&d, &text, " wants=", r->wants, r->want_nr);
	dialog_put_ids(&d, &text, " haves=", r->haves, r->have_nr);
	dialog_put_ids(&d, &text, " shallow=", r->shallow, r->shallow_nr);
	if (r->tags.each)
		buf_printf(&text, " tags=%zu", taglist_count(&r->tags));
	if (r->filter && !filter_is_empty(r->filter)) {
		buf_append_str(&text, " filter=");
		filter_print(&text, r->filter);
	}
	buf_append_str(&text, r->thin ? " thin" : "");
	buf_append_str(&text, r->ofs_delta ? " ofs" : "");
	buf_append_str(&text, options->progress && options->progress->put
				      ? " progress"
				      : "");
	memset(report, 0, sizeof(*report));
	ret = sink.put(sink.ctx, text.data, text.len, err);
	buf_release(&text);
	return ret;
}

static inline void dialog_warn(void *ctx, const char *message)
{
	buf_printf(ctx, "%s\n", message);
}

/*
 * Create the repository with the history in the opening comment of this file.
 */
static inline void dialog_init(struct dialog *d, enum hash_algo algo)
{
	static const char *const line[] = {"c0", "c1", "c2", "c3", "c4"};
	struct oid none = OID_ZERO_INIT;
	struct buf tag = BUF_INIT;

	memset(d, 0, sizeof(*d));
	tmprepo_init(&d->t, algo);
	assert_int_equal(hash_init(&d->hash, algo), 0);
	buf_init(&d->in);
	buf_init(&d->out);
	buf_init(&d->text);
	buf_init(&d->warnings);
	memset(none.bytes, 0x12, hash_len(algo));
	dialog_name(d, "none", &none);
	dialog_object(d, "t", OBJ_TREE, "");
	for (size_t i = 0; i < 5; i++)
		dialog_commit(d, line[i], 1700000001 + i,
			      i ? line[i - 1] : NULL, NULL);
	dialog_commit(d, "s0", 1700000010, "c1", NULL);
	dialog_commit(d, "h0", 1700000020, NULL, NULL);
	dialog_commit(d, "lost", 1700000030, NULL, NULL);
	buf_printf(&tag,
		   "object %s\ntype commit\ntag v1\ntagger A <a@b> 1 +0000\n\n"
		   "v1\n",
		   dialog_hex(d, "c3"));
	dialog_object(d, "v1", OBJ_TAG, tag.data);
	buf_release(&tag);
	tmprepo_write(&d->t, "HEAD", "ref: refs/heads/main\n");
	dialog_ref(d, "refs/heads/main", "c4");
	dialog_ref(d, "refs/heads/side", "s0");
	dialog_ref(d, "refs/hidden/h", "h0");
	dialog_ref(d, "refs/tags/v1", "v1");
	d->options = (struct serve_options){
		.repo = &d->t.repo,
		.agent = "test/1",
		.make_pack = dialog_make_pack,
		.warn = dialog_warn,
		.warn_ctx = &d->warnings,
	};
	d->write_max = SIZE_MAX;
}

/*
 * Add configuration lines. `scope` says from which kind of configuration file
 * the lines come.
 */
static inline void dialog_config(struct dialog *d, enum config_scope scope,
				 const char *text)
{
	assert_int_equal(config_parse(&d->t.repo.config, text, strlen(text),
				      scope, NULL, NULL, NULL),
			 0);
}

static inline void dialog_release(struct dialog *d)
{
	config_release(&d->t.repo.config);
	hash_release(&d->hash);
	tmprepo_release(&d->t);
	buf_release(&d->in);
	buf_release(&d->out);
	buf_release(&d->text);
	buf_release(&d->warnings);
}

static inline ssize_t dialog_read(void *ctx, void *bytes, size_t len,
				  struct error *err)
{
	struct dialog *d = ctx;
	size_t left = d->in.len - d->read;

	(void)err;
	if (d->chunk && len > d->chunk)
		len = d->chunk;
	if (len > left)
		len = left;
	memcpy(bytes, d->in.data + d->read, len);
	d->read += len;
	return (ssize_t)len;
}

static inline int dialog_writev(void *ctx, struct iovec *iov, size_t nr,
				struct error *err)
{
	struct dialog *d = ctx;

	for (size_t i = 0; i < nr; i++) {
		if (d->out.len + iov[i].iov_len > d->write_max)
			return error_set(err, ERR_PEER, "broken pipe");
		buf_append(&d->out, iov[i].iov_base, iov[i].iov_len);
	}
	return 0;
}

static inline struct serve_io dialog_io(struct dialog *d)
{
	return (struct serve_io){
		.read = dialog_read, .writev = dialog_writev, .ctx = d};
}

static inline bool dialog_is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
}

/*
 * Append `text` to *out, with ids in place of object names. A name is replaced
 * only if a space comes before it, and if a space or the end of the text
 * follows.
 */
static inline void dialog_expand(const struct dialog *d, struct buf *out,
				 const char *text, size_t len)
{
	size_t i = 0;

	while (i < len) {
		char word[16];
		size_t n = 0;

		while (i + n < len && dialog_is_word(text[i + n]))
			n++;
		snprintf(word, sizeof(word), "%.*s", (int)n, text + i);
		/*
		 * A name that is a part of a ref name or of a capability is not
		 * replaced.
		 */
		if (n && n < sizeof(word) && i && text[i - 1] == ' ' &&
		    (i + n == len || text[i + n] == ' ') &&
		    dialog_oid(d, word)) {
			buf_append_str(out, dialog_hex(d, word));
		} else {
			n += !n;
			buf_append(out, text + i, n);
		}
		i += n;
	}
}

static inline void dialog_put(struct dialog *d, const char *line, size_t len)
{
	struct buf data = BUF_INIT;

	if (len == 1 && *line == 'F') {
		buf_append_str(&d->in, "0000");
	} else if (len == 1 && *line == 'D') {
		buf_append_str(&d->in, "0001");
	} else if (len == 1 && *line == 'E') {
		buf_append_str(&d->in, "0002");
	} else if (len && *line == '=') {
		buf_append(&d->in, line + 1, len - 1);
	} else {
		dialog_expand(d, &data, line, len);
		buf_printf(&d->in, "%04zx", data.len + 5);
		buf_append(&d->in, data.data, data.len);
		buf_append_char(&d->in, '\n');
	}
	buf_release(&data);
}

static inline void dialog_script(struct dialog *d, const char *script)
{
	buf_reset(&d->in);
	while (*script) {
		size_t len = strcspn(script, "|");

		dialog_put(d, script, len);
		script += len + (script[len] == '|');
	}
}

static inline const char *dialog_find(const struct dialog *d, const char *hex,
				      size_t left)
{
	struct oid oid;

	if (!oid_from_hex(&oid, hex, left, d->t.repo.algo))
		return NULL;
	for (size_t i = 0; i < d->nr; i++)
		if (oid_equal(&d->objects[i].oid, &oid))
			return d->objects[i].name;
	return NULL;
}

/*
 * Append a packet to the transcript, with names in place of ids and '~' in
 * place of NUL.
 */
static inline void dialog_shrink(struct dialog *d, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		const char *name = dialog_find(d, data + i, len - i);

		if (name) {
			buf_append_str(&d->text, name);
			i += hash_hex_len(d->t.repo.algo) - 1;
		} else if (data[i] == '\n' && i + 1 == len) {
			break;
		} else {
			buf_append_char(&d->text, data[i] ? data[i] : '~');
		}
	}
}

/*
 * Write the transcript of all packets that upload-pack has sent. Packets of the
 * side bands start with "1:", "2:" or "3:".
 */
static inline void dialog_transcribe(struct dialog *d)
{
	struct cursor c = cursor_make(d->out.data, d->out.len);
	struct pktline p;

	buf_reset(&d->text);
	while (pktline_parse(&p, &c, NULL) > 0) {
		buf_append_str(&d->text, d->text.len ? "|" : "");
		if (p.kind != PKTLINE_DATA) {
			buf_append_str(&d->text,
				       p.kind == PKTLINE_FLUSH ? "F" : "D");
			continue;
		}
		if (p.len && *p.data >= 1 && *p.data <= 3) {
			buf_printf(&d->text, "%d:", *p.data);
			p.data++;
			p.len--;
		}
		dialog_shrink(d, p.data, p.len);
	}
	if (cursor_left(&c)) {
		buf_append_str(&d->text, d->text.len ? "|=" : "=");
		dialog_shrink(d, (const char *)c.p, cursor_left(&c));
	}
}

/* Run upload-pack on a script. Returns the transcript of the response. */
static inline const char *dialog_run(struct dialog *d, const char *script)
{
	struct serve_io io = dialog_io(d);

	dialog_script(d, script);
	d->read = 0;
	buf_reset(&d->out);
	buf_reset(&d->warnings);
	d->err = (struct error)ERROR_INIT;
	d->ret = serve_upload_pack(&d->options, &io, &d->err);
	dialog_transcribe(d);
	return d->text.data;
}

/*
 * Works like dialog_run(), but returns the transcript without the advertisement
 * and its flush packet.
 */
static inline const char *dialog_answer(struct dialog *d, const char *script)
{
	const char *text = dialog_run(d, script);
	const char *end = strstr(text, "|F");

	if (d->options.stateless_rpc || !end)
		return text;
	return end[2] == '|' ? end + 3 : end + 2;
}

#endif
