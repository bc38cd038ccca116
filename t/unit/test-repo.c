/* SPDX-License-Identifier: MIT */
/*
 * Tests of repo/repo.c and its parts: repositories are found as stock Git finds
 * them, unsafe ones are refused, and new ones are created.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "repo/repo.h"
#include "sys/map.h"
#include "t/unit/confenv.h"
#include "t/unit/tmprepo.h"

static struct tmprepo top;
static char path_bytes[2][4096];

/*
 * Returns "<top>/<name>". The string is valid until the second call after this
 * one.
 */
static const char *in_top(const char *name)
{
	static unsigned turn;
	char *out = path_bytes[turn++ % 2];

	snprintf(out, sizeof(path_bytes[0]), "%s%s%s", top.dir,
		 *name ? "/" : "", name);
	return out;
}

static int setup(void **state)
{
	char *real;

	tmprepo_init(&top, HASH_SHA1);
	real = realpath(top.dir, NULL);
	free(top.dir);
	top.dir = real;
	confenv_clear(top.dir);
	setenv("GIT_CEILING_DIRECTORIES", top.dir, 1);
	return repo_init(in_top("w/.git"), in_top("w"), "main", HASH_SHA1,
			 NULL) ||
	       repo_init(in_top("b.git"), NULL, NULL, HASH_SHA1, NULL);
}

static int teardown(void **state)
{
	tmprepo_release(&top);
	return 0;
}

static int open_at(struct repo **repo, const char *name, unsigned flags,
		   struct error *err)
{
	struct repo_options options = {.path = in_top(name), .flags = flags};

	return repo_open(repo, &options, err);
}

/*
 * Opens the repository `name`, which must have these directories. All paths are
 * relative to the test's temporary directory. `worktree` "-": there is no work
 * tree.
 */
static void opens(const char *name, unsigned flags, const char *git_dir,
		  const char *worktree)
{
	struct error err = ERROR_INIT;
	struct repo *repo;

	if (open_at(&repo, name, flags, &err) < 0)
		fail_msg("%s: %s", name, err.msg);
	assert_string_equal(repo->git_dir, in_top(git_dir));
	if (strcmp(worktree, "-"))
		assert_string_equal(repo->worktree, in_top(worktree));
	else
		assert_null(repo->worktree);
	repo_close(repo);
}

static void refuses(const char *name, unsigned flags, int code,
		    const char *message)
{
	struct error err = ERROR_INIT;
	struct repo *repo = (struct repo *)-1;

	assert_int_equal(open_at(&repo, name, flags, &err), code);
	assert_null(repo);
	if (!strstr(err.msg, message))
		fail_msg("%s: '%s' is not about '%s'", name, err.msg, message);
}

static void holds_text(const char *name, const char *expected)
{
	struct buf text = BUF_INIT;

	assert_int_equal(sys_read_file(&text, in_top(name), NULL), 0);
	assert_string_equal(text.data, expected);
	buf_release(&text);
}

/* ---- creation */

static void makes_what_git_makes(void **state)
{
	static const char *const dirs[] = {
		"objects/info", "objects/pack", "refs/heads",
		"refs/tags",    "hooks",        "info",
	};
	struct sys_stat st;

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		char name[64];

		snprintf(name, sizeof(name), "b.git/%s", dirs[i]);
		assert_int_equal(sys_stat(&st, in_top(name), NULL), 0);
		assert_true(st.is_dir);
	}
	holds_text("b.git/HEAD", "ref: refs/heads/master\n");
	holds_text("b.git/config", "[core]\n"
				   "\trepositoryformatversion = 0\n"
				   "\tfilemode = true\n"
				   "\tbare = true\n");
	holds_text("w/.git/HEAD", "ref: refs/heads/main\n");
	holds_text("w/.git/config", "[core]\n"
				    "\trepositoryformatversion = 0\n"
				    "\tfilemode = true\n"
				    "\tbare = false\n"
				    "\tlogallrefupdates = true\n");
}

