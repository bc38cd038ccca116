/* SPDX-License-Identifier: MIT */
/*
 * Resolves names of objects. A name is parsed from its end:
 *
 * 	<name> ::= <rev> ":" <path> | <rev>
 * 	<rev>  ::= <rev> "~" <n>? | <rev> "^" <n>? | <rev> "^{" <type> "}"
 * 	         | <ref>? "@{" <n> "}" | <ref>? "@{" <date> "}"
 * 	         | "@" | <hex> | <ref> | <tag> "-" <n> "-g" <hex>
 */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph/commit-graph.h"
#include "names/revname.h"
#include "object/oidmap.h"
#include "object/parse.h"
#include "odb/odb-stored.h"
#include "repo/grafts.h"
#include "repo/shallow.h"
#include "sys/clock.h"

/*
 * Maximum number of suffixes (such as ~1) in a name. The limit bounds the time
 * that a name takes, because a client may choose the name.
 */
#define SUFFIX_MAX 10000

/*
 * Maximum number of suffixes ^{<type>} of a name for which resolve_as_date()
 * is tried. Each try may parse the whole name as a date and read a reflog, and
 * a client may choose the name. Stock Git has no limit.
 */
#define DATE_TRIES_MAX 4

/* For <rev>~<n> with a larger n, the commit-graph is opened. */
#define STEPS_WITHOUT_GRAPH 16

/* A suffix of a revision name: ~<n>, ^<n> or ^{<type>}. */
struct suffix {
	char kind;       /* '~', '^', or '{' for ^{<type>} */
	size_t rev_len;  /* number of bytes of the name before the suffix */
	size_t len;      /* number of bytes of the name including the suffix */
	size_t n;        /* the number of ~<n> or ^<n> */
	size_t type_len; /* length of <type> */
};

/* The state of resolving one revision name. */
struct resolver {
	const char *name; /* whole name, for messages */
	struct refs *refs;
	struct odb_reader *reader;
	const struct odb *odb;
	/* owned: the suffixes that were parsed, the last one of the name first
	 */
	struct suffix *suffixes;
	size_t suffix_nr, suffix_alloc;
	/* number of calls of resolve_as_date() so far */
	unsigned date_tries;
	/* whether to omit the warning that the name of a ref is ambiguous */
	bool quiet;
	/* receives messages for the user; NULL: no messages */
	struct buf *notes;
	/* whether `shallow` and `grafts` were read */
	bool has_boundary;
	/* owned: the ids of the shallow boundary; the values are unused */
	struct oidmap shallow;
	struct buf grafts; /* the bytes of info/grafts */
	/* whether commit_graph_open() was called */
	bool has_graph;
	/* owned: NULL if no graph is used */
	struct commit_graph *graph;
	struct error *err;
};

#define UNKNOWN "ambiguous argument '"

static int unknown(const struct resolver *r)
{
	return error_set(r->err, ERR_MISSING,
			 UNKNOWN "%s': unknown revision or path not in the "
				 "working tree.",
			 r->name);
}

bool revname_error_is_unknown(const struct error *err)
{
	return err->code == ERR_MISSING &&
	       !strncmp(err->msg, UNKNOWN, strlen(UNKNOWN));
}

bool revname_error_is_log(const struct error *err)
{
	static const char start[] = "log for ";

	return err->code == ERR_UNSUPPORTED &&
	       !strncmp(err->msg, start, strlen(start));
}

static int unsupported(const struct resolver *r, const char *what)
{
	return error_set(r->err, ERR_UNSUPPORTED, "'%s': %s are not supported",
			 r->name, what);
}

/*
 * Reports that an object has another type than a suffix (such as ^{tree})
 * requires. Returns ERR_INVALID with the message, or ERR_MISSING if the message
 * was added to r->notes.
 */
