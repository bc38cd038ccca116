/* SPDX-License-Identifier: MIT */
/* The local copy of a repository in a store. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "copies/copy.h"
#include "copies/refresh.h"
#include "stored/fetch.h"
#include "sys/io.h"
#include "sys/map.h"
#include "sys/rangelock.h"
#include "sys/tempdir.h"

/*
 * Maximum number of tries to rename a directory to its final path. A try fails
 * if another process removes the parent directory because it is empty.
 */
#define RENAME_TRIES 5
/*
 * Limit of requests at the start of a refresh. The refresh asks the store for
 * the record after the newest one that this node knows. There are three cases:
 * - The store has no such record: the copy is up to date.
 * - The store has the record, and during the request, another process of this
 *   node has noted this record or a newer one: the refresh asks again, for the
 *   record after the noted one. At most LOOKS requests are sent.
 * - The store has the record, and no process has noted it, or LOOKS requests
 *   were sent: the refresh searches for the newest record.
 */
#define LOOKS 3
/*
 * Number of bytes that are read from the start of a marker to find the number
 * of the generation. A whole marker may be much larger.
 */
#define PEEK_LEN 8192

struct stored_copy {
	struct stored_node *node;
	bool owns_node;
	char *name; /* owned, like the paths */
	char *dir;
	char *marker;
	/* descriptor of the lock file */
	int locks;
	/*
	 * number of calls of stored_copy_begin() for which stored_copy_end()
	 * was not called yet
	 */
	unsigned changes;
	bool is_doubted; /* the store must still prove that it has `g` */
	struct generation_place place;
	struct generation g; /* number 0: no usable copy */
};

const struct generation *stored_copy_generation(const struct stored_copy *copy)
{
	return &copy->g;
}

const struct generation_place *stored_copy_place(const struct stored_copy *copy)
{
	return &copy->place;
}

struct generation_place stored_copy_probe_place(const struct stored_copy *copy)
{
	struct generation_place probe = copy->place;

	if (copy->node->probe)
		probe.store = copy->node->probe;
	return probe;
}

struct stored_cache *stored_copy_cache(const struct stored_copy *copy)
{
	return copy->node->cache;
}

struct relay *stored_copy_relay(const struct stored_copy *copy)
{
	return copy->node->relay;
}

const char *stored_copy_dir(const struct stored_copy *copy)
{
	return copy->dir;
}

/* ---- the marker */

/*
 * Appends the boot id of the system: a text that is different after each start
 * of the system.
 */
static int read_boot(struct buf *out, struct error *err)
{
	int ret = sys_read_any(out, "/proc/sys/kernel/random/boot_id", err);

	/*
	 * Use another code, because ERR_MISSING means that the store does not
	 * have the repository.
	 */
	if (ret == ERR_MISSING)
		ret = error_recode(err, ERR_IO);
	while (!ret && out->len && out->data[out->len - 1] == '\n')
		buf_set_len(out, out->len - 1);
	if (!ret && !out->len)
		ret = error_set(err, ERR_IO,
				"the system has no boot id: "
				"/proc/sys/kernel/random/boot_id is empty");
	return ret;
}

/*
 * Returns 1 if a marker belongs to this copy and was written since the last
 * start of the system, 0 if not, or a negative error code.
 */
static int is_usable(const struct stored_copy *copy,
		     const struct stored_marker *m, struct error *err)
{
	struct buf boot = BUF_INIT;
	int ret = read_boot(&boot, err);

	if (!ret)
		ret = !strcmp(boot.data, m->boot) &&
		      !strcmp(copy->name, m->name);
	buf_release(&boot);
	return ret;
}

/*
 * Reads the generation in the file `path`. The file is one of two files of the
 * copy, which have the same form. The marker has the generation of the copy.
 * The note of stored_copy_note_made() has the newest generation that pushes of
 * this node have made. Returns 0, 1 if the file is missing or cannot be used,
 * or a negative error code.
 */
