/* SPDX-License-Identifier: MIT */
/*
 * Reads a file of users and password hashes, and remembers successful checks.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "access/htpasswd.h"
#include "object/hash.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "sys/witness.h"

/* number of remembered successful checks, and nanoseconds that each is valid */
#define PROOFS 256
#define PROOF_NS (UINT64_C(60) * 1000000000)

#define KEY_LEN 32

/* The lines of a file, each split into two strings. */
struct table {
	struct buf text; /* owned */
	/* owned: offsets of the users in `text` */
	size_t *offs;
	size_t nr, alloc;
};

/* A successful check of a password. */
struct proof {
	struct oid mac;
	uint64_t end_ns; /* 0: none */
};

struct htpasswd {
	char *path; /* owned */
	struct password_crypt crypt;
	unsigned char key[KEY_LEN];
	pthread_mutex_t lock;
	/* under `lock` */
	struct table table;
	struct sys_witness witness;
	/*
	 * true: the file could not be read, and this was reported. `code` and
	 * `sys_errno` are those of the error.
	 */
	bool is_unread;
	int code, sys_errno;
	struct proof proofs[PROOFS];
};

/* ---- the file */

static void table_release(struct table *t)
{
	buf_release(&t->text);
	free(t->offs);
}

/*
 * Returns the stored hash of a user, or NULL. If a user has two lines, the
 * first counts.
 */
static const char *find(const struct table *t, const char *user)
{
	for (size_t i = 0; i < t->nr; i++) {
		const char *line = t->text.data + t->offs[i];

		if (!strcmp(line, user))
			return line + strlen(line) + 1;
	}
	return NULL;
}

/*
 * Split a line "<user>:<hash>" at the colon, which is replaced by a NUL.
 * Returns 0, 1 for an empty line or a comment, or ERR_INVALID if the line has
 * another form.
 */
static int parse_line(char *line, unsigned nr, const char *path,
		      struct error *err)
{
	char *colon = strchr(line, ':');
	size_t len = strlen(line);

	if (len && line[len - 1] == '\r')
		line[--len] = '\0';
	if (!len || *line == '#')
		return 1;
	if (!colon || colon == line || colon - line >= HTPASSWD_TEXT_MAX)
		return error_set(err, ERR_INVALID,
				 "%s:%u: not of the form <user>:<hash>", path,
				 nr);
	*colon = '\0';
	if (!password_is_hash(colon + 1))
		return error_set(err, ERR_INVALID,
				 "%s:%u: the password hash of user '%.100s' "
				 "has an unknown format",
				 path, nr, line);
	return 0;
}

static int parse(struct table *t, const char *path, struct error *err)
{
	char *line = t->text.data;
	unsigned nr = 1;

	for (char *end; *line; line = end, nr++) {
		int ret;

		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		ret = parse_line(line, nr, path, err);
		if (ret < 0)
			return ret;
		if (ret)
			continue;
		if (mem_grow(&t->offs, &t->alloc, t->nr + 1, sizeof(*t->offs)) <
		    0)
			return error_nomem(err);
		t->offs[t->nr++] = (size_t)(line - t->text.data);
	}
	return 0;
}

/*
 * Reports the error *why of load() in *err. If the file could not be read, each
 * check reads the file again, so an error that stays is reported only once.
 */
static void report(struct error *err, struct htpasswd *h,
		   const struct error *why)
{
	bool is_old = h->is_unread && why->code == h->code &&
		      why->sys_errno == h->sys_errno;

	if (err && !is_old)
		*err = *why;
	h->code = why->code;
	h->sys_errno = why->sys_errno;
}

/* Read the file. After an error, the old table stays. */
static int load(struct htpasswd *h, struct error *err)
{
	struct table table = {.text = BUF_INIT};
	struct sys_witness witness;
	struct error why = ERROR_INIT;
	int ret;

	sys_witness_init(&witness);
	ret = sys_read_any(&table.text, h->path, &why);
	sys_witness_add(&witness, h->path, SYS_WITNESS_CONTENT);
	if (!ret)
		ret = parse(&table, h->path, &why);
	if (ret < 0)
		report(err, h, &why);
	/*
	 * If the content of the file is wrong or the file is missing, the file
	 * need not be read again before it changes. After another error, for
	 * example because the process has no free descriptor, the file may be
	 * right. So the next check reads the file again. Otherwise a user that
	 * was removed from the file could stay in the old table.
	 */
	h->is_unread = ret < 0 && ret != ERR_INVALID && ret != ERR_MISSING;
	witness.is_void |= h->is_unread;
	sys_witness_release(&h->witness);
	h->witness = witness;
	if (ret < 0) {
		table_release(&table);
		return ret;
	}
	table_release(&h->table);
	h->table = table;
	return 0;
}