static int wrong_type(const struct resolver *r, const struct error *why)
{
	if (!r->notes)
		return error_set(r->err, ERR_INVALID, "%s", why->msg);
	if (buf_printf(r->notes, "error: %s\n", why->msg) < 0)
		return error_nomem(r->err);
	return unknown(r);
}

/*
 * Returns whether a read of the object `oid`, with the result `ret`, has found
 * no object. As in stock Git, an object whose loose file is empty counts as
 * missing.
 */
static bool is_missing(const struct resolver *r, const struct oid *oid, int ret)
{
	return ret == ERR_MISSING ||
	       (ret == ERR_CORRUPT && odb_stored_is_empty(r->odb, oid));
}

/*
 * Returns the error "unknown revision" if a read of the object `oid`, with the
 * result `ret`, has found no object. Otherwise returns `ret`.
 */
static int missing_is_unknown(const struct resolver *r, const struct oid *oid,
			      int ret)
{
	return is_missing(r, oid, ret) ? unknown(r) : ret;
}

/*
 * Resolves <tag>-<n>-g<hex>, the output of git-describe(1). Returns 1 if
 * resolved, 0 if the name does not have this form, or a negative error code.
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

/*
 * Appends warnings to r->notes: if the name `given` by the user may mean
 * several refs, or if one of these refs cannot be read. Returns 0 or a negative
 * error code.
 */
static int note_refs(const struct resolver *r, const char *name,
		     const char *given, size_t given_len)
{
	bool warns = true;
	int nr;

	nr = config_bool(&r->odb->repo->config, "core.warnambiguousrefs",
			 &warns, r->err);
	if (nr < 0 || !r->notes)
		return nr < 0 ? nr : 0;
	nr = refs_dwim_nr(r->refs, name, r->notes, r->err);
	if (nr > 1 && warns && !r->quiet &&
	    buf_printf(r->notes, "warning: refname '%.*s' is ambiguous.\n",
		       (int)given_len, given) < 0)
		return error_nomem(r->err);
	return nr < 0 ? nr : 0;
}

static int resolve_ref(const struct resolver *r, struct oid *out,
		       const char *given, size_t len)
{
	bool is_head = len == 1 && given[0] == '@';
	char *copy = is_head ? mem_strdup("HEAD") : mem_strndup(given, len);
	struct ref ref;
	int ret;

	if (!copy)
		return error_nomem(r->err);
	ret = refs_dwim(r->refs, copy, &ref, r->err);
	/*
	 * r->notes has a warning about the ref that cannot be read. The ref now
	 * counts as missing.
	 */
	if (ret == ERR_CORRUPT && r->notes)
		ret = 0;
	if (ret >= 0) {
		int noted = note_refs(r, copy, given, len);

		if (ret)
			*out = ref.oid;
		ret = noted < 0 ? noted : ret;
	}
	free(copy);
	return ret;
}

