/* SPDX-License-Identifier: MIT */
/*
 * Makes a stage of a local repository (the source): a temporary bare repository
 * with exactly the files that a generation gets. The source is never changed.
 *
 *	packs and their side files         links to those of the source
 *	one more pack                      objects that are reachable from refs
 *	                                   and not in these packs: loose ones,
 *	                                   and those of alternates
 *	multi-pack-index, commit-graph     links, if all packs and commits that
 *	                                   they list are in the stage
 *	objects/info/prepared, deltas      links
 *	reftable/<name>                    all refs and HEAD, of one moment
 *	config                             that of the source, with refs in
 *	                                   tables
 *	description, shallow, hooks/...    copies; hooks only if executable
 *
 * Reflogs, unreachable loose objects, .keep files and linked work trees are
 * left out. If the packs of the source are replaced meanwhile, the links keep
 * the old ones.
 */
#ifndef STORED_STAGE_H
#define STORED_STAGE_H

#include "repo/repo.h"
#include "sys/progress.h"
#include "sys/tempdir.h"

struct stored_stage {
	struct sys_tempdir dir;
	/* owned: the repository in `dir` */
	struct repo *repo;
	/*
	 * number of objects in the pack that the stage has in addition to the
	 * packs of the source
	 */
	uint64_t packed_nr;
};

/*
 * Makes the stage (a temporary repository with links to the files of the
 * source, see above) below the directory `tmp`. The links are hard links if
 * possible. Hard links are impossible, for example, if `tmp` is on another file
 * system than the source. Then a pack or its side file gets a symlink, and any
 * other file is copied. If the stage has symlinks, the source must not be
 * repacked before the stage is released. `progress` may be NULL. The caller
 * releases *stage in any case.
 *
 * Returns 0, or ERR_UNSUPPORTED if the source has a work tree or is a partial
 * clone. Returns ERR_MISSING if an object of a ref is missing, or another
 * negative error code.
 */
int stored_stage_make(struct stored_stage *stage, const struct repo *source,
		      const char *tmp, const struct progress_out *progress,
		      struct error *err);
void stored_stage_release(struct stored_stage *stage);

/* ---- stage-files.c */

/*
 * Puts files of the repository `source` into the stage (the temporary
 * repository, see above) whose directory is `dir`. The files are linked or
 * copied without a change: packs with their side files, multi-pack-indexes,
 * commit-graphs, hooks and so on. Before the call, `dir` has only the files and
 * directories that stored_layout_frame() makes. Returns 0 or a negative error
 * code.
 */
int stored_stage_take(const char *dir, const struct repo *source,
		      struct error *err);

/*
 * `repo` is the stage (the temporary repository, see above). Removes its
 * multi-pack-indexes and commit-graphs if they refer to objects or packs that
 * are not in the stage. Returns 0 or a negative error code.
 */
int stored_stage_drop_strays(const struct repo *repo, struct error *err);

#endif
