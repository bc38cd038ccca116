/* SPDX-License-Identifier: MIT */
/*
 * Removes temporary files when a signal ends the process.
 *
 * The signals SIGALRM, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGXCPU and
 * SIGXFSZ may come at any moment. A lock file that is left behind would block
 * all other processes. So temporary files and directories are registered here
 * while they exist (sys/tempfile.h and sys/tempdir.h do that). The handler
 * removes all registered files and directories, the newest first, since a lock
 * is older than the files that are written under it. Then the handler lets the
 * signal end the process with its default action.
 *
 *	sys_cleanup_begin(&section)     from here on no handler starts ...
 *	open(), rename() or unlink()
 *	sys_cleanup_add() or _drop()    ... until the registry agrees with
 *	sys_cleanup_end(&section)       the disk
 *
 * So the handler never removes a file that was renamed to its final name, or a
 * file of the same name that another process made later. Once a handler has
 * started, other threads wait at sys_cleanup_begin() until the process ends.
 *
 * All functions below do nothing before sys_cleanup_arm(). Only a program that
 * owns its process calls sys_cleanup_arm(); a library leaves signals to its
 * host. A signal that is ignored stays ignored.
 *
 * A signal handler gets no argument. So the registry is a variable with static
 * lifetime, the only mutable one of the project (tools/allow/globals). The
 * handler calls only functions that signal-safety(7) allows.
 *
 * A process must have no registered entries when it calls sys_fork().
 * Otherwise, a signal to the child would remove files of the parent.
 */
#ifndef SYS_CLEANUP_H
#define SYS_CLEANUP_H

#include <signal.h>
#include <stdbool.h>

#include "base/error.h"

enum sys_cleanup_kind {
	SYS_CLEANUP_FILE, /* unlinked by the handler */
	/*
	 * a directory, which the signal handler removes with its content, up to
	 * a limited depth
	 */
	SYS_CLEANUP_DIR,
};

/*
 * An entry of the registry: a file or directory that the signal handler
 * removes.
 */
struct sys_cleanup;

/*
 * Open descriptors of a directory. With them, the directory can be removed even
 * if the process has no free descriptor.
 */
struct sys_dir_handle {
	/*
	 * open descriptor of the directory; -1: the directory is opened when it
	 * is removed
	 */
	int fd;
	/*
	 * A spare descriptor, or -1. If a subdirectory must be opened and the
	 * process has no free descriptor, the spare one is closed first.
	 */
	int spare;
};

#define SYS_DIR_HANDLE_INIT                                                    \
	{                                                                      \
		-1, -1                                                         \
	}

/*
 * Prepares the removal of the directory `path` by sys_cleanup_remove_dir(), so
 * that the removal works even if the process then has no free descriptor. Opens
 * the directory, and also a spare descriptor. If the removal must open a
 * subdirectory and no descriptor is free, the spare one is closed first.
 * Returns 0, or ERR_IO with both descriptors -1.
 */
int sys_dir_handle_open(struct sys_dir_handle *handle, const char *path,
			struct error *err);
void sys_dir_handle_close(struct sys_dir_handle *handle);

/*
 * Removes the directory `path` and everything below it, to a limited depth. If
 * `handle` is open, a directory with one level of subdirectories can be removed
 * even if the process has no free descriptor. May be called by a signal
 * handler. Returns 0 if the directory is removed or does not exist. Otherwise
 * returns -1 with errno of the first failure; all entries that can be removed
 * are removed.
 */
int sys_cleanup_remove_dir(const char *path, struct sys_dir_handle *handle);

/* Sets *set to the signals for which sys_cleanup_arm() installs the handler. */
void sys_cleanup_signals(sigset_t *set);

/*
 * Installs the signal handler that removes registered files. Must be called
 * before the first thread starts.
 */
void sys_cleanup_arm(void);

/*
 * Makes an entry for the file or directory `path`, and copies the string. The
 * signal handler removes the file only after sys_cleanup_add() has registered
 * the entry. A relative path is resolved in the working directory at the time
 * of the signal. Returns 0 or ERR_NOMEM. If sys_cleanup_arm() was not called,
 * returns 0 with *out NULL.
 */
int sys_cleanup_new(struct sys_cleanup **out, enum sys_cleanup_kind kind,
		    const char *path, struct error *err);

/*
 * Gives the signal handler the open descriptors `handle` of the directory that
 * `entry` stands for. The handler can then remove the directory without opening
 * it. The descriptors must stay open while the entry is registered. `entry` may
 * be NULL.
 */
void sys_cleanup_use_handle(struct sys_cleanup *entry,
			    const struct sys_dir_handle *handle);

/* Frees an entry that is not registered. `entry` may be NULL. */
void sys_cleanup_free(struct sys_cleanup *entry);

/*
 * A period in which this thread blocks the signals of sys_cleanup_signals().
 * The caller keeps this struct on the stack.
 */
struct sys_hold {
	bool is_held;
	/*
	 * the signals that the thread blocked already before sys_hold_signals()
	 */
	sigset_t before;
};

/*
 * sys_hold_signals() blocks the signals of sys_cleanup_signals() until
 * sys_release_signals(), for work that must not be interrupted. Calls nest.
 * Only the main thread needs these calls, since only the main thread receives
 * the signals (sys/thread.h). The period must be short: until its end, a user
 * cannot interrupt the process.
 */
void sys_hold_signals(struct sys_hold *hold);
void sys_release_signals(const struct sys_hold *hold);

/*
 * sys_cleanup_begin() starts a section, and sys_cleanup_end() ends it. In the
 * section, the caller makes, renames or removes files, and changes the registry
 * (the list of files that the signal handler removes) accordingly. Any thread
 * may call both functions. Signals and the sections of other threads wait until
 * the section ends. errno is preserved.
 *
 * Two things are forbidden in a section, because they can cause a deadlock. The
 * thread must not wait for another thread. And it must not allocate memory:
 * another thread may hold the allocator's lock while its signal handler waits
 * for the end of the section.
 */
void sys_cleanup_begin(struct sys_hold *section);
void sys_cleanup_end(const struct sys_hold *section);

/*
 * Registers an entry. Must be called between sys_cleanup_begin() and
 * sys_cleanup_end(). `entry` may be NULL.
 */
void sys_cleanup_add(struct sys_cleanup *entry);

/*
 * Removes an entry from the registry. Must be called between
 * sys_cleanup_begin() and sys_cleanup_end(). `entry` may be NULL.
 */
void sys_cleanup_drop(struct sys_cleanup *entry);

#endif
