/* SPDX-License-Identifier: MIT */
/* git show-ref: lists refs, or checks that certain refs exist. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builtin/input.h"
#include "builtin/options.h"
#include "builtin/refs-parts.h"
#include "builtin/store.h"

static const char usage[] =
	"git show-ref [-q | --quiet] [--verify] [--head] [-d | --dereference] "
	"[-s | --hash[=<n>]] [--abbrev[=<n>]] [--tags] [--branches] [--] "
	"[<pattern>...]\n"
	"git show-ref --exclude-existing[=<pattern>]\n"
	"git show-ref --exists <ref>";

/*
 * How many digits of ids are printed: all, the default number, or the number in
 * an option.
 */
enum digits { DIGITS_ALL, DIGITS_DEFAULT, DIGITS_GIVEN };

struct show_ref {
	struct store store;
	bool head, heads, tags, deref, verify, quiet;
	bool hash_only, exists;
	bool exclude_existing;
	/*
	 * --exclude-existing: skip lines whose ref does not start with this
	 * text. NULL: skip none.
	 */
	const char *exclude;
	enum digits digits;
	/* minimum number of digits of printed ids; STORE_FULL: all digits */
	size_t len;
	/* patterns of names: an array of `nr` elements, and NULL after them */
	const char **patterns;
	bool found;
	/* exit code of the command if an error occurred, otherwise 0 */
	int code;
};

static int take_digits(struct show_ref *s, const char *arg, const char *option)
{
	s->digits = DIGITS_GIVEN;
	if (store_parse_abbrev(&s->len, arg, HASH_SHA256))
		return 0;
	return builtin_error("option `%s' expects a numerical value", option);
}

static int take_abbrev(void *value, const char *arg)
{
	struct show_ref *s = value;

	if (arg && arg != option_negated)
		return take_digits(s, arg, "abbrev");
	s->digits = arg ? DIGITS_ALL : DIGITS_DEFAULT;
	return 0;
}

static int take_hash(void *value, const char *arg)
{
	struct show_ref *s = value;

	s->hash_only = true;
	/* As in stock Git, --no-hash has the same meaning as --hash. */
	if (arg == option_negated)
		return 0;
	return arg ? take_digits(s, arg, "hash") : 0;
}

/*
 * Print the line of the object that a tag names ("<ref>^{}"). If the tag is
 * damaged or missing, prints nothing. Returns 0 or ERR_NOMEM.
 */
static int print_peeled(struct show_ref *s, const struct ref *ref)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct odb_reader *reader = s->store.reader;
	struct oid peeled = ref->peeled;
	enum object_type type;
	int ret = 0;

	if (ref->has_peeled && !ref->is_tag)
		return 0;
	/*
	 * If the peeled value of the ref is not known, read the tag. The object
	 * that the tag names need not exist.
	 */
	if (!ref->has_peeled) {
		ret = odb_info(reader, &ref->oid, &type, NULL, NULL);
		if (!ret && type != OBJ_TAG)
			return 0;
		if (!ret)
			ret = odb_peel_tag(reader, &ref->oid, &peeled, NULL);
	}
	if (ret < 0)
		return ret == ERR_NOMEM ? ret : 0;
	printf("%s %s^{}\n", store_abbrev(hex, &s->store, &peeled, s->len),
	       ref->name);
	return 0;
}

/*
 * Print an error about a ref whose object is missing. Sets s->code and returns
 * 1.
 */
static int refuse(struct show_ref *s, const char *name, const struct oid *oid)
{
	char hex[OID_MAX_HEX_LEN + 1];

	oid_to_hex(hex, oid, s->store.odb->algo);
	s->code = builtin_die("git show-ref: bad ref %s (%s)", name, hex);
	return 1;
}

/* Print a ref. Returns 0, or nonzero with s->code set. */
static int show(struct show_ref *s, const struct ref *ref)
{
	struct error err = ERROR_INIT;
	char hex[OID_MAX_HEX_LEN + 1];
	int ret = odb_reader_need(s->store.reader, &ref->oid, &err);

	if (ret < 0) {
		s->code = builtin_fail(&err);
		return 1;
	}
	if (!ret)
		return refuse(s, ref->name, &ref->oid);
	s->found = true;
	if (s->quiet)
		return 0;
	store_abbrev(hex, &s->store, &ref->oid, s->len);
	if (s->hash_only)
		printf("%s\n", hex);
	else
		printf("%s %s\n", hex, ref->name);
	if (s->deref && print_peeled(s, ref) < 0) {
		error_nomem(&err);
		s->code = builtin_fail(&err);
		return 1;
	}
	return 0;
}

