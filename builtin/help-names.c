/* SPDX-License-Identifier: MIT */
/*
 * The commands that `git help` lists, and the search for names similar to a
 * mistyped one.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/help.h"
#include "config/config.h"

/* clang-format off */
static const struct {
	/* name of the command; NULL: `text` is the heading of a group */
	const char *name;
	const char *text;
} rows[] = {
	{NULL, "Serving repositories"},
	{"upload-pack", "Serve clones and fetches"},
	{"receive-pack", "Receive pushes"},
	{"upload-archive", "Send archives of repositories"},
	{"http-backend", "Serve repositories over HTTP"},
	{"publish", "Publish packs that clients download from a web server"},
	{"requests", "Sum up the log of requests"},
	{"store", "Examine stores of files that machines share"},

	{NULL, "Keeping repositories small and fast"},
	{"gc", "Clean up a repository"},
	{"maintenance", "Run tasks that keep a repository fast"},
	{"repack", "Combine packs and write bitmap indexes"},
	{"bitmap", "Inspect and verify bitmap indexes"},
	{"multi-pack-index", "Write one index for many packs"},
	{"commit-graph", "Write the file that makes history walks fast"},
	{"pack-refs", "Move loose refs into packed-refs"},
	{"prune", "Remove unreachable loose objects"},
	{"prune-packed", "Remove loose objects that are also in packs"},

	{NULL, "Forks that share objects"},
	{"network", "Let forks share one store of objects"},

	{NULL, "Checking"},
	{"fsck", "Check that objects are valid and that none is missing"},
	{"verify-pack", "Check packs and list their objects"},

	{NULL, "Looking into repositories"},
	{"cat-file", "Print content, type or size of objects"},
	{"count-objects", "Count objects and measure their size"},
	{"for-each-ref", "List refs, filtered, sorted and formatted"},
	{"rev-list", "List reachable commits and objects"},
	{"rev-parse", "Resolve revisions, paths and arguments for scripts"},
	{"show-index", "List the content of a pack index"},
	{"show-ref", "List refs, or check that some exist"},

	{NULL, "Changing refs"},
	{"refs", "Check, list and pack refs"},
	{"reflog", "Expire and remove entries of reflogs"},
	{"symbolic-ref", "Read, change and delete symbolic refs"},
	{"update-ref", "Change refs, all of a set or none"},

	{NULL, "Making repositories, packs and objects"},
	{"init", "Create an empty repository"},
	{"bundle", "Store refs and the objects they reach in one file"},
	{"hash-object", "Compute the id of a file's content, or write the object"},
	{"index-pack", "Write the index of a pack"},
	{"pack-objects", "Make a pack from revisions or objects"},
	{"unpack-objects", "Write the objects of a pack as loose objects"},

	{NULL, "About this program"},
	{"help", "List commands, or show a manual page"},
	{"version", "Print the version of this program"},
};

/*
 * The commands of stock Git 2.55 that gitreach does not implement. Each name is
 * followed by a blank.
 */
static const char stock_names[] =
	"add am annotate apply archimport archive backfill bisect blame "
	"branch bugreport check-attr check-ignore check-mailmap "
	"check-ref-format checkout checkout-index cherry cherry-pick citool "
	"clean clone column commit commit-tree config credential "
	"credential-cache credential-store cvsexportcommit cvsimport "
	"cvsserver daemon describe diagnose diff diff-files diff-index "
	"diff-pairs diff-tree difftool fast-export fast-import fetch "
	"fetch-pack filter-branch fmt-merge-msg for-each-repo format-patch "
	"format-rev fsck-objects fsmonitor--daemon get-tar-commit-id gitk "
	"grep gui history hook http-fetch http-push imap-send init-db "
	"instaweb interpret-trailers last-modified log ls-files ls-remote "
	"ls-tree mailinfo mailsplit merge merge-base merge-file merge-index "
	"merge-one-file merge-tree mergetool mktag mktree mv name-rev notes "
	"p4 pack-redundant patch-id pull push quiltimport range-diff "
	"read-tree rebase remote remote-ext remote-fd replace replay repo "
	"request-pull rerere reset restore revert rm send-email send-pack "
	"sh-i18n sh-setup shell shortlog show show-branch sparse-checkout "
	"stage stash status stripspace submodule svn switch tag unpack-file "
	"update-index update-server-info url-parse var verify-commit "
	"verify-tag web--browse whatchanged worktree write-tree ";
/* clang-format on */

/* Commands of this project that stock Git does not have. */
static const char *const own_names[] = {"bitmap", "network", "publish",
					"requests", "store"};

bool help_is_own(const char *name)
{
	for (size_t i = 0; i < ARRAY_NR(own_names); i++)
		if (!strcmp(own_names[i], name))
			return true;
	return false;
}