static void makes_sha256(void **state)
{
	struct error err = ERROR_INIT;
	struct repo *repo;

	assert_int_equal(
		repo_init(in_top("s.git"), NULL, "x", HASH_SHA256, NULL), 0);
	holds_text("s.git/config", "[extensions]\n"
				   "\tobjectformat = sha256\n"
				   "[core]\n"
				   "\trepositoryformatversion = 1\n"
				   "\tfilemode = true\n"
				   "\tbare = true\n");
	assert_int_equal(open_at(&repo, "s.git", 0, NULL), 0);
	assert_int_equal(repo->algo, HASH_SHA256);
	assert_int_equal(repo->format_version, 1);
	assert_true(repo->is_bare);
	repo_close(repo);
	assert_int_equal(repo_init(in_top("s.git"), NULL, "x", HASH_SHA1, &err),
			 ERR_INVALID);
	assert_non_null(strstr(err.msg, "different hash"));
}

static void keeps_what_is_there(void **state)
{
	static const char config[] = "[a]\n\tb = c\n[core]\n"
				     "\trepositoryformatversion = 0\n"
				     "\tfilemode = false\n\tbare = yes";

	assert_int_equal(repo_init(in_top("k.git"), NULL, "x", 0, NULL), 0);
	tmprepo_write(&top, "k.git/config", config);
	tmprepo_write(&top, "k.git/description", "mine\n");
	assert_int_equal(repo_init(in_top("k.git"), NULL, "y", 0, NULL), 1);
	holds_text("k.git/HEAD", "ref: refs/heads/x\n");
	holds_text("k.git/config", config);
	holds_text("k.git/description", "mine\n");

	assert_int_equal(repo_init(in_top("k.git"), in_top(""), "y", 0, NULL),
			 1);
	opens("k.git", 0, "k.git", "");

	tmprepo_write(&top, "k.git/config",
		      "[core]\nrepositoryformatversion=7\n");
	assert_int_equal(repo_init(in_top("k.git"), NULL, "y", 0, NULL),
			 ERR_UNSUPPORTED);
}

static void copies_templates(void **state)
{
	struct repo_init_options options = {.branch = "x",
					    .template_dir = in_top("tpl")};
	struct sys_stat st;
	struct buf link = BUF_INIT;

	tmprepo_write(&top, "tpl/hooks/post", "run\n");
	chmod(in_top("tpl/hooks/post"), 0755);
	tmprepo_write(&top, "tpl/.hidden", "no\n");
	tmprepo_write(&top, "tpl/d/.hidden", "no\n");
	tmprepo_write(&top, "tpl/config", "[core]\n\tbare = false\n[x]y=1");
	assert_int_equal(symlink("../x", in_top("tpl/hooks/link")), 0);
	options.template_dir = in_top("tpl");
	assert_int_equal(repo_init_from(in_top("t.git"), &options, NULL), 0);
	assert_int_equal(sys_stat(&st, in_top("t.git/hooks/post"), NULL), 0);
	assert_true(st.mode & 0100);
	assert_int_equal(sys_readlink(&link, in_top("t.git/hooks/link"), NULL),
			 0);
	assert_string_equal(link.data, "../x");
	assert_false(sys_exists(in_top("t.git/.hidden")));
	assert_false(sys_exists(in_top("t.git/d/.hidden")));
	assert_false(sys_exists(in_top("t.git/description")));
	holds_text("t.git/config", "[core]\n\tbare = true\n"
				   "\trepositoryformatversion = 0\n"
				   "\tfilemode = true\n[x]y=1");
	buf_release(&link);
}

/* ---- discovery */

static void discovers(void **state)
{
	tmprepo_write(&top, "w/a/b/file", "");
	opens("w", 0, "w/.git", "w");
	opens("w/a/b", 0, "w/.git", "w");
	opens("b.git", 0, "b.git", "-");
	opens("b.git/refs/heads", 0, "b.git", "-");
	opens("w/.git", 0, "w/.git", "-");
	tmprepo_write(&top, "empty/a/file", "");
	refuses("empty/a", 0, ERR_MISSING,
		"not a git repository (or any of the parent directories): "
		".git");
}

