/* SPDX-License-Identifier: MIT */
/* fsck: the roots, and what is said of links. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builtin/fsck-parts.h"
#include "repo/index-file.h"
#include "sys/io.h"
#include "sys/tempfile.h"

/* ---- what is said */

bool fsck_is_promised(struct fsck_run *r, const struct oid *oid)
{
	uint32_t obj_pos;

	return r->s.repo->has_promisor &&
	       objspace_add(&r->walk.space, oid->bytes, &obj_pos) == 0 &&
	       promisor_promises(&r->promisor, obj_pos, NULL) > 0;
}

static int on_broken(void *ctx, const struct fsck_links_object *from,
		     const struct fsck_links_object *to, struct error *err)
{
	struct fsck_run *r = ctx;
	char from_hex[OID_MAX_HEX_LEN + 1], to_hex[OID_MAX_HEX_LEN + 1];

	if (fsck_is_promised(r, &to->oid))
		return 0;
	printf("broken link from %7s %s\n", object_type_name(from->type),
	       oid_to_hex(from_hex, &from->oid, r->s.repo->algo));
	printf("              to %7s %s\n", object_type_name(to->type),
	       oid_to_hex(to_hex, &to->oid, r->s.repo->algo));
	r->found |= FSCK_FOUND_REACHABLE;
	return 0;
}

static int on_mistyped(void *ctx, const struct fsck_links_object *object,
		       enum object_type actual, struct error *err)
{
	struct fsck_run *r = ctx;
	char hex[OID_MAX_HEX_LEN + 1];

	builtin_error("object %s is a %s, not a %s",
		      oid_to_hex(hex, &object->oid, r->s.repo->algo),
		      object_type_name(actual), object_type_name(object->type));
	r->found |= FSCK_FOUND_OBJECT;
	return 0;
}

static int on_missing(void *ctx, const struct fsck_links_object *object,
		      struct error *err)
{
	struct fsck_run *r = ctx;
	char hex[OID_MAX_HEX_LEN + 1];

	if (fsck_is_promised(r, &object->oid))
		return 0;
	printf("missing %s %s\n", object_type_name(object->type),
	       oid_to_hex(hex, &object->oid, r->s.repo->algo));
	r->found |= FSCK_FOUND_REACHABLE;
	return 0;
}

/* The content of a blob, or an id and a newline, into lost-found. */
static int save(struct fsck_run *r, const struct fsck_links_object *object,
		const char *hex)
{
	struct sys_tempfile tf = SYS_TEMPFILE_INIT;
	struct odb_object obj = ODB_OBJECT_INIT;
	struct buf dir = BUF_INIT, path = BUF_INIT;
	int ret;

	if (buf_printf(&dir, "%s/lost-found/%s", r->s.repo->git_dir,
		       object->type == OBJ_COMMIT ? "commit" : "other") < 0 ||
	    buf_printf(&path, "%s/%s", dir.data, hex) < 0) {
		ret = error_nomem(r->err);
		goto out;
	}
	ret = sys_mkdir_shared(dir.data, r->s.repo->share, r->err);
	if (!ret && object->type == OBJ_BLOB)
		ret = odb_read(r->s.reader, &object->oid, &obj, r->err);
	if (!ret)
		ret = sys_tempfile_create(&tf, dir.data, "tmp_",
					  0666 | r->s.repo->share, r->err);
	if (!ret && object->type == OBJ_BLOB)
		ret = sys_tempfile_write(&tf, obj.data, obj.len, r->err);
	else if (!ret)
		ret = sys_tempfile_write(&tf, hex, strlen(hex), r->err);
	if (!ret && object->type != OBJ_BLOB)
		ret = sys_tempfile_write(&tf, "\n", 1, r->err);
	if (!ret)
		ret = sys_tempfile_commit(&tf, path.data, SYS_FSYNC_NONE,
					  r->err);
out:
	sys_tempfile_abort(&tf);
	odb_object_release(r->s.reader, &obj);
	buf_release(&dir);
	buf_release(&path);
	return ret;
}

static int on_unreachable(void *ctx, const struct fsck_links_object *object,
			  bool used, struct error *err)
{
	struct fsck_run *r = ctx;
	char hex[OID_MAX_HEX_LEN + 1];

	oid_to_hex(hex, &object->oid, r->s.repo->algo);
	if (r->a.unreachable) {
		printf("unreachable %s %s\n", object_type_name(object->type),
		       hex);
		return 0;
	}
	if (used)
		return 0;
	if (r->a.dangling)
		printf("dangling %s %s\n", object_type_name(object->type), hex);
	return r->a.lost_found ? save(r, object, hex) : 0;
}

/* ---- roots */

struct roots {
	struct fsck_run *r;
	struct fsck_links *l;
	size_t ref_nr;
};

