/* SPDX-License-Identifier: MIT */
/*
 * A bare repository and a store in a temporary directory, for unit tests.
 * Include this header after cmocka.h.
 *
 *	storedrepo_init(&s);            make <dir>/src with one commit, and an
 *	                                empty store in <dir>/store
 *	storedrepo_import(&s, false);   make a generation of <dir>/src
 *	storedrepo_newest(&s, &g);      read the newest generation
 */
#ifndef T_UNIT_STOREDREPO_H
#define T_UNIT_STOREDREPO_H

#include "generations/names.h"
#include "object/hash.h"
#include "refs/refs.h"
#include "store/open.h"
#include "stored/import.h"
#include "t/unit/netrepo.h"

struct storedrepo {
	struct netrepo n;
	struct filestore *store;
	struct generation_host host;
	struct generation_place place;
	struct stored_import_result result; /* of the last import */
	struct oid tip;                     /* of refs/heads/main */
	struct error err;
};

static inline void storedrepo_init(struct storedrepo *s)
{
	memset(s, 0, sizeof(*s));
	tmprepo_init(&s->n.t, HASH_SHA1);
	netrepo_repo(&s->n, "src");
	netrepo_commit(&s->n, "src", "one", &s->tip);
	if (store_directory_make(&s->store, netrepo_path(&s->n, "store"),
				 &s->err) < 0)
		fail_msg("%s", s->err.msg);
	generation_host_init(&s->host);
	s->place.store = s->store;
	s->place.host = &s->host;
	s->place.repository = "team/src.git";
}

static inline void storedrepo_release(struct storedrepo *s)
{
	filestore_close(s->store);
	netrepo_release(&s->n);
}

static inline int storedrepo_import(struct storedrepo *s, bool force)
{
	const struct stored_import how = {
		.node = "node",
		.user = "user",
		.tmp = s->n.t.dir,
		.force = force,
	};
	struct repo *repo = netrepo_open(&s->n, "src");
	int ret = stored_import_run(&s->result, &s->place, repo, &how, &s->err);

	repo_close(repo);
	return ret;
}

static inline void storedrepo_newest(struct storedrepo *s, struct generation *g)
{
	memset(g, 0, sizeof(*g));
	if (generation_newest(g, &s->place, 0, &s->err) != 0)
		fail_msg("%s", s->err.msg);
}

/* Imports the repository, and reads the new generation (version) into *g. */
static inline void storedrepo_generation(struct storedrepo *s,
					 struct generation *g)
{
	if (storedrepo_import(s, true) != 0)
		fail_msg("%s", s->err.msg);
	storedrepo_newest(s, g);
}

/*
 * Returns the first file in the list of a generation (version) whose path
 * starts with `start`.
 */
static inline struct generation_file *storedrepo_file(struct generation *g,
						      const char *start)
{
	for (size_t i = 0; i < g->file_nr; i++)
		if (!strncmp(g->files[i].path, start, strlen(start)))
			return &g->files[i];
	fail_msg("no file %s", start);
	return NULL;
}

/* Returns the first pack of a generation. */
static inline struct generation_file *storedrepo_pack(struct generation *g)
{
	for (size_t i = 0; i < g->file_nr; i++) {
		const char *dot = strrchr(g->files[i].path, '.');

		if (dot && !strcmp(dot, ".pack"))
			return &g->files[i];
	}
	fail_msg("no pack");
	return NULL;
}

/*
 * Deletes the record (manifest) of generation `number`. After this, the store
 * looks as if it were restored from an old backup.
 */
static inline void storedrepo_lose_record(struct storedrepo *s, uint64_t number)
{
	struct buf name = BUF_INIT;

	assert_int_equal(generation_record_name(&name, s->place.repository,
						number, NULL),
			 0);
	assert_int_equal(filestore_delete(s->store, name.data, NULL), 0);
	buf_release(&name);
}

/*
 * Returns the name under which the store has a file of a generation (version),
 * malloc()ed.
 */
