/* SPDX-License-Identifier: MIT */
/*
 * git hash-object: prints the id that content has as an object, and stores the
 * object if requested.
 *
 * We do not implement content filters. If a filter could apply to a file on the
 * command line, stock Git runs the command. This is not possible for a file
 * name on standard input, which was already read. If a filter could apply to
 * such a file, the command ends with an error.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/quote.h"
#include "builtin/builtin.h"
#include "builtin/input.h"
#include "builtin/options.h"
#include "builtin/path-args.h"
#include "names/attrs.h"
#include "object/fsck.h"
#include "object/hash.h"
#include "odb/freshen.h"
#include "odb/loose-write.h"
#include "odb/odb.h"
#include "sys/io.h"
#include "sys/map.h"

static const char usage_text[] =
	"git hash-object [-t <type>] [-w] [--path=<file> | --no-filters] "
	"[--stdin [--literally]] [--] <file>...\n"
	"git hash-object [-t <type>] [-w] --stdin-paths [--no-filters]";

struct args {
	bool write, stdin_paths, no_filters, literally;
	/* number of times that --stdin is given */
	int from_stdin;
	const char *type, *path;
};

/* One run of the command. */
struct run {
	struct args a;
	/* borrowed; NULL: the command works without a repository */
	struct repo *repo;
	enum hash_algo algo;
	enum object_type type;
	struct hash_ctx hash;
	/* owned; opened only if objects are stored */
	struct odb *odb;
	struct loose_writer writer; /* only for writing */
	struct error *err;
};

/* ---- content filters: line endings, $Id$, encodings, drivers */

static const char blanks[] = " \t\r";

/*
 * Returns whether the attribute `word` can change content. The attribute
 * "-text" cannot.
 */
static bool is_filter(const char *word, size_t len)
{
	static const char *const names[] = {"text",  "crlf",
					    "eol",   "filter",
					    "ident", "working-tree-encoding"};

	for (size_t i = 0; i < ARRAY_NR(names); i++) {
		size_t n = strlen(names[i]);

		if (len >= n && !memcmp(word, names[i], n) &&
		    (len == n || word[n] == '='))
			return true;
	}
	return false;
}

/*
 * Returns whether a line of an attributes file sets an attribute that can
 * change content. A line begins with a pattern, which may be in quotes, or with
 * "[attr]<name>". Attributes follow.
 */
static bool line_has_filter(const char *p, const char *end)
{
	bool first = true;

	while (p < end) {
		size_t len;

		p += strspn(p, blanks);
		len = strcspn(p, " \t\r\n");
		if (p >= end || !len || (first && *p == '#'))
			return false;
		/*
		 * A word inside a quoted pattern may look like an attribute
		 * that can change content. Then this function returns true, and
		 * hash-object ends with an error (check_file()), although it
		 * could hash the content. This is safe: no wrong id is printed.
		 */
		if (!first && is_filter(p, len))
			return true;
		first = false;
		p += len;
	}
	return false;
}

static int check_file(const char *file, struct error *err)
{
	struct buf text = BUF_INIT;
	int ret = sys_read_file(&text, file, NULL);
	const char *p = text.data;

	if (ret == ERR_NOMEM)
		error_nomem(err);
	ret = ret == ERR_NOMEM ? ret : 0;
	while (!ret && p < text.data + text.len) {
		const char *eol = strchr(p, '\n');

		if (!eol)
			eol = text.data + text.len;
		if (line_has_filter(p, eol))
			ret = error_set(err, ERR_UNSUPPORTED,
					"content filters ('%s') are not "
					"supported yet; --no-filters hashes "
					"the content as it is",
					file);
		p = eol + (eol < text.data + text.len);
	}
	buf_release(&text);
	return ret;
}

/*
 * Set *out to `path` as an absolute path. `top` is the path of the work tree,
 * without symbolic links. If the absolute path does not begin with `top`,
 * symbolic links in its directories are resolved, because one of them may lead
 * into the work tree.
 */
