/* SPDX-License-Identifier: MIT */
/* Sends prepared pack content: stored bytes that are copied as they are. */
#include "pack/copy.h"
#include "prepared/prepared.h"

/* Number of bytes that are sent between two updates of the progress meter. */
#define METER_BYTES ((uint64_t)8 << 20)

struct sending {
	struct pack_copy copy;
	struct pack_writer *writer;
	/*
	 * Average number of objects in one byte of the content. All entries are
	 * assumed to be equally long.
	 */
	double objects_per_byte;
	uint64_t done; /* bytes */
	/* number of objects that the progress meter has counted */
	uint64_t told;
	struct progress *progress;
};

static int tell(struct sending *s, uint64_t objects, struct error *err)
{
	uint64_t before = s->told;

	s->told = objects;
	return progress_step(s->progress, objects - before, err);
}

static int put(struct sending *s, uint64_t start, uint64_t end,
	       struct error *err)
{
	int ret = pack_copy_put(&s->copy, s->writer, start, end, err);

	if (ret < 0)
		return ret;
	s->done += end - start;
	return tell(s, (uint64_t)((double)s->done * s->objects_per_byte), err);
}

static int put_run(struct sending *s, const struct prepared_run *run,
		   struct error *err)
{
	uint64_t end = run->off + run->len, next;
	int ret = 0;

	for (uint64_t at = run->off; at < end && !ret; at = next) {
		next = end - at < METER_BYTES ? end : at + METER_BYTES;
		ret = put(s, at, next, err);
	}
	return ret;
}

int prepared_send(const struct prepared_content *content,
		  const struct pack *pack, struct pack_writer *writer,
		  struct progress *progress, struct error *err)
{
	uint64_t bytes = prepared_bytes(content);
	struct sending s = {
		.writer = writer,
		.objects_per_byte = content->object_nr / (double)bytes,
		.progress = progress,
	};
	int ret = pack_copy_open(&s.copy, pack, writer, bytes, err);

	for (size_t i = 0; i < content->run_nr && !ret; i++)
		ret = put_run(&s, &content->runs[i], err);
	pack_copy_close(&s.copy);
	return ret ? ret : tell(&s, content->object_nr, err);
}