int htpasswd_open(struct htpasswd **out, const char *path, struct error *err)
{
	struct htpasswd *h = mem_calloc(1, sizeof(*h));
	int ret;

	if (!h)
		return error_nomem(err);
	buf_init(&h->table.text);
	pthread_mutex_init(&h->lock, NULL);
	sys_witness_init(&h->witness);
	h->path = mem_strdup(path);
	ret = h->path ? password_crypt_open(&h->crypt, err) : error_nomem(err);
	if (!ret)
		ret = sys_secret(h->key, sizeof(h->key), err);
	if (!ret)
		ret = load(h, err);
	if (ret < 0)
		htpasswd_close(h);
	else
		*out = h;
	return ret;
}

void htpasswd_close(struct htpasswd *h)
{
	if (!h)
		return;
	table_release(&h->table);
	sys_witness_release(&h->witness);
	password_crypt_release(&h->crypt);
	pthread_mutex_destroy(&h->lock);
	free(h->path);
	free(h);
}

/* ---- checks */

/* Returns whether two MACs are equal, in constant time. */
static bool is_same(const struct oid *a, const struct oid *b)
{
	unsigned char differs = 0;

	for (size_t i = 0; i < KEY_LEN; i++)
		differs |= a->bytes[i] ^ b->bytes[i];
	return !differs;
}

static int make_mac(struct oid *out, const struct htpasswd *h, const char *user,
		    const char *password, const char *hash)
{
	char text[2 * HTPASSWD_TEXT_MAX + PASSWORD_HASH_MAX];
	const char *const parts[] = {user, password, hash};
	size_t len = 0;

	/*
	 * Hash each part with its NUL, so that different parts never give the
	 * same bytes.
	 */
	for (size_t i = 0; i < ARRAY_NR(parts); i++) {
		size_t n = strlen(parts[i]) + 1;

		memcpy(text + len, parts[i], n);
		len += n;
	}
	return hash_hmac(out, HASH_SHA256, h->key, sizeof(h->key), text, len);
}

static struct proof *proof_of(struct htpasswd *h, const struct oid *mac)
{
	return &h->proofs[mac->bytes[0] % PROOFS];
}

static bool is_known(struct htpasswd *h, const struct oid *mac)
{
	const struct proof *proof = proof_of(h, mac);
	bool is_valid;

	pthread_mutex_lock(&h->lock);
	is_valid = proof->end_ns > sys_clock_ns() && is_same(&proof->mac, mac);
	pthread_mutex_unlock(&h->lock);
	return is_valid;
}

static void remember(struct htpasswd *h, const struct oid *mac)
{
	pthread_mutex_lock(&h->lock);
	*proof_of(h, mac) = (struct proof){*mac, sys_clock_ns() + PROOF_NS};
	pthread_mutex_unlock(&h->lock);
}

/*
 * Copy the stored hash of a user, from the file as it is now. Returns whether
 * the user exists. If the user does not exist, *hash is the hash of another
 * user, so that the check takes the same time. If there is no user at all,
 * *hash is empty.
 */
static bool look_up(char hash[PASSWORD_HASH_MAX], struct htpasswd *h,
		    const char *user, struct error *warning)
{
	const char *found, *any;

	pthread_mutex_lock(&h->lock);
	if (!sys_witness_holds(&h->witness))
		load(h, warning);
	found = find(&h->table, user);
	any = h->table.nr ? h->table.text.data + h->table.offs[0] : NULL;
	any = any ? any + strlen(any) + 1 : "";
	strcpy(hash, found ? found : any);
	pthread_mutex_unlock(&h->lock);
	return found != NULL;
}

int htpasswd_check(struct htpasswd *h, const char *user, const char *password,
		   struct error *warning)
{
	char hash[PASSWORD_HASH_MAX];
	bool is_user;
	struct oid mac;
	int ret;

	if (strlen(user) >= HTPASSWD_TEXT_MAX ||
	    strlen(password) >= HTPASSWD_TEXT_MAX)
		return 0;
	is_user = look_up(hash, h, user, warning);
	if (!*hash)
		return 0;
	if (make_mac(&mac, h, user, password, hash) < 0)
		return ERR_NOMEM;
	if (is_user && is_known(h, &mac))
		return 1;
	ret = password_matches(&h->crypt, hash, password);
	if (ret <= 0 || !is_user)
		return ret < 0 ? ret : 0;
	remember(h, &mac);
	return 1;
}
