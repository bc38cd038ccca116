/* SPDX-License-Identifier: MIT */
/*
 * git pack-objects: writes a pack to standard output for a receiver, or to
 * files.
 *
 * packing_send() makes a pack of revisions that is sent to a receiver. A pack
 * job (packs/pack-job.h) makes all other packs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/input.h"
#include "builtin/lazy-fetch.h"
#include "builtin/pack-objects.h"
#include "builtin/revargs.h"
#include "odb/odb.h"
#include "packing/send.h"
#include "packs/pack-job.h"
#include "repo/grafts.h"
#include "walk/ref-tips.h"

/* One run of the command. */
struct run {
	struct pack_objects_args a;
	struct newpack_options newpack;
	struct progress_out out;
	struct odb *odb;
	struct refs *refs;
	struct rev_args revs;
	/*
	 * trees of the commits in lines "-<oid>" of standard input; the
	 * receiver has them, so their objects are not packed
	 */
	struct rev_list edges;
	struct pack_job_options job_options;
	struct pack_job job;
	/* owned: the base name of the pack, as an absolute path */
	char *base;
	/* owned: the directory of `base` */
	char *dir;
	struct error *err;
};

/*
 * Load the configuration and check the options. If several options are wrong,
 * the order of the checks decides which error is printed. The order is that of
 * stock Git.
 */
static int load_options(struct run *r, const struct repo *repo)
{
	struct pack_objects_args *a = &r->a;
	int ret = newpack_options_load(&r->newpack, repo, r->err);

	if (!ret)
		ret = pack_objects_args_check_values(a, &repo->config, r->err);
	if (ret < 0)
		return ret;
	/* A pack that goes to a receiver is never split into several packs. */
	if (a->to_stdout)
		r->newpack.max_pack_size = 0;
	pack_args_limit(&r->newpack, a->packing.max_pack_size);
	ret = pack_objects_args_check(a, r->err);
	if (ret < 0)
		return ret;
	pack_args_check_islands(&a->packing, &r->newpack, a->delta_islands);
	return pack_args_check(&a->packing, r->err);
}

static void apply_options(struct run *r)
{
	struct packing_send_options *make = &r->newpack.make;
	struct pack_objects_args *a = &r->a;
	bool write_too;

	pack_args_apply(&r->newpack, &a->packing);
	r->newpack.ofs_delta = a->ofs_delta;
	if (a->idx_format.version)
		r->newpack.idx_format = a->idx_format;
	if (a->compression != INT64_MIN)
		make->compression = (int)a->compression;
	make->progress = pack_args_progress(&r->out, &a->packing);
	write_too = !a->to_stdout || a->packing.progress == 2 ||
		    a->all_progress_implied;
	make->write_progress = write_too ? make->progress : NULL;
}

/* The state of a visit to all tags, for --include-tag. */
struct tag_visit {
	struct run *r;
	int (*fn)(void *ctx, const struct packing_tag *tag);
	void *ctx;
};

static int visit_tag(void *ctx, const struct ref *ref)
{
	struct tag_visit *visit = ctx;
	struct packing_tag tag = {.tag = ref->oid, .target = ref->peeled};
	enum object_type type;

	if (!ref->has_peeled && odb_peel(visit->r->revs.reader, &ref->oid,
					 &tag.target, &type, NULL) < 0)
		return 0;
	if (oid_equal(&tag.tag, &tag.target) ||
	    (ref->has_peeled && !ref->is_tag))
		return 0;
	return visit->fn(visit->ctx, &tag);
}

static int each_tag(void *ctx,
		    int (*fn)(void *fn_ctx, const struct packing_tag *tag),
		    void *fn_ctx, struct error *err)
{
	struct tag_visit visit = {ctx, fn, fn_ctx};

	return refs_each(visit.r->refs, "refs/tags/", visit_tag, &visit, NULL,
			 err);
}

