/* SPDX-License-Identifier: MIT */
/*
 * Functions about this process: its id, its use of resources and memory, its
 * user and host, and the environment of its children.
 */
#ifndef SYS_PROCESS_H
#define SYS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

/* Returns the process id. */
long sys_process_id(void);

/*
 * Returns a copy of the environment for a child process. Each of the `nr`
 * strings "NAME=value" sets or replaces a variable in the copy, and a string
 * "NAME" removes the variable. The array comes from malloc() and ends with
 * NULL. Its strings belong to the environment and the caller. Returns NULL if
 * memory runs out.
 */
char **sys_environ_with(const char *const *set, size_t nr);

struct sys_usage {
	uint64_t user_us, system_us; /* CPU time */
};

/*
 * Sets *usage to the resources that this process has used so far. If
 * `of_thread`, counts only the calling thread, otherwise all threads.
 */
void sys_usage(struct sys_usage *usage, bool of_thread);

/*
 * Returns the peak of this process's memory in KiB, including mapped files, or
 * 0 if it is unknown. Reads a file of /proc.
 */
uint64_t sys_peak_rss_kib(void);

/*
 * Appends the name of the user: the login name, or if `full` is true, the full
 * name, which may be empty. The full name is the text before the first comma in
 * the field pw_gecos of the password file. A '&' in it is replaced by the
 * capitalised login name. Returns 0, ERR_MISSING if the user is unknown, or
 * ERR_NOMEM.
 */
int sys_user_name(struct buf *out, bool full, struct error *err);

/* Appends the name of this host. Returns 0, ERR_IO or ERR_NOMEM. */
int sys_host_name(struct buf *out, struct error *err);

/*
 * Allocates `size` bytes for random access. If `size` is 2 MiB or more, the
 * memory is in large pages if the system supports them. With large pages, the
 * processor needs fewer address translations. The memory is not cleared; free()
 * releases it. Returns NULL if memory runs out.
 */
void *sys_memory_large(size_t size) __attribute__((warn_unused_result));

/*
 * Allocates `size` zeroed bytes that children of sys_fork() share with this
 * process. sys_memory_unshare() releases them in one process. Returns NULL if
 * memory runs out.
 */
void *sys_memory_shared(size_t size) __attribute__((warn_unused_result));

/*
 * Opens an empty file that is only in memory. A child process that inherits the
 * descriptor can leave a text for this process in the file. Returns the
 * descriptor, or ERR_IO.
 */
int sys_memory_open(struct error *err);

/*
 * Maps the first `size` bytes of a file. All processes that map the file share
 * these bytes, and the bytes outlive the processes. A missing file is created,
 * and a shorter file is extended with zeros. The zeros are really written, so
 * that this function fails if the disk is full. If the file had holes, a later
 * access to the memory could kill the process instead. Nothing is synced.
 * sys_memory_unshare() releases the memory. Returns NULL with ERR_IO in *err
 * after an error.
 */
void *sys_memory_file(const char *path, size_t size, struct error *err)
	__attribute__((warn_unused_result));
void sys_memory_unshare(void *bytes, size_t size);

/*
 * Gives freed memory that the C library keeps for later allocations back to the
 * system, if possible. The call is useful between two phases of a long job, if
 * the first phase needed much memory. It takes some milliseconds, and later
 * allocations have page faults. Other threads may allocate meanwhile.
 */
void sys_memory_trim(void);

/*
 * Returns the resident memory of the process in bytes, without pages of files
 * and without shared memory; 0 if it is unknown. Memory that was freed but is
 * kept by the C library is included. Cost: some microseconds.
 */
uint64_t sys_memory_anonymous(void);

/*
 * Raises the maximum number of open descriptors of this process to `wanted`, or
 * to the highest number that the system allows. A maximum above `wanted` is not
 * changed. Returns the maximum; 0 if it is unknown. Programs that are started
 * later inherit the maximum.
 */
size_t sys_descriptors_raise(size_t wanted);

#endif
