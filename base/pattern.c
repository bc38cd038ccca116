/* SPDX-License-Identifier: MIT */
/* Regular expressions, matched by PCRE2. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/pattern.h"

/*
 * The number of steps that PCRE2 may take for one match. Ordinary patterns need
 * a few hundred.
 */
#define MATCH_LIMIT 1000000

struct pattern {
	pcre2_code *code;
	pcre2_match_data *match;
	pcre2_match_context *context;
	unsigned group_nr;
};

/*
 * Compiles the pattern `text`, which is in PCRE2's syntax. `given` is the
 * pattern as the user wrote it, for the error message.
 */
static int compile_code(struct pattern *p, const char *text, const char *given,
			bool anchored, struct error *err)
{
	uint32_t options = PCRE2_DOTALL | PCRE2_DOLLAR_ENDONLY |
			   PCRE2_NEVER_UTF | (anchored ? PCRE2_ANCHORED : 0);
	PCRE2_UCHAR why[128];
	PCRE2_SIZE at;
	int code;

	p->code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
				options, &code, &at, NULL);
	if (p->code)
		return 0;
	if (code == PCRE2_ERROR_HEAP_FAILED)
		return error_nomem(err);
	pcre2_get_error_message(code, why, sizeof(why));
	return error_set(err, ERR_INVALID, "bad pattern '%s': %s", given,
			 (const char *)why);
}

static int compile(struct pattern *p, const char *text, bool anchored,
		   struct error *err)
{
	struct buf pcre = BUF_INIT;
	size_t at;
	int ret = ere_to_pcre(&pcre, text, &at);

	if (ret == ERR_INVALID)
		error_set(err, ERR_INVALID, "bad pattern '%s' at character %zu",
			  text, at);
	else if (ret < 0)
		error_nomem(err);
	else
		ret = compile_code(p, pcre.data, text, anchored, err);
	buf_release(&pcre);
	if (ret < 0)
		return ret;
	/*
	 * PCRE2 has no JIT compiler for some processors. On these processors
	 * matching is slower but works, so an error is ignored.
	 */
	pcre2_jit_compile(p->code, PCRE2_JIT_COMPLETE);
	pcre2_pattern_info(p->code, PCRE2_INFO_CAPTURECOUNT, &p->group_nr);
	p->match = pcre2_match_data_create_from_pattern(p->code, NULL);
	p->context = pcre2_match_context_create(NULL);
	if (!p->match || !p->context)
		return error_nomem(err);
	pcre2_set_match_limit(p->context, MATCH_LIMIT);
	return 0;
}

int pattern_new(struct pattern **out, const char *text, bool anchored,
		struct error *err)
{
	struct pattern *p = mem_calloc(1, sizeof(*p));
	int ret = p ? compile(p, text, anchored, err) : error_nomem(err);

	if (ret < 0) {
		pattern_free(p);
		p = NULL;
	}
	*out = p;
	return ret;
}

void pattern_free(struct pattern *p)
{
	if (!p)
		return;
	pcre2_match_context_free(p->context);
	pcre2_match_data_free(p->match);
	pcre2_code_free(p->code);
	free(p);
}

int pattern_match(struct pattern *p, const char *name, size_t len,
		  struct error *err)
{
	int ret = pcre2_match(p->code, (PCRE2_SPTR)name, len, 0, 0, p->match,
			      p->context);

	if (ret == PCRE2_ERROR_NOMATCH)
		return 0;
	if (ret == PCRE2_ERROR_NOMEMORY)
		return error_nomem(err);
	if (ret < 0)
		return error_set(err, ERR_INVALID,
				 "pattern takes too long on '%.*s'", (int)len,
				 name);
	return 1;
}

int pattern_captures(struct buf *out, const struct pattern *p, const char *name)
{
	const PCRE2_SIZE *at = pcre2_get_ovector_pointer(p->match);
	bool any = false;

	for (unsigned i = 1; i <= p->group_nr; i++) {
		PCRE2_SIZE start = at[2 * i], end = at[2 * i + 1];

		if (start == PCRE2_UNSET)
			continue;
		if (any && buf_append_char(out, '-') < 0)
			return ERR_NOMEM;
		if (buf_append(out, name + start, end - start) < 0)
			return ERR_NOMEM;
		any = true;
	}
	return 0;
}
