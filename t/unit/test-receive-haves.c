/* SPDX-License-Identifier: MIT */
/*
 * Tests of receive/receive-haves.c, which lists ids for ".have" lines: the ids
 * of refs of the alternate repositories. The tests set two keys.
 * core.alternateRefsPrefixes selects refs by prefixes of their names.
 * core.alternateRefsCommand is a command that prints the ids.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "receive/receive-advertise.h"
#include "t/unit/pushed.h"

struct list {
	const struct dialog *d;
	struct buf text;
};

static int append(void *ctx, const struct oid *oid)
{
	struct list *l = ctx;
	char hex[OID_MAX_HEX_LEN + 1];

	return buf_printf(&l->text, "%s ",
			  dialog_find(l->d, oid_to_hex(hex, oid, HASH_SHA1),
				      OID_MAX_HEX_LEN));
}

/*
 * List the ids that receive_haves_each() finds. The repository of dialog.h is
 * the alternate.
 */
static int haves(struct pushed *p, struct list *l, const char *config,
		 struct error *err)
{
	struct tmprepo borrower;
	int ret;

	*l = (struct list){&p->d, BUF_INIT};
	*err = (struct error)ERROR_INIT;
	tmprepo_init(&borrower, HASH_SHA1);
	assert_int_equal(config_parse(&borrower.repo.config, config,
				      strlen(config), CONFIG_LOCAL, NULL, NULL,
				      NULL),
			 0);
	tmprepo_write(&borrower, "objects/info/alternates", p->d.t.objects);
	tmprepo_write(&p->d.t, "config",
		      "[core]\nrepositoryformatversion = 0\nbare = true\n");
	ret = receive_haves_each(&borrower.repo, append, l, err, NULL);
	if (err->code)
		print_message("%s\n", err->msg);
	config_release(&borrower.repo.config);
	tmprepo_release(&borrower);
	return ret;
}

static void expect(const char *config, const char *text)
{
	struct error err;
	struct pushed p;
	struct list l;

	pushed_init(&p);
	if (haves(&p, &l, config, &err) < 0)
		fail_msg("%s", err.msg);
	assert_string_equal(l.text.data, text);
	buf_release(&l.text);
	pushed_release(&p);
}

static void test_refs(void **state)
{
	expect("", "c4 s0 h0 v1 ");
	expect("[core]\nalternateRefsPrefixes = refs/tags/\n", "v1 ");
	expect("[core]\nalternateRefsPrefixes = refs/tags/ refs/heads/side\n",
	       "v1 s0 ");
	expect("[core]\nalternateRefsPrefixes = refs/heads/s refs/tags\n",
	       "v1 ");
	expect("[core]\nalternateRefsPrefixes =\n", "c4 s0 h0 v1 ");
}

static void test_command(void **state)
{
	struct pushed p;
	struct buf config = BUF_INIT;
	struct error err;
	struct list l;

	pushed_init(&p);
	buf_printf(&config,
		   "[core]\nalternateRefsCommand = \"f() { test -d $1/refs && "
		   "echo %s; }; f\"\n",
		   dialog_hex(&p.d, "c2"));
	assert_int_equal(haves(&p, &l, config.data, &err), 0);
	assert_string_equal(l.text.data, "c2 ");
	buf_release(&l.text);
	/*
	 * If the command prints a line that is not an id, the list ends with a
	 * warning.
	 */
	assert_int_equal(haves(&p, &l,
			       "[core]\nalternateRefsCommand = echo oops\n",
			       &err),
			 0);
	assert_string_equal(l.text.data, "");
	assert_int_equal(err.code, ERR_CORRUPT);
	buf_release(&l.text);
	buf_release(&config);
	pushed_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refs),
		cmocka_unit_test(test_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
