/* SPDX-License-Identifier: MIT */
/*
 * Writes a thin pack to standard output. The pack has the objects that one
 * reference reaches and that the receiver lacks. The receiver has all objects
 * of the other given references:
 *
 * 	cc -o write-pack write-pack.c $(pkg-config --cflags --libs gitreach)
 * 	./write-pack project.git main v1.0 >thin.pack
 */
#include <gitreach.h>
#include <inttypes.h>
#include <stdio.h>

static int write_bytes(void *ctx, const void *bytes, size_t len)
{
	return fwrite(bytes, 1, len, ctx) != len;
}

static int show_progress(void *ctx, const struct gitreach_progress *progress)
{
	fprintf(ctx, "%s: %" PRIu64 "\n", progress->phase, progress->done);
	return 0;
}

static int write_pack(gitreach_query *query, gitreach_error *err)
{
	struct gitreach_pack_options options = {
		.size = sizeof(options),
		.flags = GITREACH_PACK_THIN | GITREACH_PACK_OFS_DELTA,
		.progress = show_progress,
		.progress_ctx = stderr,
	};
	struct gitreach_pack_report report = {.size = sizeof(report)};
	int ret = gitreach_query_write_pack(query, &options, write_bytes,
					    stdout, &report, err);

	if (ret == 0)
		fprintf(stderr,
			"%" PRIu32 " objects, %" PRIu64 " bytes, %" PRIu64
			" of them as they were stored\n",
			report.objects, report.bytes, report.bytes_copied);
	return ret;
}

int main(int argc, char **argv)
{
	gitreach_error *err = gitreach_error_new();
	gitreach_query *query = NULL;
	gitreach_repo *repo = NULL;
	int ret;

	if (argc < 3) {
		fprintf(stderr, "usage: %s <repository> <want> [<have>...]\n",
			argv[0]);
		return 2;
	}
	ret = gitreach_repo_open(&repo, argv[1], 0, err);
	if (ret == 0)
		ret = gitreach_query_new(&query, repo, err);
	if (ret == 0)
		ret = gitreach_query_want_name(query, argv[2], err);
	for (int i = 3; i < argc && ret == 0; i++)
		ret = gitreach_query_have_name(query, argv[i], err);
	if (ret == 0)
		ret = write_pack(query, err);
	if (ret < 0)
		fprintf(stderr, "error: %s\n", gitreach_error_message(err));
	gitreach_query_free(query);
	gitreach_repo_close(repo);
	gitreach_error_free(err);
	return ret < 0 || fflush(stdout) != 0;
}
