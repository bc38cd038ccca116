/* SPDX-License-Identifier: MIT */
/*
 * Helpers for unit tests of pushes. The pushes go to a repository that is in a
 * store. Two nodes (servers) have local copies of this repository, and each
 * push goes through one of these copies. Include this header after cmocka.h.
 */
#ifndef T_UNIT_PUSHSESSION_H
#define T_UNIT_PUSHSESSION_H

#include "base/mem.h"
#include "copies/push.h"
#include "sys/io.h"
#include "sys/tempdir.h"
#include "t/unit/copynode.h"

struct fixture {
	struct copynode c;
	/*
	 * A second node (server). It uses the store of the first node `c.node`,
	 * and a cache directory of its own.
	 */
	struct stored_node *other;
	struct buf warnings;
	struct error err;
	/* Time in nanoseconds of the simulated clock. */
	uint64_t now;
};

static inline void warn(void *ctx, const char *message)
{
	buf_printf(ctx, "%s\n", message);
}

static inline void fixture_init(struct fixture *f)
{
	struct stored_origin origin;

	memset(f, 0, sizeof(*f));
	copynode_init(&f->c);
	copynode_push(&f->c, "two");
	origin = copynode_origin(&f->c);
	if (stored_node_make(&f->other, netrepo_path(&f->c.s.n, "other"),
			     &origin, &f->err))
		fail_msg("%s", f->err.msg);
}

static inline uint64_t fake_now(void *ctx)
{
	return ((struct fixture *)ctx)->now;
}

static inline void fake_sleep(void *ctx, uint64_t ns)
{
	((struct fixture *)ctx)->now += ns;
}

/*
 * Gives the first node (server) a clock that only advances when the node
 * sleeps.
 */
static inline void fake_clock(struct fixture *f)
{
	f->c.node->host.now_ns = fake_now;
	f->c.node->host.sleep_ns = fake_sleep;
	f->c.node->host.ctx = f;
}

static inline void fixture_release(struct fixture *f)
{
	stored_node_close(f->other);
	buf_release(&f->warnings);
	copynode_release(&f->c);
}

/* A push through a node. */
struct session {
	struct fixture *f;
	struct stored_copy *copy;
	struct stored_push *push;
	struct repo *repo;
	struct ref_transaction *tx;
};

static inline void session_open(struct session *s, struct fixture *f,
				struct stored_node *node)
{
	const struct stored_push_options options = {
		.algo = HASH_SHA1,
		.node = "node\n7",
		.user = "alice",
		.warn = warn,
		.ctx = &f->warnings,
	};
	struct repo_options where = {.flags = REPO_OPEN_EXACT |
					      REPO_OPEN_NO_OWNER};

	*s = (struct session){.f = f};
	if (stored_copy_enter(&s->copy, node, f->c.s.place.repository,
			      &f->err) ||
	    stored_push_open(&s->push, s->copy, &options, &f->err))
		fail_msg("%s", f->err.msg);
	where.path = stored_copy_dir(s->copy);
	if (repo_open(&s->repo, &where, &f->err))
		fail_msg("%s", f->err.msg);
}

static inline void session_begin(struct session *s, bool keep_going)
{
	const struct ref_transaction_options options = {
		.keep_going = keep_going,
		.publish = stored_push_publish,
		.ctx = s->push,
	};

	assert_int_equal(ref_transaction_new(&s->tx, s->repo, &options, NULL),
			 0);
}

static inline void session_set(struct session *s, const char *ref,
			       const struct oid *oid)
{
	static const struct oid zero = OID_ZERO_INIT;
	const struct ref_change change = {
		.name = ref,
		.new_oid = oid ? oid : &zero,
	};

	assert_int_equal(ref_transaction_add(s->tx, &change, NULL), 0);
}

static inline int session_commit(struct session *s)
{
	return ref_transaction_commit(s->tx, &s->f->err);
}

static inline void session_close(struct session *s)
{
	ref_transaction_free(s->tx);
	repo_close(s->repo);
	stored_push_close(s->push);
	stored_copy_close(s->copy);
}

/* Pushes one ref through the node `node`. */
static inline void push_one(struct fixture *f, struct stored_node *node,
			    const char *ref, const struct oid *oid)
{
	struct session s;

	session_open(&s, f, node);
	session_begin(&s, false);
	session_set(&s, ref, oid);
	if (session_commit(&s))
		fail_msg("%s", f->err.msg);
	session_close(&s);
}

/*
 * Checks the value of a ref in the store, through the local copy of the second
 * node (server). If `oid` is NULL, the ref must not exist.
 */
static inline void expect(struct fixture *f, const char *ref,
			  const struct oid *oid)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct stored_copy *copy;

	if (stored_copy_enter(&copy, f->other, f->c.s.place.repository,
			      &f->err) ||
	    stored_copy_refresh(copy, &f->err))
		fail_msg("%s", f->err.msg);
	storedrepo_assert_ref(&f->c.s, "other/repo/team/src.git/_", ref,
			      oid ? oid_to_hex(hex, oid, HASH_SHA1) : NULL);
	stored_copy_close(copy);
}

/*
 * Makes a quarantine directory with the files of a pack. Returns its path,
 * which the caller frees.
 */
static inline char *make_quarantine(struct fixture *f)
{
	static const char *const names[] = {"pack-00.pack", "pack-00.idx",
					    "pack-00.rev",  "pack-00.keep",
					    "tmp_pack_123", "other.pack"};
	char *dir = storedrepo_dir(&f->c.s, "quarantine");
	char path[4096];

	snprintf(path, sizeof(path), "%s/pack", dir);
	assert_int_equal(sys_mkdir_p(path, NULL), 0);
	for (size_t i = 0; i < ARRAY_NR(names); i++) {
		snprintf(path, sizeof(path), "%s/pack/%s", dir, names[i]);
		assert_int_equal(sys_tempfile_replace(path, names[i],
						      strlen(names[i]),
						      SYS_FSYNC_NONE, NULL),
				 0);
	}
	return dir;
}

#endif
