/* SPDX-License-Identifier: MIT */
/*
 * Estimates the cost of a pack, for a server that lets expensive requests wait
 * (struct packing_admission). Prices are microseconds of CPU time. They need
 * not be exact: they order requests, and separate cheap requests from expensive
 * ones.
 */
#ifndef PACKING_PRICE_H
#define PACKING_PRICE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bitmap/space.h"
#include "ewah/bitset.h"
#include "packing/send.h"
#include "walk/filter.h"

/*
 * Returns the price (microseconds of CPU time) of finding the objects of a
 * request by a walk. `object_nr`: objects in packs of the repository.
 */
uint64_t packing_price_walk(const struct packing_request *request,
			    const struct bitmap_plan *plan, uint32_t object_nr);

/*
 * Returns the price (microseconds of CPU time) of applying a filter to objects
 * that a bitmap index has found. Only the filter blob:limit has a price. For
 * other filters, and for NULL (no filter), returns 0.
 */
uint64_t packing_price_filter(const struct filter *filter, uint64_t object_nr);

/*
 * Returns the estimated number of bytes that the objects of a set of bits take
 * in the packs. Only the offsets of some hundred runs of set bits are looked
 * up. Returns 0 if memory runs out.
 */
uint64_t packing_stored_len(const struct bitmap_space *space,
			    const struct bitset *packed);

/*
 * Returns the price (microseconds of CPU time) of copying the stored bytes of
 * the objects of a set of bits. packing_stored_len() estimates the number of
 * bytes.
 */
uint64_t packing_price_spans(const struct bitmap_space *space,
			     const struct bitset *packed);

/*
 * Returns the price (microseconds of CPU time) of a request that sends
 * `item_nr` objects one by one.
 */
uint64_t packing_price_items(size_t item_nr);

/*
 * Returns the price (microseconds of CPU time) of searching deltas for `len`
 * bytes of objects, and of deflating these bytes.
 */
uint64_t packing_price_deflate(uint64_t len);

/*
 * Asks the server whether expensive work may begin
 * (options->admission->admit()). If there is no such callback, the work may
 * always begin. `price_us`: estimated CPU time of the work, in microseconds. A
 * number above one hour is passed to the callback as one hour. *threads becomes
 * the number of threads that the work may use; 0: as many as processors.
 * Returns 0 or a negative error code.
 */
int packing_admit(unsigned *threads, const struct packing_send_options *options,
		  uint64_t price_us, struct error *err);

#endif
