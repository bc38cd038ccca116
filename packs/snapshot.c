/* SPDX-License-Identifier: MIT */
/* Reads the tips of references from a file (--refs-snapshot). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "packs/snapshot.h"
#include "sys/io.h"

/* Maximum number of bytes of a line that an error message shows. */
#define LINE_SHOWN_MAX 200

/*
 * Parse one line of the file, without its line feed. Returns 0, ERR_INVALID or
 * ERR_NOMEM.
 */
static int take_line(struct snapshot *s, const char *line, size_t len,
		     enum hash_algo algo, struct error *err)
{
	struct snapshot_tip tip = {.is_preferred = len && *line == '+'};
	size_t hex_len = hash_hex_len(algo);
	const char *hex = line + tip.is_preferred;
	const char *wrong = NULL;

	if (len - tip.is_preferred < hex_len ||
	    !oid_from_hex(&tip.oid, hex, hex_len, algo))
		wrong = "could not parse line";
	else if (len - tip.is_preferred > hex_len)
		wrong = "malformed line";
	if (wrong)
		return error_set(
			err, ERR_INVALID, "%s: %.*s", wrong,
			(int)(len < LINE_SHOWN_MAX ? len : LINE_SHOWN_MAX),
			line);
	if (mem_grow(&s->tips, &s->alloc, s->nr + 1, sizeof(*s->tips)) < 0)
		return error_nomem(err);
	s->tips[s->nr++] = tip;
	return 0;
}

int snapshot_parse(struct snapshot *snapshot, const void *bytes, size_t len,
		   enum hash_algo algo, struct error *err)
{
	const char *p = bytes, *end = p + len;
	int ret = 0;

	*snapshot = (struct snapshot){0};
	while (p < end && !ret) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		const char *stop = newline ? newline : end;

		ret = take_line(snapshot, p, (size_t)(stop - p), algo, err);
		p = newline ? newline + 1 : end;
	}
	return ret;
}

int snapshot_load(struct snapshot *snapshot, const char *path,
		  enum hash_algo algo, struct error *err)
{
	struct error why = ERROR_INIT;
	struct buf bytes = BUF_INIT;
	int ret = sys_read_any(&bytes, path, &why);

	*snapshot = (struct snapshot){0};
	if (ret == ERR_NOMEM)
		ret = error_nomem(err);
	else if (ret < 0)
		ret = error_set(
			err, ERR_IO, "could not open '%s' for reading: %s",
			path,
			strerror(ret == ERR_MISSING ? ENOENT : why.sys_errno));
	else
		ret = snapshot_parse(snapshot, bytes.data, bytes.len, algo,
				     err);
	buf_release(&bytes);
	return ret;
}

void snapshot_release(struct snapshot *snapshot)
{
	free(snapshot->tips);
	*snapshot = (struct snapshot){0};
}

int snapshot_add_tips(const struct snapshot *snapshot, struct walk *w,
		      struct walk_tips *tips, bool only_preferred,
		      struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	int ret = 0;

	for (size_t i = 0; i < snapshot->nr && !ret; i++) {
		const struct oid *oid = &snapshot->tips[i].oid;

		if (only_preferred && !snapshot->tips[i].is_preferred)
			continue;
		ret = walk_add_tip(w, tips, oid, false, err);
		if (ret == ERR_MISSING)
			ret = error_set(err, ERR_CORRUPT,
					"unable to parse object: %s",
					oid_to_hex(hex, oid, w->odb->algo));
	}
	return ret;
}