static int wants_bitmap(const struct run *r, const struct repo *repo, bool *use)
{
	*use = true;
	if (config_bool(&repo->config, "pack.usebitmaps", use, r->err) < 0)
		return ERR_INVALID;
	if (r->a.use_bitmap)
		*use = true;
	/*
	 * Do not use bitmaps for a pack that is not made to be sent. For
	 * example, a repack leaves out the objects of some packs, but bitmaps
	 * do not tell which pack an object is in. Do not use bitmaps with
	 * --path-walk either, because bitmaps have no paths.
	 */
	if (r->a.no_use_bitmap || r->newpack.make.grouping == PATH_GROUP_PATH ||
	    !pack_objects_is_for_receiver(&r->a))
		*use = false;
	return 0;
}

static int send_revs(struct run *r, const struct repo *repo)
{
	struct pack_args_file out = {STDOUT_FILENO, "standard output"};
	struct packing_report report;
	struct packing_request request = {
		.wants = rev_list_oids(&r->revs.wants),
		.want_nr = r->revs.wants.nr,
		.haves = rev_list_oids(&r->revs.haves),
		.have_nr = r->revs.haves.nr,
		.shallow = rev_list_oids(&r->revs.shallow),
		.shallow_nr = r->revs.shallow.nr,
		.tags = {.each = r->a.include_tag ? each_tag : NULL, .ctx = r},
		.filter = &r->a.filter.filter,
		.filter_nested = true,
		.thin = r->a.thin,
		.ofs_delta = r->a.ofs_delta,
	};
	int ret = wants_bitmap(r, repo, &request.use_bitmap);

	if (!ret)
		ret = filter_args_load(&r->a.filter, &r->revs, r->err);
	if (!request.wants || !request.haves || !request.shallow)
		ret = error_nomem(r->err);
	if (!ret)
		ret = packing_send(r->odb, &request, &r->newpack.make,
				   pack_args_sink(&out), &report, r->err);
	if (!ret && report.warning.code)
		builtin_warn("%s", report.warning.msg);
	if (!ret && r->newpack.make.progress)
		pack_args_print_sent(&report);
	free((void *)(uintptr_t)request.wants);
	free((void *)(uintptr_t)request.haves);
	free((void *)(uintptr_t)request.shallow);
	return ret;
}

static int add_reflogs(struct run *r)
{
	int ret = ref_tips_add_extra(&r->job.walk, &r->job.wants,
				     EXTRA_ROOT_REFLOGS, false, r->err);

	return ret ? ret
		   : ref_tips_add_extra(&r->job.walk, &r->job.wants,
					EXTRA_ROOT_GRAFTS, false, r->err);
}

static int add_rev_tips(struct run *r)
{
	const struct rev_list *lists[] = {&r->revs.wants, &r->revs.haves};
	struct walk_tips *tips[] = {&r->job.wants, &r->job.haves};
	int ret = 0;

	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < lists[k]->nr && !ret; i++)
			ret = walk_add_tip(&r->job.walk, tips[k],
					   &lists[k]->items[i].oid, k == 1,
					   r->err);
	if (!ret && r->a.reflog)
		ret = add_reflogs(r);
	if (!ret && r->a.indexed_objects)
		ret = ref_tips_add_extra(&r->job.walk, &r->job.wants,
					 EXTRA_ROOT_INDEXES, true, r->err);
	return ret < 0 ? ret : pack_job_enumerate(&r->job, r->err);
}

/*
 * Parse a line "-<oid>", which `rev-list --objects-edge` prints for a commit of
 * the receiver. Adds the tree of the commit to r->edges, so its objects are not
 * packed. A missing commit is ignored.
 */
static int add_edge_line(struct run *r, const char *line)
{
	char name[OID_MAX_HEX_LEN + sizeof("^{tree}")];
	struct oid oid;
	int ret;

	if (!oid_from_hex(&oid, line + 1, strlen(line + 1), r->odb->algo))
		return error_set(r->err, ERR_INVALID,
				 "expected edge object ID, got garbage:\n %s",
				 line);
	oid_to_hex(name, &oid, r->odb->algo);
	strcat(name, "^{tree}");
	ret = rev_args_resolve(&r->revs, &r->edges, name, NULL);
	return ret == ERR_NOMEM ? error_nomem(r->err) : 0;
}

