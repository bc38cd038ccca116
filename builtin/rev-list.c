/* SPDX-License-Identifier: MIT */
/* git rev-list: commits and objects reachable from some and not from others. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/revargs.h"
#include "object/parse.h"
#include "pack-bitmap.h"
#include "repo/odb.h"
#include "walk/treewalk.h"
#include "walk/walk.h"

static const char usage_text[] =
	"git rev-list [<options>] <commit>... [--] ...";

struct rev_list_options {
	bool objects;
	bool no_object_names;
	bool count;
	bool use_bitmap;
	bool test_bitmap;
	bool quiet;
	bool reverse;
	bool read_stdin;
	uint64_t max_count; /* UINT64_MAX: all */
	uint64_t skip;
};

/* One run of the command. */
struct run {
	struct rev_list_options o;
	struct odb *odb;
	struct refs *refs;
	struct rev_args args;
	struct walk walk;
	bool has_walk;
	struct walk_tips wants, haves;
	const char **want_paths; /* owned: of wants.others, borrowed strings */
	struct error *err;
};

/* A number; `none` instead of one below 0. */
static bool parse_number(uint64_t *out, const char *text, uint64_t none)
{
	char *end;
	long long value = strtoll(text, &end, 10);

	if (!*text || *end)
		return false;
	*out = value < 0 ? none : (uint64_t)value;
	return true;
}

/* "-5", "-n 5", "-n5", "--max-count=5", "--skip=5": 1 when it was one. */
static int parse_limit(struct run *r, const char ***argv)
{
	const char *arg = **argv, *value = NULL;
	uint64_t *out = &r->o.max_count;

	if (!strncmp(arg, "--max-count=", 12)) {
		value = arg + 12;
	} else if (!strncmp(arg, "--skip=", 7)) {
		value = arg + 7;
		out = &r->o.skip;
	} else if (arg[0] == '-' && arg[1] == 'n') {
		value = arg[2] ? arg + 2 : *++*argv;
	} else if (arg[0] == '-' && arg[1] >= '0' && arg[1] <= '9') {
		value = arg + 1;
	} else {
		return 0;
	}
	if (value &&
	    parse_number(out, value, out == &r->o.skip ? 0 : UINT64_MAX))
		return 1;
	return error_set(r->err, ERR_INVALID, "'%s': not an integer",
			 value ? value : arg);
}

static int parse_flag(struct run *r, const char *arg)
{
	const struct {
		const char *name;
		bool *flag;
		bool value;
	} flags[] = {
		{"--objects", &r->o.objects, true},
		{"--no-object-names", &r->o.no_object_names, true},
		{"--object-names", &r->o.no_object_names, false},
		{"--count", &r->o.count, true},
		{"--use-bitmap-index", &r->o.use_bitmap, true},
		{"--test-bitmap", &r->o.test_bitmap, true},
		{"--quiet", &r->o.quiet, true},
		{"--reverse", &r->o.reverse, true},
		{"--stdin", &r->o.read_stdin, true},
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		if (strcmp(arg, flags[i].name) != 0)
			continue;
		*flags[i].flag = flags[i].value;
		return 1;
	}
	return 0;
}

/* 0, 129 after a usage error, or negative. */
static int parse_args(struct run *r, const char **argv)
{
	for (argv++; *argv; argv++) {
		int ret = parse_flag(r, *argv);

		if (!ret)
			ret = parse_limit(r, &argv);
		if (!ret && !strcmp(*argv, "--"))
			return argv[1] ? error_set(r->err, ERR_UNSUPPORTED,
						   "paths are not supported")
				       : 0;
		if (!ret)
			ret = rev_args_add(&r->args, *argv, r->err);
		if (ret < 0)
			return ret;
		if (!ret) {
			fprintf(stderr,
				"error: unsupported option '%s'\nusage: %s\n",
				*argv, usage_text);
			return 129;
		}
	}
	return r->o.read_stdin ? rev_args_add_stdin(&r->args, r->err) : 0;
}

static int add_tips(struct run *r, struct walk_tips *tips,
		    const struct rev_list *list, bool with_paths)
{
	for (size_t i = 0; i < list->nr; i++) {
		size_t before = tips->others.nr;
		int ret = walk_add_tip(&r->walk, tips, &list->items[i].oid,
				       false, r->err);
		const char **grown;

		if (ret < 0)
			return ret;
		if (!with_paths || tips->others.nr == before)
			continue;
		grown = realloc(r->want_paths,
				tips->others.nr * sizeof(*grown));
		if (!grown)
			return error_nomem(r->err);
		r->want_paths = grown;
		for (size_t k = before; k < tips->others.nr; k++)
			grown[k] = list->items[i].path;
	}
	return 0;
}

