/* SPDX-License-Identifier: MIT */
/* Parsing the names of fields of for-each-ref, and their arguments. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/ref-atom.h"

enum arg_kind {
	ARG_NONE,
	/* the field accepts any argument and ignores it, as in stock Git */
	ARG_ANY,
	/*
	 * The field takes no argument. If one is given, the field's value is
	 * empty, as in stock Git.
	 */
	ARG_PERSON,
	ARG_NAME,
	ARG_OID,
	ARG_SIZE,
	ARG_PERSON_NAME,
	ARG_EMAIL,
	ARG_DATE,
	ARG_CONTENTS,
	ARG_UNSUPPORTED,
};

static const struct {
	const char *name;
	enum ref_atom_kind kind;
	enum arg_kind arg;
	enum ref_atom_order order;
} fields[] = {
	{"refname", REF_ATOM_REFNAME, ARG_NAME, REF_ATOM_BY_BYTES},
	{"symref", REF_ATOM_SYMREF, ARG_NAME, REF_ATOM_BY_BYTES},
	{"HEAD", REF_ATOM_HEAD, ARG_NONE, REF_ATOM_BY_BYTES},
	{"objectname", REF_ATOM_OBJECTNAME, ARG_OID, REF_ATOM_BY_BYTES},
	{"objecttype", REF_ATOM_OBJECTTYPE, ARG_NONE, REF_ATOM_BY_BYTES},
	{"objectsize", REF_ATOM_OBJECTSIZE, ARG_SIZE, REF_ATOM_BY_NUMBER},
	{"deltabase", REF_ATOM_DELTABASE, ARG_NONE, REF_ATOM_BY_BYTES},
	{"tree", REF_ATOM_TREE, ARG_OID, REF_ATOM_BY_BYTES},
	{"parent", REF_ATOM_PARENT, ARG_OID, REF_ATOM_BY_BYTES},
	{"numparent", REF_ATOM_NUMPARENT, ARG_ANY, REF_ATOM_BY_NUMBER},
	{"object", REF_ATOM_OBJECT, ARG_ANY, REF_ATOM_BY_BYTES},
	{"type", REF_ATOM_TYPE, ARG_ANY, REF_ATOM_BY_BYTES},
	{"tag", REF_ATOM_TAG, ARG_ANY, REF_ATOM_BY_BYTES},
	{"author", REF_ATOM_AUTHOR, ARG_PERSON, REF_ATOM_BY_BYTES},
	{"authorname", REF_ATOM_AUTHORNAME, ARG_PERSON_NAME, REF_ATOM_BY_BYTES},
	{"authoremail", REF_ATOM_AUTHOREMAIL, ARG_EMAIL, REF_ATOM_BY_BYTES},
	{"authordate", REF_ATOM_AUTHORDATE, ARG_DATE, REF_ATOM_BY_NUMBER},
	{"committer", REF_ATOM_COMMITTER, ARG_PERSON, REF_ATOM_BY_BYTES},
	{"committername", REF_ATOM_COMMITTERNAME, ARG_PERSON_NAME,
	 REF_ATOM_BY_BYTES},
	{"committeremail", REF_ATOM_COMMITTEREMAIL, ARG_EMAIL,
	 REF_ATOM_BY_BYTES},
	{"committerdate", REF_ATOM_COMMITTERDATE, ARG_DATE, REF_ATOM_BY_NUMBER},
	{"tagger", REF_ATOM_TAGGER, ARG_PERSON, REF_ATOM_BY_BYTES},
	{"taggername", REF_ATOM_TAGGERNAME, ARG_PERSON_NAME, REF_ATOM_BY_BYTES},
	{"taggeremail", REF_ATOM_TAGGEREMAIL, ARG_EMAIL, REF_ATOM_BY_BYTES},
	{"taggerdate", REF_ATOM_TAGGERDATE, ARG_DATE, REF_ATOM_BY_NUMBER},
	{"creator", REF_ATOM_CREATOR, ARG_ANY, REF_ATOM_BY_BYTES},
	{"creatordate", REF_ATOM_CREATORDATE, ARG_DATE, REF_ATOM_BY_NUMBER},
	{"subject", REF_ATOM_SUBJECT, ARG_NONE, REF_ATOM_BY_BYTES},
	{"body", REF_ATOM_BODY, ARG_NONE, REF_ATOM_BY_BYTES},
	{"contents", REF_ATOM_CONTENTS, ARG_CONTENTS, REF_ATOM_BY_BYTES},
	{"upstream", 0, ARG_UNSUPPORTED, 0},
	{"push", 0, ARG_UNSUPPORTED, 0},
	{"worktreepath", 0, ARG_UNSUPPORTED, 0},
	{"color", 0, ARG_UNSUPPORTED, 0},
	{"align", 0, ARG_UNSUPPORTED, 0},
	{"end", 0, ARG_UNSUPPORTED, 0},
	{"if", 0, ARG_UNSUPPORTED, 0},
	{"then", 0, ARG_UNSUPPORTED, 0},
	{"else", 0, ARG_UNSUPPORTED, 0},
	{"flag", 0, ARG_UNSUPPORTED, 0},
	{"trailers", 0, ARG_UNSUPPORTED, 0},
	{"raw", 0, ARG_UNSUPPORTED, 0},
	{"rest", 0, ARG_UNSUPPORTED, 0},
	{"signature", 0, ARG_UNSUPPORTED, 0},
	{"describe", 0, ARG_UNSUPPORTED, 0},
	{"ahead-behind", 0, ARG_UNSUPPORTED, 0},
	{"is-base", 0, ARG_UNSUPPORTED, 0},
};