/*
 * Parse a line "<oid>[ <name>]". As in stock Git, any character may stand in
 * place of the space.
 */
static int parse_object_line(struct oid *oid, struct run *r, const char *line)
{
	if (oid_from_hex(oid, line, strlen(line), r->odb->algo))
		return 0;
	return error_set(r->err, ERR_INVALID,
			 "expected object ID, got garbage:\n %s", line);
}

static int add_object_line(struct run *r, const char *line)
{
	size_t hex_len = hash_hex_len(r->odb->algo);
	struct oid oid;
	int ret;

	if (line[0] == '-')
		return add_edge_line(r, line);
	ret = parse_object_line(&oid, r, line);
	if (ret < 0)
		return ret;
	return pack_job_add_named(&r->job, &oid,
				  line + hex_len + (line[hex_len] != '\0'),
				  r->err);
}

static int leave_out_edges(struct run *r)
{
	struct oid *trees = rev_list_oids(&r->edges);
	int ret = trees ? pack_job_leave_out_trees(&r->job, trees, r->edges.nr,
						   r->err)
			: error_nomem(r->err);

	free(trees);
	return ret;
}

/*
 * A list of objects that was read from standard input: its lines, and the ids
 * of those objects that are missing.
 */
struct object_list {
	struct buf lines;    /* each with its NUL */
	struct oid *missing; /* owned */
	size_t nr, alloc;
};

static int note_object_line(struct object_list *list, struct run *r,
			    const char *line)
{
	struct oid oid;
	int ret = line[0] == '-' ? 0 : parse_object_line(&oid, r, line);

	if (ret < 0)
		return ret;
	if (buf_append(&list->lines, line, strlen(line) + 1) < 0)
		return error_nomem(r->err);
	if (line[0] == '-' || odb_reader_has(r->job.walk.reader, &oid))
		return 0;
	if (mem_grow(&list->missing, &list->alloc, list->nr + 1,
		     sizeof(*list->missing)) < 0)
		return error_nomem(r->err);
	list->missing[list->nr++] = oid;
	return 0;
}

/*
 * Used in a partial clone: read the whole list of objects, fetch all missing
 * objects at once, then add all objects to the job.
 */
static int fetch_object_list(struct run *r, struct stdin_lines *in)
{
	struct object_list list = {.lines = BUF_INIT};
	size_t at = 0;
	int ret;

	while ((ret = stdin_lines_next(in, r->err)) > 0) {
		ret = note_object_line(&list, r, in->line);
		if (ret < 0)
			break;
	}
	if (!ret)
		ret = odb_reader_provide(r->job.walk.reader, list.missing,
					 list.nr, r->err);
	while (!ret && at < list.lines.len) {
		ret = add_object_line(r, list.lines.data + at);
		at += strlen(list.lines.data + at) + 1;
	}
	buf_release(&list.lines);
	free(list.missing);
	return ret;
}

/* Shows how many objects were listed, without a percentage. */
static void tell_enumerated(struct run *r)
{
	size_t nr = r->job.items.nr;
	struct progress meter;

	progress_start(&meter, nr ? r->newpack.make.progress : NULL,
		       "Enumerating objects", 0);
	progress_set(&meter, nr);
	progress_stop(&meter);
}

static int add_object_list(struct run *r)
{
	struct stdin_lines in = STDIN_LINES_INIT;
	struct error missing = ERROR_INIT;
	int ret = 0;

	if (r->odb->provider)
		ret = fetch_object_list(r, &in);
	while (!ret && (ret = stdin_lines_next(&in, r->err)) > 0) {
		ret = add_object_line(r, in.line);
		/*
		 * Report a missing object only after all lines were read,
		 * because an error about a wrong line has precedence, as in
		 * stock Git.
		 */
		if (ret == ERR_MISSING) {
			if (!missing.code)
				missing = *r->err;
			ret = 0;
		}
	}
	stdin_lines_release(&in);
	tell_enumerated(r);
	if (!ret && missing.code) {
		*r->err = missing;
		ret = missing.code;
	}
	return ret < 0 ? ret : leave_out_edges(r);
}

