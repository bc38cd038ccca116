/* SPDX-License-Identifier: MIT */
/*
 * Explores how pushes, repacks and garbage collections of one repository
 * interleave. The code of generations/ runs over a store in memory and a
 * simulated clock.
 *
 *	explore-generations <actors> <preemptions> <faults> <jumps> [<bug>]
 *
 * <actors> are some of "p" and "q" (push to the same ref, and try again if they
 * are refused), "m" (replaces all packs and all tables of refs), "d" (as "m",
 * and removes an object that no ref needs) and "c" (collects garbage). Each
 * actor is a coroutine, which stops before each request to the store. A run is
 * a sequence of choices:
 * - which actor goes on; a change to another actor counts as a preemption,
 *   unless the last actor has ended;
 * - what happens to the request; everything but success counts as a fault;
 * - whether the clock jumps beyond the grace (at most <jumps> times);
 * - whether a put that has got no answer takes effect now.
 * All sequences with at most <preemptions>, <faults> and <jumps> are tried. For
 * each sequence, the actors run again from the start. After each request and
 * each run, the repository is checked. The output is the number of runs. If a
 * check fails, the output is the run, and the exit code is 1.
 *
 * <bug> is a bug that the exploration must find: "delete-after-lost" (an actor
 * whose change failed deletes the files of the change, and takes a lost answer
 * for a failure), "no-grace" (the collection takes a grace of one second) or
 * "unchecked" (a push is rebased without a look at removed objects).
 *
 * A request that was sent is assumed to take effect within the grace, or never.
 * So the clock does not jump while a record is on its way, and a jump of the
 * clock loses all late puts.
 */
#include <inttypes.h>
#include <stdio.h>
#include <ucontext.h>

#include "generations/collect.h"
#include "generations/names.h"
#include "generations/rebase.h"
#include "t/unit/genhost.h"
#include "t/unit/memstore.h"

#define REPOSITORY "r"
#define GRACE 1000
#define SESSION 300 /* in seconds */
#define STACK ((size_t)256 << 10)
#define ACTORS 4
#define ATTEMPTS 8
#define RECORDS 32
#define DEPTH 4096
#define TEXT 32

enum bug { BUG_NONE, BUG_DELETE, BUG_NO_GRACE, BUG_UNCHECKED };

/*
 * An object that no ref reaches in the initial state. If a push finds this
 * object in the repository, it sets the ref to a value that reaches the object.
 */
#define OLD_OBJECT "a"

/* A change of the ref that an actor has tried to publish. */
struct attempt {
	char before[TEXT], after[TEXT];
	/* True: a ref with the value `after` reaches OLD_OBJECT. */
	bool needs_old;
	int result;
	/* Number of records (manifests) that have this change. */
	unsigned landed;
};

struct world;

struct actor {
	struct world *w;
	char kind;
	ucontext_t context;
	char *stack; /* owned */
	struct generation_host host;
	struct generation_place place;
	/*
	 * With BUG_DELETE (the bug "delete-after-lost"), the actor puts files
	 * through this store. The store reports a lost answer as a failure,
	 * although the put may have taken effect. The store also notes the
	 * names of the files. If generation_commit() fails, the actor deletes
	 * these files.
	 */
	struct filestore careless;
	char *put_names[ATTEMPTS];
	size_t put_nr;
	uint64_t random;
	/* The actor has stopped before this request. */
	enum memstore_op op;
	char name[STORE_NAME_MAX + 1];
	/* True: no further request of the actor reaches the store. */
	bool is_dead;
	bool is_done;
};

struct choice {
	unsigned taken, options;
};

struct world {
	struct memstore mem;
	ucontext_t scheduler;
	struct actor actors[ACTORS];
	size_t actor_nr;
	struct actor *running;
	enum bug bug;
	/*
	 * Numbers of preemptions, faults and jumps that the rest of the run may
	 * still have.
	 */
	unsigned preemptions, faults, jumps;
	struct choice choices[DEPTH];
	size_t choice_nr, depth;
	/*
	 * Content of each record (manifest) at its creation, and the time of
	 * its creation.
	 */
	struct buf records[RECORDS];
	int64_t times[RECORDS];
	uint64_t newest;
	struct attempt attempts[ATTEMPTS];
	size_t attempt_nr;
	/* How often each result occurred, in all sequences of events. */
	uint64_t committed, refused, unknown, busy, too_late, landed_late;
	bool is_verbose, is_setup, is_broken;
	char why[256];
};

