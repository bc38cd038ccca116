/* SPDX-License-Identifier: MIT */
/*
 * Tests of receive/receive-advertise.c, the advertisement of receive-pack: the
 * right refs, capabilities and ".have" lines are sent, and hidden refs are not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "t/unit/pushed.h"

#define CAPS                                                                   \
	"report-status report-status-v2 delete-refs side-band-64k quiet "      \
	"atomic ofs-delta object-format=sha1 agent=test/1"

static const char *advertise(struct pushed *p)
{
	p->options.advertise_only = true;
	return pushed_run(p, false);
}

static void test_refs(void **state)
{
	struct pushed p;

	pushed_init(&p);
	assert_string_equal(advertise(&p),
			    "c4 refs/heads/main~" CAPS
			    "|s0 refs/heads/side|h0 refs/hidden/h|"
			    "v1 refs/tags/v1|F");
	p.options.version = 1;
	assert_memory_equal(advertise(&p), "version 1|c4 ", 13);
	pushed_release(&p);
}

static void test_hidden(void **state)
{
	struct pushed p;

	pushed_init(&p);
	dialog_config(&p.d, CONFIG_LOCAL,
		      "[transfer]\nhideRefs = refs/heads\n"
		      "[receive]\nhideRefs = refs/hidden\n"
		      "advertiseAtomic = false\nadvertisePushOptions\n");
	assert_string_equal(
		advertise(&p),
		"v1 refs/tags/v1~report-status report-status-v2 delete-refs "
		"side-band-64k quiet ofs-delta push-options "
		"object-format=sha1 agent=test/1|F");
	dialog_config(&p.d, CONFIG_LOCAL, "[transfer]\nhideRefs = refs\n");
	assert_memory_equal(advertise(&p), "zero capabilities^{}~", 21);
	pushed_release(&p);
}

/*
 * Refs outside of the namespace are not advertised by name. Their ids are
 * advertised as ".have" lines.
 */
static void test_namespace(void **state)
{
	struct pushed p;

	pushed_init(&p);
	dialog_ref(&p.d, "refs/namespaces/a/refs/heads/x", "s0");
	dialog_ref(&p.d, "refs/zz", "c4");
	p.options.namespace = "a";
	assert_string_equal(advertise(&p),
			    "c4 .have~" CAPS "|s0 .have|h0 .have|"
			    "s0 refs/heads/x|v1 .have|F");
	pushed_release(&p);
}

static void test_shallow(void **state)
{
	struct pushed p;
	struct buf text = BUF_INIT;

	pushed_init(&p);
	buf_printf(&text, "%s\n", dialog_hex(&p.d, "c1"));
	tmprepo_write(&p.d.t, "shallow", text.data);
	assert_non_null(strstr(advertise(&p), "|v1 refs/tags/v1|shallow c1|F"));
	buf_release(&text);
	pushed_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refs),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_namespace),
		cmocka_unit_test(test_shallow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
