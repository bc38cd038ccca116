/* SPDX-License-Identifier: MIT */
/*
 * Prints for each group of references what only this group needs: the number of
 * objects that no other group reaches, and their stored size. A group is a
 * prefix of the names of its references:
 *
 * 	cc -o fork-use fork-use.c $(pkg-config --cflags --libs gitreach)
 * 	./fork-use store.git refs/forks/a/ refs/forks/b/ refs/forks/c/
 *
 * If the references of a group are deleted, a repack can free about this size.
 * References outside of the given groups are ignored. If a group and a
 * reference outside of all groups reach the same object, the object is still
 * counted for the group.
 */
#include <gitreach.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Returns a query that wants all references of a group, or NULL. */
static gitreach_query *query_of(gitreach_repo *repo, const char *prefix,
				gitreach_error *err)
{
	gitreach_query *query = NULL;

	if (gitreach_query_new(&query, repo, err) == 0 &&
	    gitreach_query_want_refs(query, prefix, err) == 0)
		return query;
	gitreach_query_free(query);
	return NULL;
}

static int print_group(const char *prefix, const gitreach_set *set,
		       gitreach_error *err)
{
	uint64_t bytes;

	if (gitreach_set_disk_size(&bytes, set, GITREACH_ANY_TYPE, err) != 0)
		return -1;
	printf("%s %" PRIu64 " objects, %" PRIu64 " bytes\n", prefix,
	       gitreach_set_count(set, GITREACH_ANY_TYPE), bytes);
	return 0;
}

static int print_all(gitreach_repo *repo, char **prefixes, size_t nr,
		     gitreach_error *err)
{
	gitreach_query **queries = calloc(nr, sizeof(*queries));
	gitreach_set **sets = calloc(nr, sizeof(*sets));
	int ret = queries && sets ? 0 : -1;

	for (size_t i = 0; i < nr && ret == 0; i++) {
		queries[i] = query_of(repo, prefixes[i], err);
		ret = queries[i] ? 0 : -1;
	}
	if (ret == 0)
		ret = gitreach_query_unique(
			sets, (const gitreach_query *const *)queries, nr, err);
	for (size_t i = 0; i < nr && ret == 0; i++)
		ret = print_group(prefixes[i], sets[i], err);
	for (size_t i = 0; i < nr && queries && sets; i++) {
		gitreach_set_free(sets[i]);
		gitreach_query_free(queries[i]);
	}
	free(queries);
	free(sets);
	return ret;
}

int main(int argc, char **argv)
{
	gitreach_error *err = gitreach_error_new();
	gitreach_repo *repo = NULL;
	int ret = -1;

	if (argc < 3) {
		fprintf(stderr, "usage: %s <repository> <prefix>...\n",
			argv[0]);
		return 2;
	}
	if (gitreach_repo_open(&repo, argv[1], 0, err) == 0)
		ret = print_all(repo, argv + 2, (size_t)argc - 2, err);
	if (ret != 0)
		fprintf(stderr, "error: %s\n", gitreach_error_message(err));
	gitreach_repo_close(repo);
	gitreach_error_free(err);
	return ret != 0;
}
