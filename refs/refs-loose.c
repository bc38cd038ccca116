/* SPDX-License-Identifier: MIT */
/*
 * Reads loose refs.
 *
 * A listing reads the names in a directory, then the files of these refs. If a
 * file vanishes between these two steps, the ref was packed or deleted. A
 * packed ref is found in packed-refs, which is read afterwards.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/affix.h"
#include "base/mem.h"
#include "base/strlist.h"
#include "refs/refs-cache.h"
#include "refs/refs-loose.h"
#include "refs/refs.h"
#include "sys/io.h"
#include "sys/map.h"

const char *const refs_loose_private[REFS_LOOSE_PRIVATE_NR] = {
	"refs/bisect/",
	"refs/worktree/",
	"refs/rewritten/",
};

void refs_loose_release(struct refs_loose *ref)
{
	free(ref->target);
	free(ref->name);
	memset(ref, 0, sizeof(*ref));
}

static int parse_symbolic(struct refs_loose *ref, const char *p,
			  const char *end)
{
	while (p < end && isspace((unsigned char)*p))
		p++;
	while (end > p && isspace((unsigned char)end[-1]))
		end--;
	ref->kind = REFS_LOOSE_SYMBOLIC;
	ref->leads_nowhere = !refs_name_is_valid_len(p, (size_t)(end - p),
						     true);
	ref->target = mem_strndup(p, (size_t)(end - p));
	return ref->target ? 0 : ERR_NOMEM;
}

int refs_loose_parse(struct refs_loose *ref, const char *bytes, size_t len,
		     enum hash_algo algo)
{
	size_t hex_len = hash_hex_len(algo);

	ref->kind = REFS_LOOSE_BROKEN;
	ref->leads_nowhere = ref->is_zero = false;
	if (len >= 4 && !memcmp(bytes, "ref:", 4))
		return parse_symbolic(ref, bytes + 4, bytes + len);
	if (len < hex_len || !oid_from_hex(&ref->oid, bytes, len, algo))
		return 0;
	if (len > hex_len && !isspace((unsigned char)bytes[hex_len]))
		return 0;
	ref->is_zero = oid_is_zero(&ref->oid);
	if (!ref->is_zero)
		ref->kind = REFS_LOOSE_OID;
	return 0;
}

/*
 * Reads a symbolic link to "refs/...", which is a symbolic ref (see
 * core.preferSymlinkRefs). Returns 1 if the path is such a link, 0 if not, or
 * ERR_NOMEM.
 */
static int read_link(struct refs_loose *ref, const char *path)
{
	struct buf target = BUF_INIT;
	int ret = sys_readlink(&target, path, NULL);

	if (!ret && target.data && starts_with(target.data, "refs/") &&
	    refs_name_is_valid_len(target.data, target.len, false)) {
		ret = parse_symbolic(ref, target.data,
				     target.data + target.len);
		buf_release(&target);
		return ret < 0 ? ret : 1;
	}
	buf_release(&target);
	return ret == ERR_NOMEM ? ret : 0;
}

int refs_loose_read_file(struct refs_loose *ref, const char *path,
			 enum hash_algo algo, struct error *err)
{
	struct error io = ERROR_INIT;
	struct buf bytes = BUF_INIT;
	int ret;

	memset(ref, 0, sizeof(*ref));
	ret = read_link(ref, path);
	if (ret)
		return ret < 0 ? error_nomem(err) : ret;
	/*
	 * Most refs are packed, and have no file. Making a message for each of
	 * them would cost more than the system call.
	 */
	ret = sys_read_file(&bytes, path, NULL);
	if (ret < 0 && ret != ERR_MISSING) {
		buf_reset(&bytes);
		ret = sys_read_file(&bytes, path, &io);
	}
	/* EINVAL: the path is a pipe or a device, so it is not a ref. */
	if (ret == ERR_MISSING || io.sys_errno == EISDIR ||
	    io.sys_errno == EINVAL) {
		ret = 0;
	} else if (ret < 0) {
		if (err)
			*err = io;
	} else if (refs_loose_parse(ref, bytes.data, bytes.len, algo) < 0) {
		ret = error_nomem(err);
	} else {
		ret = 1;
	}
	buf_release(&bytes);
	return ret;
}

bool refs_loose_is_per_worktree(const char *name)
{
	size_t i;

	if (!starts_with(name, "refs/"))
		return refs_name_has_root_form(name);
	for (i = 0; i < REFS_LOOSE_PRIVATE_NR; i++)
		if (starts_with(name, refs_loose_private[i]))
			return true;
	return false;
}

