/* SPDX-License-Identifier: MIT */
/*
 * Resolves names of objects. A name is parsed from its end:
 *
 * 	<name> ::= <rev> ":" <path> | <rev>
 * 	<rev>  ::= <rev> "~" <n>? | <rev> "^" <n>? | <rev> "^{" <type> "}"
 * 	         | "@" | <hex> | <ref> | <tag> "-" <n> "-g" <hex>
 */
#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "names/revname.h"
#include "object/parse.h"

#define SUFFIX_MAX 10000 /* suffixes in one name; each is a nested call */

/* The state of resolving one name. */
struct resolver {
	const char *name; /* whole name, for messages */
	struct refs *refs;
	struct odb_reader *reader;
	const struct odb *odb;
	unsigned depth; /* suffixes removed so far */
	struct error *err;
};

static int unknown(const struct resolver *r)
{
	return error_set(r->err, ERR_MISSING,
			 "ambiguous argument '%s': unknown revision or path "
			 "not in the working tree.",
			 r->name);
}

static int unsupported(const struct resolver *r, const char *what)
{
	return error_set(r->err, ERR_UNSUPPORTED, "'%s': %s are not supported",
			 r->name, what);
}

/* If an object is missing, the name is unknown. */
static int missing_is_unknown(const struct resolver *r, int ret)
{
	return ret == ERR_MISSING ? unknown(r) : ret;
}

/*
 * Resolves <tag>-<n>-g<hex>, the output of git-describe(1). Returns 1, 0 if it
 * is no such name, or a negative error code.
 */
static int resolve_described(const struct resolver *r, struct oid *out,
			     const char *name, size_t len)
{
	size_t at = len, tag_len;
	int ret;

	while (at && isxdigit((unsigned char)name[at - 1]))
		at--;
	if (at < 3 || name[at - 1] != 'g' || name[at - 2] != '-')
		return 0;
	tag_len = at - 2;
	while (tag_len && isdigit((unsigned char)name[tag_len - 1]))
		tag_len--;
	if (tag_len == at - 2 || tag_len < 2 || name[tag_len - 1] != '-' ||
	    !refs_name_is_valid_len(name, tag_len - 1, true))
		return 0;
	ret = revname_resolve_short(out, name + at, len - at,
				    REVNAME_COMMITTISH, r->reader, r->odb,
				    NULL);
	return ret == ERR_INVALID ? 0 : ret;
}

static int resolve_ref(const struct resolver *r, struct oid *out,
		       const char *name, size_t len)
{
	char *copy = mem_strndup(name, len);
	struct ref ref;
	int ret;

	if (!copy)
		return error_nomem(r->err);
	ret = refs_dwim(r->refs, copy, &ref, r->err);
	free(copy);
	if (ret > 0)
		*out = ref.oid;
	return ret;
}

static int resolve_basic(const struct resolver *r, struct oid *out,
			 const char *name, size_t len, enum revname_hint hint)
{
	int ret;

	if (len == hash_hex_len(r->odb->algo) &&
	    oid_from_hex(out, name, len, r->odb->algo))
		return 0;
	if (len == 1 && name[0] == '@')
		ret = resolve_ref(r, out, "HEAD", 4);
	else
		ret = resolve_ref(r, out, name, len);
	if (!ret)
		ret = resolve_described(r, out, name, len);
	if (!ret)
		ret = revname_resolve_short(out, name, len, hint, r->reader,
					    r->odb, r->err);
	if (!ret)
		return unknown(r);
	return ret < 0 ? ret : 0;
}

/* A commit dereferences to its tree. */
static int wrong_type(const struct resolver *r, enum object_type wanted,
		      enum object_type type)
{
	if (type == OBJ_COMMIT)
		type = OBJ_TREE;
	return error_set(r->err, ERR_INVALID,
			 "%s: expected %s type, but the object dereferences "
			 "to %s type",
			 r->name, object_type_name(wanted),
			 object_type_name(type));
}

static int read_commit(const struct resolver *r, const struct oid *oid,
		       struct odb_object *obj, struct commit_view *view)
{
	int ret = odb_read(r->reader, oid, obj, r->err);

	if (ret < 0)
		return missing_is_unknown(r, ret);
	ret = commit_parse(view, obj->data, obj->len, r->odb->algo, r->err);
	if (ret < 0)
		odb_object_release(r->reader, obj);
	return ret;
}