static int read_marker(struct generation *out, const struct stored_copy *copy,
		       const char *path, struct error *err)
{
	struct stored_marker m = {0};
	struct buf text = BUF_INIT;
	int ret = sys_read_file(&text, path, err);

	*out = (struct generation){0};
	if (!ret)
		ret = stored_marker_parse(&m, text.data, text.len, err);
	buf_release(&text);
	/* A damaged marker is treated like a missing one. */
	if (ret == ERR_MISSING || ret == ERR_CORRUPT || ret == ERR_UNSUPPORTED)
		return 1;
	if (!ret)
		ret = is_usable(copy, &m, err);
	if (ret > 0) {
		*out = m.g;
		m.g = (struct generation){0};
	}
	stored_marker_release(&m);
	return ret < 0 ? ret : !ret;
}

int stored_copy_load(struct stored_copy *copy, struct error *err)
{
	generation_release(&copy->g);
	return read_marker(&copy->g, copy, copy->marker, err);
}

void stored_copy_assume(struct stored_copy *copy,
			const struct generation *known)
{
	generation_release(&copy->g);
	copy->g = (struct generation){.number = known->number};
	memcpy(copy->g.parent, known->parent, sizeof(known->parent));
	memcpy(copy->g.token, known->token, sizeof(known->token));
}

static int write_marker(const struct stored_copy *copy, const char *path,
			const struct generation *g, struct error *err)
{
	struct buf text = BUF_INIT, boot = BUF_INIT;
	int ret = read_boot(&boot, err);

	if (!ret) {
		const struct stored_marker m = {boot.data, copy->name, *g};

		ret = stored_marker_print(&text, &m, err);
	}
	if (!ret)
		ret = sys_tempfile_replace(path, text.data, text.len,
					   SYS_FSYNC_NONE, err);
	buf_release(&text);
	buf_release(&boot);
	return ret;
}

int stored_copy_note_made(const struct stored_copy *copy,
			  const struct generation *g, struct error *err)
{
	char *path = stored_join(copy->dir, STORED_COPY_MADE, err);
	int ret = path ? write_marker(copy, path, g, err) : ERR_NOMEM;

	free(path);
	return ret;
}

/*
 * Returns the number of the generation in a marker file, or in another file of
 * this form. Returns 0 if the file has no number. The rest of the file is not
 * checked.
 */
static uint64_t peek(const char *path)
{
	static const char key[] = "\nnumber ";
	char text[PEEK_LEN + 1];
	uint64_t len = 0, number = 0;
	int fd = path ? sys_open_read(path, &len, NULL) : -1;

	if (fd < 0)
		return 0;
	if (len > PEEK_LEN)
		len = PEEK_LEN;
	if (!sys_read_at(fd, text, (size_t)len, 0, path, NULL)) {
		const char *at;

		text[len] = '\0';
		at = strstr(text, key);
		if (at)
			number = strtoull(at + strlen(key), NULL, 10);
	}
	sys_close(fd);
	return number;
}

uint64_t stored_copy_made_number(const struct stored_copy *copy)
{
	char *path = stored_join(copy->dir, STORED_COPY_MADE, NULL);
	uint64_t number = peek(path);

	free(path);
	return number;
}

/*
 * Reads the generation that stored_copy_note_made() noted last. Returns 0 with
 * the generation in *out if its number is larger than `number`. Returns 1 if
 * the number is not larger, or the note is missing or unusable. Returns a
 * negative error code otherwise.
 */
static int read_made(struct generation *out, const struct stored_copy *copy,
		     uint64_t number, struct error *err)
{
	char *path = stored_join(copy->dir, STORED_COPY_MADE, err);
	int ret = path ? 1 : ERR_NOMEM;

	*out = (struct generation){0};
	if (peek(path) > number)
		ret = read_marker(out, copy, path, err);
	if (!ret && out->number <= number) {
		generation_release(out);
		ret = 1;
	}
	free(path);
	return ret;
}

int stored_copy_newest_made(struct generation *out, struct stored_copy *copy,
			    struct error *err)
{
	int ret = read_made(out, copy, peek(copy->marker), err);

	if (ret <= 0)
		return ret;
	ret = stored_copy_load(copy, err);
	return ret ? ret : generation_copy(out, &copy->g, err);
}

/* ---- opening */