/* ---- choices */

static unsigned choose(struct world *w, unsigned options)
{
	if (w->depth == w->choice_nr) {
		memstore_check(w->choice_nr < DEPTH);
		w->choices[w->choice_nr++] = (struct choice){0, options};
	}
	memstore_check(w->choices[w->depth].options == options);
	return w->choices[w->depth++].taken;
}

/*
 * Changes the stored choices to the next sequence. Returns false after the last
 * sequence.
 */
static bool next_sequence(struct world *w)
{
	while (w->choice_nr) {
		struct choice *last = &w->choices[w->choice_nr - 1];

		if (++last->taken < last->options)
			return true;
		w->choice_nr--;
	}
	return false;
}

static void broken(struct world *w, const char *why, const char *what)
{
	if (!w->is_broken)
		snprintf(w->why, sizeof(w->why), "%s: %.100s", why, what);
	w->is_broken = true;
}

static void tell(const struct world *w, const char *format, const char *a,
		 const char *b)
{
	if (w->is_verbose) {
		printf(format, w->running ? w->running->kind : '-', a, b);
		putchar('\n');
	}
}

/* ---- checks of the repository */

static void parse(struct generation *g, const struct buf *text)
{
	memstore_check(generation_parse(g, text->data, text->len, "record",
					NULL) == 0);
}

/* Calls `fn` for the name of each file of a record (manifest). */
static void each_file(struct world *w, const struct generation *g,
		      void (*fn)(struct world *w, const char *name, void *ctx),
		      void *ctx)
{
	struct buf name = BUF_INIT;

	for (size_t i = 0; i < g->file_nr; i++) {
		buf_reset(&name);
		memstore_check(!generation_file_name(&name, REPOSITORY,
						     &g->files[i], NULL));
		fn(w, name.data, ctx);
	}
	buf_release(&name);
}

static void expect_file(struct world *w, const char *name, void *ctx)
{
	if (!memstore_find(&w->mem, name))
		broken(w, "a record names a file that does not exist", name);
}

static void expect_other(struct world *w, const char *name, void *ctx)
{
	if (!strcmp(name, ctx))
		broken(w, "a file of a live record is deleted", name);
}

static bool is_live(const struct world *w, uint64_t number)
{
	int64_t grace = w->bug == BUG_NO_GRACE ? 1 : GRACE;

	return number == w->newest ||
	       w->mem.clock - w->times[number + 1] <= grace;
}

static uint64_t record_number(const char *name)
{
	const char *at = strstr(name, "/gen/");

	return at ? strtoull(at + 5, NULL, 16) : 0;
}

static void check_record(struct world *w, const char *name)
{
	const struct memstore_file *f = memstore_find(&w->mem, name);
	uint64_t number = record_number(name);
	struct buf text = BUF_INIT;
	struct generation g;

	memstore_check(number < RECORDS - 1);
	memstore_check(!buf_append(&text, f->bytes, f->len));
	parse(&g, &text);
	if (number <= w->newest) {
		if (!g.is_retired || is_live(w, number))
			broken(w, "a live record is replaced", name);
	} else if (number != w->newest + 1 || g.is_retired) {
		broken(w, "a record does not follow the newest", name);
	} else {
		w->newest = number;
		w->times[number] = w->mem.clock;
		buf_reset(&w->records[number]);
		memstore_check(
			!buf_append(&w->records[number], text.data, text.len));
		each_file(w, &g, expect_file, NULL);
	}
	generation_release(&g);
	buf_release(&text);
}

