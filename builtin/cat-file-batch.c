/* SPDX-License-Identifier: MIT */
/*
 * Batch mode of cat-file: prints a formatted line for each object, and the
 * object's content if requested.
 *
 * An object is read only as far as the format requires. --batch-all-objects
 * prints objects in the order of their ids. If there is only one pack, its
 * index already lists the ids in this order.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/cat-file-batch.h"
#include "builtin/input.h"
#include "builtin/mailmap-use.h"
#include "config/config.h"
#include "names/revname.h"
#include "odb/odb-stored.h"

static const char default_format[] = "%(objectname) %(objecttype) "
				     "%(objectsize)";

enum field {
	FIELD_TEXT,
	FIELD_NAME,
	FIELD_TYPE,
	FIELD_SIZE,
	FIELD_DISK,
	FIELD_BASE,
	FIELD_REST,
};

static const struct {
	const char *name;
	enum field field;
} field_names[] = {
	{"objectname", FIELD_NAME}, {"objecttype", FIELD_TYPE},
	{"objectsize", FIELD_SIZE}, {"objectsize:disk", FIELD_DISK},
	{"deltabase", FIELD_BASE},  {"rest", FIELD_REST},
};

struct piece {
	enum field field;
	/* for FIELD_TEXT: the text, which points into the format */
	const char *text;
	size_t len;
};

struct batch;

/* A command of --batch-command that waits for "flush" or the end of input. */
struct queued {
	int (*run)(struct batch *b, char *arg);
	char *arg; /* owned */
};

struct batch {
	const struct store *store;
	const struct cat_file_batch *options;
	struct piece *pieces; /* owned */
	size_t piece_nr, piece_alloc;
	/*
	 * needs_storage: the format has a field about where objects are stored.
	 * needs_info: the format has a field for the type or size of objects.
	 */
	bool needs_storage, needs_info;
	/*
	 * true: an input line is split at its first blank into the name of an
	 * object and a rest
	 */
	bool splits;
	struct buf line;
	/*
	 * owned: with --buffer, the commands that were read since the last
	 * "flush", and did not run yet
	 */
	struct queued *queue;
	size_t queue_nr, queue_alloc;
	/*
	 * true: the mailmap is applied to names and addresses of persons; the
	 * command "mailmap" of --batch-command changes this
	 */
	bool maps;
	struct mailmap_use mailmap; /* owned */
	/* the content of the last object that the mailmap changed */
	struct buf mapped;
	struct error err;
};

/* One object to print. */
struct target {
	struct oid oid;
	enum object_type type;
	uint64_t size;
	/* the text after the name in the input line */
	const char *rest;
	bool contents;
};

/* ---- the format */

static int add_piece(struct batch *b, enum field field, const char *text,
		     size_t len)
{
	if (mem_grow(&b->pieces, &b->piece_alloc, b->piece_nr + 1,
		     sizeof(*b->pieces)) < 0)
		return error_nomem(&b->err);
	b->pieces[b->piece_nr++] = (struct piece){field, text, len};
	b->needs_storage |= field == FIELD_DISK || field == FIELD_BASE;
	b->needs_info |= field == FIELD_TYPE || field == FIELD_SIZE;
	b->splits |= field == FIELD_REST;
	return 0;
}

/* Parse the field "%(...)" of the format at *p, and move *p past the field. */
static int parse_field(struct batch *b, const char **p)
{
	const char *name = *p + 2;
	const char *end = strchr(name, ')');
	size_t i;

	if (!end)
		return error_set(&b->err, ERR_INVALID,
				 "bad cat-file format: element '%s' does not "
				 "end in ')'",
				 *p + 1);
	*p = end + 1;
	for (i = 0; i < ARRAY_NR(field_names); i++)
		if (strlen(field_names[i].name) == (size_t)(end - name) &&
		    !strncmp(field_names[i].name, name, (size_t)(end - name)))
			return add_piece(b, field_names[i].field, NULL, 0);
	if (!strncmp(name, "objectmode)", strlen("objectmode)")))
		return error_set(&b->err, ERR_UNSUPPORTED,
				 "%%(objectmode) is not supported yet");
	return error_set(&b->err, ERR_INVALID, "bad cat-file format: %%(%.*s)",
			 (int)(end - name), name);
}

