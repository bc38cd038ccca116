/* SPDX-License-Identifier: MIT */
/*
 * What a signal removes before it ends the process.
 *
 * SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM and, where there are limits,
 * SIGXCPU and SIGXFSZ come at any moment; a lock file that stayed behind would
 * keep everybody else out. Temporary files and
 * directories are registered here while they exist (sys/tempfile.h and
 * sys/tempdir.h see to it). The handler removes what is registered, what came
 * last first, since a lock is older than what is written under it, and then
 * lets the signal end the process as if nothing had been there to catch it.
 *
 *	sys_cleanup_begin(&section)     no handler begins from here on ...
 *	open(), rename() or unlink()
 *	sys_cleanup_add() or _drop()    ... until the registry says what is
 *	sys_cleanup_end(&section)       there
 *
 * So no file is removed that was renamed into place, nor one that someone else
 * made under the same name since. Once a handler has begun, no section does:
 * other threads wait in theirs for the end.
 *
 * Nothing of this happens before sys_cleanup_arm(), which only a program
 * calls that owns its process: a library leaves signals to its host, and all
 * functions below do nothing. A signal that is ignored stays ignored.
 *
 * A handler is given no argument, so that the registry is the one variable of
 * the project that outlives functions (tools/allow/globals). It does only what
 * signal-safety(7) allows. A child that is forked without exec must not use
 * it; nothing here forks (sys/spawn.h).
 */
#ifndef SYS_CLEANUP_H
#define SYS_CLEANUP_H

#include <signal.h>
#include <stdbool.h>

#include "base/error.h"

enum sys_cleanup_kind {
	SYS_CLEANUP_FILE, /* is unlinked */
	SYS_CLEANUP_DIR,  /* is removed with what is in it, to some depth */
};

/* Something to be removed. */
struct sys_cleanup;

/* Which signals these are. */
void sys_cleanup_signals(sigset_t *set);

/* Catch the signals from now on. Before the first thread is started. */
void sys_cleanup_arm(void);

/*
 * An entry that is not registered yet. `path` is copied; a relative one is
 * from where the process is when the signal comes. 0 with *out NULL when
 * nothing would be removed, or ERR_NOMEM.
 */
int sys_cleanup_new(struct sys_cleanup **out, enum sys_cleanup_kind kind,
		    const char *path, struct error *err);

/* Not of one that is registered. NULL is nothing. */
void sys_cleanup_free(struct sys_cleanup *entry);

/* Signals that wait; on the stack of who holds them up. */
struct sys_hold {
	bool is_held;
	sigset_t before; /* what this thread did not hear already */
};

/*
 * Let the signals wait, for what should be finished once it is begun. Nests.
 * For the main thread, which is the one that hears them (sys/thread.h), and
 * for moments: who wants to end the process waits.
 */
void sys_hold_signals(struct sys_hold *hold);
void sys_release_signals(const struct sys_hold *hold);

/*
 * A section, in any thread: signals wait, and so do other sections. Nothing in
 * it may wait for another thread, and nothing may take memory: the handler may
 * have interrupted whoever has the allocator's lock. errno is kept.
 */
void sys_cleanup_begin(struct sys_hold *section);
void sys_cleanup_end(const struct sys_hold *section);

/* Register, in a section. NULL is nothing. */
void sys_cleanup_add(struct sys_cleanup *entry);

/* Forget one that was added, in a section. NULL is nothing. */
void sys_cleanup_drop(struct sys_cleanup *entry);

#endif
