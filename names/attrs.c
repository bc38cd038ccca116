/* SPDX-License-Identifier: MIT */
/*
 * Parses rules of attributes, drops irrelevant rules, and matches paths.
 *
 * A struct attrs stores the rules about one attribute, the wanted attribute. A
 * path gets this attribute directly, or by a macro. All names have numbers: 0
 * is the wanted attribute, and 1 and more are the macros that set it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/quote.h"
#include "base/wildmatch.h"
#include "names/attrs.h"

#define LINE_MAX_LEN 2048
#define NAMES_MAX 256
#define NO_NAME NAMES_MAX

static const char blanks[] = " \t\r\n";
static const char macro_mark[] = "[attr]";

/*
 * One word after the pattern in a line of an attribute file: an attribute or
 * macro, and its state.
 */
struct setting {
	char *name; /* owned */
	/*
	 * A number that stands for `name`. 0: the wanted attribute. 1 or more:
	 * a macro that sets the wanted attribute. NO_NAME: the name has no
	 * effect on the wanted attribute. attrs_settle() sets this field.
	 */
	uint16_t name_nr;
	uint8_t state; /* enum attr_state */
};

struct rule {
	/* owned: the pattern; for a macro, the macro's name */
	char *pattern;
	/*
	 * owned: directory of the file that has the rule, "" or with a slash at
	 * the end
	 */
	char *dir;
	size_t dir_len;
	size_t first, nr; /* settings */
	bool is_macro;
	/*
	 * true: the pattern is matched against the whole path; false: only
	 * against its last component
	 */
	bool is_path;
	unsigned flags; /* for wildmatch() */
};

struct attrs {
	/*
	 * owned; if two rules match a path, the later one overrides the earlier
	 * one
	 */
	struct rule *rules;
	size_t nr, alloc;
	struct setting *settings; /* owned */
	size_t setting_nr, setting_alloc;
	/*
	 * Indexed by number: the names of the wanted attribute and of the
	 * macros that set it. names[0] is owned; all others are borrowed from
	 * `rules`.
	 */
	const char *names[NAMES_MAX];
	size_t name_nr;
	/*
	 * macros[i] is the rule that defines names[i] as a macro, or NULL if no
	 * rule does. attrs_settle() fills the array.
	 */
	const struct rule *macros[NAMES_MAX];
};

struct attrs *attrs_new(const char *name)
{
	struct attrs *a = mem_calloc(1, sizeof(*a));
	char *copy = mem_strdup(name);

	if (!a || !copy) {
		free(a);
		free(copy);
		return NULL;
	}
	a->names[0] = copy;
	a->name_nr = 1;
	return a;
}

static void rule_release(struct rule *rule)
{
	free(rule->pattern);
	free(rule->dir);
}

void attrs_free(struct attrs *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->nr; i++)
		rule_release(&a->rules[i]);
	for (size_t i = 0; i < a->setting_nr; i++)
		free(a->settings[i].name);
	free(a->rules);
	free(a->settings);
	free((char *)(uintptr_t)a->names[0]);
	free(a);
}

/* ---- parsing */

static bool name_is_good(const char *name, size_t len)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";

	return len && *name != '-' && strspn(name, good) >= len;
}

/*
 * Adds a word "name", "-name", "!name" or "name=value" to a rule. Returns 1 if
 * added, 0 if the word is invalid, or ERR_NOMEM.
 */
static int add_setting(struct attrs *a, const char *word, size_t len)
{
	struct setting set = {.state = ATTR_SET};
	const char *equals;

	if (*word == '-' || *word == '!') {
		set.state = *word == '-' ? ATTR_UNSET : ATTR_UNSPECIFIED;
		word++;
		len--;
	}
	equals = memchr(word, '=', len);
	if (equals) {
		len = (size_t)(equals - word);
		if (set.state == ATTR_SET)
			set.state = ATTR_VALUE;
	}
	if (!name_is_good(word, len))
		return 0;
	set.name = mem_strndup(word, len);
	if (!set.name || mem_grow(&a->settings, &a->setting_alloc,
				  a->setting_nr + 1, sizeof(set)) < 0) {
		free(set.name);
		return ERR_NOMEM;
	}
	a->settings[a->setting_nr++] = set;
	return 1;
}

/*
 * Adds the remaining words of a line to the newest rule. Returns 1 if all were
 * added, 0 if a word is invalid, or ERR_NOMEM.
 */