static int parse_format(struct batch *b, const char *p)
{
	int ret = 0;

	while (!ret && *p) {
		size_t len = strcspn(p, "%");

		if (p[0] == '%' && p[1] == '(') {
			ret = parse_field(b, &p);
			continue;
		}
		if (p[0] == '%') {
			ret = add_piece(b, FIELD_TEXT, p, 1);
			p += p[1] == '%' ? 2 : 1;
			continue;
		}
		ret = add_piece(b, FIELD_TEXT, p, len);
		p += len;
	}
	return ret;
}

static int append_field(struct batch *b, const struct piece *piece,
			const struct target *t, const struct odb_stored *info)
{
	char hex[OID_MAX_HEX_LEN + 1];
	enum hash_algo algo = b->store->odb->algo;

	switch (piece->field) {
	case FIELD_NAME:
		return buf_append_str(&b->line, oid_to_hex(hex, &t->oid, algo));
	case FIELD_TYPE:
		return buf_append_str(&b->line, object_type_name(t->type));
	case FIELD_SIZE:
		return buf_printf(&b->line, "%" PRIu64, t->size);
	case FIELD_DISK:
		return buf_printf(&b->line, "%" PRIu64, info->len);
	case FIELD_BASE:
		return buf_append_str(&b->line,
				      oid_to_hex(hex, &info->base, algo));
	case FIELD_REST:
		return t->rest ? buf_append_str(&b->line, t->rest) : 0;
	default:
		return buf_append(&b->line, piece->text, piece->len);
	}
}

/* ---- printing */

/*
 * Returns the byte that ends lines of the output, and that is printed after the
 * content of each object.
 */
static char line_end(const struct batch *b)
{
	return b->options->nul_out ? '\0' : '\n';
}

static void end_object(const struct batch *b)
{
	if (!b->options->buffered)
		fflush(stdout);
}

static int print_line(struct batch *b, const struct target *t)
{
	struct odb_stored info = {0, OID_ZERO_INIT};
	size_t i;
	int ret = 0;

	if (b->needs_storage)
		ret = odb_stored_get(
			&info, odb_reader_holder(b->store->reader, &t->oid),
			&t->oid, &b->err);
	buf_reset(&b->line);
	for (i = 0; !ret && i < b->piece_nr; i++)
		ret = append_field(b, &b->pieces[i], t, &info);
	if (!ret)
		ret = buf_append_char(&b->line, line_end(b));
	if (!ret)
		fwrite(b->line.data, 1, b->line.len, stdout);
	return ret == ERR_NOMEM ? error_nomem(&b->err) : ret;
}

/* Turn the mailmap on or off for the objects that follow. */
static int turn_mailmap(struct batch *b, bool on)
{
	b->maps = on;
	return on ? mailmap_use_load(&b->mailmap, b->store, &b->err) : 0;
}

/*
 * Set t->size to the size that a commit or tag has after the mailmap was
 * applied.
 */
static int map_size(struct batch *b, struct target *t)
{
	struct odb_object obj;
	int ret = odb_read(b->store->reader, &t->oid, &obj, &b->err);

	if (ret < 0)
		return ret;
	ret = mailmap_use_rewrite(&b->mapped, &b->mailmap, obj.type, obj.data,
				  obj.len, &b->err);
	if (ret > 0)
		t->size = b->mapped.len;
	odb_object_release(b->store->reader, &obj);
	return ret < 0 ? ret : 0;
}

static int print_contents(struct batch *b, struct target *t)
{
	struct odb_object obj;
	bool is_mapped;
	int ret = odb_read(b->store->reader, &t->oid, &obj, &b->err);

	if (ret < 0)
		return ret;
	t->type = obj.type;
	t->size = obj.len;
	if (b->maps)
		ret = mailmap_use_rewrite(&b->mapped, &b->mailmap, obj.type,
					  obj.data, obj.len, &b->err);
	is_mapped = ret > 0;
	if (is_mapped)
		t->size = b->mapped.len;
	if (ret >= 0)
		ret = print_line(b, t);
	if (!ret) {
		fwrite(is_mapped ? (const void *)b->mapped.data : obj.data, 1,
		       t->size, stdout);
		putchar(line_end(b));
	}
	odb_object_release(b->store->reader, &obj);
	return ret;
}

static bool is_excluded(const struct batch *b, const struct target *t)
{
	const struct filter *filter = b->options->filter;

	if (filter_is_empty(filter))
		return false;
	return !filter_takes_type(filter, t->type) ||
	       (t->type == OBJ_BLOB && t->size >= filter->blob_limit);
}

