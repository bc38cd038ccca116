/* SPDX-License-Identifier: MIT */
/* Options that repack and pack-objects share. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "builtin/builtin.h"
#include "builtin/options.h"
#include "builtin/output.h"
#include "builtin/pack-args.h"
#include "sys/io.h"
#include "sys/thread.h"

#define MIN_PACK_SIZE ((uint64_t)1 << 20)

static void override(unsigned *option, int64_t given, unsigned min,
		     unsigned max)
{
	if (given == INT64_MIN)
		return;
	*option = given < 0 ? min : given < max ? (unsigned)given : max;
}

int pack_args_take_choice(void *value, const char *arg)
{
	*(int *)value = arg != option_negated;
	return 0;
}

int pack_args_check(const struct pack_args *args, struct error *err)
{
	int64_t version = args->name_hash_version;

	if (version == 0 || version > 2)
		return error_set(err, ERR_INVALID,
				 "invalid --name-hash-version option: %lld",
				 (long long)version);
	return 0;
}

void pack_args_warn_depth(const struct pack_args *args,
			  const struct config *config)
{
	int64_t depth = args->depth;

	if (depth == INT64_MIN)
		config_i64(config, "pack.depth", &depth, NULL);
	if (depth > PACKING_MAX_DEPTH)
		builtin_warn("delta chain depth %" PRId64
			     " is too deep, forcing %d",
			     depth, PACKING_MAX_DEPTH);
}

void pack_args_check_islands(struct pack_args *args,
			     const struct newpack_options *loaded,
			     bool delta_islands)
{
	bool by_path = args->path_walk < 0
			       ? loaded->make.grouping == PATH_GROUP_PATH
			       : args->path_walk;

	if (!delta_islands || !by_path)
		return;
	builtin_warn("cannot use --delta-islands with --path-walk");
	args->path_walk = 0;
}

/*
 * *grouping says how objects are grouped for the delta search. On entry, it has
 * the value of the configuration. --path-walk and --no-path-walk replace this
 * value. If objects are then not grouped, --name-hash-version=2 groups them.
 */
static void apply_grouping(enum path_grouping *grouping,
			   const struct pack_args *args)
{
	if (args->path_walk == 0)
		*grouping = PATH_GROUP_NONE;
	if (args->path_walk > 0)
		*grouping = PATH_GROUP_PATH;
	if (args->name_hash_version == 2 && *grouping == PATH_GROUP_NONE)
		*grouping = PATH_GROUP_COMPONENTS;
}

void pack_args_apply(struct newpack_options *options,
		     const struct pack_args *args)
{
	struct packing_send_options *make = &options->make;

	make->reuse_object = !args->no_reuse_object;
	make->reuse_delta = !args->no_reuse_delta && make->reuse_object;
	override(&make->window, args->window, 0, PACKING_MAX_WINDOW);
	override(&make->depth, args->depth, 0, PACKING_MAX_DEPTH);
	override(&make->threads, args->threads, 1, PACKING_MAX_THREADS);
	/*
	 * --threads=0 means one thread for each processor. Store their number,
	 * because 0 in make->threads means the configured number.
	 */
	if (!args->threads)
		make->threads = sys_cpu_nr();
	apply_grouping(&make->grouping, args);
	if (args->window_memory != PACK_ARGS_UNSET)
		make->window_memory = args->window_memory;
}

void pack_args_limit(struct newpack_options *options, uint64_t max_size)
{
	if (max_size && max_size != PACK_ARGS_UNSET)
		options->max_pack_size = max_size;
	if (!options->max_pack_size || options->max_pack_size >= MIN_PACK_SIZE)
		return;
	builtin_warn("minimum pack size limit is 1 MiB");
	options->max_pack_size = MIN_PACK_SIZE;
}

int pack_args_index_version(struct pack_idx_format *format, const char *text,
			    struct error *err)
{
	char *end;
	unsigned long version = strtoul(text, &end, 10), offset = 0;
	bool is_bad = end == text, has_offset = *end == ',';

	if (!is_bad && has_offset) {
		const char *start = end + 1;

		offset = strtoul(start, &end, 0);
		is_bad = end == start || offset > INT32_MAX;
	}
	if (version > 2)
		return error_set(err, ERR_INVALID,
				 "unsupported index version %s", text);
	if (is_bad || *end || !version)
		return error_set(err, ERR_INVALID, "bad index version '%s'",
				 text);
	*format = (struct pack_idx_format){
		.version = (unsigned)version,
		.off64_from = has_offset ? (uint32_t)offset + 1 : 0,
	};
	return 0;
}

int pack_args_take_pack(void *value, const char *arg)
{
	if (arg == option_negated) {
		strlist_release(value);
		return 0;
	}
	if (!pack_names_add(value, arg))
		return 0;
	builtin_error("out of memory");
	return -1;
}

const struct progress_out *pack_args_progress(struct progress_out *out,
					      const struct pack_args *args)
{
	return output_progress(out, args->progress < 0 ? PROGRESS_IF_TERMINAL
				    : args->progress   ? PROGRESS_ON
						       : PROGRESS_OFF);
}

/* ---- output of packs */

static int put(void *ctx, const void *bytes, size_t len, struct error *err)
{
	const struct pack_args_file *file = ctx;

	return sys_write_all(file->fd, bytes, len, file->name, err);
}

static int put_file(void *ctx, const struct sys_file_span *span,
		    struct error *err)
{
	const struct pack_args_file *file = ctx;

	return sys_send_file(file->fd, span, file->name, err);
}

struct pack_sink pack_args_sink(struct pack_args_file *file)
{
	return (struct pack_sink){
		.put = put, .ctx = file, .put_file = put_file};
}

void pack_args_print_total(const struct write_report *report,
			   uint32_t pack_reused, uint32_t packs_reused)
{
	fprintf(stderr,
		"Total %u (delta %u), reused %u (delta %u), pack-reused %u "
		"(from %u)\n",
		report->objects, report->deltas, report->reused,
		report->reused_deltas, pack_reused, packs_reused);
}

void pack_args_print_sent(const struct packing_report *report)
{
	const struct write_report written = {
		.objects = report->objects,
		.deltas = report->deltas,
		.reused = report->reused,
		.reused_deltas = report->reused_deltas,
	};

	pack_args_print_total(&written, report->pack_reused,
			      report->packs_reused);
}
