/* SPDX-License-Identifier: MIT */
/*
 * Tests of graph/commit-graph-layer.c, which parses one commit-graph file. They
 * prove that the commits of a file made by hand are found, and that damaged
 * files are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "graph/commit-graph-layer.h"
#include "t/unit/graphfile.h"

#define NONE COMMIT_GRAPH_NO_PARENT

static const struct graphfile_commit commits[] = {
	{0x00, 0x70, NONE, NONE, 1, 5},
	{0x01, 0x71, 0, NONE, 2, 6},
	{0x01 + 1, 0x72, 1, NONE, 3, 7},
	{0xff, 0x7e, NONE, NONE, 1, 1000000000},
};

static const struct graphfile file = {
	.commits = commits, .nr = 4, .bases = "", .checksum = 0xee};

static int parse(struct commit_graph_layer *layer, const struct buf *bytes)
{
	return commit_graph_layer_parse(layer, bytes->data, bytes->len,
					HASH_SHA1, "graph", NULL);
}

static void test_find(void **state)
{
	struct commit_graph_layer layer;
	struct buf bytes = BUF_INIT;
	uint8_t raw[20];

	graphfile_append(&bytes, &file);
	assert_int_equal(parse(&layer, &bytes), 0);
	assert_int_equal(layer.nr, 4);
	assert_int_equal(layer.checksum[0], 0xee);
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t pos = 99;

		memset(raw, commits[i].id, sizeof(raw));
		assert_true(commit_graph_layer_find(&layer, raw, &pos));
		assert_int_equal(pos, i);
		raw[19] ^= 1;
		assert_false(commit_graph_layer_find(&layer, raw, &pos));
	}
	commit_graph_layer_release(&layer);
	buf_release(&bytes);
}

/* Parses the commit of the example in commit-graph-layer.h. */
static void test_dump(void **state)
{
	static const uint8_t record[36] = {
		0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e,
		0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e,
		0x7e, 0x7e, 0x70, 0x00, 0x00, 0x00, 0x70, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x04, 0x3b, 0x9a, 0xca, 0x00,
	};
	struct commit_graph_layer layer;
	struct buf bytes = BUF_INIT;

	graphfile_append(&bytes, &file);
	assert_int_equal(parse(&layer, &bytes), 0);
	assert_memory_equal(commit_graph_layer_data(&layer, 3), record, 36);
	commit_graph_layer_release(&layer);
	buf_release(&bytes);
}

static void test_header(void **state)
{
	static const struct {
		size_t at;
		char value;
		int ret;
	} cases[] = {
		{0, 'X', ERR_CORRUPT},      {4, 2, ERR_UNSUPPORTED},
		{5, 2, ERR_CORRUPT},        {6, 6, ERR_CORRUPT},
		{6, 4, ERR_CORRUPT},        {7, 1, ERR_CORRUPT},
		{8, 'X', ERR_CORRUPT},      /* no chunk of the fanout */
		{8 + 12, 'X', ERR_CORRUPT}, /* no chunk of ids */
		{8 + 24, 'X', ERR_CORRUPT}, /* no chunk of commit data */
		{8 + 11, 1, ERR_CORRUPT},   /* fanout inside the chunk table */
		{8 + 4, 1, ERR_CORRUPT},    /* fanout far past the end */
		{8 + 23, 0, ERR_CORRUPT},   /* chunk offsets descend */
		{8 + 72, 1, ERR_CORRUPT},   /* fanout[0] too large */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct commit_graph_layer layer;
		struct buf bytes = BUF_INIT;

		graphfile_append(&bytes, &file);
		bytes.data[cases[i].at] = cases[i].value;
		assert_int_equal(parse(&layer, &bytes), cases[i].ret);
		assert_null(layer.name);
		buf_release(&bytes);
	}
}

/*
 * A truncated file is refused. Each truncated file gets its own allocation, so
 * that AddressSanitizer reports reads past its end.
 */
static void test_truncated(void **state)
{
	struct buf bytes = BUF_INIT;

	graphfile_append(&bytes, &file);
	for (size_t len = 0; len < bytes.len; len += 7) {
		struct commit_graph_layer layer;
		uint8_t *copy = malloc(len + 1);

		assert_non_null(copy);
		memcpy(copy, bytes.data, len);
		assert_int_equal(commit_graph_layer_parse(&layer, copy, len,
							  HASH_SHA1, "graph",
							  NULL),
				 ERR_CORRUPT);
		free(copy);
	}
	buf_release(&bytes);
}

static void test_missing(void **state)
{
	struct commit_graph_layer layer;

	assert_int_equal(commit_graph_layer_open(&layer, "/nonexistent/graph",
						 HASH_SHA1, NULL),
			 ERR_MISSING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_dump),
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
