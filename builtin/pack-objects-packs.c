/* SPDX-License-Identifier: MIT */
/*
 * The parts of git pack-objects for two groups of options:
 *
 * - --stdin-packs and --cruft, which read names of packs from standard input
 * - --keep-unreachable and similar options, which choose what happens to
 *   unreachable objects
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/input.h"
#include "builtin/pack-objects.h"
#include "repack/cruft.h"
#include "repack/leftovers.h"
#include "repack/loosen.h"
#include "repack/rollup.h"

/*
 * Characters before a pack's name on standard input ("^" and the like), and
 * their meanings.
 */
struct marks {
	/* the characters; one of them may stand before a pack's name */
	const char *chars;
	enum rollup_part unmarked;
	/*
	 * marked[i]: how a pack is handled if the character chars[i] stands
	 * before its name
	 */
	enum rollup_part marked[2];
	/*
	 * true: it is an error if the input lists a pack twice with different
	 * meanings, for example as "-pack-1.pack" and as "pack-1.pack"
	 */
	bool once;
};

/*
 * Read the names of packs from standard input, one on each line. A character of
 * `marks`, such as "^", may precede a name.
 */
static int read_parts(enum rollup_part *parts, const struct odb *odb,
		      const struct marks *marks, struct error *err)
{
	struct stdin_lines in = STDIN_LINES_INIT;
	int ret;

	while ((ret = stdin_lines_next(&in, err)) > 0) {
		const char *mark;

		if (!in.line[0])
			continue;
		mark = strchr(marks->chars, in.line[0]);
		ret = rollup_mark(parts, odb, in.line + (mark != NULL),
				  mark ? marks->marked[mark - marks->chars]
				       : marks->unmarked,
				  marks->once, err);
		if (ret < 0)
			break;
	}
	stdin_lines_release(&in);
	return ret;
}

int pack_objects_add_packs(struct pack_job *job,
			   const struct pack_objects_args *a, struct error *err)
{
	const struct odb *odb = job->walk.odb;
	enum rollup_part *parts = mem_calloc(odb->pack_nr, sizeof(*parts));
	struct rollup_options options = {
		.parts = parts,
		.loose = a->unpacked,
		.follow = a->follow,
	};
	const struct marks marks = {
		a->follow ? "^!" : "^",
		ROLLUP_INCLUDE,
		{ROLLUP_EXCLUDE, ROLLUP_OPEN},
		false,
	};
	int ret;

	if (!parts)
		return error_nomem(err);
	ret = read_parts(parts, odb, &marks, err);
	if (!ret)
		ret = rollup_add(job, &options, err);
	free(parts);
	return ret;
}

static void warn(void *ctx, const char *message)
{
	(void)ctx;
	builtin_warn("%s", message);
}

int pack_objects_add_rest(struct pack_job *job,
			  const struct pack_objects_args *a, struct error *err)
{
	struct unreachable u = {0};
	uint32_t ignored;
	int ret = leftovers_list(&u, job, a->expiry, err);

	u.warn = warn;
	if (!ret)
		ret = leftovers_add(job, &u, a->keep_unreachable,
				    a->pack_loose_unreachable, err);
	if (!ret && a->unpack_unreachable)
		ret = loosen_write(&ignored, &u, err);
	unreachable_release(&u);
	return ret;
}

int pack_objects_write_cruft(struct pack_job *job,
			     const struct pack_objects_args *a,
			     const struct pack_sink *sink, struct error *err)
{
	const struct odb *odb = job->walk.odb;
	enum rollup_part *parts = mem_calloc(odb->pack_nr, sizeof(*parts));
	struct cruft_options options = {
		.newpack = job->options->newpack,
		.dir = job->options->dir,
		.base = job->options->base,
		.expiry = a->expiry,
		.empty = !a->non_empty,
		.sink = sink,
	};
	const struct marks marks = {
		"-", ROLLUP_EXCLUDE, {ROLLUP_INCLUDE}, true};
	struct unreachable u = {0};
	int ret;

	if (!parts)
		return error_nomem(err);
	ret = read_parts(parts, odb, &marks, err);
	if (!ret)
		ret = leftovers_list_cruft(&u, job, parts, a->expiry, err);
	u.warn = warn;
	if (!ret)
		ret = cruft_write(&job->newpacks, &u, &options, err);
	unreachable_release(&u);
	free(parts);
	return ret;
}
