/* SPDX-License-Identifier: MIT */
/*
 * git store log: prints the generations (versions) of a repository, the newest
 * first.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "builtin/date-format.h"
#include "builtin/stored-parts.h"
#include "stored/cache.h"
#include "stored/fetch.h"
#include "stored/tables.h"
#include "sys/tempdir.h"

static const char usage[] =
	"git store log [-n <number>] [--json] [<options>] <store> <name>";

/* maximum number of refs of a generation that are printed without --json */
#define REFS_MAX 20

struct log {
	const struct generation_place *place;
	struct stored_cache *cache;
	uint64_t max; /* 0: no limit */
	bool json;
	struct buf text;
	struct error *err;
};

/*
 * A generation (a version of the repository) to print, with its changes since
 * the parent generation.
 */
struct entry {
	const struct generation *g;
	/*
	 * total size of the files that the generation has and its parent does
	 * not have
	 */
	uint64_t added;
	/*
	 * true: `changes` has the changed refs. false: the changes are not
	 * known, because a garbage collection has deleted the parent
	 * generation.
	 */
	bool has_changes;
	struct stored_changes changes;
};

/* ---- printing */

static int append_refs(struct buf *out, const struct stored_changes *changes)
{
	size_t nr = changes->nr;
	int ret = 0;

	if (nr > REFS_MAX)
		nr = REFS_MAX;
	for (size_t i = 0; i < nr && ret >= 0; i++) {
		const struct stored_change *c = &changes->items[i];

		ret = buf_printf(out, "    %s %s -> %s\n", c->ref,
				 c->before ? c->before : "none",
				 c->after ? c->after : "none");
	}
	if (ret >= 0 && nr < changes->nr)
		ret = buf_printf(out, "    and %zu more\n", changes->nr - nr);
	return ret;
}

static int append_text(struct buf *out, const struct entry *e)
{
	const struct generation *g = e->g;
	int ret = buf_printf(out, "generation %" PRIu64 "\n", g->number);

	if (ret >= 0 && g->is_retired)
		return buf_append_str(out, "  removed by git store gc\n");
	if (ret >= 0)
		ret = buf_append_str(out, "  ");
	if (ret >= 0)
		ret = date_format_append(out, (uint64_t)g->time, 0,
					 DATE_FORMAT_ISO);
	if (ret >= 0)
		ret = buf_printf(out,
				 " %s by %s on %s\n  %" PRIu64 " bytes added\n",
				 g->action, g->user, g->node, e->added);
	if (ret >= 0 && e->has_changes)
		ret = append_refs(out, &e->changes);
	return ret;
}

static int append_json_refs(struct buf *out,
			    const struct stored_changes *changes)
{
	int ret = buf_append_char(out, '[');

	for (size_t i = 0; i < changes->nr && !ret; i++) {
		const struct stored_change *c = &changes->items[i];

		ret = buf_append_str(out, i ? ", {" : "{");
		if (!ret)
			ret = json_member(out, "ref", c->ref);
		if (!ret)
			ret = json_member(out, "before", c->before);
		if (!ret)
			ret = json_member(out, "after", c->after);
		if (!ret)
			ret = buf_append_char(out, '}');
	}
	return ret ? ret : buf_append_char(out, ']');
}

static int append_json_fields(struct buf *out, const struct entry *e)
{
	const struct generation *g = e->g;
	int ret = json_key(out, "time");

	if (!ret)
		ret = buf_printf(out, "%" PRId64, g->time);
	if (ret >= 0)
		ret = json_member(out, "node", g->node);
	if (!ret)
		ret = json_member(out, "user", g->user);
	if (!ret)
		ret = json_member(out, "action", g->action);
	if (!ret)
		ret = json_member_u64(out, "epoch", g->epoch);
	if (!ret)
		ret = json_member_u64(out, "added_bytes", e->added);
	if (!ret)
		ret = json_key(out, "refs");
	if (!ret)
		ret = e->has_changes ? append_json_refs(out, &e->changes)
				     : buf_append_str(out, "null");
	return ret;
}

static int append_json(struct buf *out, const struct entry *e)
{
	int ret = buf_append_char(out, '{');

	if (!ret)
		ret = json_member_u64(out, "generation", e->g->number);
	if (!ret)
		ret = json_member_bool(out, "retired", e->g->is_retired);
	if (!ret && !e->g->is_retired)
		ret = append_json_fields(out, e);
	return ret ? ret : buf_append_char(out, '}');
}