/*
 * The argument of a field that is being parsed, and the text of the field for
 * error messages.
 */
struct arg {
	/*
	 * the argument, which follows the colon; NULL: there is no argument, or
	 * it is empty
	 */
	const char *text;
	size_t len;
	/*
	 * true: a colon follows the name of the field, so there is an argument,
	 * which may be empty
	 */
	bool has_colon;
	const char *field;
	size_t field_len;
	/* 1 if an asterisk precedes the field's name, otherwise 0 */
	size_t star;
	struct error *err;
};

static bool arg_is(const struct arg *arg, const char *word)
{
	return arg->len == strlen(word) && !memcmp(arg->text, word, arg->len);
}

/*
 * Returns the rest of the argument after `word`, or NULL if the argument does
 * not start with `word`.
 */
static const char *arg_after(const struct arg *arg, const char *word)
{
	size_t len = strlen(word);

	if (arg->len < len || memcmp(arg->text, word, len) != 0)
		return NULL;
	return arg->text + len;
}

static int unrecognized(const struct arg *arg)
{
	return error_set(
		arg->err, ERR_INVALID, "unrecognized %%(%.*s) argument: %.*s",
		(int)arg->field_len, arg->field, (int)arg->len, arg->text);
}

/*
 * Set the error that a field does not accept its argument. `from` points to the
 * unknown part of the argument. If the field has an asterisk before its name,
 * as in %(*refname), the message shows the asterisk. Stock Git does this for
 * some fields only, and their parsers call this function. Returns the error
 * code.
 */
static int unrecognized_from(const struct arg *arg, const char *from)
{
	return error_set(
		arg->err, ERR_INVALID, "unrecognized %%(%.*s) argument: %.*s",
		(int)(arg->field_len + arg->star), arg->field - arg->star,
		(int)(arg->text + arg->len - from), from);
}

static int unsupported(const struct arg *arg)
{
	return error_set(arg->err, ERR_UNSUPPORTED,
			 "%%(%.*s%s%.*s) is not supported", (int)arg->field_len,
			 arg->field, arg->text ? ":" : "", (int)arg->len,
			 arg->text ? arg->text : "");
}

/*
 * Parse the text from `digits` to the end of the argument as a decimal number.
 * Returns false if the text is not a number.
 */
