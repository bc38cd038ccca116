/* SPDX-License-Identifier: MIT */
/*
 * Tests of graph/commit-graph-compare.c, which compares a commit-graph with the
 * commit objects. They prove that each possible difference is reported.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph/commit-graph-verify.h"
#include "t/unit/writtengraph.h"

/* Size in bytes of a commit's record in the chunk CDAT. */
#define RECORD 36

static struct buf compare(struct writtengraph *g, uint32_t graph_pos)
{
	struct buf lines = BUF_INIT;

	writtengraph_open(g);
	assert_int_equal(commit_graph_compare(&lines, g->graph, graph_pos,
					      g->f.w.reader),
			 0);
	return lines;
}

/* Returns a pointer to the field at offset `off` in a commit's record. */
static char *field(struct writtengraph *g, uint32_t graph_pos, size_t off)
{
	return writtengraph_chunk(g, "CDAT") + graph_pos * RECORD + off;
}

static void assert_says(struct writtengraph *g, uint32_t graph_pos,
			const char *part)
{
	struct buf lines = compare(g, graph_pos);

	if (!strstr(lines.data, part))
		fail_msg("'%s' not in '%s'", part, lines.data);
	buf_release(&lines);
	writtengraph_restore(g);
}

static void test_right(void **state)
{
	struct writtengraph g;

	writtengraph_init(&g, HASH_SHA1);
	writtengraph_open(&g);
	for (uint32_t i = 0; i < commit_graph_nr(g.graph); i++) {
		struct buf lines = compare(&g, i);

		assert_string_equal(lines.data, "");
		buf_release(&lines);
	}
	writtengraph_release(&g);
}

static void test_wrong(void **state)
{
	struct writtengraph g;
	uint32_t merge, one;

	writtengraph_init(&g, HASH_SHA1);
	merge = writtengraph_with_parents(&g, 2);
	one = writtengraph_with_parents(&g, 1);
	field(&g, one, 3)[0] ^= 1;
	assert_says(&g, one, "root tree OID for commit ");
	store_be32(field(&g, one, 20), one);
	assert_says(&g, one, "commit-graph parent for ");
	store_be32(field(&g, one, 20), COMMIT_GRAPH_NO_PARENT);
	assert_says(&g, one, "terminates early");
	store_be32(field(&g, merge, 24), COMMIT_GRAPH_NO_PARENT);
	assert_says(&g, merge, "terminates early");
	store_be32(field(&g, one, 24), merge);
	assert_says(&g, one, "is too long");
	store_be32(field(&g, one, 20), 100000);
	assert_says(&g, one, "failed to parse commit ");
	store_be32(field(&g, one, 28), 1 << 2);
	assert_says(&g, one, " is 1 < ");
	store_be32(writtengraph_chunk(&g, "GDA2") + 4 * one, 0);
	store_be32(field(&g, one, 32), 5);
	assert_says(&g, one, "commit-graph generation for commit ");
	field(&g, one, 35)[0] ^= 1;
	assert_says(&g, one, "commit date for commit ");
	writtengraph_chunk(&g, "OIDL")[20 * one + 19] ^= 1;
	assert_says(&g, one, "from object database for commit-graph");
	store_be32(writtengraph_chunk(&g, "GDA2") + 4 * one, 0x80000099);
	assert_says(&g, one, "failed to parse commit ");
	writtengraph_release(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_right),
		cmocka_unit_test(test_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
