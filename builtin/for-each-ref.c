/* SPDX-License-Identifier: MIT */
/*
 * git for-each-ref: prints refs that match patterns, sorted and formatted.
 *
 * The names of objects in options are resolved while the options are parsed,
 * as in stock Git. So the first wrong argument decides which error is printed.
 *
 * In the default order, refs are printed as they are visited. For other orders,
 * refs are collected and sorted first. Only refs below the fixed prefixes of
 * the patterns are visited.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strlist.h"
#include "builtin/for-each-ref.h"
#include "builtin/input.h"
#include "builtin/options.h"

#define USAGE(name)                                                            \
	name " [<options>] [<pattern>]\n" name                                 \
	     " [--points-at <object>]\n" name                                  \
	     " [--merged [<commit>]] [--no-merged [<commit>]]\n" name          \
	     " [--contains [<commit>]] [--no-contains [<commit>]]"

static const char usage[] = USAGE("git for-each-ref");
static const char list_usage[] = USAGE("git refs list");

static const char default_format[] = "%(objectname) %(objecttype)\t%(refname)";

struct for_each_ref {
	struct builtin_env *env;
	struct store store;
	bool is_open;
	struct ref_format format;
	/* the values of --sort as given, borrowed from argv */
	struct ref_filter_list sort_keys;
	struct ref_sort sort;
	enum ref_format_quote quote;
	const char *format_text;
	/* maximum number of refs to print; 0: no limit */
	int64_t count;
	/*
	 * print only refs whose names sort after this name; NULL: print all
	 * refs
	 */
	const char *start_after;
	/*
	 * true: print no line for a ref whose format expands to an empty string
	 */
	bool omit_empty;
	/* true: also print root refs such as HEAD */
	bool include_roots;
	struct ref_filter filter;
	struct mailmap_use mailmap;
	bool from_stdin;
	/*
	 * The lines of standard input, NULL-terminated. The array and the
	 * strings are owned.
	 */
	struct ref_filter_list lines;
	/*
	 * owned: name of the ref to which HEAD points; NULL: HEAD points to no
	 * ref
	 */
	char *head;
	int64_t printed;
	/* the text to print: one line, or all lines if refs are sorted */
	struct buf out;
	/* owned: the refs to be sorted */
	struct ref_sort_item *items;
	size_t item_nr, item_alloc;
	/*
	 * true: the fields of at least one ref could not be read; `err` has the
	 * reason
	 */
	bool is_unreadable;
	struct error err;
};

/* ---- visiting refs */

static int append_line(struct for_each_ref *f, struct ref_atom_subject *subject)
{
	size_t before = f->out.len;
	int ret = ref_format_append(&f->out, &f->format, f->quote, subject,
				    &f->err);

	if (!ret && (f->out.len > before || !f->omit_empty) &&
	    buf_append_char(&f->out, '\n') < 0)
		ret = error_nomem(&f->err);
	f->printed++;
	return ret;
}

static int print(struct for_each_ref *f, struct ref_atom_subject *subject)
{
	int ret;

	buf_reset(&f->out);
	ret = append_line(f, subject);
	if (!ret)
		fwrite(f->out.data, 1, f->out.len, stdout);
	return ret;
}

/*
 * Add a ref to f->items, to be sorted later. A ref whose fields cannot be read
 * is added, too, and the following refs are still read. choose_error() needs
 * all refs: stock Git reads the fields of a ref when its sort first compares
 * this ref. So the order of the comparisons in the sort decides which
 * unreadable ref stock Git reports.
 */
static int keep(struct for_each_ref *f, const struct ref *ref,
		struct ref_atom_subject *subject)
{
	struct error err = ERROR_INIT;
	int ret;

	if (mem_grow(&f->items, &f->item_alloc, f->item_nr + 1,
		     sizeof(*f->items)) < 0)
		return error_nomem(&f->err);
	ret = ref_sort_item_init(&f->items[f->item_nr++], &f->sort, ref,
				 subject, &err);
	if (ret == ERR_NOMEM)
		return error_nomem(&f->err);
	if (ret < 0 && !f->is_unreadable) {
		f->is_unreadable = true;
		f->err = err;
	}
	return 0;
}

static bool is_enough(const struct for_each_ref *f)
{
	return f->count && f->printed >= f->count;
}

