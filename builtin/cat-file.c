/* SPDX-License-Identifier: MIT */
/* git cat-file: prints the content, type or size of objects. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builtin/cat-file-batch.h"
#include "builtin/filterargs.h"
#include "builtin/mailmap-use.h"
#include "builtin/options.h"
#include "builtin/path-args.h"
#include "builtin/output.h"
#include "names/revname.h"
#include "object/parse.h"

static const char usage[] =
	"git cat-file <type> <object>\n"
	"git cat-file (-e | -p) <object>\n"
	"git cat-file (-t | -s) <object>\n"
	"git cat-file (--batch | --batch-check | --batch-command) "
	"[--batch-all-objects] [--buffer] [--unordered] "
	"[--filter=<filter-spec>] [-z | -Z]";

/* The value of `mode` for the option --batch-all-objects. */
#define ALL_OBJECTS 'A'

struct cat_file {
	struct store store;
	/*
	 * The option that is given: 't', 's', 'e', 'p', or ALL_OBJECTS. 0: none
	 * of these is given, because the arguments name a type or ask for a
	 * batch.
	 */
	char mode;
	/* true: --buffer or --no-buffer was given */
	bool buffer_given;
	bool short_z; /* -z */
	struct cat_file_batch batch;
	struct filter_args filter;
	/* the mailmap of --use-mailmap; empty without this option */
	struct mailmap_use mailmap;
};

/* ---- one object */

static int not_valid(const char *name)
{
	return builtin_die("Not a valid object name %s", name);
}

static int bad_file(const char *name)
{
	return builtin_die("git cat-file %s: bad file", name);
}

static int print_entry(struct cat_file *c, const struct tree_entry *entry,
		       struct buf *line, bool quote_high)
{
	char hex[OID_MAX_HEX_LEN + 1];
	const char *type = tree_entry_is_dir(entry)       ? "tree"
			   : tree_entry_is_gitlink(entry) ? "commit"
							  : "blob";

	buf_reset(line);
	if (buf_printf(line, "%06o %s %s\t", (unsigned)entry->mode, type,
		       oid_raw_to_hex(hex, entry->oid, c->store.odb->algo)) ||
	    output_append_path(line, entry->name, entry->name_len,
			       quote_high) ||
	    buf_append_char(line, '\n'))
		return ERR_NOMEM;
	fwrite(line->data, 1, line->len, stdout);
	return 0;
}

/* Print a tree in the format of git-ls-tree. */
static int print_tree(struct cat_file *c, const struct odb_object *obj)
{
	struct cursor cur = cursor_make(obj->data, obj->len);
	struct buf line = BUF_INIT;
	struct tree_entry entry;
	bool quote_high = true;
	int ret;

	config_bool(&c->store.repo->config, "core.quotepath", &quote_high,
		    NULL);
	while ((ret = tree_next(&entry, &cur, c->store.odb->algo)) > 0)
		if (print_entry(c, &entry, &line, quote_high) < 0)
			break;
	buf_release(&line);
	if (!ret)
		return 0;
	return builtin_die(ret > 0 ? "out of memory" : "corrupt tree");
}

/*
 * Print the content of an object, or its size with -s. The mailmap is applied
 * first.
 */
static int print_mapped(struct cat_file *c, const struct odb_object *obj)
{
	struct error err = ERROR_INIT;
	struct buf mapped = BUF_INIT;
	int ret = mailmap_use_rewrite(&mapped, &c->mailmap, obj->type,
				      obj->data, obj->len, &err);
	const void *data = ret > 0 ? (const void *)mapped.data : obj->data;
	size_t len = ret > 0 ? mapped.len : obj->len;

	if (ret >= 0 && c->mode == 's')
		printf("%zu\n", len);
	else if (ret >= 0)
		fwrite(data, 1, len, stdout);
	buf_release(&mapped);
	return ret < 0 ? builtin_fail(&err) : 0;
}

static int print_pretty(struct cat_file *c, const struct oid *oid,
			const char *name)
{
	struct error err = ERROR_INIT;
	struct odb_object obj;
	int ret = odb_read(c->store.reader, oid, &obj, &err);

	if (ret == ERR_MISSING)
		return not_valid(name);
	if (ret < 0)
		return builtin_fail(&err);
	if (obj.type == OBJ_TREE)
		ret = print_tree(c, &obj);
	else
		ret = print_mapped(c, &obj);
	odb_object_release(c->store.reader, &obj);
	return ret;
}

static int print_mapped_size(struct cat_file *c, const struct oid *oid)
{
	struct error err = ERROR_INIT;
	struct odb_object obj;
	int ret = odb_read(c->store.reader, oid, &obj, &err);

	if (ret < 0)
		return builtin_fail(&err);
	ret = print_mapped(c, &obj);
	odb_object_release(c->store.reader, &obj);
	return ret;
}