/*
 * Look up an object for the format. If the format prints no type, size or
 * content, it is enough that the object exists. In all other cases, the type
 * and size of at least one copy must be readable. Returns 0, ERR_MISSING if the
 * look-up has failed for this object, or another negative error code.
 */
static int look_up(struct batch *b, struct target *t)
{
	int ret;

	if (!b->needs_info && !t->contents &&
	    filter_is_empty(b->options->filter)) {
		ret = odb_reader_need(b->store->reader, &t->oid, &b->err);
		return ret > 0 ? 0 : ret < 0 ? ret : ERR_MISSING;
	}
	ret = odb_info(b->store->reader, &t->oid, &t->type, &t->size, &b->err);
	if (!ret && b->maps && !t->contents &&
	    (t->type == OBJ_COMMIT || t->type == OBJ_TAG))
		ret = map_size(b, t);
	return ret == ERR_CORRUPT ? ERR_MISSING : ret;
}

/*
 * Print one object. Returns 0 if the object was printed, 1 if the filter
 * excludes it, ERR_MISSING if it does not exist, or another negative error
 * code.
 */
static int print_object(struct batch *b, struct target *t)
{
	int ret = 0;

	if (!t->contents || !filter_is_empty(b->options->filter))
		ret = look_up(b, t);
	if (!ret && is_excluded(b, t))
		return 1;
	if (!ret)
		ret = t->contents ? print_contents(b, t) : print_line(b, t);
	if (ret == ERR_CORRUPT && look_up(b, t) == ERR_MISSING)
		ret = ERR_MISSING;
	if (!ret)
		end_object(b);
	return ret;
}

/* ---- objects by name */

static bool is_ambiguous(const struct batch *b, const char *name)
{
	struct oid oid;

	return revname_resolve_short(&oid, name, strlen(name), REVNAME_ANY,
				     b->store->reader, b->store->odb,
				     NULL) == ERR_INVALID;
}

static int print_named(struct batch *b, char *name, bool contents)
{
	struct target t = {.contents = contents};
	const char *why = "missing";
	int ret;

	if (b->splits && b->options->mode != CAT_FILE_BATCH_COMMAND) {
		char *p = name + strcspn(name, " \t");

		if (*p)
			*p++ = '\0';
		t.rest = p + strspn(p, " \t");
	}
	ret = store_resolve(b->store, &t.oid, name, &b->err);
	if (ret == ERR_UNSUPPORTED)
		ret = store_resolve_by_stock(b->store->repo, &t.oid, name,
					     &b->err);
	if (ret == ERR_NOMEM || ret == ERR_UNSUPPORTED || ret == ERR_PEER)
		return ret;
	if (ret == ERR_INVALID && is_ambiguous(b, name)) {
		builtin_error("%s", b->err.msg);
		why = "ambiguous";
	}
	if (!ret) {
		ret = print_object(b, &t);
		if (ret > 0)
			why = "excluded";
		else if (ret != ERR_MISSING)
			return ret;
	}
	printf("%s %s%c", name, why, line_end(b));
	end_object(b);
	return 0;
}

/* ---- commands */

static int enqueue(struct batch *b, int (*run)(struct batch *b, char *arg),
		   const char *arg)
{
	char *copy = strdup(arg);

	if (!copy || mem_grow(&b->queue, &b->queue_alloc, b->queue_nr + 1,
			      sizeof(*b->queue)) < 0) {
		free(copy);
		return error_nomem(&b->err);
	}
	b->queue[b->queue_nr++] = (struct queued){run, copy};
	return 0;
}

static int run_queue(struct batch *b)
{
	int ret = 0;

	for (size_t i = 0; i < b->queue_nr && !ret; i++)
		ret = b->queue[i].run(b, b->queue[i].arg);
	return ret;
}

static void empty_queue(struct batch *b)
{
	for (size_t i = 0; i < b->queue_nr; i++)
		free(b->queue[i].arg);
	b->queue_nr = 0;
}

static int flush(struct batch *b, char *arg)
{
	int ret;

	(void)arg;
	if (!b->options->buffered)
		return error_set(&b->err, ERR_INVALID,
				 "flush is only for --buffer mode");
	ret = run_queue(b);
	empty_queue(b);
	fflush(stdout);
	return ret;
}

static int print_command_contents(struct batch *b, char *arg)
{
	return print_named(b, arg, true);
}

static int print_command_info(struct batch *b, char *arg)
{
	return print_named(b, arg, false);
}

static int set_mailmap(struct batch *b, char *arg)
{
	int use = config_parse_bool(arg);

	if (use < 0)
		return error_set(&b->err, ERR_INVALID,
				 "mailmap: invalid boolean '%s'", arg);
	return turn_mailmap(b, use);
}

