/* SPDX-License-Identifier: MIT */
/*
 * Tests of graph/commit-graph-verify.c, which verifies a commit-graph. They
 * prove that a right graph passes, and that errors are reported in the order of
 * commit ids.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph/commit-graph-verify.h"
#include "t/unit/writtengraph.h"

static void take_line(void *ctx, const char *line)
{
	buf_printf(ctx, "%s\n", line);
}

static int verify(struct writtengraph *g, struct buf *said, unsigned threads)
{
	const struct commit_graph_verify_options o = {
		.threads = threads, .complain = take_line, .ctx = said};

	buf_reset(said);
	return commit_graph_verify_dir(g->f.odb, &o, NULL);
}

static void test_right(void **state)
{
	struct buf said = BUF_INIT;
	struct writtengraph g;

	for (int i = 0; i < 2; i++) {
		writtengraph_init(&g, i ? HASH_SHA256 : HASH_SHA1);
		assert_int_equal(verify(&g, &said, 2), 0);
		assert_string_equal(said.data, "");
		tmprepo_remove(&g.f.h.r.t, "objects/info/commit-graph");
		assert_int_equal(verify(&g, &said, 2), 0);
		writtengraph_release(&g);
	}
	buf_release(&said);
}

/*
 * All trees in the commit-graph are wrong. The errors must be reported in the
 * order of the commit ids, although threads search for them.
 */
static void test_order(void **state)
{
	struct buf said = BUF_INIT, alone = BUF_INIT;
	struct writtengraph g;
	const char *line;
	uint32_t nr = 0;

	writtengraph_init(&g, HASH_SHA1);
	writtengraph_open(&g);
	for (uint32_t i = 0; i < commit_graph_nr(g.graph); i++)
		writtengraph_chunk(&g, "CDAT")[36 * i] ^= 1;
	writtengraph_store(&g);
	assert_int_equal(verify(&g, &said, 2), COMMIT_GRAPH_IS_WRONG);
	for (line = said.data; *line; line = strchr(line, '\n') + 1, nr++) {
		char hex[OID_MAX_HEX_LEN + 1];

		oid_raw_to_hex(hex, commit_graph_oid_raw(g.graph, nr),
			       HASH_SHA1);
		assert_false(strncmp(line, "root tree OID for commit ", 25));
		assert_memory_equal(line + 25, hex, 40);
	}
	assert_int_equal(nr, commit_graph_nr(g.graph));
	assert_int_equal(verify(&g, &alone, 1), COMMIT_GRAPH_IS_WRONG);
	assert_string_equal(alone.data, said.data);
	buf_release(&said);
	buf_release(&alone);
	writtengraph_release(&g);
}

static void test_ids(void **state)
{
	struct buf said = BUF_INIT;
	struct writtengraph g;
	uint8_t id[20];
	char *ids;

	writtengraph_init(&g, HASH_SHA1);
	ids = writtengraph_chunk(&g, "OIDL");
	memcpy(id, ids, 20);
	memcpy(ids, ids + 20, 20);
	memcpy(ids + 20, id, 20);
	writtengraph_store(&g);
	assert_int_equal(verify(&g, &said, 2), COMMIT_GRAPH_IS_WRONG);
	assert_non_null(strstr(said.data, "has incorrect OID order: "));
	assert_null(strstr(said.data, "root tree"));
	writtengraph_restore(&g);
	writtengraph_chunk(&g, "OIDL")[0] ^= 1;
	writtengraph_store(&g);
	assert_int_equal(verify(&g, &said, 2), COMMIT_GRAPH_IS_WRONG);
	assert_non_null(strstr(said.data, "incorrect fanout value: fanout["));
	buf_release(&said);
	writtengraph_release(&g);
}

static void test_checksum(void **state)
{
	struct buf said = BUF_INIT;
	struct writtengraph g;

	writtengraph_init(&g, HASH_SHA1);
	g.bytes.data[g.bytes.len - 1] ^= 1;
	tmprepo_write_len(&g.f.h.r.t, "objects/info/commit-graph", g.bytes.data,
			  g.bytes.len);
	assert_int_equal(verify(&g, &said, 2), COMMIT_GRAPH_BAD_CHECKSUM);
	assert_string_equal(said.data,
			    "the commit-graph file has incorrect checksum and "
			    "is likely corrupt\n");
	g.bytes.data[0] = 'X';
	writtengraph_store(&g);
	assert_int_equal(verify(&g, &said, 2), COMMIT_GRAPH_IS_WRONG);
	assert_string_equal(said.data,
			    "error: commit-graph signature 58475048 does not "
			    "match signature 43475048\n");
	buf_release(&said);
	writtengraph_release(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_right),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_checksum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
