/* SPDX-License-Identifier: MIT */
/* git rev-parse: printing words and revisions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/ref-short.h"
#include "builtin/rev-parse.h"

void rev_parse_show_quoted(const char *text)
{
	putchar('\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '!')
			printf("'\\%c'", *text);
		else
			putchar(*text);
	}
	putchar('\'');
}

/*
 * Print a word like rev_parse_show(). If `negate` is set, print "^" before the
 * word; if the word is quoted, "^" is before the quotes.
 */
static void show_negated(const struct rev_parse *rp, bool negate,
			 const char *text)
{
	if (negate)
		putchar('^');
	if (!rp->quote) {
		puts(text);
		return;
	}
	putchar('\'');
	for (; *text; text++)
		fputs(*text == '\'' ? "'\\''" : (char[]){*text, '\0'}, stdout);
	fputs("' ", stdout);
}

void rev_parse_show(const struct rev_parse *rp, const char *text)
{
	show_negated(rp, false, text);
}

/*
 * Print a ref in the form that --symbolic-full-name or --abbrev-ref asks for.
 * `name` is its full name.
 */
static void show_full_name(struct rev_parse *rp, bool negate, const char *name)
{
	struct buf out = BUF_INIT;

	if (rp->short_form == REV_PARSE_LONG)
		show_negated(rp, negate, name);
	else if (ref_short_append_as(&out, &rp->store, name,
				     rp->short_form == REV_PARSE_STRICT,
				     NULL) >= 0)
		show_negated(rp, negate, out.data);
	buf_release(&out);
}

/*
 * Print the name of the ref to which `name` expands. Prints nothing if there is
 * no such ref.
 */
static void show_ref_name(struct rev_parse *rp, bool negate, const char *name)
{
	struct ref ref;
	char *full;
	int nr;

	nr = ref_short_matches(&ref, &rp->store,
			       strcmp(name, "@") != 0 ? name : "HEAD");
	if (nr > 1)
		builtin_error("refname '%s' is ambiguous", name);
	if (nr != 1)
		return;
	/*
	 * Copy the name: shortening it looks up other refs, and each look-up
	 * invalidates the strings of *ref.
	 */
	full = mem_strdup(ref.target ? ref.target : ref.name);
	if (!full)
		return;
	show_full_name(rp, negate, full);
	free(full);
}

/*
 * Print the name of a broken ref if its value is an id of zeros. Otherwise
 * print a warning.
 */
static void show_broken_name(struct rev_parse *rp, const char *name)
{
	struct ref ref = {.is_zero = false};

	if (!refs_name_is_valid(name))
		return;
	refs_lookup(rp->store.refs, name, &ref, NULL);
	if (ref.is_zero)
		show_full_name(rp, rp->not, name);
	else
		builtin_warn("ignoring broken ref %s", name);
}

void rev_parse_show_broken(struct rev_parse *rp, const char *name, size_t trim)
{
	static const struct oid zero = OID_ZERO_INIT;

	if (!rp->short_form &&
	    (rp->form == REV_PARSE_OID || rp->form == REV_PARSE_SYMBOLIC))
		rev_parse_show_rev(rp, false, &zero, name + trim);
	else if (rp->filter & REV_PARSE_REVS)
		show_broken_name(rp, name);
}

void rev_parse_show_rev(struct rev_parse *rp, bool negate,
			const struct oid *oid, const char *name)
{
	char hex[OID_MAX_HEX_LEN + 1];

	if (!(rp->filter & REV_PARSE_REVS))
		return;
	rp->dflt = NULL;
	negate = negate != rp->not ;
	if (!name || (rp->form == REV_PARSE_OID && !rp->short_form))
		show_negated(rp, negate,
			     store_abbrev(hex, &rp->store, oid, rp->abbrev));
	else if (rp->form == REV_PARSE_SYMBOLIC && !rp->short_form)
		show_negated(rp, negate, name);
	else
		show_ref_name(rp, negate, name);
}
