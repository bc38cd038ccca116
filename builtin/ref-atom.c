/* SPDX-License-Identifier: MIT */
/*
 * Computing the values of fields of for-each-ref.
 *
 * An object is read only as far as its fields require: its id, then its type
 * and size, then its content, each at most once.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "builtin/message.h"
#include "builtin/ref-atom.h"
#include "builtin/ref-short.h"
#include "object/parse.h"
#include "odb/odb-stored.h"

void ref_atom_subject_init(struct ref_atom_subject *subject,
			   const struct store *store,
			   struct mailmap_use *mailmap, const struct ref *ref,
			   const char *head)
{
	memset(subject, 0, sizeof(*subject));
	subject->store = store;
	subject->mailmap = mailmap;
	subject->refname = ref->name;
	subject->target = ref->target;
	subject->head = head;
	subject->self.oid = ref->oid;
	subject->self.has_oid = true;
}

void ref_atom_subject_release(struct ref_atom_subject *subject)
{
	if (subject->self.has_content)
		odb_object_release(subject->store->reader,
				   &subject->self.content);
	if (subject->tagged.has_content)
		odb_object_release(subject->store->reader,
				   &subject->tagged.content);
}

/*
 * Set the error for an object of a ref that could not be read. If `ret` is
 * ERR_MISSING, the message is that of stock Git for a missing object. Returns
 * the error code.
 */
static int report(const struct ref_atom_subject *subject,
		  const struct ref_atom_object *object, int ret,
		  struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];

	if (ret != ERR_MISSING)
		return ret;
	oid_to_hex(hex, &object->oid, subject->store->odb->algo);
	return error_set(err, ERR_MISSING, "missing object %s for %s", hex,
			 subject->refname);
}

static int need_info(struct ref_atom_subject *subject,
		     struct ref_atom_object *object, struct error *err)
{
	int ret;

	if (object->has_info)
		return 0;
	ret = odb_info(subject->store->reader, &object->oid, &object->type,
		       &object->size, err);
	if (ret < 0)
		return report(subject, object, ret, err);
	object->has_info = true;
	return 0;
}

static int need_content(struct ref_atom_subject *subject,
			struct ref_atom_object *object, struct error *err)
{
	int ret;

	if (object->has_content)
		return 0;
	ret = odb_read(subject->store->reader, &object->oid, &object->content,
		       err);
	if (ret < 0)
		return report(subject, object, ret, err);
	object->has_content = object->has_info = true;
	object->type = object->content.type;
	object->size = object->content.len;
	return 0;
}

/*
 * Peel the ref's tag, through tags of tags. Returns 1 with subject->tagged
 * filled in, 0 if the ref does not point to a tag, or a negative error code.
 */
static int peel(struct ref_atom_subject *subject, struct error *err)
{
	struct ref_atom_object *self = &subject->self;
	int ret;

	if (subject->tagged.has_oid)
		return 1;
	ret = need_info(subject, self, err);
	if (ret < 0 || self->type != OBJ_TAG)
		return ret;
	ret = odb_peel(subject->store->reader, &self->oid, &subject->tagged.oid,
		       NULL, err);
	if (ret < 0)
		return ret;
	subject->tagged.has_oid = true;
	return 1;
}

static int append_oid(struct buf *out, const struct ref_atom *atom,
		      const struct store *store, const struct oid *oid)
{
	char hex[OID_MAX_HEX_LEN + 1];
	size_t len = (size_t)atom->number;

	if (atom->number < 0) {
		int dflt = store_default_abbrev(store);

		if (dflt < 0)
			return ERR_INVALID;
		len = (size_t)dflt;
	}
	return buf_append_str(out, store_abbrev(hex, store, oid, len));
}

/* ---- names */

static int append_stripped(struct buf *out, const struct ref_atom *atom,
			   const char *name)
{
	int64_t nr = atom->number;
	size_t len = strlen(name);
	int64_t parts = 1;
	size_t i;

	for (i = 0; i < len; i++)
		parts += name[i] == '/';
	if (nr < 0)
		nr = parts + nr > 0 ? parts + nr : 0;
	if (nr >= parts)
		return 0;
	if (atom->name == REF_ATOM_LSTRIP) {
		for (; nr; nr--)
			name = strchr(name, '/') + 1;
		return buf_append_str(out, name);
	}
	for (; nr; nr--)
		len = (size_t)((const char *)memrchr(name, '/', len) - name);
	return buf_append(out, name, len);
}

static int append_name(struct buf *out, const struct ref_atom *atom,
		       const struct ref_atom_subject *subject, const char *name,
		       struct error *err)
{
	int ret = 0;

	if (name && atom->name == REF_ATOM_SHORT)
		ret = ref_short_append(out, subject->store, name, err);
	else if (name && atom->name == REF_ATOM_FULL)
		ret = buf_append_str(out, name);
	else if (name)
		ret = append_stripped(out, atom, name);
	/*
	 * An asterisk before the field selects the object to which the tag
	 * points. The name of this object is the tag's name with the suffix
	 * ^{}.
	 */
	if (!ret && atom->deref)
		ret = buf_append_str(out, "^{}");
	return ret;
}

