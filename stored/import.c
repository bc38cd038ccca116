/* SPDX-License-Identifier: MIT */
/* Makes a generation from a local repository. */
#include "stored/fetch.h"
#include "stored/import.h"
#include "stored/stage.h"

/*
 * Reads the newest generation into *base. Returns 0, with *base left zeroed if
 * the repository has no generation. Returns ERR_DENIED if the repository has
 * one and `force` is false, or another negative error code.
 */
static int find_base(struct generation *base,
		     const struct generation_place *place, bool force,
		     struct error *err)
{
	int ret = generation_newest(base, place, 0, err);

	if (ret == STORE_ABSENT)
		return 0;
	if (!ret && !force)
		return error_set(err, ERR_DENIED,
				 "'%s' exists in the store already, with %llu "
				 "generations",
				 place->repository,
				 (unsigned long long)base->number);
	return stored_result(ret, place->repository, err);
}

int stored_import_run(struct stored_import_result *result,
		      const struct generation_place *place,
		      const struct repo *source,
		      const struct stored_import *how, struct error *err)
{
	struct stored_stage stage = {.dir = SYS_TEMPDIR_INIT};
	struct generation base = {0};
	int ret = find_base(&base, place, how->force, err);

	*result = (struct stored_import_result){0};
	if (!ret)
		ret = stored_stage_make(&stage, source, how->tmp, how->progress,
					err);
	if (!ret) {
		const struct stored_successor next = {
			.dir = stage.dir.path,
			.node = how->node,
			.user = how->user,
			.action = "import",
			/*
			 * The import replaces the whole content, so the old
			 * objects may be lost.
			 */
			.drops_objects = true,
		};

		result->packed_nr = stage.packed_nr;
		ret = stored_successor_commit(&result->written, &base, place,
					      &next, err);
	}
	generation_release(&base);
	stored_stage_release(&stage);
	return ret;
}
