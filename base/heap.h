/* SPDX-License-Identifier: MIT */
/*
 * A max-heap of (key, value) pairs: the queue of a history walk, newest
 * first. Equal keys leave in the order in which they came, unless 2^31 others
 * came between them.
 */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_item {
	uint64_t key;
	uint32_t seq; /* arrival number: breaks ties */
	uint32_t value;
};

struct heap {
	struct heap_item *items; /* owned */
	size_t nr, alloc;
	uint32_t next_seq;
};

#define HEAP_INIT                                                              \
	{                                                                      \
		NULL, 0, 0, 0                                                  \
	}

void heap_release(struct heap *h);

/* Add an item; 0 or ERR_NOMEM. O(log nr). */
int heap_push(struct heap *h, uint64_t key, uint32_t value);

/* Take the value with the largest key; false when the heap is empty. */
bool heap_pop(struct heap *h, uint32_t *value);

/* As heap_pop(), and it stays. */
static inline bool heap_peek(const struct heap *h, uint32_t *value)
{
	if (h->nr)
		*value = h->items[0].value;
	return h->nr;
}

#endif
