/* SPDX-License-Identifier: MIT */
/*
 * Tests of copies/copies.h while the store does not answer: the marker file of
 * a copy, which may be large, is read once and not by each request.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "copies/copies.h"
#include "sys/io.h"
#include "sys/map.h"
#include "t/unit/copynode.h"

#define MARKER COPYNODE_COPY "/" REPO_COPY_MARKER
#define HOUR_NS UINT64_C(3600000000000)

struct served {
	struct copynode c;
	struct stored_copies *copies;
	struct countstore count;
};

static void served_open(struct served *s)
{
	const struct stored_copies_options options = {
		.dir = s->c.node->dir,
		.origin = copynode_origin(&s->c),
		.stale_ns = HOUR_NS,
	};
	struct stored_node *node;

	assert_int_equal(stored_copies_open(&s->copies, &options, &s->c.err),
			 0);
	node = stored_copies_node(s->copies);
	node->store = countstore_init(&s->count, node->store);
}

/*
 * Uses the copy of a repository. Returns the number of its generation, or a
 * negative error code.
 */
static int visit(struct served *s, bool is_stale)
{
	struct stored_use use = {0};
	int ret = stored_copies_enter(s->copies, &use, s->c.s.place.repository,
				      &s->c.err);

	if (ret)
		return ret;
	assert_int_equal(use.is_stale, is_stale);
	ret = (int)stored_copy_generation(use.copy)->number;
	stored_copies_leave(&use);
	return ret;
}

/*
 * Overwrites the marker file of the copy, so that it cannot be read any more.
 * The file keeps its inode, size and time.
 */
static void damage_marker(struct served *s)
{
	const char *path = netrepo_path(&s->c.s.n, MARKER);
	struct buf marker = BUF_INIT;
	struct sys_stat st;
	struct timespec times[2];
	FILE *file;

	assert_int_equal(sys_stat(&st, path, NULL), 0);
	assert_int_equal(sys_read_file(&marker, path, NULL), 0);
	memset(marker.data, 'x', marker.len);
	file = fopen(path, "r+");
	assert_non_null(file);
	assert_int_equal(fwrite(marker.data, 1, marker.len, file), marker.len);
	assert_int_equal(fclose(file), 0);
	times[0].tv_sec = times[1].tv_sec = st.mtime_ns / 1000000000;
	times[0].tv_nsec = times[1].tv_nsec = st.mtime_ns % 1000000000;
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	buf_release(&marker);
}

/*
 * A process that has read the marker once does not read it again. A process
 * that has never read the marker cannot use a copy whose marker is damaged.
 */
static void test_marker_read_once(void **state)
{
	struct served s;
	int number;

	memset(&s, 0, sizeof(s));
	copynode_init(&s.c);
	copynode_push(&s.c, "two");
	served_open(&s);
	number = visit(&s, false);
	assert_true(number > 0);
	stored_copies_close(s.copies);

	/* A new process reads the marker for the first request only. */
	served_open(&s);
	s.count.is_down = true;
	assert_int_equal(visit(&s, true), number);
	damage_marker(&s);
	assert_int_equal(visit(&s, true), number);
	stored_copies_close(s.copies);

	served_open(&s);
	s.count.is_down = true;
	assert_int_equal(visit(&s, true), ERR_IO);
	stored_copies_close(s.copies);
	copynode_release(&s.c);
}

/* Removes the marker file of the copy before the first read from the store. */
static void remove_marker(void *ctx, const char *name)
{
	struct served *s = ctx;

	s->count.before_read = NULL;
	assert_int_equal(unlink(netrepo_path(&s->c.s.n, MARKER)), 0);
}

/*
 * The marker file is removed while the store is asked. Then the copy is made
 * anew, although the process remembers the generation of the marker.
 */
static void test_marker_removed(void **state)
{
	struct served s;
	int number;

	memset(&s, 0, sizeof(s));
	copynode_init(&s.c);
	copynode_push(&s.c, "two");
	served_open(&s);
	number = visit(&s, false);
	assert_true(number > 0);
	s.count.ctx = &s;
	s.count.before_read = remove_marker;
	/* A process that relies on what it remembers would ask without end. */
	alarm(60);
	assert_int_equal(visit(&s, false), number);
	alarm(0);
	assert_null(s.count.before_read);
	assert_true(sys_exists(netrepo_path(&s.c.s.n, MARKER)));
	stored_copies_close(s.copies);
	copynode_release(&s.c);
}

/*
 * The number of entries for repositories is limited. The entry that was not
 * used for the longest time is dropped first.
 */
static void test_many_repositories(void **state)
{
	struct stored_use use = {0};
	struct served s;
	char name[32];

	memset(&s, 0, sizeof(s));
	copynode_init(&s.c);
	copynode_push(&s.c, "two");
	served_open(&s);
	assert_true(visit(&s, false) > 0);
	s.count.is_down = true;
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "r%d", i);
		assert_int_equal(
			stored_copies_enter(s.copies, &use, name, NULL),
			ERR_IO);
		if (i % 1000 == 0)
			assert_true(visit(&s, true) > 0);
	}
	/*
	 * The copy was used again and again, so its entry is still there, and
	 * its damaged marker is not read.
	 */
	damage_marker(&s);
	assert_true(visit(&s, true) > 0);
	/* After 5,000 further repositories, the entry is dropped. */
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		assert_int_equal(
			stored_copies_enter(s.copies, &use, name, NULL),
			ERR_IO);
	}
	assert_int_equal(visit(&s, true), ERR_IO);
	stored_copies_close(s.copies);
	copynode_release(&s.c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_marker_read_once),
		cmocka_unit_test(test_marker_removed),
		cmocka_unit_test(test_many_repositories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
