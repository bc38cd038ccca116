/* SPDX-License-Identifier: MIT */
/*
 * Parses commits, trees and tags from their bytes.
 *
 * Nothing is copied: the results point into the object's bytes and live as long
 * as they do. Every function accepts arbitrary bytes, and returns ERR_CORRUPT
 * if they are not a valid object.
 */
#ifndef OBJECT_PARSE_H
#define OBJECT_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/cursor.h"
#include "base/error.h"
#include "object/oid.h"
#include "object/type.h"

/*
 * The fields of a commit that reachability needs. A commit begins with these
 * header lines: tree <hex>\n (parent <hex>\n)* author ...\n committer ...
 * <seconds> <tz>\n
 */
struct commit_view {
	struct oid tree;
	/* points to the first "parent " line; NULL if there is none */
	const char *parents;
	/* number of "parent " lines, which have equal lengths */
	size_t parent_nr;
	/* seconds since 1970; 0 if unreadable */
	uint64_t committer_date;
	/* the message, after the first blank line; "" if there is none */
	const char *message;
	size_t message_len;
};

/*
 * Parses a commit. An unreadable committer line is not an error: the date is
 * then 0. Returns 0 or ERR_CORRUPT.
 */
int commit_parse(struct commit_view *view, const void *data, size_t len,
		 enum hash_algo algo, struct error *err);

/* Sets *oid to the i-th parent. i must be less than view->parent_nr. */
void commit_parent(struct oid *oid, const struct commit_view *view, size_t i,
		   enum hash_algo algo);

/* The modes of tree entries. */
enum {
	TREE_MODE_TYPE = 0170000,
	TREE_MODE_DIR = 0040000,
	TREE_MODE_FILE = 0100000,
	TREE_MODE_GITLINK = 0160000,
};

/* One entry of a tree. */
struct tree_entry {
	/* the bytes of the entry, from the first digit of the mode */
	const uint8_t *raw;
	/* number of bytes of mode, space, name, NUL and id */
	size_t raw_len;
	/* NUL-terminated, not empty, no '/' */
	const char *name;
	size_t name_len;
	const uint8_t *oid; /* raw id, hash_len() bytes */
	uint32_t mode;
};

static inline bool tree_entry_is_dir(const struct tree_entry *e)
{
	return (e->mode & TREE_MODE_TYPE) == TREE_MODE_DIR;
}

static inline bool tree_entry_is_gitlink(const struct tree_entry *e)
{
	return (e->mode & TREE_MODE_TYPE) == TREE_MODE_GITLINK;
}

/*
 * Returns the mode as stock Git interprets it. Very old trees contain modes
 * that Git no longer writes, such as 0100664. Each of these means the same as
 * a mode of today.
 */
static inline uint32_t tree_mode_plain(uint32_t mode)
{
	if ((mode & TREE_MODE_TYPE) == TREE_MODE_FILE)
		return mode & 0100 ? 0100755 : 0100644;
	return mode & TREE_MODE_TYPE;
}

/*
 * Takes the next entry of a tree's bytes. Returns 1 if an entry was taken, 0 at
 * the end, or ERR_CORRUPT. An entry is corrupt if its mode is not an octal
 * number, if its name is empty or has a slash, or if its id is incomplete. The
 * function is inline because it is the innermost loop of every walk.
 */
static inline int tree_next(struct tree_entry *entry, struct cursor *c,
			    enum hash_algo algo);

/*
 * Compares names in the order of tree entries, where a directory sorts as if
 * its name ended in '/'. Returns a negative number, 0, or a positive number. 0
 * means that the names are equal, and that both entries are directories or none
 * is.
 */
static inline int tree_name_cmp(const struct tree_entry *a,
				const struct tree_entry *b);

/*
 * A parsed tag. A tag begins with these header lines: object <hex>\ntype
 * <type>\ntag <name>\n...
 */
struct tag_view {
	struct oid target;
	enum object_type target_type;
	const char *name; /* not NUL-terminated */
	size_t name_len;
	uint64_t tagger_date; /* 0 if there is none */
};

int tag_parse(struct tag_view *view, const void *data, size_t len,
	      enum hash_algo algo, struct error *err);

/*
 * Adds `path` to the path hash, version 1, of gitformat-bitmap(5). Paths whose
 * last sixteen characters are similar have similar hashes, which helps the
 * delta search.
 *
 * `h` is the hash of the path before `path`, 0 at first: a path may be added
 * in pieces. For each character c that is not white space, h becomes (h >> 2)
 * + (c << 24). White space is blank, tab, LF and CR; vertical tab and form
 * feed are not.
 */
uint32_t name_hash_add(uint32_t h, const char *path, size_t len);

/* ---- bodies of the inline functions that are declared above */

#define TREE_BYTES(byte) (UINT64_C(0x0101010101010101) * (byte))

/*
 * The texts "100644 " and "40000 " as numbers, as loaded from memory by a
 * little-endian processor.
 */