/*
 * Returns whether the name of a ref matches one of the patterns. A pattern is
 * compared with whole components at the end of the name.
 */
static bool matches(const struct show_ref *s, const char *name)
{
	size_t name_len = strlen(name);
	const char **p;

	if (!*s->patterns)
		return true;
	for (p = s->patterns; *p; p++) {
		size_t len = strlen(*p);

		if (len > name_len || strcmp(name + name_len - len, *p) != 0)
			continue;
		if (len == name_len || name[name_len - len - 1] == '/')
			return true;
	}
	return false;
}

static int show_matching(void *ctx, const struct ref *ref)
{
	struct show_ref *s = ctx;

	return matches(s, ref->name) ? show(s, ref) : 0;
}

/*
 * Callback for a broken ref. If its object is missing, prints an error and goes
 * on with the next ref. Skips a dangling symbolic ref. For any other broken
 * ref, ends the command with an error, in which the id is all zeros.
 */
static int show_broken(void *ctx, const char *name, enum refs_flaw flaw)
{
	static const struct oid zero = OID_ZERO_INIT;
	struct show_ref *s = ctx;

	if (flaw == REFS_FLAW_MISSING)
		builtin_error("%s does not point to a valid object!", name);
	if (flaw == REFS_FLAW_MISSING || flaw == REFS_FLAW_SYMBOLIC ||
	    !matches(s, name))
		return 0;
	return refuse(s, name, &zero);
}

static int show_below(struct show_ref *s, const char *prefix)
{
	struct error err = ERROR_INIT;
	int ret = refs_each_from(s->store.refs, prefix, NULL, show_matching,
				 show_broken, s, &err);

	if (ret < 0)
		s->code = builtin_fail(&err);
	return ret;
}

static void list(struct show_ref *s)
{
	struct error err = ERROR_INIT;
	struct ref ref;
	int ret = 0;

	if (s->head)
		ret = refs_lookup(s->store.refs, "HEAD", &ref, &err);
	if (ret == ERR_NOMEM) {
		s->code = builtin_fail(&err);
		return;
	}
	if (ret > 0 && show(s, &ref))
		return;
	if (!s->heads && !s->tags) {
		show_below(s, "");
		return;
	}
	if (s->heads && show_below(s, "refs/heads/"))
		return;
	if (s->tags)
		show_below(s, "refs/tags/");
}

/*
 * Returns whether a name has the form of a root ref such as HEAD or FETCH_HEAD.
 */
static bool is_root_name(const char *name)
{
	return *name && !name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_")];
}

/* Run show-ref --verify: each argument must be the full name of a ref. */
static void verify(struct show_ref *s)
{
	const char **p;

	if (!*s->patterns)
		s->code = builtin_die("--verify requires a reference");
	for (p = s->patterns; *p && !s->code; p++) {
		struct ref ref;
		bool full = !strncmp(*p, "refs/", 5) || is_root_name(*p);
		int ret = full ? refs_lookup(s->store.refs, *p, &ref, NULL) : 0;

		if (ret > 0)
			show(s, &ref);
		else if (ret == ERR_CORRUPT && ref.is_zero)
			refuse(s, *p, &ref.oid);
		else if (s->quiet)
			s->code = 1;
		else
			s->code = builtin_die("'%s' - not a valid ref", *p);
	}
}

static void check_exists(struct show_ref *s)
{
	const char *name = *s->patterns;

	if (!name || s->patterns[1]) {
		s->code = builtin_die(name ? "--exists requires exactly one "
					     "reference"
					   : "--exists requires a reference");
		return;
	}
	s->code = refs_exists(s->store.refs, s->store.repo, name);
	s->found = !s->code;
}

/*
 * For --exclude-existing: print the line, without a "^{}" at its end, unless
 * the ref named by its last word exists. A name that does not start with
 * "refs/" counts as not existing, even if there is such a ref. Lines whose ref
 * does not start with the given pattern are not printed. An invalid name causes
 * a warning, and its line is not printed.
 */
static void filter_line(struct show_ref *s, char *line)
{
	size_t len = strlen(line);
	const char *name;
	struct ref ref;

	if (len >= 3 && !memcmp(line + len - 3, "^{}", 3))
		len -= 3;
	line[len] = '\0';
	name = line + len;
	while (name > line && !isspace((unsigned char)name[-1]))
		name--;
	if (s->exclude && strncmp(name, s->exclude, strlen(s->exclude)) != 0)
		return;
	if (!refs_name_is_valid(name))
		builtin_warn("ref '%s' ignored", name);
	else if (strncmp(name, "refs/", 5) != 0 ||
		 refs_lookup(s->store.refs, name, &ref, NULL) <= 0)
		puts(line);
}