static int visit(void *ctx, const struct ref *ref)
{
	struct for_each_ref *f = ctx;
	struct ref_atom_subject subject;
	int ret;

	if (f->start_after && strcmp(ref->name, f->start_after) <= 0)
		return 0;
	if (!ref_filter_takes_name(&f->filter, ref->name))
		return 0;
	ref_atom_subject_init(&subject, &f->store, &f->mailmap, ref, f->head);
	ret = ref_filter_takes(&f->filter, &subject, &f->err);
	if (ret > 0) {
		ret = ref_sort_is_by_name(&f->sort) ? print(f, &subject)
						    : keep(f, ref, &subject);
		if (!ret && is_enough(f))
			ret = 1;
	}
	ref_atom_subject_release(&subject);
	return ret;
}

/*
 * Print a warning or error about a broken ref. As in stock Git, dangling
 * symbolic refs are ignored silently.
 */
static int warn_of_flaw(void *ctx, const char *name, enum refs_flaw flaw)
{
	if (flaw == REFS_FLAW_NAME)
		builtin_warn("ignoring ref with broken name %s", name);
	else if (flaw == REFS_FLAW_VALUE)
		builtin_warn("ignoring broken ref %s", name);
	else if (flaw == REFS_FLAW_MISSING)
		builtin_error("%s does not point to a valid object!", name);
	return 0;
}

/* Reads the fields of a stored ref, and appends the ref's line to f->out. */
static int append_item(struct for_each_ref *f, const struct ref_sort_item *item)
{
	struct ref ref = {
		.name = item->name, .oid = item->oid, .target = item->target};
	struct ref_atom_subject subject;
	int ret;

	ref_atom_subject_init(&subject, &f->store, &f->mailmap, &ref, f->head);
	ret = append_line(f, &subject);
	ref_atom_subject_release(&subject);
	return ret;
}

/*
 * Reads the fields of the ref `item` that are used by sort keys or the format.
 * Called only after the fields of some ref could not be read.
 * read_as_compared() then calls this function for one ref after another, in the
 * order of stock Git, to find the first ref that fails. Returns 0 or a negative
 * error code.
 */
static int read_item(struct for_each_ref *f, const struct ref_sort_item *item)
{
	struct ref ref = {
		.name = item->name, .oid = item->oid, .target = item->target};
	struct ref_atom_subject subject;
	struct ref_sort_item again;
	int ret;

	ref_atom_subject_init(&subject, &f->store, &f->mailmap, &ref, f->head);
	ret = ref_sort_item_init(&again, &f->sort, &ref, &subject, &f->err);
	ref_sort_item_release(&again, &f->sort);
	ref_atom_subject_release(&subject);
	buf_reset(&f->out);
	return ret < 0 ? ret : append_item(f, item);
}

/*
 * Reads the fields of refs, in the order in which stock Git's merge sort meets
 * the refs. So the first error is the one that stock Git reports. `nr`: number
 * of items. Returns 0, or the code of the first error. The depth of the
 * recursion is the logarithm of `nr`.
 */
static int read_as_compared(struct for_each_ref *f,
			    const struct ref_sort_item *items, size_t nr)
{
	size_t half = nr / 2;
	int ret = 0;

	if (nr < 2)
		return 0;
	ret = read_as_compared(f, items, half);
	if (ret >= 0)
		ret = read_as_compared(f, items + half, nr - half);
	if (ret >= 0 && half == 1)
		ret = read_item(f, items);
	if (ret >= 0 && nr - half == 1)
		ret = read_item(f, items + half);
	return ret;
}

/*
 * Set f->err to the error that stock Git reports if the fields of several refs
 * cannot be read. If there is only one ref, f->err is not changed. Returns a
 * negative error code.
 */
static int choose_error(struct for_each_ref *f)
{
	struct ref_sort by_name = REF_SORT_INIT;

	ref_sort_items(f->items, f->item_nr, &by_name);
	read_as_compared(f, f->items, f->item_nr);
	return f->err.code;
}

static int print_sorted(struct for_each_ref *f)
{
	int ret = 0;

	if (f->is_unreadable)
		return choose_error(f);
	ref_sort_items(f->items, f->item_nr, &f->sort);
	for (size_t i = 0; !ret && i < f->item_nr && !is_enough(f); i++)
		ret = append_item(f, &f->items[i]);
	if (ret < 0)
		return choose_error(f);
	if (f->item_nr)
		fwrite(f->out.data, 1, f->out.len, stdout);
	return ret;
}