static const struct {
	const char *name;
	bool has_arg;
	int (*run)(struct batch *b, char *arg);
} commands[] = {
	{"contents", true, print_command_contents},
	{"info", true, print_command_info},
	{"flush", false, flush},
	{"mailmap", true, set_mailmap},
};

static int run_command(struct batch *b, char *line)
{
	size_t i, len = 0;
	char *arg;

	if (!*line)
		return error_set(&b->err, ERR_INVALID,
				 "empty command in input");
	if (isspace((unsigned char)*line))
		return error_set(&b->err, ERR_INVALID,
				 "whitespace before command: '%s'", line);
	for (i = 0; i < ARRAY_NR(commands); i++) {
		len = strlen(commands[i].name);
		if (!strncmp(line, commands[i].name, len))
			break;
	}
	if (i == ARRAY_NR(commands))
		return error_set(&b->err, ERR_INVALID, "unknown command: '%s'",
				 line);
	arg = line + len;
	if (commands[i].has_arg && *arg != ' ')
		return error_set(&b->err, ERR_INVALID, "%s requires arguments",
				 commands[i].name);
	if (!commands[i].has_arg && *arg)
		return error_set(&b->err, ERR_INVALID, "%s takes no arguments",
				 commands[i].name);
	arg += *arg == ' ';
	/*
	 * Put the command into the queue; "flush" runs the queue. Only valid
	 * commands are queued. As in stock Git, an invalid line ends the batch
	 * without running the queue.
	 */
	if (b->options->buffered && commands[i].run != flush)
		return enqueue(b, commands[i].run, arg);
	return commands[i].run(b, arg);
}

static int run_input(struct batch *b)
{
	enum cat_file_batch_mode mode = b->options->mode;
	struct stdin_lines in = STDIN_LINES_INIT;
	int ret;

	in.strip_cr = true;
	if (b->options->nul)
		in.end = '\0';
	while ((ret = stdin_lines_next(&in, &b->err)) > 0) {
		if (mode == CAT_FILE_BATCH_COMMAND)
			ret = run_command(b, in.line);
		else
			ret = print_named(b, in.line,
					  mode == CAT_FILE_BATCH_CONTENTS);
		if (ret)
			break;
	}
	stdin_lines_release(&in);
	return ret ? ret : run_queue(b);
}

/* ---- all objects */

static int print_raw(struct batch *b, const uint8_t *raw)
{
	struct target t = {
		.contents = b->options->mode == CAT_FILE_BATCH_CONTENTS,
	};

	char hex[OID_MAX_HEX_LEN + 1];
	int ret;

	oid_from_raw(&t.oid, raw, b->store->odb->algo);
	ret = print_object(b, &t);
	if (ret == ERR_MISSING) {
		printf("%s missing%c",
		       oid_to_hex(hex, &t.oid, b->store->odb->algo),
		       line_end(b));
		end_object(b);
		ret = 0;
	}
	return ret < 0 ? ret : 0;
}

/*
 * Pointers to the ids of all objects. The bytes of packed objects' ids are in
 * the mapped pack indexes; `loose` has copies of loose objects' ids.
 */
struct ids {
	const uint8_t **raw; /* owned array */
	size_t nr, alloc;
	struct oid *loose; /* owned */
	size_t loose_nr, loose_alloc;
	const struct odb *odb;
};

static int collect_loose(void *ctx, const struct oid *oid, const char *path)
{
	struct ids *ids = ctx;
	uint32_t odb_pos;

	if (odb_find(ids->odb, oid, &odb_pos))
		return 0;
	if (mem_grow(&ids->loose, &ids->loose_alloc, ids->loose_nr + 1,
		     sizeof(*ids->loose)) < 0)
		return ERR_NOMEM;
	ids->loose[ids->loose_nr++] = *oid;
	return 0;
}

static int compare_ids(const void *a, const void *b, void *ctx)
{
	return memcmp(*(const uint8_t *const *)a, *(const uint8_t *const *)b,
		      *(const size_t *)ctx);
}

