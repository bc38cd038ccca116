/* SPDX-License-Identifier: MIT */
/* Finds stock Git on PATH, and executes it in place of this process. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/exec-path.h"
#include "builtin/fallback.h"
#include "builtin/help.h"
#include "sys/io.h"
#include "sys/spawn.h"

#define TRAIL "GITREACH_TRAIL"
/*
 * Maximum number of times that gitreach and stock Git may start each other, one
 * inside the other. Hooks, aliases and submodules need fewer. An endless loop
 * reaches this number and ends with an error.
 */
#define DEPTH_MAX 100

struct search {
	const char *command; /* for messages */
	/* the value of GITREACH_TRAIL for the program to execute */
	struct buf trail;
	/* our exec-path directory; empty if there is none */
	struct buf ours;
	struct sys_stat ours_st;
	/* result: the path of stock Git */
	struct buf stock;
};

static void search_release(struct search *s)
{
	buf_release(&s->trail);
	buf_release(&s->ours);
	buf_release(&s->stock);
}

/* ---- the trail */

static int format_file(char out[64], const struct sys_stat *st)
{
	return snprintf(out, 64, " %" PRIx64 ":%" PRIx64, st->dev, st->ino);
}

/*
 * Returns whether `trail`, a value of the environment variable GITREACH_TRAIL
 * (see extend_trail()), contains `word`, which begins with a blank.
 */
static bool has_word(const char *trail, const char *word)
{
	size_t len = strlen(word);

	while ((trail = strstr(trail, word))) {
		trail += len;
		if (*trail == ' ' || !*trail)
			return true;
	}
	return false;
}

static bool on_trail(const struct search *s, const struct sys_stat *st)
{
	char file[64];

	format_file(file, st);
	return has_word(s->trail.data, file);
}

/*
 * Append to *out the word " =<pid>:<command>". The word says that the process
 * `pid` executes stock Git to run `command`. The value of the environment
 * variable GITREACH_TRAIL has such a word for each process of gitreach that has
 * executed stock Git (extend_trail()).
 */
static int format_process(struct buf *out, pid_t pid, const char *command)
{
	return buf_printf(out, " =%ld:%s", (long)pid, command);
}

bool fallback_is_parent(const char *command)
{
	const char *trail = getenv(TRAIL);
	struct buf parent = BUF_INIT;
	bool found = trail &&
		     format_process(&parent, getppid(), command) == 0 &&
		     has_word(trail, parent.data);

	buf_release(&parent);
	return found;
}

/*
 * Set s->trail to the value of GITREACH_TRAIL for the program to execute. The
 * value shows whether gitreach and another Git execute each other in an endless
 * loop. It begins with a number: how deeply the executions are nested. The
 * number is 1 if gitreach executes stock Git, 2 if this stock Git executes
 * gitreach, which executes stock Git again, and so on. Then the value lists the
 * processes of gitreach that have executed stock Git, and the executable files
 * of these processes. This process is appended to the parent's value. A
 * parent's value that is not well-formed is left out.
 */
static int extend_trail(struct search *s, struct error *err)
{
	const char *before = getenv(TRAIL);
	struct sys_stat self;
	unsigned long depth;
	char *files, file[64];

	if (!before || *before < '0' || *before > '9')
		before = "0";
	depth = strtoul(before, &files, 10);
	if (depth >= DEPTH_MAX)
		return error_set(err, ERR_INVALID,
				 "'%s' was passed %lu times from gitreach to "
				 "another Git and back; set GITREACH_FALLBACK "
				 "to the path of stock Git",
				 s->command, depth);
	if (*files && *files != ' ')
		files = (char *)"";
	if (buf_printf(&s->trail, "%lu%s", depth + 1, files) < 0 ||
	    format_process(&s->trail, getpid(), s->command) < 0)
		return error_nomem(err);
	if (sys_stat(&self, "/proc/self/exe", err) < 0)
		return ERR_IO;
	format_file(file, &self);
	if (!on_trail(s, &self) && buf_append_str(&s->trail, file) < 0)
		return error_nomem(err);
	return 0;
}

/* ---- searching for stock Git */