/* Callback after each change of the store: checks the repository. */
static void check_change(void *ctx, enum memstore_op op, const char *name)
{
	struct world *w = ctx;

	if (op == MEMSTORE_PUT && record_number(name))
		check_record(w, name);
	if (op != MEMSTORE_DELETE)
		return;
	if (record_number(name))
		broken(w, "a record is deleted", name);
	for (uint64_t n = 1; n <= w->newest; n++) {
		struct generation g;

		if (!is_live(w, n))
			continue;
		parse(&g, &w->records[n]);
		each_file(w, &g, expect_other, (void *)name);
		generation_release(&g);
	}
}

/* ---- the content of files: object names in packs, refs in tables */

static const char *content_of(struct world *w,
			      const struct generation_file *file)
{
	const struct memstore_file *f;
	struct buf name = BUF_INIT;

	memstore_check(!generation_file_name(&name, REPOSITORY, file, NULL));
	f = memstore_find(&w->mem, name.data);
	if (!f)
		broken(w, "a file that is needed does not exist", name.data);
	buf_release(&name);
	return f ? f->bytes : "";
}

static bool is_table(const struct generation_file *file)
{
	return generation_path_is_table(file->path);
}

/* Finds the value of the only ref, "main", in the newest table. */
static int find_ref(void *ctx, struct buf *value, const struct generation *g,
		    const struct generation_change *change, const char *ref,
		    struct error *err)
{
	struct world *w = ctx;

	for (size_t i = g->file_nr; i > 0; i--)
		if (is_table(&g->files[i - 1]))
			return buf_append_str(value,
					      content_of(w, &g->files[i - 1]));
	return 0;
}

static void value_in(struct world *w, char out[TEXT],
		     const struct generation *g)
{
	const struct generation_update *u = generation_find_update(g, "main");
	struct buf value = BUF_INIT;

	if (!u)
		find_ref(w, &value, g, NULL, "main", NULL);
	snprintf(out, TEXT, "%s", u ? u->value : value.data);
	buf_release(&value);
}

/* ---- the end of a run */

/*
 * Checks that each record (manifest) differs from its parent only by changes
 * that actors have tried.
 */
static void check_history(struct world *w)
{
	uint8_t sha256[GENERATION_SHA256_LEN];
	char value[TEXT] = "v0";

	for (uint64_t n = 3; n <= w->newest; n++) {
		struct generation before, g;
		struct buf text = BUF_INIT;
		const struct generation_update *u;
		bool found = false;

		parse(&before, &w->records[n - 1]);
		parse(&g, &w->records[n]);
		memstore_check(!generation_print(&text, sha256, &before, NULL));
		if (memcmp(sha256, g.parent, sizeof(sha256)) != 0)
			broken(w, "a record has another parent", "");
		u = generation_find_update(&g, "main");
		for (size_t i = 0; u && i < w->attempt_nr; i++) {
			struct attempt *a = &w->attempts[i];

			if (strcmp(u->value, a->after) != 0 || u->number != n)
				continue;
			if (strcmp(a->before, value) != 0)
				broken(w, "a push has overwritten another",
				       a->after);
			a->landed++;
			found = true;
		}
		if (u && u->number == n) {
			if (!found)
				broken(w, "a value comes from nowhere",
				       u->value);
			snprintf(value, sizeof(value), "%s", u->value);
		}
		generation_release(&before);
		generation_release(&g);
		buf_release(&text);
	}
}

/* Appends " <name> " for each object of a generation (version) to *out. */
static void list_objects(struct world *w, struct buf *out,
			 const struct generation *g)
{
	for (size_t i = 0; i < g->file_nr; i++)
		if (!is_table(&g->files[i]))
			memstore_check(!buf_printf(
				out, " %s ", content_of(w, &g->files[i])));
}

static void expect_object(struct world *w, const struct buf *all,
			  const char *name)
{
	char object[TEXT + 2];

	snprintf(object, sizeof(object), " %s ", name);
	if (!strstr(all->data, object))
		broken(w, "an object is lost", object);
}