static int make_absolute(struct buf *out, const char *path, const char *top,
			 const char *here)
{
	struct buf real = BUF_INIT;
	size_t top_len = strlen(top);
	char *slash, *dir;
	int ret = *path == '/' ? buf_append_str(out, path)
			       : buf_printf(out, "%s/%s", here, path);

	if (ret < 0 ||
	    (!strncmp(out->data, top, top_len) && out->data[top_len] == '/'))
		return ret;
	slash = memrchr(out->data, '/', out->len);
	*slash = '\0';
	dir = sys_realpath(out->data, NULL);
	*slash = '/';
	if (!dir)
		return 0;
	ret = buf_printf(&real, "%s%s", dir, slash);
	free(dir);
	buf_release(out);
	*out = real;
	return ret;
}

/*
 * Check the .gitattributes files of all directories from that of `path` up to
 * the top of the work tree.
 */
static int check_above(const struct repo *repo, const char *path,
		       struct error *err)
{
	struct buf file = BUF_INIT;
	char *top = sys_realpath(repo->worktree, err);
	char *here = sys_realpath(".", NULL);
	size_t top_len;
	int ret = 0;

	if (!top || !here) {
		ret = top ? error_nomem(err) : ERR_IO;
		goto out;
	}
	top_len = strlen(top);
	if (make_absolute(&file, path, top, here) < 0)
		ret = error_nomem(err);
	while (!ret) {
		char *slash = memrchr(file.data, '/', file.len);

		if (!slash || (size_t)(slash - file.data) < top_len)
			break;
		buf_set_len(&file, (size_t)(slash - file.data));
		if (strncmp(file.data, top, top_len))
			break;
		if (buf_append_str(&file, "/.gitattributes") < 0) {
			ret = error_nomem(err);
			break;
		}
		ret = check_file(file.data, err);
		buf_set_len(&file, file.len - strlen("/.gitattributes"));
	}
out:
	buf_release(&file);
	free(top);
	free(here);
	return ret;
}

/*
 * Refuse attributes files of the system, the user or the repository that set an
 * attribute that can change content. Returns 0 or a negative error code.
 */
static int check_central(const struct repo *repo, const struct config *config,
			 struct error *err)
{
	char *user = NULL, *info = NULL;
	int ret = check_file("/etc/gitattributes", err);

	if (!ret)
		ret = attr_files_user_path(&user, config, err);
	if (!ret && user)
		ret = check_file(user, err);
	if (!ret && repo) {
		info = repo_common_path(repo, "info/attributes");
		ret = info ? check_file(info, err) : error_nomem(err);
	}
	free(user);
	free(info);
	return ret;
}

static int check_config(const struct repo *repo, const struct config *config,
			const char *path, struct error *err)
{
	const char *crlf = config_string(config, "core.autocrlf");
	int ret;

	if (crlf && config_parse_bool(crlf) != 0)
		return error_set(err, ERR_UNSUPPORTED,
				 "core.autocrlf is not supported yet; "
				 "--no-filters hashes the content as it is");
	ret = check_central(repo, config, err);
	if (!ret && repo && repo->worktree)
		ret = check_above(repo, path, err);
	return ret;
}

/*
 * Check that no content filter can apply to the file `path`, which is absolute
 * or relative to the working directory. `repo` is NULL outside of repositories.
 * The check is coarse. A filter could apply if core.autocrlf is set, or if an
 * attributes file for this directory enables a filter for any path.
 *
 * Returns 0 if no filter can apply, ERR_UNSUPPORTED with the cause in the
 * message if a filter could apply, or another negative error code.
 */
static int check_filters(const struct repo *repo, const char *path,
			 struct error *err)
{
	const struct config_sources sources = {.protected_only = true};
	struct config config = CONFIG_INIT;
	int ret;

