/* SPDX-License-Identifier: MIT */
/*
 * Checks whether an object is well-formed. The checks are those that
 * git-fsck(1) lists under "Fsck Messages", on the bytes of one object.
 *
 * Each kind of message has an id and a severity. Configuration may change the
 * severity. Objects on the skip list are not checked. The rules are immutable
 * once they are made: threads share them, and each thread has its own checker.
 *
 * 	fsck_rules_init -> fsck_rules_set ... -> fsck_object, many times
 *
 * A check is one pass over the bytes. Other code checks whether linked objects
 * exist and have the right type. The checks, the names and the texts of the
 * messages are exactly those of stock Git. odb/fsck-blob.h checks the content
 * of .gitmodules. Messages about references are also in the list here, so that
 * they can be configured, but other code reports them.
 */
#ifndef OBJECT_FSCK_H
#define OBJECT_FSCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "object/oidmap.h"
#include "object/type.h"

enum fsck_severity {
	FSCK_IGNORE,
	/* reported as a warning; not an error even in strict mode */
	FSCK_INFO,
	FSCK_WARN, /* an error in strict mode */
	FSCK_ERROR,
	/* an error that configuration cannot demote */
	FSCK_FATAL,
};

/*
 * FSCK_MSG(symbol, name, severity): all messages, sorted by severity, then by
 * name.
 */
