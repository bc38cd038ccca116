/* SPDX-License-Identifier: MIT */
/* Checks each value of the configuration variables that commands read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/config-check.h"
#include "builtin/options.h"
#include "repo/repo.h"

/* ---- which commands */

/* Groups of variables, named after the commands that check them. */
enum group {
	MOST = 1,      /* most commands */
	PACKING = 2,   /* commands that make packs */
	INDEXING = 4,  /* index-pack */
	REPACKING = 8, /* repack */
	GRAPHING = 16, /* commit-graph write */
	LAYERING = 32, /* multi-pack-index write and compact */
};

/*
 * The commands that check the configuration. `subcommands` ends with NULL; an
 * empty list means all subcommands. A command may be listed several times.
 */
static const struct {
	const char *name;
	const char *subcommands[5];
	unsigned groups;
} checking[] = {
	{"cat-file", {NULL}, MOST},
	{"commit-graph", {NULL}, MOST},
	{"commit-graph", {"write", NULL}, GRAPHING},
	{"count-objects", {NULL}, MOST},
	{"for-each-ref", {NULL}, MOST},
	{"fsck", {NULL}, MOST},
	{"gc", {NULL}, MOST},
	{"hash-object", {NULL}, MOST},
	{"index-pack", {NULL}, MOST | INDEXING},
	{"init", {NULL}, MOST},
	{"maintenance", {"run", "is-needed", NULL}, MOST},
	{"multi-pack-index", {NULL}, MOST},
	{"multi-pack-index", {"write", "compact", NULL}, LAYERING},
	{"pack-objects", {NULL}, MOST | PACKING},
	{"pack-refs", {NULL}, MOST},
	{"reflog", {"expire", "show", NULL}, MOST},
	{"refs", {"verify", "list", "optimize", NULL}, MOST},
	{"repack", {NULL}, MOST | PACKING | REPACKING},
	{"rev-list", {NULL}, MOST},
	{"rev-parse", {NULL}, MOST},
	{"show-ref", {NULL}, MOST},
	{"symbolic-ref", {NULL}, MOST},
	{"unpack-objects", {NULL}, MOST},
	{"update-ref", {NULL}, MOST},
	{"verify-pack", {NULL}, MOST},
};

static bool is_listed(const char *const *words, const char *word)
{
	for (; *words; words++)
		if (word && !strcmp(*words, word))
			return true;
	return false;
}

unsigned config_check_groups(const char *const *argv)
{
	const char *const *subcommand = argv + 1;
	unsigned groups = 0;

	while (*subcommand && **subcommand == '-')
		subcommand++;
	for (size_t i = 0; i < ARRAY_NR(checking); i++)
		if (!strcmp(argv[0], checking[i].name) &&
		    (!checking[i].subcommands[0] ||
		     is_listed(checking[i].subcommands, *subcommand)))
			groups |= checking[i].groups;
	return groups;
}

/* ---- which variables */

/* Print that the value of a variable is wrong. Returns 128. */
static int unparsed(const struct config_entry *entry)
{
	if (entry->scope == CONFIG_COMMAND)
		return builtin_die("unable to parse '%s' from command-line "
				   "config",
				   entry->key);
	return builtin_die("bad config variable '%s'", entry->key);
}

static int check_bool(const struct config_entry *entry)
{
	struct error err = ERROR_INIT;

	return config_entry_bool(entry, &err) < 0 ? builtin_fail(&err) : 0;
}

static bool is_word(const struct config_entry *entry, const char *word)
{
	return entry->value && !strcasecmp(entry->value, word);
}

static int check_autocrlf(const struct config_entry *entry)
{
	return is_word(entry, "input") ? 0 : check_bool(entry);
}

static int check_safecrlf(const struct config_entry *entry)
{
	return is_word(entry, "warn") ? 0 : check_bool(entry);
}

static int check_colour(const struct config_entry *entry)
{
	return is_word(entry, "auto") || is_word(entry, "always") ||
			       is_word(entry, "never")
		       ? 0
		       : check_bool(entry);
}

static int check_setup_merge(const struct config_entry *entry)
{
	return is_word(entry, "always") || is_word(entry, "inherit") ||
			       is_word(entry, "simple")
		       ? 0
		       : check_bool(entry);
}

static int check_fsync_objects(const struct config_entry *entry)
{
	builtin_warn("core.fsyncObjectFiles is deprecated; use core.fsync "
		     "instead");
	return check_bool(entry);
}

/* Parse a number. Returns 0, or prints an error and returns 128. */
static int parse_number(int *number, const struct config_entry *entry)
{
	const struct config one = {(struct config_entry *)entry, 1, 1};
	struct error err = ERROR_INIT;

	return config_int(&one, entry->key, number, &err) < 0
		       ? builtin_fail(&err)
		       : 0;
}

static int check_int(const struct config_entry *entry)
{
	int number;

	return parse_number(&number, entry);
}

