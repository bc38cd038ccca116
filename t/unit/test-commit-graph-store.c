/* SPDX-License-Identifier: MIT */
/* graph/commit-graph-store.c: a file is put in place, or nothing changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph/commit-graph-store.h"
#include "sys/map.h"
#include "t/unit/tmprepo.h"

static void assert_content(const struct tmprepo *t, const char *name,
			   const char *text)
{
	struct buf path = BUF_INIT, content = BUF_INIT;

	buf_printf(&path, "%s/%s", t->dir, name);
	assert_int_equal(sys_read_file(&content, path.data, NULL), 0);
	assert_string_equal(content.data, text);
	buf_release(&path);
	buf_release(&content);
}

static void install(const struct tmprepo *t, const char *text, int ret)
{
	struct buf bytes = BUF_INIT;

	buf_append_str(&bytes, text);
	assert_int_equal(
		commit_graph_install(&t->repo, t->objects, &bytes, NULL), ret);
	buf_release(&bytes);
}

static void test_install(void **state)
{
	static const char graph[] = "objects/info/commit-graph";
	static const char lock[] = "objects/info/commit-graph.lock";
	struct buf path = BUF_INIT;
	struct sys_stat st;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	install(&t, "one", 0);
	assert_content(&t, graph, "one");
	install(&t, "two", 0);
	assert_content(&t, graph, "two");
	buf_printf(&path, "%s/%s", t.dir, graph);
	assert_int_equal(sys_stat(&st, path.data, NULL), 0);
	assert_int_equal(st.mode & 0333, 0);
	tmprepo_write(&t, lock, "");
	install(&t, "three", ERR_DENIED);
	assert_content(&t, graph, "two");
	assert_content(&t, lock, "");
	tmprepo_remove(&t, lock);
	install(&t, "three", 0);
	assert_content(&t, graph, "three");
	buf_release(&path);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_install),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