static void exclude_existing(struct show_ref *s)
{
	struct stdin_lines in = STDIN_LINES_INIT;
	struct error err = ERROR_INIT;
	int ret;

	while ((ret = stdin_lines_next(&in, &err)) > 0)
		filter_line(s, in.line);
	s->found = true;
	if (ret < 0)
		s->code = builtin_fail(&err);
	stdin_lines_release(&in);
}

/*
 * Check that at most one of the modes --exclude-existing, --verify and --exists
 * is given. Returns 0, or prints an error and returns 128.
 */
static int check_modes(const struct show_ref *s)
{
	const char *modes[3];
	size_t nr = 0;

	if (s->exclude_existing)
		modes[nr++] = "--exclude-existing";
	if (s->verify)
		modes[nr++] = "--verify";
	if (s->exists)
		modes[nr++] = "--exists";
	if (nr == 3)
		return builtin_die("options '%s', '%s', and '%s' cannot be "
				   "used together",
				   modes[0], modes[1], modes[2]);
	if (nr == 2)
		return builtin_die("options '%s' and '%s' cannot be used "
				   "together",
				   modes[0], modes[1]);
	return 0;
}

/* Set the number of digits of printed ids, which depends on the repository. */
static int set_len(struct show_ref *s)
{
	int len;

	if (s->digits == DIGITS_ALL)
		s->len = STORE_FULL;
	if (s->digits != DIGITS_DEFAULT)
		return 0;
	len = store_default_abbrev(&s->store);
	if (len < 0)
		return 128;
	s->len = (size_t)len;
	return 0;
}

static int take_exclude(void *value, const char *arg)
{
	struct show_ref *s = value;

	s->exclude_existing = true;
	s->exclude = arg;
	return 0;
}

static void answer(struct show_ref *s)
{
	if (s->exclude_existing)
		exclude_existing(s);
	else if (s->exists)
		check_exists(s);
	else if (s->verify)
		verify(s);
	else
		list(s);
}

int cmd_show_ref(int argc, const char **argv, struct builtin_env *env)
{
	struct show_ref s = {.code = 0};
	const struct option options[] = {
		OPTION_ROW_FLAG(0, "tags", &s.tags, "only show tags"),
		OPTION_ROW_FLAG(0, "branches", &s.heads, "only show branches"),
		OPTION_ROW_FLAG(0, "heads", &s.heads, "same as --branches"),
		OPTION_ROW_FLAG(0, "verify", &s.verify,
				"take full names of refs, not patterns"),
		OPTION_ROW_FLAG(0, "head", &s.head, "also list HEAD"),
		OPTION_ROW_FLAG('h', NULL, &s.head, NULL),
		OPTION_ROW_FLAG('d', "dereference", &s.deref,
				"also print the objects that tags point to"),
		OPTION_ROW_OPTIONAL('s', "hash", take_hash, &s, 0, "<n>",
				    "only show the hash, using <n> digits"),
		OPTION_ROW_OPTIONAL(0, "abbrev", take_abbrev, &s, 0, "<n>",
				    "abbreviate ids to <n> digits or more"),
		OPTION_ROW_FLAG('q', "quiet", &s.quiet,
				"do not print results (useful with --verify)"),
		OPTION_ROW_FLAG(0, "exists", &s.exists,
				"say by the exit code whether the ref exists; "
				"its object need not"),
		OPTION_ROW_OPTIONAL(0, "exclude-existing", take_exclude, &s,
				    OPTION_NO_NEGATE, "<pattern>",
				    "print the lines of standard input whose "
				    "ref does not exist here"),
		{.kind = OPTION_END},
	};
	int ret = options_parse(argc, argv, options, usage);

	if (ret < 0)
		return 129;
	s.patterns = argv + 1;
	ret = check_modes(&s);
	if (ret)
		return ret;
	ret = store_open_replaced(&s.store, env);
	if (ret)
		return ret;
	s.code = store_fetch_missing(&s.store, env);
	if (!s.code)
		s.code = set_len(&s);
	if (!s.code)
		answer(&s);
	store_close(&s.store);
	if (!s.code && !s.found)
		s.code = 1;
	return builtin_finish(s.code);
}
