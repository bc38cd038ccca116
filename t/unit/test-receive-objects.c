/* SPDX-License-Identifier: MIT */
/*
 * Tests of receive/receive-objects.c: the pack of a push is kept, unpacked to
 * loose objects, or refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "receive/receive-objects.h"
#include "t/unit/pushed.h"

/*
 * Receive a pack without its last `cut` bytes. Sets *kept to true if the pack
 * was kept, to false if it was unpacked. Returns the result of receiving.
 */
static int take(const char *config, size_t cut, bool *kept)
{
	struct receive_objects o;
	struct receive r;
	struct pushed p;
	struct serve_io io;
	struct oid other = OID_ZERO_INIT;
	int ret;

	pushed_init(&p);
	dialog_config(&p.d, CONFIG_LOCAL, config);
	pushed_commit(&p, "n1", "c4");
	pushed_commit(&p, "n2", "n1");
	packfile_finish(&p.pack);
	buf_append(&p.d.in, p.pack.bytes.data, p.pack.bytes.len - cut);
	io = dialog_io(&p.d);
	pushed_session(&p, &r, &io);
	ret = receive_objects_take(&o, &r, NULL);
	if (!ret) {
		struct odb *odb;

		assert_true(receive_objects_has(&o, HASH_SHA1,
						dialog_oid(&p.d, "n2")));
		assert_false(receive_objects_has(&o, HASH_SHA1, &other));
		assert_int_equal(odb_open(&odb, &r.quarantine.view, NULL, NULL),
				 0);
		assert_true(odb_has(odb, dialog_oid(&p.d, "n1")));
		*kept = !odb_has_loose(odb, dialog_oid(&p.d, "n1"));
		odb_close(odb);
	}
	receive_objects_release(&o);
	receive_release(&r);
	assert_int_equal(pushed_leftovers(&p), 0);
	pushed_release(&p);
	return ret;
}

static void test_take(void **state)
{
	bool kept;

	assert_int_equal(take("", 0, &kept), 0);
	assert_false(kept);
	assert_int_equal(take("[receive]\nunpackLimit = 2\n", 0, &kept), 0);
	assert_true(kept);
	assert_int_equal(take("[receive]\nunpackLimit = 3\n", 0, &kept), 0);
	assert_false(kept);
}

static void test_refused(void **state)
{
	bool kept;

	assert_int_equal(take("[receive]\nmaxInputSize = 50\n", 0, &kept),
			 ERR_DENIED);
	for (size_t cut = 1; cut < 100; cut += 7)
		assert_true(take("", cut, &kept) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_take),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