static int check_threads(const struct config_entry *entry)
{
	int number = 0;
	int code = parse_number(&number, entry);

	if (!code && number < 0)
		code = builtin_die("invalid number of threads specified (%d)",
				   number);
	return code;
}

static int check_idx_version(const struct config_entry *entry)
{
	int version = 0;
	int code = parse_number(&version, entry);

	/* As in stock Git, a negative number counts as a large one. */
	if (!code && (unsigned)version > 2)
		code = builtin_die("bad pack.indexVersion=%u",
				   (unsigned)version);
	return code;
}

static int check_level(const struct config_entry *entry)
{
	int level = 0;
	int code = parse_number(&level, entry);

	if (!code && (level < -1 || level > 9))
		code = builtin_die("bad %s compression level %d",
				   entry->key[0] == 'p' ? "pack" : "zlib",
				   level);
	return code;
}

static int check_size(const struct config_entry *entry)
{
	const struct config one = {(struct config_entry *)entry, 1, 1};
	struct error err = ERROR_INIT;
	uint64_t size;

	return config_u64(&one, entry->key, &size, &err) < 0
		       ? builtin_fail(&err)
		       : 0;
}

static int check_reuse(const struct config_entry *entry)
{
	if (is_word(entry, "single") || is_word(entry, "multi") ||
	    config_parse_bool_word(entry->value) >= 0)
		return 0;
	return builtin_die("invalid pack.allowPackReuse value: '%s'",
			   entry->value);
}

/*
 * Returns 0 if a variable has a value ("key = value"), or prints an error and
 * returns 128.
 */
static int check_value(const struct config_entry *entry)
{
	if (entry->value)
		return 0;
	builtin_error("missing value for '%s'", entry->key);
	return unparsed(entry);
}

static int check_abbrev(const struct config_entry *entry)
{
	/*
	 * The value of core.abbrev is a length of at least 4, "auto", or a word
	 * for false.
	 */
	int code = check_value(entry);
	int len = 0;

	if (code || is_word(entry, "auto") ||
	    !config_parse_bool_word(entry->value))
		return code;
	code = parse_number(&len, entry);
	if (code || len >= 4)
		return code;
	builtin_error("abbrev length out of range: %d", len);
	return unparsed(entry);
}

static int check_comment(const struct config_entry *entry)
{
	int code = check_value(entry);

	if (code || *entry->value)
		return code;
	builtin_error("%s must have at least one character", entry->key);
	return unparsed(entry);
}

static int check_disambiguate(const struct config_entry *entry)
{
	static const char *const hints[] = {"none", "commit",  "committish",
					    "tree", "treeish", "blob",
					    NULL};
	int code = check_value(entry);

	for (size_t i = 0; !code && hints[i]; i++)
		if (is_word(entry, hints[i]))
			return 0;
	if (code)
		return code;
	builtin_error("unknown hint type for '%s': %s", entry->key,
		      entry->value);
	return unparsed(entry);
}

static int check_create(const struct config_entry *entry)
{
	static const char *const modes[] = {"rename", "link", NULL};
	int code = check_value(entry);

	if (code || is_listed(modes, entry->value))
		return code;
	return builtin_die("invalid mode for object creation: %s",
			   entry->value);
}

static int check_stat(const struct config_entry *entry)
{
	int code = check_value(entry);

	if (code || is_word(entry, "default") || is_word(entry, "minimal"))
		return code;
	builtin_error("invalid value for '%s': '%s'", entry->key, entry->value);
	return unparsed(entry);
}

static int check_setup_rebase(const struct config_entry *entry)
{
	static const char *const words[] = {"never", "local", "remote",
					    "always", NULL};
	int code = check_value(entry);

	if (code || is_listed(words, entry->value))
		return code;
	builtin_error("malformed value for %s", entry->key);
	return unparsed(entry);
}

static int check_push(const struct config_entry *entry)
{
	static const char *const words[] = {"nothing",  "matching", "simple",
					    "upstream", "tracking", "current",
					    NULL};
	int code = check_value(entry);

	if (code || is_listed(words, entry->value))
		return code;
	builtin_error("malformed value for %s: %s", entry->key, entry->value);
	builtin_error("must be one of nothing, matching, simple, upstream or "
		      "current");
	return unparsed(entry);
}

static void warn_component(const char *name, size_t len)
{
	if (len)
		builtin_warn("ignoring unknown core.fsync component '%.*s'",
			     (int)len, name);
	else
		builtin_warn("invalid value for variable core.fsync");
}

static int check_fsync(const struct config_entry *entry)
{
	int code = check_value(entry);

	if (!code)
		repo_fsync_each_unknown(entry->value, warn_component);
	return code;
}