static void stops_at_ceilings(void **state)
{
	setenv("GIT_CEILING_DIRECTORIES", in_top("w"), 1);
	refuses("w/a/b", 0, ERR_MISSING, "not a git repository (or any");
	opens("w", 0, "w/.git", "w");
	setenv("GIT_CEILING_DIRECTORIES", in_top("w/a/b"), 1);
	opens("w/a/b", 0, "w/.git", "w");
	setenv("GIT_CEILING_DIRECTORIES", "a/b:relative", 1);
	opens("w/a/b", 0, "w/.git", "w");
	setenv("GIT_CEILING_DIRECTORIES", top.dir, 1);
}

static void needs_head_objects_and_refs(void **state)
{
	static const struct {
		const char *head;
		bool valid;
	} cases[] = {
		{"ref: refs/heads/x\n", true},
		{"ref:refs/heads/x", true},
		{"0123456789012345678901234567890123456789\n", true},
		{"012345678901234567890123456789012345678\n", false},
		{"ref: x\n", false},
		{"", false},
	};

	assert_int_equal(repo_init(in_top("v.git"), NULL, "x", 0, NULL), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tmprepo_write(&top, "v.git/HEAD", cases[i].head);
		if (cases[i].valid)
			opens("v.git", REPO_OPEN_EXACT, "v.git", "-");
		else
			refuses("v.git", REPO_OPEN_EXACT, ERR_MISSING,
				"does not appear to be a git repository");
	}
	tmprepo_remove(&top, "v.git/HEAD");
	assert_int_equal(symlink("refs/heads/none", in_top("v.git/HEAD")), 0);
	opens("v.git", REPO_OPEN_EXACT, "v.git", "-");
	tmprepo_remove(&top, "v.git/refs/tags");
	tmprepo_remove(&top, "v.git/refs/heads");
	tmprepo_remove(&top, "v.git/refs");
	refuses("v.git", REPO_OPEN_EXACT, ERR_MISSING, "does not appear");
}

static void follows_gitfiles(void **state)
{
	tmprepo_write(&top, "g/.git", "gitdir: ../w/.git\n");
	opens("g", 0, "w/.git", "g");
	opens("g", REPO_OPEN_ENTER, "w/.git", "-");
	tmprepo_write(&top, "g/.git", "gitdir: ../b.git\r\n");
	opens("g", 0, "b.git", "-");
	tmprepo_write(&top, "g/.git", "gitdir:../w/.git\n");
	refuses("g", 0, ERR_CORRUPT, "invalid gitfile format: ");
	tmprepo_write(&top, "g/.git", "gitdir: \n");
	refuses("g", 0, ERR_CORRUPT, "no path in gitfile: ");
	tmprepo_write(&top, "g/.git", "gitdir: ../none\n");
	refuses("g", 0, ERR_MISSING, "not a git repository: ");
	refuses("g", REPO_OPEN_ENTER, ERR_MISSING, "not a git repository: ");
}

static void linked_worktrees_share(void **state)
{
	struct repo *repo;

	tmprepo_write(&top, "b.git/worktrees/l/HEAD", "ref: refs/heads/l\n");
	tmprepo_write(&top, "b.git/worktrees/l/commondir", "../..\n");
	tmprepo_write(&top, "l/.git", "gitdir: ../b.git/worktrees/l\n");
	assert_int_equal(open_at(&repo, "l", 0, NULL), 0);
	assert_string_equal(repo->git_dir, in_top("b.git/worktrees/l"));
	assert_string_equal(repo->common_dir, in_top("b.git"));
	assert_string_equal(repo->object_dir, in_top("b.git/objects"));
	assert_string_equal(repo->worktree, in_top("l"));
	assert_false(repo->is_bare);
	repo_close(repo);
	tmprepo_write(&top, "b.git/worktrees/l/commondir", "");
	refuses("l", 0, ERR_CORRUPT, "failed to read ");
}