static int add_packed(struct batch *b, struct ids *ids)
{
	const struct odb *odb = b->store->odb;
	size_t nr = (size_t)odb->packed_nr + ids->loose_nr;
	uint32_t odb_pos;
	size_t i;

	if (mem_grow(&ids->raw, &ids->alloc, nr, sizeof(*ids->raw)) < 0)
		return error_nomem(&b->err);
	for (odb_pos = 0; odb_pos < odb->packed_nr; odb_pos++)
		ids->raw[ids->nr++] = odb_oid_raw(odb, odb_pos);
	for (i = 0; i < ids->loose_nr; i++)
		ids->raw[ids->nr++] = ids->loose[i].bytes;
	return 0;
}

static int print_sorted(struct batch *b, struct ids *ids)
{
	size_t id_len = hash_len(ids->odb->algo);
	size_t i;
	int ret = add_packed(b, ids);

	/*
	 * If all objects are in one pack, its index has their ids in order, so
	 * no sorting is needed.
	 */
	if (!ret && (ids->odb->pack_nr > 1 || ids->loose_nr))
		qsort_r(ids->raw, ids->nr, sizeof(*ids->raw), compare_ids,
			&id_len);
	for (i = 0; !ret && i < ids->nr; i++)
		if (!i || memcmp(ids->raw[i], ids->raw[i - 1], id_len) != 0)
			ret = print_raw(b, ids->raw[i]);
	return ret;
}

/*
 * Print the objects of one pack in the order of their offsets. Objects that are
 * also in an earlier pack of the list are skipped: they were printed for that
 * pack.
 */
static int print_pack(struct batch *b, const struct odb_pack *op)
{
	const struct odb *odb = b->store->odb;
	const struct pack_rev *rev = pack_get_rev(op->pack, &b->err);
	uint32_t pack_pos, odb_pos;
	int ret = rev ? 0 : ERR_NOMEM;

	for (pack_pos = 0; !ret && pack_pos < op->pack->idx.nr; pack_pos++) {
		uint32_t idx_pos = pack_rev_idx_pos(rev, pack_pos);
		const uint8_t *raw = pack_idx_oid(&op->pack->idx, idx_pos);

		if (odb_find_raw(odb, raw, &odb_pos) &&
		    odb_pos == op->first_pos + idx_pos)
			ret = print_raw(b, raw);
	}
	return ret;
}

static int compare_loose(const void *a, const void *b)
{
	return oid_cmp(a, b);
}

static int print_unordered(struct batch *b, struct ids *ids)
{
	uint32_t i;
	size_t j;
	int ret = 0;

	/*
	 * Sort the loose objects, so that an object that is loose in several
	 * object directories is printed once.
	 */
	if (ids->loose_nr)
		qsort(ids->loose, ids->loose_nr, sizeof(*ids->loose),
		      compare_loose);
	for (j = 0; !ret && j < ids->loose_nr; j++)
		if (!j || !oid_equal(&ids->loose[j], &ids->loose[j - 1]))
			ret = print_raw(b, ids->loose[j].bytes);
	for (i = 0; !ret && i < ids->odb->pack_nr; i++)
		ret = print_pack(b, &ids->odb->packs[i]);
	return ret;
}

static int run_all(struct batch *b)
{
	struct ids ids = {.odb = b->store->odb};
	int ret = odb_each_loose(ids.odb, false, collect_loose, &ids, &b->err);

	if (ret == ERR_NOMEM)
		error_nomem(&b->err);
	if (!ret)
		ret = b->options->unordered ? print_unordered(b, &ids)
					    : print_sorted(b, &ids);
	free(ids.raw);
	free(ids.loose);
	return ret;
}

int cat_file_batch_run(const struct store *store,
		       const struct cat_file_batch *options)
{
	struct batch b = {
		.store = store,
		.options = options,
		.line = BUF_INIT,
		.mailmap = MAILMAP_USE_INIT,
		.mapped = BUF_INIT,
	};
	int ret = parse_format(&b, options->format ? options->format
						   : default_format);
	bool is_ours = ret != ERR_UNSUPPORTED;

	/* As stock Git, do not warn if the format is wrong. */
	if (!ret && options->all_objects && store->repo->has_promisor)
		builtin_warn("This repository uses promisor remotes. Some "
			     "objects may not be loaded.");
	if (!ret && options->use_mailmap)
		ret = turn_mailmap(&b, true);
	if (!ret)
		ret = options->all_objects ? run_all(&b) : run_input(&b);
	free(b.pieces);
	empty_queue(&b);
	free(b.queue);
	mailmap_use_release(&b.mailmap);
	buf_release(&b.mapped);
	buf_release(&b.line);
	if (!is_ours)
		return builtin_not_ours(&b.err);
	return ret < 0 ? builtin_fail(&b.err) : 0;
}