static int check_fsync_method(const struct config_entry *entry)
{
	static const char *const methods[] = {"fsync", "writeout-only", "batch",
					      NULL};
	int code = check_value(entry);

	if (!code && !is_listed(methods, entry->value))
		builtin_warn("ignoring unknown core.fsyncMethod value '%s'",
			     entry->value);
	return code;
}

/* The checked variables, sorted by strcmp() for a binary search. */
static const struct variable {
	const char *key;
	int (*check)(const struct config_entry *entry);
	unsigned groups;
} variables[] = {
	{"attr.tree", check_value, MOST},
	{"author.email", check_value, MOST},
	{"author.name", check_value, MOST},
	{"branch.autosetupmerge", check_setup_merge, MOST},
	{"branch.autosetuprebase", check_setup_rebase, MOST},
	{"color.advice", check_colour, MOST},
	{"commitgraph.changedpaths", check_bool, GRAPHING},
	{"commitgraph.maxnewfilters", check_int, GRAPHING},
	{"committer.email", check_value, MOST},
	{"committer.name", check_value, MOST},
	{"core.abbrev", check_abbrev, MOST},
	{"core.askpass", check_value, MOST},
	{"core.attributesfile", check_value, MOST},
	{"core.autocrlf", check_autocrlf, MOST},
	{"core.bare", check_bool, MOST},
	{"core.checkroundtripencoding", check_value, MOST},
	{"core.checkstat", check_stat, MOST},
	{"core.commentchar", check_comment, MOST},
	{"core.commentstring", check_comment, MOST},
	{"core.compression", check_level, MOST},
	{"core.createobject", check_create, MOST},
	{"core.deltabasecachelimit", check_size, INDEXING},
	{"core.disambiguate", check_disambiguate, MOST},
	{"core.editor", check_value, MOST},
	{"core.excludesfile", check_value, MOST},
	{"core.filemode", check_bool, MOST},
	{"core.fsync", check_fsync, MOST},
	{"core.fsyncmethod", check_fsync_method, MOST},
	{"core.fsyncobjectfiles", check_fsync_objects, MOST},
	{"core.ignorecase", check_bool, MOST},
	{"core.ignorestat", check_bool, MOST},
	{"core.lockfilepid", check_bool, MOST},
	{"core.loosecompression", check_level, MOST},
	{"core.precomposeunicode", check_bool, MOST},
	{"core.protecthfs", check_bool, MOST},
	{"core.protectntfs", check_bool, MOST},
	{"core.quotepath", check_bool, MOST},
	{"core.safecrlf", check_safecrlf, MOST},
	{"core.sparsecheckout", check_bool, MOST},
	{"core.sparsecheckoutcone", check_bool, MOST},
	{"core.symlinks", check_bool, MOST},
	{"core.trustctime", check_bool, MOST},
	{"i18n.commitencoding", check_value, MOST},
	{"i18n.logoutputencoding", check_value, MOST},
	{"pack.allowpackreuse", check_reuse, PACKING},
	{"pack.compression", check_level, MOST},
	{"pack.deltacachelimit", check_int, PACKING},
	{"pack.deltacachesize", check_int, PACKING},
	{"pack.depth", check_int, PACKING},
	{"pack.indexversion", check_idx_version, PACKING | INDEXING},
	{"pack.packsizelimit", check_size, MOST},
	{"pack.threads", check_threads, PACKING | INDEXING},
	{"pack.usebitmaps", check_bool, PACKING},
	{"pack.window", check_int, PACKING},
	{"pack.windowmemory", check_size, PACKING},
	{"pack.writebitmaphashcache", check_bool, PACKING | LAYERING},
	{"pack.writebitmaplookuptable", check_bool, PACKING | LAYERING},
	{"pack.writereverseindex", check_bool, PACKING | INDEXING},
	{"push.default", check_push, MOST},
	{"repack.midxmustcontaincruft", check_bool, REPACKING},
	{"repack.packkeptobjects", check_bool, REPACKING},
	{"repack.updateserverinfo", check_bool, REPACKING},
	{"repack.usedeltabaseoffset", check_bool, REPACKING},
	{"repack.usedeltaislands", check_bool, REPACKING},
	{"repack.writebitmaps", check_bool, REPACKING},
	{"sparse.expectfilesoutsideofpatterns", check_bool, MOST},
	{"user.email", check_value, MOST},
	{"user.name", check_value, MOST},
	{"user.useconfigonly", check_bool, MOST},
};

static int compare(const void *key, const void *variable)
{
	return strcmp(key, ((const struct variable *)variable)->key);
}

int config_check(const struct config *config, unsigned groups)
{
	int code = 0;

	for (size_t i = 0; i < config->nr && !code; i++) {
		const struct config_entry *entry = &config->entries[i];
		const struct variable *found = bsearch(
			entry->key, variables, ARRAY_NR(variables),
			sizeof(*variables), compare);

		if (found && found->groups & groups)
			code = found->check(entry);
	}
	return code;
}