static void enters(void **state)
{
	opens("w", REPO_OPEN_ENTER, "w/.git", "-");
	opens("w//", REPO_OPEN_ENTER, "w/.git", "-");
	opens("w/.git", REPO_OPEN_ENTER, "w/.git", "-");
	opens("b", REPO_OPEN_ENTER, "b.git", "-");
	opens("b.git", REPO_OPEN_EXACT, "b.git", "-");
	refuses("b", REPO_OPEN_EXACT, ERR_MISSING, "does not appear");
	refuses("w", REPO_OPEN_EXACT, ERR_MISSING, "does not appear");
	refuses("w/a", REPO_OPEN_ENTER, ERR_MISSING, "does not appear");
	/*
	 * For the name <dir>, these paths are tried in this order: <dir>/.git,
	 * <dir>, <dir>.git/.git and <dir>.git.
	 */
	assert_int_equal(repo_init(in_top("o.git"), NULL, "x", 0, NULL), 0);
	opens("o", REPO_OPEN_ENTER, "o.git", "-");
	assert_int_equal(repo_init(in_top("o.git/.git"), NULL, "x", 0, NULL),
			 0);
	opens("o", REPO_OPEN_ENTER, "o.git/.git", "-");
	assert_int_equal(repo_init(in_top("o"), NULL, "x", 0, NULL), 0);
	opens("o", REPO_OPEN_ENTER, "o", "-");
	assert_int_equal(repo_init(in_top("o/.git"), NULL, "x", 0, NULL), 0);
	opens("o", REPO_OPEN_ENTER, "o/.git", "-");
	setenv("GIT_DIR", in_top("w/.git"), 1);
	opens("b", REPO_OPEN_ENTER, "b.git", "-");
	unsetenv("GIT_DIR");
}

static void explicit_places(void **state)
{
	struct repo_options options = {.git_dir = in_top("w/.git")};
	struct error err = ERROR_INIT;
	struct repo *repo;

	setenv("GIT_WORK_TREE", in_top("w/a"), 1);
	assert_int_equal(repo_open(&repo, &options, NULL), 0);
	assert_string_equal(repo->git_dir, in_top("w/.git"));
	assert_string_equal(repo->worktree, in_top("w/a"));
	repo_close(repo);
	unsetenv("GIT_WORK_TREE");
	setenv("GIT_DIR", in_top("b.git"), 1);
	opens("w", 0, "b.git", "-");
	unsetenv("GIT_DIR");
	options.git_dir = "/nowhere";
	assert_int_equal(repo_open(&repo, &options, &err), ERR_MISSING);
	assert_string_equal(err.msg, "not a git repository: '/nowhere'");
}

static void object_directories(void **state)
{
	struct repo *repo;
	char *path;

	tmprepo_write(&top, "objs/pack/x", "");
	setenv("GIT_OBJECT_DIRECTORY", in_top("objs"), 1);
	setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", "/a:/b", 1);
	assert_int_equal(open_at(&repo, "w", 0, NULL), 0);
	assert_string_equal(repo->object_dir, in_top("objs"));
	assert_string_equal(repo->alternate_object_dirs, "/a:/b");
	path = repo_object_path(repo, "pack");
	assert_string_equal(path, in_top("objs/pack"));
	free(path);
	path = repo_common_path(repo, "packed-refs");
	assert_string_equal(path, in_top("w/.git/packed-refs"));
	free(path);
	repo_close(repo);
	setenv("GIT_OBJECT_DIRECTORY", in_top("nowhere"), 1);
	refuses("w", 0, ERR_MISSING, "not a git repository");
	unsetenv("GIT_OBJECT_DIRECTORY");
	unsetenv("GIT_ALTERNATE_OBJECT_DIRECTORIES");
}