static int add_settings(struct attrs *a, const char *p)
{
	int ret = 1;

	for (p += strspn(p, blanks); *p && ret > 0; p += strspn(p, blanks)) {
		size_t len = strcspn(p, blanks);

		ret = add_setting(a, p, len);
		p += len;
	}
	return ret;
}

static void drop_settings(struct attrs *a, size_t nr)
{
	while (a->setting_nr > nr)
		free(a->settings[--a->setting_nr].name);
}

/*
 * Takes the first word of a line, the pattern, into *word. Returns 1 if taken,
 * 0 if the line has no word, or ERR_NOMEM.
 */
static int take_pattern(struct buf *word, const char **p)
{
	size_t len;

	*p += strspn(*p, blanks);
	if (**p == '#')
		return 0;
	if (**p == '"') {
		int ret = quote_undo_c(word, *p, p);

		if (ret != ERR_INVALID)
			return ret < 0 ? ret : 1;
		/*
		 * The word starts with a quote, but is not a correct C string.
		 * So the quotes are part of the pattern.
		 */
		buf_reset(word);
	}
	len = strcspn(*p, blanks);
	if (!len || buf_append(word, *p, len) < 0)
		return len ? ERR_NOMEM : 0;
	*p += len;
	return 1;
}

/*
 * Makes a rule whose pattern is the first word of a line. Returns 1 if made, 0
 * if the rule could never match, or ERR_NOMEM.
 */
static int make_rule(struct rule *rule, const char **p, const char *word,
		     const char *dir, unsigned flags)
{
	size_t mark_len = sizeof(macro_mark) - 1;
	size_t len = strlen(word);

	*rule = (struct rule){.dir_len = strlen(dir)};
	if (!strncmp(word, macro_mark, mark_len)) {
		rule->is_macro = true;
		word += mark_len;
		/* "[attr] name", with a space, also defines a macro. */
		if (!*word) {
			*p += strspn(*p, blanks);
			word = *p;
			*p += strcspn(*p, blanks);
		}
		len = strcspn(word, blanks);
		if (!(flags & ATTRS_MACROS) || !name_is_good(word, len))
			return 0;
	} else {
		/*
		 * Skip negative patterns and patterns that match only
		 * directories. This code finds attributes of files only.
		 */
		if (*word == '!' || !len || word[len - 1] == '/')
			return 0;
		rule->is_path = strchr(word, '/') != NULL;
		if (*word == '/') {
			word++;
			len--;
		}
		rule->flags = rule->is_path ? WILDMATCH_PATHNAME : 0;
		if (flags & ATTRS_ICASE)
			rule->flags |= WILDMATCH_ICASE;
	}
	rule->pattern = mem_strndup(word, len);
	rule->dir = mem_strdup(dir);
	return rule->pattern && rule->dir ? 1 : ERR_NOMEM;
}

static int add_line(struct attrs *a, const char *p, const char *dir,
		    unsigned flags)
{
	struct buf word = BUF_INIT;
	struct rule rule = {0};
	int ret = take_pattern(&word, &p);

	if (ret > 0)
		ret = make_rule(&rule, &p, word.data, dir, flags);
	rule.first = a->setting_nr;
	if (ret > 0)
		ret = add_settings(a, p);
	rule.nr = a->setting_nr - rule.first;
	if (ret > 0 &&
	    mem_grow(&a->rules, &a->alloc, a->nr + 1, sizeof(rule)) < 0)
		ret = ERR_NOMEM;
	if (ret > 0) {
		a->rules[a->nr++] = rule;
	} else {
		drop_settings(a, rule.first);
		rule_release(&rule);
	}
	buf_release(&word);
	return ret < 0 ? ret : 0;
}

int attrs_add(struct attrs *a, const char *text, size_t len, const char *dir,
	      unsigned flags)
{
	static const char mark[] = "\xef\xbb\xbf"; /* byte order mark */
	const char *end = text + len;
	struct buf line = BUF_INIT;
	int ret = 0;

	if (len >= 3 && !memcmp(text, mark, 3))
		text += 3;
	while (!ret && text < end) {
		const char *eol = memchr(text, '\n', (size_t)(end - text));
		size_t line_len = (size_t)((eol ? eol : end) - text);

		buf_reset(&line);
		if (line_len < LINE_MAX_LEN) {
			ret = buf_append(&line, text, line_len);
			if (!ret)
				ret = add_line(a, line.data, dir, flags);
		}
		text += line_len + (eol != NULL);
	}
	buf_release(&line);
	return ret;
}

/* ---- settling */