static int resolve_basic(const struct resolver *r, struct oid *out,
			 const char *name, size_t len, enum revname_hint hint)
{
	int ret;

	if (len == hash_hex_len(r->odb->algo) &&
	    oid_from_hex(out, name, len, r->odb->algo))
		return 0;
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

static int read_commit(const struct resolver *r, const struct oid *oid,
		       struct odb_object *obj, struct commit_view *view)
{
	int ret = odb_read(r->reader, oid, obj, r->err);

	if (ret < 0)
		return missing_is_unknown(r, oid, ret);
	ret = commit_parse(view, obj->data, obj->len, r->odb->algo, r->err);
	if (ret < 0)
		odb_object_release(r->reader, obj);
	return ret;
}

/*
 * Follows tags to their targets, and a commit to its tree, until the object has
 * the type `wanted`. Replaces *oid by the id of this object. If no such object
 * is found, the error message shows the first `len` bytes of the name, which
 * end with the suffix that requires the type. Returns 0 or a negative error
 * code.
 */
static int peel_to(const struct resolver *r, struct oid *oid,
		   enum object_type wanted, size_t len)
{
	struct error why = ERROR_INIT;
	struct odb_object obj;
	struct commit_view view;
	enum object_type type;
	int ret;

	if (wanted == OBJ_TAG) {
		ret = odb_info(r->reader, oid, &type, NULL, r->err);
		if (ret < 0)
			return missing_is_unknown(r, oid, ret);
		if (type == OBJ_TAG)
			return 0;
	}
	ret = odb_peel(r->reader, oid, oid, &type, r->err);
	if (ret < 0)
		return missing_is_unknown(r, oid, ret);
	if (wanted == OBJ_NONE || type == wanted)
		return 0;
	if (type == OBJ_COMMIT) {
		ret = read_commit(r, oid, &obj, &view);
		if (ret < 0)
			return ret;
		*oid = view.tree;
		odb_object_release(r->reader, &obj);
		type = OBJ_TREE;
		if (wanted == OBJ_TREE)
			return 0;
	}
	error_set(&why, ERR_INVALID,
		  "%.*s: expected %s type, but the object dereferences to %s "
		  "type",
		  (int)len, r->name, object_type_name(wanted),
		  object_type_name(type));
	return wrong_type(r, &why);
}

/*
 * Follows tags to a commit. Replaces *oid by the commit's id. Returns 0 or a
 * negative error code.
 */
static int peel_to_commit(const struct resolver *r, struct oid *oid)
{
	struct error why = ERROR_INIT;
	char hex[OID_MAX_HEX_LEN + 1];
	enum object_type type;
	struct oid commit;
	int ret = odb_peel(r->reader, oid, &commit, &type, r->err);

	if (ret < 0)
		return missing_is_unknown(r, oid, ret);
	oid_to_hex(hex, oid, r->odb->algo);
	*oid = commit;
	if (type == OBJ_COMMIT)
		return 0;
	error_set(&why, ERR_INVALID, "object %s is a %s, not a commit", hex,
		  object_type_name(type));
	return wrong_type(r, &why);
}

static int add_shallow(void *ctx, const struct oid *oid)
{
	struct resolver *r = ctx;

	return oidmap_put(&r->shallow, oid, 0);
}

/*
 * Reads the shallow boundary and the grafts. Returns 0 or a negative error
 * code.
 */
static int load_boundary(struct resolver *r)
{
	const struct repo *repo = r->odb->repo;
	int ret;

	if (r->has_boundary)
		return 0;
	ret = grafts_read(&r->grafts, repo, r->err);
	if (!ret)
		ret = repo_shallow_each(repo, add_shallow, r, r->err);
	if (ret == ERR_NOMEM)
		error_nomem(r->err);
	r->has_boundary = !ret;
	return ret;
}

/*
 * Follows tags to a commit, and reads it. Replaces *oid by the commit's id.
 * Returns 0 with *obj owned by the caller, or a negative error code.
 */
static int read_committish(const struct resolver *r, struct oid *oid,
			   struct odb_object *obj)
{
	int ret = odb_read(r->reader, oid, obj, r->err);

	if (!ret && obj->type != OBJ_COMMIT) {
		odb_object_release(r->reader, obj);
		ret = peel_to_commit(r, oid);
		if (ret < 0)
			return ret;
		ret = odb_read(r->reader, oid, obj, r->err);
	}
	return ret < 0 ? missing_is_unknown(r, oid, ret) : 0;
}

/*
 * Sets *parent to the n-th parent (n >= 1) of the commit `oid`, which was read
 * into *obj. Returns 0 or a negative error code.
 */
static int find_parent(struct resolver *r, struct oid *parent,
		       const struct oid *oid, const struct odb_object *obj,
		       size_t n)
{
	struct commit_view view;
	uint32_t unused;
	int ret = load_boundary(r);

	if (ret < 0)
		return ret;
	if (oidmap_get(&r->shallow, oid, &unused))
		return unknown(r);
	ret = grafts_parent(parent, r->grafts.data, r->grafts.len, r->odb->algo,
			    oid, n);
	if (ret != ERR_MISSING)
		return ret ? 0 : unknown(r);
	ret = commit_parse(&view, obj->data, obj->len, r->odb->algo, r->err);
	if (ret < 0)
		return ret;
	if (n > view.parent_nr)
		return unknown(r);
	commit_parent(parent, &view, n - 1, r->odb->algo);
	return 0;
}

/*
 * Replaces a commit-ish by its n-th parent, or by the commit itself if n == 0.
 * Returns 0 or a negative error code.
 */
static int nth_parent(struct resolver *r, struct oid *oid, size_t n)
{
	struct odb_object obj;
	struct oid parent;
	int ret;

	if (!n)
		return peel_to_commit(r, oid);
	ret = read_committish(r, oid, &obj);
	if (ret < 0)
		return ret;
	ret = find_parent(r, &parent, oid, &obj, n);
	odb_object_release(r->reader, &obj);
	if (!ret)
		*oid = parent;
	return ret;
}

/*
 * Replaces a commit by its n-th ancestor along first parents, if the
 * commit-graph has these commits. Otherwise, replaces the commit by the last
 * of these commits that the graph has. Returns the number of steps that are
 * left.
 */
static size_t skip_in_graph(const struct resolver *r, struct oid *oid, size_t n)
{
	const uint8_t *raw = NULL;
	uint32_t graph_pos, parent;

	if (!r->graph || !commit_graph_find(r->graph, oid->bytes, &graph_pos))
		return n;
	while (n && commit_graph_parents(r->graph, graph_pos, &parent, 1,
					 NULL) > 0) {
		graph_pos = parent;
		raw = commit_graph_oid_raw(r->graph, graph_pos);
		n--;
	}
	if (raw)
		oid_from_raw(oid, raw, r->odb->algo);
	return n;
}

static int nth_ancestor(struct resolver *r, struct oid *oid, size_t n)
{
	int ret = nth_parent(r, oid, 0);

	for (int i = 0; !ret && n && i < STEPS_WITHOUT_GRAPH; i++, n--)
		ret = nth_parent(r, oid, 1);
	if (n && !r->has_graph) {
		/* A damaged graph is not used. */
		if (commit_graph_open(&r->graph, r->odb, NULL) == ERR_NOMEM)
			return error_nomem(r->err);
		r->has_graph = true;
	}
	while (!ret && (n = skip_in_graph(r, oid, n)) > 0) {
		ret = nth_parent(r, oid, 1);
		n--;
	}
	return ret;
}

static bool is_word(const char *s, size_t len, const char *word)
{
	return len == strlen(word) && !memcmp(s, word, len);
}

/*
 * Finds the suffix ^{<type>} or ^{/<text>} in the first `len` bytes of a name,
 * from its last "^{" on. Sets *type_len to the length of the <type>, or of the
 * "/<text>". Returns the offset of "{", or 0 if the name has no such suffix.
 *
 * The name must end with "}". If the <type> ends at an earlier "}", the rest of
 * the name is ignored, as in stock Git: "main^{tree}:a}" means "main^{tree}".
 */
static size_t find_peel(const char *name, size_t len, size_t *type_len)
{
	size_t open = len && name[len - 1] == '}' ? len - 1 : 0;
	const char *what;

	while (open > 1 && (name[open] != '{' || name[open - 1] != '^'))
		open--;
	if (open < 2)
		return 0;
	what = name + open + 1;
	*type_len = (size_t)((const char *)memchr(what, '}', len - open - 1) -
			     what);
	if (!*type_len || what[0] == '/' || is_word(what, *type_len, "object"))
		return open;
	return object_type_by_name(what, *type_len) == OBJ_NONE ? 0 : open;
}

/*
 * Reports that the object to which the tag `oid` leads is missing. The tag is
 * named by the first `len` bytes of the name. Reports nothing if the tag itself
 * is missing. Returns 0 or ERR_NOMEM.
 */
static int note_lost_target(const struct resolver *r, const struct oid *oid,
			    size_t len)
{
	if (!r->notes || odb_info(r->reader, oid, NULL, NULL, NULL) < 0)
		return 0;
	return buf_printf(r->notes,
			  "error: missing object referenced by '%.*s'\n",
			  (int)len, r->name) < 0
		       ? error_nomem(r->err)
		       : 0;
}

/*
 * Replaces *oid, the object before a suffix ^{<type>}, by the object that the
 * suffix means. Returns 0 or a negative error code.
 */
static int apply_peel(const struct resolver *r, struct oid *oid,
		      const struct suffix *s)
{
	const char *type = r->name + s->rev_len + 2;
	enum object_type wanted = object_type_by_name(type, s->type_len);
	int ret = 0;

	if (!is_word(type, s->type_len, "object"))
		ret = peel_to(r, oid, wanted, s->len);
	if (ret == ERR_MISSING && !s->type_len &&
	    note_lost_target(r, oid, s->rev_len) < 0)
		return ERR_NOMEM;
	/*
	 * To peel to a commit, tag or blob, peel_to() had to read the object.
	 * So the object exists, and no further check is needed.
	 */
	if (ret < 0 || (wanted != OBJ_NONE && wanted != OBJ_TREE))
		return ret;
	ret = odb_info(r->reader, oid, NULL, NULL, r->err);
	return missing_is_unknown(r, oid, ret);
}

/*
 * Returns whether the first `len` bytes of a name contain @{upstream} or
 * @{push}; with `checkouts`, also @{-<n>}. These forms stand for a branch. So
 * in "@{upstream}@{1}", the selector @{1} means an entry in the reflog of this
 * branch.
 */
static bool names_branch(const char *name, size_t len, bool checkouts)
{
	for (size_t i = 0; i + 1 < len; i++) {
		const char *text = name + i + 2;
		const char *end = memchr(text, '}', len - i - 2);

		if (name[i] == '@' && name[i + 1] == '{' && end &&
		    (checkouts || *text != '-') &&
		    revname_selector_is_branch(text, (size_t)(end - text)))
			return true;
	}
	return false;
}

/*
 * Resolves <ref>@{<n>} or <ref>@{<date>}. `open` is the offset of "{". Returns
 * 0 or a negative error code.
 */
static int resolve_selector(const struct resolver *r, struct oid *out,
			    const char *name, size_t len, size_t open)
{
	struct revname_selector s;
	int ret = revname_selector_parse(&s, name + open + 1, len - open - 2,
					 sys_clock_seconds());

	/*
	 * "@{-<n>}" names an earlier checkout, but "<ref>@{-<n>}" is invalid.
	 */
	if (ret == ERR_UNSUPPORTED && open > 1 && name[open + 1] == '-')
		return unknown(r);
	if (ret == ERR_UNSUPPORTED)
		return unsupported(r, "upstream branches and checkouts");
	s.quiet = r->quiet;
	if (ret > 0 && open == 1) {
		int noted = note_refs(r, "HEAD", name, 0);

		ret = noted < 0 ? noted : ret;
	}
	if (ret > 0)
		ret = revname_selector_find(out, &s, name, open - 1, r->refs,
					    r->odb->repo, r->notes, r->err);
	else if (ret == ERR_NOMEM)
		error_nomem(r->err);
	if (!ret && names_branch(name, open - 1, true))
		return unsupported(r, "upstream branches and checkouts");
	if (!ret)
		return unknown(r);
	return ret < 0 ? ret : 0;
}

/*
 * Parses the number in [p, p + len). An empty text means 1. Returns false if
 * the number is too large.
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

/*
 * Parses the suffix at the end of the first `len` bytes of the name. Returns 1
 * with *s set, 0 if there is no suffix, ERR_UNSUPPORTED for a search for a
 * commit message, or ERR_MISSING if the number in the suffix is too large.
 */
static int parse_suffix(const struct resolver *r, struct suffix *s, size_t len)
{
	const char *name = r->name;
	size_t at = len;

	*s = (struct suffix){.len = len};
	if (len && name[len - 1] == '}') {
		at = find_peel(name, len, &s->type_len);
		if (!at)
			return 0;
		if (s->type_len && name[at + 1] == '/')
			return unsupported(r, "searches for a commit message");
		s->kind = '{';
		s->rev_len = at - 1;
		return 1;
	}
	while (at && isdigit((unsigned char)name[at - 1]))
		at--;
	if (at < 2 || (name[at - 1] != '^' && name[at - 1] != '~'))
		return 0;
	s->kind = name[at - 1];
	s->rev_len = at - 1;
	return parse_number(name + at, len - at, &s->n) ? 1 : unknown(r);
}

/* Returns the kind of object that the name before a suffix should mean. */
static enum revname_hint suffix_hint(const struct resolver *r,
				     const struct suffix *s)
{
	const char *type = r->name + s->rev_len + 2;

	if (s->kind != '{')
		return REVNAME_COMMITTISH;
	switch (object_type_by_name(type, s->type_len)) {
	case OBJ_COMMIT:
		return REVNAME_COMMITTISH;
	case OBJ_TREE:
		return REVNAME_TREEISH;
	default:
		return REVNAME_ANY;
	}
}

/*
 * Parses the suffixes at the end of the first *len bytes of the name into
 * r->suffixes. Sets *len to the number of bytes before the suffixes, and *hint
 * to the kind of object that these bytes should mean. Returns 0 or a negative
 * error code. If a suffix is wrong, r->suffixes has the suffixes that follow
 * the wrong one in the name.
 */
static int parse_suffixes(struct resolver *r, size_t *len,
			  enum revname_hint *hint)
{
	struct suffix s;
	int ret;

	r->suffix_nr = 0;
	while ((ret = parse_suffix(r, &s, *len)) > 0) {
		if (r->suffix_nr == SUFFIX_MAX)
			return unknown(r);
		if (mem_grow(&r->suffixes, &r->suffix_alloc, r->suffix_nr + 1,
			     sizeof(*r->suffixes)) < 0)
			return error_nomem(r->err);
		r->suffixes[r->suffix_nr++] = s;
		*len = s.rev_len;
		*hint = suffix_hint(r, &s);
		r->quiet = r->quiet && s.kind == '{';
	}
	return ret;
}

/*
 * Resolves a name that ends with a suffix like ^{tag} and that could not be
 * resolved.
 *
 * If the object before ^{tag} does not exist or cannot be peeled to a tag,
 * stock Git takes all text after the last "@{", without the final brace, for a
 * date. In "main@{yesterday}^{tag}", this text is "yesterday}^{tag". The parser
 * of dates ignores "}^{tag". So if main@{yesterday} is a commit, the whole name
 * means this commit. A text that begins with "-" is no date.
 *
 * Returns whether *out was set. Returns false after DATE_TRIES_MAX calls.
 */
static bool resolve_as_date(struct resolver *r, struct oid *out,
			    const struct suffix *s)
{
	struct error why = ERROR_INIT, *err = r->err;
	size_t at = s->rev_len;
	int ret;

	if (r->date_tries++ >= DATE_TRIES_MAX)
		return false;
	while (at && (r->name[at] != '{' || r->name[at - 1] != '@'))
		at--;
	if (!at || r->name[at + 1] == '-')
		return false;
	r->err = &why;
	ret = resolve_selector(r, out, r->name, s->len, at);
	r->err = err;
	return !ret;
}

/* Resolves a name without suffixes. Returns 0 or a negative error code. */
static int resolve_base(const struct resolver *r, struct oid *out, size_t len,
			enum revname_hint hint)
{
	const char *open;

	if (!len)
		return unknown(r);
	open = r->name[len - 1] == '}' ? memrchr(r->name, '{', len) : NULL;
	if (open && open > r->name && open[-1] == '@')
		return resolve_selector(r, out, r->name, len,
					(size_t)(open - r->name));
	return resolve_basic(r, out, r->name, len, hint);
}

static int apply_suffix(struct resolver *r, struct oid *oid,
			const struct suffix *s)
{
	switch (s->kind) {
	case '{':
		return apply_peel(r, oid, s);
	case '^':
		return nth_parent(r, oid, s->n);
	default:
		return nth_ancestor(r, oid, s->n);
	}
}

/*
 * Resolves the first `len` bytes of the name. Parses the suffixes from the last
 * to the first, resolves the name before them, and applies the suffixes from
 * the first to the last. Returns 0 or a negative error code.
 */
static int resolve_rev(struct resolver *r, struct oid *out, size_t len,
		       enum revname_hint hint)
{
	int ret = parse_suffixes(r, &len, &hint);

	if (!ret)
		ret = resolve_base(r, out, len, hint);
	for (size_t i = r->suffix_nr; i-- > 0;) {
		const struct suffix *s = &r->suffixes[i];

		if (!ret)
			ret = apply_suffix(r, out, s);
		if ((ret == ERR_MISSING || ret == ERR_INVALID) &&
		    s->kind == '{' && resolve_as_date(r, out, s))
			ret = 0;
	}
	return ret;
}

/*
 * Replaces *oid, the id of a tree, by the id of the tree's entry `name`.
 * Returns 1 if there is such an entry, 0 if not or if the tree is missing, or a
 * negative error code.
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

static int no_path(const struct resolver *r, const char *path, size_t rev_len)
{
	return error_set(r->err, ERR_INVALID,
			 "path '%s' does not exist in '%.*s'", path,
			 (int)rev_len, r->name);
}

/*
 * Prepares the lookup of the path after `colon`: replaces *oid, the object that
 * is named before the colon, by the tree to which it leads. Tags and a commit
 * are followed to their tree. Returns 0 or a negative error code.
 */
static int peel_to_tree(const struct resolver *r, struct oid *oid,
			const char *colon)
{
	size_t rev_len = (size_t)(colon - r->name);
	enum object_type type;
	int ret = odb_peel(r->reader, oid, oid, &type, r->err);

	/*
	 * If the object is missing, the error says that there is no such path,
	 * as in stock Git.
	 */
	if (is_missing(r, oid, ret))
		return no_path(r, colon + 1, rev_len);
	if (ret < 0)
		return ret;
	if (type != OBJ_COMMIT && type != OBJ_TREE)
		return no_path(r, colon + 1, rev_len);
	return peel_to(r, oid, OBJ_TREE, rev_len);
}

/*
 * Replaces a tree by the object at `path` below the tree. Returns 0 or a
 * negative error code.
 */
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
			return no_path(r, path, rev_len);
		p += len;
		p += *p == '/';
	}
	return 0;
}

