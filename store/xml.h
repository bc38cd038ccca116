/* SPDX-License-Identifier: MIT */
/*
 * A strict reader of small XML documents, such as the answers of S3. The reader
 * knows elements, text, the five named entities, numeric characters and
 * comments. It skips attributes and the XML declaration. Everything else is an
 * error: document types, other processing instructions, CDATA, unknown
 * entities, and elements that are not closed. So no part of a document can
 * expand to more text or refer to another file.
 *
 * The document is in memory, and its size is limited by the caller.
 */
#ifndef STORE_XML_H
#define STORE_XML_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

/* maximum number of open elements */
#define XML_DEPTH_MAX 16
/* maximum length of the name of an element */
#define XML_NAME_MAX 64

enum xml_event {
	XML_END = 0, /* the document is complete */
	/* an element begins; its name is the last of `names` */
	XML_OPEN = 1,
	/* an element ends; the name of this element is still in `names` */
	XML_CLOSE = 2,
};

struct xml_name {
	const char *p; /* points into the document */
	/* length in bytes, at most XML_NAME_MAX */
	size_t len;
};

/* A reader. Only one thread may use it. */
struct xml {
	/* borrowed: the rest of the document */
	const char *p, *end;
	/* the elements that are open, the outermost first */
	struct xml_name names[XML_DEPTH_MAX];
	size_t depth;
	/*
	 * Owned: the decoded text of the innermost open element. It is emptied
	 * when an element begins, and after an element has ended.
	 */
	struct buf text;
	/*
	 * true: the last element was <name/>, so the next event is its
	 * XML_CLOSE
	 */
	bool is_empty;
	/*
	 * true: the last event was XML_CLOSE, and its element is still in
	 * `names`
	 */
	bool is_closing;
	bool has_root;
};

/* Starts to read a document, which must outlive the reader. */
void xml_init(struct xml *x, const char *bytes, size_t len);
void xml_release(struct xml *x);

/*
 * Goes to the next event. Returns an enum xml_event, ERR_CORRUPT if the
 * document is not well-formed or too deep, or ERR_NOMEM.
 */
int xml_next(struct xml *x, struct error *err);

/*
 * Returns whether the open elements have exactly the names in `path`, such as
 * "ListBucketResult/Contents/Key". Prefixes of namespaces are not removed.
 */
bool xml_is_at(const struct xml *x, const char *path);

#endif