static int open_walk(struct run *r)
{
	int ret = walk_open(&r->walk, r->odb, NULL, 0, r->err);

	if (ret < 0)
		return ret;
	r->has_walk = true;
	ret = add_tips(r, &r->wants, &r->args.wants, true);
	return ret < 0 ? ret : add_tips(r, &r->haves, &r->args.haves, false);
}

static void print_oid(const struct run *r, uint32_t obj_pos, const char *name)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;

	if (r->o.quiet)
		return;
	objspace_oid(&oid, (struct objspace *)&r->walk.space, obj_pos);
	oid_to_hex(hex, &oid, r->odb->algo);
	fwrite(hex, 1, hash_hex_len(r->odb->algo), stdout);
	if (name && !r->o.no_object_names) {
		putchar(' ');
		/* as git does, nothing after a newline in a name */
		fwrite(name, 1, strcspn(name, "\n"), stdout);
	}
	putchar('\n');
}

/* Apply --skip and --max-count, then --reverse. */
static void limit(struct run *r, struct revwalk_result *revs)
{
	size_t skip = r->o.skip < revs->nr ? (size_t)r->o.skip : revs->nr;

	revs->nr -= skip;
	if (skip && revs->nr)
		memmove(revs->commits, revs->commits + skip,
			revs->nr * sizeof(*revs->commits));
	if (r->o.max_count < revs->nr)
		revs->nr = (size_t)r->o.max_count;
	for (size_t i = 0; r->o.reverse && i < revs->nr / 2; i++) {
		uint32_t swap = revs->commits[i];

		revs->commits[i] = revs->commits[revs->nr - 1 - i];
		revs->commits[revs->nr - 1 - i] = swap;
	}
}

static void print_commits(const struct run *r,
			  const struct revwalk_result *revs)
{
	const struct history_commit *commits = r->walk.history.commits;

	for (size_t i = 0; i < revs->nr; i++)
		print_oid(r, commits[revs->commits[i]].obj_pos, NULL);
}

/* What the plain object walk does with each object. */
struct showing {
	struct run *r;
	uint64_t nr;
};

static int show_object(void *ctx, uint32_t obj_pos, enum object_type type,
		       const char *path, size_t path_len, struct error *err)
{
	struct showing *s = ctx;
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;

	s->nr++;
	if (obj_pos >= s->r->walk.space.packed_nr) {
		objspace_oid(&oid, &s->r->walk.space, obj_pos);
		if (!odb_has(s->r->odb, &oid))
			return error_set(
				err, ERR_MISSING, "missing %s object '%s'",
				object_type_name(type),
				oid_to_hex(hex, &oid, s->r->odb->algo));
	}
	if (!s->r->o.count)
		print_oid(s->r, obj_pos, path);
	return 0;
}

/* A tag is shown under its own name. */
static int show_tag(struct showing *s, uint32_t obj_pos)
{
	struct run *r = s->r;
	struct odb_object obj = ODB_OBJECT_INIT;
	struct tag_view tag;
	char *name = NULL;
	int ret = objspace_read(&r->walk.space, r->walk.reader, obj_pos, &obj,
				r->err);

	if (!ret)
		ret = tag_parse(&tag, obj.data, obj.len, r->odb->algo, r->err);
	if (!ret) {
		name = strndup(tag.name, tag.name_len);
		ret = name ? show_object(s, obj_pos, OBJ_TAG, name,
					 tag.name_len, r->err)
			   : error_nomem(r->err);
	}
	free(name);
	odb_object_release(r->walk.reader, &obj);
	return ret;
}

static int show_other(struct showing *s, struct treewalk *tree, size_t i)
{
	struct run *r = s->r;
	const struct walk_item *item = &r->wants.others.items[i];
	const char *path = r->want_paths[i] ? r->want_paths[i] : "";

	if (item->type == OBJ_TREE)
		return treewalk_run(tree, item->obj_pos, path, show_object, s,
				    r->err);
	switch (treewalk_see(tree, item->obj_pos)) {
	case 0:
		return 0;
	case 1:
		return item->type == OBJ_TAG
			       ? show_tag(s, item->obj_pos)
			       : show_object(s, item->obj_pos, item->type, path,
					     strlen(path), r->err);
	default:
		return error_nomem(r->err);
	}
}

