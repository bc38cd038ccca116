/* SPDX-License-Identifier: MIT */
/*
 * Tests of plans/plan-spans.c: the pack of a span (a range of bytes) is found,
 * and a sink gets long spans as ranges of files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "plans/plan-spans.h"
#include "sys/io.h"
#include "t/unit/tmprepo.h"

#define LEN ((size_t)100000)

/*
 * Two files that stand for packs. They are not valid packs, but have different
 * bytes.
 */
struct packs {
	struct tmprepo t;
	struct buf paths[2];
	struct odb odb;
	struct odb_pack list[2];
	struct pack packs[2];
};

static void packs_init(struct packs *p)
{
	static char bytes[LEN];

	memset(p, 0, sizeof(*p));
	tmprepo_init(&p->t, HASH_SHA1);
	for (int i = 0; i < 2; i++) {
		struct buf *path = &p->paths[i];

		*path = (struct buf)BUF_INIT;
		memset(bytes, 'a' + i, LEN);
		buf_printf(path, "%s/%d.pack", p->t.dir, i);
		assert_int_equal(sys_append(path->data, bytes, LEN, 0600, NULL),
				 0);
		assert_int_equal(
			sys_held_open(&p->packs[i].file, path->data, NULL), 0);
		assert_non_null(
			sys_held_map(&p->packs[i].file, path->data, NULL));
		path->data[path->len - 5] = '\0';
		p->packs[i].path = path->data;
		/*
		 * pack_open_file() opens the file of a pack again only if the
		 * file ends with the checksum of the pack.
		 */
		p->packs[i].algo = HASH_SHA1;
		memset(p->packs[i].checksum.bytes, 'a' + i, 20);
		p->list[i].pack = &p->packs[i];
	}
	p->odb.packs = p->list;
	p->odb.pack_nr = 2;
}

static void packs_release(struct packs *p)
{
	for (int i = 0; i < 2; i++) {
		sys_held_close(&p->packs[i].file);
		buf_release(&p->paths[i]);
	}
	tmprepo_release(&p->t);
}

static void test_find(void **state)
{
	uint32_t number = 7;
	struct packs p;
	const uint8_t *a, *b;

	packs_init(&p);
	a = sys_held_mapped(&p.packs[0].file);
	b = sys_held_mapped(&p.packs[1].file);
	assert_true(plan_span_find(&number, &p.odb, b + 5, LEN - 5));
	assert_int_equal(number, 1);
	assert_true(plan_span_find(&number, &p.odb, b, LEN));
	assert_true(plan_span_find(&number, &p.odb, a, 0));
	assert_int_equal(number, 0);
	assert_false(plan_span_find(&number, &p.odb, b + 1, LEN));
	assert_false(plan_span_find(&number, &p.odb, b, SIZE_MAX));
	assert_false(plan_span_find(&number, &p.odb, (uint8_t *)&number, 1));
	packs_release(&p);
}

/* A sink for a pack. If it gets a range of a file, it reads the range. */
struct taken {
	struct buf bytes;
	unsigned files;
	int result;
};

static int put(void *ctx, const void *bytes, size_t len, struct error *err)
{
	struct taken *t = ctx;

	return buf_append(&t->bytes, bytes, len);
}

static int put_file(void *ctx, const struct sys_file_span *span,
		    struct error *err)
{
	struct taken *t = ctx;
	char *bytes = malloc(span->len);
	int ret;

	assert_non_null(bytes);
	assert_int_equal(
		sys_read_at(span->fd, bytes, span->len, span->off, "it", NULL),
		0);
	ret = put(t, bytes, span->len, err);
	free(bytes);
	t->files++;
	return ret ? ret : t->result;
}

/*
 * Sends spans (byte ranges) of both packs to a sink. `takes_files`: the sink
 * also takes ranges of files, not only bytes. Returns the number of ranges of
 * files that the sink got.
 */
static unsigned send(const struct packs *p, bool takes_files)
{
	struct taken t = {BUF_INIT, 0, 0};
	struct plan_span_sink s = {
		.odb = &p->odb,
		.sink = {put, &t, takes_files ? put_file : NULL, NULL}};
	struct pack_sink sink = plan_span_sink(&s);
	struct buf expected = BUF_INIT;

	for (size_t i = 0; i < 4; i++) {
		const uint8_t *b = sys_held_mapped(&p->packs[i % 2].file);

		/* the last range is short */
		size_t len = i == 3 ? 10 : LEN - i;

		assert_int_equal(buf_append(&expected, b + i, len), 0);
		assert_int_equal(sink.put_pinned(sink.ctx, b + i, len, NULL),
				 0);
	}
	assert_int_equal(buf_append(&expected, "end", 3), 0);
	assert_int_equal(sink.put(sink.ctx, "end", 3, NULL), 0);
	assert_int_equal(t.bytes.len, expected.len);
	assert_memory_equal(t.bytes.data, expected.data, expected.len);
	t.result = ERR_PEER;
	if (takes_files)
		assert_int_equal(
			sink.put_pinned(sink.ctx,
					sys_held_mapped(&p->packs[0].file), LEN,
					NULL),
			ERR_PEER);
	plan_span_sink_release(&s);
	buf_release(&expected);
	buf_release(&t.bytes);
	return t.files;
}

static void test_sink(void **state)
{
	struct packs p;

	packs_init(&p);
	assert_int_equal(send(&p, true), 4);
	assert_int_equal(send(&p, false), 0);
	packs_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_sink),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
