/* SPDX-License-Identifier: MIT */
/*
 * Tests of graph/commit-graph-file.c, which makes the bytes of a commit-graph
 * file. They prove that parsing the bytes gives the same commits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "graph/commit-graph-file.h"
#include "graph/commit-graph-layer.h"
#include "object/hash.h"

static const uint32_t parents[] = {0, 0, 3, 4, 0, 3, 9};

static struct commit_graph_record record(uint8_t id, uint64_t date,
					 uint64_t corrected,
					 uint32_t generation,
					 uint32_t first_parent,
					 uint32_t parent_nr)
{
	struct commit_graph_record r = {
		.date = date,
		.corrected = corrected,
		.generation = generation,
		.first_parent = first_parent,
		.parent_nr = parent_nr,
	};

	memset(r.oid.bytes, id, 20);
	memset(r.tree.bytes, 0x7e, 20);
	return r;
}

/* Writes a commit-graph file and parses it. */
static void write_file(struct buf *out, struct commit_graph_layer *layer,
		       const struct commit_graph_file *file)
{
	struct error err = ERROR_INIT;
	struct oid checksum;

	if (commit_graph_file_append(out, &checksum, file, &err) < 0 ||
	    commit_graph_layer_parse(layer, out->data + 1, out->len - 1,
				     file->algo, "graph", &err) < 0)
		fail_msg("%s", err.msg);
	assert_memory_equal(layer->checksum, checksum.bytes,
			    hash_len(file->algo));
	assert_int_equal(hash_check_trailer(out->data + 1, out->len - 1,
					    file->algo, "graph", NULL),
			 0);
}

/*
 * Four commits: a root, its child, a merge, and a merge of three parents. The
 * example in commit-graph-layer.h has the same root.
 */
static void test_parents(void **state)
{
	static const uint8_t root[36] = {
		0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e,
		0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e,
		0x7e, 0x7e, 0x70, 0x00, 0x00, 0x00, 0x70, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x04, 0x3b, 0x9a, 0xca, 0x00,
	};
	static const uint8_t fields[4][8] = {
		{0x70, 0, 0, 0, 0x70, 0, 0, 0},
		{0, 0, 0, 0, 0x70, 0, 0, 0},
		{0, 0, 0, 0, 0, 0, 0, 3},
		{0, 0, 0, 4, 0x80, 0, 0, 0},
	};
	const struct commit_graph_record records[] = {
		record(0x01, 1000000000, 1000000000, 1, 0, 0),
		record(0x02, 7, 1000000001, 2, 0, 1),
		record(0x02 + 1, 8, 1000000001, 2, 1, 2),
		record(0xff, UINT64_C(0x3ffffffff), UINT64_C(0x3ffffffff), 3, 3,
		       3),
	};
	const struct commit_graph_file file = {
		.algo = HASH_SHA1,
		.records = records,
		.nr = 4,
		.parents = parents,
	};
	struct commit_graph_layer layer;
	struct buf out = BUF_INIT;

	buf_append_char(&out, 'x'); /* earlier bytes stay */
	write_file(&out, &layer, &file);
	assert_int_equal(out.data[0], 'x');
	assert_int_equal(layer.nr, 4);
	assert_memory_equal(commit_graph_layer_data(&layer, 0), root, 36);
	for (uint32_t i = 0; i < 4; i++)
		assert_memory_equal(commit_graph_layer_data(&layer, i) + 20,
				    fields[i], 8);
	assert_int_equal(layer.edge_nr, 2);
	assert_int_equal(load_be32(layer.edges), 0);
	assert_int_equal(load_be32(layer.edges + 4), 0x80000003);
	commit_graph_layer_release(&layer);
	buf_release(&out);
}

static void test_bases(void **state)
{
	uint8_t bases[64];
	struct commit_graph_record r = record(0x33, 5, 6, 7, 0, 0);
	const struct commit_graph_file file = {
		.algo = HASH_SHA256,
		.records = &r,
		.nr = 1,
		.parents = parents,
		.below_nr = 9,
		.with_dates = true,
		.bases = bases,
		.base_nr = 2,
	};
	struct commit_graph_layer layer;
	struct buf out = BUF_INIT;

	memset(bases, 0xaa, 32);
	memset(bases + 32, 0xbb, 32);
	buf_append_char(&out, 'x');
	write_file(&out, &layer, &file);
	assert_int_equal(layer.base_nr, 2);
	assert_memory_equal(layer.bases, bases, 64);
	assert_int_equal(layer.edge_nr, 0);
	commit_graph_layer_release(&layer);
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parents),
		cmocka_unit_test(test_bases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
