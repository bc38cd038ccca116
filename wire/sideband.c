/* SPDX-License-Identifier: MIT */
/* Frames data into side-band packets. */
#include <limits.h>
#include <string.h>

#include "wire/sideband.h"

/* maximum bytes of one packet with SIDEBAND_SMALL */
#define SMALL_MAX 1000
#define HEADER PKTLINE_BAND_HEADER

#define KEEP_ALIVE_DEFAULT 5 /* seconds */
#define KEEP_ALIVE_MAX (int)(UINT_MAX / 1000)

/*
 * Maximum number of packets in one gathered write, which then has up to 4 MB.
 * Each packet has two spans: its header and its data.
 */
#define BATCH 64

void sideband_init(struct sideband *sb, struct pktline_writer *out,
		   enum sideband_mode mode)
{
	*sb = (struct sideband){.out = out, .mode = mode};
	pthread_mutex_init(&sb->lock, NULL);
}

void sideband_release(struct sideband *sb)
{
	pthread_mutex_destroy(&sb->lock);
}

static int put_bare(struct sideband *sb, enum sideband_band band,
		    const void *bytes, size_t len, struct error *err)
{
	struct iovec iov = {(void *)bytes, len};

	if (band != SIDEBAND_DATA)
		return 0;
	return pktline_send_spans(sb->out, &iov, 1, err);
}

/*
 * Send up to BATCH packets. Moves *p and *len behind the bytes that were sent.
 * Returns 0 or a negative error code.
 */
static int put_batch(struct sideband *sb, enum sideband_band band,
		     const char **p, size_t *len, struct error *err)
{
	size_t max = sb->mode == SIDEBAND_SMALL ? SMALL_MAX : PKTLINE_MAX;
	char headers[BATCH][HEADER];
	struct iovec iov[2 * BATCH];
	size_t nr = 0;

	for (; nr < BATCH && *len; nr++) {
		size_t n = *len < max - HEADER ? *len : max - HEADER;

		pktline_header(headers[nr], n + HEADER);
		headers[nr][PKTLINE_HEADER] = (char)band;
		iov[2 * nr] = (struct iovec){headers[nr], HEADER};
		iov[2 * nr + 1] = (struct iovec){(void *)*p, n};
		*p += n;
		*len -= n;
	}
	return pktline_send_spans(sb->out, iov, 2 * nr, err);
}

int sideband_put(struct sideband *sb, enum sideband_band band,
		 const void *bytes, size_t len, struct error *err)
{
	const char *p = bytes;
	int ret = 0;

	pthread_mutex_lock(&sb->lock);
	sb->is_said = true;
	if (sb->is_held && band == SIDEBAND_PROGRESS)
		len = 0;
	if (sb->mode == SIDEBAND_NONE && len)
		ret = put_bare(sb, band, bytes, len, err);
	while (sb->mode != SIDEBAND_NONE && !ret && len)
		ret = put_batch(sb, band, &p, &len, err);
	pthread_mutex_unlock(&sb->lock);
	return ret;
}

int sideband_add(struct sideband *sb, enum sideband_band band,
		 const void *bytes, size_t len, struct error *err)
{
	struct buf *pending = &sb->out->pending;
	char header[HEADER];
	int ret = 0;

	if (sb->mode == SIDEBAND_NONE)
		return sideband_put(sb, band, bytes, len, err);
	pktline_header(header, len + HEADER);
	header[PKTLINE_HEADER] = (char)band;
	pthread_mutex_lock(&sb->lock);
	if (buf_reserve(pending, len + HEADER) < 0) {
		ret = error_nomem(err);
	} else {
		buf_append(pending, header, HEADER);
		buf_append(pending, bytes, len);
	}
	pthread_mutex_unlock(&sb->lock);
	return ret;
}

void sideband_hold(struct sideband *sb, bool is_held)
{
	pthread_mutex_lock(&sb->lock);
	sb->is_held = is_held;
	pthread_mutex_unlock(&sb->lock);
}