static int print_entry(struct log *log, const struct entry *e, bool first)
{
	int ret;

	buf_reset(&log->text);
	ret = log->json ? append_json(&log->text, e)
			: append_text(&log->text, e);
	if (ret < 0)
		return error_nomem(log->err);
	if (log->json)
		printf("%s\n  ", first ? "" : ",");
	fwrite(log->text.data, 1, log->text.len, stdout);
	return 0;
}

/* ---- what a generation has changed */

static uint64_t added_bytes(const struct generation *before,
			    const struct generation *after)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < after->file_nr; i++) {
		const struct generation_file *file = &after->files[i];
		const struct generation_file *old =
			before ? generation_find_file(before, file->path)
			       : NULL;

		if (!old || memcmp(old->sha256, file->sha256,
				   GENERATION_SHA256_LEN) != 0)
			sum += file->size;
	}
	return sum;
}

/*
 * Print the generation `g`. `before` is the parent of `g`. NULL: `g` is the
 * first generation, or the parent is not known.
 */
static int show(struct log *log, const struct generation *before,
		const struct generation *g, bool first)
{
	struct entry e = {.g = g};
	int ret = 0;

	if (!g->is_retired) {
		const struct generation *old = before && !before->is_retired
						       ? before
						       : NULL;

		e.added = added_bytes(old, g);
		e.has_changes = old || g->number == 1;
		if (e.has_changes)
			ret = stored_changes_find(&e.changes, log->cache,
						  log->place, old, g, log->err);
		/*
		 * A garbage collection retires a record by writing a nearly
		 * empty record in its place. Normally it retires the record of
		 * an old generation first, and then deletes the files of this
		 * generation. But if the store is full, writing fails. The
		 * garbage collection then deletes the files first, to get
		 * space, and retires the record afterwards. So the record of
		 * `old` may not be retired yet, although a file of `old` is
		 * already missing. Then `old` and `g` cannot be compared, and
		 * `g` is printed without a list of changes.
		 */
		if (ret == ERR_MISSING) {
			e.has_changes = false;
			ret = 0;
		}
	}
	if (!ret)
		ret = print_entry(log, &e, first);
	stored_changes_release(&e.changes);
	return ret;
}

static int show_all(struct log *log, struct generation *g)
{
	bool first = true;
	uint64_t nr = 0;
	int ret = 0;

	while (!ret && (!log->max || nr < log->max)) {
		struct generation before = {0};
		bool has_before = g->number > 1 && !g->is_retired;

		if (has_before)
			ret = stored_result(generation_read(&before, log->place,
							    g->number - 1,
							    log->err),
					    log->place->repository, log->err);
		if (!ret)
			ret = show(log, has_before ? &before : NULL, g, first);
		generation_release(g);
		*g = before;
		first = false;
		nr++;
		if (!has_before)
			break;
	}
	return ret;
}

static int show_log(struct log *log)
{
	struct sys_tempdir td = SYS_TEMPDIR_INIT;
	struct generation g = {0};
	int ret = stored_result(generation_newest(&g, log->place, 0, log->err),
				log->place->repository, log->err);

	if (!ret)
		ret = sys_tempdir_create(&td, stored_place_tmp(),
					 "gitreach-log-", log->err);
	if (!ret)
		ret = stored_cache_open(&log->cache, td.path, log->err);
	if (log->json && !ret)
		printf("[");
	if (!ret)
		ret = show_all(log, &g);
	if (log->json && !ret)
		printf("\n]\n");
	stored_cache_close(log->cache);
	sys_tempdir_release(&td);
	generation_release(&g);
	return ret;
}

int stored_cmd_log(int argc, const char **argv, struct builtin_env *env)
{
	struct store_s3_settings settings = STORE_S3_SETTINGS_INIT;
	struct error err = ERROR_INIT;
	struct log log = {.text = BUF_INIT, .err = &err};
	const struct option options[] = {
		{.kind = OPTION_U64,
		 .short_name = 'n',
		 .long_name = "max-count",
		 .u64 = &log.max,
		 .help = "print at most <n> generations"},
		OPTION_ROW_FLAG(0, "json", &log.json,
				"print a JSON array of objects"),
		STORED_OPTION_ROWS(&settings),
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, usage);
	struct stored_place place;
	int code;

	(void)env;
	if (operands < 0)
		return 129;
	if (operands != 2)
		return options_usage(options, usage);
	code = stored_place_open(&place, argv[1], &settings);
	if (!code) {
		const struct generation_place one = stored_place_repository(
			&place, argv[2]);

		log.place = &one;
		code = show_log(&log) ? builtin_fail(&err) : 0;
	}
	buf_release(&log.text);
	stored_place_close(&place);
	return code;
}
