/* SPDX-License-Identifier: MIT */
/*
 * Finds the pack that contains a span (a range of mapped bytes), and sends
 * spans from the files of their packs.
 */
#include "plans/plan-spans.h"
#include "sys/io.h"

/*
 * Minimum bytes of a span that is sent by put_file(). The bytes of a shorter
 * span are copied, because opening the file of the pack would take longer.
 */
#define FILE_MIN ((size_t)1 << 16)

static bool has(const struct odb *odb, uint32_t number, const uint8_t *bytes,
		size_t len)
{
	const struct sys_held *file = &odb->packs[number].pack->file;
	const uint8_t *first = sys_held_mapped(file);

	return first && bytes >= first && len <= file->len &&
	       (size_t)(bytes - first) <= file->len - len;
}

bool plan_span_find(uint32_t *number, const struct odb *odb,
		    const uint8_t *bytes, size_t len)
{
	if (*number < odb->pack_nr && has(odb, *number, bytes, len))
		return true;
	for (uint32_t i = 0; i < odb->pack_nr; i++) {
		if (!has(odb, i, bytes, len))
			continue;
		*number = i;
		return true;
	}
	return false;
}

/* ---- the sink */

static int put(void *ctx, const void *bytes, size_t len, struct error *err)
{
	struct plan_span_sink *s = ctx;

	return s->sink.put(s->sink.ctx, bytes, len, err);
}

static int put_file(void *ctx, const struct sys_file_span *span,
		    struct error *err)
{
	struct plan_span_sink *s = ctx;

	return pack_sink_put_file(&s->sink, span, err);
}

/*
 * Returns a descriptor of the pack whose memory map contains the `len` bytes at
 * `bytes`. Returns -1 if there is no such pack, or if its file cannot be
 * opened.
 */
static int descriptor(struct plan_span_sink *s, const uint8_t *bytes,
		      size_t len)
{
	uint32_t number = s->number;

	if (!plan_span_find(&number, s->odb, bytes, len))
		return -1;
	if (s->fd_plus_1 && number == s->number)
		return s->fd_plus_1 - 1;
	plan_span_sink_release(s);
	s->number = number;
	s->fd_plus_1 = pack_open_file(s->odb->packs[number].pack) + 1;
	return s->fd_plus_1 - 1;
}

static int put_pinned(void *ctx, const void *bytes, size_t len,
		      struct error *err)
{
	struct plan_span_sink *s = ctx;
	struct sys_file_span span = {.bytes = bytes, .len = len, .fd = -1};

	if (s->sink.put_file && len >= FILE_MIN)
		span.fd = descriptor(s, bytes, len);
	if (span.fd < 0)
		return s->sink.put(s->sink.ctx, bytes, len, err);
	span.off = (uint64_t)(span.bytes -
			      sys_held_mapped(
				      &s->odb->packs[s->number].pack->file));
	return s->sink.put_file(s->sink.ctx, &span, err);
}

struct pack_sink plan_span_sink(struct plan_span_sink *s)
{
	return (struct pack_sink){put, s, put_file, put_pinned};
}

void plan_span_sink_release(struct plan_span_sink *s)
{
	sys_close(s->fd_plus_1 - 1);
	s->fd_plus_1 = 0;
}
