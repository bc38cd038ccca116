/* SPDX-License-Identifier: MIT */
/*
 * Finds the current branch before the configuration of the repository is
 * loaded, for conditions "onbranch:" of includeIf. Without a configuration, the
 * functions of refs/ cannot be used.
 */
#include <stdlib.h>
#include <string.h>

#include "base/affix.h"
#include "base/mem.h"
#include "reftable/stack.h"
#include "repo/repo-internal.h"
#include "sys/map.h"

#define SYMREF_DEPTH 5

/*
 * Returns the target of the symbolic ref `name` in the files below `dir`,
 * malloc()ed, or NULL if there is no such symbolic ref.
 */
static char *read_file(const char *dir, const char *name)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	char *target = NULL;

	if (buf_printf(&path, "%s/%s", dir, name) < 0 ||
	    sys_read_file(&text, path.data, NULL) < 0)
		goto out;
	if (starts_with(text.data, "ref:")) {
		const char *start = text.data + 4;

		start += strspn(start, " \t");
		target = mem_strndup(start, strcspn(start, "\r\n"));
	}
out:
	buf_release(&path);
	buf_release(&text);
	return target;
}

/* Like read_file(), for the stack of reftables below `dir`. */
static char *read_table(const char *dir, const char *name, enum hash_algo algo)
{
	struct reftable_stack stack = {0};
	struct reftable_iter it;
	struct reftable_ref ref;
	char *path = repo_join_path(dir, "reftable"), *target = NULL;

	reftable_iter_init(&it);
	if (path && !reftable_stack_open(&stack, path, algo, NULL) &&
	    reftable_stack_find(&stack, &it, name, strlen(name), &ref, NULL) >
		    0 &&
	    ref.value == REFTABLE_SYMBOLIC)
		target = mem_strndup(ref.target, ref.target_len);
	reftable_iter_release(&it);
	reftable_stack_release(&stack);
	free(path);
	return target;
}

static char *read_symref(const struct repo *repo, const char *dir,
			 const char *name)
{
	return repo->ref_storage == REPO_REFS_REFTABLE
		       ? read_table(dir, name, repo->algo)
		       : read_file(dir, name);
}

char *repo_current_branch(const struct repo *repo)
{
	const char *common = repo_refs_common_dir(repo);
	char *ref = read_symref(repo, repo_refs_dir(repo), "HEAD");

	for (int i = 0; ref && i < SYMREF_DEPTH; i++) {
		char *target = starts_with(ref, "refs/") && !strstr(ref, "..")
				       ? read_symref(repo, common, ref)
				       : NULL;

		if (!target)
			break;
		free(ref);
		ref = target;
	}
	return ref;
}