/*
 * Returns the colon between a revision and a path, or NULL if there is none.
 * Colons inside the braces of "@{...}" and "^{...}" do not count.
 */
static const char *find_colon(const char *name)
{
	unsigned braces = 0;
	char before = '\0';

	for (; *name; name++) {
		if (*name == '{' && (before == '@' || before == '^'))
			braces++;
		else if (*name == '}' && braces)
			braces--;
		else if (*name == ':' && !braces)
			return name;
		before = *name;
	}
	return NULL;
}

/*
 * Returns the colon between a revision and a path, or NULL if there is none. As
 * in stock Git, the colon in "main^{tree}:a}" does not start a path. The name
 * ends with "}", so all text from "^{" on is one suffix. Only the text up to
 * the first "}" of the suffix counts, and ":a}" is ignored (find_peel()). So
 * this name means the tree of main. The same is true if further suffixes
 * follow, as in "main^{commit}:a}~1".
 */
static const char *path_colon(const char *name)
{
	const char *colon = find_colon(name);
	size_t len = strlen(name), type_len, at;

	while (colon && name + len > colon) {
		at = find_peel(name, len, &type_len);
		if (at && name + at < colon)
			return name[at + 1] == '/' ? colon : NULL;
		for (; !at && len && isdigit((unsigned char)name[len - 1]);)
			len--;
		if (!at && len && strchr("^~", name[len - 1]))
			at = len;
		if (!at)
			return colon;
		len = at - 1;
	}
	return colon;
}

