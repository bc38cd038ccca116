/* SPDX-License-Identifier: MIT */
/*
 * Checks whether the bitmap index of a repository is correct. By default, all
 * bitmaps are checked. If a number is given, only this number of bitmaps is
 * checked, each by a walk over all trees that its commit reaches:
 *
 * 	cc -o verify verify.c $(pkg-config --cflags --libs gitreach)
 * 	./verify project.git 20
 */
#include <gitreach.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int verify(gitreach_repo *repo, uint64_t sample, gitreach_error *err)
{
	struct gitreach_bitmap_info info = {.size = sizeof(info)};
	struct gitreach_verify_options options = {
		.size = sizeof(options),
		.sample = sample,
		.seed = 1,
	};
	int ret = gitreach_bitmap_info(&info, repo, err);

	if (ret == 0)
		ret = gitreach_bitmap_verify(repo, &options, err);
	if (ret == 0)
		printf("%" PRIu32 " bitmaps over %" PRIu32 " objects: ok\n",
		       info.bitmaps, info.objects);
	return ret;
}

int main(int argc, char **argv)
{
	gitreach_error *err = gitreach_error_new();
	gitreach_repo *repo = NULL;
	int ret;

	if (argc < 2) {
		fprintf(stderr, "usage: %s <repository> [<sample>]\n", argv[0]);
		return 2;
	}
	ret = gitreach_repo_open(&repo, argv[1], 0, err);
	if (ret == 0)
		ret = verify(repo, argc > 2 ? strtoull(argv[2], NULL, 10) : 0,
			     err);
	if (ret < 0)
		printf("%s\n", gitreach_error_message(err));
	gitreach_repo_close(repo);
	gitreach_error_free(err);
	return ret < 0;
}
