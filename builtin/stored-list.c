/* SPDX-License-Identifier: MIT */
/* git store list: prints the names of the repositories in a store. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "builtin/stored-parts.h"

static const char usage[] = "git store list [--json] [<options>] <store>";

static int print_names(const struct stored_names *names, bool json)
{
	struct buf text = BUF_INIT;
	int ret = 0;

	for (size_t i = 0; i < names->nr && !json; i++)
		printf("%s\n", names->names[i]);
	for (size_t i = 0; i < names->nr && json && !ret; i++) {
		ret = buf_append_str(&text, i ? ",\n  " : "\n  ");
		if (!ret)
			ret = json_string(&text, names->names[i],
					  strlen(names->names[i]));
	}
	if (json && !ret)
		printf("[%s%s]\n", text.data, names->nr ? "\n" : "");
	buf_release(&text);
	return ret ? builtin_die("out of memory") : 0;
}

int stored_cmd_list(int argc, const char **argv, struct builtin_env *env)
{
	struct store_s3_settings settings = STORE_S3_SETTINGS_INIT;
	bool json = false;
	const struct option options[] = {
		OPTION_ROW_FLAG(0, "json", &json,
				"print a JSON array of strings"),
		STORED_OPTION_ROWS(&settings),
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, usage);
	struct stored_names names = {0};
	struct error err = ERROR_INIT;
	struct stored_place place;
	int ret, code;

	(void)env;
	if (operands < 0)
		return 129;
	if (operands != 1)
		return options_usage(options, usage);
	code = stored_place_open(&place, argv[1], &settings);
	if (!code) {
		ret = stored_place_list(&names, &place, &err);
		code = ret ? stored_place_fail(&place, ret, &err)
			   : print_names(&names, json);
	}
	stored_names_release(&names);
	stored_place_close(&place);
	return code;
}