static int find_objects(struct run *r)
{
	const struct packing_tags tags = {.each = each_tag, .ctx = r};
	int ret = r->a.stdin_packs
			  ? pack_objects_add_packs(&r->job, &r->a, r->err)
		  : r->a.revs ? add_rev_tips(r)
			      : add_object_list(r);

	if (!ret && pack_objects_wants_rest(&r->a))
		ret = pack_objects_add_rest(&r->job, &r->a, r->err);
	if (!ret && r->a.include_tag)
		ret = pack_job_add_tags(&r->job, &tags, r->err);
	return ret;
}

static int make_pack(struct run *r)
{
	struct pack_args_file file = {STDOUT_FILENO, "standard output"};
	const struct pack_sink out = pack_args_sink(&file);
	int ret;

	if (r->a.cruft)
		return pack_objects_write_cruft(
			&r->job, &r->a, r->a.to_stdout ? &out : NULL, r->err);
	ret = find_objects(r);
	if (ret || (!r->job.items.nr && r->a.non_empty))
		return ret;
	return r->a.to_stdout ? pack_job_send(&r->job, out, r->err)
			      : pack_job_run(&r->job, r->err);
}

static void print_result(const struct run *r)
{
	char hex[OID_MAX_HEX_LEN + 1];

	if (r->job.warning.code)
		builtin_warn("%s", r->job.warning.msg);
	for (size_t i = 0; !r->a.to_stdout && i < r->job.newpacks.nr; i++)
		printf("%s\n",
		       oid_to_hex(hex, &r->job.newpacks.packs[i]->checksum,
				  r->odb->algo));
	if (r->newpack.make.progress)
		pack_args_print_total(&r->job.newpacks.report, 0, 0);
}

static int run_job(struct run *r)
{
	struct oid *shallow = rev_list_oids(&r->revs.shallow);
	int ret;

	if (!shallow)
		return error_nomem(r->err);
	r->job_options = (struct pack_job_options){
		.newpack = &r->newpack,
		.dir = r->dir,
		.base = r->base,
		.loose_only = r->a.incremental,
		.unpacked = r->a.unpacked,
		.note_reached = pack_objects_wants_rest(&r->a),
		.local = r->a.local,
		.honor_keep = r->a.honor_keep,
		.keep_packs = &r->a.keep_packs,
		.write_bitmap = r->a.all &&
				(r->a.write_bitmap || r->a.write_bitmap_quiet),
		.bitmap_is_default = r->a.write_bitmap_quiet,
		.delta_islands = r->a.delta_islands,
		.all_refs = r->a.all,
		.filter = &r->a.filter.filter,
		.exclude_promisor = r->a.exclude_promisor,
		.missing = r->a.missing,
		.shallow = shallow,
		.shallow_nr = r->revs.shallow.nr,
	};
	ret = filter_args_load(&r->a.filter, &r->revs, r->err);
	if (!ret)
		ret = pack_job_open(&r->job, r->odb, r->refs, &r->job_options,
				    r->err);
	free(shallow);
	if (!ret)
		ret = make_pack(r);
	if (ret < 0)
		return ret;
	print_result(r);
	return 0;
}

static int read_revs(struct run *r)
{
	int ret = 0;

	/* With --exclude-promisor-objects, promised objects may be missing. */
	r->revs.must_exist = !r->a.exclude_promisor ||
			     !r->odb->repo->has_promisor;
	if (r->a.all)
		ret = rev_args_add(&r->revs, "--all", r->err);
	if (ret >= 0 && r->a.revs)
		ret = rev_args_add_stdin(&r->revs, r->err);
	rev_args_print_notes(&r->revs);
	if (ret >= 0 && r->a.missing == PACK_MISSING_ERROR &&
	    r->revs.must_exist)
		ret = rev_args_check(&r->revs, r->err);
	return ret < 0 ? ret : 0;
}