void stored_copy_close(struct stored_copy *copy)
{
	if (!copy)
		return;
	sys_close(copy->locks);
	if (copy->owns_node)
		stored_node_close(copy->node);
	generation_release(&copy->g);
	free(copy->name);
	free(copy->dir);
	free(copy->marker);
	free(copy);
}

static int take_use(struct stored_copy *copy, struct error *err)
{
	copy->locks = stored_node_locks(copy->node, err);
	return copy->locks < 0
		       ? copy->locks
		       : sys_rangelock_take(copy->locks,
					    stored_node_use_lock(copy->name),
					    true, true, err);
}

int stored_copy_enter(struct stored_copy **out, struct stored_node *node,
		      const char *name, struct error *err)
{
	struct stored_copy *copy = mem_calloc(1, sizeof(*copy));
	struct buf dir = BUF_INIT;
	int ret;

	*out = NULL;
	if (!copy)
		return error_nomem(err);
	copy->locks = -1;
	copy->node = node;
	ret = stored_node_copy(&dir, node, name, err);
	if (!ret) {
		copy->dir = buf_detach(&dir, NULL);
		copy->name = mem_strdup(name);
		copy->marker = copy->dir ? stored_join(copy->dir,
						       REPO_COPY_MARKER, err)
					 : NULL;
		ret = copy->name && copy->marker ? take_use(copy, err)
						 : error_nomem(err);
	}
	copy->place = (struct generation_place){node->store, &node->host,
						copy->name};
	buf_release(&dir);
	if (ret)
		stored_copy_close(copy);
	else
		*out = copy;
	return ret;
}

/* Opens the copy at `path`, which must contain no symlinks. */
static int open_real(struct stored_copy **out, const char *path,
		     struct error *err)
{
	struct buf dir = BUF_INIT, name = BUF_INIT;
	struct stored_node *node = NULL;
	int ret = stored_node_split(&dir, &name, path, err);

	if (ret > 0)
		ret = error_set(err, ERR_INVALID,
				"'%s' is the copy of a repository in a store, "
				"but is not in its cache directory",
				path);
	if (!ret)
		ret = stored_node_open_relayed(&node, dir.data, err);
	if (!ret)
		ret = stored_copy_enter(out, node, name.data, err);
	if (!ret)
		(*out)->owns_node = true;
	else
		stored_node_close(node);
	buf_release(&dir);
	buf_release(&name);
	return ret;
}

int stored_copy_open(struct stored_copy **out, const char *git_dir,
		     struct error *err)
{
	char *marker = stored_join(git_dir, REPO_COPY_MARKER, err);
	struct error why = ERROR_INIT;
	char *real = NULL;
	struct sys_stat st;
	int ret;

	*out = NULL;
	if (!marker)
		return ERR_NOMEM;
	ret = sys_stat(&st, marker, &why);
	free(marker);
	if (ret == ERR_MISSING)
		return 1;
	if (ret)
		return error_set(err, ret, "%s", why.msg);
	real = sys_realpath(git_dir, err);
	ret = real ? open_real(out, real, err) : error_recorded(err, ERR_IO);
	free(real);
	if (!ret)
		ret = stored_copy_load(*out, err);
	if (ret < 0) {
		stored_copy_close(*out);
		*out = NULL;
	}
	return ret < 0 ? ret : 0;
}

/* ---- changing */

int stored_copy_begin(struct stored_copy *copy, struct error *err)
{
	uint32_t nr = stored_node_change_lock(copy->name);
	int ret = 0;

	if (!copy->changes)
		ret = sys_rangelock_take(copy->locks, nr, false, true, err);
	copy->changes += !ret;
	return ret;
}

void stored_copy_end(struct stored_copy *copy)
{
	if (!--copy->changes)
		sys_rangelock_drop(copy->locks,
				   stored_node_change_lock(copy->name));
}

/* Stores a duplicate of *g as the generation of *copy. */
static int adopt(struct stored_copy *copy, const struct generation *g,
		 struct error *err)
{
	generation_release(&copy->g);
	copy->g = (struct generation){0};
	return generation_copy(&copy->g, g, err);
}

