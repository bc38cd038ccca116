/* SPDX-License-Identifier: MIT */
/*
 * git fsck: checks that each object is well-formed, that its content hashes to
 * its id, and that all reachable objects exist. The steps, in this order:
 *
 *	scan all objects                        check/fsck-scan.c
 *	check blobs such as .gitmodules         odb/fsck-blob.h
 *	collect the roots                       builtin/fsck-links.c
 *	check the links between objects         check/fsck-links.c
 *	check the files derived from objects    builtin/fsck-files.c
 *
 * This file prints the findings of the scan.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builtin/fsck-parts.h"
#include "builtin/options.h"
#include "object/parse.h"
#include "odb/fsck-config.h"
#include "odb/odb-alternates.h"
#include "repo/grafts.h"
#include "sys/trace.h"

static const char usage_text[] =
	"git fsck [--tags] [--root] [--unreachable] [--cache] [--no-reflogs] "
	"[--[no-]full] [--strict] [--verbose] [--lost-found] "
	"[--[no-]dangling] [--[no-]progress] [--connectivity-only] "
	"[--[no-]name-objects] [--[no-]references] [<object>...]";

/* maximum size of the cache of delta bases, in bytes */
enum { READER_CACHE = 96 << 20 };

#define FLAG(name, field, text)                                                \
	{                                                                      \
		.kind = OPTION_FLAG, .long_name = name, .flag = &a->field,     \
		.help = text                                                   \
	}

static int parse(struct fsck_args *a, int argc, const char **argv)
{
	const struct option options[] = {
		{.kind = OPTION_FLAG,
		 .short_name = 'v',
		 .long_name = "verbose",
		 .flag = &a->verbose,
		 .help = "be verbose"},
		FLAG("unreachable", unreachable,
		     "print each unreachable object"),
		FLAG("dangling", dangling,
		     "print each unreachable object that no other object "
		     "names"),
		FLAG("tags", tags, "print each tag object"),
		FLAG("root", root, "print each commit without parents"),
		FLAG("cache", cache,
		     "count objects of the index as reachable, too"),
		FLAG("reflogs", reflogs, "make reflogs head nodes"),
		FLAG("full", full, "also consider packs and alternates"),
		FLAG("connectivity-only", connectivity_only,
		     "check that all objects exist, not what is in blobs"),
		FLAG("strict", strict,
		     "report file modes that only old versions wrote"),
		FLAG("lost-found", lost_found,
		     "copy each dangling object to lost-found"),
		{.kind = OPTION_FLAG,
		 .long_name = "progress",
		 .flag = &a->progress,
		 .flags = OPTION_NO_NEGATE,
		 .help = "show progress, even if stderr is not a terminal"},
		{.kind = OPTION_FLAG,
		 .long_name = "no-progress",
		 .flag = &a->no_progress,
		 .flags = OPTION_NO_NEGATE,
		 .help = "show no progress"},
		FLAG("name-objects", name_objects,
		     "show how objects are reached"),
		FLAG("references", references,
		     "check the files of the refs, too"),
		{.kind = OPTION_END},
	};

	return options_parse(argc, argv, options, usage_text);
}

/* ---- reports of the scan */

static int on_report(void *ctx, const struct fsck_report *report,
		     struct error *err)
{
	struct fsck_run *r = ctx;
	char hex[OID_MAX_HEX_LEN + 1];

	fprintf(stderr, "%s in %s %s: %s: %s\n",
		report->is_error ? "error" : "warning",
		object_type_name(report->type),
		oid_to_hex(hex, report->oid, r->s.repo->algo),
		fsck_msg_name(report->msg), report->text);
	if (report->is_error)
		r->found |= FSCK_FOUND_OBJECT;
	return 0;
}

static int on_corrupt(void *ctx, const struct oid *oid, const struct pack *pack,
		      const char *path, const struct error *why,
		      struct error *err)
{
	struct fsck_run *r = ctx;
	char hex[OID_MAX_HEX_LEN + 1];

	oid_to_hex(hex, oid, r->s.repo->algo);
	if (path && strstr(why->msg, ": hash-path mismatch")) {
		builtin_error("%s, found at: %s", why->msg, path);
	} else {
		builtin_error("%s", why->msg);
		if (path)
			builtin_error("%s: object corrupt or missing: %s", hex,
				      path);
		else
			builtin_error("packed %s from %s.pack is corrupt", hex,
				      pack->path);
	}
	r->found |= path ? FSCK_FOUND_OBJECT : FSCK_FOUND_PACK;
	return 0;
}

