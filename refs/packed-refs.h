/* SPDX-License-Identifier: MIT */
/*
 * The packed-refs file as a sorted table in its mapping (git-pack-refs(1)):
 *
 *   # pack-refs with: peeled fully-peeled sorted \n    header, optional
 *   <hex> SP refs/heads/main \n                        a record
 *   <hex> SP refs/tags/v1.0 \n
 *   ^ <hex> \n                                         ... and what the tag
 *                                                      before it peels to
 *
 * Traits of the header: "sorted": records ascend in byte order of the name
 * (else they are sorted on opening, into a copy); "peeled": records under
 * refs/tags/ without a "^" line are no tags; "fully-peeled": so are all.
 *
 * `off` is the offset of a record in the table. Records are checked when they
 * are visited, not on opening, which is O(1) for a sorted file. Immutable;
 * threads may share it.
 */
#ifndef REFS_PACKED_REFS_H
#define REFS_PACKED_REFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "object/oid.h"
#include "object/oidmap.h"
#include "sys/map.h"

struct packed_refs {
	struct sys_map map; /* the file, when opened by path */
	const char *table;  /* first record; points into map or `sorted` */
	size_t len;         /* bytes of all records */
	enum hash_algo algo;
	bool peeled, fully_peeled; /* traits */
	char *sorted; /* owned: records of an unsorted file, in order */
	char *name;   /* owned: file name for messages */
};

#define PACKED_REFS_INIT                                                       \
	{                                                                      \
		SYS_MAP_INIT, NULL, 0, HASH_SHA1, false, false, NULL, NULL     \
	}

/* One record. */
struct packed_ref {
	const char *name; /* points into the table; not NUL-terminated */
	size_t name_len;
	struct oid oid;
	bool has_peeled; /* the file says what it peels to, */
	bool is_tag;     /*   ... and it is a tag: `peeled` is set */
	struct oid peeled;
};

/*
 * Map and parse `path`; a missing file is an empty table. 0, or a negative
 * error with *refs zeroed.
 */
int packed_refs_open(struct packed_refs *refs, const char *path,
		     enum hash_algo algo, struct error *err);

/*
 * Parse the bytes of a file, borrowed until release. `name` is for messages,
 * copied. ERR_CORRUPT for an unterminated last line and, in a file that has
 * to be sorted here, for any malformed line.
 */
int packed_refs_parse(struct packed_refs *refs, const void *bytes, size_t len,
		      enum hash_algo algo, const char *name, struct error *err);
void packed_refs_release(struct packed_refs *refs);

/*
 * Offset of the first record whose name is not less than `key`; refs->len
 * when there is none. Binary search. 0 or ERR_CORRUPT.
 */
int packed_refs_seek(const struct packed_refs *refs, const char *key,
		     size_t key_len, size_t *off, struct error *err);

/*
 * The same for who reads on: the names before *off, the start of a record, are
 * less than `key`, and what is looked for is thought to be `hint` bytes
 * further. The closer, the fewer pages are touched that nobody else reads.
 */
int packed_refs_seek_on(const struct packed_refs *refs, const char *key,
			size_t key_len, size_t hint, size_t *off,
			struct error *err);

/*
 * Take the record at *off and step over it. 1, 0 at the end, or ERR_CORRUPT
 * with the line in the message.
 */
int packed_refs_next(const struct packed_refs *refs, size_t *off,
		     struct packed_ref *ref, struct error *err);

/* Find one name: 1, 0 when it is not there, or ERR_CORRUPT. */
int packed_refs_find(const struct packed_refs *refs, const char *name,
		     struct packed_ref *ref, struct error *err);

/*
 * Whether a record whose name starts with `prefix` (of more than "") may be a
 * tag that peels to one of `ids`: 1, or 0 when surely none is, or ERR_CORRUPT
 * as packed_refs_seek(). A pass over the bytes, at a fraction of what it costs
 * to take each record; they are not checked.
 */
int packed_refs_may_peel(const struct packed_refs *refs, const char *prefix,
			 const struct oidmap *ids, struct error *err);

/* Whether a trait is among the words of a header line, or of its rest. */
bool packed_refs_has_trait(const char *line, size_t len, const char *trait);

/* Order of names: that of their bytes, a prefix first. */
int packed_refs_name_cmp(const char *a, size_t a_len, const char *b,
			 size_t b_len);

#endif
