/* SPDX-License-Identifier: MIT */
/*
 * The main program of a fuzz target without a fuzzer. It runs the target on the
 * inputs of its corpus. It also runs the target on some hundred inputs that are
 * derived from each of them: prefixes, and copies with single bytes changed.
 * The derived inputs are the same in each run.
 *
 *	replay-<name> [<corpus directory>]
 *
 * The default is t/fuzz/corpus/<name>. Prints TAP, one test for each file. A
 * target that finds an error crashes or aborts.
 *
 * Every input is copied to memory of exactly its size, so that a sanitizer sees
 * each read past its end.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "t/fuzz/fuzz.h"

#define VARIANTS 256

static void feed(const uint8_t *data, size_t len)
{
	uint8_t *exact = malloc(len ? len : 1);

	if (!exact)
		exit(1);
	memcpy(exact, data, len);
	LLVMFuzzerTestOneInput(exact, len);
	free(exact);
}

/*
 * Run the target on prefixes of an input: on all prefixes of a short input, and
 * on evenly spread ones of a long input.
 */
static void feed_prefixes(const uint8_t *data, size_t len)
{
	size_t step = len / VARIANTS + 1;

	for (size_t cut = 0; cut < len; cut += step)
		feed(data, cut);
}

static void feed_changed(uint8_t *data, size_t len)
{
	uint64_t random = 0x9e3779b97f4a7c15;

	for (int i = 0; i < VARIANTS && len; i++) {
		size_t at;
		uint8_t old;

		random = random * 6364136223846793005 + 1442695040888963407;
		at = (size_t)(random >> 33) % len;
		old = data[at];
		data[at] ^= (uint8_t)(random >> 25 | 1);
		feed(data, len);
		data[at] = old;
	}
}

static uint8_t *read_input(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = NULL;
	long end;

	if (!f)
		return NULL;
	if (fseek(f, 0, SEEK_END) || (end = ftell(f)) < 0)
		goto out;
	rewind(f);
	data = malloc((size_t)end + 1);
	if (data && fread(data, 1, (size_t)end, f) != (size_t)end) {
		free(data);
		data = NULL;
	}
	*len = (size_t)end;
out:
	fclose(f);
	return data;
}

static void replay(const char *dir, const char *name, int test_nr)
{
	char path[8192];
	size_t len;
	uint8_t *data;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	data = read_input(path, &len);
	if (!data) {
		printf("not ok %d - %s: cannot be read\n", test_nr, path);
		return;
	}
	feed(data, len);
	feed_prefixes(data, len);
	feed_changed(data, len);
	free(data);
	printf("ok %d - %s\n", test_nr, name);
	fflush(stdout);
}

static int is_input(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
	const char *name = strstr(argv[0], "replay-");
	char dir[4096];
	struct dirent **entries;
	int nr;

	if (argc > 1)
		snprintf(dir, sizeof(dir), "%s", argv[1]);
	else
		snprintf(dir, sizeof(dir), "t/fuzz/corpus/%s",
			 name ? name + strlen("replay-") : "");
	nr = scandir(dir, &entries, is_input, alphasort);
	if (nr <= 0) {
		fprintf(stderr, "%s: no inputs\n", dir);
		return 1;
	}
	printf("1..%d\n", nr);
	for (int i = 0; i < nr; i++) {
		replay(dir, entries[i]->d_name, i + 1);
		free(entries[i]);
	}
	free(entries);
	return 0;
}