/*
 * Visit the refs that the patterns can match, in order. These are the refs
 * below the fixed prefixes of the patterns. A prefix that starts with another
 * prefix is skipped.
 */
static int visit_prefixes(struct for_each_ref *f, struct strlist *prefixes)
{
	struct error warning = ERROR_INIT;
	const char *last = NULL;
	size_t i;
	int ret = 0;

	if (f->include_roots)
		ret = refs_each_root(f->store.refs, visit, f, &warning,
				     &f->err);
	strlist_sort(prefixes);
	for (i = 0; !ret && i < prefixes->nr; i++) {
		if (last && !strncmp(prefixes->items[i], last, strlen(last)))
			continue;
		last = prefixes->items[i];
		ret = refs_each_from(f->store.refs, last, f->start_after, visit,
				     warn_of_flaw, f, &f->err);
	}
	if (warning.code)
		builtin_warn("%s", warning.msg);
	return ret;
}

static int visit_all(struct for_each_ref *f)
{
	struct strlist prefixes = STRLIST_INIT;
	const char *everything[] = {"", NULL};
	const char **p = f->filter.patterns;
	int ret = 0;

	if (!*p || f->filter.ignore_case)
		p = everything;
	for (; !ret && *p; p++)
		if (strlist_add_len(&prefixes, *p, strcspn(*p, "*?[\\")) < 0)
			ret = error_nomem(&f->err);
	if (!ret)
		ret = visit_prefixes(f, &prefixes);
	strlist_release(&prefixes);
	return ret;
}

/* ---- options */

static int add_sort(void *value, const char *arg)
{
	struct ref_filter_list *keys = value;

	if (arg == option_negated) {
		keys->nr = 0;
		return 0;
	}
	return ref_filter_add(keys, arg) ? builtin_error("out of memory") : 0;
}

static int add_to_list(void *value, const char *arg)
{
	return ref_filter_add(value, arg) ? builtin_error("out of memory") : 0;
}

static int open_store(struct for_each_ref *f)
{
	int ret = f->is_open ? 0 : store_open_replaced(&f->store, f->env);

	if (!ret && !f->is_open)
		ret = store_fetch_missing(&f->store, f->env);
	if (!ret && !f->is_open)
		ref_filter_open(&f->filter, &f->store);
	f->is_open = !ret;
	return ret;
}

/*
 * Convert the exit code of a function to the result of an option's callback:
 * 128 becomes OPTION_DIED, 129 becomes -1, and other values do not change.
 */
static int callback_result(int ret)
{
	return ret == 128 ? OPTION_DIED : ret == 129 ? -1 : ret;
}

static int add_points_at(void *value, const char *arg)
{
	struct for_each_ref *f = value;
	int ret = 0;

	if (arg == option_negated)
		ref_filter_point_at_all(&f->filter);
	else
		ret = open_store(f);
	if (!ret && arg != option_negated)
		ret = ref_filter_point_at(&f->filter, arg);
	return callback_result(ret);
}

static int add_relation(struct for_each_ref *f,
			enum ref_filter_relation relation, const char *name)
{
	int ret = open_store(f);

	if (!ret)
		ret = ref_filter_relate(&f->filter, relation, name);
	return callback_result(ret);
}

static int add_merged(void *value, const char *arg)
{
	return add_relation(value, REF_FILTER_MERGED, arg);
}

static int add_no_merged(void *value, const char *arg)
{
	return add_relation(value, REF_FILTER_NO_MERGED, arg);
}

static int add_contains(void *value, const char *arg)
{
	return add_relation(value, REF_FILTER_CONTAINS, arg);
}

static int add_no_contains(void *value, const char *arg)
{
	return add_relation(value, REF_FILTER_NO_CONTAINS, arg);
}

static int add_line(struct ref_filter_list *lines, const char *line)
{
	char *copy = line ? mem_strdup(line) : NULL;

	if ((line && !copy) || ref_filter_add(lines, copy) < 0) {
		free(copy);
		return builtin_die("out of memory");
	}
	return 0;
}

/*
 * Read patterns from standard input, one on each line. Returns 0, or prints an
 * error and returns 128.
 */