#define TREE_FILE_TEXT UINT64_C(0x20343436303031)
#define TREE_FILE_MASK UINT64_C(0xffffffffffffff)
#define TREE_DIR_TEXT UINT64_C(0x203030303034)
#define TREE_DIR_MASK UINT64_C(0xffffffffffff)

/*
 * Returns a number in which the top bit of each zero byte of `v` is set. The
 * result is exact up to the lowest zero byte. In the bytes above, the top bit
 * may be set although the byte is not zero.
 */
static inline uint64_t tree_zero_bytes(uint64_t v)
{
	return (v - TREE_BYTES(0x01)) & ~v & TREE_BYTES(0x80);
}

/*
 * Returns the first NUL or slash at or after p, or NULL if there is no such
 * byte before `last`. Precondition: 16 readable bytes follow any position
 * before `last`.
 */
static inline const uint8_t *tree_name_end_words(const uint8_t *p,
						 const uint8_t *last)
{
	while (p < last) {
		uint64_t v, hit;

		memcpy(&v, p, sizeof(v));
		hit = tree_zero_bytes(v) | tree_zero_bytes(v ^ TREE_BYTES('/'));
		if (hit) {
			p += __builtin_ctzll(hit) / 8;
			return p < last ? p : NULL;
		}
		p += sizeof(v);
	}
	return NULL;
}

#ifdef __SSE2__
/*
 * Works like tree_name_end_words(), but examines sixteen bytes at a time. Most
 * names end within the first sixteen bytes.
 */
static inline const uint8_t *tree_name_end(const uint8_t *p,
					   const uint8_t *last)
{
	const __m128i zero = _mm_setzero_si128();
	const __m128i slash = _mm_set1_epi8('/');

	for (; p < last; p += 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)p);
		__m128i hit = _mm_or_si128(_mm_cmpeq_epi8(v, zero),
					   _mm_cmpeq_epi8(v, slash));
		unsigned mask = (unsigned)_mm_movemask_epi8(hit);

		if (mask) {
			p += __builtin_ctz(mask);
			return p < last ? p : NULL;
		}
	}
	return NULL;
}
#else
static inline const uint8_t *tree_name_end(const uint8_t *p,
					   const uint8_t *last)
{
	return tree_name_end_words(p, last);
}
#endif

/*
 * Takes the octal mode of a tree entry and the space after it. `last` is the
 * last position at which the id of the entry can begin: the end of the tree
 * minus the length of an id. The mode, the space, the name and its NUL must be
 * before this position. Returns the start of the name. Returns NULL if the mode
 * is malformed, or if there is no space after it before `last`.
 */
static inline const uint8_t *tree_take_mode(const uint8_t *p,
					    const uint8_t *last, uint32_t *mode)
{
	const uint8_t *start = p;
	uint32_t m = 0;
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	if ((v & TREE_FILE_MASK) == TREE_FILE_TEXT) {
		*mode = 0100644;
		return p + 7;
	}
	if ((v & TREE_DIR_MASK) == TREE_DIR_TEXT) {
		*mode = TREE_MODE_DIR;
		return p + 6;
	}
	for (; p < last && (uint8_t)(*p - '0') < 8; p++) {
		m = m << 3 | (uint32_t)(*p - '0');
		if (m > 0777777)
			return NULL;
	}
	if (p == start || p == last || *p != ' ')
		return NULL;
	*mode = m;
	return p + 1;
}

static inline int tree_next(struct tree_entry *entry, struct cursor *c,
			    enum hash_algo algo)
{
	size_t id_len = hash_len(algo);
	const uint8_t *p = c->p;
	const uint8_t *last, *name;

	if (p == c->end)
		return 0;
	/*
	 * The shortest possible entry has a digit, a space, a letter, a NUL and
	 * an id.
	 */
	if (cursor_left(c) < 4 + id_len)
		return ERR_CORRUPT;
	/* The NUL at the end of the name must be before `last`. */
	last = c->end - id_len;
	name = tree_take_mode(p, last, &entry->mode);
	if (!name)
		return ERR_CORRUPT;
	p = tree_name_end(name, last);
	if (!p || *p || p == name)
		return ERR_CORRUPT;
	entry->raw = c->p;
	entry->name = (const char *)name;
	entry->name_len = (size_t)(p - name);
	entry->oid = p + 1;
	c->p = p + 1 + id_len;
	entry->raw_len = (size_t)(c->p - entry->raw);
	return 1;
}

static inline int tree_name_cmp(const struct tree_entry *a,
				const struct tree_entry *b)
{
	size_t len = a->name_len < b->name_len ? a->name_len : b->name_len;
	int cmp = memcmp(a->name, b->name, len);
	unsigned ca, cb;

	if (cmp)
		return cmp;
	/*
	 * All bytes of the names before `len` are equal. The byte at `len`
	 * decides; in the shorter name it is the final NUL.
	 */
	ca = (uint8_t)a->name[len];
	cb = (uint8_t)b->name[len];
	if (!ca && tree_entry_is_dir(a))
		ca = '/';
	if (!cb && tree_entry_is_dir(b))
		cb = '/';
	return (int)ca - (int)cb;
}

#endif