static void check_objects(struct world *w, const struct generation *g)
{
	struct buf all = BUF_INIT;

	list_objects(w, &all, g);
	for (size_t i = 0; i < w->attempt_nr; i++) {
		const struct attempt *a = &w->attempts[i];

		if (a->landed)
			expect_object(w, &all, a->after);
		if (a->landed && a->needs_old)
			expect_object(w, &all, OLD_OBJECT);
	}
	buf_release(&all);
}

static void check_attempts(struct world *w, const struct generation *g)
{
	char value[TEXT], last[TEXT] = "v0";

	for (size_t i = 0; i < w->attempt_nr; i++) {
		const struct attempt *a = &w->attempts[i];
		unsigned low = a->result == GENERATION_COMMITTED;
		unsigned high = low || a->result == GENERATION_UNKNOWN;

		if (a->landed < low)
			broken(w, "an acknowledged push is lost", a->after);
		if (a->landed > high)
			broken(w, "a refused push is there", a->after);
		w->committed += a->result == GENERATION_COMMITTED;
		w->unknown += a->result == GENERATION_UNKNOWN;
		w->busy += a->result == GENERATION_BUSY;
		w->too_late += a->result == GENERATION_TOO_LATE;
		w->refused += a->result == GENERATION_REF_CHANGED;
	}
	for (uint64_t n = 3; n <= w->newest; n++) {
		const struct generation_update *u;
		struct generation r;

		parse(&r, &w->records[n]);
		u = generation_find_update(&r, "main");
		if (u && u->number == n)
			snprintf(last, sizeof(last), "%s", u->value);
		generation_release(&r);
	}
	value_in(w, value, g);
	if (strcmp(value, last) != 0)
		broken(w, "the value of a ref is lost", last);
}

static void check_end(struct world *w)
{
	struct generation g;

	check_history(w);
	for (uint64_t n = 1; n <= w->newest; n++) {
		parse(&g, &w->records[n]);
		if (is_live(w, n))
			each_file(w, &g, expect_file, NULL);
		generation_release(&g);
	}
	parse(&g, &w->records[w->newest]);
	check_objects(w, &g);
	check_attempts(w, &g);
	generation_release(&g);
}

/* ---- requests */

static const struct {
	const char *name;
	enum memstore_fate fate;
	/*
	 * True: the actor dies, so none of its later requests reaches the
	 * store.
	 */
	bool dies;
} fates[] = {
	{"", MEMSTORE_NORMAL, false},
	{"store down", MEMSTORE_DOWN, false},
	{"dies before", MEMSTORE_DOWN, true},
	/* The faults from here on apply only to puts and deletes. */
	{"answer lost", MEMSTORE_LOST, false},
	{"no effect", MEMSTORE_NOTHING, false},
	{"answer lost, dies", MEMSTORE_LOST, true},
	{"no effect, dies", MEMSTORE_NOTHING, true},
	/* The faults from here on apply only to puts. */
	{"late", MEMSTORE_LATE, false},
	{"late, dies", MEMSTORE_LATE, true},
	/* The faults from here on apply only to puts of records (manifests). */
	{"repeated by a proxy", MEMSTORE_REPEATED, false},
};

static unsigned fate_nr(const struct world *w, enum memstore_op op,
			const char *name)
{
	/*
	 * No fault is tried for hints (files with a record's number): without a
	 * hint, the search for the newest record only takes longer.
	 */
	if (!w->faults || !strncmp(name, "hint/", 5))
		return 1;
	if (op == MEMSTORE_PUT)
		return record_number(name) ? 10 : 9;
	return op == MEMSTORE_DELETE ? 7 : 3;
}

static enum memstore_fate decide(void *ctx, enum memstore_op op,
				 const char *name)
{
	static const char *const ops[] = {"read", "head", "put", "list",
					  "delete"};
	struct world *w = ctx;
	struct actor *a = w->running;
	unsigned fate;
	char text[600];

	if (w->is_setup)
		return MEMSTORE_NORMAL;
	if (a->is_dead)
		return MEMSTORE_DOWN;
	a->op = op;
	snprintf(a->name, sizeof(a->name), "%s", name);
	swapcontext(&a->context, &w->scheduler);
	fate = choose(w, fate_nr(w, op, name));
	w->faults -= fate > 0;
	a->is_dead = fates[fate].dies;
	w->mem.clock++;
	if (w->is_verbose) {
		snprintf(text, sizeof(text), "%s %s", ops[op], name);
		tell(w, "%c  %s  %s", text, fates[fate].name);
	}
	return fates[fate].fate;
}