static int advance_in_place(struct stored_copy *copy,
			    const struct generation *g, struct error *err)
{
	const struct stored_refresh r = {copy->node->cache, &copy->place,
					 copy->dir, &copy->g, g};
	int ret = stored_refresh_download(&r, err);

	if (!ret)
		ret = stored_refresh_files(&r, err);
	/*
	 * Remove the old packs before the marker is written. If the process
	 * dies between these steps, the old marker stays, and the next refresh
	 * does both steps again. In the other order, the old packs would stay
	 * until there is a newer generation.
	 */
	if (!ret)
		stored_refresh_tidy(&r);
	if (!ret)
		ret = write_marker(copy, copy->marker, g, err);
	return ret ? ret : adopt(copy, g, err);
}

/*
 * Writes two files into the repository in `dir`: the marker, and an empty file.
 * The modification time of the empty file says when the store last confirmed
 * that the copy has the newest generation. A repository that has both files is
 * treated as a local copy.
 */
static int mark(const struct stored_copy *copy, const char *dir,
		const struct generation *g, struct error *err)
{
	char *marker = stored_join(dir, REPO_COPY_MARKER, err);
	char *used = stored_join(dir, STORED_COPY_USED, err);
	int ret = ERR_NOMEM;

	if (marker && used)
		ret = sys_tempfile_replace(used, "", 0, SYS_FSYNC_NONE, err);
	if (!ret)
		ret = write_marker(copy, marker, g, err);
	free(marker);
	free(used);
	return ret;
}

/*
 * Moves the new repository to its place. Tries again if another process removed
 * an empty parent directory.
 */
static int install(const struct stored_copy *copy, const char *from,
		   struct error *err)
{
	char *parent = mem_strndup(
		copy->dir, (size_t)(strrchr(copy->dir, '/') - copy->dir));
	int ret = parent ? ERR_IO : error_nomem(err);

	for (int i = 0; ret == ERR_IO && i < RENAME_TRIES; i++) {
		ret = sys_mkdir_p(parent, err);
		if (!ret)
			ret = sys_rename(from, copy->dir, err);
	}
	free(parent);
	return ret;
}

/*
 * Makes the files of generation *g in a new directory, and puts this directory
 * in the place of the unusable copy. Nobody uses the old copy now, because all
 * users wait for this refresh.
 */
static int make_anew(struct stored_copy *copy, const struct generation *g,
		     struct error *err)
{
	const struct stored_refresh r = {copy->node->cache, &copy->place,
					 copy->dir, NULL, g};
	struct sys_tempdir td = SYS_TEMPDIR_INIT;
	char *tmp = stored_join(copy->node->dir, "tmp", err);
	char *made = NULL, *old = NULL;
	/*
	 * Download first, and create the directory in tmp/ afterwards. A
	 * download may take long, and stored_trim_run() removes directories
	 * in tmp/ that are older than STORED_CACHE_AGE.
	 */
	int ret = tmp ? stored_refresh_download(&r, err) : ERR_NOMEM;

	if (!ret)
		ret = sys_mkdir_p(tmp, err);
	if (!ret)
		ret = sys_tempdir_create(&td, tmp, "make_", err);
	if (!ret) {
		made = stored_join(td.path, "new", err);
		old = stored_join(td.path, "old", err);
		ret = made && old ? sys_mkdir_p(made, err) : ERR_NOMEM;
	}
	if (!ret)
		ret = stored_cache_lay_out(copy->node->cache, made,
					   &copy->place, g, err);
	if (!ret)
		ret = mark(copy, made, g, err);
	if (!ret && sys_exists(copy->dir))
		ret = sys_rename(copy->dir, old, err);
	if (!ret)
		ret = install(copy, made, err);
	sys_tempdir_release(&td);
	free(tmp);
	free(made);
	free(old);
	return ret ? ret : adopt(copy, g, err);
}

/*
 * Updates the local copy of a repository to the generation *g. A push through
 * this node may have made a newer generation, and noted it in a file of the
 * copy (stored_copy_note_made()). If `may_be_made` is true and the note has a
 * newer generation than *g, updates the copy to the noted generation. If this
 * fails, updates the copy to *g. Returns 0 or a negative error code.
 */