#define FSCK_MSGS                                                              \
	FSCK_MSG(NUL_IN_HEADER, "nulInHeader", FATAL)                          \
	FSCK_MSG(UNTERMINATED_HEADER, "unterminatedHeader", FATAL)             \
	FSCK_MSG(BAD_DATE, "badDate", ERROR)                                   \
	FSCK_MSG(BAD_DATE_OVERFLOW, "badDateOverflow", ERROR)                  \
	FSCK_MSG(BAD_EMAIL, "badEmail", ERROR)                                 \
	FSCK_MSG(BAD_GPGSIG, "badGpgsig", ERROR)                               \
	FSCK_MSG(BAD_HEAD_TARGET, "badHeadTarget", ERROR)                      \
	FSCK_MSG(BAD_HEADER_CONTINUATION, "badHeaderContinuation", ERROR)      \
	FSCK_MSG(BAD_NAME, "badName", ERROR)                                   \
	FSCK_MSG(BAD_OBJECT_SHA1, "badObjectSha1", ERROR)                      \
	FSCK_MSG(BAD_PACKED_REF_ENTRY, "badPackedRefEntry", ERROR)             \
	FSCK_MSG(BAD_PACKED_REF_HEADER, "badPackedRefHeader", ERROR)           \
	FSCK_MSG(BAD_PARENT_SHA1, "badParentSha1", ERROR)                      \
	FSCK_MSG(BAD_REF_CONTENT, "badRefContent", ERROR)                      \
	FSCK_MSG(BAD_REF_FILETYPE, "badRefFiletype", ERROR)                    \
	FSCK_MSG(BAD_REF_NAME, "badRefName", ERROR)                            \
	FSCK_MSG(BAD_REF_OID, "badRefOid", ERROR)                              \
	FSCK_MSG(BAD_REFERENT_NAME, "badReferentName", ERROR)                  \
	FSCK_MSG(BAD_TIMEZONE, "badTimezone", ERROR)                           \
	FSCK_MSG(BAD_TREE, "badTree", ERROR)                                   \
	FSCK_MSG(BAD_TREE_SHA1, "badTreeSha1", ERROR)                          \
	FSCK_MSG(BAD_TYPE, "badType", ERROR)                                   \
	FSCK_MSG(DUPLICATE_ENTRIES, "duplicateEntries", ERROR)                 \
	FSCK_MSG(GITATTRIBUTES_BLOB, "gitattributesBlob", ERROR)               \
	FSCK_MSG(GITATTRIBUTES_LARGE, "gitattributesLarge", ERROR)             \
	FSCK_MSG(GITATTRIBUTES_LINE_LENGTH, "gitattributesLineLength", ERROR)  \
	FSCK_MSG(GITATTRIBUTES_MISSING, "gitattributesMissing", ERROR)         \
	FSCK_MSG(GITMODULES_BLOB, "gitmodulesBlob", ERROR)                     \
	FSCK_MSG(GITMODULES_LARGE, "gitmodulesLarge", ERROR)                   \
	FSCK_MSG(GITMODULES_MISSING, "gitmodulesMissing", ERROR)               \
	FSCK_MSG(GITMODULES_NAME, "gitmodulesName", ERROR)                     \
	FSCK_MSG(GITMODULES_PATH, "gitmodulesPath", ERROR)                     \
	FSCK_MSG(GITMODULES_SYMLINK, "gitmodulesSymlink", ERROR)               \
	FSCK_MSG(GITMODULES_UPDATE, "gitmodulesUpdate", ERROR)                 \
	FSCK_MSG(GITMODULES_URL, "gitmodulesUrl", ERROR)                       \
	FSCK_MSG(MISSING_AUTHOR, "missingAuthor", ERROR)                       \
	FSCK_MSG(MISSING_COMMITTER, "missingCommitter", ERROR)                 \
	FSCK_MSG(MISSING_EMAIL, "missingEmail", ERROR)                         \
	FSCK_MSG(MISSING_NAME_BEFORE_EMAIL, "missingNameBeforeEmail", ERROR)   \
	FSCK_MSG(MISSING_OBJECT, "missingObject", ERROR)                       \
	FSCK_MSG(MISSING_SPACE_BEFORE_DATE, "missingSpaceBeforeDate", ERROR)   \
	FSCK_MSG(MISSING_SPACE_BEFORE_EMAIL, "missingSpaceBeforeEmail", ERROR) \
	FSCK_MSG(MISSING_TAG, "missingTag", ERROR)                             \
	FSCK_MSG(MISSING_TAG_ENTRY, "missingTagEntry", ERROR)                  \
	FSCK_MSG(MISSING_TREE, "missingTree", ERROR)                           \
	FSCK_MSG(MISSING_TYPE, "missingType", ERROR)                           \
	FSCK_MSG(MISSING_TYPE_ENTRY, "missingTypeEntry", ERROR)                \
	FSCK_MSG(MULTIPLE_AUTHORS, "multipleAuthors", ERROR)                   \
	FSCK_MSG(PACKED_REF_ENTRY_NOT_TERMINATED,                              \
		 "packedRefEntryNotTerminated", ERROR)                         \
	FSCK_MSG(PACKED_REF_UNSORTED, "packedRefUnsorted", ERROR)              \
	FSCK_MSG(TREE_NOT_SORTED, "treeNotSorted", ERROR)                      \
	FSCK_MSG(UNKNOWN_TYPE, "unknownType", ERROR)                           \
	FSCK_MSG(ZERO_PADDED_DATE, "zeroPaddedDate", ERROR)                    \
	FSCK_MSG(BAD_REFTABLE_TABLE_NAME, "badReftableTableName", WARN)        \
	FSCK_MSG(EMPTY_NAME, "emptyName", WARN)                                \
	FSCK_MSG(FULL_PATHNAME, "fullPathname", WARN)                          \
	FSCK_MSG(HAS_DOT, "hasDot", WARN)                                      \
	FSCK_MSG(HAS_DOTDOT, "hasDotdot", WARN)                                \
	FSCK_MSG(HAS_DOTGIT, "hasDotgit", WARN)                                \
	FSCK_MSG(LARGE_PATHNAME, "largePathname", WARN)                        \
	FSCK_MSG(NUL_IN_COMMIT, "nulInCommit", WARN)                           \
	FSCK_MSG(NULL_SHA1, "nullSha1", WARN)                                  \
	FSCK_MSG(ZERO_PADDED_FILEMODE, "zeroPaddedFilemode", WARN)             \
	FSCK_MSG(BAD_FILEMODE, "badFilemode", INFO)                            \
	FSCK_MSG(BAD_TAG_NAME, "badTagName", INFO)                             \
	FSCK_MSG(EMPTY_PACKED_REFS_FILE, "emptyPackedRefsFile", INFO)          \
	FSCK_MSG(GITATTRIBUTES_SYMLINK, "gitattributesSymlink", INFO)          \
	FSCK_MSG(GITIGNORE_SYMLINK, "gitignoreSymlink", INFO)                  \
	FSCK_MSG(GITMODULES_PARSE, "gitmodulesParse", INFO)                    \
	FSCK_MSG(MAILMAP_SYMLINK, "mailmapSymlink", INFO)                      \
	FSCK_MSG(MISSING_TAGGER_ENTRY, "missingTaggerEntry", INFO)             \
	FSCK_MSG(REF_MISSING_NEWLINE, "refMissingNewline", INFO)               \
	FSCK_MSG(SYMLINK_REF, "symlinkRef", INFO)                              \
	FSCK_MSG(SYMREF_TARGET_IS_NOT_A_REF, "symrefTargetIsNotARef", INFO)    \
	FSCK_MSG(TRAILING_REF_CONTENT, "trailingRefContent", INFO)             \
	FSCK_MSG(EXTRA_HEADER_ENTRY, "extraHeaderEntry", IGNORE)