size_t revname_rev_len(const char *name)
{
	const char *colon = find_colon(name);

	return colon ? (size_t)(colon - name) : 0;
}

const char *revname_path(const char *name)
{
	const char *colon = path_colon(name);

	return colon && colon != name ? colon + 1 : NULL;
}

bool revname_may_be_unsupported(const char *arg)
{
	return arg[*arg == '^'] == ':' || strstr(arg, "..:") ||
	       strstr(arg, "@{") || strstr(arg, "^{/") || strstr(arg, ":./") ||
	       strstr(arg, ":../");
}

/*
 * Resolves <rev>:<path>, an object in the tree of a revision. `colon` points
 * to the colon in the name. Returns 0 with *oid set, or a negative error code.
 */
static int resolve_in_tree(struct resolver *r, struct oid *oid,
			   const char *colon)
{
	size_t rev_len = (size_t)(colon - r->name);
	int ret;

	if (!rev_len)
		return unsupported(r, colon[1] == '/'
					      ? "searches for a commit message"
					      : "paths in the index");
	if (!strncmp(colon + 1, "./", 2) || !strncmp(colon + 1, "../", 3))
		return unsupported(r, "relative paths");
	ret = resolve_rev(r, oid, rev_len, REVNAME_TREEISH);
	if (!ret)
		ret = peel_to_tree(r, oid, colon);
	return ret ? ret : resolve_path(r, oid, colon + 1, rev_len);
}