static int exclude_trees(struct run *r, struct treewalk *tree,
			 const struct revwalk_result *revs)
{
	const struct history_commit *commits = r->walk.history.commits;
	int ret = 0;

	for (size_t i = 0; i < r->haves.others.nr && !ret; i++) {
		const struct walk_item *item = &r->haves.others.items[i];

		if (item->type == OBJ_TREE)
			ret = treewalk_run(tree, item->obj_pos, "", NULL, NULL,
					   r->err);
		else if (treewalk_see(tree, item->obj_pos) < 0)
			ret = error_nomem(r->err);
	}
	for (size_t i = 0; i < revs->boundary_nr && !ret; i++)
		if (commits[revs->boundary[i]].parsed)
			ret = treewalk_run(tree,
					   commits[revs->boundary[i]].tree_pos,
					   "", NULL, NULL, r->err);
	return ret;
}

/* Objects one by one, in Git's order, with paths. */
static int show_objects(struct run *r, const struct revwalk_result *revs,
			uint64_t *nr)
{
	struct showing s = {r, 0};
	struct treewalk tree;
	int ret = treewalk_init(&tree, &r->walk.space, r->walk.reader);

	ret = ret < 0 ? error_nomem(r->err) : exclude_trees(r, &tree, revs);
	for (size_t i = 0; i < r->wants.others.nr && !ret; i++)
		ret = show_other(&s, &tree, i);
	for (size_t i = 0; i < revs->nr && !ret; i++) {
		uint32_t c = revs->commits[i];

		ret = treewalk_run(&tree, r->walk.history.commits[c].tree_pos,
				   "", show_object, &s, r->err);
	}
	treewalk_release(&tree);
	*nr += s.nr;
	return ret;
}

static int list_by_walk(struct run *r)
{
	struct revwalk_tips tips = {
		r->wants.commits,
		r->wants.commit_nr,
		r->haves.commits,
		r->haves.commit_nr,
	};
	struct revwalk_result revs = REVWALK_RESULT_INIT;
	uint64_t nr = 0;
	int ret = revwalk_run(&revs, &r->walk.history, &tips, false, r->err);

	if (!ret) {
		limit(r, &revs);
		nr = revs.nr;
		if (!r->o.count)
			print_commits(r, &revs);
	}
	if (!ret && r->o.objects)
		ret = show_objects(r, &revs, &nr);
	if (!ret && r->o.count)
		printf("%" PRIu64 "\n", nr);
	revwalk_result_release(&revs);
	return ret;
}

/* Counting needs neither order nor paths: by tree differences. */
static int count_by_walk(struct run *r)
{
	struct walk_result result = WALK_RESULT_INIT;
	struct walk_options options = {
		.objects = r->o.objects,
		.exclude_boundary = true,
	};
	int ret = walk_enumerate(&result, &r->walk, &r->wants, &r->haves,
				 &options, r->err);

	if (!ret)
		printf("%zu\n", result.revs.nr + result.objects.nr);
	walk_result_release(&result);
	return ret;
}

static int print_found(void *ctx, uint32_t obj_pos, enum object_type type)
{
	const struct run *r = ctx;

	if (r->o.objects || type == OBJ_COMMIT)
		print_oid(r, obj_pos, NULL);
	return 0;
}

static int list_found(struct run *r, const struct pack_bitmap *pb,
		      const struct pack_bitmap_result *result)
{
	uint64_t counts[BITMAP_TYPE_NR];
	uint64_t nr = 0;
	int ret;

	if (!r->o.count)
		return pack_bitmap_each(pb, result, print_found, r, r->err);
	ret = pack_bitmap_count(counts, pb, result, r->err);
	if (ret < 0)
		return ret;
	for (int i = 0; i < (r->o.objects ? BITMAP_TYPE_NR : 1); i++)
		nr += counts[i];
	printf("%" PRIu64 "\n", nr);
	return 0;
}

/* 1 when answered, 0 when there is no usable bitmap index. */
static int list_by_bitmap(struct run *r)
{
	struct pack_bitmap_result result = PACK_BITMAP_RESULT_INIT;
	struct error warning = ERROR_INIT;
	struct pack_bitmap *pb;
	int ret = pack_bitmap_open(&pb, r->odb, &warning);

	if (ret < 0)
		builtin_warn("%s", warning.msg);
	if (ret <= 0)
		return ret == ERR_NOMEM ? ret : 0;
	ret = pack_bitmap_query(&result, pb, &r->walk, &r->wants, &r->haves,
				r->err);
	if (ret == ERR_CORRUPT) {
		builtin_warn("%s", r->err->msg);
		ret = 0;
	} else if (ret == ERR_MISSING) {
		/* perhaps only behind an excluded commit: the walk will tell */
		ret = 0;
	} else if (!ret) {
		ret = list_found(r, pb, &result);
		ret = ret < 0 ? ret : 1;
	}
	pack_bitmap_result_release(&result);
	pack_bitmap_close(pb);
	return ret;
}