/*
 * Returns the part of a name after "main-worktree/" or "worktrees/<id>/", or
 * the whole name. Sets *dir_len to the length of "worktrees/<id>", or to 0.
 */
static const char *skip_worktree(const char *name, size_t *dir_len)
{
	const char *rest;

	*dir_len = 0;
	if (starts_with(name, "main-worktree/"))
		return name + strlen("main-worktree/");
	rest = starts_with(name, "worktrees/")
		       ? strchr(name + strlen("worktrees/"), '/')
		       : NULL;
	if (!rest)
		return name;
	*dir_len = (size_t)(rest - name);
	return rest + 1;
}

struct refs_place refs_place_of(const char *name)
{
	struct refs_place place = {REFS_PLACE_SHARED, 0, name};
	size_t dir_len;
	const char *inner = skip_worktree(name, &dir_len);

	if (refs_loose_is_per_worktree(inner)) {
		place.inner = inner;
		place.dir_len = dir_len;
		if (dir_len)
			place.kind = REFS_PLACE_LINKED;
		else if (inner == name)
			place.kind = REFS_PLACE_OWN;
	} else if (starts_with(inner, "refs/")) {
		place.inner = inner;
	}
	return place;
}

/*
 * Appends the path of a file of the ref. `area` chooses the file: "" the ref
 * itself, "logs/" the ref's reflog. Returns 0 or ERR_NOMEM.
 */
static int ref_path(struct buf *out, const struct repo *repo, const char *area,
		    const char *name)
{
	struct refs_place place = refs_place_of(name);
	const char *dir = place.kind == REFS_PLACE_OWN
				  ? repo_refs_dir(repo)
				  : repo_refs_common_dir(repo);

	return buf_printf(out, "%s/%.*s%s%s%s", dir, (int)place.dir_len, name,
			  place.dir_len ? "/" : "", area, place.inner);
}

int refs_loose_path(struct buf *out, const struct repo *repo, const char *name)
{
	return ref_path(out, repo, "", name);
}

int refs_log_path(struct buf *out, const struct repo *repo, const char *name)
{
	return ref_path(out, repo, "logs/", name);
}

int refs_loose_read(struct refs_loose *ref, const struct repo *repo,
		    const char *name, struct error *err)
{
	const char *head = repo->refs_cache && !strcmp(name, "HEAD")
				   ? refs_cache_head(repo->refs_cache)
				   : NULL;
	struct buf path = BUF_INIT;
	int ret;

	memset(ref, 0, sizeof(*ref));
	if (head)
		return refs_loose_parse(ref, head, strlen(head), repo->algo) < 0
			       ? error_nomem(err)
			       : 1;
	if (refs_loose_path(&path, repo, name) < 0)
		ret = error_nomem(err);
	else
		ret = refs_loose_read_file(ref, path.data, repo->algo, err);
	buf_release(&path);
	return ret;
}

/* State of a listing. */
struct lister {
	struct refs_loose_list *list;
	const struct repo *repo;
	struct error *err;
};

static int collect_name(void *ctx, const char *name)
{
	size_t len = strlen(name);

	if (name[0] == '.' || (len >= 5 && !strcmp(name + len - 5, ".lock")))
		return 0;
	return strlist_add(ctx, name);
}

/*
 * Returns whether the directory `dir` ("refs/heads/") can contain names with
 * the prefix.
 */
static bool dir_matches(const char *dir, const char *prefix)
{
	return starts_with(dir, prefix) || starts_with(prefix, dir);
}

static int add_ref(struct lister *l, const char *name, struct refs_loose *ref)
{
	struct refs_loose_list *list = l->list;

	if (!refs_name_is_valid(name))
		ref->kind = REFS_LOOSE_BROKEN;
	ref->name = mem_strdup(name);
	if (!ref->name || mem_grow(&list->refs, &list->alloc, list->nr + 1,
				   sizeof(*list->refs)) < 0) {
		refs_loose_release(ref);
		return error_nomem(l->err);
	}
	list->refs[list->nr++] = *ref;
	return 0;
}

static int list_dir(struct lister *l, const char *dir);

/*
 * Reads a ref's file, or lists a directory. Returns 0 or a negative error
 * code.
 */
