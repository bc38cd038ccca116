/* SPDX-License-Identifier: MIT */
/* Writes a change into a message for another process, and reads it there. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "generations/passing.h"
#include "store/relay-message.h"

#define HAS_BEFORE 1
#define HAS_AFTER 2

/* minimum number of bytes of one file, and of one ref, in a message */
#define FILE_LEAST 49
#define REF_LEAST 5

/* ---- printing */

static int put_text(struct buf *m, const char *text)
{
	return relay_message_add(m, text ? text : "", text ? strlen(text) : 0);
}

static int put_head(struct buf *m, const char *repository,
		    const struct generation_change *change,
		    const struct generation_session *s)
{
	const char *const texts[] = {repository, change->node, change->user,
				     change->action};
	int ret = 0;

	for (size_t i = 0; !ret && i < ARRAY_NR(texts); i++)
		ret = put_text(m, texts[i]);
	if (!ret)
		ret = buf_append_be64(m, change->seen);
	if (!ret)
		ret = buf_append_be64(m, change->session_ns);
	if (!ret)
		ret = relay_message_add(m, s->upload, sizeof(s->upload));
	if (!ret)
		ret = relay_message_add(m, s->seen_token,
					sizeof(s->seen_token));
	if (!ret)
		ret = buf_append_be64(m, s->start_ns);
	return ret ? ret : buf_append_be64(m, (uint64_t)s->start_time);
}

static int put_file(struct buf *m, const struct generation_file *f)
{
	int ret = put_text(m, f->path);

	if (!ret)
		ret = relay_message_add(m, f->sha256, sizeof(f->sha256));
	if (!ret)
		ret = buf_append_be64(m, f->size);
	return ret ? ret : buf_append_char(m, f->is_executable);
}

static int put_ref(struct buf *m, const struct generation_ref_change *r)
{
	int has = (r->before ? HAS_BEFORE : 0) | (r->after ? HAS_AFTER : 0);
	int ret = put_text(m, r->ref);

	if (!ret)
		ret = buf_append_char(m, (char)has);
	if (!ret && r->before)
		ret = put_text(m, r->before);
	if (!ret && r->after)
		ret = put_text(m, r->after);
	return ret;
}

int generation_passed_print(struct buf *message, const char *repository,
			    const struct generation_change *change,
			    const struct generation_session *session,
			    struct error *err)
{
	int ret = 0;

	if (change->drop_nr || change->drops_objects || change->tables_up_to)
		return error_set(
			err, ERR_INVALID,
			"only the change of a push can be passed to the relay");
	ret = put_head(message, repository, change, session);
	if (!ret)
		ret = buf_append_be32(message, (uint32_t)change->upload_nr);
	for (size_t i = 0; !ret && i < change->upload_nr; i++)
		ret = put_file(message, &change->uploads[i].file);
	if (!ret)
		ret = buf_append_be32(message, (uint32_t)change->ref_nr);
	for (size_t i = 0; !ret && i < change->ref_nr; i++)
		ret = put_ref(message, &change->refs[i]);
	return ret ? error_nomem(err) : 0;
}

/* ---- parsing */

static int malformed(struct error *err)
{
	return error_set(err, ERR_PEER,
			 "a message with the change of a push is malformed");
}

/* Takes a text from the message, and adds it to p->texts. */
static int take_text(char **out, struct generation_passed *p, struct cursor *c,
		     struct error *err)
{
	const char *text;
	size_t len;

	if (!relay_message_take(c, &text, &len, GENERATION_TEXT_MAX) ||
	    memchr(text, '\0', len))
		return malformed(err);
	if (strlist_add_len(&p->texts, text, len) < 0)
		return error_nomem(err);
	*out = p->texts.items[p->texts.nr - 1];
	return 0;
}

/* Works like take_text(). */
static int take_word(const char **out, struct generation_passed *p,
		     struct cursor *c, struct error *err)
{
	char *text;
	int ret = take_text(&text, p, c, err);

	if (!ret)
		*out = text;
	return ret;
}

static int take_hash(uint8_t *out, size_t len, struct cursor *c,
		     struct error *err)
{
	const char *bytes;
	size_t got;