int revname_resolve_as(struct oid *out, const char *name,
		       const struct revname_options *options, struct refs *refs,
		       struct odb_reader *reader, const struct odb *odb,
		       struct error *err)
{
	struct resolver r = {
		.name = name,
		.refs = refs,
		.reader = reader,
		.odb = odb,
		.quiet = options->quiet,
		.notes = options->notes,
		.shallow = OIDMAP_INIT,
		.grafts = BUF_INIT,
		.err = err,
	};
	const char *colon = path_colon(name);
	struct oid oid;
	int ret = ERR_MISSING;

	if (!colon)
		ret = resolve_rev(&r, &oid, strlen(name), options->hint);
	if (!colon && (ret == ERR_MISSING || ret == ERR_INVALID))
		colon = find_colon(name);
	if (colon)
		ret = resolve_in_tree(&r, &oid, colon);
	/*
	 * Stock Git takes all text before @{upstream} for the name of a branch,
	 * and fails if there is no such branch.
	 */
	if ((ret == ERR_MISSING || ret == ERR_INVALID) &&
	    names_branch(name, strlen(name), false))
		ret = unsupported(&r, "upstream branches and checkouts");
	if (!ret)
		*out = oid;
	free(r.suffixes);
	oidmap_release(&r.shallow);
	buf_release(&r.grafts);
	commit_graph_close(r.graph);
	return ret;
}

int revname_resolve(struct oid *out, const char *name, struct refs *refs,
		    struct odb_reader *reader, const struct odb *odb,
		    struct error *err)
{
	const struct revname_options none = {REVNAME_ANY, true, NULL};

	return revname_resolve_as(out, name, &none, refs, reader, odb, err);
}
