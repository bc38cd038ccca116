/* SPDX-License-Identifier: MIT */
/*
 * A cache of decoded objects. One allocation holds the node of an object
 * (base_cache_node) and the object's bytes. So reading an object costs one
 * malloc(), and no bytes are copied.
 */
#include "base/error.h"
#include "base/mem.h"
#include "pack/base-cache.h"

enum { BUCKET_NR_MIN = 256 };

static size_t node_size(const struct base_cache_node *node)
{
	return sizeof(*node) + node->len;
}

static struct base_cache_node **bucket_of(const struct base_cache *cache,
					  const struct pack *pack,
					  uint64_t offset)
{
	uint64_t h = (uint64_t)(uintptr_t)pack / 64 + offset;

	h *= UINT64_C(0x9e3779b97f4a7c15);
	return &cache->buckets[(h >> 32) & (cache->bucket_nr - 1)];
}

int base_cache_init(struct base_cache *cache, size_t limit)
{
	*cache = (struct base_cache){.limit = limit};
	cache->buckets = mem_calloc(BUCKET_NR_MIN, sizeof(*cache->buckets));
	if (!cache->buckets)
		return ERR_NOMEM;
	cache->bucket_nr = BUCKET_NR_MIN;
	return 0;
}

void base_cache_release(struct base_cache *cache)
{
	for (size_t i = 0; i < cache->bucket_nr; i++) {
		struct base_cache_node *node = cache->buckets[i];

		while (node) {
			struct base_cache_node *next = node->next;

			free(node);
			node = next;
		}
	}
	free(cache->buckets);
	*cache = (struct base_cache){0};
}

struct base_cache_node *base_cache_alloc(size_t len)
{
	struct base_cache_node *node;
	size_t size;

	if (!mem_add(&size, sizeof(*node) + 1, len))
		return NULL;
	node = malloc(size);
	if (!node)
		return NULL;
	node->len = len;
	node->pin_nr = 1;
	node->is_cached = false;
	node->data[len] = '\0';
	return node;
}

static void list_remove(struct base_cache *cache, struct base_cache_node *node)
{
	*(node->newer ? &node->newer->older : &cache->newest) = node->older;
	*(node->older ? &node->older->newer : &cache->oldest) = node->newer;
	cache->bytes -= node_size(node);
}

static void list_add(struct base_cache *cache, struct base_cache_node *node)
{
	node->newer = NULL;
	node->older = cache->newest;
	*(cache->newest ? &cache->newest->newer : &cache->oldest) = node;
	cache->newest = node;
	cache->bytes += node_size(node);
}

static void table_remove(struct base_cache *cache, struct base_cache_node *node)
{
	struct base_cache_node **p = bucket_of(cache, node->pack, node->offset);

	while (*p != node)
		p = &(*p)->next;
	*p = node->next;
	node->is_cached = false;
	cache->nr--;
}

/*
 * Doubles the number of buckets of the cache's hash table. If memory runs out,
 * the number stays, and the lists of the buckets get longer.
 */
static void table_grow(struct base_cache *cache)
{
	struct base_cache bigger = *cache;

	if (!mem_mul(&bigger.bucket_nr, cache->bucket_nr, 2))
		return;
	bigger.buckets = mem_calloc(bigger.bucket_nr, sizeof(*bigger.buckets));
	if (!bigger.buckets)
		return;
	for (size_t i = 0; i < cache->bucket_nr; i++) {
		struct base_cache_node *node = cache->buckets[i];

		while (node) {
			struct base_cache_node *next = node->next;
			struct base_cache_node **p = bucket_of(
				&bigger, node->pack, node->offset);

			node->next = *p;
			*p = node;
			node = next;
		}
	}
	free(cache->buckets);
	*cache = bigger;
}

struct base_cache_node *base_cache_get(struct base_cache *cache,
				       const struct pack *pack, uint64_t offset)
{
	struct base_cache_node *node = *bucket_of(cache, pack, offset);

	while (node && (node->offset != offset || node->pack != pack))
		node = node->next;
	if (!node)
		return NULL;
	if (!node->pin_nr++)
		list_remove(cache, node);
	return node;
}

void base_cache_add(struct base_cache *cache, struct base_cache_node *node,
		    const struct pack *pack, uint64_t offset)
{
	struct base_cache_node **p;

	if (node_size(node) > cache->limit)
		return;
	if (cache->nr >= cache->bucket_nr)
		table_grow(cache);
	p = bucket_of(cache, pack, offset);
	node->pack = pack;
	node->offset = offset;
	node->is_cached = true;
	node->next = *p;
	*p = node;
	cache->nr++;
}

void base_cache_unpin(struct base_cache *cache, struct base_cache_node *node)
{
	if (--node->pin_nr)
		return;
	if (!node->is_cached) {
		free(node);
		return;
	}
	list_add(cache, node);
	while (cache->bytes > cache->limit) {
		struct base_cache_node *old = cache->oldest;

		list_remove(cache, old);
		table_remove(cache, old);
		free(old);
	}
}

void base_cache_forget(struct base_cache *cache, const struct pack *pack)
{
	for (size_t i = 0; i < cache->bucket_nr; i++) {
		struct base_cache_node **p = &cache->buckets[i];

		while (*p) {
			struct base_cache_node *node = *p;

			if (node->pack != pack) {
				p = &node->next;
				continue;
			}
			*p = node->next;
			cache->nr--;
			node->is_cached = false;
			if (!node->pin_nr) {
				list_remove(cache, node);
				free(node);
			}
		}
	}
}