/* ---- checks */

static void formats(void **state)
{
	static const struct {
		int version;
		const char *extensions, *message; /* NULL: no error */
	} cases[] = {
		{0, "", NULL},
		{0, "foo=1", NULL},
		{0, "noop=1\npartialClone=o\npreciousObjects=1", NULL},
		{0, "noop-v1=1",
		 "repo version is 0, but v1-only extension "
		 "found:\n\tnoop-v1"},
		{0, "objectFormat=sha1\nnoop-v1=1",
		 "v1-only extensions found:\n\tobjectformat\n\tnoop-v1"},
		{1, "", NULL},
		{1, "noop=1\nnoop-v1=1\nworktreeConfig=true", NULL},
		{1, "objectFormat=sha1\nrefStorage=files", NULL},
		{1, "relativeWorktrees=true", NULL},
		{1, "foo=1", "unknown repository extension found:\n\tfoo"},
		{1, "foo=1\nbar=2",
		 "unknown repository extensions found:\n"
		 "\tfoo\n\tbar"},
		{1, "refStorage=reftable", NULL},
		{1, "refStorage=cards",
		 "invalid value for 'extensions.refstorage': 'cards'"},
		{1, "objectFormat=sha3",
		 "invalid value for 'extensions.objectformat': 'sha3'"},
		{1, "objectFormat",
		 "missing value for 'extensions.objectformat'"},
		{1, "preciousObjects=huh", "bad boolean config value 'huh'"},
		{2, "", "Expected git repo version <= 1, found 2"},
	};

	assert_int_equal(repo_init(in_top("f.git"), NULL, "x", 0, NULL), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error err = ERROR_INIT;
		struct buf text = BUF_INIT;
		struct repo *repo;
		int ret;

		buf_printf(&text,
			   "[core]\nrepositoryformatversion=%d\n"
			   "[extensions]\n%s\n",
			   cases[i].version, cases[i].extensions);
		tmprepo_write(&top, "f.git/config", text.data);
		buf_release(&text);
		ret = open_at(&repo, "f.git", 0, &err);
		repo_close(repo);
		if (cases[i].message
			    ? ret >= 0 || !strstr(err.msg, cases[i].message)
			    : ret < 0)
			fail_msg("%zu: %s", i, err.msg);
	}
}

static void a_format_is_its_own(void **state)
{
	struct repo *repo;

	/*
	 * The format of a repository is read only from its own configuration
	 * file. Included files and the user's configuration have no effect on
	 * it.
	 */
	tmprepo_write(&top, "f.git/inc", "[core]\nrepositoryformatversion=9\n");
	tmprepo_write(&top, ".gitconfig",
		      "[core]\nrepositoryformatversion=9\nbare=false\n");
	tmprepo_write(&top, "f.git/config",
		      "[core]\nrepositoryformatversion=0\nbare\n"
		      "[include]\npath=inc\n"
		      "[extensions]\npartialClone=origin\n");
	assert_int_equal(open_at(&repo, "f.git", 0, NULL), 0);
	assert_int_equal(repo->format_version, 0);
	assert_true(repo->has_promisor);
	assert_true(repo->is_bare);
	repo_close(repo);
	/*
	 * If the configuration file has no format version, the extensions in it
	 * have no effect.
	 */
	tmprepo_write(&top, "f.git/config",
		      "[extensions]\nobjectFormat=sha256\nfoo=1\n");
	assert_int_equal(open_at(&repo, "f.git", 0, NULL), 0);
	assert_int_equal(repo->algo, HASH_SHA1);
	repo_close(repo);
	tmprepo_remove(&top, "f.git/config");
	opens("f.git", 0, "f.git", "-");
	tmprepo_remove(&top, ".gitconfig");
}