static int list_entry(struct lister *l, struct buf *name)
{
	const char *prefix = l->list->prefix;
	struct refs_loose ref;
	int ret = 0;

	if (starts_with(name->data, prefix)) {
		ret = refs_loose_read(&ref, l->repo, name->data, l->err);
		if (ret > 0)
			return add_ref(l, name->data, &ref);
	}
	if (ret < 0)
		return ret;
	if (buf_append_char(name, '/') < 0)
		return error_nomem(l->err);
	if (!dir_matches(name->data, prefix))
		return 0;
	return list_dir(l, name->data);
}

/*
 * Lists the refs in those directories below refs/ that each work tree has for
 * itself, such as refs/bisect/. Returns 0 or a negative error code.
 */
static int list_per_worktree(struct lister *l)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < REFS_LOOSE_PRIVATE_NR; i++)
		if (dir_matches(refs_loose_private[i], l->list->prefix))
			ret = list_dir(l, refs_loose_private[i]);
	return ret;
}

static int list_names(struct lister *l, const char *dir,
		      const struct strlist *names)
{
	struct buf name = BUF_INIT;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < names->nr; i++) {
		buf_reset(&name);
		if (buf_printf(&name, "%s%s/", dir, names->items[i]) < 0) {
			ret = error_nomem(l->err);
			break;
		}
		if (!strcmp(dir, "refs/") &&
		    refs_loose_is_per_worktree(name.data))
			continue;
		buf_set_len(&name, name.len - 1);
		ret = list_entry(l, &name);
	}
	buf_release(&name);
	return ret;
}

/*
 * Lists a directory and the directories below. `dir` ends in a slash. Returns
 * 0 or a negative error code.
 */
static int list_dir(struct lister *l, const char *dir)
{
	/* All names are listed before a file is opened. */
	struct strlist names = STRLIST_INIT;
	struct error io = ERROR_INIT;
	struct buf path = BUF_INIT;
	int ret = refs_loose_path(&path, l->repo, dir);

	if (ret < 0) {
		error_nomem(l->err);
		goto out;
	}
	ret = sys_dir_each(path.data, collect_name, &names, &io);
	if (ret == ERR_NOMEM)
		error_nomem(l->err);
	else if (ret == ERR_MISSING)
		ret = 0;
	else if (ret < 0 && l->err)
		*l->err = io;
	if (!ret)
		ret = list_names(l, dir, &names);
	if (!ret && !strcmp(dir, "refs/"))
		ret = list_per_worktree(l);
out:
	strlist_release(&names);
	buf_release(&path);
	return ret;
}

/*
 * Lists the deepest directory that contains all names with the prefix. Returns
 * 0 or a negative error code.
 */
static int list_prefix(struct lister *l)
{
	const char *prefix = l->list->prefix;
	const char *slash = strrchr(prefix, '/');
	char *dir;
	int ret;

	if (!dir_matches("refs/", prefix))
		return 0;
	if (!slash)
		return list_dir(l, "refs/");
	dir = mem_strndup(prefix, (size_t)(slash - prefix) + 1);
	if (!dir)
		return error_nomem(l->err);
	ret = 0;
	if (refs_name_is_valid_len(dir, strlen(dir) - 1, true))
		ret = list_dir(l, dir);
	free(dir);
	return ret;
}

static int cmp_refs(const void *a, const void *b)
{
	const struct refs_loose *ra = a;
	const struct refs_loose *rb = b;

	return strcmp(ra->name, rb->name);
}

int refs_loose_list_read(struct refs_loose_list **out, const struct repo *repo,
			 const char *prefix, struct error *err)
{
	struct refs_loose_list *list = mem_calloc(1, sizeof(*list));
	struct lister l = {list, repo, err};
	int ret;

	*out = NULL;
	if (!list)
		return error_nomem(err);
	list->prefix = mem_strdup(prefix);
	ret = list->prefix ? list_prefix(&l) : error_nomem(err);
	if (ret < 0) {
		refs_loose_list_free(list);
		return ret;
	}
	if (list->nr)
		qsort(list->refs, list->nr, sizeof(*list->refs), cmp_refs);
	*out = list;
	return 0;
}

void refs_loose_list_free(struct refs_loose_list *list)
{
	if (!list)
		return;
	while (list->nr)
		refs_loose_release(&list->refs[--list->nr]);
	free(list->refs);
	free(list->prefix);
	free(list);
}

size_t refs_loose_list_seek(const struct refs_loose_list *list,
			    const char *name)
{
	size_t low = 0, high = list->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(list->refs[mid].name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}
