/* SPDX-License-Identifier: MIT */
/*
 * A node (a server of repositories in a store) for unit tests: a repository and
 * a store (storedrepo.h), and the cache directory <dir>/cache. The node's
 * requests to the store are counted. Include this header after cmocka.h.
 */
#ifndef T_UNIT_COPYNODE_H
#define T_UNIT_COPYNODE_H

#include "copies/copy.h"
#include "t/unit/countstore.h"
#include "t/unit/storedrepo.h"

struct copynode {
	struct storedrepo s;
	struct stored_node *node;
	struct countstore count;
	struct error err;
};

static inline struct stored_origin copynode_origin(struct copynode *c)
{
	static char url[4096];

	snprintf(url, sizeof(url), "file://%s", netrepo_path(&c->s.n, "store"));
	return (struct stored_origin){.url = url};
}

static inline void copynode_init(struct copynode *c)
{
	struct stored_origin origin;

	memset(c, 0, sizeof(*c));
	storedrepo_init(&c->s);
	origin = copynode_origin(c);
	if (stored_node_make(&c->node, netrepo_path(&c->s.n, "cache"), &origin,
			     &c->err))
		fail_msg("%s", c->err.msg);
	c->node->store = countstore_init(&c->count, c->node->store);
}

static inline void copynode_release(struct copynode *c)
{
	stored_node_close(c->node);
	storedrepo_release(&c->s);
}

/*
 * Makes a commit on the branch main of the source repository, and stores the
 * repository as a new generation (version).
 */
static inline void copynode_push(struct copynode *c, const char *text)
{
	netrepo_commit(&c->s.n, "src", text, &c->s.tip);
	if (storedrepo_import(&c->s, true))
		fail_msg("%s", c->s.err.msg);
}

static inline struct stored_copy *copynode_enter(struct copynode *c)
{
	struct stored_copy *copy;

	if (stored_copy_enter(&copy, c->node, c->s.place.repository, &c->err))
		fail_msg("%s", c->err.msg);
	return copy;
}

/*
 * Path of the node's (server's) local copy of the source repository, relative
 * to the temporary directory.
 */
#define COPYNODE_COPY "cache/repo/team/src.git/_"

/*
 * Checks that the branch main of the local copy has the value of main in the
 * source repository.
 */
static inline void copynode_assert_newest(struct copynode *c)
{
	char hex[OID_MAX_HEX_LEN + 1];

	storedrepo_assert_ref(&c->s, COPYNODE_COPY, "refs/heads/main",
			      oid_to_hex(hex, &c->s.tip, HASH_SHA1));
}

#endif