static bool is_program(struct sys_stat *st, const char *path)
{
	return !sys_stat(st, path, NULL) && st->is_file && !access(path, X_OK);
}

static int use_named(struct search *s, const char *named, struct error *err)
{
	struct sys_stat st;

	if (*named != '/' || !is_program(&st, named))
		return error_set(err, ERR_MISSING,
				 "GITREACH_FALLBACK: '%s' is not the absolute "
				 "path of a program",
				 named);
	if (on_trail(s, &st))
		return error_set(err, ERR_INVALID,
				 "GITREACH_FALLBACK: '%s' is gitreach itself, "
				 "not the stock Git",
				 named);
	return buf_append_str(&s->stock, named) < 0 ? error_nomem(err) : 0;
}

static bool same_dir(const struct sys_stat *a, const char *dir)
{
	struct sys_stat b;

	return a->is_dir && !sys_stat(&b, dir, NULL) && sys_is_same(a, &b);
}

/*
 * Returns whether the path `dir` is below our exec-path directory. Such a
 * directory has links to a stock Git (builtin/exec-path.h).
 */
static bool is_below(const struct search *s, const char *dir, size_t len)
{
	return s->ours.len && len > s->ours.len && dir[s->ours.len] == '/' &&
	       !memcmp(dir, s->ours.data, s->ours.len);
}

/*
 * Search for stock Git in one directory of PATH. Relative directories are
 * skipped, because a repository could contain a program named `git`. Returns 1
 * if found, 0 if not, or ERR_NOMEM.
 */
static int look_into(struct search *s, const char *dir, size_t len)
{
	struct sys_stat st;

	if (!len || *dir != '/')
		return 0;
	buf_reset(&s->stock);
	if (buf_append(&s->stock, dir, len) < 0)
		return ERR_NOMEM;
	if (same_dir(&s->ours_st, s->stock.data) || is_below(s, dir, len))
		return 0;
	if (buf_append_str(&s->stock, "/git") < 0)
		return ERR_NOMEM;
	return is_program(&st, s->stock.data) && !on_trail(s, &st);
}

static int search_path(struct search *s, struct error *err)
{
	const char *path = getenv("PATH");

	while (path && *path) {
		size_t len = strcspn(path, ":");
		int ret = look_into(s, path, len);

		if (ret < 0)
			return error_nomem(err);
		if (ret)
			return 0;
		path += len;
		path += *path == ':';
	}
	buf_reset(&s->stock);
	return error_set(
		err, ERR_MISSING,
		"'%s' needs stock Git, but there is no other git on PATH; "
		"install stock Git, or set GITREACH_FALLBACK to its path",
		s->command);
}

/*
 * Search for stock Git and fill in *s. Returns 0 or a negative error code. The
 * caller must release *s in all cases.
 */
static int search_stock(struct search *s, const char *command,
			struct error *err)
{
	const char *named = getenv("GITREACH_FALLBACK");
	int ret;

	*s = (struct search){command, BUF_INIT, BUF_INIT, {0}, BUF_INIT};
	ret = extend_trail(s, err);
	if (ret < 0)
		return ret;
	ret = exec_path_ours(&s->ours, err);
	if (ret < 0 && ret != ERR_MISSING)
		return ret;
	if (!ret)
		sys_stat(&s->ours_st, s->ours.data, NULL);
	if (named && *named)
		return use_named(s, named, err);
	return search_path(s, err);
}

/* ---- asking stock Git for its version and its exec path */

/*
 * A word in GITREACH_TRAIL. It means that stock Git was only asked for its
 * version or exec path. The "stock Git" on PATH may be a wrapper script that
 * starts gitreach again. The second gitreach sees the word, and answers the
 * question itself in place of starting stock Git again.
 */
#define ASKED " ?"

static bool is_asked(void)
{
	const char *trail = getenv(TRAIL);

	return trail && has_word(trail, ASKED);
}

static int take_answer(void *ctx, const char *bytes, size_t len,
		       struct error *err)
{
	return buf_append(ctx, bytes, len) < 0 ? error_nomem(err) : 0;
}