static void bare_or_not(void **state)
{
	static const char version[] = "[core]\nrepositoryformatversion=0\n";
	struct buf text = BUF_INIT;
	struct repo *repo;

	assert_int_equal(repo_init(in_top("n/.git"), in_top("n"), "x", 0, NULL),
			 0);
	buf_printf(&text, "%sbare=true\n", version);
	tmprepo_write(&top, "n/.git/config", text.data);
	opens("n", 0, "n/.git", "-");
	buf_printf(&text, "worktree=../../w\n");
	tmprepo_write(&top, "n/.git/config", text.data);
	opens("n", 0, "n/.git", "-");
	buf_reset(&text);
	buf_printf(&text, "%sworktree=../../w\n", version);
	tmprepo_write(&top, "n/.git/config", text.data);
	opens("n", 0, "n/.git", "w");
	assert_int_equal(open_at(&repo, "n/.git", 0, NULL), 0);
	assert_false(repo->is_bare);
	repo_close(repo);
	buf_printf(&text, "worktree=nowhere\n");
	tmprepo_write(&top, "n/.git/config", text.data);
	refuses("n", 0, ERR_MISSING, "cannot chdir to 'nowhere'");
	tmprepo_write(&top, "n/.git/config",
		      "[core]\nrepositoryformatversion=0\nbare=maybe\n");
	refuses("n", 0, ERR_INVALID,
		"bad boolean config value 'maybe' for 'core.bare'");
	buf_release(&text);
}

static void allow(const char *value)
{
	struct buf text = BUF_INIT;

	buf_printf(&text, "[safe]\ndirectory=%s\n", value);
	tmprepo_write(&top, ".gitconfig", text.data);
	buf_release(&text);
}

static void owners(void **state)
{
	struct buf expected = BUF_INIT;

	setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1", 1);
	buf_printf(&expected,
		   "detected dubious ownership in repository at '%s/w'\n"
		   "To trust this directory whoever owns it, run:\n\n"
		   "\tgit config --global --add safe.directory %s/w",
		   top.dir, top.dir);
	refuses("w", 0, ERR_DENIED, expected.data);
	refuses("w/a", 0, ERR_DENIED, expected.data);
	refuses("b.git", 0, ERR_DENIED, "/b.git'");
	refuses("w", REPO_OPEN_ENTER, ERR_DENIED, "/w/.git'");
	refuses("b.git", REPO_OPEN_EXACT, ERR_DENIED, "/b.git'");
	opens("w", REPO_OPEN_NO_OWNER, "w/.git", "w");
	setenv("GIT_DIR", in_top("b.git"), 1);
	opens("w", 0, "b.git", "-");
	unsetenv("GIT_DIR");

	/*
	 * safe.directory in the repository's own configuration has no effect.
	 */
	tmprepo_write(&top, "b.git/config",
		      "[core]\nrepositoryformatversion=0\nbare=true\n"
		      "[safe]\ndirectory=*\n");
	refuses("b.git", 0, ERR_DENIED, "dubious");
	buf_release(&expected);
	unsetenv("GIT_TEST_ASSUME_DIFFERENT_OWNER");
}

static void safe_directories(void **state)
{
	setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1", 1);
	allow(in_top("w"));
	opens("w/a", 0, "w/.git", "w");
	refuses("b.git", 0, ERR_DENIED, "dubious");
	refuses("w", REPO_OPEN_ENTER, ERR_DENIED, "dubious");
	allow(in_top("w/.git"));
	opens("w", REPO_OPEN_ENTER, "w/.git", "-");
	refuses("w", 0, ERR_DENIED, "dubious");
	allow("~/w");
	opens("w", 0, "w/.git", "w");
	allow(".");
	refuses("w", 0, ERR_DENIED, "dubious");
	assert_int_equal(chdir(in_top("w")), 0);
	opens("w", 0, "w/.git", "w");
	refuses("b.git", 0, ERR_DENIED, "dubious");
	assert_int_equal(chdir(top.dir), 0);
	allow("w");
	refuses("w", 0, ERR_DENIED, "dubious");
	allow("*");
	opens("b.git", 0, "b.git", "-");
	allow("*\ndirectory=");
	refuses("b.git", 0, ERR_DENIED, "dubious");
	allow("\ndirectory=*");
	opens("b.git", 0, "b.git", "-");
	allow("~/*");
	opens("w", 0, "w/.git", "w");
	opens("b", REPO_OPEN_ENTER, "b.git", "-");
	allow("~/w/*");
	refuses("w", 0, ERR_DENIED, "dubious");
	opens("w", REPO_OPEN_ENTER, "w/.git", "-");
	allow("~/b.gi*");
	refuses("b.git", 0, ERR_DENIED, "dubious");
	tmprepo_remove(&top, ".gitconfig");
	unsetenv("GIT_TEST_ASSUME_DIFFERENT_OWNER");
}

