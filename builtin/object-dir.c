/* SPDX-License-Identifier: MIT */
/*
 * Subcommands that work on an object directory: common options, and opening the
 * directory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builtin/object-dir.h"
#include "builtin/options.h"
#include "sys/io.h"

int object_dir_take_choice(void *value, const char *arg)
{
	*(int *)value = arg != option_negated;
	return 0;
}

/* Returns the first word that is not an option, or NULL. */
static const char *find_name(int argc, const char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--object-dir"))
			i++;
		else if (argv[i][0] != '-')
			return argv[i];
	}
	return NULL;
}

object_dir_fn *object_dir_parse(const struct object_dir_command *table,
				const char *usage, int argc, const char **argv)
{
	const char *name = find_name(argc, argv);
	int operands;

	while (table->name && (!name || strcmp(table->name, name) != 0))
		table++;
	if (!table->name && name && name == argv[1]) {
		subcommand_complain(name);
		options_usage(table->options, usage);
		return NULL;
	}
	operands = options_parse(argc, argv, table->options, usage);
	if (operands < 0)
		return NULL;
	if (table->name && operands == 1 + table->operand_nr)
		return table->run;
	if (!operands || !table->name)
		subcommand_complain(operands ? argv[1] : NULL);
	options_usage(table->options, usage);
	return NULL;
}

/* Set up progress meters as the options say. */
static void choose_progress(struct object_dir_call *call)
{
	enum show_progress show = call->want_progress < 0 ? PROGRESS_IF_TERMINAL
				  : call->want_progress   ? PROGRESS_ON
							  : PROGRESS_OFF;

	call->progress = stderr_progress(&call->out, show);
}

/*
 * Find the requested directory among those of the odb. Returns 0, or prints an
 * error and returns 128.
 */
static int choose_dir(struct object_dir_call *call)
{
	const struct odb *odb = call->store.odb;
	const char *wanted = call->object_dir;
	char *real = wanted ? sys_realpath(wanted, NULL) : NULL;
	size_t i = 0;
	int ret = 0;

	for (; wanted && i < odb->dir_nr; i++) {
		char *dir = sys_realpath(odb->dirs[i], NULL);
		bool same = real && dir && !strcmp(real, dir);

		free(dir);
		if (same)
			break;
	}
	if (i == odb->dir_nr)
		ret = builtin_die("could not find object directory matching "
				  "%s",
				  wanted);
	free(real);
	call->dir_nr = i;
	return ret;
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