	if (repo)
		return check_config(repo, &repo->config, path, err);
	ret = config_load(&config, &sources, err);
	if (!ret)
		ret = check_config(NULL, &config, path, err);
	config_release(&config);
	return ret;
}

/* ---- arguments */

static const char *bad_combination(const struct args *a, int file_nr)
{
	if (a->stdin_paths) {
		if (a->from_stdin)
			return "Can't use --stdin-paths with --stdin";
		if (file_nr)
			return "Can't specify files with --stdin-paths";
		if (a->path)
			return "Can't use --stdin-paths with --path";
		return NULL;
	}
	if (a->path && a->no_filters)
		return "Can't use --path with --no-filters";
	if (a->from_stdin > 1)
		return "Multiple --stdin arguments are not supported";
	return NULL;
}

static int parse(struct args *a, int argc, const char **argv, int *file_nr)
{
	const struct option options[] = {
		{.kind = OPTION_STRING,
		 .short_name = 't',
		 .string = &a->type,
		 .arg_name = "<type>",
		 .help = "object type"},
		{.kind = OPTION_FLAG,
		 .short_name = 'w',
		 .flag = &a->write,
		 .help = "store the object"},
		{.kind = OPTION_COUNT,
		 .long_name = "stdin",
		 .count = &a->from_stdin,
		 .help = "read the content from standard input"},
		{.kind = OPTION_FLAG,
		 .long_name = "stdin-paths",
		 .flag = &a->stdin_paths,
		 .help = "read the names of files from standard input"},
		{.kind = OPTION_FLAG,
		 .long_name = "no-filters",
		 .flag = &a->no_filters,
		 .help = "hash the content as it is, without conversions"},
		{.kind = OPTION_FLAG,
		 .long_name = "literally",
		 .flag = &a->literally,
		 .help = "do not check that the object is well formed"},
		{.kind = OPTION_STRING,
		 .long_name = "path",
		 .string = &a->path,
		 .arg_name = "<file>",
		 .help = "convert the content by the attributes of this path"},
		{.kind = OPTION_END},
	};
	const char *wrong;

	*file_nr = options_parse(argc, argv, options, usage_text);
	if (*file_nr < 0)
		return 129;
	wrong = bad_combination(a, *file_nr);
	if (wrong) {
		builtin_error("%s", wrong);
		return options_usage(options, usage_text);
	}
	return 0;
}

/* ---- one object */

/*
 * Report a problem in the format of the object. Each problem ends the command.
 */
static int complain(void *ctx, const struct fsck_report *report,
		    struct error *err)
{
	builtin_error("object fails fsck: %s: %s", fsck_msg_name(report->msg),
		      report->text);
	return 0;
}

static int check_format(struct run *r, const void *data, size_t len)
{
	struct oid oid = OID_ZERO_INIT;
	struct fsck_rules rules;
	struct fsck f;
	int ret;

	fsck_rules_init(&rules, r->algo, true);
	fsck_rules_all_errors(&rules);
	fsck_init(&f, &rules);
	f.report = complain;
	ret = fsck_object(&f, &oid, r->type, data, len, r->err);
	fsck_release(&f);
	fsck_rules_release(&rules);
	return ret > 0 ? error_set(r->err, ERR_CORRUPT,
				   "refusing to create malformed object")
		       : ret;
}

static int hash(struct run *r, const void *data, size_t len)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;
	int ret = r->a.literally ? 0 : check_format(r, data, len);

	if (ret < 0)
		return ret;
	hash_object(&r->hash, &oid, r->type, data, len);
	ret = hash_refuse_attack(&r->hash, &oid, r->err);
	if (!ret && r->a.write && !freshen_object(r->odb, &oid))
		ret = loose_writer_put(&r->writer, &oid, r->type, data, len,
				       r->err);
	if (ret < 0)
		return ret;
	puts(oid_to_hex(hex, &oid, r->algo));
	return 0;
}

