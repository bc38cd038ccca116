/* SPDX-License-Identifier: MIT */
/* Options and configuration keys of git gc. */
#include <inttypes.h>
#include <string.h>

#include "base/approxidate.h"
#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/gc-parts.h"
#include "builtin/options.h"
#include "sys/clock.h"

static const char usage_text[] = "git gc [<options>]";

enum {
	AUTO_DEFAULT = 6700,
	PACK_LIMIT_DEFAULT = 50,
	DEPTH_DEFAULT = 50,
	WINDOW_DEFAULT = 250,
};

static int take_choice(void *value, const char *arg)
{
	*(int *)value = arg != option_negated;
	return 0;
}

static int take_prune(void *value, const char *arg)
{
	*(const char **)value = arg;
	return 0;
}

#define FLAG(letter, name, field, text)                                        \
	{                                                                      \
		.kind = OPTION_FLAG, .short_name = letter, .long_name = name,  \
		.flag = field, .help = text                                    \
	}
#define CHOICE(name, field, text)                                              \
	{                                                                      \
		.kind = OPTION_CALLBACK, .long_name = name, .value = field,    \
		.flags = OPTION_NO_ARG, .fn = take_choice, .help = text        \
	}

int gc_args_parse(struct gc_args *a, int argc, const char **argv)
{
	const struct option options[] = {
		FLAG('q', "quiet", &a->quiet, "print no progress"),
		{.kind = OPTION_CALLBACK,
		 .long_name = "prune",
		 .value = &a->prune,
		 .flags = OPTION_OPTIONAL_ARG,
		 .fn = take_prune,
		 .arg_name = "<date>",
		 .help = "delete unreachable objects older than this"},
		CHOICE("cruft", &a->cruft,
		       "keep unreachable objects in a cruft pack"),
		{.kind = OPTION_U64,
		 .long_name = "max-cruft-size",
		 .u64 = &a->max_cruft_size,
		 .flags = OPTION_NO_NEGATE,
		 .help = "with --cruft, limit the size of cruft packs"},
		FLAG(0, "aggressive", &a->aggressive,
		     "compute all deltas again, which is slow"),
		FLAG(0, "auto", &a->automatic,
		     "do nothing unless there is enough to clean up"),
		CHOICE("detach", &a->detach, "run in the background"),
		FLAG(0, "force", &a->force,
		     "run even if there may be another gc running"),
		CHOICE("keep-largest-pack", &a->keep_largest,
		       "keep the largest pack, and repack the others"),
		{.kind = OPTION_STRING,
		 .long_name = "expire-to",
		 .string = &a->expire_to,
		 .arg_name = "<dir>",
		 .help = "base name of a pack of pruned objects"},
		FLAG(0, "skip-foreground-tasks", &a->skip_foreground, NULL),
		FLAG(0, "background", &a->background, NULL),
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, usage_text);

	return operands < 0 ? 129
	       : operands   ? options_usage(options, usage_text)
			    : 0;
}

/*
 * Load a date from the configuration as text. As in stock Git, a date that is
 * not in the past is an error, except "now". A future date is likely a mistake,
 * because all objects are older and would be deleted.
 */
static int load_date(const char **out, const char *key, const char *otherwise,
		     const struct config *config, struct error *err)
{
	const char *value = config_string(config, key);
	int64_t now = sys_clock_seconds(), when;

	*out = value ? value : otherwise;
	if (strcmp(*out, "now") != 0 &&
	    (approxidate_parse(&when, *out, now) < 0 || when >= now))
		return error_set(err, ERR_INVALID, "Invalid %s: '%s'", key,
				 value);
	return 0;
}

/*
 * Check gc.reflogExpire before anything is changed, although only a later step
 * uses it. A wrong value stops the command. As in stock Git, three things are
 * not checked: a key without value, gc.reflogExpireUnreachable, and the keys
 * for single refs.
 */
static int check_reflog_expire(const struct config *config, int64_t now,
			       struct error *err)
{
	const struct config_entry *entry = config_find(config,
						       "gc.reflogexpire");
	const char *value = entry ? entry->value : NULL;
	int64_t when;

	if (!value || !approxidate_parse_expiry(&when, value, now))
		return 0;
	return error_set(err, ERR_INVALID,
			 "failed to parse 'gc.reflogexpire' value '%s'", value);
}

