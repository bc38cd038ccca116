/* SPDX-License-Identifier: MIT */
/*
 * Tests of config/config.c and its parts, which load Git's configuration. They
 * prove that files, includes, the environment and options are read as
 * git-config(1) says, and that values get their types.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "sys/map.h"
#include "t/unit/confenv.h"
#include "t/unit/tmprepo.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct tmprepo home;

static int setup(void **state)
{
	tmprepo_init(&home, HASH_SHA1);
	confenv_clear(home.dir);
	return 0;
}

static int teardown(void **state)
{
	tmprepo_release(&home);
	return 0;
}

/*
 * Returns the whole configuration as text: "key=value;" for each entry, or
 * "key;" for an entry without a value.
 */
static char *flat(const struct config *config)
{
	struct buf out = BUF_INIT;

	for (size_t i = 0; i < config->nr; i++) {
		const struct config_entry *e = &config->entries[i];

		if (e->value)
			buf_printf(&out, "%s=%s;", e->key, e->value);
		else
			buf_printf(&out, "%s;", e->key);
	}
	return buf_detach(&out, NULL);
}

static void assert_flat(struct config *config, const char *expected)
{
	char *got = flat(config);

	assert_string_equal(got, expected);
	free(got);
	config_release(config);
}

static void parses(const char *text, const char *expected)
{
	struct config config = CONFIG_INIT;
	struct error err = ERROR_INIT;

	if (config_parse(&config, text, strlen(text), CONFIG_LOCAL, NULL, NULL,
			 &err) < 0)
		fail_msg("%s: %s", text, err.msg);
	assert_flat(&config, expected);
}

static void fails(const char *text, unsigned line)
{
	struct config config = CONFIG_INIT;
	struct error err = ERROR_INIT;
	char message[64];

	snprintf(message, sizeof(message), "bad config line %u", line);
	assert_int_equal(config_parse(&config, text, strlen(text), CONFIG_LOCAL,
				      NULL, NULL, &err),
			 ERR_CORRUPT);
	assert_string_equal(err.msg, message);
	config_release(&config);
}

static void values(void **state)
{
	parses("", "");
	parses("[a]\nb=c\n", "a.b=c;");
	parses("[a]b=c", "a.b=c;");
	parses("[a]\nb", "a.b;");
	parses("[a]\nb=", "a.b=;");
	parses("[a]\n b \t= \tc  d \t; e\n", "a.b=c  d;");
	parses("[a]\nb = c\td\n", "a.b=c\td;");
	parses("[a]\nb = \"x ; y\" z # w\n", "a.b=x ; y z;");
	parses("[a]\nb = \" x \"  \n", "a.b= x ;");
	parses("[a]\nb = a\"b\"c\n", "a.b=abc;");
	parses("[a]\nb = x\\n\\t\\b\\\"\\\\z\n", "a.b=x\n\t\b\"\\z;");
	parses("[a]\nb = x\\\n  y\nc", "a.b=x  y;a.c;");
	parses("[a]\nb = x ; z\\\nc=d\n", "a.b=x;a.c=d;");
	parses("[a]\nb = \"x\\\ny\"\n", "a.b=xy;");
	parses("[a]\nb = x\\", "a.b=x;");
	parses("[a]\r\nb=c\r\nd\r\ne=f\\\r\ng\r\n", "a.b=c;a.d;a.e=fg;");
	parses("[a]\nb=c\r", "a.b=c;");
	parses("\n# x\n ;y\n", "");
	parses("\xef\xbb\xbf[a]\nb=1\n", "a.b=1;");
}

static void keys(void **state)
{
	parses("[A]\nB-2=1\n", "a.b-2=1;");
	parses("[a][b]c=1\n", "b.c=1;");
	parses("[a-1.B]\nC=1\n", "a-1.b.c=1;");
	parses("[a \"B c\"]\nD=1\n", "a.B c.d=1;");
	parses("[a \t\"b\"]d\n", "a.b.d;");
	parses("[a \"b\\\"c\\\\d\\te\"]f\n", "a.b\"c\\dte.f;");
	parses("[a \"\"]b\n", "a..b;");
	parses("[a.b \"C.d\"]e\n", "a.b.C.d.e;");
	parses("b=1\n", "b=1;");
}

