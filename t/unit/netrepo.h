/* SPDX-License-Identifier: MIT */
/*
 * A fork network in a temporary directory, and repositories with a few loose
 * objects, for unit tests. Include this header after cmocka.h.
 *
 *	netrepo_init(&n);                       make <dir>/store
 *	netrepo_repo(&n, "a");                  make <dir>/a, empty and bare
 *	netrepo_commit(&n, "a", "text", &oid);  add a commit to its branch main
 */
#ifndef T_UNIT_NETREPO_H
#define T_UNIT_NETREPO_H

#include "islands/network.h"
#include "object/hash.h"
#include "odb/loose-write.h"
#include "odb/odb.h"
#include "t/unit/tmprepo.h"

struct netrepo {
	struct tmprepo t;
	struct network *network;
	char path[512];
};

/* Returns the path "<dir>/<name>". The string is valid until the next call. */
static inline const char *netrepo_path(struct netrepo *n, const char *name)
{
	snprintf(n->path, sizeof(n->path), "%s/%s", n->t.dir, name);
	return n->path;
}

static inline void netrepo_init(struct netrepo *n)
{
	struct error err = ERROR_INIT;

	tmprepo_init(&n->t, HASH_SHA1);
	if (network_init(netrepo_path(n, "store"), HASH_SHA1, &err) < 0 ||
	    network_open(&n->network, n->path, &err) < 0)
		fail_msg("%s", err.msg);
}

static inline void netrepo_release(struct netrepo *n)
{
	network_close(n->network);
	tmprepo_release(&n->t);
}

static inline struct repo *netrepo_open(struct netrepo *n, const char *name)
{
	struct repo_options options = {
		.path = netrepo_path(n, name),
		.flags = REPO_OPEN_EXACT | REPO_OPEN_NO_OWNER,
	};
	struct error err = ERROR_INIT;
	struct repo *repo;

	if (repo_open(&repo, &options, &err) < 0)
		fail_msg("%s", err.msg);
	return repo;
}

static inline void netrepo_repo(struct netrepo *n, const char *name)
{
	assert_int_equal(
		repo_init(netrepo_path(n, name), NULL, "main", HASH_SHA1, NULL),
		0);
}

static inline void netrepo_put(struct loose_writer *w, struct oid *oid,
			       enum object_type type, const void *data,
			       size_t len)
{
	struct hash_ctx h;

	assert_int_equal(hash_init(&h, HASH_SHA1), 0);
	hash_object(&h, oid, type, data, len);
	hash_release(&h);
	assert_true(loose_writer_put(w, oid, type, data, len, NULL) >= 0);
}

/* Write the file of a ref, so that the ref points to an object. */
static inline void netrepo_ref(struct netrepo *n, const char *repo,
			       const char *ref, const struct oid *oid)
{
	char hex[OID_MAX_HEX_LEN + 1], name[256], text[OID_MAX_HEX_LEN + 2];

	snprintf(name, sizeof(name), "%s/%s", repo, ref);
	snprintf(text, sizeof(text), "%s\n", oid_to_hex(hex, oid, HASH_SHA1));
	tmprepo_write(&n->t, name, text);
}

/*
 * Write a commit without parents, whose tree has one file with the content
 * `text`. Point the branch main of the repository `name` to the commit. Sets
 * *commit to the id of the commit.
 */
static inline void netrepo_commit(struct netrepo *n, const char *name,
				  const char *text, struct oid *commit)
{
	static const char who[] = "A U Thor <a@example.com> 1112911993 +0200";
	struct repo *repo = netrepo_open(n, name);
	struct loose_writer w;
	struct buf body = BUF_INIT;
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;

	assert_int_equal(loose_writer_init(&w, repo, repo->object_dir, NULL),
			 0);
	netrepo_put(&w, &oid, OBJ_BLOB, text, strlen(text));
	buf_append(&body, "100644 file", 12);
	buf_append(&body, oid.bytes, 20);
	netrepo_put(&w, &oid, OBJ_TREE, body.data, body.len);
	buf_reset(&body);
	buf_printf(&body, "tree %s\nauthor %s\ncommitter %s\n\n%s\n",
		   oid_to_hex(hex, &oid, HASH_SHA1), who, who, text);
	netrepo_put(&w, commit, OBJ_COMMIT, body.data, body.len);
	loose_writer_release(&w);
	netrepo_ref(n, name, "refs/heads/main", commit);
	buf_release(&body);
	repo_close(repo);
}

/* Returns whether the shared store of the network has an object. */
static inline bool netrepo_stored(struct netrepo *n, const struct oid *oid)
{
	struct odb *odb;
	bool found;

	assert_int_equal(odb_open(&odb, n->network->store, NULL, NULL), 0);
	found = odb_has(odb, oid);
	odb_close(odb);
	return found;
}

#endif