static int add_ref(void *ctx, const struct ref *ref)
{
	struct roots *roots = ctx;
	struct fsck_run *r = roots->r;
	char hex[OID_MAX_HEX_LEN + 1];
	int type = fsck_links_root(roots->l, &ref->oid, OBJ_NONE, r->err);

	if (type < 0)
		return type;
	roots->ref_nr++;
	if (!type && !fsck_is_promised(r, &ref->oid)) {
		builtin_error("%s: invalid sha1 pointer %s", ref->name,
			      oid_to_hex(hex, &ref->oid, r->s.repo->algo));
		r->found |= FSCK_FOUND_REACHABLE;
	}
	if (type && type != OBJ_COMMIT &&
	    (!strncmp(ref->name, "refs/heads/", strlen("refs/heads/")) ||
	     !strcmp(ref->name, "HEAD"))) {
		builtin_error("%s: not a commit", ref->name);
		r->found |= FSCK_FOUND_REFS;
	}
	return 0;
}

static int add_logged(void *ctx, const struct oid *oid)
{
	struct roots *roots = ctx;
	struct fsck_run *r = roots->r;
	char hex[OID_MAX_HEX_LEN + 1];
	int type = fsck_links_root(roots->l, oid, OBJ_NONE, r->err);

	if (!type && !fsck_is_promised(r, oid)) {
		builtin_error("invalid reflog entry %s",
			      oid_to_hex(hex, oid, r->s.repo->algo));
		r->found |= FSCK_FOUND_REACHABLE;
	}
	return type < 0 ? type : 0;
}

static int add_indexed(void *ctx, const struct oid *oid)
{
	struct roots *roots = ctx;
	int type = fsck_links_root(roots->l, oid, OBJ_BLOB, roots->r->err);

	return type < 0 ? type : 0;
}

static int add_broken(void *ctx, const char *name)
{
	const struct roots *roots = ctx;
	struct fsck_run *r = roots->r;
	char hex[OID_MAX_HEX_LEN + 1];

	builtin_error(
		"%s: invalid sha1 pointer %s", name,
		oid_to_hex(hex, &(struct oid)OID_ZERO_INIT, r->s.repo->algo));
	r->found |= FSCK_FOUND_REACHABLE;
	return 0;
}

static int add_refs(struct roots *roots)
{
	struct fsck_run *r = roots->r;
	struct ref head;
	int ret = refs_each_or_broken(r->s.refs, "", add_ref, add_broken, roots,
				      r->err);

	if (ret < 0)
		return ret;
	if (!roots->ref_nr)
		fprintf(stderr, "notice: No default references\n");
	ret = refs_lookup(r->s.refs, "HEAD", &head, NULL);
	if (ret > 0)
		ret = add_ref(roots, &head);
	return ret == ERR_NOMEM ? ret : 0;
}

static int add_named(struct roots *roots, const char *name)
{
	struct fsck_run *r = roots->r;
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;
	int type;

	if (store_resolve(&r->s, &oid, name, NULL) < 0) {
		builtin_error("invalid parameter: expected sha1, got '%s'",
			      name);
		r->found |= FSCK_FOUND_OBJECT;
		return 0;
	}
	type = fsck_links_root(roots->l, &oid, OBJ_NONE, r->err);
	if (!type) {
		builtin_error("%s: object missing",
			      oid_to_hex(hex, &oid, r->s.repo->algo));
		r->found |= FSCK_FOUND_OBJECT;
	}
	return type < 0 ? type : 0;
}

static int add_roots(struct roots *roots, const char **names, int name_nr)
{
	struct fsck_run *r = roots->r;
	int ret = 0;

	for (int i = 0; !ret && i < name_nr; i++)
		ret = add_named(roots, names[i]);
	if (!ret && !name_nr)
		ret = add_refs(roots);
	if (!ret && !name_nr && r->a.reflogs)
		ret = refs_each_reflog_oid(r->s.repo, add_logged, roots,
					   r->err);
	if (!ret && (!name_nr || r->a.cache))
		ret = index_file_each_oid(r->s.repo, add_indexed, roots,
					  r->err);
	return ret;
}

int fsck_check_links(struct fsck_run *r, const char **names, int name_nr)
{
	const struct fsck_links_events events = {
		on_broken, on_mistyped, on_missing, on_unreachable, r,
	};
	struct fsck_links l;
	struct roots roots = {r, &l, 0};
	int ret = fsck_links_init(&l, &r->walk, &r->scan, &events, r->err);

	if (!ret)
		ret = add_roots(&roots, names, name_nr);
	if (!ret)
		ret = fsck_links_reach(&l, r->err);
	if (!ret && (r->a.unreachable || r->a.dangling || r->a.lost_found))
		ret = fsck_links_leftover(&l, r->err);
	fsck_links_release(&l);
	return ret;
}