static void safe_bare_repositories(void **state)
{
	tmprepo_write(&top, ".gitconfig", "[safe]\nbareRepository=explicit\n");
	refuses("b.git", 0, ERR_DENIED, "(safe.bareRepository is 'explicit')");
	refuses("w/.git", 0, ERR_DENIED, "cannot use bare repository");
	opens("w", 0, "w/.git", "w");
	opens("b", REPO_OPEN_ENTER, "b.git", "-");
	setenv("GIT_DIR", in_top("b.git"), 1);
	opens("w", 0, "b.git", "-");
	unsetenv("GIT_DIR");
	tmprepo_write(&top, ".gitconfig", "[safe]\nbareRepository=huh\n");
	refuses("b.git", 0, ERR_INVALID, "'safe.barerepository'");
	tmprepo_write(&top, ".gitconfig", "[safe]\nbareRepository=all\n");
	opens("b.git", 0, "b.git", "-");
	tmprepo_remove(&top, ".gitconfig");
}

/* ---- fsync */

static void fsync_is(const char *config, unsigned expected,
		     enum sys_fsync_method expected_method)
{
	static const enum repo_fsync_component all[] = {
		REPO_FSYNC_LOOSE_OBJECT,  REPO_FSYNC_PACK,
		REPO_FSYNC_PACK_METADATA, REPO_FSYNC_COMMIT_GRAPH,
		REPO_FSYNC_INDEX,         REPO_FSYNC_REFERENCE,
		REPO_FSYNC_PACKED_REFS,
	};
	struct repo repo = {0};
	struct error err = ERROR_INIT;