static int read_patterns(struct for_each_ref *f)
{
	struct stdin_lines in = STDIN_LINES_INIT;
	struct error err = ERROR_INIT;
	int ret, code = 0;

	in.strip_cr = true;
	if (*f->filter.patterns)
		return builtin_die("unknown arguments supplied with --stdin");
	while (!code && (ret = stdin_lines_next(&in, &err)) > 0)
		code = add_line(&f->lines, in.line);
	if (!code)
		code = ret < 0 ? builtin_fail(&err) : add_line(&f->lines, NULL);
	stdin_lines_release(&in);
	f->filter.patterns = f->lines.items;
	return code;
}

/*
 * Print the error in f->err about a field that does not exist or that only
 * stock Git has.
 */
static int bad_field(const struct for_each_ref *f)
{
	return f->err.code == ERR_UNSUPPORTED ? builtin_not_ours(&f->err)
					      : builtin_fail(&f->err);
}

static int find_head(struct for_each_ref *f)
{
	struct ref ref;

	refs_lookup(f->store.refs, "HEAD", &ref, NULL);
	if (!ref.target)
		return 0;
	f->head = mem_strdup(ref.target);
	return f->head ? 0 : builtin_die("out of memory");
}

static bool is_of_parents(const struct ref_atom *atom)
{
	return atom->kind == REF_ATOM_PARENT ||
	       atom->kind == REF_ATOM_NUMPARENT;
}

/*
 * Returns whether the format or a sort key has a field that needs the parents
 * of a commit.
 */
static bool needs_parents(const struct for_each_ref *f)
{
	for (size_t i = 0; i < f->format.nr; i++)
		if (!f->format.pieces[i].text &&
		    is_of_parents(&f->format.pieces[i].atom))
			return true;
	for (size_t i = 0; i < f->sort.nr; i++)
		if (is_of_parents(&f->sort.keys[i].atom))
			return true;
	return false;
}

/*
 * Parse the format and the sort keys, then read standard input. Stock Git
 * reports errors in this order. Standard input must come last: if stock Git
 * runs in place of this command, it needs the whole input.
 */
static int parse_fields(struct for_each_ref *f)
{
	const char *format = f->format_text ? f->format_text : default_format;
	int ret;

	if (ref_format_parse(&f->format, format, &f->err) < 0)
		return bad_field(f);
	if (f->start_after && f->sort_keys.nr)
		return builtin_die(
			"cannot use --start-after with custom sort options");
	for (size_t i = 0; i < f->sort_keys.nr; i++)
		if (ref_sort_add(&f->sort, f->sort_keys.items[i], &f->err) < 0)
			return bad_field(f);
	ret = needs_parents(f) ? ref_filter_refuse_grafts(&f->store) : 0;
	if (!ret && f->from_stdin)
		ret = read_patterns(f);
	if (!ret && f->start_after && *f->filter.patterns)
		ret = builtin_die("cannot use --start-after with patterns");
	return ret;
}

static int run(struct for_each_ref *f, const char **patterns)
{
	int ret = open_store(f);

	f->filter.patterns = patterns;
	if (!ret)
		ret = parse_fields(f);
	if (!ret)
		ret = find_head(f);
	if (!ret)
		ret = ref_filter_walk(&f->filter);
	if (ret)
		return ret;
	f->sort.ignore_case = f->filter.ignore_case;
	ret = ref_sort_configure(&f->sort, &f->store.repo->config, &f->err);
	if (ret >= 0)
		ret = visit_all(f);
	if (ret >= 0)
		ret = print_sorted(f);
	return ret < 0 ? builtin_fail(&f->err) : 0;
}

/*
 * Check the arguments, and set how values are quoted. Returns 0, or prints an
 * error and the usage and returns -1.
 */
static int check_arguments(struct for_each_ref *f, const bool quotes[4])
{
	const char *p = f->format_text ? f->format_text : "";
	int quote_nr = 0;

	for (int i = 0; i < 4; i++) {
		if (!quotes[i])
			continue;
		f->quote = (enum ref_format_quote)(REF_FORMAT_SHELL + i);
		quote_nr++;
	}
	if (f->count < 0)
		return builtin_error("invalid --count argument: `%lld'",
				     (long long)f->count);
	if (quote_nr > 1)
		return builtin_error("more than one quoting style?");
	while ((p = strchr(p, '%')) != NULL) {
		if (p[1] == '(' && !strchr(p, ')'))
			return builtin_error("malformed format string %s", p);
		p += p[1] == '%' ? 2 : 1;
	}
	return 0;
}

