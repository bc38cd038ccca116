/* SPDX-License-Identifier: MIT */
/*
 * Tests of serve/hook.c, which runs uploadpack.packObjectsHook. They prove that
 * the hook gets the right arguments and input, that its output is sent, and
 * that a repository cannot set the hook.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>

#include "t/unit/dialog.h"

/*
 * A hook that prints its arguments and its input. This output is sent in place
 * of a pack.
 */
#define SHOW "[uploadpack]\npackObjectsHook = \"sh -c 'echo $*; cat' --\"\n"
#define W "want c4 no-progress|"

static void check(struct dialog *d, const char *script, const char *want)
{
	assert_string_equal(dialog_answer(d, script), want);
}

static void test_hook(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	dialog_config(&d, CONFIG_COMMAND, SHOW);
	check(&d, W "F|done",
	      "NAK|=git pack-objects --revs --stdout\nc4\n--not\n");
	assert_int_equal(d.ret, 0);
	check(&d,
	      "want c4 thin-pack ofs-delta include-tag|F|have c1|have c2|done",
	      "ACK c1|=git pack-objects --revs --thin --stdout --progress "
	      "--delta-base-offset --include-tag\nc4\n--not\nc1\nc2\n");
	check(&d, W "deepen 1|F|done",
	      "shallow c4|F|NAK|=git --shallow-file pack-objects --revs "
	      "--stdout --shallow\n--shallow c4\nc4\n--not\n");
	dialog_release(&d);
}

/* A hook that prints each of its arguments in angle brackets. */
#define BRACKETS                                                               \
	"[uploadpack]\npackObjectsHook = \"sh -c 'printf \\\\<%s\\\\> "        \
	"\\\"$@\\\"' --\"\nallowFilter\n"

/*
 * Three requests give the hook special arguments: an empty one, a filter, and
 * --missing=allow-promisor (the client gets some objects from a promisor
 * remote).
 */
static void test_arguments(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	dialog_config(&d, CONFIG_COMMAND, BRACKETS);
	check(&d, W "deepen 1|F|done",
	      "shallow c4|F|NAK|=<git><--shallow-file><><pack-objects><--revs>"
	      "<--stdout><--shallow>");
	check(&d, "want c4 no-progress filter|filter blob:none|F|done",
	      "NAK|=<git><pack-objects><--revs><--stdout>"
	      "<--filter=blob:none>");
	dialog_config(&d, CONFIG_LOCAL,
		      "[promisor]\nadvertise\n"
		      "[remote \"b\"]\npromisor\nurl = https://b/x\n");
	d.options.version = 2;
	check(&d,
	      "command=fetch|promisor-remote=b|D|want c4|no-progress|done|F|F",
	      "packfile|1:<git><pack-objects><--revs><--stdout>"
	      "<--missing=allow-promisor>|F");
	dialog_release(&d);
}

static void note(void *ctx, const struct summary *s, const struct error *error)
{
	const char *strategy = summary_text(s, SUMMARY_STRATEGY);

	if (!strcmp(s->command, "fetch"))
		buf_append_str(ctx, strategy ? strategy : "none");
}

/* The summary of the request says that a hook has made the pack. */
static void test_summary(void **state)
{
	struct buf text = BUF_INIT;
	const struct summary_about about = {.done = note, .ctx = &text};
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	dialog_config(&d, CONFIG_COMMAND, SHOW);
	d.options.about = &about;
	dialog_run(&d, W "F|done");
	assert_int_equal(d.ret, 0);
	assert_string_equal(text.data, "hook");
	buf_release(&text);
	dialog_release(&d);
}

/*
 * The hook gets the path of the served repository as GIT_DIR, even if GIT_DIR
 * has another value in the environment of this process.
 */
static void test_git_dir(void **state)
{
	struct dialog d;
	char want[256];

	dialog_init(&d, HASH_SHA1);
	dialog_config(&d, CONFIG_COMMAND,
		      "[uploadpack]\npackObjectsHook = \"echo $GIT_DIR; :\"\n");
	setenv("GIT_DIR", "/elsewhere", 1);
	snprintf(want, sizeof(want), "NAK|=%s", d.t.dir);
	check(&d, W "F|done", want);
	unsetenv("GIT_DIR");
	dialog_release(&d);
}

static void test_failures(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	dialog_config(&d, CONFIG_COMMAND,
		      "[uploadpack]\npackObjectsHook = exit 3 ;\n");
	check(&d, "want c4 side-band-64k|F|done",
	      "NAK|3:aborting due to possible repository corruption on the "
	      "remote side.");
	assert_int_equal(d.ret, ERR_IO);
	assert_string_equal(d.err.msg,
			    "uploadpack.packObjectsHook failed with status 3");
	dialog_release(&d);
}

/* A hook that is set in the repository's own configuration is not run. */
static void test_local(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	dialog_config(&d, CONFIG_LOCAL, SHOW);
	check(&d, W "F|done", "NAK|=PACK wants=c4");
	dialog_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hook),
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_git_dir),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_local),
	};

	/*
	 * Ignore SIGPIPE, as upload-pack does: a hook may exit before it has
	 * read its input.
	 */
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