static int hash_stdin(struct run *r)
{
	struct buf content = BUF_INIT;
	ssize_t n = 1;
	int ret = 0;

	while (!ret && n > 0) {
		if (buf_reserve(&content, 1 << 16) < 0) {
			ret = error_nomem(r->err);
			break;
		}
		n = sys_read_some(STDIN_FILENO, content.data + content.len,
				  content.alloc - content.len - 1,
				  "standard input", r->err);
		if (n < 0)
			ret = (int)n;
		else
			buf_set_len(&content, content.len + (size_t)n);
	}
	if (!ret)
		ret = hash(r, content.data, content.len);
	buf_release(&content);
	return ret;
}

/*
 * Hash the content of a device or a pipe, whose size is not known. Scripts
 * often name "/dev/null" for an empty object.
 */
static int hash_stream(struct run *r, const char *name)
{
	struct buf content = BUF_INIT;
	int ret = sys_read_any(&content, name, r->err);

	if (!ret)
		ret = hash(r, content.data, content.len);
	buf_release(&content);
	return ret;
}

/* Hash the file at `path`. `name` is its name in messages. */
static int hash_file(struct run *r, const char *path, const char *name)
{
	struct sys_map map;
	struct sys_stat st;
	int ret;

	/*
	 * As in stock Git, a file with an empty name does not exist. Do not
	 * look at `path` in this case: callers may have turned the empty name
	 * into the path of a directory.
	 */
	errno = *name ? 0 : ENOENT;
	if (!*name || sys_stat(&st, path, NULL) < 0)
		return error_set_errno(r->err,
				       "could not open '%s' for reading", name);
	if (st.is_dir)
		return error_set(r->err, ERR_IO,
				 r->a.write ? "Unable to add %s to "
					      "database"
					    : "Unable to hash %s",
				 r->a.path ? r->a.path : name);
	if (!st.is_file)
		return hash_stream(r, path);
	ret = sys_map_open(&map, path, r->err);
	if (ret < 0)
		return ret;
	ret = hash(r, map.data, map.len);
	sys_map_close(&map);
	return ret;
}

/* ---- filters */

/*
 * Check that no filter applies to a file of this name. Returns 0, or
 * ERR_UNSUPPORTED if a filter could apply.
 */
static int check_path(struct run *r, const char *path)
{
	if (r->a.no_filters || r->type != OBJ_BLOB)
		return 0;
	return check_filters(r->repo, path, r->err);
}

/*
 * Check whether filters could apply to the files. The names on standard input
 * are not known yet, so the attributes of the current directory are checked for
 * them. This finds most filters before standard input is read.
 */
static int check_arguments(struct run *r, const char **files, int file_nr)
{
	int ret = 0;

	if (r->a.path && (r->a.from_stdin || file_nr))
		return check_path(r, r->a.path);
	for (int i = 0; !ret && i < file_nr; i++)
		ret = check_path(r, files[i]);
	if (!ret && r->a.stdin_paths)
		ret = check_path(r, ".");
	return ret;
}

/* ---- all objects */

/*
 * Hash a file that standard input names. `top` is the directory in which a
 * relative name starts; NULL: the current directory.
 */
static int hash_named_by_stdin(struct run *r, const char *top, const char *name)
{
	struct buf path = BUF_INIT;
	int ret = top && *name != '/' ? buf_printf(&path, "%s/%s", top, name)
				      : buf_append_str(&path, name);

	ret = ret < 0 ? error_nomem(r->err) : check_path(r, path.data);
	if (!ret)
		ret = hash_file(r, path.data, name);
	buf_release(&path);
	return ret;
}

/*
 * Hash the files that standard input names, one name on each line. Inside a
 * work tree, names are relative to the top of the work tree, as in stock Git. A
 * name that starts with a quote is a C string; bytes after the closing quote
 * are ignored.
 */
