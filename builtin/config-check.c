/* SPDX-License-Identifier: MIT */
/* Checks the configuration variables that most commands read. */
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

/*
 * The commands that check the configuration. `subcommands` ends with NULL; an
 * empty list means all subcommands.
 */
static const struct {
	const char *name;
	const char *subcommands[5];
} checking[] = {
	{"cat-file", {NULL}},
	{"commit-graph", {NULL}},
	{"count-objects", {NULL}},
	{"for-each-ref", {NULL}},
	{"fsck", {NULL}},
	{"gc", {NULL}},
	{"hash-object", {NULL}},
	{"index-pack", {NULL}},
	{"maintenance", {"run", "is-needed", NULL}},
	{"multi-pack-index", {NULL}},
	{"pack-objects", {NULL}},
	{"pack-refs", {NULL}},
	{"reflog", {"expire", "show", NULL}},
	{"refs", {"verify", "list", "optimize", NULL}},
	{"repack", {NULL}},
	{"rev-list", {NULL}},
	{"rev-parse", {NULL}},
	{"show-ref", {NULL}},
	{"symbolic-ref", {NULL}},
	{"unpack-objects", {NULL}},
	{"update-ref", {NULL}},
	{"verify-pack", {NULL}},
};

static bool is_listed(const char *const *words, const char *word)
{
	for (; *words; words++)
		if (word && !strcmp(*words, word))
			return true;
	return false;
}

bool config_check_is_for(const char *const *argv)
{
	for (size_t i = 0; i < ARRAY_NR(checking); i++)
		if (!strcmp(argv[0], checking[i].name))
			return !checking[i].subcommands[0] ||
			       is_listed(checking[i].subcommands, argv[1]);
	return false;
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
	 * for false. 0 is an error, although the number often stands for false.
	 */
	static const char *const words[] = {"auto", "false", "no", "off", ""};
	int code = check_value(entry);
	int len = 0;

	if (code)
		return code;
	for (size_t i = 0; i < ARRAY_NR(words); i++)
		if (is_word(entry, words[i]))
			return 0;
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
} variables[] = {
	{"attr.tree", check_value},
	{"author.email", check_value},
	{"author.name", check_value},
	{"branch.autosetupmerge", check_setup_merge},
	{"branch.autosetuprebase", check_setup_rebase},
	{"color.advice", check_colour},
	{"committer.email", check_value},
	{"committer.name", check_value},
	{"core.abbrev", check_abbrev},
	{"core.askpass", check_value},
	{"core.attributesfile", check_value},
	{"core.autocrlf", check_autocrlf},
	{"core.bare", check_bool},
	{"core.checkroundtripencoding", check_value},
	{"core.checkstat", check_stat},
	{"core.commentchar", check_comment},
	{"core.commentstring", check_comment},
	{"core.compression", check_level},
	{"core.createobject", check_create},
	{"core.disambiguate", check_disambiguate},
	{"core.editor", check_value},
	{"core.excludesfile", check_value},
	{"core.filemode", check_bool},
	{"core.fsync", check_fsync},
	{"core.fsyncmethod", check_fsync_method},
	{"core.fsyncobjectfiles", check_fsync_objects},
	{"core.ignorecase", check_bool},
	{"core.ignorestat", check_bool},
	{"core.lockfilepid", check_bool},
	{"core.loosecompression", check_level},
	{"core.precomposeunicode", check_bool},
	{"core.protecthfs", check_bool},
	{"core.protectntfs", check_bool},
	{"core.quotepath", check_bool},
	{"core.safecrlf", check_safecrlf},
	{"core.sparsecheckout", check_bool},
	{"core.sparsecheckoutcone", check_bool},
	{"core.symlinks", check_bool},
	{"core.trustctime", check_bool},
	{"i18n.commitencoding", check_value},
	{"i18n.logoutputencoding", check_value},
	{"pack.compression", check_level},
	{"pack.packsizelimit", check_size},
	{"push.default", check_push},
	{"sparse.expectfilesoutsideofpatterns", check_bool},
	{"user.email", check_value},
	{"user.name", check_value},
	{"user.useconfigonly", check_bool},
};

static int compare(const void *key, const void *variable)
{
	return strcmp(key, ((const struct variable *)variable)->key);
}

int config_check(const struct config *config)
{
	int code = 0;

	for (size_t i = 0; i < config->nr && !code; i++) {
		const struct config_entry *entry = &config->entries[i];
		const struct variable *found = bsearch(
			entry->key, variables, ARRAY_NR(variables),
			sizeof(*variables), compare);

		code = found ? found->check(entry) : 0;
	}
	return code;
}
