/* SPDX-License-Identifier: MIT */
/*
 * A binary max-heap. Items with equal keys leave in the order in which they
 * were added.
 */
#include "base/heap.h"
#include "base/mem.h"

void heap_release(struct heap *h)
{
	free(h->items);
	*h = (struct heap)HEAP_INIT;
}

static bool before(const struct heap_item *a, const struct heap_item *b)
{
	if (a->key != b->key)
		return a->key > b->key;
	/*
	 * The counter `seq` may have wrapped around. The signed difference
	 * still gives the right order.
	 */
	return (int32_t)(a->seq - b->seq) < 0;
}

int heap_push(struct heap *h, uint64_t key, uint32_t value)
{
	struct heap_item item = {key, h->next_seq, value};
	size_t i = h->nr;
	int ret = mem_grow(&h->items, &h->alloc, h->nr + 1, sizeof(*h->items));

	if (ret < 0)
		return ret;
	h->next_seq++;
	h->nr++;
	while (i && before(&item, &h->items[(i - 1) / 2])) {
		h->items[i] = h->items[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	h->items[i] = item;
	return 0;
}

static void sift_down(struct heap *h, struct heap_item item)
{
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= h->nr)
			break;
		if (child + 1 < h->nr &&
		    before(&h->items[child + 1], &h->items[child]))
			child++;
		if (!before(&h->items[child], &item))
			break;
		h->items[i] = h->items[child];
		i = child;
	}
	h->items[i] = item;
}

bool heap_pop(struct heap *h, uint32_t *value)
{
	if (!h->nr)
		return false;
	*value = h->items[0].value;
	h->nr--;
	if (h->nr)
		sift_down(h, h->items[h->nr]);
	return true;
}
