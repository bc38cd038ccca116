/* SPDX-License-Identifier: MIT */
/*
 * Records of generations: checks the limits of fields, and prints and parses
 * records. Also adds and removes entries in the lists of files and refs of a
 * struct generation, in memory. A record has only one valid text: printing a
 * parsed record gives the same bytes.
 */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "generations/record.h"
#include "object/hash.h"

#define MAGIC "gitreach generation "
#define VERSION "1"
#define HEX_SHA256 (2 * GENERATION_SHA256_LEN)

/* ---- memory */

static void release_file(struct generation_file *file)
{
	free(file->path);
}

static void release_update(struct generation_update *u)
{
	free(u->ref);
	free(u->value);
}

void generation_release(struct generation *g)
{
	free(g->node);
	free(g->user);
	free(g->action);
	for (size_t i = 0; i < g->file_nr; i++)
		release_file(&g->files[i]);
	free(g->files);
	for (size_t i = 0; i < g->update_nr; i++)
		release_update(&g->updates[i]);
	free(g->updates);
	memset(g, 0, sizeof(*g));
}

/*
 * Sets *out to a copy of a string, or to NULL if the string is NULL. Returns
 * false if memory runs out.
 */
static bool copy_text(char **out, const char *text)
{
	*out = text ? mem_strdup(text) : NULL;
	return *out || !text;
}

static bool copy_words(struct generation *out, const struct generation *g)
{
	return copy_text(&out->node, g->node) &&
	       copy_text(&out->user, g->user) &&
	       copy_text(&out->action, g->action);
}

static bool copy_files(struct generation *out, const struct generation *g)
{
	if (mem_grow(&out->files, &out->file_alloc, g->file_nr,
		     sizeof(*out->files)) < 0)
		return false;
	for (; out->file_nr < g->file_nr; out->file_nr++) {
		struct generation_file *file = &out->files[out->file_nr];

		*file = g->files[out->file_nr];
		if (!copy_text(&file->path, file->path))
			return false;
	}
	return true;
}

static bool copy_updates(struct generation *out, const struct generation *g)
{
	if (mem_grow(&out->updates, &out->update_alloc, g->update_nr,
		     sizeof(*out->updates)) < 0)
		return false;
	for (; out->update_nr < g->update_nr; out->update_nr++) {
		struct generation_update *u = &out->updates[out->update_nr];
		char *ref = NULL, *value = NULL;

		if (!copy_text(&ref, g->updates[out->update_nr].ref) ||
		    !copy_text(&value, g->updates[out->update_nr].value)) {
			free(ref);
			return false;
		}
		*u = g->updates[out->update_nr];
		u->ref = ref;
		u->value = value;
	}
	return true;
}

int generation_copy(struct generation *out, const struct generation *g,
		    struct error *err)
{
	memset(out, 0, sizeof(*out));
	out->number = g->number;
	memcpy(out->parent, g->parent, sizeof(out->parent));
	memcpy(out->token, g->token, sizeof(out->token));
	out->time = g->time;
	out->epoch = g->epoch;
	out->tables = g->tables;
	out->is_retired = g->is_retired;
	if (copy_words(out, g) && copy_files(out, g) && copy_updates(out, g))
		return 0;
	generation_release(out);
	return error_nomem(err);
}

/* ---- limits of the fields */

/* Returns whether a text has at most `max` bytes, and no control characters. */
static bool is_text(const char *text, size_t max)
{
	size_t len = 0;

	for (; text[len]; len++) {
		unsigned char c = (unsigned char)text[len];

		if (len == max || c < 0x20 || c == 0x7f)
			return false;
	}
	return true;
}

static bool is_path(const char *path)
{
	char before = '/';

	if (!is_text(path, GENERATION_TEXT_MAX))
		return false;
	for (const char *p = path; *p; before = *p++)
		if (before == '/' && (*p == '/' || *p == '.'))
			return false;
	return before != '/';
}

static bool is_ref(const char *ref)
{
	return *ref && is_text(ref, GENERATION_TEXT_MAX) && !strchr(ref, ' ');
}

static bool is_value(const char *value)
{
	return *value && is_text(value, GENERATION_TEXT_MAX);
}

static bool is_zero(const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (bytes[i])
			return false;
	return true;
}