/* ---- the actors */

static uint64_t host_now(void *ctx)
{
	return (uint64_t)((struct actor *)ctx)->w->mem.clock * 1000000000;
}

static int64_t host_time(void *ctx)
{
	return ((struct actor *)ctx)->w->mem.clock;
}

static int host_random(void *ctx, void *out, size_t len, struct error *err)
{
	for (size_t i = 0; i < len; i++)
		((uint8_t *)out)[i] = (uint8_t)splitmix_next(
			&((struct actor *)ctx)->random);
	return 0;
}

static void host_sleep(void *ctx, uint64_t ns)
{
}

/*
 * Returns a change of `base`, with only those fields set that every change
 * needs. The caller sets the other fields.
 */
static struct generation_change make_change(struct actor *a,
					    const struct generation *base)
{
	return (struct generation_change){
		.seen = base->number,
		.find_ref = find_ref,
		.find_ctx = a->w,
		.session_ns = (uint64_t)SESSION * 1000000000,
	};
}

static int careless_put(struct filestore *store, char *etag, const char *name,
			const void *bytes, size_t len,
			const struct filestore_condition *condition,
			struct error *err)
{
	struct actor *a = (struct actor *)((char *)store -
					   offsetof(struct actor, careless));
	int ret = filestore_put(&a->w->mem.store, etag, name, bytes, len,
				condition, err);

	if (strstr(name, "/file/") && a->put_nr < ATTEMPTS)
		a->put_names[a->put_nr++] = mem_strdup(name);
	return ret == STORE_AMBIGUOUS ? STORE_UNAVAILABLE : ret;
}

static int careless_read(struct filestore *store, struct filestore_info *info,
			 const struct filestore_sink *sink, const char *name,
			 uint64_t off, uint64_t len, struct error *err)
{
	struct actor *a = (struct actor *)((char *)store -
					   offsetof(struct actor, careless));

	return filestore_read(&a->w->mem.store, info, sink, name, off, len,
			      err);
}

/*
 * Commits a change to `base`. If the commit fails, BUG_DELETE deletes the files
 * of the change. Returns the result of generation_commit().
 */
static int commit(struct actor *a, struct generation *base,
		  const struct generation_change *change)
{
	struct generation_place place = a->place;
	bool is_careless = a->w->bug == BUG_DELETE;
	int ret;

	if (is_careless)
		place.store = &a->careless;
	ret = generation_commit(base, &place, change, NULL);
	for (size_t i = 0; i < a->put_nr; i++) {
		if (ret)
			filestore_delete(a->place.store, a->put_names[i], NULL);
		free(a->put_names[i]);
	}
	a->put_nr = 0;
	return ret;
}

/* Pushes a new value of "main". Returns the result of generation_commit(). */
static int push(struct actor *a, const char *after)
{
	struct world *w = a->w;
	struct attempt *attempt;
	struct generation base;
	struct generation_change change;
	struct generation_ref_change ref = {"main", NULL, NULL};
	struct generation_upload up;
	struct buf objects = BUF_INIT;
	char path[2 * TEXT];

	if (generation_newest(&base, &a->place, 2, NULL))
		return GENERATION_STORE_DOWN;
	attempt = &w->attempts[w->attempt_nr++];
	memset(attempt, 0, sizeof(*attempt));
	attempt->result = GENERATION_UNKNOWN;
	value_in(w, attempt->before, &base);
	list_objects(w, &objects, &base);
	attempt->needs_old = strstr(objects.data, " " OLD_OBJECT " ") != NULL;
	buf_release(&objects);
	snprintf(attempt->after, TEXT, "%s", after);
	ref.before = attempt->before;
	ref.after = attempt->after;
	snprintf(path, sizeof(path), "pack/%s", after);
	up = genhost_upload(path, attempt->after);
	change = make_change(a, &base);
	if (w->bug == BUG_UNCHECKED)
		change.seen = UINT64_MAX;
	change.uploads = &up;
	change.upload_nr = 1;
	change.refs = &ref;
	change.ref_nr = 1;
	attempt->result = commit(a, &base, &change);
	generation_release(&base);
	return attempt->result;
}