/* ---- fields of content */

static int append_parents(struct buf *out, const struct ref_atom *atom,
			  const struct store *store,
			  const struct commit_view *view)
{
	struct oid parent;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < view->parent_nr; i++) {
		commit_parent(&parent, view, i, store->odb->algo);
		if (i)
			ret = buf_append_char(out, ' ');
		if (!ret)
			ret = append_oid(out, atom, store, &parent);
	}
	return ret;
}

static int append_commit(struct buf *out, const struct ref_atom *atom,
			 const struct store *store,
			 const struct odb_object *content, struct error *err)
{
	struct commit_view view;
	int ret = commit_parse(&view, content->data, content->len,
			       store->odb->algo, err);

	if (ret < 0)
		return ret;
	switch (atom->kind) {
	case REF_ATOM_TREE:
		return append_oid(out, atom, store, &view.tree);
	case REF_ATOM_PARENT:
		return append_parents(out, atom, store, &view);
	case REF_ATOM_NUMPARENT:
		return buf_printf(out, "%zu", view.parent_nr);
	default:
		return 0;
	}
}

static int append_tag(struct buf *out, const struct ref_atom *atom,
		      const struct store *store,
		      const struct odb_object *content, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct tag_view view;
	int ret = tag_parse(&view, content->data, content->len,
			    store->odb->algo, err);

	if (ret < 0)
		return ret;
	switch (atom->kind) {
	case REF_ATOM_OBJECT:
		return buf_append_str(
			out, oid_to_hex(hex, &view.target, store->odb->algo));
	case REF_ATOM_TYPE:
		return buf_append_str(out, object_type_name(view.target_type));
	case REF_ATOM_TAG:
		return buf_append(out, view.name, view.name_len);
	default:
		return 0;
	}
}

/*
 * Returns the name of the header line whose person a field prints: "author",
 * "committer" or "tagger". For the creator, the name depends on the type of the
 * object.
 */
static const char *person_header(enum ref_atom_kind kind, enum object_type type)
{
	if (kind >= REF_ATOM_CREATOR)
		return type == OBJ_TAG ? "tagger" : "committer";
	if (kind >= REF_ATOM_TAGGER)
		return "tagger";
	return kind >= REF_ATOM_COMMITTER ? "committer" : "author";
}

static int append_date(struct buf *out, const struct ref_atom *atom,
		       const struct message_span *line, struct error *err)
{
	uint64_t seconds;
	int zone;

	if (!date_format_parse_line(&seconds, &zone, line->p, line->len))
		return 0;
	if (!atom->unknown_date)
		return date_format_append(out, seconds, zone, atom->date);
	if (atom->unknown_date_len >= 6 &&
	    !memcmp(atom->unknown_date, "format", 6))
		return error_set(err, ERR_INVALID,
				 "date format missing colon separator: %.*s",
				 (int)atom->unknown_date_len,
				 atom->unknown_date);
	return error_set(err, ERR_INVALID, "unknown date format %.*s",
			 (int)atom->unknown_date_len, atom->unknown_date);
}

static int append_line(struct buf *out, const struct ref_atom *atom,
		       struct message_span line, struct error *err)
{
	struct message_span part;

	switch (atom->kind) {
	case REF_ATOM_AUTHORNAME:
	case REF_ATOM_COMMITTERNAME:
	case REF_ATOM_TAGGERNAME:
		part = message_person_name(line);
		break;
	case REF_ATOM_AUTHOREMAIL:
	case REF_ATOM_COMMITTEREMAIL:
	case REF_ATOM_TAGGEREMAIL:
		part = message_person_email(
			line, atom->email != REF_ATOM_EMAIL_FULL,
			atom->email == REF_ATOM_EMAIL_LOCAL);
		break;
	case REF_ATOM_AUTHORDATE:
	case REF_ATOM_COMMITTERDATE:
	case REF_ATOM_TAGGERDATE:
	case REF_ATOM_CREATORDATE:
		return append_date(out, atom, &line, err);
	default:
		part = line;
	}
	return buf_append(out, part.p, part.len);
}

static int append_person(struct buf *out, const struct ref_atom *atom,
			 struct ref_atom_subject *subject,
			 const struct ref_atom_object *object,
			 struct error *err)
{
	struct buf mapped = BUF_INIT;
	struct message_span line;
	int ret = 0;

	if (!message_header(&line, object->content.data, object->content.len,
			    person_header(atom->kind, object->type)))
		return 0;
	if (atom->mailmap)
		ret = mailmap_use_load(subject->mailmap, subject->store, err);
	if (!ret && atom->mailmap)
		ret = mailmap_use_append(&mapped, subject->mailmap, line);
	if (ret > 0)
		line = (struct message_span){mapped.data, mapped.len};
	if (ret >= 0)
		ret = append_line(out, atom, line, err);
	buf_release(&mapped);
	return ret;
}

