/* SPDX-License-Identifier: MIT */
/* Loads the configuration bitmapPseudoMerge.*. */
#include <stdlib.h>
#include <string.h>

#include "base/approxidate.h"
#include "base/buf.h"
#include "base/mem.h"
#include "bitmap/pseudo-config.h"

#define PREFIX "bitmappseudomerge."

#define DEFAULT_THRESHOLD "1.week.ago"
#define DEFAULT_STABLE_THRESHOLD "1.month.ago"
#define DEFAULT_MAX_MERGES 64
#define DEFAULT_STABLE_SIZE 512

struct loading {
	struct pseudo_config *out;
	const struct config *config;
	int64_t now;
	/* full key of the variable that is being read */
	struct buf key;
	struct error *warning, *err;
};

void pseudo_config_release(struct pseudo_config *config)
{
	for (size_t i = 0; i < config->nr; i++) {
		free(config->sections[i].name);
		pattern_free(config->sections[i].pattern);
	}
	free(config->sections);
	*config = (struct pseudo_config)PSEUDO_CONFIG_INIT;
}

/*
 * Adds a section for the <name> of a key bitmapPseudoMerge.<name>.*, unless the
 * list already has this section. Returns 0 or ERR_NOMEM.
 */
static int add_name(void *ctx, const struct config_entry *entry)
{
	struct loading *l = ctx;
	const char *name = entry->key + strlen(PREFIX);
	const char *end = strrchr(name, '.');
	struct pseudo_section section = {0};

	/* A key without <name> has no meaning, and is ignored. */
	if (!end)
		return 0;
	for (size_t i = 0; i < l->out->nr; i++)
		if (strlen(l->out->sections[i].name) == (size_t)(end - name) &&
		    !memcmp(l->out->sections[i].name, name,
			    (size_t)(end - name)))
			return 0;
	section.name = mem_strndup(name, (size_t)(end - name));
	if (!section.name || mem_grow(&l->out->sections, &l->out->alloc,
				      l->out->nr + 1, sizeof(section)) < 0) {
		free(section.name);
		return error_nomem(l->err);
	}
	l->out->sections[l->out->nr++] = section;
	return 0;
}

/*
 * Finds the value of a variable in the section bitmapPseudoMerge.<name>. *value
 * is NULL if the variable is not set, and after an error. Sets l->key to the
 * full key. Returns 0, ERR_INVALID or ERR_NOMEM.
 */
static int find(struct loading *l, const struct pseudo_section *section,
		const char *variable, const char **value)
{
	const struct config_entry *entry;

	*value = NULL;
	buf_reset(&l->key);
	if (buf_printf(&l->key, PREFIX "%s.%s", section->name, variable) < 0)
		return error_nomem(l->err);
	entry = config_find(l->config, l->key.data);
	if (!entry)
		return 0;
	*value = entry->value;
	return entry->value ? 0
			    : error_set(l->err, ERR_INVALID,
					"missing value for '%s'", l->key.data);
}

static int warn(struct loading *l, const char *what)
{
	error_set(l->warning, ERR_INVALID, "%s must be %s, using default",
		  l->key.data, what);
	return 0;
}

static int load_double(struct loading *l, const struct pseudo_section *section,
		       const char *variable, double *out)
{
	const char *value;
	char *end;
	double number;
	int ret = find(l, section, variable, &value);

	if (ret < 0 || !value)
		return ret;
	number = strtod(value, &end);
	if (end == value || *end)
		return error_set(l->err, ERR_INVALID,
				 "bad numeric config value '%s' for '%s': "
				 "invalid unit",
				 value, l->key.data);
	*out = number;
	return 1;
}

static int load_decay(struct loading *l, struct pseudo_section *section)
{
	double number = 0;
	int ret = load_double(l, section, "decay", &number);

	section->rules.decay = 1;
	if (ret <= 0)
		return ret;
	if (!(number >= 0))
		return warn(l, "non-negative");
	section->rules.decay = number;
	return 0;
}

