/* SPDX-License-Identifier: MIT */
/*
 * Tells whether files have changed since they were read. A cache reads some
 * files, adds their paths to a witness, and later asks whether the witness
 * holds. If the witness holds, none of the files has changed since
 * sys_witness_init().
 *
 *	sys_witness_init()    notes the time
 *	...                   the cache reads files
 *	sys_witness_add()     notes the attributes of each file
 *	sys_witness_holds()   compares the attributes, as often as needed
 *
 * A change sets the file's time of status change (st_ctime), which a program
 * cannot set to another value. If a file is added with an st_ctime later than
 * sys_witness_init(), or only a little earlier, it counts as changed from then
 * on. Such a file may have changed while the cache read it. It may also change
 * again within the same tick of the file system's clock, without a new
 * st_ctime. A directory can be added with SYS_WITNESS_LISTING. If its st_ctime
 * is too recent, the list of its files is compared instead.
 *
 * A witness says nothing about a file system whose attributes another machine
 * changes: see sys_witness_can_trust().
 *
 * Limit: a file that is created, read by the cache and removed before
 * sys_witness_add() is not noticed. For a file that is usually missing, call
 * sys_witness_add() before the file is read.
 */
#ifndef SYS_WITNESS_H
#define SYS_WITNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * How a path is watched: which later changes make sys_witness_holds() return
 * false.
 */
enum sys_witness_kind {
	/*
	 * The witness no longer holds after any change of the file. If the path
	 * is a directory, the witness no longer holds after a name was added to
	 * the directory or removed from it.
	 */
	SYS_WITNESS_CONTENT,
	/*
	 * The witness no longer holds if the path leads to another file or
	 * directory, or if the owner or the mode has changed. A change of the
	 * content does not matter.
	 */
	SYS_WITNESS_IDENTITY,
	/*
	 * For a directory. The witness no longer holds after a name was added
	 * to the directory or removed from it. Call sys_witness_add() before
	 * the directory is read.
	 *
	 * In contrast to SYS_WITNESS_CONTENT, this kind can be used for a
	 * directory that has changed shortly before sys_witness_init(). For
	 * such a directory, the names, inodes and attributes of its files are
	 * noted, and are compared later. So a change of one of these files may
	 * end the witness, too.
	 */
	SYS_WITNESS_LISTING,
};

/* A path that was added, with its attributes at that time. */
struct sys_witness_entry;

struct sys_witness {
	struct sys_witness_entry *entries; /* owned */
	size_t nr, alloc;
	/* time of sys_witness_init(), nanoseconds since 1970 */
	int64_t since_ns;
	/*
	 * true: the attributes of an added file could not be read, so
	 * sys_witness_holds() always returns false
	 */
	bool is_void;
};

void sys_witness_init(struct sys_witness *witness);
void sys_witness_release(struct sys_witness *witness);

/*
 * Notes the attributes of `path`; a missing file is noted as missing. If the
 * path is a symlink, the link and its target are noted. If the attributes
 * cannot be read or memory runs out, sys_witness_holds() will always return
 * false. Does nothing if the path was added before with this kind. Also does
 * nothing for SYS_WITNESS_CONTENT if the path was added as SYS_WITNESS_LISTING.
 */
void sys_witness_add(struct sys_witness *witness, const char *path,
		     enum sys_witness_kind kind);

/*
 * Returns whether no file has changed since sys_witness_init(). Costs one
 * lstat() per file. A directory that was added as SYS_WITNESS_LISTING, and had
 * changed shortly before sys_witness_init(), is also listed, with one lstat()
 * per name. Several threads may call this function at once.
 */
bool sys_witness_holds(const struct sys_witness *witness);

/*
 * Returns whether the file system of `path` is local. A witness finds changes
 * of a file by comparing the file's attributes. A network file system may show
 * cached attributes, so the witness could miss a change that another machine
 * has made. An unknown file system counts as not local.
 */
bool sys_witness_can_trust(const char *path);

#endif
