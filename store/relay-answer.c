/* SPDX-License-Identifier: MIT */
/* The relay's end of store/relay.h: questions are parsed and answered. */
#include <string.h>

#include "store/relay-message.h"
#include "store/relay.h"

static int malformed(struct error *err)
{
	return error_set(err, ERR_PEER, "a message to the relay is malformed");
}

/* ---- reading */

/*
 * A file that is being read into memory. A file that is too long is not read.
 */
struct reading {
	struct buf bytes; /* owned */
	bool is_long;
};

static int take_bytes(void *ctx, const void *bytes, size_t len,
		      struct error *err)
{
	struct reading *r = ctx;

	if (len > RELAY_FILE_MAX - r->bytes.len) {
		r->is_long = true;
		return error_set(err, ERR_CANCELLED, "the file is too long");
	}
	return buf_append(&r->bytes, bytes, len) < 0 ? error_nomem(err) : 0;
}

static int print_found(struct buf *answer, const struct filestore_info *info,
		       const struct reading *r)
{
	int ret = buf_append_char(answer, r->is_long);

	if (!ret)
		ret = buf_append_be64(answer, info->size);
	if (!ret)
		ret = buf_append_be64(answer, (uint64_t)info->mtime);
	if (!ret)
		ret = relay_message_add(answer, info->etag, strlen(info->etag));
	return ret ? ret
		   : relay_message_add(answer, r->bytes.data,
				       r->is_long ? 0 : r->bytes.len);
}

static int answer_read(struct buf *answer, struct filestore *store,
		       const char *name, struct cursor *question,
		       struct error *err)
{
	struct reading r = {.bytes = BUF_INIT};
	const struct filestore_sink sink = {take_bytes, &r};
	struct filestore_info info = {0};
	struct error why = ERROR_INIT;
	uint64_t off, len;
	int result, ret;

	if (!cursor_be64(question, &off) || !cursor_be64(question, &len))
		return malformed(err);
	result = filestore_read(store, &info, &sink, name, off, len, &why);
	if (r.is_long)
		result = 0;
	ret = relay_message_add_result(answer, result, result ? &why : NULL);
	if (!ret && !result)
		ret = print_found(answer, &info, &r);
	buf_release(&r.bytes);
	return ret ? error_nomem(err) : 0;
}

/* ---- writing */

static int answer_put(struct buf *answer, struct filestore *store,
		      const char *name, struct cursor *question,
		      struct error *err)
{
	char match[STORE_ETAG_MAX + 1], etag[STORE_ETAG_MAX + 1];
	struct filestore_condition condition = {STORE_ALWAYS, match};
	struct error why = ERROR_INIT;
	const char *bytes;
	uint8_t kind;
	size_t len;
	int result, ret;

	if (!cursor_u8(question, &kind) || kind > STORE_REPLACE ||
	    !relay_message_take_word(question, match, STORE_ETAG_MAX) ||
	    !relay_message_take(question, &bytes, &len, RELAY_FILE_MAX))
		return malformed(err);
	if (kind == STORE_CREATE)
		condition.kind = STORE_CREATE;
	else if (kind == STORE_REPLACE)
		condition.kind = STORE_REPLACE;
	result = filestore_put(store, etag, name, bytes, len, &condition, &why);
	ret = relay_message_add_result(answer, result, result ? &why : NULL);
	if (!ret && !result)
		ret = relay_message_add(answer, etag, strlen(etag));
	return ret ? error_nomem(err) : 0;
}

int relay_answer(struct buf *answer, struct filestore *const *stores,
		 size_t store_nr, uint8_t kind, struct cursor *question,
		 struct error *err)
{
	char name[STORE_NAME_MAX + 1];
	uint8_t which;

	buf_reset(answer);
	if (!cursor_u8(question, &which) || which >= store_nr ||
	    !relay_message_take_word(question, name, STORE_NAME_MAX))
		return malformed(err);
	if (kind == RELAY_READ)
		return answer_read(answer, stores[which], name, question, err);
	if (kind == RELAY_PUT)
		return answer_put(answer, stores[which], name, question, err);
	return malformed(err);
}