	assert_int_equal(config_parse(&repo.config, config, strlen(config),
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		enum sys_fsync_method method;

		if (repo_fsync_method(&repo, all[i], &method, &err) < 0)
			fail_msg("%s: %s", config, err.msg);
		if (method !=
		    (expected & all[i] ? expected_method : SYS_FSYNC_NONE))
			fail_msg("%s: component %u", config, all[i]);
	}
	config_release(&repo.config);
}

static void fsync_fails(const char *config, const char *message)
{
	struct repo repo = {0};
	struct error err = ERROR_INIT;
	enum sys_fsync_method method;

	assert_int_equal(config_parse(&repo.config, config, strlen(config),
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	assert_int_equal(
		repo_fsync_method(&repo, REPO_FSYNC_PACK, &method, &err),
		ERR_INVALID);
	assert_non_null(strstr(err.msg, message));
	config_release(&repo.config);
}

static void fsync_policies(void **state)
{
	const unsigned loose = REPO_FSYNC_LOOSE_OBJECT, pack = REPO_FSYNC_PACK,
		       meta = REPO_FSYNC_PACK_METADATA,
		       graph = REPO_FSYNC_COMMIT_GRAPH,
		       packed = REPO_FSYNC_PACKED_REFS,
		       reference = REPO_FSYNC_REFERENCE | packed,
		       index = REPO_FSYNC_INDEX;
	const unsigned dflt = pack | meta | graph | packed;
	const enum sys_fsync_method full = SYS_FSYNC_FSYNC;

	fsync_is("", dflt, full);
	fsync_is("[core]fsync=\n", dflt, full);
	fsync_is("[core]fsync=none\n", 0, full);
	fsync_is("[core]fsync=none,pack\n", dflt, full);
	fsync_is("[core]fsync=pack-metadata,none\n", meta, full);
	fsync_is("[core]fsync=\"objects, ref,-ref,none\"\n",
		 loose | pack | reference, full);
	fsync_is("[core]fsync=\"reference index\"\n", dflt, full);
	fsync_is("[core]fsync=\"reference ,index\"\n", dflt | index, full);
	fsync_is("[core]fsync=pack,none\n", pack | meta, full);
	fsync_is("[core]fsync=huh,-pack,-huh\n", graph | packed, full);
	fsync_is("[core]fsyncMethod=huh\n", dflt, full);
	fsync_is("[core]fsync=-pack\n", graph | packed, full);
	fsync_is("[core]fsync=-reference\n", pack | meta | graph, full);
	fsync_is("[core]fsync=reference, index\n", dflt | reference | index,
		 full);
	fsync_is("[core]fsync=committed\n", dflt | loose | reference, full);
	fsync_is("[core]fsync=-derived-metadata,added\n",
		 loose | pack | index | reference, full);
	fsync_is("[core]fsync=committed,-loose-object\n",
		 dflt | loose | reference, full);
	fsync_is("[core]fsync=all\n",
		 loose | pack | meta | graph | index | reference, full);
	fsync_is("[core]fsync=ALL\n", dflt, full);
	fsync_is("[core]fsync=NONE\n", dflt, full);
	fsync_is("[core]fsync=pack-metadata,None\n", dflt, full);
	fsync_is("[core]fsync=-PACK\n", dflt, full);
	fsync_is("[core]fsync=-\n", dflt, full);
	fsync_is("[core]fsync=\"-, none\"\n", dflt, full);
	fsync_is("[core]fsync=none,-\n", dflt, full);
	fsync_is("[core]fsync=-pack,-,index\n", graph | packed, full);
	fsync_is("[core]fsync=\"index, -,-pack\"\n", dflt | index, full);
	fsync_is("[core]fsync=\"index,- ,-pack\"\n", graph | packed | index,
		 full);
	fsync_is("[core]fsyncObjectFiles\n", dflt | loose, full);
	fsync_is("[core]fsyncObjectFiles\nfsync=none\n", 0, full);
	fsync_is("[core]fsyncMethod=batch\n", dflt, full);
	fsync_is("[core]fsyncMethod=writeout-only\n", dflt,
		 SYS_FSYNC_WRITEOUT_ONLY);
	fsync_fails("[core]fsync\n", "missing value");
	fsync_fails("[core]fsyncObjectFiles=huh\n", "'huh'");
	setenv("GIT_TEST_FSYNC", "0", 1);
	fsync_is("[core]fsync=all\n", 0, full);
	unsetenv("GIT_TEST_FSYNC");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(makes_what_git_makes),
		cmocka_unit_test(makes_sha256),
		cmocka_unit_test(keeps_what_is_there),
		cmocka_unit_test(copies_templates),
		cmocka_unit_test(discovers),
		cmocka_unit_test(stops_at_ceilings),
		cmocka_unit_test(needs_head_objects_and_refs),
		cmocka_unit_test(follows_gitfiles),
		cmocka_unit_test(linked_worktrees_share),
		cmocka_unit_test(enters),
		cmocka_unit_test(explicit_places),
		cmocka_unit_test(object_directories),
		cmocka_unit_test(formats),
		cmocka_unit_test(a_format_is_its_own),
		cmocka_unit_test(bare_or_not),
		cmocka_unit_test(owners),
		cmocka_unit_test(safe_directories),
		cmocka_unit_test(safe_bare_repositories),
		cmocka_unit_test(fsync_policies),
	};

	return cmocka_run_group_tests_name("repo", tests, setup, teardown);
}
