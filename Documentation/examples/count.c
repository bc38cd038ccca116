/* SPDX-License-Identifier: MIT */
/*
 * Prints how many objects of a repository are reachable from its references,
 * and how many bytes these objects take on disk:
 *
 * 	cc -o count count.c $(pkg-config --cflags --libs gitreach)
 * 	./count project.git
 */
#include <gitreach.h>
#include <inttypes.h>
#include <stdio.h>

static void print_line(const gitreach_set *set, const char *name,
		       uint32_t types, gitreach_error *err)
{
	uint64_t bytes;

	if (gitreach_set_disk_size(&bytes, set, types, err) == 0)
		printf("%s %" PRIu64 " objects %" PRIu64 " bytes\n", name,
		       gitreach_set_count(set, types), bytes);
}

static void print_set(const gitreach_set *set, gitreach_error *err)
{
	struct gitreach_explanation how = {.size = sizeof(how)};

	print_line(set, "commits", GITREACH_TYPE(GITREACH_COMMIT), err);
	print_line(set, "trees", GITREACH_TYPE(GITREACH_TREE), err);
	print_line(set, "blobs", GITREACH_TYPE(GITREACH_BLOB), err);
	print_line(set, "tags", GITREACH_TYPE(GITREACH_TAG), err);
	print_line(set, "all", GITREACH_ANY_TYPE, err);
	if (gitreach_set_explain(&how, set, err) == 0)
		fprintf(stderr, "found by %s in %.3f ms\n",
			how.strategy == GITREACH_BITMAP ? "bitmaps" : "walking",
			(double)how.nanoseconds / 1e6);
}

int main(int argc, char **argv)
{
	gitreach_error *err = gitreach_error_new();
	gitreach_repo *repo = NULL;
	gitreach_query *query = NULL;
	gitreach_set *set = NULL;

	if (argc != 2) {
		fprintf(stderr, "usage: %s <repository>\n", argv[0]);
		return 2;
	}
	if (gitreach_repo_open(&repo, argv[1], 0, err) == 0 &&
	    gitreach_query_new(&query, repo, err) == 0 &&
	    gitreach_query_want_refs(query, "", err) == 0 &&
	    gitreach_query_run(&set, query, err) == 0)
		print_set(set, err);
	if (gitreach_error_code(err))
		fprintf(stderr, "error: %s\n", gitreach_error_message(err));
	gitreach_set_free(set);
	gitreach_query_free(query);
	gitreach_repo_close(repo);
	argc = gitreach_error_code(err) != 0;
	gitreach_error_free(err);
	return argc;
}