static int print_info(struct cat_file *c, const struct oid *oid)
{
	struct error err = ERROR_INIT;
	enum object_type type;
	uint64_t size;
	int ret = odb_info(c->store.reader, oid, &type, &size, &err);

	if (ret == ERR_PEER)
		return builtin_fail(&err);
	if (ret < 0)
		return builtin_die("git cat-file: could not get object info");
	if (c->mode == 't')
		puts(object_type_name(type));
	else if (c->mailmap.map.nr && (type == OBJ_COMMIT || type == OBJ_TAG))
		return print_mapped_size(c, oid);
	else
		printf("%" PRIu64 "\n", size);
	return 0;
}

/*
 * Follow a tag to its object, and a commit to its tree, until the object has
 * the type `wanted`.
 */
static int peel_to(struct cat_file *c, struct oid *oid, enum object_type wanted,
		   struct error *err)
{
	struct odb_object obj;
	struct commit_view commit;
	enum object_type type;
	int ret;

	if (wanted == OBJ_TAG)
		return 0;
	ret = odb_peel(c->store.reader, oid, oid, &type, err);
	if (ret < 0 || wanted != OBJ_TREE || type != OBJ_COMMIT)
		return ret;
	ret = odb_read(c->store.reader, oid, &obj, err);
	if (ret < 0)
		return ret;
	ret = commit_parse(&commit, obj.data, obj.len, c->store.odb->algo,
			   NULL);
	if (!ret)
		*oid = commit.tree;
	odb_object_release(c->store.reader, &obj);
	return ret;
}

static int print_typed(struct cat_file *c, struct oid *oid,
		       const char *type_name, const char *name)
{
	enum object_type wanted = object_type_by_name(type_name,
						      strlen(type_name));
	struct error err = ERROR_INIT;
	struct odb_object obj;
	int ret;

	if (wanted == OBJ_NONE)
		return builtin_die("invalid object type \"%s\"", type_name);
	ret = peel_to(c, oid, wanted, &err);
	if (!ret)
		ret = odb_read(c->store.reader, oid, &obj, &err);
	if (ret < 0)
		return ret == ERR_PEER ? builtin_fail(&err) : bad_file(name);
	if (obj.type == wanted)
		ret = print_mapped(c, &obj);
	else
		ret = bad_file(name);
	odb_object_release(c->store.reader, &obj);
	return ret;
}

/* Test whether an object exists. Returns the exit code of cat-file -e. */
static int test_exists(struct cat_file *c, const struct oid *oid)
{
	struct error err = ERROR_INIT;
	int ret = odb_reader_need(c->store.reader, oid, &err);

	return ret < 0 ? builtin_fail(&err) : !ret;
}

/* Print the error for a name that does not resolve. Returns the exit code. */
static int unresolved(const char *name, const struct error *err)
{
	if (err->code == ERR_UNSUPPORTED)
		return builtin_not_ours(err);
	if (err->code == ERR_MISSING && revname_rev_len(name))
		return builtin_die("invalid object name '%.*s'.",
				   (int)revname_rev_len(name), name);
	if (err->code == ERR_MISSING)
		return not_valid(name);
	if (err->code == ERR_PEER ||
	    (err->code == ERR_INVALID && !strncmp(err->msg, "path ", 5)))
		return builtin_fail(err);
	builtin_error("%s", err->msg);
	return not_valid(name);
}

static int print_one(struct cat_file *c, const char *type, const char *name)
{
	struct error err = ERROR_INIT;
	struct oid oid;

	if (store_resolve(&c->store, &oid, name, &err) < 0) {
		path_args_look_on_disk(name, c->store.repo, &err);
		return unresolved(name, &err);
	}
	switch (c->mode) {
	case 'e':
		return test_exists(c, &oid);
	case 'p':
		return print_pretty(c, &oid, name);
	case 't':
	case 's':
		return print_info(c, &oid);
	default:
		return print_typed(c, &oid, type, name);
	}
}

/*
 * Choose whether missing objects are fetched. --batch-all-objects prints only
 * objects that exist; all other modes fetch missing ones. Returns 0 or the exit
 * code.
 */
static int set_fetching(struct cat_file *c, struct builtin_env *env)
{
	return c->batch.all_objects ? 0 : store_fetch_missing(&c->store, env);
}

static int run(struct cat_file *c, const char *const *operands,
	       struct builtin_env *env)
{
	struct error err = ERROR_INIT;
	int ret = set_fetching(c, env);

	if (ret)
		return ret;
	if (c->batch.mode == CAT_FILE_BATCH_NONE && c->batch.use_mailmap &&
	    mailmap_use_load(&c->mailmap, &c->store, &err) < 0)
		return builtin_fail(&err);
	return c->batch.mode != CAT_FILE_BATCH_NONE
		       ? cat_file_batch_run(&c->store, &c->batch)
		       : print_one(c, operands[0], operands[1]);
}

