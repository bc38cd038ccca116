/* SPDX-License-Identifier: MIT */
/*
 * Prints the objects that one reference reaches and another one does not, one
 * on each line:
 *
 * 	cc -o difference difference.c $(pkg-config --cflags --libs gitreach)
 * 	./difference project.git main v1.0
 *
 * The program makes a set for each reference and subtracts one set from the
 * other. A query with a want and a have would give the same result. But a
 * program can use the sets for further differences.
 */
#include <gitreach.h>
#include <stdio.h>

static int print_object(void *ctx, const uint8_t *id, size_t id_len, int type)
{
	static const char *const names[] = {NULL, "commit", "tree", "blob",
					    "tag"};

	(void)ctx;
	for (size_t i = 0; i < id_len; i++)
		printf("%02x", id[i]);
	printf(" %s\n", names[type]);
	return 0;
}

/* Returns the set of objects that a reference reaches, or NULL. */
static gitreach_set *reach(gitreach_repo *repo, const char *name,
			   gitreach_error *err)
{
	gitreach_query *query = NULL;
	gitreach_set *set = NULL;

	if (gitreach_query_new(&query, repo, err) == 0 &&
	    gitreach_query_want_name(query, name, err) == 0)
		gitreach_query_run(&set, query, err);
	gitreach_query_free(query);
	return set;
}

int main(int argc, char **argv)
{
	gitreach_error *err = gitreach_error_new();
	gitreach_set *a = NULL, *b = NULL, *only_a = NULL;
	gitreach_repo *repo = NULL;
	int code;

	if (argc != 4) {
		fprintf(stderr, "usage: %s <repository> <name> <name>\n",
			argv[0]);
		return 2;
	}
	if (gitreach_repo_open(&repo, argv[1], 0, err) == 0 &&
	    (a = reach(repo, argv[2], err)) != NULL &&
	    (b = reach(repo, argv[3], err)) != NULL &&
	    gitreach_set_andnot(&only_a, a, b, err) == 0)
		gitreach_set_each(only_a, GITREACH_ANY_TYPE, print_object, NULL,
				  err);
	code = gitreach_error_code(err) != 0;
	if (code)
		fprintf(stderr, "error: %s\n", gitreach_error_message(err));
	gitreach_set_free(only_a);
	gitreach_set_free(a);
	gitreach_set_free(b);
	gitreach_repo_close(repo);
	gitreach_error_free(err);
	return code;
}
