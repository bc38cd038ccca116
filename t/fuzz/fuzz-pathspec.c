/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for names/pathspec.c. The last line of the input is a path; the
 * other lines are patterns. pathspec_below() may say that all paths below a
 * directory match, or that no path below it matches. This must be true for the
 * path.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "names/pathspec.h"
#include "t/fuzz/fuzz.h"

#define PATTERNS_MAX 16

/*
 * Match a path, and each directory above it. To pass the name of a directory,
 * the slash after the name is replaced by NUL, and restored afterwards.
 */
static void ask(const struct pathspec *ps, char *path, size_t len)
{
	bool takes = pathspec_takes(ps, path, len, false);

	for (size_t i = 0; i < len; i++) {
		enum pathspec_below below;
		char c = path[i];

		if (i && c != '/')
			continue;
		path[i] = '\0';
		below = pathspec_below(ps, path, i);
		pathspec_lists(ps, path, i);
		require(below != (takes ? PATHSPEC_NOTHING : PATHSPEC_ALL));
		path[i] = c;
	}
}

/* Returns true if the text can be the path of a file in a tree. */
static bool is_path(const char *path, size_t len)
{
	return len && path[0] != '/' && path[len - 1] != '/' &&
	       !strstr(path, "//");
}

static void run(char *text, const struct pathspec_place *place)
{
	const char *patterns[PATTERNS_MAX];
	struct pathspec ps;
	size_t nr = 0;
	char *end;

	while ((end = strchr(text, '\n')) && nr < PATTERNS_MAX) {
		*end = '\0';
		patterns[nr++] = text;
		text = end + 1;
	}
	if (pathspec_parse(&ps, patterns, nr, place, NULL) < 0) {
		require(!ps.items);
		return;
	}
	for (size_t i = 0; i < ps.nr; i++) {
		require(ps.items[i].len == strlen(ps.items[i].match));
		require(ps.items[i].literal_len <= ps.items[i].len);
		require(ps.items[i].prefix_len <= ps.items[i].literal_len);
		require(ps.items[i].match[0] != '/');
	}
	if (is_path(text, strlen(text)))
		ask(&ps, text, strlen(text));
	pathspec_release(&ps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct pathspec_place places[] = {
		{.name = "/w", .worktree = "/w"},
		{.name = "/w",
		 .worktree = "/w",
		 .prefix = "d/e",
		 .icase = true},
		{.name = "/w", .prefix = "d/", .glob = true},
	};

	for (size_t i = 0; i < 3; i++) {
		char *text = malloc(len + 1);

		if (!text)
			return 0;
		memcpy(text, data, len);
		text[len] = '\0';
		run(text, &places[i]);
		free(text);
	}
	return 0;
}