static bool parse_number(int64_t *out, const struct arg *arg,
			 const char *digits)
{
	size_t len = (size_t)(arg->text + arg->len - digits);
	char copy[24];
	char *end;

	if (!len || len >= sizeof(copy))
		return false;
	memcpy(copy, digits, len);
	copy[len] = '\0';
	*out = strtol(copy, &end, 10);
	return !*end;
}

static int parse_name(struct ref_atom *atom, const struct arg *arg)
{
	const char *digits;

	if (!arg->text)
		return 0;
	if (arg_is(arg, "short")) {
		atom->name = REF_ATOM_SHORT;
		return 0;
	}
	digits = arg_after(arg, "lstrip=");
	if (!digits)
		digits = arg_after(arg, "strip=");
	atom->name = REF_ATOM_LSTRIP;
	if (!digits) {
		digits = arg_after(arg, "rstrip=");
		atom->name = REF_ATOM_RSTRIP;
	}
	if (!digits)
		return unrecognized_from(arg, arg->text);
	if (parse_number(&atom->number, arg, digits))
		return 0;
	return error_set(
		arg->err, ERR_INVALID, "Integer value expected %.*s:%.*s",
		(int)arg->field_len, arg->field, (int)arg->len, arg->text);
}

static int parse_oid_arg(struct ref_atom *atom, const struct arg *arg)
{
	const char *digits;

	if (!arg->text)
		return 0;
	if (arg_is(arg, "short")) {
		atom->number = -1;
		return 0;
	}
	digits = arg_after(arg, "short=");
	if (!digits)
		return unrecognized_from(arg, arg->text);
	if (parse_number(&atom->number, arg, digits) && atom->number > 0) {
		if (atom->number < 4)
			atom->number = 4;
		return 0;
	}
	return error_set(arg->err, ERR_INVALID,
			 "positive value expected '%.*s' in %%(%.*s)",
			 (int)(arg->text + arg->len - digits), digits,
			 (int)(arg->text + arg->len - arg->field + arg->star),
			 arg->field - arg->star);
}

static int parse_person_name(struct ref_atom *atom, const struct arg *arg)
{
	if (!arg->text)
		return 0;
	atom->mailmap = arg_is(arg, "mailmap");
	return atom->mailmap ? 0 : unrecognized_from(arg, arg->text);
}

/*
 * If the text at *p starts with `word`, move *p past `word` and return true.
 * Otherwise return false.
 */
static bool skip_word(const char **p, const char *end, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(end - *p) < len || memcmp(*p, word, len) != 0)
		return false;
	*p += len;
	return true;
}

/*
 * Parse the options of an email field, separated by commas. If both trim and
 * localpart are given, trim has no effect.
 */
static int parse_email(struct ref_atom *atom, const struct arg *arg)
{
	const char *p = arg->text;
	const char *end = p + arg->len;

	if (!p)
		return 0;
	for (;;) {
		if (skip_word(&p, end, "localpart"))
			atom->email = REF_ATOM_EMAIL_LOCAL;
		else if (skip_word(&p, end, "mailmap"))
			atom->mailmap = true;
		else if (!skip_word(&p, end, "trim"))
			break;
		else if (atom->email == REF_ATOM_EMAIL_FULL)
			atom->email = REF_ATOM_EMAIL_TRIM;
		if (p == end)
			return 0;
		if (!skip_word(&p, end, ","))
			break;
	}
	return unrecognized_from(arg, p);
}

/*
 * Parse the format of a date field. Dates with an explicit format are sorted by
 * their text. An unknown format is an error only when a date is printed.
 */
static int parse_date(struct ref_atom *atom, const struct arg *arg)
{
	const char *name = arg->text ? arg->text : "";
	int ret;

	if (!arg->has_colon)
		return 0;
	atom->order = REF_ATOM_BY_BYTES;
	ret = date_format_by_name(&atom->date, name, arg->len);
	if (ret < 0)
		return unsupported(arg);
	if (!ret) {
		atom->unknown_date = name;
		atom->unknown_date_len = arg->len;
	}
	return 0;
}