static void release(struct for_each_ref *f)
{
	while (f->item_nr)
		ref_sort_item_release(&f->items[--f->item_nr], &f->sort);
	free(f->items);
	while (f->lines.nr)
		free((char *)(uintptr_t)f->lines.items[--f->lines.nr]);
	free(f->lines.items);
	ref_filter_release(&f->filter);
	mailmap_use_release(&f->mailmap);
	free(f->head);
	free(f->sort_keys.items);
	ref_sort_release(&f->sort);
	ref_format_release(&f->format);
	buf_release(&f->out);
	store_close(&f->store);
}

/*
 * Returns whether an option may be --color, which only stock Git has. If so,
 * stock Git must run before this command parses the options. Otherwise both
 * commands would print the warnings about ambiguous names in options such as
 * --contains.
 */
static bool wants_color(int argc, const char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strncmp(argv[i], "--", 2) &&
		    !strncmp(argv[i] + 2, "col", 3))
			return true;
	return false;
}

#define COMMITS(name, add, text)                                               \
	{                                                                      \
		.kind = OPTION_CALLBACK, .long_name = name, .value = &f,       \
		.fn = add, .arg_name = "<commit>",                             \
		.flags = OPTION_LAST_ARG | OPTION_NO_NEGATE, .help = text      \
	}

int cmd_for_each_ref(int argc, const char **argv, struct builtin_env *env)
{
	struct for_each_ref f = {
		.env = env,
		.format = REF_FORMAT_INIT,
		.sort = REF_SORT_INIT,
		.format_text = default_format,
		.out = BUF_INIT,
	};
	bool quotes[4] = {false, false, false, false};
	const struct option options[] = {
		OPTION_ROW_FLAG('s', "shell", &quotes[0],
				"quote each field for sh"),
		OPTION_ROW_FLAG('p', "perl", &quotes[1],
				"quote each field for Perl"),
		OPTION_ROW_FLAG(0, "python", &quotes[2],
				"quote each field for Python"),
		OPTION_ROW_FLAG(0, "tcl", &quotes[3],
				"quote each field for Tcl"),
		{.kind = OPTION_INT,
		 .long_name = "count",
		 .integer = &f.count,
		 .help = "stop after <n> refs"},
		OPTION_ROW_STRING(0, "format", &f.format_text, "<format>",
				  "what to print for each ref"),
		OPTION_ROW_STRING(0, "start-after", &f.start_after, "<marker>",
				  "begin after this name"),
		{.kind = OPTION_NOT_OURS, .long_name = "color"},
		OPTION_ROW_CALLBACK(0, "sort", add_sort, &f.sort_keys, "<key>",
				    "sort by this field; with \"-\" before it, "
				    "downwards"),
		OPTION_ROW_CALLBACK(0, "points-at", add_points_at, &f,
				    "<object>",
				    "list only refs whose value is this "
				    "object, or a tag of it"),
		OPTION_ROW_FLAG(0, "ignore-case", &f.filter.ignore_case,
				"match and sort without regard to case"),
		OPTION_ROW_FLAG(0, "stdin", &f.from_stdin,
				"take the patterns from standard input, one a "
				"line"),
		OPTION_ROW_FLAG(0, "omit-empty", &f.omit_empty,
				"print no line for a ref whose formatted text "
				"is empty"),
		OPTION_ROW_CALLBACK(0, "exclude", add_to_list,
				    &f.filter.exclude, "<pattern>",
				    "leave out refs that match the pattern"),
		OPTION_ROW_FLAG(0, "include-root-refs", &f.include_roots,
				"list HEAD and pseudorefs, too"),
		COMMITS("merged", add_merged,
			"list only refs whose commit is reachable from this "
			"one"),
		COMMITS("no-merged", add_no_merged,
			"list only refs whose commit is not reachable from "
			"this one"),
		COMMITS("contains", add_contains,
			"list only refs from which this commit is reachable"),
		COMMITS("no-contains", add_no_contains,
			"list only refs from which this commit is not "
			"reachable"),
		{.kind = OPTION_END},
	};
	const char *text = strcmp(argv[0], "list") != 0 ? usage : list_usage;
	int ret;

	if (wants_color(argc, argv) && builtin_has_stock())
		return builtin_finish(BUILTIN_NOT_OURS);
	ret = options_parse(argc, argv, options, text);
	if (ret < 0)
		ret = options_failed(ret);
	else if (check_arguments(&f, quotes))
		ret = options_usage(options, text);
	else
		ret = run(&f, argv + 1);
	release(&f);
	return builtin_finish(ret);
}
