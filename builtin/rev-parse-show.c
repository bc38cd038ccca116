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

void rev_parse_show(const struct rev_parse *rp, const char *text)
{
	if (rp->quote) {
		rev_parse_show_quoted(text);
		putchar(' ');
	} else {
		puts(text);
	}
}

static void show_negated(const struct rev_parse *rp, bool negate,
			 const char *text)
{
	struct buf out = BUF_INIT;

	if (buf_printf(&out, "%s%s", negate != rp->not ? "^" : "", text) >= 0)
		rev_parse_show(rp, out.data);
	buf_release(&out);
}

/*
 * Print the name of the ref that `name` expands to; prints nothing if there is
 * none.
 */
static void show_ref_name(struct rev_parse *rp, bool negate, const char *name)
{
	struct buf out = BUF_INIT;
	struct ref ref;
	char *full;
	int nr;

	if (!strcmp(name, "@"))
		name = "HEAD";
	nr = ref_short_matches(&ref, &rp->store, name);
	if (nr > 1)
		builtin_error("refname '%s' is ambiguous", name);
	if (nr != 1)
		return;
	/*
	 * Copy the name: shortening looks up other refs, which invalidates this
	 * one.
	 */
	full = mem_strdup(ref.target ? ref.target : ref.name);
	if (!full)
		return;
	if (rp->form == REV_PARSE_FULL)
		show_negated(rp, negate, full);
	else if (ref_short_append_as(&out, &rp->store, full,
				     rp->form == REV_PARSE_STRICT, NULL) >= 0)
		show_negated(rp, negate, out.data);
	free(full);
	buf_release(&out);
}

void rev_parse_show_rev(struct rev_parse *rp, bool negate,
			const struct oid *oid, const char *name)
{
	char hex[OID_MAX_HEX_LEN + 1];

	if (!(rp->filter & REV_PARSE_REVS))
		return;
	rp->dflt = NULL;
	if (rp->form == REV_PARSE_OID || !name)
		show_negated(rp, negate,
			     store_abbrev(hex, &rp->store, oid, rp->abbrev));
	else if (rp->form == REV_PARSE_SYMBOLIC)
		show_negated(rp, negate, name);
	else
		show_ref_name(rp, negate, name);
}