/* ---- options */

static const char *mode_name(char mode)
{
	return mode == ALL_OBJECTS ? "--batch-all-objects"
	       : mode == 'e'       ? "-e"
	       : mode == 'p'       ? "-p"
	       : mode == 't'       ? "-t"
				   : "-s";
}

static int set_mode(struct cat_file *c, char mode, const char *arg)
{
	if (arg == option_negated)
		return 0;
	if (c->mode && c->mode != mode)
		return builtin_error("options '%s' and '%s' cannot be used "
				     "together",
				     mode_name(mode), mode_name(c->mode));
	c->mode = mode;
	return 0;
}

static int set_type(void *value, const char *arg)
{
	return set_mode(value, 't', arg);
}

static int set_size(void *value, const char *arg)
{
	return set_mode(value, 's', arg);
}

static int set_exists(void *value, const char *arg)
{
	return set_mode(value, 'e', arg);
}

static int set_pretty(void *value, const char *arg)
{
	return set_mode(value, 'p', arg);
}

static int set_all_objects(void *value, const char *arg)
{
	struct cat_file *c = value;

	c->batch.all_objects = true;
	return set_mode(c, ALL_OBJECTS, arg);
}

static int set_buffer(void *value, const char *arg)
{
	struct cat_file *c = value;

	c->batch.buffered = arg != option_negated;
	c->buffer_given = true;
	return 0;
}

static int set_short_nul(void *value, const char *arg)
{
	struct cat_file *c = value;

	(void)arg;
	c->batch.nul = c->short_z = true;
	return 0;
}

static int set_batch(struct cat_file *c, enum cat_file_batch_mode mode,
		     const char *format)
{
	if (c->batch.mode != CAT_FILE_BATCH_NONE)
		return builtin_error("only one batch option may be specified");
	c->batch.mode = mode;
	c->batch.format = format;
	return 0;
}

static int set_batch_contents(void *value, const char *arg)
{
	return set_batch(value, CAT_FILE_BATCH_CONTENTS, arg);
}

static int set_batch_info(void *value, const char *arg)
{
	return set_batch(value, CAT_FILE_BATCH_INFO, arg);
}

static int set_batch_command(void *value, const char *arg)
{
	return set_batch(value, CAT_FILE_BATCH_COMMAND, arg);
}

static int set_nul(void *value, const char *arg)
{
	struct cat_file_batch *b = value;

	(void)arg;
	b->nul = b->nul_out = true;
	return 0;
}

/*
 * Called if no batch mode is given. Returns the name of a given option that has
 * an effect only in a batch mode, or NULL if there is none. --unordered is
 * ignored, as in stock Git.
 */
static const char *batch_only(const struct cat_file *c)
{
	if (c->buffer_given)
		return "--buffer";
	if (c->batch.all_objects)
		return "--batch-all-objects";
	if (c->short_z)
		return "-z";
	return c->batch.nul ? "-Z" : NULL;
}

/* Print an error about the arguments, and an empty line. Returns 1. */
__attribute__((format(printf, 1, 2))) static int refuse(const char *fmt, ...)
{
	va_list ap;
	char *msg;

	va_start(ap, fmt);
	if (vasprintf(&msg, fmt, ap) < 0)
		msg = NULL;
	va_end(ap);
	builtin_die("%s\n", msg ? msg : "out of memory");
	free(msg);
	return 1;
}

/*
 * Check the combination of arguments. Returns 0, or prints an error and returns
 * the exit code.
 */
static int check(const struct cat_file *c, int operand_nr)
{
	const char *only = batch_only(c);
	bool object_mode = c->mode && c->mode != ALL_OBJECTS;

	if (c->batch.mode != CAT_FILE_BATCH_NONE) {
		if (object_mode)
			return refuse("'-%c' is incompatible with batch mode",
				      c->mode);
		return operand_nr ? refuse("batch modes take no arguments") : 0;
	}
	if (only)
		return refuse("'%s' requires a batch mode", only);
	if (object_mode && !operand_nr)
		return refuse("<object> required with '-%c'", c->mode);
	if (object_mode && operand_nr > 1)
		return refuse("too many arguments");
	if (!c->mode && operand_nr && operand_nr != 2)
		return refuse("only two arguments allowed in <type> <object> "
			      "mode, not %d",
			      operand_nr);
	return !c->mode && !operand_nr;
}

/*
 * Refuse a filter that cannot decide by the type and size of an object alone,
 * such as sparse:oid. Returns 0 or the exit code.
 */