bool help_is_native(const char *name)
{
	for (size_t i = 0; i < ARRAY_NR(rows); i++)
		if (rows[i].name && !strcmp(rows[i].name, name))
			return true;
	return false;
}

void help_print_groups(void)
{
	for (size_t i = 0; i < ARRAY_NR(rows); i++) {
		if (rows[i].name)
			printf("   %-23s %s\n", rows[i].name, rows[i].text);
		else
			printf("%s%s\n", i ? "\n" : "", rows[i].text);
	}
}

void help_print_own(FILE *out)
{
	fputs("\nCommands of gitreach\n", out);
	for (size_t i = 0; i < ARRAY_NR(rows); i++)
		if (rows[i].name && help_is_own(rows[i].name))
			fprintf(out, "   %-23s %s\n", rows[i].name,
				rows[i].text);
}

void help_print_names(bool own_only)
{
	for (size_t i = 0; i < ARRAY_NR(rows); i++)
		if (rows[i].name && (!own_only || help_is_own(rows[i].name)))
			puts(rows[i].name);
}

/* ---- names that are no command */

static bool is_stock(const char *name)
{
	size_t len = strlen(name);
	const char *at = stock_names;

	for (; *at; at += strcspn(at, " ") + 1)
		if (!strncmp(at, name, len) && at[len] == ' ')
			return true;
	return false;
}

/*
 * Returns whether an alias of this name is configured. Only stock Git runs
 * aliases.
 */
static bool is_alias(const char *name)
{
	const struct config_sources sources = {.protected_only = true};
	const struct repo_options options = {0};
	struct repo *repo = NULL;
	struct config config = CONFIG_INIT;
	struct buf key = BUF_INIT;
	bool found = false;

	if (buf_printf(&key, "alias.%s", name) < 0)
		goto out;
	for (char *c = key.data; *c; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c += 'a' - 'A';
	if (!repo_open(&repo, &options, NULL))
		found = config_find(&repo->config, key.data) != NULL;
	else if (!config_load(&config, &sources, NULL))
		found = config_find(&config, key.data) != NULL;
	repo_close(repo);
	config_release(&config);
out:
	buf_release(&key);
	return found;
}

#define NAME_MAX_LEN 32

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	if (b < a)
		a = b;
	return c < a ? c : a;
}

/*
 * Returns the distance of two names: the smallest number of steps that change
 * one name into the other. A step adds, removes or replaces a letter, or swaps
 * two neighbouring letters. Returns UINT_MAX for names of NAME_MAX_LEN letters
 * or more.
 */
static unsigned name_distance(const char *a, const char *b)
{
	unsigned d[NAME_MAX_LEN][NAME_MAX_LEN];
	size_t a_len = strlen(a), b_len = strlen(b);

	if (a_len >= NAME_MAX_LEN || b_len >= NAME_MAX_LEN)
		return ~0u;
	for (size_t i = 0; i <= a_len; i++) {
		for (size_t j = 0; j <= b_len; j++) {
			if (!i || !j) {
				d[i][j] = (unsigned)(i + j);
				continue;
			}
			d[i][j] = min3(d[i - 1][j] + 1, d[i][j - 1] + 1,
				       d[i - 1][j - 1] +
					       (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && d[i - 2][j - 2] < d[i][j])
				d[i][j] = d[i - 2][j - 2] + 1;
		}
	}
	return d[a_len][b_len];
}

/*
 * Returns the distance between a mistyped name and a command. A command that
 * begins with the name has the distance 1.
 */
static unsigned distance_of(const char *name, const char *command)
{
	unsigned distance = name_distance(name, command);

	return distance > 1 && !strncmp(command, name, strlen(name)) ? 1
								     : distance;
}

static void print_similar(const char *name)
{
	size_t len = strlen(name), nr = 0;
	unsigned best = len < 3 ? 1 : (unsigned)(len / 3) + 1;

	for (size_t i = 0; i < ARRAY_NR(rows); i++) {
		unsigned d = rows[i].name ? distance_of(name, rows[i].name)
					  : ~0u;

		if (d <= best) {
			nr = d < best ? 1 : nr + 1;
			best = d;
		}
	}
	if (!nr)
		return;
	fprintf(stderr, "\nThe most similar command%s\n",
		nr > 1 ? "s are" : " is");
	for (size_t i = 0; i < ARRAY_NR(rows); i++)
		if (rows[i].name && distance_of(name, rows[i].name) == best)
			fprintf(stderr, "\t%s\n", rows[i].name);
}

int help_unknown(const char *name, const struct error *why)
{
	if (help_is_native(name) || is_stock(name) || is_alias(name))
		return builtin_fail(why);
	fprintf(stderr, "git: '%s' is not a git command. See 'git --help'.\n",
		name);
	print_similar(name);
	return 1;
}
