/* SPDX-License-Identifier: MIT */
/* Finds signatures, and parses the output of programs that verify them. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "repo/signature.h"

static bool begins_with(const char *text, size_t len, const char *prefix)
{
	size_t prefix_len = strlen(prefix);

	return len >= prefix_len && !memcmp(text, prefix, prefix_len);
}

/* Returns the length of the first line, including its line feed. */
static size_t line_len(const char *text, size_t len)
{
	const char *end = memchr(text, '\n', len);

	return end ? (size_t)(end - text) + 1 : len;
}

static enum signature_format format_of(const char *text, size_t len)
{
	static const struct {
		const char *line;
		enum signature_format format;
	} begins[] = {
		{"-----BEGIN PGP SIGNATURE-----", SIGNATURE_OPENPGP},
		{"-----BEGIN PGP MESSAGE-----", SIGNATURE_OPENPGP},
		{"-----BEGIN SIGNED MESSAGE-----", SIGNATURE_X509},
		{"-----BEGIN SSH SIGNATURE-----", SIGNATURE_SSH},
	};

	for (size_t i = 0; i < ARRAY_NR(begins); i++)
		if (begins_with(text, len, begins[i].line))
			return begins[i].format;
	return SIGNATURE_NONE;
}

size_t signature_find(enum signature_format *format, const char *text,
		      size_t len)
{
	size_t at = 0;

	*format = SIGNATURE_NONE;
	while (at < len) {
		*format = format_of(text + at, len - at);
		if (*format != SIGNATURE_NONE)
			break;
		at += line_len(text + at, len - at);
	}
	return at;
}

void signature_check_release(struct signature_check *check)
{
	free(check->signer);
	free(check->key);
	free(check->problem);
	*check = (struct signature_check){0};
}

/* ---- gpg */

static char verdict_of(const char *word, size_t len)
{
	static const struct {
		const char *word;
		char status;
	} verdicts[] = {
		{"GOODSIG", 'G'},   {"BADSIG", 'B'},    {"EXPSIG", 'X'},
		{"EXPKEYSIG", 'Y'}, {"REVKEYSIG", 'R'}, {"ERRSIG", 'E'},
	};

	for (size_t i = 0; i < ARRAY_NR(verdicts); i++)
		if (len == strlen(verdicts[i].word) &&
		    !memcmp(word, verdicts[i].word, len))
			return verdicts[i].status;
	return '\0';
}

/*
 * Returns the length of the word at p, up to the first space or the end of the
 * line.
 */
static size_t word_len(const char *p, const char *end)
{
	const char *q = p;

	while (q < end && *q != ' ' && *q != '\n')
		q++;
	return (size_t)(q - p);
}

/*
 * Parses the words "<key> <signer>" of a status line. A line with ERRSIG has
 * numbers in place of the signer. Returns 0 or ERR_NOMEM.
 */
static int take_verdict(struct signature_check *check, char status,
			const char *p, const char *end)
{
	size_t key_len = word_len(p, end);

	check->status = status;
	check->key = mem_strndup(p, key_len);
	if (!check->key)
		return ERR_NOMEM;
	p += key_len;
	p += p < end && *p == ' ';
	if (status == 'E')
		return 0;
	check->signer = mem_strndup(p, (size_t)(end - p));
	return check->signer ? 0 : ERR_NOMEM;
}

int signature_parse_gpg(struct signature_check *check, const char *text,
			size_t len)
{
	static const char prefix[] = "[GNUPG:] ";
	bool has_verdict = false;

	for (size_t n; len; text += n, len -= n) {
		const char *p = text, *end;
		size_t word;
		char status;

		n = line_len(text, len);
		end = text + n - (text[n - 1] == '\n');
		if (!begins_with(text, n, prefix))
			continue;
		p += sizeof(prefix) - 1;
		word = word_len(p, end);
		status = verdict_of(p, word);
		if (!status)
			continue;
		if (has_verdict) {
			signature_check_release(check);
			check->status = 'E';
			return 0;
		}
		has_verdict = true;
		p += word;
		p += p < end;
		if (take_verdict(check, status, p, end) < 0)
			return ERR_NOMEM;
	}
	return 0;
}

/* ---- ssh-keygen */

/* Returns the last occurrence of a word in a line, or NULL. */
static char *find_last(char *line, const char *word)
{
	char *found = NULL;

	for (char *p = strstr(line, word); p; p = strstr(p + 1, word))
		found = p;
	return found;
}

int signature_parse_ssh(struct signature_check *check, const char *text,
			size_t len)
{
	static const char good[] = "Good \"git\" signature";
	static const char by[] = " for ", with[] = " with ", key[] = " key ";
	size_t n = line_len(text, len);
	char *line, *at_with, *at_key;
	int ret = 0;

	if (!begins_with(text, n, good))
		return 0;
	line = mem_strndup(text, n && text[n - 1] == '\n' ? n - 1 : n);
	if (!line)
		return ERR_NOMEM;
	/*
	 * The name of a signer may contain any text, so the words after the
	 * name are looked for from the end.
	 */
	at_key = find_last(line, key);
	if (at_key)
		*at_key = '\0';
	at_with = at_key ? find_last(line, with) : NULL;
	if (!at_with)
		goto out;
	*at_with = '\0';
	ret = 1;
	check->status = 'U';
	check->key = mem_strdup(at_key + sizeof(key) - 1);
	text = line + sizeof(good) - 1;
	if (!strncmp(text, by, sizeof(by) - 1) && text[sizeof(by) - 1]) {
		check->status = 'G';
		check->signer = mem_strdup(text + sizeof(by) - 1);
	}
	if (!check->key || (check->status == 'G' && !check->signer))
		ret = ERR_NOMEM;
out:
	free(line);
	return ret;
}