static int advance(struct stored_copy *copy, const struct generation *g,
		   bool may_be_made, struct error *err)
{
	struct generation made = {0};
	int ret = stored_copy_begin(copy, err);

	if (ret)
		return ret;
	/*
	 * Load the marker again: another process may have brought the copy to
	 * this generation before this process got the lock.
	 */
	ret = stored_copy_load(copy, err);
	if (ret > 0) {
		ret = make_anew(copy, g, err);
	} else if (!ret && copy->g.number < g->number) {
		if (may_be_made && !read_made(&made, copy, g->number, NULL) &&
		    !advance_in_place(copy, &made, NULL))
			ret = 0;
		else
			ret = advance_in_place(copy, g, err);
		generation_release(&made);
	}
	stored_copy_end(copy);
	/*
	 * Here ERR_MISSING means that the store lacks a file of the generation.
	 * For the caller, this code would mean that the repository does not
	 * exist.
	 */
	return ret == ERR_MISSING ? error_recode(err, ERR_CORRUPT) : ret;
}

int stored_copy_advance(struct stored_copy *copy, const struct generation *g,
			struct error *err)
{
	return advance(copy, g, false, err);
}

int stored_copy_advance_made(struct stored_copy *copy,
			     const struct generation *g, struct error *err)
{
	return advance(copy, g, true, err);
}

int stored_copy_look(struct stored_copy *copy, struct error *err)
{
	const struct generation_place probe = stored_copy_probe_place(copy);
	struct generation g = {0};
	int ret = sys_exists(copy->marker)
			  ? 0
			  : generation_newest(&g, &probe, 0, err);

	generation_release(&g);
	return stored_result(ret, copy->name, err);
}

void stored_copy_doubt(struct stored_copy *copy)
{
	copy->is_doubted = true;
}

bool stored_copy_is_doubted(const struct stored_copy *copy)
{
	return copy->is_doubted;
}

/*
 * After stored_copy_doubt(), finds out whether the store still has the
 * generation of the copy. If it does not, the store was emptied or restored
 * from a backup, and the result is ERR_CORRUPT. The copy then stays unchanged,
 * because it may have the last copies of some commits. Returns 0 or a negative
 * error code.
 */
static int prove(struct stored_copy *copy, const struct generation_place *probe,
		 struct error *err)
{
	struct error why = ERROR_INIT;
	int ret;

	if (!copy->g.number || !copy->is_doubted)
		return 0;
	ret = generation_prove(probe, &copy->g, &why);
	if (ret == STORE_ABSENT)
		return error_set(err, ERR_CORRUPT,
				 "%s: was the store restored from a backup?",
				 why.msg);
	if (ret && err)
		*err = why;
	copy->is_doubted &= ret != 0;
	return stored_result(ret, copy->name, err);
}

/*
 * Brings the copy to the generation *g, whose record was just read from the
 * store. So the store certainly has this generation. If the copy reaches *g,
 * stored_copy_is_doubted() becomes false: there is no doubt any more whether
 * the store has the generation of the copy. Returns 0 or a negative error code.
 * After an error, stored_copy_is_doubted() does not change.
 */
static int advance_to_read(struct stored_copy *copy, const struct generation *g,
			   struct error *err)
{
	int ret = stored_copy_advance(copy, g, err);

	copy->is_doubted &= ret != 0;
	return ret;
}

/*
 * The hint is a file in the store that can contain a copy of a recent record.
 * This struct asks the store whether the record in the hint is the newest one.
 * The question is sent while the files of this record are downloaded.
 */
struct asking {
	const struct generation_place *place; /* borrowed */
	/* number of the record in the hint, about which the store is asked */
	uint64_t number;
	bool was_asked;
	int ret; /* result of the question */
	/* true: no record is newer than the record in the hint */
	bool is_newest;
	/* owned: the newest record, if it is not the record in the hint */
	struct generation g;
};