static int check_filter(const struct cat_file *c)
{
	const struct filter *filter = &c->filter.filter;
	const char *name = NULL;

	if (filter->nr && c->batch.mode == CAT_FILE_BATCH_NONE) {
		fprintf(stderr, "usage: objects filter only supported in batch "
				"mode\n");
		return 129;
	}
	if (c->filter.combined)
		name = "combine";
	else if (filter->nr && (filter->parts[0].kind == FILTER_TREE ||
				filter->parts[0].kind == FILTER_SPARSE_OID))
		name = filter_kind_name(filter->parts[0].kind);
	if (!name)
		return 0;
	fprintf(stderr, "usage: objects filter not supported: '%s'\n", name);
	return 129;
}

#define MODE(letter, set, text)                                                \
	{                                                                      \
		.kind = OPTION_CALLBACK, .short_name = letter, .value = &c,    \
		.fn = set, .flags = OPTION_NO_ARG, .help = text                \
	}
#define BATCH(name, set, text)                                                 \
	{                                                                      \
		.kind = OPTION_CALLBACK, .long_name = name, .value = &c,       \
		.fn = set, .flags = OPTION_OPTIONAL_ARG | OPTION_NO_NEGATE,    \
		.arg_name = "<format>", .help = text                           \
	}
#define NOT_OURS(name, flag)                                                   \
	{                                                                      \
		.kind = OPTION_NOT_OURS, .long_name = name, .flags = flag      \
	}

int cmd_cat_file(int argc, const char **argv, struct builtin_env *env)
{
	struct cat_file c = {.mode = 0};
	const struct option options[] = {
		NOT_OURS("follow-symlinks", 0),
		MODE('e', set_exists, "check if <object> exists"),
		MODE('p', set_pretty, "pretty-print <object> content"),
		MODE('t', set_type, "show object type"),
		MODE('s', set_size, "show object size"),
		OPTION_ROW_FLAG(0, "mailmap", &c.batch.use_mailmap,
				"use mail map file"),
		OPTION_ROW_FLAG(0, "use-mailmap", &c.batch.use_mailmap,
				"alias of --mailmap"),
		BATCH("batch", set_batch_contents,
		      "show full <object> or <rev> contents"),
		BATCH("batch-check", set_batch_info,
		      "like --batch, but don't emit <contents>"),
		BATCH("batch-command", set_batch_command,
		      "read commands from stdin"),
		{.kind = OPTION_CALLBACK,
		 .short_name = 'z',
		 .value = &c,
		 .fn = set_short_nul,
		 .flags = OPTION_NO_ARG,
		 .help = "stdin is NUL-terminated"},
		{.kind = OPTION_CALLBACK,
		 .short_name = 'Z',
		 .value = &c.batch,
		 .fn = set_nul,
		 .flags = OPTION_NO_ARG,
		 .help = "stdin and stdout are NUL-terminated"},
		{.kind = OPTION_CALLBACK,
		 .long_name = "filter",
		 .value = &c.filter,
		 .fn = filter_args_option,
		 .arg_name = "<filter-spec>",
		 .help = "leave out the objects that the filter excludes"},
		{.kind = OPTION_CALLBACK,
		 .long_name = "batch-all-objects",
		 .value = &c,
		 .fn = set_all_objects,
		 .flags = OPTION_NO_ARG | OPTION_NO_NEGATE,
		 .help = "with --batch[-check]: batch all known objects"},
		{.kind = OPTION_CALLBACK,
		 .long_name = "buffer",
		 .value = &c,
		 .fn = set_buffer,
		 .flags = OPTION_NO_ARG,
		 .help = "flush the output only when the buffer is full"},
		{.kind = OPTION_FLAG,
		 .long_name = "unordered",
		 .flag = &c.batch.unordered,
		 .help = "visit objects in the order of the packs, not of "
			 "their ids"},
		NOT_OURS("allow-unknown-type", 0),
		NOT_OURS("textconv", OPTION_NO_NEGATE),
		NOT_OURS("filters", OPTION_NO_NEGATE),
		NOT_OURS("path", 0),
		{.kind = OPTION_END},
	};
	int nr, ret;

	filter_args_init(&c.filter);
	c.batch.filter = &c.filter.filter;
	nr = options_parse(argc, argv, options, usage);
	ret = nr < 0 ? options_failed(nr) : check_filter(&c);
	if (!ret && check(&c, nr))
		ret = options_usage(options, usage);
	/*
	 * --batch-all-objects prints the stored objects themselves, so it must
	 * not read replacements from refs/replace/.
	 */
	if (!ret)
		ret = c.batch.all_objects ? store_open(&c.store, env)
					  : store_open_replaced(&c.store, env);
	if (ret)
		goto out;
	ret = run(&c, (const char *const[]){argv[1], argv[nr]}, env);
	store_close(&c.store);
out:
	filter_args_release(&c.filter);
	mailmap_use_release(&c.mailmap);
	return builtin_finish(ret);
}