	if (!relay_message_take(c, &bytes, &got, len) || got != len)
		return malformed(err);
	memcpy(out, bytes, len);
	return 0;
}

static int take_head(struct generation_passed *p, struct cursor *c,
		     struct error *err)
{
	struct generation_change *change = &p->change;
	struct generation_session *s = &p->session;
	uint64_t start_time = 0;
	int ret = take_word(&p->repository, p, c, err);

	if (!ret)
		ret = take_word(&change->node, p, c, err);
	if (!ret)
		ret = take_word(&change->user, p, c, err);
	if (!ret)
		ret = take_word(&change->action, p, c, err);
	if (!ret && (!cursor_be64(c, &change->seen) ||
		     !cursor_be64(c, &change->session_ns)))
		ret = malformed(err);
	if (!ret)
		ret = take_hash(s->upload, sizeof(s->upload), c, err);
	if (!ret)
		ret = take_hash(s->seen_token, sizeof(s->seen_token), c, err);
	if (!ret &&
	    (!cursor_be64(c, &s->start_ns) || !cursor_be64(c, &start_time)))
		ret = malformed(err);
	if (!ret)
		s->start_time = (int64_t)start_time;
	return ret;
}

static int take_file(struct generation_file *f, struct generation_passed *p,
		     struct cursor *c, struct error *err)
{
	uint8_t is_executable = 0;
	int ret = take_text(&f->path, p, c, err);

	if (!ret)
		ret = take_hash(f->sha256, sizeof(f->sha256), c, err);
	if (!ret && (!cursor_be64(c, &f->size) ||
		     !cursor_u8(c, &is_executable) || is_executable > 1))
		ret = malformed(err);
	if (!ret)
		f->is_executable = is_executable;
	return ret;
}

static int take_ref(struct generation_ref_change *r,
		    struct generation_passed *p, struct cursor *c,
		    struct error *err)
{
	uint8_t has = 0;
	int ret = take_word(&r->ref, p, c, err);

	if (!ret && (!cursor_u8(c, &has) || has > (HAS_BEFORE | HAS_AFTER)))
		ret = malformed(err);
	if (!ret && has & HAS_BEFORE)
		ret = take_word(&r->before, p, c, err);
	if (!ret && has & HAS_AFTER)
		ret = take_word(&r->after, p, c, err);
	return ret;
}

/*
 * Takes from the message the number of items of an array, and allocates the
 * array. Each item has `size` bytes in memory and at least `least` bytes in the
 * message. So a number that is too large for the rest of the message is refused
 * before memory is allocated. Returns the array, or NULL with *ret set to an
 * error code.
 */
static void *take_array(int *ret, size_t *nr, size_t size, size_t least,
			struct cursor *c, struct error *err)
{
	void *out;
	uint32_t n;

	if (!cursor_be32(c, &n) || n > cursor_left(c) / least) {
		*ret = malformed(err);
		return NULL;
	}
	out = mem_calloc(n ? n : 1, size);
	*nr = out ? n : 0;
	*ret = out ? 0 : error_nomem(err);
	return out;
}

int generation_passed_parse(struct generation_passed *out, struct cursor *c,
			    struct error *err)
{
	struct generation_change *change = &out->change;
	int ret;

	*out = (struct generation_passed){.texts = STRLIST_INIT};
	ret = take_head(out, c, err);
	if (!ret)
		out->uploads = take_array(&ret, &change->upload_nr,
					  sizeof(*out->uploads), FILE_LEAST, c,
					  err);
	change->uploads = out->uploads;
	for (size_t i = 0; !ret && i < change->upload_nr; i++)
		ret = take_file(&out->uploads[i].file, out, c, err);
	if (!ret)
		out->refs = take_array(&ret, &change->ref_nr,
				       sizeof(*out->refs), REF_LEAST, c, err);
	change->refs = out->refs;
	for (size_t i = 0; !ret && i < change->ref_nr; i++)
		ret = take_ref(&out->refs[i], out, c, err);
	if (!ret && cursor_left(c))
		ret = malformed(err);
	return ret;
}

void generation_passed_release(struct generation_passed *p)
{
	strlist_release(&p->texts);
	free(p->uploads);
	free(p->refs);
	*p = (struct generation_passed){.texts = STRLIST_INIT};
}