#define FSCK_MSG(symbol, name, severity) FSCK_##symbol,
enum fsck_msg { FSCK_MSGS FSCK_MSG_NR };
#undef FSCK_MSG

/*
 * The messages that are reported, and the severity of each. Immutable once
 * made.
 */
struct fsck_rules {
	enum hash_algo algo;
	/*
	 * true: strict mode, in which the file mode 0100664 of old trees is not
	 * valid
	 */
	bool strict;
	uint8_t severity[FSCK_MSG_NR]; /* enum fsck_severity */
	/*
	 * maximum length in bytes of an entry's name; a longer name is reported
	 * (largePathname)
	 */
	uint64_t path_max;
	/* owned: ids of objects that are not checked */
	struct oidmap skip;
};

/* Sets the default severities. If `strict`, warnings become errors. */
void fsck_rules_init(struct fsck_rules *rules, enum hash_algo algo,
		     bool strict);
void fsck_rules_release(struct fsck_rules *rules);

/*
 * Gives all messages that are not ignored the severity "error", as hash-object
 * and mktag require.
 */
void fsck_rules_all_errors(struct fsck_rules *rules);

/* Returns the name of a message, as used in configuration. */
const char *fsck_msg_name(enum fsck_msg msg);

/*
 * Returns the message with the given name, or FSCK_MSG_NR if the name is
 * unknown. The case of letters in the name does not matter.
 */
enum fsck_msg fsck_msg_by_name(const char *name, size_t len);

/*
 * Sets the severity of the message called `name` to "error", "warn" or
 * "ignore". largePathname also accepts "<severity>:<bytes>". Returns 0, or
 * ERR_INVALID with the error message of stock Git.
 */
int fsck_rules_set(struct fsck_rules *rules, const char *name, size_t name_len,
		   const char *value, size_t value_len, struct error *err);

/*
 * Works like fsck_rules_set(), with a message given by its number instead of
 * its name.
 */
int fsck_rules_set_msg(struct fsck_rules *rules, enum fsck_msg msg,
		       const char *value, size_t value_len, struct error *err);

/* Puts an object on the skip list. Returns 0 or ERR_NOMEM. */
int fsck_rules_skip(struct fsck_rules *rules, const struct oid *oid);

/* Special files in a tree whose content must be checked as well. */
enum fsck_special {
	FSCK_GITMODULES = 1 << 0,
	FSCK_GITATTRIBUTES = 1 << 1,
};

/* A problem with an object. */
struct fsck_report {
	enum fsck_msg msg;
	bool is_error; /* false: a warning */
	const struct oid *oid;
	enum object_type type;
	/*
	 * text of the problem without the name of the message; valid until the
	 * callback report() returns
	 */
	const char *text;
};

/*
 * A checker of objects, for one thread. If a callback returns a negative error
 * code, the check stops and returns that code.
 */
struct fsck {
	const struct fsck_rules *rules; /* borrowed */
	/* Called for each problem. */
	int (*report)(void *ctx, const struct fsck_report *report,
		      struct error *err);
	/*
	 * Called when a tree lists `oid` as a special file (an enum
	 * fsck_special). NULL: no call.
	 */
	int (*found)(void *ctx, const struct oid *oid,
		     enum fsck_special special, struct error *err);
	void *ctx;
	struct buf text; /* scratch, owned */
	/*
	 * owned: the stack of file names of fsck-tree.c, kept for the next tree
	 */
	struct fsck_name *names;
	size_t name_alloc;
};

void fsck_init(struct fsck *f, const struct fsck_rules *rules);
void fsck_release(struct fsck *f);

/*
 * Checks one object. `data` need not end in a NUL. This function checks nothing
 * in blobs. Returns 0 if no error was reported (only warnings at most), 1 if an
 * error was reported, or a negative error code. O(len).
 */
int fsck_object(struct fsck *f, const struct oid *oid, enum object_type type,
		const void *data, size_t len, struct error *err);

/*
 * Checks a blob that some tree lists as .gitattributes. `data` is NULL if the
 * blob is too large to read. Returns 0 if no error was reported, 1 if an error
 * was reported, or a negative error code.
 */
int fsck_gitattributes(struct fsck *f, const struct oid *oid, const void *data,
		       size_t len, struct error *err);

/*
 * Reports a message about an object, unless the message is ignored. This
 * function is for checks in other directories, such as odb/fsck-blob.h.
 * Returns 0 if the message is no error, 1 if it is an error, or a negative
 * error code.
 */
int fsck_complain(struct fsck *f, const struct oid *oid, enum object_type type,
		  enum fsck_msg msg, struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));

/* Returns whether an object is on the skip list. */
bool fsck_is_skipped(const struct fsck_rules *rules, const struct oid *oid);

#endif