/*
 * Run stock Git, and append its standard output to *out. Returns its exit code,
 * or a negative error code.
 */
static int capture(struct buf *out, char **argv, struct trace *trace,
		   struct error *err)
{
	const struct sys_talk talk = {.output = take_answer, .ctx = out};
	struct trace_child told;
	struct sys_child child;
	int ret, code;

	trace_child_start(trace, &told, (const char **)argv, NULL);
	ret = sys_spawn(&child, argv, NULL,
			SYS_SPAWN_PIPE_OUT | SYS_SPAWN_NULL_IN, err);
	if (ret < 0) {
		trace_child_exit(trace, &told, -1, -1);
		return ret;
	}
	ret = sys_spawn_talk(&child, &talk, err);
	code = sys_spawn_wait(&child, NULL);
	trace_child_exit(trace, &told, child.pid, code);
	return ret < 0 ? ret : code;
}

/* Run stock Git with one argument, and append the first line that it prints. */
static int run_question(struct buf *out, const struct search *s,
			const char *word, struct trace *trace,
			struct error *err)
{
	char *argv[] = {s->stock.data, (char *)word, NULL};
	size_t start = out->len;
	int code = capture(out, argv, trace, err);

	if (code > 0)
		return error_set(err, ERR_PEER, "'%s %s' failed", s->stock.data,
				 word);
	buf_set_len(out, start + strcspn(out->data + start, "\n"));
	return code;
}

/* Set an environment variable. If `value` is NULL, remove the variable. */
static int set_variable(const char *name, const char *value)
{
	return value ? setenv(name, value, 1) : unsetenv(name);
}

/*
 * Run stock Git as run_question() does, but without GIT_EXEC_PATH, which we may
 * have set. During the call, the environment variable GITREACH_TRAIL also
 * contains the word ASKED. If the program that runs is gitreach itself, the
 * word makes it answer without stock Git.
 */
static int ask(struct buf *out, const struct search *s, const char *word,
	       struct trace *trace, struct error *err)
{
	const char *path = getenv("GIT_EXEC_PATH"), *trail = getenv(TRAIL);
	char *old_path = path ? mem_strdup(path) : NULL;
	char *old_trail = trail ? mem_strdup(trail) : NULL;
	struct buf asked = BUF_INIT;
	int ret = 0;

	if ((path && !old_path) || (trail && !old_trail) ||
	    buf_printf(&asked, "%s" ASKED, s->trail.data) < 0 ||
	    setenv(TRAIL, asked.data, 1) < 0)
		ret = error_nomem(err);
	unsetenv("GIT_EXEC_PATH");
	if (!ret)
		ret = run_question(out, s, word, trace, err);
	if (set_variable(TRAIL, old_trail) < 0 ||
	    set_variable("GIT_EXEC_PATH", old_path) < 0)
		ret = ret < 0 ? ret : error_nomem(err);
	free(old_path);
	free(old_trail);
	buf_release(&asked);
	return ret;
}

/*
 * Ask stock Git for its version, such as "2.39.5", and append the version to
 * *out. Returns 0, ERR_PEER if stock Git prints something else or is gitreach
 * itself, or another negative error code.
 */
static int ask_version(struct buf *out, const struct search *s,
		       struct trace *trace, struct error *err)
{
	static const char intro[] = "git version ";
	struct buf line = BUF_INIT;
	const char *version;
	int ret = ask(&line, s, "version", trace, err);

	if (ret < 0)
		goto out;
	version = line.data + strlen(intro);
	if (strncmp(line.data, intro, strlen(intro)) || *version < '0' ||
	    *version > '9' || strstr(version, ".gitreach."))
		ret = error_set(err, ERR_PEER, "'%s' prints no version",
				s->stock.data);
	else if (buf_append(out, version, strcspn(version, " ")) < 0)
		ret = error_nomem(err);
out:
	buf_release(&line);
	return ret;
}

/* ---- the exec path for stock Git */

static void warn_of_links(const struct search *s, const struct error *why)
{
	builtin_warn("the helper programs in '%s' belong to another Git than "
		     "'%s' (%s); run this once as a user who may write to that "
		     "directory: GITREACH_FALLBACK='%s' git --exec-path",
		     s->ours.data, s->stock.data, why->msg, s->stock.data);
}

