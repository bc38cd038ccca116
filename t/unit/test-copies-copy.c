/* SPDX-License-Identifier: MIT */
/*
 * Tests of copies/copy.h, the local copy of a repository in a store: it is
 * made, and is brought to newer generations (versions) in place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "copies/copy.h"
#include "stored/layout.h"
#include "stored/side.h"
#include "sys/rangelock.h"
#include "sys/tempdir.h"
#include "t/unit/copynode.h"

/*
 * If set, rename() counts the entries of the copy's pack directory each time
 * that the marker file is replaced. NULL: no counting.
 */
static struct copynode *watched;
static int entries_at_marker;

int rename(const char *from, const char *to)
{
	const char *slash = strrchr(to, '/');

	if (watched && slash && !strcmp(slash + 1, REPO_COPY_MARKER))
		entries_at_marker = storedrepo_entries(
			&watched->s, COPYNODE_COPY "/objects/pack");
	return (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

static void refresh(struct copynode *c, struct stored_copy *copy)
{
	if (stored_copy_refresh(copy, &c->err))
		fail_msg("%s", c->err.msg);
}

static uint64_t inode_of(struct copynode *c, const char *name)
{
	struct sys_stat st;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", COPYNODE_COPY, name);
	assert_int_equal(sys_stat(&st, netrepo_path(&c->s.n, path), NULL), 0);
	return st.ino;
}

static void test_made_and_refreshed(void **state)
{
	struct copynode c;
	struct stored_copy *copy;
	uint64_t inode;

	copynode_init(&c);
	copynode_push(&c, "two");
	copy = copynode_enter(&c);
	assert_int_equal(stored_copy_load(copy, NULL), 1);
	assert_int_equal(stored_copy_generation(copy)->number, 0);
	refresh(&c, copy);
	assert_int_equal(stored_copy_generation(copy)->number, 1);
	copynode_assert_newest(&c);
	assert_string_equal(stored_copy_dir(copy),
			    netrepo_path(&c.s.n, COPYNODE_COPY));
	inode = inode_of(&c, "config");

	/*
	 * If there is no newer generation (version), a refresh needs one
	 * request.
	 */
	c.count.requests = 0;
	refresh(&c, copy);
	assert_int_equal(c.count.requests, 1);

	copynode_push(&c, "three");
	refresh(&c, copy);
	assert_int_equal(stored_copy_generation(copy)->number, 2);
	copynode_assert_newest(&c);
	/*
	 * The copy was updated in place: the file config is still the same
	 * inode.
	 */
	assert_int_equal(inode_of(&c, "config"), inode);
	stored_copy_close(copy);
	stored_copy_close(NULL);
	copynode_release(&c);
}

/*
 * Returns the number of packs of a generation (version). A node (server) sends
 * one request for each pack.
 */
static unsigned count_packs(const struct generation *g)
{
	unsigned nr = 0;

	for (size_t i = 0; i < g->file_nr; i++) {
		const char *dot = strrchr(g->files[i].path, '.');

		nr += dot && !strcmp(dot, ".pack");
	}
	return nr;
}

/*
 * Makes a local copy of the repository while the cache of the node is empty. So
 * all files are read from the store. The copy must have generation `number`.
 * Returns the number of requests to the store. At the end, empties the cache
 * again.
 */
static unsigned make_cold(struct copynode *c, uint64_t number)
{
	struct stored_copy *copy = copynode_enter(c);

	c->count.requests = 0;
	refresh(c, copy);
	assert_int_equal(stored_copy_generation(copy)->number, number);
	copynode_assert_newest(c);
	stored_copy_close(copy);
	sys_tempdir_remove(netrepo_path(&c->s.n, "cache/repo"), NULL);
	sys_tempdir_remove(netrepo_path(&c->s.n, "cache/file"), NULL);
	return c->count.requests;
}

/*
 * A node (server) makes its first local copy. It requests the hint (here, a
 * file with a copy of a recent record), the record after the one in the hint,
 * the bundle of small files, and each pack.
 */
static void test_requests_when_cold(void **state)
{
	struct generation old, g;
	struct copynode c;
	unsigned packs;

	copynode_init(&c);
	copynode_push(&c, "two");
	copynode_push(&c, "three");
	storedrepo_newest(&c.s, &g);
	packs = count_packs(&g);
	assert_int_equal(make_cold(&c, 2), 3 + packs);

	/*
	 * The hint has the record (manifest) before the newest one. So the node
	 * (server) also reads the newer record and its files.
	 */
	old = g;
	copynode_push(&c, "four");
	assert_int_equal(generation_write_hint_record(&c.s.place, &old, NULL),
			 0);
	assert_in_range(make_cold(&c, 3), 4 + packs, 10 + 3 * packs);
	generation_release(&old);

	/*
	 * The hint has only the number of the newest record (manifest), and not
	 * the record itself. So two more requests are needed: the hint is read
	 * a second time, and then the record is read.
	 */
	storedrepo_newest(&c.s, &g);
	packs = count_packs(&g);
	assert_int_equal(generation_write_hint(&c.s.place, 3, NULL), 0);
	assert_int_equal(make_cold(&c, 3), 5 + packs);

	/*
	 * Without the side bundle, which has all small files, each file needs a
	 * request of its own.
	 */
	storedrepo_delete(&c.s, storedrepo_file(&g, STORED_SIDE_PATH));
	assert_int_equal(generation_write_hint_record(&c.s.place, &g, NULL), 0);
	assert_int_equal(make_cold(&c, 3), 2 + g.file_nr);
	generation_release(&g);
	copynode_release(&c);
}

/*
 * Of a repository, only the hint (a file with the number or a copy of a recent
 * record) is left. The record (manifest) and the other files were deleted.
 * Making a copy must fail with ERR_MISSING.
 */
static void test_wrong_hint(void **state)
{
	struct copynode c;
	struct stored_copy *copy;
	struct generation g;

	copynode_init(&c);
	copynode_push(&c, "two");
	storedrepo_newest(&c.s, &g);
	for (size_t i = 0; i < g.file_nr; i++)
		storedrepo_delete(&c.s, &g.files[i]);
	storedrepo_lose_record(&c.s, 1);
	copy = copynode_enter(&c);
	assert_int_equal(stored_copy_refresh(copy, &c.err), ERR_MISSING);
	stored_copy_close(copy);
	generation_release(&g);
	copynode_release(&c);
}

/*
 * The store was restored from a backup, and then got new generations
 * (versions). The commits that the store lost may still be in the local copy,
 * and nowhere else. So a refresh must not change the copy.
 */
static void test_another_history(void **state)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct stored_copy *copy;
	struct copynode c;
	struct oid lost;

	copynode_init(&c);
	copynode_push(&c, "two");
	copynode_push(&c, "three");
	copy = copynode_enter(&c);
	refresh(&c, copy);
	lost = c.s.tip;
	storedrepo_lose_record(&c.s, 2);
	copynode_push(&c, "other");
	copynode_push(&c, "more");
	assert_int_equal(stored_copy_refresh(copy, &c.err), ERR_CORRUPT);
	assert_non_null(strstr(c.err.msg, "restored from a backup"));
	storedrepo_assert_ref(&c.s, COPYNODE_COPY, "refs/heads/main",
			      oid_to_hex(hex, &lost, HASH_SHA1));
	stored_copy_close(copy);
	copynode_release(&c);
}

static uint64_t newest_made(struct stored_copy *copy)
{
	struct generation g;
	uint64_t number;

	assert_int_equal(stored_copy_newest_made(&g, copy, NULL), 0);
	number = g.number;
	generation_release(&g);
	return number;
}

/*
 * stored_copy_newest_made() returns the newest generation that a push of this
 * node has made, even before the local copy has it.
 */
static void test_made(void **state)
{
	struct copynode c;
	struct stored_copy *copy;
	struct generation g;

	copynode_init(&c);
	copynode_push(&c, "two");
	copy = copynode_enter(&c);
	refresh(&c, copy);
	assert_int_equal(newest_made(copy), 1);
	copynode_push(&c, "three");
	storedrepo_newest(&c.s, &g);
	assert_int_equal(stored_copy_note_made(copy, &g, NULL), 0);
	assert_int_equal(newest_made(copy), 2);
	copynode_push(&c, "four");
	refresh(&c, copy);
	assert_int_equal(newest_made(copy), 3);
	/*
	 * The file that notes the last made generation (version) is damaged.
	 * stored_copy_newest_made() must return the generation of the local
	 * copy.
	 */
	tmprepo_write(&c.s.n.t, COPYNODE_COPY "/" STORED_COPY_MADE, "x\n");
	assert_int_equal(newest_made(copy), 3);
	generation_release(&g);
	stored_copy_close(copy);
	copynode_release(&c);
}

/* Refreshes the copy. Returns the number of requests that were needed. */
static unsigned count_refresh(struct copynode *c, struct stored_copy *copy)
{
	c->count.requests = 0;
	refresh(c, copy);
	return c->count.requests;
}

/*
 * Another process on the same node (server). Like a push, it makes a new
 * generation (version) in the store, and advances the local copy to it.
 */
struct other {
	struct copynode *c;
	struct stored_copy *copy;
	/* Content of the next commit; NULL: push nothing. */
	const char *text;
};

static void other_advance(void *ctx, const char *name)
{
	struct other *o = ctx;
	unsigned requests = o->c->count.requests;
	struct generation g;

	(void)name;
	if (!o->text)
		return;
	copynode_push(o->c, o->text);
	o->text = NULL;
	storedrepo_newest(&o->c->s, &g);
	assert_int_equal(stored_copy_note_made(o->copy, &g, NULL), 0);
	assert_int_equal(stored_copy_advance(o->copy, &g, NULL), 0);
	generation_release(&g);
	/*
	 * This function simulates another process. So its requests are not
	 * counted.
	 */
	o->c->count.requests = requests;
}

/*
 * Another process of this node makes a record and advances the copy. A refresh
 * must not ask the store for this record again. The refresh asks only for the
 * next record.
 */
static void test_known_record(void **state)
{
	struct copynode c;
	struct other other = {.c = &c, .text = "three"};
	struct stored_copy *copy;
	struct generation g;

	copynode_init(&c);
	copynode_push(&c, "two");
	copy = copynode_enter(&c);
	other.copy = copynode_enter(&c);
	refresh(&c, copy);

	/*
	 * The other process makes record 2 (a manifest), and also brings the
	 * local copy to this record. So the refresh need not read record 2. It
	 * sends one request, which asks for record 3. There is no record 3.
	 */
	other_advance(&other, NULL);
	assert_int_equal(count_refresh(&c, copy), 1);
	assert_int_equal(stored_copy_generation(copy)->number, 2);
	copynode_assert_newest(&c);

	/*
	 * The other process makes its record while the refresh sends its first
	 * request. So a second request is needed.
	 */
	other.text = "four";
	c.count.before_read = other_advance;
	c.count.ctx = &other;
	assert_int_equal(count_refresh(&c, copy), 2);
	assert_int_equal(stored_copy_generation(copy)->number, 3);
	copynode_assert_newest(&c);
	c.count.before_read = NULL;

	/*
	 * Another process of the node has made a record, and has noted the
	 * number of this record in a file of the local copy. But the process
	 * has not brought the copy to this generation yet. The refresh must
	 * find the record in the store, and must bring the copy to this
	 * generation.
	 */
	copynode_push(&c, "noted");
	storedrepo_newest(&c.s, &g);
	assert_int_equal(stored_copy_note_made(copy, &g, NULL), 0);
	refresh(&c, copy);
	assert_int_equal(stored_copy_generation(copy)->number, 4);
	copynode_assert_newest(&c);

	/*
	 * The note names a generation (version) that the store does not have.
	 * So the note must be ignored.
	 */
	g.number = 90;
	assert_int_equal(stored_copy_note_made(copy, &g, NULL), 0);
	generation_release(&g);
	copynode_push(&c, "five");
	refresh(&c, copy);
	assert_int_equal(stored_copy_generation(copy)->number, 5);
	copynode_assert_newest(&c);
	stored_copy_close(other.copy);
	stored_copy_close(copy);
	copynode_release(&c);
}

/*
 * Another node (server) has made a new record (manifest). A refresh must read
 * this record only once.
 */
static void test_requests_when_behind(void **state)
{
	struct copynode c;
	struct stored_copy *copy;
	unsigned files;

	copynode_init(&c);
	copynode_push(&c, "two");
	copy = copynode_enter(&c);
	refresh(&c, copy);
	copynode_push(&c, "three");
	files = count_refresh(&c, copy) - 3;
	copynode_push(&c, "four");
	/*
	 * The requests of a refresh are: the new record (manifest), the next
	 * record (which does not exist), the proof that the store still has the
	 * record of the local copy, and the files.
	 */
	assert_int_equal(count_refresh(&c, copy), 3 + files);
	copynode_push(&c, "five");
	copynode_push(&c, "six");
	refresh(&c, copy);
	assert_int_equal(stored_copy_generation(copy)->number, 5);
	copynode_assert_newest(&c);
	stored_copy_close(copy);
	copynode_release(&c);
}

/*
 * A record (manifest) between that of the local copy and the newest one is
 * damaged. A refresh to the newest record must succeed.
 */
static void test_damaged_record(void **state)
{
	static const struct filestore_condition always = {STORE_ALWAYS, NULL};
	struct copynode c;
	struct stored_copy *copy;
	struct buf name = BUF_INIT;

	copynode_init(&c);
	copynode_push(&c, "two");
	copy = copynode_enter(&c);
	refresh(&c, copy);
	copynode_push(&c, "three");
	copynode_push(&c, "four");
	assert_int_equal(
		generation_record_name(&name, c.s.place.repository, 2, NULL),
		0);
	assert_int_equal(filestore_put(c.node->store, NULL, name.data, "x", 1,
				       &always, NULL),
			 0);
	buf_release(&name);
	refresh(&c, copy);
	assert_int_equal(stored_copy_generation(copy)->number, 3);
	copynode_assert_newest(&c);
	stored_copy_close(copy);
	copynode_release(&c);
}

/*
 * Old packs must be removed before the marker file is replaced. If they were
 * removed afterwards, a killed process would leave packs that no later refresh
 * removes.
 */
static void test_old_packs_go_before_the_marker(void **state)
{
	struct copynode c;
	struct stored_copy *copy;

	copynode_init(&c);
	copynode_push(&c, "two");
	copy = copynode_enter(&c);
	refresh(&c, copy);
	copynode_push(&c, "three");
	watched = &c;
	refresh(&c, copy);
	watched = NULL;
	assert_true(entries_at_marker > 0);
	assert_int_equal(
		entries_at_marker,
		storedrepo_entries(&c.s, COPYNODE_COPY "/objects/pack"));
	stored_copy_close(copy);
	copynode_release(&c);
}

static void test_opened_by_its_path(void **state)
{
	struct copynode c;
	char moved[4096];
	struct stored_copy *copy;

	copynode_init(&c);
	copynode_push(&c, "two");
	copy = copynode_enter(&c);
	refresh(&c, copy);
	stored_copy_close(copy);

	assert_int_equal(
		stored_copy_open(&copy, netrepo_path(&c.s.n, "src"), &c.err),
		1);
	assert_null(copy);
	assert_int_equal(stored_copy_open(&copy,
					  netrepo_path(&c.s.n, COPYNODE_COPY),
					  &c.err),
			 0);
	assert_int_equal(stored_copy_generation(copy)->number, 1);
	assert_string_equal(stored_copy_place(copy)->repository,
			    "team/src.git");
	copynode_push(&c, "three");
	refresh(&c, copy);
	assert_int_equal(stored_copy_generation(copy)->number, 2);
	copynode_assert_newest(&c);
	stored_copy_close(copy);

	/*
	 * An error of reading the marker file must not be taken for a missing
	 * marker.
	 */
	snprintf(moved, sizeof(moved), "%s",
		 netrepo_path(&c.s.n, "src/" REPO_COPY_MARKER));
	assert_int_equal(sys_symlink(REPO_COPY_MARKER, moved, NULL), 0);
	assert_int_equal(
		stored_copy_open(&copy, netrepo_path(&c.s.n, "src"), &c.err),
		ERR_IO);
	assert_null(copy);
	assert_int_equal(sys_unlink(moved, NULL), 0);

	/* A copy that was moved out of its cache directory cannot be opened. */
	snprintf(moved, sizeof(moved), "%s", netrepo_path(&c.s.n, "moved"));
	assert_int_equal(
		sys_rename(netrepo_path(&c.s.n, COPYNODE_COPY), moved, NULL),
		0);
	assert_int_equal(stored_copy_open(&copy, moved, &c.err), ERR_INVALID);
	assert_null(copy);
	copynode_release(&c);
}

static void test_missing(void **state)
{
	struct copynode c;
	struct stored_copy *copy;

	copynode_init(&c);
	copy = copynode_enter(&c);
	assert_int_equal(stored_copy_refresh(copy, &c.err), ERR_MISSING);
	assert_false(sys_exists(netrepo_path(&c.s.n, "cache/repo")));
	stored_copy_close(copy);
	assert_int_equal(stored_copy_enter(&copy, c.node, "../x", &c.err),
			 ERR_INVALID);
	assert_null(copy);
	copynode_release(&c);
}

/*
 * If a file of the repository is missing in the store, this is an error. It
 * must not be reported as a missing repository.
 */
static void test_lost_file(void **state)
{
	struct copynode c;
	struct stored_copy *copy;
	struct generation g;

	copynode_init(&c);
	copynode_push(&c, "two");
	storedrepo_newest(&c.s, &g);
	storedrepo_delete(&c.s, storedrepo_pack(&g));
	copy = copynode_enter(&c);
	assert_int_equal(stored_copy_refresh(copy, &c.err), ERR_CORRUPT);
	assert_int_equal(c.err.code, ERR_CORRUPT);
	assert_non_null(strstr(c.err.msg, "is not in the store"));
	assert_int_equal(stored_copy_advance(copy, &g, NULL), ERR_CORRUPT);
	stored_copy_close(copy);
	generation_release(&g);
	copynode_release(&c);
}

static void test_store_down(void **state)
{
	struct copynode c;
	struct stored_copy *copy;

	copynode_init(&c);
	copynode_push(&c, "two");
	copy = copynode_enter(&c);
	c.count.is_down = true;
	assert_int_equal(stored_copy_refresh(copy, &c.err), ERR_IO);
	assert_false(sys_exists(netrepo_path(&c.s.n, "cache/repo")));
	c.count.is_down = false;
	refresh(&c, copy);
	c.count.is_down = true;
	assert_int_equal(stored_copy_refresh(copy, &c.err), ERR_IO);
	copynode_assert_newest(&c);
	stored_copy_close(copy);
	copynode_release(&c);
}

/*
 * A push has written a new record (manifest), and still has the files of this
 * record. So the copy is brought to this generation (version) without requests.
 */
static void test_advance(void **state)
{
	struct copynode c;
	struct stored_copy *copy, *other;
	struct generation one, g;
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid first;

	copynode_init(&c);
	copynode_push(&c, "two");
	storedrepo_newest(&c.s, &one);
	first = c.s.tip;
	copy = copynode_enter(&c);
	other = copynode_enter(&c);
	refresh(&c, copy);
	assert_int_equal(stored_copy_load(other, NULL), 0);
	assert_int_equal(generation_copy(&g, &one, NULL), 0);
	g.number = 2;
	g.parent[0] = 1;
	assert_int_equal(generation_set_ref(&g, 2, "refs/heads/new",
					    oid_to_hex(hex, &first, HASH_SHA1),
					    NULL),
			 0);
	assert_int_equal(
		generation_set_ref(&g, 2, "refs/heads/main", NULL, NULL), 0);
	assert_int_equal(generation_set_ref(&g, 2, "HEAD",
					    STORED_SYMBOLIC "refs/heads/new",
					    NULL),
			 0);
	c.count.requests = 0;
	assert_int_equal(stored_copy_begin(copy, &c.err), 0);
	if (stored_copy_advance(copy, &g, &c.err))
		fail_msg("%s", c.err.msg);
	stored_copy_end(copy);
	assert_int_equal(c.count.requests, 0);
	storedrepo_assert_ref(&c.s, COPYNODE_COPY, "refs/heads/main", NULL);
	storedrepo_assert_ref(&c.s, COPYNODE_COPY, "refs/heads/new", hex);
	storedrepo_assert_ref(&c.s, COPYNODE_COPY, "HEAD", "refs/heads/new");

	/*
	 * Advancing to an older generation (version) changes nothing. This
	 * holds even if the struct stored_copy has not yet loaded the newer
	 * generation.
	 */
	assert_int_equal(stored_copy_advance(other, &one, &c.err), 0);
	assert_int_equal(stored_copy_generation(other)->number, 2);
	storedrepo_assert_ref(&c.s, COPYNODE_COPY, "refs/heads/main", NULL);
	generation_release(&one);
	generation_release(&g);
	stored_copy_close(copy);
	stored_copy_close(other);
	copynode_release(&c);
}

/*
 * A marker file is not trusted if it is damaged, or if it was written before
 * the machine was restarted. In these cases the copy is made again.
 */
static void test_made_anew(void **state)
{
	static const char *const scripts[] = {
		"sed -i 's/^boot .*/boot other/' '%s'",
		"sed -i 's/^name .*/name other/' '%s'",
		"echo >> '%s'",
		"rm '%s'",
	};
	struct copynode c;
	struct stored_copy *copy;

	copynode_init(&c);
	copynode_push(&c, "two");
	for (size_t i = 0; i < ARRAY_NR(scripts); i++) {
		char command[8192], extra[4096];

		copy = copynode_enter(&c);
		refresh(&c, copy);
		stored_copy_close(copy);
		snprintf(extra, sizeof(extra), "%s",
			 netrepo_path(&c.s.n, COPYNODE_COPY "/extra"));
		assert_int_equal(sys_append(extra, "x", 1, 0666, NULL), 0);
		/* Replace "%s" in the script by the path of the marker file. */
		snprintf(command, sizeof(command), "%s", scripts[i]);
		*strstr(command, "%s") = '\0';
		snprintf(command + strlen(command),
			 sizeof(command) - strlen(command), "%s'",
			 netrepo_path(&c.s.n,
				      COPYNODE_COPY "/" REPO_COPY_MARKER));
		assert_int_equal(system(command), 0);
		copy = copynode_enter(&c);
		c.count.requests = 0;
		refresh(&c, copy);
		/*
		 * Making the copy again needs few requests, because its files
		 * are in the cache.
		 */
		assert_true(c.count.requests <= 3);
		assert_false(sys_exists(extra));
		copynode_assert_newest(&c);
		stored_copy_close(copy);
		assert_int_equal(storedrepo_entries(&c.s, "cache/tmp"), 0);
	}
	copynode_release(&c);
}

static void test_locks(void **state)
{
	struct copynode c;
	struct stored_copy *copy, *other;
	const char *name;
	int fd;

	copynode_init(&c);
	name = c.s.place.repository;
	fd = stored_node_locks(c.node, NULL);
	copy = copynode_enter(&c);
	other = copynode_enter(&c);
	assert_int_equal(sys_rangelock_take(fd, stored_node_use_lock(name),
					    false, false, NULL),
			 ERR_DENIED);
	stored_copy_close(other);
	assert_int_equal(sys_rangelock_take(fd, stored_node_use_lock(name),
					    false, false, NULL),
			 ERR_DENIED);
	assert_int_equal(stored_copy_begin(copy, NULL), 0);
	assert_int_equal(stored_copy_begin(copy, NULL), 0);
	stored_copy_end(copy);
	assert_true(sys_rangelock_is_taken(fd, stored_node_change_lock(name)));
	stored_copy_end(copy);
	assert_false(sys_rangelock_is_taken(fd, stored_node_change_lock(name)));
	stored_copy_close(copy);
	assert_int_equal(sys_rangelock_take(fd, stored_node_use_lock(name),
					    false, false, NULL),
			 0);
	sys_close(fd);
	copynode_release(&c);
}

/*
 * The local copy has no objects other than those of its generation (version).
 * So purging it takes no lock and sends no request.
 */
static void test_purge(void **state)
{
	struct copynode c;
	struct stored_copy *copy;

	copynode_init(&c);
	copynode_push(&c, "one");
	copy = copynode_enter(&c);
	refresh(&c, copy);
	c.count.requests = 0;
	assert_int_equal(stored_copy_purge(copy, &c.err), 0);
	assert_int_equal(c.count.requests, 0);
	assert_int_equal(
		sys_mkdir_p(netrepo_path(&c.s.n, COPYNODE_COPY "/objects/0a"),
			    NULL),
		0);
	copynode_push(&c, "two");
	assert_int_equal(stored_copy_purge(copy, &c.err), 0);
	assert_false(
		sys_exists(netrepo_path(&c.s.n, COPYNODE_COPY "/objects/0a")));
	copynode_assert_newest(&c);
	stored_copy_close(copy);
	copynode_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_made_and_refreshed),
		cmocka_unit_test(test_requests_when_cold),
		cmocka_unit_test(test_wrong_hint),
		cmocka_unit_test(test_another_history),
		cmocka_unit_test(test_made),
		cmocka_unit_test(test_known_record),
		cmocka_unit_test(test_requests_when_behind),
		cmocka_unit_test(test_damaged_record),
		cmocka_unit_test(test_old_packs_go_before_the_marker),
		cmocka_unit_test(test_opened_by_its_path),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_lost_file),
		cmocka_unit_test(test_store_down),
		cmocka_unit_test(test_advance),
		cmocka_unit_test(test_made_anew),
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_purge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