/*
 * Follows tags, and a commit to its tree, until an object has the type
 * `wanted`.
 */
static int peel_to(const struct resolver *r, struct oid *oid,
		   enum object_type wanted)
{
	struct odb_object obj;
	struct commit_view view;
	enum object_type type;
	int ret;

	if (wanted == OBJ_TAG) {
		ret = odb_info(r->reader, oid, &type, NULL, r->err);
		if (ret < 0)
			return missing_is_unknown(r, ret);
		return type == OBJ_TAG ? 0 : wrong_type(r, wanted, type);
	}
	ret = odb_peel(r->reader, oid, oid, &type, r->err);
	if (ret < 0)
		return missing_is_unknown(r, ret);
	if (wanted == OBJ_NONE || type == wanted)
		return 0;
	if (wanted != OBJ_TREE || type != OBJ_COMMIT)
		return wrong_type(r, wanted, type);
	ret = read_commit(r, oid, &obj, &view);
	if (ret < 0)
		return ret;
	*oid = view.tree;
	odb_object_release(r->reader, &obj);
	return 0;
}

/*
 * Replaces a commit-ish by its n-th parent, or by the commit itself if n == 0.
 */
static int nth_parent(const struct resolver *r, struct oid *oid, size_t n)
{
	struct odb_object obj;
	struct commit_view view;
	int ret = peel_to(r, oid, OBJ_COMMIT);

	if (ret < 0 || !n)
		return ret;
	ret = read_commit(r, oid, &obj, &view);
	if (ret < 0)
		return ret;
	if (n > view.parent_nr)
		ret = unknown(r);
	else
		commit_parent(oid, &view, n - 1, r->odb->algo);
	odb_object_release(r->reader, &obj);
	return ret;
}

static int nth_ancestor(const struct resolver *r, struct oid *oid, size_t n)
{
	int ret = nth_parent(r, oid, 0);

	while (!ret && n--)
		ret = nth_parent(r, oid, 1);
	return ret;
}

static int resolve_rev(struct resolver *r, struct oid *out, const char *name,
		       size_t len, enum revname_hint hint);

static bool is_word(const char *s, size_t len, const char *word)
{
	return len == strlen(word) && !memcmp(s, word, len);
}

/* Resolves <rev>^{<what>}. `open` is the offset of the brace. */
static int resolve_braces(struct resolver *r, struct oid *out, const char *name,
			  size_t len, size_t open)
{
	const char *what = name + open + 1;
	size_t what_len = len - open - 2;
	enum object_type wanted = object_type_by_name(what, what_len);
	enum revname_hint hint = REVNAME_ANY;
	int ret;

	if (what_len && what[0] == '/')
		return unsupported(r, "searches for a commit message");
	if (wanted == OBJ_NONE && what_len &&
	    !is_word(what, what_len, "object"))
		return unknown(r);
	if (wanted == OBJ_COMMIT)
		hint = REVNAME_COMMITTISH;
	else if (wanted == OBJ_TREE)
		hint = REVNAME_TREEISH;
	ret = resolve_rev(r, out, name, open - 1, hint);
	if (ret < 0)
		return ret;
	if (!is_word(what, what_len, "object"))
		ret = peel_to(r, out, wanted);
	/* All other types were read just now. */
	if (ret < 0 || (wanted != OBJ_NONE && wanted != OBJ_TREE))
		return ret;
	return missing_is_unknown(r,
				  odb_info(r->reader, out, NULL, NULL, r->err));
}

/*
 * Parses the number in [p, p + len); an empty text is 1. Returns false if it is
 * too large.
 */
static bool parse_number(const char *p, size_t len, size_t *n)
{
	size_t i;

	*n = !len;
	for (i = 0; i < len; i++) {
		*n = *n * 10 + (size_t)(p[i] - '0');
		if (*n > INT_MAX)
			return false;
	}
	return true;
}

