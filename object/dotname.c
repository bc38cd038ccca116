/* SPDX-License-Identifier: MIT */
/*
 * Finds names that some file systems treat as .git, .gitmodules or another
 * special name.
 */
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "object/fsck-parts.h"

/* number of characters in a short name of NTFS, without its extension */
#define NTFS_SHORT_LEN 8

/* The special files besides .git. */
static const struct special {
	unsigned bit;
	const char *name; /* without the dot */
	/* start of the short names that NTFS makes from a hash of the name */
	const char *short_hash;
} specials[] = {
	{DOTNAME_GITMODULES, "gitmodules", "gi7eba"},
	{DOTNAME_GITATTRIBUTES, "gitattributes", "gi7d29"},
	{DOTNAME_GITIGNORE, "gitignore", "gi250a"},
	{DOTNAME_MAILMAP, "mailmap", "maba30"},
};

/*
 * Returns false if the name certainly stands for no special name. A name that
 * does not start with '.', 'g' or 'm' can be special only in two cases: it has
 * a backslash, or it has a character that HFS+ ignores. All characters that
 * HFS+ ignores start with the byte 0xe2 or 0xef in UTF-8.
 */
static bool is_suspect(const char *name, size_t len)
{
	unsigned char first = (unsigned char)(*name | 0x20);

	/*
	 * `first` was changed to lower case by setting bit 0x20, which '.'
	 * (0x2e) has already.
	 */
	if (first == '.' || first == 'g' || first == 'm')
		return true;
	return memchr(name, '\\', len) || memchr(name, 0xe2, len) ||
	       memchr(name, 0xef, len);
}

/* ---- HFS+ */

/*
 * Returns the length in bytes of the character at p if HFS+ ignores this
 * character in file names, else 0. A NUL ends the text at p.
 */
static size_t ignored_len(const unsigned char *p)
{
	if (p[0] == 0xef)
		return p[1] == 0xbb && p[2] == 0xbf ? 3 : 0;
	if (p[0] != 0xe2)
		return 0;
	if (p[1] == 0x80 &&
	    ((p[2] >= 0x8c && p[2] <= 0x8f) || (p[2] >= 0xaa && p[2] <= 0xae)))
		return 3;
	return p[1] == 0x81 && p[2] >= 0xaa && p[2] <= 0xaf ? 3 : 0;
}

static int hfs_next(const unsigned char **p)
{
	size_t skip;

	while ((skip = ignored_len(*p)) > 0)
		*p += skip;
	return **p ? *(*p)++ : 0;
}

static char lower(int c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool hfs_is(const char *name, const char *wanted)
{
	const unsigned char *p = (const unsigned char *)name;
	int c;

	if (hfs_next(&p) != '.')
		return false;
	for (; *wanted; wanted++) {
		c = hfs_next(&p);
		if (c > 127 || lower(c) != *wanted)
			return false;
	}
	c = hfs_next(&p);
	return !c || c == '/';
}

/* ---- NTFS */

/*
 * Returns whether NTFS drops all characters from p on. This is so if only
 * blanks and dots follow, up to the end of the name or to a character of
 * `ends`.
 */
static bool ntfs_ends(const char *p, const char *ends)
{
	p += strspn(p, " .");
	return !*p || strchr(ends, *p);
}

static bool ntfs_segment_is_git(const char *p)
{
	static const char ends[] = "\\/:";

	if (!strncasecmp(p, ".git", 4) && ntfs_ends(p + 4, ends))
		return true;
	return !strncasecmp(p, "git~1", 5) && ntfs_ends(p + 5, ends);
}

static bool ntfs_short_is(const char *p, const char *hash)
{
	bool tilde = false;
	size_t i;

	for (i = 0; i < NTFS_SHORT_LEN; i++) {
		char c = p[i];

		if (tilde && (c < '0' || c > '9'))
			return false;
		if (tilde)
			continue;
		if (c == '~') {
			tilde = true;
			if (p[i + 1] == '0')
				return false;
		} else if (i >= strlen(hash) || lower(c) != hash[i]) {
			return false;
		}
	}
	return ntfs_ends(p + i, ":");
}

static bool ntfs_is(const char *p, const struct special *s)
{
	size_t len = strlen(s->name);

	if (*p == '.' && !strncasecmp(p + 1, s->name, len) &&
	    ntfs_ends(p + 1 + len, ":"))
		return true;
	if (!strncasecmp(p, s->name, 6) && p[6] == '~' && p[7] >= '1' &&
	    p[7] <= '4')
		return ntfs_ends(p + 8, ":");
	return ntfs_short_is(p, s->short_hash);
}

static unsigned ntfs_find(const char *segment)
{
	unsigned found = ntfs_segment_is_git(segment) ? DOTNAME_GIT : 0;

	for (size_t i = 0; i < ARRAY_NR(specials); i++)
		if (ntfs_is(segment, &specials[i]))
			found |= specials[i].bit;
	return found;
}

unsigned dotname_find(const char *name, size_t len)
{
	const char *segment = name;
	unsigned found = 0;

	if (!len || !is_suspect(name, len))
		return 0;
	if (hfs_is(name, "git"))
		found |= DOTNAME_GIT;
	for (size_t i = 0; i < ARRAY_NR(specials); i++)
		if (hfs_is(name, specials[i].name))
			found |= specials[i].bit;
	while (segment) {
		found |= ntfs_find(segment);
		segment = strchr(segment, '\\');
		if (segment)
			segment++;
	}
	return found;
}