static int path_cmp(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns 1 if no two files have the same path, 0 if two have, or ERR_NOMEM. */
static int has_distinct_paths(const struct generation *g)
{
	const char **paths = mem_alloc(g->file_nr, sizeof(*paths));
	int distinct = 1;

	if (!paths)
		return ERR_NOMEM;
	for (size_t i = 0; i < g->file_nr; i++)
		paths[i] = g->files[i].path;
	qsort(paths, g->file_nr, sizeof(*paths), path_cmp);
	for (size_t i = 1; i < g->file_nr; i++)
		if (!strcmp(paths[i - 1], paths[i]))
			distinct = 0;
	free(paths);
	return distinct;
}

/*
 * Returns a message about the first wrong field of a record, or NULL if there
 * is none. The texts of its files and updates are not checked here.
 */
static const char *find_fault(const struct generation *g)
{
	if (!g->number)
		return "the number is 0";
	if ((g->number == 1) != is_zero(g->parent, sizeof(g->parent)))
		return "the parent does not fit the number";
	if (g->is_retired)
		return NULL;
	if (g->time < 0)
		return "the time is negative";
	if (g->epoch > g->number || g->tables > g->number)
		return "the epoch or the tables are newer than the record";
	for (size_t i = 0; i < g->update_nr; i++) {
		if (!g->updates[i].number || g->updates[i].number > g->number)
			return "an update has a wrong number";
		if (i && strcmp(g->updates[i - 1].ref, g->updates[i].ref) >= 0)
			return "the updates are not sorted";
	}
	return NULL;
}

/* ---- printing */

int generation_append_hex(struct buf *out, const uint8_t *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	size_t start = out->len;
	int ret = buf_reserve(out, 2 * len);

	if (ret < 0)
		return ret;
	buf_set_len(out, start + 2 * len);
	for (size_t i = 0; i < len; i++) {
		out->data[start + 2 * i] = digits[bytes[i] >> 4];
		out->data[start + 2 * i + 1] = digits[bytes[i] & 15];
	}
	return 0;
}

/* Appends "<key> <hexadecimal>", and a line feed. */
static int print_bytes(struct buf *out, const char *key, const uint8_t *bytes,
		       size_t len)
{
	int ret = buf_printf(out, "%s ", key);

	if (!ret)
		ret = generation_append_hex(out, bytes, len);
	return ret ? ret : buf_append_char(out, '\n');
}

static int print_word(struct buf *out, const char *key, const char *word)
{
	if (!word)
		word = "";
	if (!is_text(word, GENERATION_WORD_MAX))
		return ERR_INVALID;
	return buf_printf(out, "%s %s\n", key, word);
}

static int print_file(struct buf *out, const struct generation_file *file)
{
	int ret = is_path(file->path) ? buf_append_str(out, "file ")
				      : ERR_INVALID;

	if (!ret)
		ret = generation_append_hex(out, file->sha256,
					    sizeof(file->sha256));
	if (!ret)
		ret = buf_append_char(out, ' ');
	if (!ret)
		ret = generation_append_hex(out, file->upload,
					    sizeof(file->upload));
	if (!ret)
		ret = buf_printf(out, " %" PRIu64 " %s %s\n", file->size,
				 file->is_executable ? "100755" : "100644",
				 file->path);
	return ret;
}

static int print_update(struct buf *out, const struct generation_update *u)
{
	if (!is_ref(u->ref) || (u->value && !is_value(u->value)))
		return ERR_INVALID;
	if (!u->value)
		return buf_printf(out, "delete %" PRIu64 " %s\n", u->number,
				  u->ref);
	return buf_printf(out, "update %" PRIu64 " %s %s\n", u->number, u->ref,
			  u->value);
}

/* Prints the lines that a retired record does not have. */
static int print_body(struct buf *out, const struct generation *g)
{
	int ret = buf_printf(out,
			     "time %" PRId64 "\nepoch %" PRIu64
			     "\ntables %" PRIu64 "\n",
			     g->time, g->epoch, g->tables);

	if (!ret)
		ret = print_word(out, "node", g->node);
	if (!ret)
		ret = print_word(out, "user", g->user);
	if (!ret)
		ret = print_word(out, "action", g->action);
	for (size_t i = 0; !ret && i < g->file_nr; i++)
		ret = print_file(out, &g->files[i]);
	for (size_t i = 0; !ret && i < g->update_nr; i++)
		ret = print_update(out, &g->updates[i]);
	return ret;
}

static int sha256_of(struct oid *out, const char *bytes, size_t len)
{
	struct hash_ctx hash;

	if (hash_init(&hash, HASH_SHA256) < 0)
		return ERR_NOMEM;
	hash_update(&hash, bytes, len);
	hash_final(&hash, out);
	hash_release(&hash);
	return 0;
}

static int print_end(struct buf *out, uint8_t *sha256, size_t start)
{
	struct oid sum;
	int ret = sha256_of(&sum, out->data + start, out->len - start);

	if (!ret)
		ret = print_bytes(out, "end", sum.bytes, GENERATION_SHA256_LEN);
	if (!ret && out->len - start > GENERATION_RECORD_MAX)
		return ERR_INVALID;
	if (!ret && sha256)
		ret = sha256_of(&sum, out->data + start, out->len - start);
	if (!ret && sha256)
		memcpy(sha256, sum.bytes, GENERATION_SHA256_LEN);
	return ret;
}

/* Prints the lines that every record has. */
static int print_start(struct buf *out, const struct generation *g)
{
	int ret = buf_printf(out, MAGIC VERSION "\nnumber %" PRIu64 "\n",
			     g->number);

	return ret < 0 ? ret
		       : print_bytes(out, "parent", g->parent,
				     sizeof(g->parent));
}

int generation_print_head(struct buf *out, const struct generation *g)
{
	int ret = print_start(out, g);

	if (!ret)
		ret = print_bytes(out, "token", g->token, sizeof(g->token));
	return ret < 0 ? ERR_NOMEM : 0;
}

int generation_print(struct buf *out, uint8_t *sha256,
		     const struct generation *g, struct error *err)
{
	size_t start = out->len;
	const char *fault = find_fault(g);
	int ret = fault ? ERR_INVALID : has_distinct_paths(g);

	if (ret >= 0) {
		fault = ret ? "a text has characters that are not allowed, or "
			      "the record is too long"
			    : "two files have the same path";
		ret = ret ? 0 : ERR_INVALID;
	}
	if (!ret)
		ret = g->is_retired ? print_start(out, g)
				    : generation_print_head(out, g);
	if (!ret)
		ret = g->is_retired ? buf_append_str(out, "retired\n")
				    : print_body(out, g);
	if (!ret)
		ret = print_end(out, sha256, start);
	if (!ret)
		return 0;
	buf_set_len(out, start);
	if (ret == ERR_NOMEM)
		return error_nomem(err);
	return error_set(err, ERR_INVALID,
			 "record %" PRIu64 " of a repository: %s", g->number,
			 fault);
}

/* ---- parsing */

struct parser {
	const char *start, *p, *end;
	const char *name;
	struct error *err;
};

static int fail(const struct parser *x, const char *what)
{
	return error_set_at(x->err, ERR_CORRUPT, x->name,
			    (uint64_t)(x->p - x->start), "%s", what);
}

static bool take(struct parser *x, const char *text)
{
	size_t len = strlen(text);

	if ((size_t)(x->end - x->p) < len || memcmp(x->p, text, len) != 0)
		return false;
	x->p += len;
	return true;
}

/*
 * Takes a number without leading zeros from the parsed text, and the byte
 * `stop` after it. Returns false if the text does not begin with these.
 */
static bool take_number(struct parser *x, uint64_t *out, char stop)
{
	const char *p = x->p;
	uint64_t v = 0;

	for (; p < x->end && *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return false;
	if (p == x->p || (*x->p == '0' && p - x->p > 1) || p == x->end ||
	    *p != stop)
		return false;
	x->p = p + 1;
	*out = v;
	return true;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool generation_parse_hex(uint8_t *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		out[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

/*
 * Takes `len` bytes in lower-case hexadecimal from the parsed text, and the
 * byte `stop` after them. Returns false if the text does not begin with these.
 */
static bool take_hex(struct parser *x, uint8_t *out, size_t len, char stop)
{
	const char *p = x->p;

	if ((size_t)(x->end - p) < 2 * len + 1 || p[2 * len] != stop ||
	    !generation_parse_hex(out, p, len))
		return false;
	x->p = p + 2 * len + 1;
	return true;
}

/*
 * Takes a text of at most `max` bytes from the record, and the byte `stop`
 * after the text. Returns 0, 1 if the text is too long or has control
 * characters, or ERR_NOMEM.
 */
static int take_text(struct parser *x, char **out, size_t max, char stop)
{
	size_t left = (size_t)(x->end - x->p);
	const char *end = memchr(x->p, stop, left < max + 1 ? left : max + 1);

	if (!end)
		return 1;
	/* Refuse a NUL, which would hide the rest of the text. */
	if (memchr(x->p, '\0', (size_t)(end - x->p)))
		return 1;
	*out = mem_strndup(x->p, (size_t)(end - x->p));
	if (!*out)
		return error_nomem(x->err);
	if (!is_text(*out, max)) {
		free(*out);
		*out = NULL;
		return 1;
	}
	x->p = end + 1;
	return 0;
}

static int parse_word(struct parser *x, char **out, const char *key)
{
	int ret = take(x, key) ? take_text(x, out, GENERATION_WORD_MAX, '\n')
			       : 1;

	return ret > 0 ? fail(x, "expected a node, a user or an action") : ret;
}

static int parse_file(struct parser *x, struct generation *g)
{
	struct generation_file *file;
	int ret;

	if (mem_grow(&g->files, &g->file_alloc, g->file_nr + 1,
		     sizeof(*g->files)) < 0)
		return error_nomem(x->err);
	file = &g->files[g->file_nr];
	memset(file, 0, sizeof(*file));
	if (!take_hex(x, file->sha256, sizeof(file->sha256), ' ') ||
	    !take_hex(x, file->upload, sizeof(file->upload), ' ') ||
	    !take_number(x, &file->size, ' '))
		return fail(x, "wrong hash, upload or size of a file");
	file->is_executable = take(x, "100755 ");
	if (!file->is_executable && !take(x, "100644 "))
		return fail(x, "wrong mode of a file");
	ret = take_text(x, &file->path, GENERATION_TEXT_MAX, '\n');
	if (ret < 0)
		return ret;
	if (ret || !is_path(file->path)) {
		free(file->path);
		return fail(x, "wrong path of a file");
	}
	g->file_nr++;
	return 0;
}

static int parse_update(struct parser *x, struct generation *g, bool deletes)
{
	struct generation_update *u;
	int ret;

	if (mem_grow(&g->updates, &g->update_alloc, g->update_nr + 1,
		     sizeof(*g->updates)) < 0)
		return error_nomem(x->err);
	u = &g->updates[g->update_nr];
	memset(u, 0, sizeof(*u));
	if (!take_number(x, &u->number, ' '))
		return fail(x, "wrong number of an update");
	ret = take_text(x, &u->ref, GENERATION_TEXT_MAX, deletes ? '\n' : ' ');
	if (!ret && !deletes)
		ret = take_text(x, &u->value, GENERATION_TEXT_MAX, '\n');
	if (!ret && is_ref(u->ref) && (deletes || is_value(u->value))) {
		g->update_nr++;
		return 0;
	}
	release_update(u);
	return ret < 0 ? ret : fail(x, "wrong ref or value of an update");
}

static int parse_body(struct parser *x, struct generation *g)
{
	uint64_t time;
	int ret;

	if (!take(x, "token ") ||
	    !take_hex(x, g->token, sizeof(g->token), '\n'))
		return fail(x, "expected a token");
	if (!take(x, "time ") || !take_number(x, &time, '\n') ||
	    time > INT64_MAX)
		return fail(x, "expected a time");
	g->time = (int64_t)time;
	if (!take(x, "epoch ") || !take_number(x, &g->epoch, '\n') ||
	    !take(x, "tables ") || !take_number(x, &g->tables, '\n'))
		return fail(x, "expected an epoch and the tables");
	ret = parse_word(x, &g->node, "node ");
	if (!ret)
		ret = parse_word(x, &g->user, "user ");
	if (!ret)
		ret = parse_word(x, &g->action, "action ");
	while (!ret && take(x, "file "))
		ret = parse_file(x, g);
	while (!ret) {
		if (take(x, "update "))
			ret = parse_update(x, g, false);
		else if (take(x, "delete "))
			ret = parse_update(x, g, true);
		else
			break;
	}
	return ret;
}

static int parse_end(struct parser *x)
{
	size_t len = (size_t)(x->p - x->start);
	uint8_t stated[GENERATION_SHA256_LEN];
	struct oid sum;

	if (!take(x, "end ") || !take_hex(x, stated, sizeof(stated), '\n'))
		return fail(x, "expected a file, an update or the end");
	if (x->p != x->end)
		return fail(x, "bytes after the end");
	if (sha256_of(&sum, x->start, len) < 0)
		return error_nomem(x->err);
	if (memcmp(sum.bytes, stated, sizeof(stated)) != 0)
		return fail(x, "wrong checksum");
	return 0;
}

static int parse_all(struct parser *x, struct generation *g)
{
	const char *fault;
	int ret = 0;

	if (x->end - x->p > (ptrdiff_t)GENERATION_RECORD_MAX)
		return fail(x, "the record is too long");
	if (!take(x, MAGIC))
		return fail(x, "not a record of a generation");
	if (!take(x, VERSION "\n"))
		return error_set(x->err, ERR_UNSUPPORTED,
				 "%s: unknown version of a record", x->name);
	if (!take(x, "number ") || !take_number(x, &g->number, '\n') ||
	    !take(x, "parent ") ||
	    !take_hex(x, g->parent, sizeof(g->parent), '\n'))
		return fail(x, "expected a number and a parent");
	g->is_retired = take(x, "retired\n");
	if (!g->is_retired)
		ret = parse_body(x, g);
	if (!ret)
		ret = parse_end(x);
	if (ret < 0)
		return ret;
	fault = find_fault(g);
	if (fault)
		return fail(x, fault);
	ret = has_distinct_paths(g);
	if (ret < 0)
		return error_nomem(x->err);
	return ret ? 0 : fail(x, "two files have the same path");
}

int generation_parse(struct generation *out, const void *bytes, size_t len,
		     const char *name, struct error *err)
{
	struct parser x = {bytes, bytes, (const char *)bytes + len, name, err};
	int ret;

	memset(out, 0, sizeof(*out));
	ret = parse_all(&x, out);
	if (ret < 0)
		generation_release(out);
	return ret;
}

/* ---- files */

bool generation_path_is_table(const char *path)
{
	return !strncmp(path, GENERATION_TABLES, strlen(GENERATION_TABLES));
}

struct generation_file *generation_find_file(const struct generation *g,
					     const char *path)
{
	for (size_t i = 0; i < g->file_nr; i++)
		if (!strcmp(g->files[i].path, path))
			return &g->files[i];
	return NULL;
}

int generation_add_file(struct generation *g,
			const struct generation_file *file, struct error *err)
{
	struct generation_file copy = *file;

	if (!is_path(file->path) || generation_find_file(g, file->path))
		return error_set(err, ERR_INVALID,
				 "the path '%.200s' is not allowed in a "
				 "generation, or is in it twice",
				 file->path);
	if (mem_grow(&g->files, &g->file_alloc, g->file_nr + 1,
		     sizeof(*g->files)) < 0 ||
	    !copy_text(&copy.path, file->path))
		return error_nomem(err);
	g->files[g->file_nr++] = copy;
	return 0;
}

/* ---- refs */

/*
 * Returns the index of the first update whose ref is equal to or sorts after
 * `ref`.
 */
size_t generation_update_pos(const struct generation *g, const char *ref)
{
	size_t low = 0, high = g->update_nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(g->updates[mid].ref, ref) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct generation_update *generation_find_update(
	const struct generation *g, const char *ref)
{
	size_t at = generation_update_pos(g, ref);

	if (at == g->update_nr || strcmp(g->updates[at].ref, ref) != 0)
		return NULL;
	return &g->updates[at];
}

int generation_set_ref(struct generation *g, uint64_t number, const char *ref,
		       const char *value, struct error *err)
{
	struct generation_update new = {number, NULL, NULL}, *u;
	size_t at = generation_update_pos(g, ref);

	if (!is_ref(ref) || (value && !is_value(value)))
		return error_set(err, ERR_INVALID,
				 "the name or the value of ref '%.200s' is not "
				 "allowed",
				 ref);
	if (mem_grow(&g->updates, &g->update_alloc, g->update_nr + 1,
		     sizeof(*g->updates)) < 0 ||
	    !copy_text(&new.ref, ref) || !copy_text(&new.value, value)) {
		release_update(&new);
		return error_nomem(err);
	}
	u = &g->updates[at];
	if (at < g->update_nr && !strcmp(u->ref, ref)) {
		release_update(u);
	} else {
		memmove(u + 1, u, (g->update_nr - at) * sizeof(*u));
		g->update_nr++;
	}
	*u = new;
	return 0;
}

int generation_take_updates(struct generation *g, struct generation *from,
			    struct error *err)
{
	size_t nr = g->update_nr + from->update_nr, a = 0, b = 0, to = 0;
	struct generation_update *out = mem_alloc(nr, sizeof(*out));

	if (!out)
		return error_nomem(err);
	while (a < g->update_nr || b < from->update_nr) {
		int cmp = a == g->update_nr      ? 1
			  : b == from->update_nr ? -1
						 : strcmp(g->updates[a].ref,
							  from->updates[b].ref);

		if (!cmp)
			release_update(&g->updates[a++]);
		else
			out[to++] = cmp < 0 ? g->updates[a++]
					    : from->updates[b++];
	}
	free(g->updates);
	g->updates = out;
	g->update_nr = to;
	g->update_alloc = nr;
	from->update_nr = 0;
	return 0;
}