int sideband_keep_alive(struct sideband *sb, struct error *err)
{
	char header[HEADER];
	struct iovec iov = {header, HEADER};
	int ret;

	if (sb->mode == SIDEBAND_NONE)
		return 0;
	pktline_header(header, HEADER);
	header[PKTLINE_HEADER] = SIDEBAND_PROGRESS;
	pthread_mutex_lock(&sb->lock);
	ret = sb->is_held ? 0 : pktline_send_spans(sb->out, &iov, 1, err);
	pthread_mutex_unlock(&sb->lock);
	return ret;
}

int sideband_load_keep_alive(uint64_t *seconds, const struct config *config,
			     const char *key, struct error *err)
{
	int value = KEEP_ALIVE_DEFAULT;
	int ret = config_int(config, key, &value, err);

	if (value < 0)
		value = 0;
	*seconds = value < KEEP_ALIVE_MAX ? (uint64_t)value : KEEP_ALIVE_MAX;
	return ret < 0 ? ret : 0;
}

int sideband_keep_alive_if_quiet(struct sideband *sb, struct error *err)
{
	bool is_said;

	pthread_mutex_lock(&sb->lock);
	is_said = sb->is_said;
	sb->is_said = false;
	pthread_mutex_unlock(&sb->lock);
	return is_said ? 0 : sideband_keep_alive(sb, err);
}

static int put_data(void *ctx, const void *bytes, size_t len, struct error *err)
{
	struct sideband *sb = ctx;

	sb->has_data = sb->has_data || len;
	return (sb->is_tiny ? sideband_add : sideband_put)(sb, SIDEBAND_DATA,
							   bytes, len, err);
}

/*
 * Send one packet of a file's bytes; without side-band, send the whole span.
 * Moves *span behind the bytes that were sent. Returns 0 or a negative error
 * code.
 */
static int send_packet(struct sideband *sb, struct sys_file_span *span,
		       struct error *err)
{
	struct sys_file_span part = *span;
	char header[HEADER];
	int ret;

	if (sb->mode != SIDEBAND_NONE && part.len > PKTLINE_MAX - HEADER)
		part.len = PKTLINE_MAX - HEADER;
	pktline_header(header, part.len + HEADER);
	header[PKTLINE_HEADER] = SIDEBAND_DATA;
	pthread_mutex_lock(&sb->lock);
	sb->is_said = true;
	ret = pktline_send_file(sb->out, header,
				sb->mode == SIDEBAND_NONE ? 0 : HEADER, &part,
				err);
	pthread_mutex_unlock(&sb->lock);
	span->bytes += part.len;
	span->off += part.len;
	span->len -= part.len;
	return ret;
}

static int put_file(void *ctx, const struct sys_file_span *span,
		    struct error *err)
{
	struct sideband *sb = ctx;
	struct sys_file_span rest = *span;
	int ret = 0;

	if (!sb->out->io->send_file || sb->mode == SIDEBAND_SMALL)
		return put_data(sb, span->bytes, span->len, err);
	sb->has_data = true;
	while (!ret && rest.len)
		ret = send_packet(sb, &rest, err);
	return ret;
}

static int put_pinned(void *ctx, const void *bytes, size_t len,
		      struct error *err)
{
	struct sideband *sb = ctx;
	const struct serve_span span = {
		.bytes = bytes,
		.len = len,
		.packet_max = sb->mode == SIDEBAND_NONE ? 0
							: PKTLINE_MAX - HEADER,
		.band = SIDEBAND_DATA,
	};
	int ret;

	sb->has_data = true;
	pthread_mutex_lock(&sb->lock);
	sb->is_said = true;
	ret = pktline_emit(sb->out, &span, err);
	pthread_mutex_unlock(&sb->lock);
	return ret;
}

struct pack_sink sideband_sink(struct sideband *sb)
{
	bool can_emit = sb->out->io->emit && sb->mode != SIDEBAND_SMALL;

	return (struct pack_sink){put_data, sb, put_file,
				  can_emit ? put_pinned : NULL};
}

static void put_progress(void *ctx, const char *text, size_t len)
{
	sideband_put(ctx, SIDEBAND_PROGRESS, text, len, NULL);
}

struct progress_out sideband_progress(struct sideband *sb)
{
	return (struct progress_out){.put = put_progress, .ctx = sb};
}
