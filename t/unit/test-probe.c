/* SPDX-License-Identifier: MIT */
/*
 * Tests of store/probe.c, which checks a store before it is used. For each
 * promise of store/filestore.h, a store that breaks this promise must be
 * refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "store/open.h"
#include "store/probe.h"
#include "sys/clock.h"
#include "sys/tempdir.h"

enum fault {
	NO_FAULT,
	/*
	 * The store accepts a put with the condition "the file does not exist",
	 * and ignores the condition.
	 */
	IGNORES_CREATE,
	/* The store ignores the condition "the file has this entity tag". */
	IGNORES_REPLACE,
	/* The store checks a condition some time before it writes the file. */
	RACY_CREATE,
	RACY_REPLACE,
	/* If several clients write at the same time, none of them succeeds. */
	ALWAYS_CONFLICT,
	/* A new file is missing in listings. */
	STALE_LIST,
	/* A new file is not found. */
	STALE_READ,
	NO_DELETE,
	NO_TAG,
	/* Reading returns bytes that nobody has written. */
	OTHER_CONTENT,
	/*
	 * Puts have no effect and get no response. So the caller does not know
	 * whether they took effect.
	 */
	LOST_ANSWERS,
	DENIED,
};

/*
 * A store that breaks one promise. Calls that have nothing to do with this
 * promise are passed to an intact store in a directory.
 */
struct broken {
	struct filestore store;
	struct filestore *inner;
	enum fault fault;
};

static struct broken *of_store(struct filestore *s)
{
	return (struct broken *)s;
}

static int read_broken(struct filestore *s, struct filestore_info *info,
		       const struct filestore_sink *sink, const char *name,
		       uint64_t off, uint64_t len, struct error *err)
{
	struct broken *b = of_store(s);

	if (b->fault == STALE_READ)
		return STORE_ABSENT;
	if (b->fault == OTHER_CONTENT && !strstr(name, "sight"))
		return sink->write(sink->ctx, "99", 2, err);
	return b->inner->ops->read(b->inner, info, sink, name, off, len, err);
}

static int head_broken(struct filestore *s, struct filestore_info *info,
		       const char *name, struct error *err)
{
	struct broken *b = of_store(s);
	int ret = b->inner->ops->head(b->inner, info, name, err);

	if (b->fault == NO_TAG)
		*info->etag = '\0';
	return ret;
}

/*
 * Put function of a racy store: checks the condition, waits, and then writes
 * the file without a condition. Returns the result of the put, or
 * STORE_CONFLICT if the condition was false.
 */
static int put_late(struct broken *b, char *etag, const char *name,
		    const void *bytes, size_t len,
		    const struct filestore_condition *c, struct error *err)
{
	const struct filestore_condition always = {STORE_ALWAYS, NULL};
	struct filestore_info info;
	int ret = b->inner->ops->head(b->inner, &info, name, err);

	if (c->kind == STORE_CREATE ? ret != STORE_ABSENT
				    : ret || strcmp(info.etag, c->etag))
		return STORE_CONFLICT;
	sys_sleep_ns(50000000);
	return b->inner->ops->put(b->inner, etag, name, bytes, len, &always,
				  err);
}

static int put_broken(struct filestore *s, char *etag, const char *name,
		      const void *bytes, size_t len,
		      const struct filestore_condition *c, struct error *err)
{
	const struct filestore_condition always = {STORE_ALWAYS, NULL};
	struct broken *b = of_store(s);
	bool creates = c->kind == STORE_CREATE, in_race = len < 3;

	switch (b->fault) {
	case LOST_ANSWERS:
		return STORE_AMBIGUOUS;
	case DENIED:
		return error_set(err, ERR_DENIED, "no");
	case ALWAYS_CONFLICT:
		if (in_race)
			return STORE_CONFLICT;
		break;
	case IGNORES_CREATE:
		c = creates ? &always : c;
		break;
	case IGNORES_REPLACE:
		c = creates ? c : &always;
		break;
	case RACY_CREATE:
	case RACY_REPLACE:
		if (in_race && creates == (b->fault == RACY_CREATE))
			return put_late(b, etag, name, bytes, len, c, err);
		break;
	default:
		break;
	}
	return b->inner->ops->put(b->inner, etag, name, bytes, len, c, err);
}

static int list_broken(struct filestore *s, struct filestore_page *page,
		       const char *prefix, size_t limit, struct error *err)
{
	struct broken *b = of_store(s);

	if (b->fault == STALE_LIST)
		return 0;
	return b->inner->ops->list(b->inner, page, prefix, limit, err);
}

static int delete_broken(struct filestore *s, const char *name,
			 struct error *err)
{
	struct broken *b = of_store(s);

	if (b->fault == NO_DELETE)
		return 0;
	return b->inner->ops->delete (b->inner, name, err);
}

/*
 * Probes a store with the fault `fault`. The result must be `want`, with the
 * error message `message`.
 */
static void check(enum fault fault, int want, const char *message)
{
	static const struct filestore_ops ops = {
		.read = read_broken,
		.head = head_broken,
		.put = put_broken,
		.list = list_broken,
		.delete = delete_broken,
	};
	struct broken b = {.store = {.ops = &ops}, .fault = fault};
	struct sys_tempdir dir = SYS_TEMPDIR_INIT;
	struct error err = ERROR_INIT;

	assert_int_equal(sys_tempdir_create(&dir, "/tmp", "store-", NULL), 0);
	assert_int_equal(store_directory_make(&b.inner, dir.path, NULL), 0);
	assert_int_equal(store_probe(&b.store, &err), want);
	if (message && !strstr(err.msg, message))
		fail_msg("'%s' lacks '%s'", err.msg, message);
	filestore_close(b.inner);
	sys_tempdir_release(&dir);
}

static void test_good(void **state)
{
	check(NO_FAULT, 0, NULL);
}

static void test_conditions(void **state)
{
	check(IGNORES_CREATE, ERR_UNSUPPORTED,
	      "not safe to use: a file can be created twice");
	check(IGNORES_REPLACE, ERR_UNSUPPORTED,
	      "of 32 concurrent attempts to replace one file succeeded");
	check(NO_TAG, ERR_UNSUPPORTED, "no entity tag");
}

static void test_races(void **state)
{
	check(RACY_CREATE, ERR_UNSUPPORTED,
	      "of 32 concurrent attempts to create one file succeeded");
	check(RACY_REPLACE, ERR_UNSUPPORTED,
	      "of 32 concurrent attempts to replace one file succeeded");
	check(ALWAYS_CONFLICT, ERR_UNSUPPORTED,
	      "none of the concurrent attempts");
	check(OTHER_CONTENT, ERR_UNSUPPORTED,
	      "not have the content of the writer");
}

static void test_sight(void **state)
{
	check(STALE_LIST, ERR_UNSUPPORTED, "a listing lacks a file");
	check(STALE_READ, ERR_UNSUPPORTED, "a file that was written is not");
	check(NO_DELETE, ERR_UNSUPPORTED, "a file that was deleted is found");
}

static void test_failures(void **state)
{
	check(LOST_ANSWERS, STORE_UNAVAILABLE, NULL);
	check(DENIED, ERR_DENIED, "no");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_races),
		cmocka_unit_test(test_sight),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
