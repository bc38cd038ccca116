/* SPDX-License-Identifier: MIT */
/* Subcommands, their common options, and the directory they work on. */
#include <stdlib.h>
#include <string.h>

#include "builtin/object-dir.h"
#include "sys/io.h"

int object_dir_take_choice(void *value, const char *arg)
{
	*(int *)value = arg != option_negated;
	return 0;
}

const char *object_dir_subcommand(int argc, const char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--object-dir"))
			i++;
		else if (argv[i][0] != '-')
			return argv[i];
	}
	return NULL;
}

const struct progress_out *object_dir_progress(struct progress_out *out,
					       const struct object_dir_args *a)
{
	enum show_progress show = a->progress < 0 ? PROGRESS_IF_TERMINAL
				  : a->progress   ? PROGRESS_ON
						  : PROGRESS_OFF;

	return stderr_progress(out, show);
}

int object_dir_choose(size_t *dir_nr, const struct store *store,
		      const struct object_dir_args *a)
{
	const struct odb *odb = store->odb;
	char *real = a->object_dir ? sys_realpath(a->object_dir, NULL) : NULL;
	size_t i = 0;
	int ret = 0;

	for (; a->object_dir && i < odb->dir_nr; i++) {
		char *dir = sys_realpath(odb->dirs[i], NULL);
		bool same = real && dir && !strcmp(real, dir);

		free(dir);
		if (same)
			break;
	}
	if (i == odb->dir_nr)
		ret = builtin_die("could not find object directory matching "
				  "%s",
				  a->object_dir);
	free(real);
	*dir_nr = i;
	return ret;
}
