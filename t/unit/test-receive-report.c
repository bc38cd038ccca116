/* SPDX-License-Identifier: MIT */
/*
 * Tests of receive/receive-report.c, the report of a push: each ref has the
 * right line, also with side bands and for refs that the hook proc-receive has
 * changed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "receive/receive-parts.h"
#include "t/unit/pushed.h"

static const char *report(struct pushed *p, bool v2, bool band,
			  const char *failure)
{
	struct serve_io io = dialog_io(&p->d);
	struct receive_rewrite *w = mem_calloc(1, sizeof(*w));
	struct receive r;

	assert_non_null(w);
	pushed_session(p, &r, &io);
	pushed_take(p, &r, "zero c1 refs/for/main");
	pushed_take(p, &r, "zero c1 refs/heads/x");
	r.request.report = !v2;
	r.request.report_v2 = v2;
	r.peer.band.mode = band ? SIDEBAND_LARGE : SIDEBAND_NONE;
	w->ref = mem_strdup("refs/changes/1");
	w->has_new = w->is_forced = true;
	w->new_oid = *dialog_oid(&p->d, "c2");
	r.request.commands[0].rewrites = w;
	r.request.commands[0].rewrite_nr = 1;
	assert_int_equal(receive_refuse(&r.request.commands[1], "no"), 0);
	buf_reset(&p->d.out);
	assert_int_equal(receive_report(&r, failure, NULL), 0);
	receive_release(&r);
	dialog_transcribe(&p->d);
	return p->d.text.data;
}

static void test_report(void **state)
{
	struct pushed p;

	pushed_init(&p);
	assert_string_equal(report(&p, false, false, NULL),
			    "unpack ok|ok refs/for/main|ng refs/heads/x no|F");
	assert_string_equal(report(&p, true, false, "bad pack"),
			    "unpack bad pack|ok refs/for/main|"
			    "option refname refs/changes/1|option new-oid c2|"
			    "option forced-update|ng refs/heads/x no|F");
	assert_string_equal(report(&p, false, true, NULL),
			    "1:000eunpack ok\n0015ok refs/for/main\n"
			    "0017ng refs/heads/x no\n0000");
	pushed_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