static void run_pusher(struct actor *a)
{
	char value[TEXT];
	int ret;

	snprintf(value, sizeof(value), "%c1", a->kind);
	ret = push(a, value);
	if (ret != GENERATION_REF_CHANGED && ret != GENERATION_EPOCH_CHANGED)
		return;
	value[1] = '2';
	push(a, value);
}

/*
 * Returns whether a ref needed OLD_OBJECT in a generation (version) up to
 * `number`.
 */
static bool is_old_needed(struct world *w, uint64_t number)
{
	bool needed = false;

	for (uint64_t n = 3; n <= number; n++) {
		struct generation g;
		char value[TEXT];

		parse(&g, &w->records[n]);
		value_in(w, value, &g);
		for (size_t i = 0; i < w->attempt_nr; i++)
			needed |= w->attempts[i].needs_old &&
				  !strcmp(w->attempts[i].after, value);
		generation_release(&g);
	}
	return needed;
}

/*
 * Writes the names of all objects of a generation (version) to *pack.
 * `without_old`: leaves out OLD_OBJECT.
 */
static void pack_objects(struct world *w, struct buf *pack,
			 const struct generation *g, bool without_old)
{
	struct buf all = BUF_INIT;
	char *rest = NULL;

	list_objects(w, &all, g);
	for (char *p = strtok_r(all.data, " ", &rest); p;
	     p = strtok_r(NULL, " ", &rest))
		if (!without_old || strcmp(p, OLD_OBJECT) != 0)
			memstore_check(!buf_printf(pack, "%s%s",
						   pack->len ? "  " : "", p));
	buf_release(&all);
}

/*
 * Runs actor "m" or "d": puts all packs into one pack, and all tables and
 * updates of refs into one table. "d" also omits OLD_OBJECT if no ref needs it.
 */
static void run_maintainer(struct actor *a)
{
	struct generation_upload ups[2];
	struct generation_change change;
	struct buf pack = BUF_INIT;
	struct generation base;
	char value[TEXT], path[TEXT];
	bool drops;

	if (generation_newest(&base, &a->place, 2, NULL))
		return;
	drops = a->kind == 'd' && !is_old_needed(a->w, base.number);
	pack_objects(a->w, &pack, &base, drops);
	value_in(a->w, value, &base);
	snprintf(path, sizeof(path), "pack/%c", a->kind);
	ups[0] = genhost_upload(path, pack.data);
	ups[1] = genhost_upload(GENERATION_TABLES "m", value);
	change = make_change(a, &base);
	change.drops_objects = drops;
	change.uploads = ups;
	change.upload_nr = 2;
	change.drops = base.files;
	change.drop_nr = base.file_nr;
	change.tables_up_to = base.number;
	commit(a, &base, &change);
	generation_release(&base);
	buf_release(&pack);
}

static void run_collector(struct actor *a)
{
	struct generation_collect_options options = {
		.grace = a->w->bug == BUG_NO_GRACE ? 1 : GRACE,
	};
	struct generation_garbage out;

	generation_collect(&out, &a->place, &options, NULL);
}

static void run_actor(unsigned high, unsigned low)
{
	struct actor *a = (struct actor *)((uintptr_t)high << 32 | low);

	if (a->kind == 'm' || a->kind == 'd')
		run_maintainer(a);
	else if (a->kind == 'c')
		run_collector(a);
	else
		run_pusher(a);
	a->is_done = true;
	swapcontext(&a->context, &a->w->scheduler);
}