static int parse_contents(struct ref_atom *atom, const struct arg *arg)
{
	const char *digits;

	if (!arg->text)
		return 0;
	if (arg_is(arg, "subject")) {
		atom->kind = REF_ATOM_SUBJECT;
	} else if (arg_is(arg, "body")) {
		atom->kind = REF_ATOM_CONTENTS_BODY;
	} else if (arg_is(arg, "signature")) {
		atom->kind = REF_ATOM_SIGNATURE;
	} else if (arg_is(arg, "size")) {
		atom->kind = REF_ATOM_CONTENTS_SIZE;
		atom->order = REF_ATOM_BY_NUMBER;
	} else if (arg_after(arg, "trailers")) {
		return unsupported(arg);
	} else if ((digits = arg_after(arg, "lines=")) != NULL) {
		atom->kind = REF_ATOM_CONTENTS_LINES;
		if (!parse_number(&atom->number, arg, digits) ||
		    atom->number < 0)
			return error_set(arg->err, ERR_INVALID,
					 "positive value expected "
					 "contents:%.*s",
					 (int)arg->len, arg->text);
	} else {
		return unrecognized(arg);
	}
	return 0;
}

static int parse_arg(struct ref_atom *atom, enum arg_kind kind,
		     const struct arg *arg)
{
	switch (kind) {
	case ARG_NAME:
		return parse_name(atom, arg);
	case ARG_OID:
		return parse_oid_arg(atom, arg);
	case ARG_PERSON_NAME:
		return parse_person_name(atom, arg);
	case ARG_EMAIL:
		return parse_email(atom, arg);
	case ARG_DATE:
		return parse_date(atom, arg);
	case ARG_CONTENTS:
		return parse_contents(atom, arg);
	case ARG_ANY:
		return 0;
	case ARG_PERSON:
		if (arg->has_colon)
			atom->kind = REF_ATOM_NOTHING;
		return 0;
	case ARG_SIZE:
		if (!arg->text || !arg_is(arg, "disk"))
			return arg->text ? unrecognized(arg) : 0;
		atom->kind = REF_ATOM_DISK_SIZE;
		return 0;
	case ARG_UNSUPPORTED:
		return unsupported(arg);
	case ARG_NONE:
		break;
	}
	if (!arg->text)
		return 0;
	if (atom->kind == REF_ATOM_SUBJECT)
		return arg_is(arg, "sanitize") ? unsupported(arg)
					       : unrecognized(arg);
	return error_set(arg->err, ERR_INVALID,
			 "%%(%.*s) does not take arguments",
			 (int)arg->field_len, arg->field);
}

int ref_atom_parse(struct ref_atom *atom, const char *text, size_t len,
		   struct error *err)
{
	const char *end = text + len;
	const char *colon;
	struct arg arg = {.err = err};
	size_t i;

	memset(atom, 0, sizeof(*atom));
	if (len && *text == '*') {
		atom->deref = true;
		arg.star = 1;
		text++;
	}
	colon = memchr(text, ':', (size_t)(end - text));
	arg.field = text;
	arg.field_len = (size_t)((colon ? colon : end) - text);
	arg.has_colon = colon != NULL;
	if (text == end)
		return error_set(err, ERR_INVALID, "malformed field name: %.*s",
				 (int)len, end - len);
	if (colon && colon + 1 < end) {
		arg.text = colon + 1;
		arg.len = (size_t)(end - arg.text);
	}
	for (i = 0; i < ARRAY_NR(fields); i++) {
		if (strlen(fields[i].name) != arg.field_len ||
		    memcmp(fields[i].name, text, arg.field_len) != 0)
			continue;
		atom->kind = fields[i].kind;
		atom->order = fields[i].order;
		return parse_arg(atom, fields[i].arg, &arg);
	}
	return error_set(err, ERR_INVALID, "unknown field name: %.*s", (int)len,
			 end - len);
}