static int load_sample_rate(struct loading *l, struct pseudo_section *section)
{
	double number = 0;
	int ret = load_double(l, section, "samplerate", &number);

	section->rules.sample_rate = 1;
	if (ret <= 0)
		return ret;
	if (!(number > 0 && number <= 1))
		return warn(l, "between 0 (exclusive) and 1");
	section->rules.sample_rate = number;
	return 0;
}

static int load_count(struct loading *l, const struct pseudo_section *section,
		      const char *variable, uint32_t *out, int64_t least,
		      const char *what)
{
	const char *value;
	int64_t number;
	int ret = find(l, section, variable, &value);

	if (value)
		ret = config_i64(l->config, l->key.data, &number, l->err);
	if (ret <= 0)
		return ret;
	if (number < least)
		return warn(l, what);
	*out = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
	return 0;
}

static int load_date(struct loading *l, const struct pseudo_section *section,
		     const char *variable, const char *otherwise, int64_t *out)
{
	const char *value;
	int ret = find(l, section, variable, &value);

	if (ret < 0)
		return ret;
	if (approxidate_parse_expiry(out, value ? value : otherwise, l->now) <
	    0)
		return error_set(l->err, ERR_INVALID,
				 "'%s' for '%s' is not a valid timestamp",
				 value, l->key.data);
	return 0;
}

static int load_pattern(struct loading *l, struct pseudo_section *section)
{
	struct buf anchored = BUF_INIT;
	const char *value;
	int ret = find(l, section, "pattern", &value);

	if (ret < 0)
		return ret;
	if (!value)
		return error_set(l->err, ERR_INVALID,
				 "pseudo-merge group '%s' missing required "
				 "pattern",
				 section->name);
	if (buf_printf(&anchored, "^%s", value) < 0)
		return error_nomem(l->err);
	ret = pattern_new(&section->pattern, anchored.data, false, l->err);
	if (ret == ERR_INVALID)
		error_set(l->err, ERR_INVALID,
			  "failed to load pseudo-merge regex for %s.pattern: "
			  "'%s'",
			  section->name, anchored.data);
	buf_release(&anchored);
	return ret;
}

static int load_section(struct loading *l, struct pseudo_section *section)
{
	struct pseudo_rules *rules = &section->rules;
	int ret = load_pattern(l, section);

	rules->max_merges = DEFAULT_MAX_MERGES;
	rules->stable_size = DEFAULT_STABLE_SIZE;
	if (!ret)
		ret = load_decay(l, section);
	if (!ret)
		ret = load_sample_rate(l, section);
	if (!ret)
		ret = load_count(l, section, "maxmerges", &rules->max_merges, 0,
				 "non-negative");
	if (!ret)
		ret = load_count(l, section, "stablesize", &rules->stable_size,
				 1, "positive");
	if (!ret)
		ret = load_date(l, section, "threshold", DEFAULT_THRESHOLD,
				&rules->threshold);
	if (!ret)
		ret = load_date(l, section, "stablethreshold",
				DEFAULT_STABLE_THRESHOLD,
				&rules->stable_threshold);
	if (!ret && rules->threshold < rules->stable_threshold)
		ret = error_set(l->err, ERR_INVALID,
				"pseudo-merge group '%s' has unstable "
				"threshold before stable one",
				section->name);
	return ret;
}

int pseudo_config_load(struct pseudo_config *out, const struct config *config,
		       int64_t now, struct error *warning, struct error *err)
{
	struct loading l = {
		.out = out,
		.config = config,
		.now = now,
		.key = BUF_INIT,
		.warning = warning,
		.err = err,
	};
	int ret = config_each(config, PREFIX, add_name, &l);

	for (size_t i = 0; i < out->nr && !ret; i++)
		ret = load_section(&l, &out->sections[i]);
	buf_release(&l.key);
	return ret;
}
