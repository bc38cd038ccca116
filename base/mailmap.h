/* SPDX-License-Identifier: MIT */
/*
 * Mailmaps replace the names and addresses of persons, see gitmailmap(5). A
 * line has one of these forms:
 *
 *	Proper Name <commit@email>
 *	<proper@email> <commit@email>
 *	Proper Name <proper@email> <commit@email>
 *	Proper Name <proper@email> Commit Name <commit@email>
 *
 * Other lines are ignored, and so are lines that begin with "#". Case does not
 * matter in commit names and addresses. This module parses bytes, and reads no
 * files.
 */
#ifndef BASE_MAILMAP_H
#define BASE_MAILMAP_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes without a final NUL. `p` is NULL if there are none. */
struct mailmap_span {
	const char *p;
	size_t len;
};

/* One line of a mailmap. The spans point into a text of the mailmap. */
struct mailmap_entry {
	/*
	 * the old name and address of a person; old_name.p is NULL if any name
	 * fits
	 */
	struct mailmap_span old_name, old_email;
	/*
	 * the new name and the new address; a span with p == NULL: this part
	 * does not change
	 */
	struct mailmap_span name, email;
	/* the number of the line, because a later line wins */
	size_t nr;
};

/*
 * Lines of one or more mailmaps. mailmap_map() needs a sorted mailmap. Threads
 * may share a sorted mailmap.
 */
struct mailmap {
	struct mailmap_entry *entries; /* owned */
	size_t nr, alloc;
	/* owned, and so is each text */
	char **texts;
	size_t text_nr, text_alloc;
};

#define MAILMAP_INIT                                                           \
	{                                                                      \
		.entries = NULL, .nr = 0, .alloc = 0, .texts = NULL,           \
		.text_nr = 0, .text_alloc = 0                                  \
	}

/*
 * Add the lines of a text, of which the mailmap keeps a copy. A later line wins
 * over an earlier one. Returns 0 or ERR_NOMEM.
 */
int mailmap_add(struct mailmap *m, const char *text, size_t len);

/* Sort the lines. Must be called after the last mailmap_add(). */
void mailmap_sort(struct mailmap *m);

/*
 * Replaces the person's name and address in *name and *email by those of the
 * mailmap. Returns false, with both unchanged, if the mailmap has no new name
 * or address for the person. The new spans point into the mailmap. Cost: a
 * binary search.
 */
bool mailmap_map(const struct mailmap *m, struct mailmap_span *name,
		 struct mailmap_span *email);

void mailmap_release(struct mailmap *m);

#endif