static inline char *storedrepo_name(struct storedrepo *s,
				    const struct generation_file *file)
{
	struct buf name = BUF_INIT;

	assert_int_equal(
		generation_file_name(&name, s->place.repository, file, NULL),
		0);
	return buf_detach(&name, NULL);
}

/*
 * Overwrites a file of a generation in the store. The new content is `longer`
 * bytes longer than the old one. So tests can damage a file with or without
 * changing its length.
 */
static inline void storedrepo_damage(struct storedrepo *s,
				     const struct generation_file *file,
				     int longer)
{
	static const struct filestore_condition always = {STORE_ALWAYS, NULL};
	char *name = storedrepo_name(s, file);
	size_t len = (size_t)((int64_t)file->size + longer);
	char *bytes = malloc(len);

	memset(bytes, 'x', len);
	assert_int_equal(
		filestore_put(s->store, NULL, name, bytes, len, &always, NULL),
		0);
	free(bytes);
	free(name);
}

static inline void storedrepo_delete(struct storedrepo *s,
				     const struct generation_file *file)
{
	char *name = storedrepo_name(s, file);

	assert_int_equal(filestore_delete(s->store, name, NULL), 0);
	free(name);
}

/*
 * Commits the next generation (version) of the repository: the files of *g, and
 * one more file, which consists of one line.
 */
static inline void storedrepo_add_file(struct storedrepo *s,
				       struct generation *g, const char *path)
{
	static const char line[] = "/nonexistent/other.git\n";
	struct generation_upload upload = {
		.file.path = (char *)path,
		.file.size = sizeof(line) - 1,
		.bytes = line,
	};
	const struct generation_change change = {
		.node = "node",
		.user = "user",
		.action = "test",
		.seen = g->number,
		.uploads = &upload,
		.upload_nr = 1,
		.session_ns = UINT64_MAX,
	};
	struct hash_ctx hash;
	struct oid oid;

	assert_int_equal(hash_init(&hash, HASH_SHA256), 0);
	hash_update(&hash, line, sizeof(line) - 1);
	hash_final(&hash, &oid);
	hash_release(&hash);
	memcpy(upload.file.sha256, oid.bytes, GENERATION_SHA256_LEN);
	if (generation_commit(g, &s->place, &change, &s->err) != 0)
		fail_msg("%s", s->err.msg);
}

/* Makes the directory <dir>/<name>. Returns its path, malloc()ed. */
static inline char *storedrepo_dir(struct storedrepo *s, const char *name)
{
	char *path = strdup(netrepo_path(&s->n, name));

	assert_int_equal(sys_mkdir_p(path, NULL), 0);
	return path;
}

static inline int storedrepo_count(void *ctx, const char *name)
{
	(void)name;
	++*(int *)ctx;
	return 0;
}

/* Returns the number of entries of the directory <dir>/<name>. */
static inline int storedrepo_entries(struct storedrepo *s, const char *name)
{
	int nr = 0;

	sys_dir_each(netrepo_path(&s->n, name), storedrepo_count, &nr, NULL);
	return nr;
}

/*
 * Checks the value of a ref of the repository <dir>/<name>. `value`: an id in
 * hexadecimal, the target of a symbolic ref, or NULL if the ref must not exist.
 */
static inline void storedrepo_assert_ref(struct storedrepo *s, const char *name,
					 const char *ref, const char *value)
{
	struct repo *repo = netrepo_open(&s->n, name);
	char hex[OID_MAX_HEX_LEN + 1];
	struct refs *refs;
	struct ref found;
	int ret;

	assert_int_equal(refs_open(&refs, repo, NULL), 0);
	ret = refs_read(refs, ref, &found, NULL);
	assert_int_equal(ret, value ? 1 : 0);
	if (value)
		assert_string_equal(
			found.target ? found.target
				     : oid_to_hex(hex, &found.oid, HASH_SHA1),
			value);
	refs_close(refs);
	repo_close(repo);
}

#endif