/*
 * Returns the directory part of the packs' base name <base>; temporary files
 * are made in this directory. The result is malloc()ed.
 */
static char *dir_of(const char *base)
{
	const char *slash = base ? strrchr(base, '/') : NULL;

	if (!slash)
		return strdup(".");
	return strndup(base, slash == base ? 1 : (size_t)(slash - base));
}

static bool is_inside(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return !strncmp(path, dir, len) && path[len] == '/';
}

/*
 * Set r->base and r->dir. As in stock Git, a relative name is relative to the
 * top of the work tree or of the bare repository.
 */
static int find_base(struct run *r, const struct repo *repo)
{
	const char *top = repo->worktree ? repo->worktree : repo->git_dir;
	char *cwd = getcwd(NULL, 0);
	struct buf path = BUF_INIT;
	int ret = 0;

	if (r->a.base && cwd && *r->a.base != '/' && is_inside(cwd, top))
		ret = buf_printf(&path, "%s/", top);
	if (!ret && r->a.base)
		ret = buf_append_str(&path, r->a.base);
	if (!ret && r->a.base)
		r->base = buf_detach(&path, NULL);
	if (!ret)
		r->dir = dir_of(r->base);
	buf_release(&path);
	free(cwd);
	return r->dir ? 0 : error_nomem(r->err);
}

/*
 * Returns the mode in which missing objects are fetched. Even if --missing
 * allows missing objects, those that are listed on standard input are fetched.
 */
static enum lazy_fetch_mode fetch_mode(const struct pack_objects_args *a)
{
	return a->missing == PACK_MISSING_ERROR && !a->exclude_promisor
		       ? LAZY_FETCH_PACK
		       : LAZY_FETCH_LISTED;
}

static int run_all(struct run *r, struct builtin_env *env)
{
	struct error warning = ERROR_INIT;
	int ret = load_options(r, env->repo);

	if (ret < 0)
		return ret;
	apply_options(r);
	ret = refs_open(&r->refs, env->repo, r->err);
	if (!ret && (r->a.all || r->a.delta_islands))
		ret = refs_list_now(r->refs, r->err);
	if (!ret)
		ret = odb_open(&r->odb, env->repo, &warning, r->err);
	if (!ret)
		ret = lazy_fetch_enable(r->odb, env, fetch_mode(&r->a), r->err);
	if (!ret && warning.code)
		builtin_error("%s", warning.msg);
	if (!ret && rev_args_init(&r->revs, r->odb, r->refs) < 0)
		ret = error_nomem(r->err);
	if (!ret)
		ret = find_base(r, env->repo);
	if (!ret)
		ret = read_revs(r);
	if (ret < 0)
		return ret;
	if (pack_objects_is_for_receiver(&r->a))
		return send_revs(r, env->repo);
	return run_job(r);
}

/*
 * Returns whether stock Git must run this command: the repository has grafts,
 * which only stock Git follows, and the arguments have revisions.
 */
static bool follows_grafts(const struct pack_objects_args *a,
			   const struct repo *repo)
{
	return pack_objects_has_revs(a) && !a->keep_true_parents &&
	       grafts_exist(repo, NULL) > 0 && builtin_has_stock();
}

int cmd_pack_objects(int argc, const char **argv, struct builtin_env *env)
{
	struct error err = ERROR_INIT;
	struct run r = {.err = &err};
	int ret;

	pack_objects_args_init(&r.a);
	ret = pack_objects_args_parse(&r.a, argc, argv);
	if (!ret)
		ret = builtin_open_repo(env);
	if (!ret && follows_grafts(&r.a, env->repo))
		ret = BUILTIN_NOT_OURS;
	if (ret) {
		pack_objects_args_release(&r.a);
		return ret;
	}
	ret = run_all(&r, env);
	pack_job_close(&r.job);
	rev_args_release(&r.revs);
	rev_list_release(&r.edges);
	odb_close(r.odb);
	refs_close(r.refs);
	pack_objects_args_release(&r.a);
	free(r.base);
	free(r.dir);
	return ret < 0 ? builtin_fail(&err) : builtin_finish(0);
}