static int resolve_rev(struct resolver *r, struct oid *out, const char *name,
		       size_t len, enum revname_hint hint)
{
	size_t at = len;
	size_t n;
	int ret;

	if (!len || ++r->depth > SUFFIX_MAX)
		return unknown(r);
	if (name[len - 1] == '}') {
		const char *open = memrchr(name, '{', len);

		at = open ? (size_t)(open - name) : 0;
		if (at > 0 && name[at - 1] == '@')
			return unsupported(r, "reflog selectors");
		if (at > 1 && name[at - 1] == '^')
			return resolve_braces(r, out, name, len, at);
		return resolve_basic(r, out, name, len, hint);
	}
	while (at && isdigit((unsigned char)name[at - 1]))
		at--;
	if (at < 2 || (name[at - 1] != '^' && name[at - 1] != '~'))
		return resolve_basic(r, out, name, len, hint);
	if (!parse_number(name + at, len - at, &n))
		return unknown(r);
	ret = resolve_rev(r, out, name, at - 1, REVNAME_COMMITTISH);
	if (ret < 0)
		return ret;
	return name[at - 1] == '^' ? nth_parent(r, out, n)
				   : nth_ancestor(r, out, n);
}

/*
 * Replaces a tree by its entry `name`. Returns 1, 0 if there is none or the
 * tree is missing, or a negative error code.
 */
static int find_entry(const struct resolver *r, struct oid *oid,
		      const char *name, size_t len, bool *is_dir)
{
	struct odb_object obj;
	struct tree_entry entry;
	struct cursor c;
	int ret = odb_read(r->reader, oid, &obj, r->err);

	if (ret < 0)
		return ret == ERR_MISSING ? 0 : ret;
	c = cursor_make(obj.data, obj.len);
	while ((ret = tree_next(&entry, &c, r->odb->algo)) > 0)
		if (entry.name_len == len && !memcmp(entry.name, name, len))
			break;
	if (ret > 0) {
		oid_from_raw(oid, entry.oid, r->odb->algo);
		*is_dir = tree_entry_is_dir(&entry);
	} else if (ret < 0) {
		error_set(r->err, ERR_CORRUPT, "corrupt tree in '%s'", r->name);
	}
	odb_object_release(r->reader, &obj);
	return ret;
}

/* Replaces a tree by the object at `path` in it. */
static int resolve_path(const struct resolver *r, struct oid *oid,
			const char *path, size_t rev_len)
{
	const char *p = path;
	bool is_dir = true;
	int ret;

	while (*p) {
		size_t len = strcspn(p, "/");

		ret = is_dir && len ? find_entry(r, oid, p, len, &is_dir) : 0;
		if (ret < 0)
			return ret;
		if (!ret || (p[len] && !is_dir))
			return error_set(r->err, ERR_INVALID,
					 "path '%s' does not exist in '%.*s'",
					 path, (int)rev_len, r->name);
		p += len;
		p += *p == '/';
	}
	return 0;
}

/* Returns the colon that ends a revision, not one inside braces, or NULL. */
static const char *find_colon(const char *name)
{
	unsigned braces = 0;

	for (; *name; name++) {
		if (*name == '{')
			braces++;
		else if (*name == '}' && braces)
			braces--;
		else if (*name == ':' && !braces)
			return name;
	}
	return NULL;
}

bool revname_may_be_unsupported(const char *arg)
{
	return arg[*arg == '^'] == ':' || strstr(arg, "..:") ||
	       strstr(arg, "@{") || strstr(arg, "^{/") || strstr(arg, ":./") ||
	       strstr(arg, ":../");
}

int revname_resolve(struct oid *out, const char *name, struct refs *refs,
		    struct odb_reader *reader, const struct odb *odb,
		    struct error *err)
{
	return revname_resolve_as(out, name, REVNAME_ANY, refs, reader, odb,
				  err);
}

int revname_resolve_as(struct oid *out, const char *name,
		       enum revname_hint hint, struct refs *refs,
		       struct odb_reader *reader, const struct odb *odb,
		       struct error *err)
{
	struct resolver r = {name, refs, reader, odb, 0, err};
	const char *colon = find_colon(name);
	struct oid oid;
	int ret;

	if (!colon) {
		ret = resolve_rev(&r, &oid, name, strlen(name), hint);
		if (!ret)
			*out = oid;
		return ret;
	}
	if (colon == name)
		return unsupported(&r, name[1] == '/'
					       ? "searches for a commit message"
					       : "paths in the index");
	if (!strncmp(colon + 1, "./", 2) || !strncmp(colon + 1, "../", 3))
		return unsupported(&r, "relative paths");
	ret = resolve_rev(&r, &oid, name, (size_t)(colon - name),
			  REVNAME_TREEISH);
	if (!ret)
		ret = peel_to(&r, &oid, OBJ_TREE);
	if (!ret)
		ret = resolve_path(&r, &oid, colon + 1, (size_t)(colon - name));
	if (!ret)
		*out = oid;
	return ret;
}
