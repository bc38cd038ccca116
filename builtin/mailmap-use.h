/* SPDX-License-Identifier: MIT */
/*
 * The mailmap of a repository, for commands that print authors, committers and
 * taggers ("persons"). There are three sources: .mailmap at the top of the work
 * tree, the blob that mailmap.blob names, and the file that mailmap.file names.
 * If two of them map a person, the later one in this order wins. The default of
 * mailmap.blob in a bare repository is HEAD:.mailmap.
 */
#ifndef BUILTIN_MAILMAP_USE_H
#define BUILTIN_MAILMAP_USE_H

#include "base/mailmap.h"
#include "builtin/message.h"
#include "builtin/store.h"

/*
 * The mailmap of a repository. mailmap_use_load() fills it before its first
 * use.
 */
struct mailmap_use {
	struct mailmap map; /* owned */
	bool loaded;
};

#define MAILMAP_USE_INIT                                                       \
	{                                                                      \
		.map = MAILMAP_INIT, .loaded = false                           \
	}

/*
 * Load the mailmaps of the repository, unless this was done before. A mailmap
 * that does not exist is skipped, and so is a .mailmap that is a symbolic link.
 * If another mailmap cannot be read, prints an error or a warning, and goes on
 * without it. Returns 0 or ERR_NOMEM.
 */
int mailmap_use_load(struct mailmap_use *use, const struct store *store,
		     struct error *err);

/*
 * Apply the mailmap to the headers of a commit or tag. Returns 1 if the mailmap
 * changes a header; *out is the new content. Returns 0 if no header changes, or
 * if the object is a tree or blob. Returns ERR_NOMEM if memory runs out.
 */
int mailmap_use_rewrite(struct buf *out, const struct mailmap_use *use,
			enum object_type type, const void *data, size_t len,
			struct error *err);

/*
 * Apply the mailmap to the person of a header line, "Name <email> date", and
 * append the result. Returns 1 if the mailmap has changed the person, 0 if not,
 * or ERR_NOMEM.
 */
int mailmap_use_append(struct buf *out, const struct mailmap_use *use,
		       struct message_span line);

void mailmap_use_release(struct mailmap_use *use);

#endif
