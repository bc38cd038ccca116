/* SPDX-License-Identifier: MIT */
/*
 * A max-heap of (key, value) pairs. A history walk uses the heap as its queue,
 * and takes the newest commit first. Items with equal keys leave in the order
 * in which they were added, unless 2^31 other items were added between them.
 */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_item {
	uint64_t key;
	/*
	 * value of the heap's counter when the item was added; orders items
	 * with equal keys
	 */
	uint32_t seq;
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

/* Adds an item in O(log nr). Returns 0 or ERR_NOMEM. */
int heap_push(struct heap *h, uint64_t key, uint32_t value);

/* Removes the item with the largest key. Returns false if the heap is empty. */
bool heap_pop(struct heap *h, uint32_t *value);

/* Works like heap_pop(), but the item stays in the heap. */
static inline bool heap_peek(const struct heap *h, uint32_t *value)
{
	if (h->nr)
		*value = h->items[0].value;
	return h->nr;
}

#endif
