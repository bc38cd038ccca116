/* SPDX-License-Identifier: MIT */
/*
 * Tests of receive/receive-fsck.c, the configuration for checks of received
 * objects: the checks are on or off, or some messages are ignored.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "t/unit/pushed.h"

/*
 * Push a commit whose author has no date. The response must be `answer`.
 * `told`: part of the message that the server reports; NULL: not checked.
 */
static void check(const char *config, const char *answer, const char *told)
{
	struct buf text = BUF_INIT;
	struct pushed p;

	pushed_init(&p);
	dialog_config(&p.d, CONFIG_LOCAL, config);
	buf_printf(&text,
		   "tree %s\nauthor A <a@b>\ncommitter A <a@b> 1 +0000\n\nx\n",
		   dialog_hex(&p.d, "t"));
	pushed_object(&p, "n1", OBJ_COMMIT, text.data, text.len);
	pushed_command(&p, "zero n1 refs/heads/new", "report-status");
	assert_string_equal(pushed_run(&p, true), answer);
	if (told)
		assert_non_null(strstr(p.told.data, told));
	assert_int_equal(pushed_leftovers(&p), 0);
	buf_release(&text);
	pushed_release(&p);
}

static void test_switch(void **state)
{
	static const char ok[] = "unpack ok|ok refs/heads/new|F";
	static const char bad[] = "unpack fsck error in packed object|"
				  "ng refs/heads/new unpacker error|F";

	check("", ok, NULL);
	check("[receive]\nfsckObjects\n", bad, ": missingSpaceBeforeDate: ");
	check("[transfer]\nfsckObjects\n", bad, "error: object ");
	check("[receive]\nfsckObjects\n[receive \"fsck\"]\n"
	      "missingSpaceBeforeDate = ignore\n",
	      ok, NULL);
	check("[receive]\nfsckObjects\n[receive \"fsck\"]\n"
	      "missingSpaceBeforeDate = warn\nnoSuchThing = warn\n",
	      ok, "skipping unknown msg id 'nosuchthing'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_switch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