static int load_dates(struct gc_settings *s, const struct gc_args *a,
		      const struct config *config, struct error *err)
{
	int64_t now = sys_clock_seconds(), when;
	const char *log;
	int ret = check_reflog_expire(config, now, err);

	if (!ret)
		ret = load_date(&s->prune, "gc.pruneexpire", "2.weeks.ago",
				config, err);
	if (!ret)
		ret = load_date(&s->worktree_prune, "gc.worktreepruneexpire",
				"3.months.ago", config, err);
	if (!ret)
		ret = load_date(&log, "gc.logexpiry", "1.day.ago", config, err);
	if (ret < 0)
		return ret;
	if (approxidate_parse_expiry(&s->log_expiry, log, now) < 0)
		return error_set(err, ERR_INVALID, "Invalid gc.logexpiry: '%s'",
				 log);
	if (a->prune == option_negated)
		s->prune = NULL;
	else if (a->prune)
		s->prune = a->prune;
	if (s->prune && approxidate_parse_expiry(&when, s->prune, now) < 0)
		return error_set(err, ERR_INVALID,
				 "failed to parse prune expiry value %s",
				 s->prune);
	return 0;
}

/* Load gc.packRefs, a boolean or "notbare". */
static int load_pack_refs(struct gc_settings *s, const struct repo *repo,
			  struct error *err)
{
	const char *value = config_string(&repo->config, "gc.packrefs");
	int ret;

	s->pack_refs = true;
	if (value && !strcmp(value, "notbare")) {
		s->pack_refs = !repo->is_bare;
		return 0;
	}
	ret = config_bool(&repo->config, "gc.packrefs", &s->pack_refs, err);
	return ret < 0 ? ret : 0;
}

static int load_numbers(struct gc_settings *s, const struct config *config,
			struct error *err)
{
	int64_t auto_limit = AUTO_DEFAULT, pack_limit = PACK_LIMIT_DEFAULT;
	int64_t depth = DEPTH_DEFAULT, window = WINDOW_DEFAULT;
	/*
	 * gc only checks this value and does not use it. As in stock Git, a
	 * negative number is an error of gc, but not of pack-objects.
	 */
	uint64_t cache;
	const struct {
		const char *key;
		uint64_t *value;
	} sizes[] = {
		{"gc.bigpackthreshold", &s->big_pack},
		{"gc.maxcruftsize", &s->max_cruft_size},
		{"pack.deltacachesize", &cache},
	};
	int ret = config_i64(config, "gc.auto", &auto_limit, err);

	if (ret >= 0)
		ret = config_i64(config, "gc.autopacklimit", &pack_limit, err);
	s->auto_limit = auto_limit > 0 ? (uint64_t)auto_limit : 0;
	s->pack_limit = pack_limit > 0 ? (uint64_t)pack_limit : 0;
	if (ret >= 0)
		ret = config_i64(config, "gc.aggressivedepth", &depth, err);
	if (ret >= 0)
		ret = config_i64(config, "gc.aggressivewindow", &window, err);
	s->depth = depth > 0 ? (uint64_t)depth : 0;
	s->window = window > 0 ? (uint64_t)window : 0;
	for (size_t i = 0; i < ARRAY_NR(sizes) && ret >= 0; i++)
		ret = config_u64(config, sizes[i].key, sizes[i].value, err);
	return ret < 0 ? ret : 0;
}

int gc_settings_load(struct gc_settings *s, const struct gc_args *a,
		     const struct repo *repo, struct error *err)
{
	const struct config *config = &repo->config;
	int ret;

	*s = (struct gc_settings){0};
	ret = load_dates(s, a, config, err);
	s->cruft = s->detach = s->commit_graph = true;
	if (!ret)
		ret = load_numbers(s, config, err);
	if (!ret)
		ret = load_pack_refs(s, repo, err);
	if (ret >= 0)
		ret = config_bool(config, "gc.cruftpacks", &s->cruft, err);
	if (ret >= 0)
		ret = config_bool(config, "gc.writecommitgraph",
				  &s->commit_graph, err);
	if (ret >= 0)
		ret = config_bool(config, "gc.autodetach", &s->detach, err);
	if (ret >= 0)
		ret = config_bool(config, "maintenance.autodetach", &s->detach,
				  err);
	s->filter = config_string(config, "gc.repackfilter");
	s->filter_to = config_string(config, "gc.repackfilterto");
	if (a->cruft >= 0)
		s->cruft = a->cruft;
	if (a->detach >= 0)
		s->detach = a->detach;
	if (a->max_cruft_size != UINT64_MAX)
		s->max_cruft_size = a->max_cruft_size;
	return ret < 0 ? ret : 0;
}

void gc_add_unreachable(struct child_words *w, const struct gc_settings *s,
			const char *expire_to)
{
	bool now = s->prune && !strcmp(s->prune, "now");

	if (now && !(s->cruft && expire_to)) {
		child_add(w, "-a");
	} else if (!s->cruft) {
		child_add(w, "-A");
		if (s->prune)
			child_add(w, "--unpack-unreachable=%s", s->prune);
	} else {
		child_add(w, "--cruft");
		if (s->prune)
			child_add(w, "--cruft-expiration=%s", s->prune);
		if (s->max_cruft_size)
			child_add(w, "--max-cruft-size=%" PRIu64,
				  s->max_cruft_size);
		if (expire_to)
			child_add(w, "--expire-to=%s", expire_to);
	}
}