static void start_actor(struct world *w, struct actor *a)
{
	static const struct filestore_ops careless = {
		.read = careless_read,
		.put = careless_put,
	};
	uintptr_t p = (uintptr_t)a;

	a->w = w;
	a->host = (struct generation_host){host_now,   host_time, host_random,
					   host_sleep, a,         1};
	a->place = (struct generation_place){&w->mem.store, &a->host,
					     REPOSITORY};
	a->careless.ops = &careless;
	a->random = (uint64_t)a->kind << 32;
	a->is_dead = a->is_done = false;
	a->put_nr = 0;
	*a->name = '\0';
	if (!a->stack)
		a->stack = malloc(STACK);
	memstore_check(a->stack && getcontext(&a->context) == 0);
	a->context.uc_stack.ss_sp = a->stack;
	a->context.uc_stack.ss_size = STACK;
	a->context.uc_link = NULL;
	makecontext(&a->context, (void (*)(void))run_actor, 2,
		    (unsigned)(p >> 32), (unsigned)p);
}

/* ---- a run */

/*
 * Makes the initial state. Generation 1 has pack/a; in generation 2, pack/b has
 * replaced pack/a. Both generations (versions) are older than the grace period,
 * and so is a file that no record lists.
 */
static void set_up(struct world *w)
{
	struct actor *a = &w->actors[0];
	struct generation_ref_change ref = {"main", NULL, "v0"};
	struct generation_upload up = genhost_upload("pack/a", "a");
	struct generation base = {0};
	struct generation_change change;
	struct buf name = BUF_INIT;

	w->is_setup = true;
	w->running = a;
	change = make_change(a, &base);
	change.uploads = &up;
	change.upload_nr = 1;
	change.refs = &ref;
	change.ref_nr = 1;
	memstore_check(!generation_commit(&base, &a->place, &change, NULL));
	up = genhost_upload("pack/b", "a  v0");
	change = make_change(a, &base);
	change.uploads = &up;
	change.upload_nr = 1;
	change.drops = base.files;
	change.drop_nr = 1;
	memstore_check(!generation_commit(&base, &a->place, &change, NULL));
	memstore_check(
		!generation_file_name(&name, REPOSITORY, &up.file, NULL));
	memstore_write(&w->mem, name.data, "garbage", 7);
	w->mem.clock += 2 * GRACE;
	w->is_setup = false;
	generation_release(&base);
	buf_release(&name);
}

static bool may_jump(const struct world *w)
{
	if (!w->jumps)
		return false;
	for (size_t i = 0; i < w->actor_nr; i++) {
		const struct actor *a = &w->actors[i];

		if (!a->is_done && a->kind != 'c' && a->op == MEMSTORE_PUT &&
		    record_number(a->name))
			return false;
	}
	return true;
}

static void jump(struct world *w)
{
	w->jumps--;
	w->mem.clock += 2 * GRACE;
	memstore_drop_late(&w->mem);
	tell(w, "%c  %s%s", "the clock jumps", "");
}

static void land(struct world *w)
{
	memstore_land(&w->mem);
	w->landed_late++;
	tell(w, "%c  %s%s", "a late put takes effect", "");
}

/*
 * Chooses what happens next in a run, and returns the actor that goes on. NULL:
 * another event has happened, and the caller must choose again. Such events are
 * a jump of the clock, and a late put that takes effect or is lost. At the end
 * of the run, returns NULL with *is_end set.
 */
static struct actor *pick(struct world *w, struct actor *last, bool *is_end)
{
	struct actor *options[ACTORS];
	unsigned nr = 0, events, taken;
	bool is_free = !last || last->is_done;
	bool lands = w->mem.late_nr > 0, jumps;

