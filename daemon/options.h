/* SPDX-License-Identifier: MIT */
/* The options of a server of repositories, over HTTP/1.1, git:// and ssh. */
#ifndef DAEMON_OPTIONS_H
#define DAEMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "access/htpasswd.h"
#include "access/trusted.h"
#include "admission/admission.h"
#include "base/error.h"
#include "daemon/service.h"
#include "daemon/tls.h"
#include "sys/trace.h"

/* The protocol of the clients of a listening socket. */
enum daemon_protocol {
	DAEMON_HTTP,
	DAEMON_GIT, /* git:// (git-daemon(1)) */
	/* messages of `gitreachd --ssh-client` */
	DAEMON_SSH,
	DAEMON_HTTPS,
	/* HTTP: the status of the server */
	DAEMON_ADMIN,
};

struct stored_copies_options;

/* The limits and services of a server. Pointers are borrowed. */
struct daemon_options {
	/* absolute path; requests name repositories below it */
	const char *base_path;
	/*
	 * the store whose repositories are served, and the cache directory. The
	 * base path is then below the cache directory. NULL: repositories on
	 * the local disk
	 */
	const struct stored_copies_options *store;
	bool export_all;
	/* for git://: do not look for "<path>.git" and "<path>/.git" */
	bool strict_paths;
	/* tell clients of git:// why they are refused */
	bool informative_errors;
	/* rules for services of git:// */
	struct service_rules services;
	/* the HTTP header field in which a proxy names the user; NULL: none */
	const char *user_header;
	/*
	 * the proxies whose fields user_header and X-Forwarded-For are believed
	 */
	const struct trusted_net *proxies;
	size_t proxy_nr;
	/* passwords of users over HTTP; NULL: none */
	struct htpasswd *htpasswd;
	/* a program that decides about requests (access/access.h), or NULL */
	const char *access_helper;
	unsigned access_timeout; /* seconds for one decision */
	/* accept passwords over connections that are not encrypted */
	bool plain_passwords;
	/*
	 * true: a hook makes the packs (uploadpack.packObjectsHook), and
	 * expects the repository as working directory. So fetches run in child
	 * processes, as pushes do.
	 */
	bool is_hooked;
	unsigned worker_nr, thread_nr; /* threads of each worker */
	/* the nice values of a thread: usual, and for expensive work */
	int nice, work_nice;
	/* limits of connections and of work, for all processes */
	struct admission_options admission;
	/*
	 * the limit of connections of one address also applies to loopback
	 * addresses
	 */
	bool limits_loopback;
	/*
	 * maximum seconds in which a client must send the whole head of a
	 * request
	 */
	unsigned head_timeout;
	/*
	 * seconds in which at least 64 KiB must be sent or received; a slower
	 * connection is closed
	 */
	unsigned timeout;
	/* maximum seconds that a connection waits for its next request */
	unsigned idle_timeout;
	/* maximum seconds that requests may still take after SIGTERM */
	unsigned drain_timeout;
	/*
	 * a request that takes at least this many milliseconds is listed as
	 * slow on the status page; waits for the client do not count
	 */
	unsigned slow_ms;
	/*
	 * maximum bytes of the plans (cached responses) that a worker keeps in
	 * memory; 0: it keeps none
	 */
	size_t plan_max;
	/*
	 * directory of plans (cached responses) that all workers share; NULL:
	 * none
	 */
	const char *plan_directory;
	uint64_t plan_directory_max; /* bytes */
	const char *agent;           /* "<name>/<version>" */
	/* the version of the program, without quotes or backslashes */
	const char *version;
	const char *session_id;
	/* NULL: requests are not traced */
	struct trace *trace;
	const char *namespace; /* GIT_NAMESPACE, or NULL */
	/* Writes one line to the log. Called by several threads. */
	void (*log)(void *ctx, const char *line);
	void *log_ctx;
	/* listening sockets, owned by the caller */
	const int *listeners;
	size_t listener_nr;
	/* the certificate for DAEMON_HTTPS; NULL: there is no such listener */
	const struct tls *tls;
	/* borrowed: the protocol of each listener; NULL: all are DAEMON_HTTP */
	const enum daemon_protocol *protocols;
};

/*
 * The first characters of a log line: its priority, as a number of syslog(3). A
 * line without a priority is informational.
 */
#define DAEMON_ERROR "<3>"
#define DAEMON_WARNING "<4>"

/*
 * Maximum number of connections of one address, if the operator sets no limit.
 */
#define DAEMON_CONNECTIONS_OF_ADDRESS 64

#endif