static void show_root(const struct fsck_run *r, const struct oid *oid,
		      const char *hex, const void *data, size_t len)
{
	struct commit_view view;
	uint32_t ignored;

	/*
	 * A commit on the shallow boundary is treated as one without parents.
	 */
	if (!commit_parse(&view, data, len, r->s.repo->algo, NULL) &&
	    (!view.parent_nr || oidmap_get(&r->walk.shallow, oid, &ignored)))
		printf("root %s\n", hex);
}

static void show_tag(const struct fsck_run *r, const char *hex,
		     const void *data, size_t len)
{
	char target[OID_MAX_HEX_LEN + 1];
	struct tag_view view;

	if (tag_parse(&view, data, len, r->s.repo->algo, NULL) < 0)
		return;
	printf("tagged %s %s (%.*s) in %s\n",
	       object_type_name(view.target_type),
	       oid_to_hex(target, &view.target, r->s.repo->algo),
	       (int)view.name_len, view.name, hex);
}

static int on_object(void *ctx, const struct oid *oid, enum object_type type,
		     const void *data, size_t len, struct error *err)
{
	const struct fsck_run *r = ctx;
	char hex[OID_MAX_HEX_LEN + 1];

	oid_to_hex(hex, oid, r->s.repo->algo);
	if (r->a.verbose)
		fprintf(stderr, "Checking %s %s\n", object_type_name(type),
			hex);
	if (r->a.root && type == OBJ_COMMIT)
		show_root(r, oid, hex, data, len);
	if (r->a.tags && type == OBJ_TAG)
		show_tag(r, hex, data, len);
	return 0;
}

/* ---- blobs that trees name */

struct blob_reader {
	struct fsck_run *r;
	struct odb_object obj;
};

static int read_blob(void *ctx, const struct oid *oid, enum object_type *type,
		     const void **data, size_t *len, struct error *err)
{
	struct blob_reader *b = ctx;

	odb_object_release(b->r->s.reader, &b->obj);
	if (odb_read(b->r->s.reader, oid, &b->obj, NULL) < 0)
		return 0;
	*type = b->obj.type;
	*data = b->obj.data;
	*len = b->obj.len;
	return 1;
}

static bool is_promised(void *ctx, const struct oid *oid)
{
	const struct blob_reader *b = ctx;

	return fsck_is_promised(b->r, oid);
}

static int check_blobs(struct fsck_run *r)
{
	struct blob_reader b = {r, ODB_OBJECT_INIT};
	const struct fsck_blobs_source source = {read_blob, is_promised, &b};
	struct fsck f;
	int ret;

	fsck_init(&f, &r->rules);
	f.report = on_report;
	f.ctx = r;
	ret = fsck_blobs_check(&r->scan.blobs, &f, &source, r->err);
	odb_object_release(r->s.reader, &b.obj);
	fsck_release(&f);
	return ret < 0 ? ret : 0;
}

/* ---- the steps */

static int scan(struct fsck_run *r)
{
	const struct fsck_scan_events events = {
		.report = on_report,
		.corrupt = on_corrupt,
		.object = r->a.verbose || r->a.root || r->a.tags ? on_object
								 : NULL,
		.ctx = r,
	};
	int ret;

	r->scan.space = &r->walk.space;
	r->scan.rules = &r->rules;
	r->scan.events = &events;
	r->scan.loose_only = !r->a.full;
	r->scan.progress = r->progress;
	if (r->a.connectivity_only)
		return fsck_scan_list(&r->scan, r->err);
	ret = fsck_name_non_objects(r);
	if (!ret)
		ret = fsck_scan_run(&r->scan, r->err);
	return ret < 0 ? ret : check_blobs(r);
}

static int load_config(struct fsck_run *r)
{
	const struct config *config = &r->s.repo->config;
	int ret = fsck_config_load(&r->rules, r->s.repo, "fsck.", NULL, NULL,
				   r->err);

	r->uses_midx = r->uses_graph = true;
	if (ret >= 0)
		ret = config_bool(config, "core.multipackindex", &r->uses_midx,
				  r->err);
	if (ret >= 0)
		ret = config_bool(config, "core.commitgraph", &r->uses_graph,
				  r->err);
	return ret < 0 ? ret : 0;
}