/*
 * Make an exec-path directory whose links lead to the programs of the stock Git
 * that was found, and append its path.
 *
 * In three cases, appends the path of our own exec-path directory instead:
 * - The links of our own exec-path directory lead to this stock Git already.
 * - Stock Git does not tell its exec path and version.
 * - The new directory cannot be made.
 */
static int make_exec_path(struct buf *out, const struct search *s,
			  struct trace *trace, struct error *err)
{
	struct buf links = BUF_INIT, version = BUF_INIT;
	struct error why = ERROR_INIT;
	struct exec_record r;
	struct sys_stat st;
	int ret = exec_record_read(&r, s->ours.data, err);

	if (!ret)
		ret = buf_append(out, s->ours.data, s->ours.len);
	if (ret < 0 || is_asked() ||
	    ask(&links, s, "--exec-path", trace, NULL) < 0 ||
	    *links.data != '/' || sys_stat(&st, links.data, NULL) < 0 ||
	    !st.is_dir || same_dir(&s->ours_st, links.data) ||
	    !strcmp(links.data, r.links) ||
	    ask_version(&version, s, trace, NULL) < 0)
		goto out;
	buf_reset(out);
	if (exec_path_make(out, s->ours.data, s->stock.data, links.data,
			   version.data, &why) < 0) {
		warn_of_links(s, &why);
		ret = buf_append(out, s->ours.data, s->ours.len);
	}
out:
	exec_record_release(&r);
	buf_release(&links);
	buf_release(&version);
	return ret < 0 ? error_nomem(err) : 0;
}

/*
 * Append the path of an exec-path directory whose links lead to the stock Git
 * that was found. If there is no such directory yet, make it. Appends nothing
 * if gitreach has no exec-path directory at all.
 */
static int choose_exec_path(struct buf *out, const struct search *s,
			    struct trace *trace, struct error *err)
{
	int ret;

	if (!s->ours.len)
		return 0;
	ret = exec_path_find(out, s->ours.data, s->stock.data, err);
	return ret == ERR_MISSING ? make_exec_path(out, s, trace, err) : ret;
}

int fallback_exec_path(struct buf *out, struct trace *trace, struct error *err)
{
	const char *given = getenv("GIT_EXEC_PATH");
	struct search s;
	int ret = ERR_MISSING;

	if ((!given || !*given) && !is_asked()) {
		ret = search_stock(&s, "--exec-path", NULL);
		if (!ret)
			ret = choose_exec_path(out, &s, trace, err);
		search_release(&s);
	}
	return ret == ERR_NOMEM || out->len ? ret : exec_path_current(out, err);
}

int fallback_version(struct buf *out, struct trace *trace, struct error *err)
{
	struct exec_record r = {BUF_INIT, "", "", "", 0, 0};
	struct buf dir = BUF_INIT;
	struct search s;
	int ret = search_stock(&s, "version", err);

	if (!ret && is_asked())
		ret = error_set(err, ERR_PEER, "gitreach was asked");
	if (!ret && s.ours.len &&
	    !exec_path_find(&dir, s.ours.data, s.stock.data, NULL))
		ret = exec_record_read(&r, dir.data, err);
	if (!ret && *r.version && exec_record_is_current(&r, s.stock.data))
		ret = buf_append_str(out, r.version) < 0 ? error_nomem(err) : 0;
	else if (!ret)
		ret = ask_version(out, &s, trace, err);
	exec_record_release(&r);
	buf_release(&dir);
	search_release(&s);
	return ret;
}

/* ---- executing stock Git */

static int set_environment(const struct search *s, struct trace *trace,
			   struct error *err)
{
	const char *given = getenv("GIT_EXEC_PATH");
	struct buf path = BUF_INIT;
	int ret = 0;

	if (!given || !*given)
		ret = choose_exec_path(&path, s, trace, err);
	if (!ret && (setenv(TRAIL, s->trail.data, 1) < 0 ||
		     (path.len && setenv("GIT_EXEC_PATH", path.data, 1) < 0)))
		ret = error_nomem(err);
	buf_release(&path);
	return ret;
}