static int test_bitmap(struct run *r)
{
	struct pack_bitmap *pb;
	char hex[OID_MAX_HEX_LEN + 1];
	int ret;

	if (r->args.wants.nr != 1 || r->wants.commit_nr != 1)
		return error_set(r->err, ERR_INVALID,
				 "you must specify exactly one commit to test");
	oid_to_hex(hex, &r->args.wants.items[0].oid, r->odb->algo);
	ret = pack_bitmap_open(&pb, r->odb, r->err);
	if (ret < 0)
		return ret;
	if (!ret)
		return error_set(r->err, ERR_MISSING,
				 "failed to load bitmap indexes");
	fprintf(stderr, "Bitmap v%d test (%u entries)\n", BITMAP_VERSION,
		pb->file.row_nr);
	ret = pack_bitmap_test(pb, &r->walk, r->wants.commits[0], r->err);
	if (!ret)
		error_set(r->err, ERR_MISSING,
			  "commit '%s' doesn't have an indexed bitmap", hex);
	else if (ret > 0)
		fprintf(stderr, "Found bitmap for '%s'. %u bits\nOK!\n", hex,
			pack_bitmap_object_nr(pb));
	pack_bitmap_close(pb);
	return ret > 0 ? 0 : ret ? ret : ERR_MISSING;
}

static int answer(struct run *r)
{
	bool is_limited = r->o.max_count != UINT64_MAX || r->o.skip;
	int ret = 0;

	if (r->o.test_bitmap)
		return test_bitmap(r);
	if (r->o.use_bitmap && !is_limited && !r->o.reverse &&
	    !r->walk.shallow.nr)
		ret = list_by_bitmap(r);
	if (ret)
		return ret < 0 ? ret : 0;
	if (r->o.count && !is_limited)
		return count_by_walk(r);
	return list_by_walk(r);
}

/* Whether more refs than those with a name here are to be read. */
static bool asks_for_refs(const char **argv)
{
	static const char *const options[] = {
		"--all",
		"--branches",
		"--tags",
		"--remotes",
	};

	for (argv++; *argv; argv++)
		for (size_t i = 0; i < ARRAY_NR(options); i++)
			if (!strcmp(*argv, options[i]))
				return true;
	return false;
}

static int run_all(struct run *r, const char **argv, struct builtin_env *env)
{
	struct error warning = ERROR_INIT;
	int ret = refs_open(&r->refs, env->repo, r->err);

	if (!ret && asks_for_refs(argv))
		ret = refs_list_now(r->refs, r->err);
	if (!ret)
		ret = odb_open(&r->odb, env->repo, &warning, r->err);
	if (!ret && warning.code)
		builtin_error("%s", warning.msg);
	if (!ret && rev_args_init(&r->args, r->odb, r->refs) < 0)
		ret = error_nomem(r->err);
	if (!ret)
		ret = parse_args(r, argv);
	if (!ret && !r->args.wants.nr && !r->args.haves.nr &&
	    !r->args.asked_for_refs && !r->o.read_stdin && !r->o.objects) {
		fprintf(stderr, "usage: %s\n", usage_text);
		return 129;
	}
	if (!ret)
		ret = open_walk(r);
	if (!ret)
		ret = answer(r);
	return ret;
}

int cmd_rev_list(int argc, const char **argv, struct builtin_env *env)
{
	struct error err = ERROR_INIT;
	struct run r = {
		.o = {.max_count = UINT64_MAX},
		.wants = WALK_TIPS_INIT,
		.haves = WALK_TIPS_INIT,
		.err = &err,
	};
	int ret = builtin_open_repo(env);

	if (ret)
		return ret;
	ret = run_all(&r, argv, env);
	walk_tips_release(&r.wants);
	walk_tips_release(&r.haves);
	if (r.has_walk)
		walk_close(&r.walk);
	rev_args_release(&r.args);
	free(r.want_paths);
	odb_close(r.odb);
	refs_close(r.refs);
	if (ret < 0)
		return builtin_fail(&err);
	return builtin_finish(ret);
}
