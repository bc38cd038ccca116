/* SPDX-License-Identifier: MIT */
/*
 * Reads ids of objects, and prints those that no reference reaches. Standard
 * input has one id of 40 or 64 hexadecimal digits on each line:
 *
 * 	cc -o unreachable unreachable.c $(pkg-config --cflags --libs gitreach)
 * 	git cat-file --batch-all-objects --batch-check='%(objectname)' |
 * 		./unreachable project.git
 *
 * Do not delete the printed objects: a reflog, an index file, a fork that
 * borrows objects, or an unfinished push may still need them. git-gc(1) checks
 * reflogs and index files, and keeps objects that are younger than two weeks.
 */
#include <gitreach.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ids {
	uint8_t *bytes;
	size_t nr, id_len;
};

/* Reads ids from standard input; each id has ids->id_len bytes. */
static int read_ids(struct ids *ids, gitreach_error *err)
{
	char line[GITREACH_ID_TEXT_MAX + 1];
	uint8_t id[GITREACH_ID_MAX];
	size_t len;

	while (fgets(line, sizeof(line), stdin)) {
		uint8_t *more = realloc(ids->bytes,
					(ids->nr + 1) * ids->id_len);

		line[strcspn(line, "\n")] = '\0';
		if (!more)
			return -1;
		ids->bytes = more;
		if (gitreach_id_parse(id, &len, line, err) != 0 ||
		    len != ids->id_len)
			return -1;
		memcpy(more + ids->nr++ * len, id, len);
	}
	return 0;
}

static int print_id(void *ctx, const uint8_t *id, size_t id_len, int type)
{
	char hex[GITREACH_ID_TEXT_MAX];

	(void)type;
	gitreach_id_print(hex, id, id_len, ctx);
	puts(hex);
	return 0;
}

static int print_unreachable(gitreach_repo *repo, const struct ids *ids,
			     gitreach_error *err)
{
	gitreach_set *all = NULL, *reached = NULL, *left = NULL;
	gitreach_query *query = NULL;
	int ret = gitreach_set_new(&all, repo, ids->bytes, ids->nr, ids->id_len,
				   err);

	if (ret == 0)
		ret = gitreach_query_new(&query, repo, err);
	if (ret == 0)
		ret = gitreach_query_want_refs(query, "", err);
	if (ret == 0)
		ret = gitreach_query_run(&reached, query, err);
	if (ret == 0)
		ret = gitreach_set_andnot(&left, all, reached, err);
	if (ret == 0)
		ret = gitreach_set_each(left, GITREACH_ANY_TYPE, print_id, NULL,
					err);
	gitreach_set_free(left);
	gitreach_set_free(reached);
	gitreach_query_free(query);
	gitreach_set_free(all);
	return ret;
}

int main(int argc, char **argv)
{
	gitreach_error *err = gitreach_error_new();
	gitreach_repo *repo = NULL;
	struct ids ids = {NULL, 0, 0};
	int ret;

	if (argc != 2) {
		fprintf(stderr, "usage: %s <repository>\n", argv[0]);
		return 2;
	}
	ret = gitreach_repo_open(&repo, argv[1], 0, err);
	ids.id_len = gitreach_repo_id_len(repo);
	if (ret == 0)
		ret = read_ids(&ids, err);
	if (ret == 0)
		ret = print_unreachable(repo, &ids, err);
	if (ret != 0)
		fprintf(stderr, "error: %s\n", gitreach_error_message(err));
	free(ids.bytes);
	gitreach_repo_close(repo);
	gitreach_error_free(err);
	return ret != 0;
}