static int ask_newest(void *ctx, struct error *err)
{
	struct asking *a = ctx;

	a->was_asked = true;
	a->ret = generation_is_newest(&a->is_newest, a->place, a->number, err);
	if (!a->ret && !a->is_newest)
		a->ret = generation_newest(&a->g, a->place, 0, err);
	return stored_result(a->ret, a->place->repository, err);
}

/*
 * Makes the local copy of the repository from the record *guess. *guess was
 * read from the hint, a file in the store that may repeat the content of a
 * recent record. The store is asked for the newest record while the files are
 * downloaded, so both take only one round trip.
 *
 * The question is necessary even if all files are in the cache: the store may
 * have newer records, or may have lost the record *guess. The answer has only
 * the numbers of records, not their content. So even if the store has a record
 * with the number of *guess, it may be a different record
 * (stored_copy_doubt()).
 *
 * The caller has the lock CHANGE, and there is no usable copy. Returns 0 or a
 * negative error code.
 */
static int make_guessed(struct stored_copy *copy,
			const struct generation_place *probe,
			const struct generation *guess, struct error *err)
{
	const struct stored_refresh r = {copy->node->cache, &copy->place,
					 copy->dir, NULL, guess};
	struct asking ask = {.place = probe, .number = guess->number};
	int ret = stored_refresh_download_with(&r, ask_newest, &ask, err);

	if (!ask.was_asked || ask.ret)
		return ret;
	if (ask.is_newest && !ret)
		return stored_copy_advance(copy, guess, err);
	if (ask.is_newest && ret != ERR_MISSING && ret != ERR_CORRUPT)
		return ret;
	/*
	 * If *guess is the newest record, but files are missing, a garbage
	 * collection has probably removed them. So search for a newer record.
	 */
	ret = ask.is_newest
		      ? stored_result(generation_newest(&ask.g, probe,
							guess->number, err),
				      copy->name, err)
		      : 0;
	/*
	 * Files that *guess and the newest record share are in the cache now,
	 * so they are not downloaded again.
	 */
	if (!ret)
		ret = advance_to_read(copy, &ask.g, err);
	generation_release(&ask.g);
	return ret;
}

/*
 * Makes the copy from the record in the hint, a file in the store that can
 * contain a copy of a recent record. Returns 0 if the copy was made. Returns 1
 * if the hint contains no record, or if another process has made the copy
 * meanwhile. Returns a negative error code otherwise.
 */
static int make_by_hint(struct stored_copy *copy,
			const struct generation_place *probe, struct error *err)
{
	struct generation guess;
	int ret = generation_read_hint(&guess, probe, err);

	if (ret == STORE_UNAVAILABLE)
		return stored_result(ret, copy->name, err);
	if (ret)
		return ret == ERR_NOMEM ? ret : 1;
	ret = stored_copy_begin(copy, err);
	if (!ret) {
		ret = stored_copy_load(copy, err);
		if (ret > 0)
			ret = make_guessed(copy, probe, &guess, err);
		else if (!ret)
			ret = 1;
		stored_copy_end(copy);
	}
	generation_release(&guess);
	return ret;
}

/*
 * Returns the highest number of a generation that this node knows. It is the
 * largest of three numbers: the generation of the opened copy; the generation
 * in the marker, the file that says which generation the copy has; and the
 * generation that a push on this node has noted.
 */
static uint64_t known_number(const struct stored_copy *copy)
{
	uint64_t max = stored_copy_made_number(copy), now = peek(copy->marker);

	if (now > max)
		max = now;
	return copy->g.number > max ? copy->g.number : max;
}

/*
 * Waits until the copy has the generation `number`, or until no process changes
 * the copy. Returns 0 if the copy then has this generation or a newer one, 1 if
 * not, or a negative error code.
 */
static int await_other(struct stored_copy *copy, uint64_t number,
		       struct error *err)
{
	int ret = stored_copy_load(copy, err);

	if (ret < 0 || (!ret && copy->g.number >= number))
		return ret;
	ret = stored_copy_begin(copy, err);
	if (ret)
		return ret;
	ret = stored_copy_load(copy, err);
	stored_copy_end(copy);
	return ret ? ret : copy->g.number < number;
}