static uint16_t find_name(const struct attrs *a, const char *name)
{
	for (size_t i = 0; i < a->name_nr; i++)
		if (!strcmp(a->names[i], name))
			return (uint16_t)i;
	return NO_NAME;
}

static bool matters(const struct attrs *a, const struct rule *rule)
{
	for (size_t i = 0; i < rule->nr; i++)
		if (a->settings[rule->first + i].name_nr != NO_NAME)
			return true;
	return false;
}

static void number_settings(struct attrs *a)
{
	for (size_t i = 0; i < a->setting_nr; i++)
		a->settings[i].name_nr = find_name(a, a->settings[i].name);
}

/*
 * Gives numbers to the macros that set the wanted attribute, either directly or
 * by setting another macro that has a number already. Returns 1 if macros got
 * numbers, 0 if there are no further macros, or ERR_UNSUPPORTED if there are
 * too many.
 */
static int number_macros(struct attrs *a, struct error *err)
{
	size_t before = a->name_nr;

	number_settings(a);
	for (size_t i = 0; i < a->nr; i++) {
		const struct rule *rule = &a->rules[i];

		if (!rule->is_macro || !matters(a, rule) ||
		    find_name(a, rule->pattern) != NO_NAME)
			continue;
		if (a->name_nr == NAMES_MAX)
			return error_set(err, ERR_UNSUPPORTED,
					 "too many macros of attribute '%s'",
					 a->names[0]);
		a->names[a->name_nr++] = rule->pattern;
	}
	return a->name_nr > before;
}

/*
 * Finds the definition of each macro. If a macro is defined several times, the
 * last definition is used.
 */
static void find_definitions(struct attrs *a)
{
	for (size_t i = 0; i < a->nr; i++) {
		const struct rule *rule = &a->rules[i];
		uint16_t nr;

		if (!rule->is_macro)
			continue;
		nr = find_name(a, rule->pattern);
		if (nr != NO_NAME)
			a->macros[nr] = rule;
	}
}

/*
 * Drops rules that do not set the wanted attribute. Definitions of macros stay,
 * because names[] borrows their names.
 */
static void drop_rules(struct attrs *a)
{
	size_t kept = 0;

	for (size_t i = 0; i < a->nr; i++) {
		struct rule *rule = &a->rules[i];

		if (rule->is_macro || matters(a, rule))
			a->rules[kept++] = *rule;
		else
			rule_release(rule);
	}
	a->nr = kept;
}

int attrs_settle(struct attrs *a, struct error *err)
{
	int ret;

	do
		ret = number_macros(a, err);
	while (ret > 0);
	if (ret < 0)
		return ret;
	drop_rules(a);
	find_definitions(a);
	return 0;
}

/* ---- queries */

bool attrs_any(const struct attrs *a)
{
	for (size_t i = 0; i < a->nr; i++)
		if (!a->rules[i].is_macro)
			return true;
	return false;
}

/*
 * The state of a query about one path. is_decided[i] tells whether the
 * attribute or macro a->names[i] is decided already.
 */
struct decision {
	bool is_decided[NAMES_MAX];
	/* state of the wanted attribute, which has number 0 */
	uint8_t state;
};

/*
 * Applies the settings of a rule to the attributes that are not decided yet. If
 * a rule sets an attribute several times, the last setting is used.
 */
static void apply(struct decision *d, const struct attrs *a,
		  const struct rule *rule)
{
	for (size_t i = rule->nr; i > 0; i--) {
		const struct setting *set = &a->settings[rule->first + i - 1];
		uint16_t nr = set->name_nr;

		if (nr == NO_NAME || d->is_decided[nr])
			continue;
		d->is_decided[nr] = true;
		if (!nr)
			d->state = set->state;
		if (a->macros[nr] && set->state == ATTR_SET)
			apply(d, a, a->macros[nr]);
	}
}

static bool rule_matches(const struct rule *rule, const char *path)
{
	const char *slash;

	if (rule->is_macro || strncmp(path, rule->dir, rule->dir_len) != 0)
		return false;
	path += rule->dir_len;
	slash = rule->is_path ? NULL : strrchr(path, '/');
	return wildmatch(rule->pattern, slash ? slash + 1 : path, rule->flags);
}

enum attr_state attrs_of(const struct attrs *a, const char *path)
{
	struct decision d = {.state = ATTR_UNSPECIFIED};

	for (size_t i = a->nr; i > 0 && !d.is_decided[0]; i--)
		if (rule_matches(&a->rules[i - 1], path))
			apply(&d, a, &a->rules[i - 1]);
	return (enum attr_state)d.state;
}