	if (!is_free)
		options[nr++] = last;
	for (size_t i = 0; i < w->actor_nr; i++)
		if (!w->actors[i].is_done && &w->actors[i] != last &&
		    (is_free || w->preemptions))
			options[nr++] = &w->actors[i];
	*is_end = !nr && !lands;
	if (*is_end)
		return NULL;
	jumps = nr && may_jump(w) && (is_free || w->preemptions);
	events = (unsigned)lands + (unsigned)jumps;
	/*
	 * No actor can go on, but a put that got no answer (a late put) is
	 * left. The put takes effect, or it is lost. Both are events to choose
	 * from. `events` already counts the first of them.
	 */
	if (!nr && lands)
		events++;
	taken = choose(w, nr + events);
	if (taken < nr) {
		w->preemptions -= !is_free && taken > 0;
		return options[taken];
	}
	taken -= nr;
	if (lands && !taken)
		land(w);
	else if (jumps) {
		w->preemptions -= !is_free;
		jump(w);
	} else {
		memstore_drop_late(&w->mem);
	}
	return NULL;
}

static void run(struct world *w)
{
	struct actor *last = NULL;
	bool is_end = false;

	while (!is_end && !w->is_broken) {
		struct actor *a = pick(w, last, &is_end);

		if (!a)
			continue;
		last = w->running = a;
		swapcontext(&w->scheduler, &a->context);
		w->running = NULL;
	}
	if (!w->is_broken)
		check_end(w);
}

/*
 * Runs all actors once from the initial state, with the choices that are stored
 * in `w`.
 */
static void run_once(struct world *w, unsigned preemptions, unsigned faults,
		     unsigned jumps)
{
	memstore_init(&w->mem);
	w->mem.fate = decide;
	w->mem.changed = check_change;
	w->mem.ctx = w;
	w->newest = 0;
	w->attempt_nr = 0;
	w->depth = 0;
	w->preemptions = preemptions;
	w->faults = faults;
	w->jumps = jumps;
	w->is_broken = false;
	for (size_t i = 0; i < w->actor_nr; i++)
		start_actor(w, &w->actors[i]);
	set_up(w);
	run(w);
	memstore_release(&w->mem);
}

static int report(struct world *w, unsigned preemptions, unsigned faults,
		  unsigned jumps, uint64_t runs)
{
	printf("run %" PRIu64 ": %s\n", runs, w->why);
	w->is_verbose = true;
	run_once(w, preemptions, faults, jumps);
	return 1;
}

int main(int argc, char **argv)
{
	struct world *w = calloc(1, sizeof(*w));
	static const char *const bugs[] = {"none", "delete-after-lost",
					   "no-grace", "unchecked"};
	unsigned limits[3];
	uint64_t runs = 0;

	if (!w || argc < 5 || strlen(argv[1]) > ACTORS || !*argv[1] ||
	    argv[1][strspn(argv[1], "pqmdc")]) {
		fprintf(stderr, "usage: explore-generations <actors> "
				"<preemptions> <faults> <jumps> [<bug>]\n");
		return 2;
	}
	for (int i = 0; i < 3; i++)
		limits[i] = (unsigned)atoi(argv[2 + i]);
	for (size_t i = 0; argc > 5 && i < ARRAY_NR(bugs); i++)
		if (!strcmp(argv[5], bugs[i]))
			w->bug = (enum bug)i;
	for (const char *p = argv[1]; *p; p++)
		w->actors[w->actor_nr++].kind = *p;
	for (size_t i = 0; i < RECORDS; i++)
		buf_init(&w->records[i]);
	do {
		run_once(w, limits[0], limits[1], limits[2]);
		runs++;
		if (w->is_broken)
			return report(w, limits[0], limits[1], limits[2], runs);
	} while (next_sequence(w));
	printf("%s: %" PRIu64 " runs with %u preemptions, %u faults, %u jumps: "
	       "%" PRIu64 " pushes committed, %" PRIu64 " refused, %" PRIu64
	       " unknown, %" PRIu64 " busy, %" PRIu64 " too late, %" PRIu64
	       " late puts\n",
	       argv[1], runs, limits[0], limits[1], limits[2], w->committed,
	       w->refused, w->unknown, w->busy, w->too_late, w->landed_late);
	for (size_t i = 0; i < RECORDS; i++)
		buf_release(&w->records[i]);
	for (size_t i = 0; i < w->actor_nr; i++)
		free(w->actors[i].stack);
	free(w);
	return 0;
}
