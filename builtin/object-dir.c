/* SPDX-License-Identifier: MIT */
/*
 * Subcommands that work on an object directory: common options, and opening the
 * directory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "builtin/object-dir.h"
#include "builtin/options.h"
#include "sys/io.h"

int object_dir_take_choice(void *value, const char *arg)
{
	*(int *)value = arg != option_negated;
	return 0;
}

/*
 * Returns the index in argv of the first word that is not an option, the name
 * of the subcommand. Returns 0 if there is no such word before "--".
 */
static int find_name(int argc, const char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (!strcmp(argv[i], "--object-dir"))
			i++;
		else if (argv[i][0] != '-')
			return i;
	}
	return 0;
}

/*
 * Parse the options before the name of the subcommand at argv[name_nr], and
 * move the name to argv[1]. Returns the new argc, or -1 after an error.
 */
static int parse_first(const struct option *options, const char *usage,
		       int argc, const char **argv, int name_nr)
{
	if (name_nr > 1) {
		const char *name = argv[name_nr];
		int ret = options_parse(name_nr, argv, options, usage);

		if (ret < 0)
			return -1;
		argv[name_nr] = name;
		memmove(argv + 1, argv + name_nr,
			(size_t)(argc - name_nr + 1) * sizeof(*argv));
		argc -= name_nr - 1;
	}
	return argc;
}

object_dir_fn *object_dir_parse(const struct object_dir_command *table,
				const char *usage, int argc, const char **argv)
{
	const struct object_dir_command *last = table;
	int name_nr = find_name(argc, argv), operands;
	const char *name = name_nr ? argv[name_nr] : NULL;

	if (argc > 1 && options_is_completion(argv[1]))
		for (size_t i = 0; table[i].name; i++)
			printf("%s ", table[i].name);
	while (table->name && (!name || strcmp(table->name, name) != 0))
		table++;
	while (last->name)
		last++;
	if (argc > 2 && options_is_completion(argv[2])) {
		options_complete(table->options, argv[2]);
		return NULL;
	}
	argc = parse_first(last->options, usage, argc, argv, name_nr);
	if (argc < 0)
		return NULL;
	if (!table->name && name) {
		subcommand_complain(name);
		options_usage(table->options, usage);
		return NULL;
	}
	operands = options_parse(argc, argv, table->options, usage);
	if (operands < 0)
		return NULL;
	if (table->name && operands == 1 + table->operand_nr)
		return table->run;
	if (!table->name)
		subcommand_complain(NULL);
	options_usage(table->options, usage);
	return NULL;
}

/* Set call->progress as the options say. */
static void choose_progress(struct object_dir_call *call)
{
	enum show_progress show = call->want_progress < 0 ? PROGRESS_IF_TERMINAL
				  : call->want_progress   ? PROGRESS_LATE
							  : PROGRESS_OFF;

	call->progress = output_progress(&call->out, show);
}

/*
 * Returns the index of a directory in the odb's list of directories, or
 * odb->dir_nr if the list does not have it.
 */
static size_t find_dir(const struct odb *odb, const char *real)
{
	size_t i = 0;

	for (; i < odb->dir_nr; i++) {
		char *dir = sys_realpath(odb->dirs[i], NULL);
		bool same = dir && !strcmp(real, dir);

		free(dir);
		if (same)
			break;
	}
	return i;
}

/*
 * Append a directory to the repository's alternates, for this process only.
 * Returns 0 or ERR_NOMEM.
 */
static int add_alternate(struct repo *repo, const char *dir)
{
	struct buf list = BUF_INIT;
	int ret = buf_append_str(&list, repo->alternate_object_dirs
						? repo->alternate_object_dirs
						: "");

	if (!ret && list.len)
		ret = buf_append_str(&list, ":");
	if (!ret)
		ret = buf_append_str(&list, "\"");
	for (; *dir && !ret; dir++)
		ret = buf_printf(&list, strchr("\"\\", *dir) ? "\\%c" : "%c",
				 *dir);
	if (!ret)
		ret = buf_append_str(&list, "\"");
	if (ret < 0) {
		buf_release(&list);
		return ret;
	}
	free(repo->alternate_object_dirs);
	repo->alternate_object_dirs = buf_detach(&list, NULL);
	return 0;
}

/* Open the repository with the directory `real` added to its alternates. */
static int open_other(struct object_dir_call *call, const char *real)
{
	struct error err = ERROR_INIT;
	int code;

	if (add_alternate(call->store.repo, real) < 0) {
		error_nomem(&err);
		return builtin_fail(&err);
	}
	code = store_reopen(&call->store, call->env);
	if (!code)
		call->dir_nr = find_dir(call->store.odb, real);
	return code;
}

/*
 * Find the directory of --object-dir among those of the odb. Returns 0, or
 * prints an error and returns 128.
 */
static int choose_dir(struct object_dir_call *call)
{
	const char *wanted = call->object_dir;
	char *real = wanted ? sys_realpath(wanted, NULL) : NULL;
	int code = 0;

	call->dir_nr = 0;
	if (wanted)
		call->dir_nr = real ? find_dir(call->store.odb, real)
				    : call->store.odb->dir_nr;
	if (real && call->dir_nr == call->store.odb->dir_nr &&
	    call->takes_any_dir && access(real, F_OK) == 0)
		code = open_other(call, real);
	if (!code && call->dir_nr == call->store.odb->dir_nr)
		code = builtin_die("could not find object directory matching "
				   "%s",
				   wanted);
	free(real);
	return code;
}

int object_dir_reopen(struct object_dir_call *call)
{
	int code = store_reopen(&call->store, call->env);

	return code ? code : choose_dir(call);
}

int object_dir_run(struct object_dir_call *call, object_dir_fn *run)
{
	int code;

	choose_progress(call);
	code = object_dir_reopen(call);
	if (!code)
		code = run(call);
	store_close(&call->store);
	return builtin_finish(code);
}

void object_dir_print_line(void *ctx, const char *line)
{
	fprintf(stderr, "%s\n", line);
}