/*
 * Execute `program` with `name` as argv[0], followed by `args`. Returns only on
 * failure.
 */
static int exec_stock(const char *program, const char *name,
		      const char *const *args, struct trace *trace,
		      struct error *err)
{
	unsigned exec_id = 0;
	size_t nr = 0;
	char **argv;
	int ret;

	while (args[nr])
		nr++;
	argv = mem_calloc(nr + 2, sizeof(*argv));
	if (!argv)
		return error_nomem(err);
	argv[0] = (char *)name;
	memcpy(argv + 1, args, nr * sizeof(*argv));
	trace_call(trace, trace_exec_at, &exec_id, program,
		   (const char **)argv);
	ret = sys_exec(program, argv, err);
	trace_call(trace, trace_exec_result_at, exec_id, errno);
	free(argv);
	return ret;
}

bool fallback_exists(void)
{
	struct search s;
	bool found = search_stock(&s, "git", NULL) == 0;

	search_release(&s);
	return found;
}

/*
 * Print the reason why stock Git cannot be executed. Returns the exit code of
 * the command.
 */
static int fail(const char *const *args, const struct search *s,
		const struct error *err)
{
	const char *named = getenv("GITREACH_FALLBACK");

	while (*args && **args == '-')
		args++;
	if (err->code != ERR_MISSING || s->stock.len || (named && *named) ||
	    !*args)
		return builtin_fail(err);
	return help_unknown(*args, err);
}

int fallback_git(const char *const *args, struct trace *trace)
{
	struct error err = ERROR_INIT;
	struct search s;
	int ret = search_stock(&s, args[0] ? args[0] : "git", &err), code;

	if (!ret)
		ret = set_environment(&s, trace, &err);
	if (!ret)
		exec_stock(s.stock.data, "git", args, trace, &err);
	code = fail(args, &s, &err);
	search_release(&s);
	return code;
}

int fallback_capture(struct buf *out, const char *const *args,
		     struct trace *trace, struct error *err)
{
	struct search s;
	size_t nr = 0;
	char **argv;
	int ret = search_stock(&s, args[0], err);

	if (!ret)
		ret = set_environment(&s, trace, err);
	if (ret < 0)
		goto out;
	while (args[nr])
		nr++;
	argv = mem_calloc(nr + 2, sizeof(*argv));
	if (!argv) {
		ret = error_nomem(err);
		goto out;
	}
	argv[0] = s.stock.data;
	memcpy(argv + 1, args, nr * sizeof(*argv));
	ret = capture(out, argv, trace, err);
	free(argv);
out:
	search_release(&s);
	return ret;
}

/*
 * Append the path of stock Git's program git-<command>. Set *name_off to the
 * offset in the path at which the program's name begins. Also prepend the exec
 * path to PATH, as the program expects.
 */
static int find_helper(struct buf *out, size_t *name_off,
		       const struct search *s, struct trace *trace,
		       struct error *err)
{
	int ret = ask(out, s, "--exec-path", trace, err);

	if (ret < 0)
		return ret;
	ret = set_environment(s, trace, err);
	if (ret < 0)
		return ret;
	ret = exec_path_prepend(err);
	if (ret < 0)
		return ret;
	*name_off = out->len + 1;
	return buf_printf(out, "/git-%s", s->command) < 0 ? error_nomem(err)
							  : 0;
}

int fallback_helper(const char *const *args, struct trace *trace)
{
	struct buf program = BUF_INIT;
	struct error err = ERROR_INIT;
	struct sys_stat st;
	struct search s;
	size_t name_off = 0;
	int ret = search_stock(&s, args[0], &err);

	if (!ret)
		ret = find_helper(&program, &name_off, &s, trace, &err);
	if (!ret && is_program(&st, program.data) && !on_trail(&s, &st))
		exec_stock(program.data, program.data + name_off, args + 1,
			   trace, &err);
	else if (!ret)
		exec_stock(s.stock.data, "git", args, trace, &err);
	buf_release(&program);
	search_release(&s);
	return builtin_fail(&err);
}