static void malformed(void **state)
{
	static const struct {
		const char *text;
		unsigned line;
	} cases[] = {
		{"[a]\nb c\n", 2},
		{"[a]\nb # c\n", 2},
		{"[a]\nb_c=1\n", 2},
		{"[a]\n1b=1\n", 2},
		{"[a]\n-b=1\n", 2},
		{"[a]\nb = \"x\n", 2},
		{"[a]\nb = x\\q\n", 2},
		{"[a]\n\n\nb=1\n\n[a\n", 6},
		{"[a]\nb = x\\\n\\q", 3},
		{"[]\n", 1},
		{"[ a]\n", 1},
		{"[a ]\n", 1},
		{"[a_b]\n", 1},
		{"[a \"b\" ]\n", 1},
		{"[a \"b\nc\"]\n", 1},
		{"[a \"b", 1},
		{"]\n", 1},
		{"\xef\xbb[a]\n", 1},
		{"\xef\xbb\xbf\xef\xbb\xbf[a]\n", 1},
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		fails(cases[i].text, cases[i].line);
}

static void message_names_the_file(void **state)
{
	struct config config = CONFIG_INIT;
	struct error err = ERROR_INIT;

	assert_int_equal(config_parse(&config, "[a]\n?", 5, CONFIG_LOCAL,
				      "/x/config", NULL, &err),
			 ERR_CORRUPT);
	assert_string_equal(err.msg, "bad config line 2 in file /x/config");
	config_release(&config);
}

static void booleans(void **state)
{
	static const struct {
		const char *text;
		int value;
	} cases[] = {
		{NULL, 1},   {"true", 1},   {"YES", 1},         {"on", 1},
		{"1", 1},    {"2", 1},      {"-1", 1},          {"1k", 1},
		{"0x10", 1}, {"false", 0},  {"No", 0},          {"off", 0},
		{"0", 0},    {"", 0},       {"00", 0},          {"t", -1},
		{"tru", -1}, {"1 ", -1},    {"1.5", -1},        {"2g", -1},
		{"0x", -1},  {"maybe", -1}, {"2147483648", -1},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		int got = config_parse_bool(cases[i].text);

		assert_int_equal(got < 0 ? -1 : got, cases[i].value);
	}
}

static void boolean_words(void **state)
{
	static const char *const numbers[] = {"0", "1", "-1", "2", "1k", "x"};

	assert_int_equal(config_parse_bool_word(NULL), 1);
	assert_int_equal(config_parse_bool_word("Yes"), 1);
	assert_int_equal(config_parse_bool_word("OFF"), 0);
	assert_int_equal(config_parse_bool_word(""), 0);
	for (size_t i = 0; i < COUNT(numbers); i++)
		assert_int_equal(config_parse_bool_word(numbers[i]),
				 ERR_INVALID);
}

static void typed(void **state)
{
	static const char text[] =
		"[a]\nyes\nno=0\nk=3k\nneg=-2M\nbig=9223372036854775807\n"
		"over=9223372036854775808\nunit=3q\nempty=\ng=8589934592g\n"
		"flag=maybe\nu=18446744073709551615\nk=4\n";
	struct config config = CONFIG_INIT;
	struct error err = ERROR_INIT;
	int64_t i = 7;
	uint64_t u = 7;
	bool b = false;

	assert_int_equal(config_parse(&config, text, strlen(text), CONFIG_LOCAL,
				      NULL, NULL, NULL),
			 0);
	assert_int_equal(config_bool(&config, "a.yes", &b, NULL), 1);
	assert_true(b);
	assert_int_equal(config_bool(&config, "a.no", &b, NULL), 1);
	assert_false(b);
	assert_int_equal(config_bool(&config, "a.none", &b, NULL), 0);
	assert_int_equal(config_bool(&config, "a.flag", &b, &err), ERR_INVALID);
	assert_string_equal(err.msg,
			    "bad boolean config value 'maybe' for 'a.flag'");

	assert_int_equal(config_i64(&config, "a.none", &i, NULL), 0);
	assert_int_equal(i, 7);
	assert_int_equal(config_i64(&config, "a.k", &i, NULL), 1);
	assert_int_equal(i, 4);
	assert_int_equal(config_i64(&config, "a.neg", &i, NULL), 1);
	assert_int_equal(i, -2 * 1024 * 1024);
	assert_int_equal(config_i64(&config, "a.big", &i, NULL), 1);
	assert_true(i == INT64_MAX);
	assert_int_equal(config_i64(&config, "a.over", &i, &err), ERR_INVALID);
	assert_string_equal(err.msg, "bad numeric config value "
				     "'9223372036854775808' for 'a.over': "
				     "out of range");
	assert_int_equal(config_i64(&config, "a.g", &i, &err), ERR_INVALID);
	assert_int_equal(config_i64(&config, "a.unit", &i, &err), ERR_INVALID);
	assert_string_equal(
		err.msg,
		"bad numeric config value '3q' for 'a.unit': invalid unit");
	assert_int_equal(config_i64(&config, "a.empty", &i, NULL), ERR_INVALID);
	assert_int_equal(config_i64(&config, "a.yes", &i, NULL), ERR_INVALID);
	assert_true(i == INT64_MAX);

	assert_int_equal(config_u64(&config, "a.u", &u, NULL), 1);
	assert_true(u == UINT64_MAX);
	assert_int_equal(config_u64(&config, "a.neg", &u, NULL), ERR_INVALID);
	assert_int_equal(config_u64(&config, "a.over", &u, NULL), 1);
	assert_string_equal(config_string(&config, "a.yes"), "");
	assert_null(config_string(&config, "a.none"));
	config_release(&config);
}

static int note_entry(void *ctx, const struct config_entry *entry)
{
	struct buf *out = ctx;

	buf_printf(out, "%s=%s;", entry->key, entry->value);
	return !strcmp(entry->value, "stop") ? 5 : 0;
}

static void visits(void **state)
{
	static const char text[] = "[a]\nb=1\n[ab]\nb=2\n[a]\nb=3\n"
				   "[a \"x\"]\nb=4\n";
	struct config config = CONFIG_INIT;
	struct buf out = BUF_INIT;

	assert_int_equal(config_parse(&config, text, strlen(text), CONFIG_LOCAL,
				      NULL, NULL, NULL),
			 0);
	assert_int_equal(config_each(&config, "a.b", note_entry, &out), 0);
	assert_string_equal(out.data, "a.b=1;a.b=3;");
	buf_reset(&out);
	assert_int_equal(config_each(&config, "a.", note_entry, &out), 0);
	assert_string_equal(out.data, "a.b=1;a.b=3;a.x.b=4;");
	assert_string_equal(config_find(&config, "a.b")->value, "3");
	buf_reset(&out);
	free(config.entries[0].value);
	config.entries[0].value = strdup("stop");
	assert_int_equal(config_each(&config, "a.", note_entry, &out), 5);
	assert_string_equal(out.data, "a.b=stop;");
	buf_release(&out);
	config_release(&config);
}

/* ---- sources */

/* Returns the branch that a test has written into the file "branch". */
static char *test_branch(void *ctx)
{
	struct buf path = BUF_INIT, text = BUF_INIT;

	buf_printf(&path, "%s/branch", home.dir);
	sys_read_file(&text, path.data, NULL);
	buf_release(&path);
	return text.len ? buf_detach(&text, NULL) : NULL;
}

static void load(struct config *config, const char *git_dir)
{
	struct config_sources sources = {.git_dir = git_dir,
					 .common_dir = git_dir,
					 .branch = test_branch};
	struct error err = ERROR_INIT;

	if (config_load(config, &sources, &err) < 0)
		fail_msg("%s", err.msg);
}

static void loads(const char *git_dir, const char *expected)
{
	struct config config = CONFIG_INIT;

	load(&config, git_dir);
	assert_flat(&config, expected);
}

static void load_fails(const char *git_dir, int code, const char *message)
{
	struct config_sources sources = {.git_dir = git_dir,
					 .common_dir = git_dir};
	struct config config = CONFIG_INIT;
	struct error err = ERROR_INIT;

	assert_int_equal(config_load(&config, &sources, &err), code);
	if (!strstr(err.msg, message))
		fail_msg("'%s' is not about '%s'", err.msg, message);
	assert_int_equal(config.nr, 0);
}

static void order_of_sources(void **state)
{
	struct config_sources protected = {.git_dir = home.dir,
					   .common_dir = home.dir,
					   .protected_only = true};
	struct config config = CONFIG_INIT;
	struct buf path = BUF_INIT;

	tmprepo_write(&home, "system", "[s]\na=system\n");
	tmprepo_write(&home, ".config/git/config", "[s]\na=xdg\n");
	tmprepo_write(&home, ".gitconfig", "[s]\na=home\n");
	tmprepo_write(&home, "config", "[s]\na=local\n");
	buf_printf(&path, "%s/system", home.dir);
	setenv("GIT_CONFIG_SYSTEM", path.data, 1);
	setenv("GIT_CONFIG_NOSYSTEM", "0", 1);
	setenv("GIT_CONFIG_COUNT", "1", 1);
	setenv("GIT_CONFIG_KEY_0", "S.A", 1);
	setenv("GIT_CONFIG_VALUE_0", "count", 1);
	setenv("GIT_CONFIG_PARAMETERS", "'s.a=parameters'", 1);
	load(&config, home.dir);
	assert_int_equal(config.entries[0].scope, CONFIG_SYSTEM);
	assert_int_equal(config.entries[2].scope, CONFIG_GLOBAL);
	assert_int_equal(config.entries[3].scope, CONFIG_LOCAL);
	assert_int_equal(config.entries[5].scope, CONFIG_COMMAND);
	assert_flat(&config, "s.a=system;s.a=xdg;s.a=home;s.a=local;"
			     "s.a=count;s.a=parameters;");

	assert_int_equal(config_load(&config, &protected, NULL), 0);
	assert_flat(&config, "s.a=system;s.a=xdg;s.a=home;"
			     "s.a=count;s.a=parameters;");

	unsetenv("GIT_CONFIG_COUNT");
	unsetenv("GIT_CONFIG_PARAMETERS");
	setenv("GIT_CONFIG_NOSYSTEM", "true", 1);
	setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
	loads(home.dir, "s.a=local;");
	setenv("GIT_CONFIG_GLOBAL", path.data, 1);
	loads(NULL, "s.a=system;");
	setenv("GIT_CONFIG_NOSYSTEM", "maybe", 1);
	load_fails(NULL, ERR_INVALID, "'maybe' for 'GIT_CONFIG_NOSYSTEM'");
	buf_release(&path);
	confenv_clear(home.dir);
	tmprepo_remove(&home, ".gitconfig");
	tmprepo_remove(&home, ".config/git/config");
}

static void parameters(void **state)
{
	static const struct {
		const char *text, *expected; /* NULL: an error */
	} cases[] = {
		{"", ""},
		{"'a.b=c' 'd.E.F=g h'\t'x.y' ", "a.b=c;d.E.f=g h;x.y;"},
		{"'a.b'='c' 'd.e'= 'x.Y'=''", "a.b=c;d.e;x.y=;"},
		{"'a.b'='d'\\''e' 'a.c'='d'\\!'e'", "a.b=d'e;a.c=d!e;"},
		{"'a.b.c=d.e=y'", "a.b.c=d.e=y;"},
		{"' a.b =y'", "a.b=y;"},
		{"'a.x=y.b'='z'", "a.x=y.b=z;"},
		{"a.b=c", NULL},
		{" 'a.b=c'", NULL},
		{"'a.b'=c", NULL},
		{"'a.b=c'x", NULL},
		{"'a.b=c", NULL},
		{"'a.b''c.d'", NULL},
		{"'a.b'='d'\\x'e'", NULL},
		{"'ab=c'", NULL},
		{"'.b=c'", NULL},
		{"'a.=c'", NULL},
		{"'a.1=c'", NULL},
		{"'a_b.c=d'", NULL},
		{"'=c'", NULL},
		{"''='c'", NULL},
		{"'a.x\ny.b'='c'", NULL},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		setenv("GIT_CONFIG_PARAMETERS", cases[i].text, 1);
		if (cases[i].expected)
			loads(NULL, cases[i].expected);
		else
			load_fails(NULL, ERR_INVALID,
				   "unable to parse command-line config: ");
	}
	unsetenv("GIT_CONFIG_PARAMETERS");
}

static void counted(void **state)
{
	setenv("GIT_CONFIG_COUNT", "2", 1);
	setenv("GIT_CONFIG_KEY_0", "A.B c.D", 1);
	setenv("GIT_CONFIG_VALUE_0", "x\ny", 1);
	setenv("GIT_CONFIG_KEY_1", "a.b", 1);
	unsetenv("GIT_CONFIG_VALUE_1");
	load_fails(NULL, ERR_INVALID,
		   "missing config value GIT_CONFIG_VALUE_1");
	setenv("GIT_CONFIG_VALUE_1", "", 1);
	loads(NULL, "a.B c.d=x\ny;a.b=;");
	setenv("GIT_CONFIG_COUNT", "3", 1);
	load_fails(NULL, ERR_INVALID, "missing config key GIT_CONFIG_KEY_2");
	setenv("GIT_CONFIG_COUNT", "3x", 1);
	load_fails(NULL, ERR_INVALID, "bogus count in GIT_CONFIG_COUNT");
	setenv("GIT_CONFIG_COUNT", "-1", 1);
	load_fails(NULL, ERR_INVALID, "too many entries in GIT_CONFIG_COUNT");
	setenv("GIT_CONFIG_COUNT", "", 1);
	loads(NULL, "");
	unsetenv("GIT_CONFIG_COUNT");
}

/* ---- includes */

static void includes(void **state)
{
	struct buf text = BUF_INIT;

	tmprepo_write(&home, "inc", "[x]\ny=1\n");
	tmprepo_write(&home, "config", "[include]\npath=inc\n[z]a=1\n");
	loads(home.dir, "include.path=inc;x.y=1;z.a=1;");
	tmprepo_write(&home, "config", "[include]\npath=~/inc\n");
	loads(home.dir, "include.path=~/inc;x.y=1;");
	tmprepo_write(&home, "config", "[include]\npath=none\n");
	loads(home.dir, "include.path=none;");
	tmprepo_write(&home, "config", "[include \"x\"]\npath=inc\n");
	loads(home.dir, "include.x.path=inc;");

	tmprepo_write(&home, "config", "[a]\nb\n[include]\npath\n");
	load_fails(home.dir, ERR_CORRUPT, "bad config line 4 in file ");
	tmprepo_write(&home, "config", "[include]\npath=~nosuchuser/x\n");
	load_fails(home.dir, ERR_CORRUPT,
		   "could not expand include path '~nosuchuser/x'");
	tmprepo_write(&home, "config", "[include]\npath=.\n");
	load_fails(home.dir, ERR_IO, "Is a directory");
	tmprepo_write(&home, "inc", "[x\n");
	tmprepo_write(&home, "config", "[include]\npath=inc\n");
	load_fails(home.dir, ERR_CORRUPT, "/inc");
	tmprepo_write(&home, "config", "[include]\npath=config\n");
	load_fails(home.dir, ERR_CORRUPT,
		   "exceeded maximum include depth (10)");

	tmprepo_write(&home, "config", "");
	setenv("GIT_CONFIG_PARAMETERS", "'include.path=inc'", 1);
	load_fails(home.dir, ERR_INVALID,
		   "relative config includes must come from files");
	setenv("GIT_CONFIG_PARAMETERS", "'includeIf.gitdir:./.path=/none'", 1);
	load_fails(home.dir, ERR_INVALID,
		   "relative config include conditionals must come from files");
	tmprepo_write(&home, "inc", "[x]\ny=1\n");
	buf_printf(&text, "'include.path=%s/inc' 'a.b=c'", home.dir);
	setenv("GIT_CONFIG_PARAMETERS", text.data, 1);
	buf_reset(&text);
	buf_printf(&text, "include.path=%s/inc;x.y=1;a.b=c;", home.dir);
	loads(home.dir, text.data);
	unsetenv("GIT_CONFIG_PARAMETERS");
	buf_release(&text);
}

/*
 * Returns whether the condition of includeIf."<condition>" is true for the git
 * directory "<dir>/x.git".
 */
static bool holds_below(const char *dir, const char *condition)
{
	struct config config = CONFIG_INIT;
	struct buf text = BUF_INIT;
	bool found;

	buf_printf(&text, "[includeIf \"%s\"]\npath=inc\n", condition);
	tmprepo_write(&home, ".gitconfig", text.data);
	buf_reset(&text);
	buf_printf(&text, "%s/x.git", dir);
	load(&config, text.data);
	found = config_find(&config, "x.yes") != NULL;
	config_release(&config);
	buf_release(&text);
	tmprepo_remove(&home, ".gitconfig");
	return found;
}

/* Like holds_below(), for the repository in home/r. */
static bool holds(const char *condition)
{
	struct buf dir = BUF_INIT;
	bool ret;

	buf_printf(&dir, "%s/r", home.dir);
	ret = holds_below(dir.data, condition);
	buf_release(&dir);
	return ret;
}

static void git_dir_conditions(void **state)
{
	static const struct {
		const char *condition;
		bool holds;
	} cases[] = {
		{"gitdir:~/r/", true},      {"gitdir:~/r/x.git", true},
		{"gitdir:~/r", false},      {"gitdir:~/", true},
		{"gitdir:./r/*", true},     {"gitdir:./x.git", false},
		{"gitdir:r/", true},        {"gitdir:x.git", true},
		{"gitdir:x.git/", false},   {"gitdir:r/x.g?t", true},
		{"gitdir:**/r/**", true},   {"gitdir:/**", true},
		{"gitdir:/r/x.git", false}, {"gitdir:R/X.git", false},
		{"gitdir/i:R/X.git", true}, {"gitdir/i:~/R/", true},
		{"GITDIR:x.git", false},    {"unknown:x.git", false},
		{"gitdir", false},
	};

	tmprepo_write(&home, "inc", "[x]\nyes=1\n");
	tmprepo_write(&home, "r/x.git/HEAD", "ref: refs/heads/a/b/c\n");
	for (size_t i = 0; i < COUNT(cases); i++)
		if (holds(cases[i].condition) != cases[i].holds)
			fail_msg("%s", cases[i].condition);
}

static void expanded_git_dir_conditions(void **state)
{
	const struct passwd *user = getpwuid(getuid());
	struct buf pattern = BUF_INIT;

	assert_non_null(user);
	tmprepo_write(&home, "inc", "[x]\nyes=1\n");
	assert_true(holds_below("/a", "gitdir:%(prefix)//a/"));
	assert_false(holds_below("/a", "gitdir:%(prefix)/a/"));
	assert_true(holds_below("/a/~nosuchuser", "gitdir:~nosuchuser/"));
	buf_printf(&pattern, "gitdir:~%s/*", user->pw_name);
	assert_true(holds_below(user->pw_dir, pattern.data));
	assert_false(holds_below(home.dir, pattern.data));
	buf_release(&pattern);
}

static void branch_conditions(void **state)
{
	tmprepo_write(&home, "inc", "[x]\nyes=1\n");
	tmprepo_write(&home, "branch", "refs/heads/a/b/c");
	assert_true(holds("onbranch:a/b/c"));
	assert_true(holds("onbranch:a/"));
	assert_true(holds("onbranch:**/c"));
	assert_false(holds("onbranch:a/*"));
	assert_false(holds("onbranch:refs/heads/a/b/c"));
	assert_false(holds("onbranch:"));
	tmprepo_write(&home, "branch", "refs/tags/a");
	assert_false(holds("onbranch:**"));
	tmprepo_remove(&home, "branch");
	assert_false(holds("onbranch:**"));
}

static void url_conditions(void **state)
{
	tmprepo_write(&home, "inc", "[x]\nyes=1\n");
	tmprepo_write(&home, "r/x.git/config",
		      "[remote \"o\"]\nurl=https://e/a/b\n");
	assert_true(holds("hasconfig:remote.*.url:https://e/**"));
	assert_false(holds("hasconfig:remote.*.url:https://e/*"));
	assert_false(holds("hasconfig:remote.o.url:https://e/**"));
	tmprepo_write(&home, ".gitconfig",
		      "[includeIf \"hasconfig:remote.*.url:https://e/**\"]\n"
		      "path=inc\n[remote \"q\"]url=https://e/x\n");
	tmprepo_write(&home, "inc", "[remote \"z\"]\nurl=x\n");
	load_fails(NULL, ERR_CORRUPT, "remote URLs cannot be configured");
	tmprepo_write(&home, ".gitconfig",
		      "[includeIf \"hasconfig:remote.*.url:other\"]\n"
		      "path=inc\n");
	load_fails(NULL, ERR_CORRUPT, "remote URLs cannot be configured");
	tmprepo_write(&home, "inc", "[x\n");
	load_fails(NULL, ERR_CORRUPT, "/inc");
	tmprepo_remove(&home, ".gitconfig");
	tmprepo_remove(&home, "r/x.git/config");
}

static void worktree_config(void **state)
{
	tmprepo_write(&home, "config.worktree", "[w]\na=1\n");
	tmprepo_write(&home, "config",
		      "[core]\nrepositoryformatversion=1\n"
		      "[extensions]\nworktreeConfig\n");
	loads(home.dir, "core.repositoryformatversion=1;"
			"extensions.worktreeconfig;w.a=1;");
	tmprepo_write(&home, "config", "[extensions]\nworktreeConfig\n");
	loads(home.dir, "extensions.worktreeconfig;");
	tmprepo_write(&home, "config", "[extensions]\nworktreeConfig=huh\n");
	load_fails(home.dir, ERR_CORRUPT, "'huh'");
	tmprepo_remove(&home, "config.worktree");
}

static void expands(const char *value, const char *suffix)
{
	char *got = config_expand_path(value);
	struct buf expected = BUF_INIT;

	buf_printf(&expected, "%s%s", home.dir, suffix);
	assert_string_equal(got, expected.data);
	free(got);
	buf_release(&expected);
}

/* "%(prefix)/" becomes an absolute path, unless an absolute path follows. */
static void prefix_of_path(void **state)
{
	char *below = config_expand_path("%(prefix)/x");
	char *absolute = config_expand_path("%(prefix)//x");
	char *name = config_expand_path("%(prefix)x");

	assert_int_equal(below[0], '/');
	assert_true(strlen(below) > 2);
	assert_string_equal(below + strlen(below) - 2, "/x");
	assert_string_equal(absolute, "/x");
	assert_string_equal(name, "%(prefix)x");
	free(below);
	free(absolute);
	free(name);
}

static void paths(void **state)
{
	char *same = config_expand_path("/a/~b");

	assert_string_equal(same, "/a/~b");
	free(same);
	expands("~/x", "/x");
	expands("~", "");
	assert_null(config_expand_path("~nosuchuser/x"));
	unsetenv("HOME");
	assert_null(config_expand_path("~/x"));
	setenv("HOME", home.dir, 1);
}

/* Reads the value of a path; *path is NULL if the variable is not set. */
static void reads_path(const char *value, const char *dir, int ret,
		       const char *path)
{
	char *got;

	assert_int_equal(config_path(&got, value, dir), ret);
	if (path)
		assert_string_equal(got, path);
	else
		assert_null(got);
	free(got);
}

static void optional_paths(void **state)
{
	struct buf there = BUF_INIT;

	buf_printf(&there, "%s/there", home.dir);
	tmprepo_write(&home, "there", "");
	reads_path("/a/b", NULL, 1, "/a/b");
	reads_path(":(optional)/nothing/here", NULL, 0, NULL);
	reads_path(":(optional)~/there", NULL, 1, there.data);
	reads_path(":(optional)there", home.dir, 1, "there");
	reads_path(":(optional)nothing", home.dir, 0, NULL);
	reads_path(":(optional)", home.dir, 0, NULL);
	reads_path(":(optional)~nosuchuser/x", NULL, ERR_INVALID, NULL);
	tmprepo_remove(&home, "there");
	buf_release(&there);
}

static int note_line(void *ctx, const struct config_line *line)
{
	struct buf *out = ctx;

	return buf_printf(out, "%u %s=%s\n", line->line, line->key,
			  line->value ? line->value : "-");
}

static int stop_line(void *ctx, const struct config_line *line)
{
	return 7;
}

static void test_lines(void **state)
{
	static const char text[] = "# x\n[A]\n\tb = 1\n[c \"D\"] e\nf = \\\n 2";
	struct buf out = BUF_INIT;

	assert_int_equal(config_each_line(text, strlen(text), NULL, note_line,
					  &out, NULL),
			 0);
	assert_string_equal(out.data, "3 a.b=1\n4 c.D.e=-\n6 c.D.f=2\n");
	assert_int_equal(config_each_line(text, strlen(text), NULL, stop_line,
					  NULL, NULL),
			 7);
	assert_int_equal(config_each_line("=", 1, NULL, note_line, &out, NULL),
			 ERR_CORRUPT);
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values),
		cmocka_unit_test(keys),
		cmocka_unit_test(malformed),
		cmocka_unit_test(message_names_the_file),
		cmocka_unit_test(booleans),
		cmocka_unit_test(boolean_words),
		cmocka_unit_test(typed),
		cmocka_unit_test(visits),
		cmocka_unit_test(order_of_sources),
		cmocka_unit_test(parameters),
		cmocka_unit_test(counted),
		cmocka_unit_test(includes),
		cmocka_unit_test(git_dir_conditions),
		cmocka_unit_test(expanded_git_dir_conditions),
		cmocka_unit_test(branch_conditions),
		cmocka_unit_test(url_conditions),
		cmocka_unit_test(worktree_config),
		cmocka_unit_test(prefix_of_path),
		cmocka_unit_test(paths),
		cmocka_unit_test(optional_paths),
		cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests_name("config", tests, setup, teardown);
}
