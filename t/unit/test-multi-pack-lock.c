/* SPDX-License-Identifier: MIT */
/*
 * Tests of packs/multi-pack-lock.c, the lock of a directory's
 * multi-pack-indexes: only one process holds the lock, and others wait.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <cmocka.h>

#include "packs/multi-pack-lock.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "t/unit/midxchain.h"

static void *let_go(void *ctx)
{
	sys_sleep_ns(20 * 1000000);
	sys_tempfile_abort(ctx);
	return NULL;
}

static void test_lock(void **state)
{
	struct sys_tempfile lock, second;
	struct error err = ERROR_INIT;
	struct buf path = BUF_INIT;
	pthread_t thread;
	struct tmprepo t;

	(void)state;
	tmprepo_init(&t, HASH_SHA1);
	buf_printf(&path, "%s/multi-pack-index.lock", t.dir);
	assert_int_equal(multi_pack_lock(&lock, t.dir, 0, NULL), 0);
	assert_true(sys_exists(path.data));
	assert_int_equal(multi_pack_lock(&second, t.dir, 0, &err), ERR_DENIED);
	assert_non_null(strstr(err.msg, path.data));
	assert_int_equal(pthread_create(&thread, NULL, let_go, &lock), 0);
	assert_int_equal(multi_pack_lock(&second, t.dir, 0, NULL), 0);
	pthread_join(thread, NULL);
	sys_tempfile_abort(&second);
	assert_false(sys_exists(path.data));
	buf_release(&path);
	tmprepo_release(&t);
}

static void test_check_packs(void **state)
{
	struct error err = ERROR_INIT;
	struct buf dir = BUF_INIT;
	bool outdated = false;
	struct midxchain m;
	struct odb *odb;

	(void)state;
	midxchain_init(&m, HASH_SHA1);
	midxchain_write(&m, 2);
	buf_printf(&dir, "%s/pack", m.t.objects);
	assert_int_equal(odb_open(&odb, &m.t.repo, NULL, NULL), 0);
	assert_int_equal(multi_pack_check_packs(&outdated,
						&odb->midxes[0]->midx, dir.data,
						NULL),
			 0);
	assert_false(outdated);
	tmprepo_remove(&m.t, "objects/pack/pack-b.idx");
	assert_int_equal(multi_pack_check_packs(&outdated,
						&odb->midxes[0]->midx, dir.data,
						&err),
			 ERR_MISSING);
	assert_true(outdated);
	assert_string_equal(err.msg, "pack-b.idx was removed meanwhile");
	odb_close(odb);
	buf_release(&dir);
	midxchain_release(&m);
}

/*
 * A snapshot of a chain is still current after a layer was added on top. It is
 * outdated after a layer was removed.
 */
static void test_check_current(void **state)
{
	bool outdated = false;
	struct midxchain m;
	struct odb *odb;

	(void)state;
	midxchain_init(&m, HASH_SHA1);
	midxchain_write(&m, 2);
	assert_int_equal(odb_open(&odb, &m.t.repo, NULL, NULL), 0);
	assert_int_equal(multi_pack_check_current(&outdated, odb, 0, NULL), 0);
	midxchain_write(&m, 3);
	assert_int_equal(multi_pack_check_current(&outdated, odb, 0, NULL), 0);
	assert_false(outdated);
	midxchain_write(&m, 1);
	assert_int_equal(multi_pack_check_current(&outdated, odb, 0, NULL),
			 ERR_IO);
	assert_true(outdated);
	odb_close(odb);
	midxchain_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lock),
		cmocka_unit_test(test_check_packs),
		cmocka_unit_test(test_check_current),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
