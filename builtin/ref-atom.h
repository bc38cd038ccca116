/* SPDX-License-Identifier: MIT */
/*
 * The fields of git-for-each-ref(1), such as %(refname) and %(*objecttype):
 * parsing their names, and computing their values for a ref.
 */
#ifndef BUILTIN_REF_ATOM_H
#define BUILTIN_REF_ATOM_H

#include "base/buf.h"
#include "builtin/date-format.h"
#include "builtin/mailmap-use.h"
#include "builtin/store.h"

enum ref_atom_kind {
	REF_ATOM_REFNAME,
	REF_ATOM_SYMREF,
	REF_ATOM_HEAD,
	REF_ATOM_OBJECTNAME,
	REF_ATOM_OBJECTTYPE,
	REF_ATOM_OBJECTSIZE,
	REF_ATOM_DISK_SIZE,
	REF_ATOM_DELTABASE,
	REF_ATOM_NOTHING, /* an empty value */
	/*
	 * To compute the fields from here on, the content of the ref's object
	 * is read.
	 */
	REF_ATOM_TREE,
	REF_ATOM_PARENT,
	REF_ATOM_NUMPARENT,
	REF_ATOM_OBJECT,
	REF_ATOM_TYPE,
	REF_ATOM_TAG,
	/* four fields for each person: whole line, name, email, date */
	REF_ATOM_AUTHOR,
	REF_ATOM_AUTHORNAME,
	REF_ATOM_AUTHOREMAIL,
	REF_ATOM_AUTHORDATE,
	REF_ATOM_COMMITTER,
	REF_ATOM_COMMITTERNAME,
	REF_ATOM_COMMITTEREMAIL,
	REF_ATOM_COMMITTERDATE,
	REF_ATOM_TAGGER,
	REF_ATOM_TAGGERNAME,
	REF_ATOM_TAGGEREMAIL,
	REF_ATOM_TAGGERDATE,
	REF_ATOM_CREATOR,
	REF_ATOM_CREATORDATE,
	REF_ATOM_CONTENTS,
	REF_ATOM_SUBJECT,
	/* the body, including the signature */
	REF_ATOM_BODY,
	/* the body, without the signature */
	REF_ATOM_CONTENTS_BODY,
	REF_ATOM_SIGNATURE,
	REF_ATOM_CONTENTS_SIZE,
	REF_ATOM_CONTENTS_LINES,
};

/* How the name of a ref is shortened. */
enum ref_atom_name {
	REF_ATOM_FULL,
	REF_ATOM_SHORT,
	/*
	 * Remove `number` components from the start of the name. If `number` is
	 * negative, remove components until -`number` are left.
	 */
	REF_ATOM_LSTRIP,
	REF_ATOM_RSTRIP,
};

enum ref_atom_email {
	REF_ATOM_EMAIL_FULL,
	REF_ATOM_EMAIL_TRIM,
	REF_ATOM_EMAIL_LOCAL,
};

/* How values of a field are compared when refs are sorted. */
enum ref_atom_order {
	REF_ATOM_BY_BYTES,
	REF_ATOM_BY_NUMBER,
	REF_ATOM_BY_VERSION,
};

struct ref_atom {
	enum ref_atom_kind kind;
	/*
	 * true: the field has an asterisk, so it describes the object to which
	 * the ref's tag leads
	 */
	bool deref;
	enum ref_atom_name name;
	enum ref_atom_email email;
	/* true: apply the mailmap to the name or the address */
	bool mailmap;
	enum date_format date;
	/*
	 * The name of a date format that does not exist; printing a date with
	 * it is an error. Borrowed from the parsed text. NULL: the format
	 * exists, and is in `date`.
	 */
	const char *unknown_date;
	size_t unknown_date_len;
	enum ref_atom_order order;
	/*
	 * The number in the field's argument. LSTRIP and RSTRIP: number of path
	 * components. LINES: number of lines. Short OBJECTNAME: number of
	 * digits (0: all digits; -1: the default).
	 */
	int64_t number;
};

/*
 * Parse a field of `len` bytes, without the parentheses. `text` must live as
 * long as the atom. Returns 0, ERR_INVALID with the message of stock Git
 * ("unknown field name: ..."), or ERR_UNSUPPORTED if only stock Git has the
 * field.
 */
int ref_atom_parse(struct ref_atom *atom, const char *text, size_t len,
		   struct error *err);

/*
 * An object to which a ref leads. Its id, type and content are read when a
 * field needs them.
 */
struct ref_atom_object {
	bool has_oid, has_info, has_content;
	struct oid oid;
	enum object_type type;
	uint64_t size;
	struct odb_object content;
};

/* A ref for which the values of fields are computed. The caller releases it. */
struct ref_atom_subject {
	const struct store *store;
	/* borrowed: loaded when a field needs the mailmap */
	struct mailmap_use *mailmap;
	const char *refname;
	/* the name of the target if the ref is symbolic, otherwise NULL */
	const char *target;
	/* name of the ref to which HEAD points; NULL: HEAD points to no ref */
	const char *head;
	struct ref_atom_object self;
	/* the object to which the tag leads, if the ref points to a tag */
	struct ref_atom_object tagged;
};

void ref_atom_subject_init(struct ref_atom_subject *subject,
			   const struct store *store,
			   struct mailmap_use *mailmap, const struct ref *ref,
			   const char *head);
void ref_atom_subject_release(struct ref_atom_subject *subject);

/*
 * Append the value of a field. Appends nothing if the object does not have the
 * field. Returns 0 or a negative error code.
 */
int ref_atom_append(struct buf *out, const struct ref_atom *atom,
		    struct ref_atom_subject *subject, struct error *err);

/*
 * Set *number to the value of a REF_ATOM_BY_NUMBER field, or to 0 if it has no
 * value. Returns 0 or a negative error code.
 */
int ref_atom_number(uint64_t *number, const struct ref_atom *atom,
		    struct ref_atom_subject *subject, struct error *err);

#endif
