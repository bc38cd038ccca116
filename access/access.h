/* SPDX-License-Identifier: MIT */
/*
 * The access helper: a program that decides which requests are allowed. Each
 * worker process of the server keeps one helper running. The worker writes a
 * line, and the helper answers with a line:
 *
 *	user=alice service=upload-pack repository=/a%20b.git protocol=https
 *		address=192.0.2.1                       (one line)
 *	allow hide=refs/internal/ hide=refs/tmp/
 *
 * Words are separated by one space. In values, letters, digits and "-._~/@:+,"
 * stand for themselves, and all other bytes are written as "%XX". So a space or
 * line feed in a value does not end the word or the line. A helper ignores
 * words that it does not know. The answer is "allow", with any number of
 * "hide=<prefix>", or "deny". Any other answer counts as a missing answer.
 */
#ifndef ACCESS_ACCESS_H
#define ACCESS_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "config/config.h"

struct access_helper;

/* maximum bytes of an answer with its line feed */
#define ACCESS_ANSWER_MAX 4096

/* A request. All strings are borrowed. */
struct access_question {
	const char *user;    /* "": none */
	const char *service; /* "upload-pack" ... */
	/* path of the repository below the base path */
	const char *repository;
	/* "http", "https", "git" or "ssh" */
	const char *protocol;
	const char *address; /* numeric; "": unknown */
};

struct access_answer {
	bool is_allowed;
	/*
	 * owned: prefixes of refs that the client must not see, each ended by
	 * NUL; empty: none
	 */
	struct buf hidden;
	size_t hidden_nr;
};

/*
 * Prepares a helper. The first question starts the program: `command`, which is
 * borrowed and run by sh. `limit_ms` is the maximum time for one answer.
 * Returns NULL if memory runs out.
 */
struct access_helper *access_helper_new(const char *command, unsigned limit_ms);

/*
 * Ends the helper: closes its input and sends SIGTERM. Kills the helper if it
 * still runs a second later. NULL is allowed.
 */
void access_helper_free(struct access_helper *helper);

/*
 * Asks the helper. Several threads may call this function; one is served at a
 * time. Returns 0 with *out owned by the caller, or a negative error code if
 * there is no answer. A helper without a valid answer is killed. A new one is
 * started for the next question, at most once a second.
 */
int access_ask(struct access_answer *out, struct access_helper *helper,
	       const struct access_question *question, struct error *err);
void access_answer_release(struct access_answer *answer);

/*
 * Parses an answer, without its line feed. Returns 0, ERR_PEER if the answer is
 * malformed, or ERR_NOMEM.
 */
int access_parse(struct access_answer *out, const char *line, size_t len,
		 struct error *err);

/*
 * Appends the line of a question, with its line feed. Returns 0 or ERR_NOMEM.
 */
int access_format(struct buf *out, const struct access_question *question);

/* Returns whether the question is about a push. */
bool access_is_write(const struct access_question *question);

/*
 * Appends the words that describe a denied request in the log, without a line
 * feed. Values are written as in the line of a question, and an empty user or
 * address as "-":
 *
 *	right=read protocol=https client=192.0.2.1 user=- repository=/a%20b.git
 *
 * Returns 0 or ERR_NOMEM.
 */
int access_format_denial(struct buf *out,
			 const struct access_question *question);

/*
 * Both functions hide the refs that begin with one of the prefixes in *answer:
 * access_configure() in a configuration for this process, and
 * access_environment() in the environment of a child. The prefixes are added
 * after the configured values of transfer.hideRefs, and override them. Clients
 * can then only get objects that visible refs reach. *answer must have at least
 * one prefix.
 *
 * access_configure() makes a copy of *base in *out. Its entries point into
 * *base and *answer; free(out->entries) releases the copy. access_environment()
 * appends a variable "GIT_CONFIG_PARAMETERS=...", which also contains the
 * present value of this variable. Both return 0 or ERR_NOMEM.
 */
int access_configure(struct config *out, const struct config *base,
		     const struct access_answer *answer);
int access_environment(struct buf *out, const struct access_answer *answer);

#endif
