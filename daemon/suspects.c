/* SPDX-License-Identifier: MIT */
/*
 * The list of suspects: repositories whose requests may crash workers. The list
 * is in shared memory. An entry consists of atomic words and has no lock: a
 * worker that crashes would leave a lock locked. Only the master adds entries.
 */
#include <stdatomic.h>
#include <stdbool.h>

#include "status/board.h"
#include "daemon/suspects.h"
#include "sys/process.h"

#define SECOND_NS UINT64_C(1000000000)
#define MEMORY_NS (600 * SECOND_NS)

/*
 * After this many crashes of workers during requests for a repository, child
 * processes answer its requests.
 */
#define CRASHES_MAX 2

/*
 * Maximum number of repositories that are suspected of crashing workers. If
 * there are more, the oldest one is forgotten.
 */
#define SUSPECTS_MAX 64

struct suspect {
	_Atomic uint64_t hash; /* hash of the path */
	_Atomic uint64_t end_ns;
	atomic_uint crashes;
	atomic_bool is_guilty;
};

struct daemon_suspects {
	/* number of entries that were ever used */
	atomic_uint nr;
	struct suspect entries[SUSPECTS_MAX];
};

struct daemon_suspects *daemon_suspects_new(struct error *err)
{
	struct daemon_suspects *suspects = sys_memory_shared(sizeof(*suspects));

	if (!suspects)
		error_nomem(err);
	return suspects;
}

void daemon_suspects_free(struct daemon_suspects *suspects)
{
	sys_memory_unshare(suspects, sizeof(*suspects));
}

/*
 * Returns the FNV-1a hash of the first STATUS_PATH_MAX - 1 bytes of a path. A
 * board (status/board.h) keeps no more bytes of a path. So the path of a
 * request and the same path from a board have equal hashes.
 */
static uint64_t hash_of(const char *path, size_t len)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < len && i < STATUS_PATH_MAX - 1; i++)
		hash = (hash ^ (unsigned char)path[i]) *
		       UINT64_C(1099511628211);
	return hash;
}

/* Returns the entry with this hash that is still valid at `now_ns`, or NULL. */
static const struct suspect *find(const struct daemon_suspects *s,
				  uint64_t hash, uint64_t now_ns)
{
	unsigned nr = atomic_load(&s->nr);

	for (unsigned i = 0; i < nr; i++)
		if (atomic_load(&s->entries[i].hash) == hash &&
		    atomic_load(&s->entries[i].end_ns) > now_ns)
			return &s->entries[i];
	return NULL;
}

/*
 * Returns an unused entry. If there is none, returns the entry that becomes
 * invalid first; the caller overwrites this entry.
 */
static struct suspect *make_room(struct daemon_suspects *s)
{
	unsigned nr = atomic_load(&s->nr);
	struct suspect *oldest = &s->entries[0];

	if (nr < SUSPECTS_MAX) {
		atomic_store(&s->nr, nr + 1);
		return &s->entries[nr];
	}
	for (unsigned i = 1; i < nr; i++)
		if (atomic_load(&s->entries[i].end_ns) <
		    atomic_load(&oldest->end_ns))
			oldest = &s->entries[i];
	return oldest;
}

unsigned daemon_suspects_crash(struct daemon_suspects *suspects,
			       const char *path, size_t len, uint64_t now_ns)
{
	uint64_t hash = hash_of(path, len);
	struct suspect *e = (struct suspect *)find(suspects, hash, now_ns);

	if (!e) {
		e = make_room(suspects);
		atomic_store(&e->crashes, 0);
		atomic_store(&e->is_guilty, false);
		atomic_store(&e->hash, hash);
	}
	atomic_store(&e->end_ns, now_ns + MEMORY_NS);
	return atomic_fetch_add(&e->crashes, 1) + 1;
}

void daemon_suspects_convict(struct daemon_suspects *suspects, const char *path,
			     size_t len, uint64_t now_ns)
{
	struct suspect *e = (struct suspect *)find(suspects, hash_of(path, len),
						   now_ns);

	if (!e)
		return;
	atomic_store(&e->end_ns, now_ns + MEMORY_NS);
	atomic_store(&e->is_guilty, true);
}

enum daemon_verdict daemon_suspects_judge(
	const struct daemon_suspects *suspects, const char *path, size_t len,
	uint64_t now_ns)
{
	const struct suspect *e;

	if (!atomic_load(&suspects->nr))
		return DAEMON_TRUSTED;
	e = find(suspects, hash_of(path, len), now_ns);
	if (!e || atomic_load(&e->crashes) < CRASHES_MAX)
		return DAEMON_TRUSTED;
	return atomic_load(&e->is_guilty) ? DAEMON_GUILTY : DAEMON_SUSPECT;
}
