/* SPDX-License-Identifier: MIT */
/*
 * git store export: copies one version (generation) of a repository from a
 * store into a new bare repository.
 */
#include <stdio.h>

#include "builtin/stored-parts.h"
#include "stored/export.h"
#include "stored/fetch.h"

static const char usage[] =
	"git store export [--generation=<n>] [--ref-format=<format>] "
	"[<options>] <store> <name> <directory>";

struct request {
	uint64_t generation; /* 0: export the newest one */
	enum repo_ref_storage storage;
};

static int export(const struct generation_place *place, const char *dir,
		  const struct request *request)
{
	struct generation g = {0};
	struct error err = ERROR_INIT;
	int ret = request->generation
			  ? generation_read(&g, place, request->generation,
					    &err)
			  : generation_newest(&g, place, 0, &err);

	ret = stored_result(ret, place->repository, &err);
	if (!ret && g.is_retired)
		ret = error_set(&err, ERR_MISSING,
				"generation %llu of '%s' was removed by git "
				"store gc",
				(unsigned long long)g.number,
				place->repository);
	if (!ret)
		ret = stored_export(place, &g, dir, request->storage, &err);
	generation_release(&g);
	return ret ? builtin_fail(&err) : 0;
}

int stored_cmd_export(int argc, const char **argv, struct builtin_env *env)
{
	struct store_s3_settings settings = STORE_S3_SETTINGS_INIT;
	struct request request = {.storage = REPO_REFS_FILES};
	const char *format = "files";
	const struct option options[] = {
		{.kind = OPTION_U64,
		 .long_name = "generation",
		 .u64 = &request.generation,
		 .help = "number of an older generation"},
		OPTION_ROW_STRING(0, "ref-format", &format, "<format>",
				  "ref storage: files or reftable"),
		STORED_OPTION_ROWS(&settings),
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, usage);
	struct stored_place place;
	int code;

	(void)env;
	if (operands < 0)
		return 129;
	if (operands != 3)
		return options_usage(options, usage);
	if (!format || !repo_ref_storage_by_name(&request.storage, format))
		return builtin_die("unknown ref storage format '%s'",
				   format ? format : "");
	code = stored_place_open(&place, argv[1], &settings);
	if (!code) {
		const struct generation_place one = stored_place_repository(
			&place, argv[2]);

		code = export(&one, argv[3], &request);
	}
	stored_place_close(&place);
	return code;
}