/*
 * Asks the store for the record after the newest generation that this node
 * knows. The question is repeated if another process of this node has noted a
 * newer generation in the meantime.
 *
 * Returns 0 if the copy is the newest generation. Returns 1 if the caller must
 * search for the newest record; if a newer record was read already, it is in
 * *found. Returns a negative error code otherwise.
 */
static int ask_newer(struct generation *found, struct stored_copy *copy,
		     const struct generation_place *probe, struct error *err)
{
	uint64_t known = known_number(copy), asked = 0;
	int ret = 0;

	for (unsigned i = 0; !ret && i < LOOKS && known > asked; i++) {
		asked = known;
		generation_release(found);
		ret = generation_read(found, probe, asked + 1, err);
		if (!ret)
			known = known_number(copy);
	}
	/*
	 * A damaged record is no error yet: the store may have a newer record
	 * after it. Return 1, so that the caller searches for the newest
	 * record.
	 */
	if (!ret || ret == ERR_CORRUPT || ret == ERR_UNSUPPORTED)
		return 1;
	if (ret != STORE_ABSENT)
		return stored_result(ret, copy->name, err);
	ret = asked > copy->g.number ? await_other(copy, asked, err) : 0;
	return ret ? ret : prove(copy, probe, err);
}

/*
 * A record is a file in the store that lists what a generation of the
 * repository has. Searches for the newest record, and updates the copy to the
 * generation of this record. If *found is a record that is newer than the copy,
 * the search begins there. *found is overwritten by the newest record.
 */
static int search_and_advance(struct stored_copy *copy,
			      const struct generation_place *probe,
			      struct generation *found, struct error *err)
{
	int ret;

	if (found->number)
		ret = generation_newest_after(found, probe, err);
	else if (copy->g.number)
		ret = generation_newer(found, probe, copy->g.number, err);
	else
		ret = generation_newest(found, probe, 0, err);
	if (ret == STORE_ABSENT && copy->g.number)
		return prove(copy, probe, err);
	ret = stored_result(ret, copy->name, err);
	/*
	 * If the store was restored from a backup, the newer record may belong
	 * to another history. Commits that the store has lost may then exist
	 * only in this copy, and advancing the copy would remove them. So the
	 * store must first prove that it still has the generation of the copy.
	 */
	stored_copy_doubt(copy);
	if (!ret)
		ret = prove(copy, probe, err);
	return ret ? ret : advance_to_read(copy, found, err);
}

int stored_copy_refresh(struct stored_copy *copy, struct error *err)
{
	const struct generation_place probe = stored_copy_probe_place(copy);
	struct generation found = {0};
	int ret = 0;

	if (!copy->g.number)
		ret = stored_copy_load(copy, err);
	if (ret < 0)
		return ret;
	ret = copy->g.number ? ask_newer(&found, copy, &probe, err)
			     : make_by_hint(copy, &probe, err);
	if (ret > 0)
		ret = search_and_advance(copy, &probe, &found, err);
	generation_release(&found);
	return ret;
}

/* ---- objects of others */

static int purge_locked(struct stored_copy *copy, struct error *err)
{
	const struct stored_refresh r = {copy->node->cache, &copy->place,
					 copy->dir, NULL, &copy->g};
	int ret = stored_copy_load(copy, err);

	if (ret > 0)
		return error_set(err, ERR_IO,
				 "the local copy '%s' cannot be used",
				 copy->dir);
	return ret ? ret : stored_refresh_purge(&r, err);
}

int stored_copy_purge(struct stored_copy *copy, struct error *err)
{
	const struct stored_refresh r = {copy->node->cache, &copy->place,
					 copy->dir, NULL, &copy->g};
	int ret = stored_refresh_has_others(&r, err);

	if (ret <= 0)
		return ret;
	/*
	 * Refresh the copy first. A refresh that was killed may have installed
	 * new refs, but not the marker that lists the packs of these refs. The
	 * purge would remove these packs.
	 */
	ret = stored_copy_refresh(copy, err);
	if (!ret)
		ret = stored_copy_begin(copy, err);
	if (ret)
		return ret;
	ret = purge_locked(copy, err);
	stored_copy_end(copy);
	return ret;
}