static int run(struct fsck_run *r, const char **names, int name_nr)
{
	struct progress_out out;
	struct trace *trace = r->s.repo->trace;
	int ret = load_config(r);

	if (ret < 0)
		return ret;
	r->progress = output_progress(
		&out, r->a.no_progress || r->a.verbose ? PROGRESS_OFF
		      : r->a.progress                  ? PROGRESS_ON
						       : PROGRESS_IF_TERMINAL);
	ret = walk_open(&r->walk, r->s.odb, NULL, 0, r->err);
	if (ret < 0)
		return ret;
	fsck_scan_init(&r->scan);
	r->scan.threads = repo_threads(r->s.repo);
	trace_region_enter(trace, "fsck", "refs");
	if (r->a.references)
		fsck_check_refs(r);
	progress_tell(r->a.references ? r->progress : NULL,
		      "Checking ref database", 1);
	trace_region_leave(trace, "fsck", "refs");
	trace_region_enter(trace, "fsck", "objects");
	/*
	 * List the refs, or resolve the arguments, before any object is read.
	 * If this fails, the check ends.
	 */
	ret = name_nr ? fsck_resolve(r, names, name_nr)
		      : refs_list_now(r->s.refs, r->err);
	if (!ret)
		ret = promisor_init(&r->promisor, &r->walk, r->err);
	if (!ret)
		ret = scan(r);
	trace_region_leave(trace, "fsck", "objects");
	trace_region_enter(trace, "fsck", "connectivity");
	if (!ret)
		ret = fsck_check_links(r, names, name_nr);
	trace_region_leave(trace, "fsck", "connectivity");
	trace_region_enter(trace, "fsck", "files");
	if (!ret && r->a.full)
		fsck_check_files(r);
	trace_region_leave(trace, "fsck", "files");
	promisor_release(&r->promisor);
	fsck_scan_release(&r->scan);
	walk_close(&r->walk);
	free(r->named);
	return ret;
}

/*
 * Returns whether `warning` is about an alternate. store_open() has already
 * printed the warnings about alternates, and they do not change the exit code
 * of fsck.
 */
static bool is_of_alternate(const struct repo *repo,
			    const struct error *warning)
{
	struct error why = ERROR_INIT;
	char **dirs;
	size_t dir_nr;

	if (odb_alternates_list(&dirs, &dir_nr, repo, &why, NULL) < 0)
		return false;
	while (dir_nr)
		free(dirs[--dir_nr]);
	free(dirs);
	return !strcmp(why.msg, warning->msg);
}

/*
 * Open the odb without multi-pack-indexes, because fsck checks them and must
 * not rely on them. A pack whose index cannot be opened is skipped, and
 * reported as an error.
 */
static int do_without_midx(struct fsck_run *r)
{
	struct error warning = ERROR_INIT;
	struct store *s = &r->s;

	odb_reader_free(s->reader);
	odb_close(s->odb);
	s->reader = NULL;
	s->odb = NULL;
	if (odb_open_packs(&s->odb, s->repo, &warning, r->err) < 0)
		return -1;
	if (warning.code && !is_of_alternate(s->repo, &warning)) {
		builtin_error("%s", warning.msg);
		r->found |= FSCK_FOUND_PACK;
	}
	s->reader = odb_reader_new(s->odb, READER_CACHE);
	return s->reader ? 0 : error_nomem(r->err);
}

int cmd_fsck(int argc, const char **argv, struct builtin_env *env)
{
	struct error err = ERROR_INIT;
	struct fsck_run r = {
		.a = {.dangling = true,
		      .reflogs = true,
		      .full = true,
		      .references = true},
		.shown = BUF_INIT,
		.err = &err,
	};
	int name_nr = parse(&r.a, argc, argv);
	int ret;

	if (name_nr < 0)
		return 129;
	/*
	 * With --lost-found, an object that only reflogs name counts as
	 * unreachable.
	 */
	if (r.a.lost_found) {
		r.a.full = true;
		r.a.reflogs = false;
	}
	ret = store_open(&r.s, env);
	if (ret)
		return ret;
	/*
	 * Leave a repository with grafts to stock Git, because our fsck does
	 * not follow grafts.
	 */
	if (grafts_exist(r.s.repo, NULL) > 0 && builtin_has_stock()) {
		store_close(&r.s);
		return BUILTIN_NOT_OURS;
	}
	fsck_rules_init(&r.rules, r.s.repo->algo, r.a.strict);
	ret = do_without_midx(&r);
	if (!ret)
		ret = run(&r, argv + 1, name_nr);
	fsck_rules_release(&r.rules);
	buf_release(&r.shown);
	store_close(&r.s);
	return ret < 0 ? builtin_fail(&err) : builtin_finish((int)r.found);
}