static int append_message(struct buf *out, const struct ref_atom *atom,
			  const struct odb_object *content)
{
	struct message m;

	message_parse(&m, content->data, content->len);
	switch (atom->kind) {
	case REF_ATOM_SUBJECT:
		return message_append_subject(out, &m);
	case REF_ATOM_BODY:
		return buf_append(out, m.body.p, m.body.len + m.signature.len);
	case REF_ATOM_CONTENTS_BODY:
		return buf_append(out, m.body.p, m.body.len);
	case REF_ATOM_SIGNATURE:
		return buf_append(out, m.signature.p, m.signature.len);
	case REF_ATOM_CONTENTS_SIZE:
		return buf_printf(out, "%zu", m.whole.len);
	case REF_ATOM_CONTENTS_LINES:
		return message_append_lines(out, &m, (size_t)atom->number);
	default:
		return buf_append(out, m.whole.p, m.whole.len);
	}
}

static int append_content(struct buf *out, const struct ref_atom *atom,
			  struct ref_atom_subject *subject,
			  struct ref_atom_object *object, struct error *err)
{
	const struct store *store = subject->store;
	int ret = need_content(subject, object, err);

	if (ret < 0 || (object->type != OBJ_COMMIT && object->type != OBJ_TAG))
		return ret;
	if (atom->kind >= REF_ATOM_CONTENTS)
		return append_message(out, atom, &object->content);
	if (atom->kind >= REF_ATOM_AUTHOR)
		return append_person(out, atom, subject, object, err);
	if (object->type == OBJ_COMMIT)
		return append_commit(out, atom, store, &object->content, err);
	return append_tag(out, atom, store, &object->content, err);
}

/* ---- fields of the object itself */

static int append_storage(struct buf *out, const struct ref_atom *atom,
			  struct ref_atom_subject *subject,
			  struct ref_atom_object *object, struct error *err)
{
	struct odb_reader *reader = subject->store->reader;
	char hex[OID_MAX_HEX_LEN + 1];
	struct odb_stored info;
	int ret = odb_stored_get(&info, subject->store->odb, &object->oid, err);

	if (ret == ERR_MISSING &&
	    odb_reader_need(reader, &object->oid, err) > 0)
		ret = odb_stored_get(&info,
				     odb_reader_holder(reader, &object->oid),
				     &object->oid, err);
	if (ret < 0)
		return report(subject, object, ret, err);
	if (atom->kind == REF_ATOM_DISK_SIZE)
		return buf_printf(out, "%" PRIu64, info.len);
	return buf_append_str(
		out, oid_to_hex(hex, &info.base, subject->store->odb->algo));
}

static int append_object(struct buf *out, const struct ref_atom *atom,
			 struct ref_atom_subject *subject, struct error *err)
{
	struct ref_atom_object *object = &subject->self;
	int ret = 0;

	if (atom->deref) {
		ret = peel(subject, err);
		if (ret <= 0)
			return ret;
		object = &subject->tagged;
	}
	switch (atom->kind) {
	case REF_ATOM_NOTHING:
		return 0;
	case REF_ATOM_OBJECTNAME:
		return append_oid(out, atom, subject->store, &object->oid);
	case REF_ATOM_DISK_SIZE:
	case REF_ATOM_DELTABASE:
		return append_storage(out, atom, subject, object, err);
	case REF_ATOM_OBJECTTYPE:
	case REF_ATOM_OBJECTSIZE:
		ret = need_info(subject, object, err);
		if (ret < 0)
			return ret;
		if (atom->kind == REF_ATOM_OBJECTSIZE)
			return buf_printf(out, "%" PRIu64, object->size);
		return buf_append_str(out, object_type_name(object->type));
	default:
		return append_content(out, atom, subject, object, err);
	}
}

int ref_atom_append(struct buf *out, const struct ref_atom *atom,
		    struct ref_atom_subject *subject, struct error *err)
{
	int ret;

	switch (atom->kind) {
	case REF_ATOM_REFNAME:
		ret = append_name(out, atom, subject, subject->refname, err);
		break;
	case REF_ATOM_SYMREF:
		ret = append_name(out, atom, subject, subject->target, err);
		break;
	case REF_ATOM_HEAD:
		ret = buf_append_char(out,
				      subject->head && !strcmp(subject->head,
							       subject->refname)
					      ? '*'
					      : ' ');
		break;
	default:
		ret = append_object(out, atom, subject, err);
	}
	return ret == ERR_NOMEM ? error_nomem(err) : ret;
}

/*
 * Returns whether a field is a date. Date fields without a format are sorted by
 * seconds, not by text.
 */
static bool is_date(enum ref_atom_kind kind)
{
	return kind == REF_ATOM_AUTHORDATE || kind == REF_ATOM_COMMITTERDATE ||
	       kind == REF_ATOM_TAGGERDATE || kind == REF_ATOM_CREATORDATE;
}

int ref_atom_number(uint64_t *number, const struct ref_atom *atom,
		    struct ref_atom_subject *subject, struct error *err)
{
	struct ref_atom plain = *atom;
	struct buf text = BUF_INIT;
	int ret;

	if (is_date(atom->kind))
		plain.date = DATE_FORMAT_UNIX;
	ret = ref_atom_append(&text, &plain, subject, err);
	*number = strtoumax(text.data, NULL, 10);
	buf_release(&text);
	return ret;
}