static int hash_stdin_paths(struct run *r)
{
	struct stdin_lines in = STDIN_LINES_INIT;
	struct buf name = BUF_INIT;
	struct place place = {0};
	const char *end, *top = NULL;
	int ret = r->repo ? place_find(&place, r->repo, r->err) : 0;

	if (ret < 0)
		return ret;
	if (place.prefix && *place.prefix)
		top = r->repo->worktree;
	in.strip_cr = true;
	while ((ret = stdin_lines_next(&in, r->err)) > 0) {
		buf_reset(&name);
		if (*in.line != '"')
			ret = hash_named_by_stdin(r, top, in.line);
		else if (quote_undo_c(&name, in.line, &end) < 0)
			ret = error_set(r->err, ERR_INVALID,
					"line is badly quoted");
		else
			ret = hash_named_by_stdin(r, top, name.data);
		if (ret < 0)
			break;
	}
	buf_release(&name);
	stdin_lines_release(&in);
	place_release(&place);
	return ret;
}

/*
 * Hash the files of the command line. Inside a work tree, messages show paths
 * relative to the top of the work tree, as in stock Git.
 */
static int hash_files(struct run *r, const char **files, int file_nr)
{
	struct place place = {0};
	struct buf name = BUF_INIT;
	const char *prefix;
	int ret = r->repo ? place_find(&place, r->repo, r->err) : 0;

	for (int i = 0; !ret && i < file_nr; i++) {
		prefix = place.prefix && *files[i] != '/' ? place.prefix : "";
		buf_reset(&name);
		if (buf_printf(&name, "%s%s%s", prefix, *prefix ? "/" : "",
			       files[i]) < 0)
			ret = error_nomem(r->err);
		else
			ret = hash_file(r,
					*prefix && !*files[i] ? "." : files[i],
					name.data);
	}
	buf_release(&name);
	place_release(&place);
	return ret;
}

static int prepare(struct run *r)
{
	const char *type = r->a.type ? r->a.type : "blob";
	int ret = 0;

	r->type = object_type_by_name(type, strlen(type));
	if (r->type == OBJ_NONE)
		return error_set(r->err, ERR_INVALID,
				 "invalid object type \"%s\"", type);
	if (hash_init_checked(&r->hash, r->algo) < 0)
		return error_nomem(r->err);
	if (!r->a.write)
		return 0;
	ret = odb_open(&r->odb, r->repo, NULL, r->err);
	if (!ret)
		ret = loose_writer_init(&r->writer, r->repo,
					r->repo->object_dir, r->err);
	return ret;
}

static int hash_all(struct run *r, const char **files, int file_nr)
{
	int ret = 0;

	if (r->a.from_stdin)
		ret = hash_stdin(r);
	if (!ret)
		ret = hash_files(r, files, file_nr);
	if (!ret && r->a.stdin_paths)
		ret = hash_stdin_paths(r);
	return ret;
}

/* Hash all files. Returns the exit code. */
static int run_all(struct run *r, const char **files, int file_nr)
{
	int ret = prepare(r);

	if (!ret) {
		ret = check_arguments(r, files, file_nr);
		if (ret == ERR_UNSUPPORTED)
			return builtin_not_ours(r->err);
	}
	if (!ret)
		ret = hash_all(r, files, file_nr);
	return ret < 0 ? builtin_fail(r->err) : builtin_finish(0);
}

int cmd_hash_object(int argc, const char **argv, struct builtin_env *env)
{
	struct error err = ERROR_INIT;
	struct run r = {.err = &err, .algo = HASH_SHA1};
	int file_nr, ret;

	ret = parse(&r.a, argc, argv, &file_nr);
	if (!ret)
		ret = r.a.write ? builtin_open_repo(env)
				: builtin_open_repo_gently(env);
	if (ret)
		return ret;
	r.repo = env->repo;
	if (r.repo)
		r.algo = r.repo->algo;
	ret = run_all(&r, argv + 1, file_nr);
	loose_writer_release(&r.writer);
	odb_close(r.odb);
	hash_release(&r.hash);
	return ret;
}
