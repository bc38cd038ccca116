/* SPDX-License-Identifier: MIT */
/*
 * The stack of a walk over a family of deltas, depth first. A family is an
 * object and all deltas that are made from it, directly or through other
 * deltas. The stack has the objects on the delta chain that leads from this
 * object, the root, to the current object.
 *
 * Objects that wait for their next delta keep their bytes, up to a limit. Above
 * the limit, the bytes of the objects nearest to the root are dropped, and made
 * again when they are needed. A delta chain may be long, so without a limit a
 * few large objects would fill the memory.
 */
#ifndef PACK_DELTA_STACK_H
#define PACK_DELTA_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* An object on the stack. Its delta base is the object below it. */
struct delta_frame {
	uint32_t nr; /* the caller's number of the object */
	/* the caller's number of the next delta against the object */
	uint32_t next;
	/* true: the bytes cannot be made again, and are never dropped */
	bool is_fixed;
	/*
	 * true: no delta against the object is left. Its bytes are needed only
	 * to make the objects above it again.
	 */
	bool is_done;
	/* owned: the bytes of the object; NULL: they were dropped */
	uint8_t *data;
	size_t len;
};

struct delta_stack {
	/* limit of `held`: above it, objects below the top lose their bytes */
	size_t limit;
	/*
	 * Makes the bytes of an object again: sets frame->data, malloc()ed, and
	 * frame->len. *base is the object below, with its bytes; NULL: the
	 * frame is the root. Returns 0 or a negative error code.
	 */
	int (*make)(void *ctx, struct delta_frame *frame,
		    const struct delta_frame *base, struct error *err);
	void *ctx;
	struct delta_frame *frames; /* owned; the root comes first */
	size_t depth, alloc;
	/* total number of bytes of the objects on the stack */
	size_t held;
	/*
	 * number of frames, from the root on, whose bytes were dropped; a fixed
	 * frame counts, but keeps its bytes
	 */
	size_t dropped;
};

/* Frees all objects and the stack. */
void delta_stack_release(struct delta_stack *stack);

/* Returns the object on top. The stack must not be empty. */
static inline struct delta_frame *delta_stack_top(
	const struct delta_stack *stack)
{
	return &stack->frames[stack->depth - 1];
}

/*
 * Puts an object on the stack, and takes over its bytes. Returns 0, or
 * ERR_NOMEM with frame->data freed.
 */
int delta_stack_push(struct delta_stack *stack, const struct delta_frame *frame,
		     struct error *err);

/* Removes the object on top. */
void delta_stack_pop(struct delta_stack *stack);

/*
 * Makes the bytes of the object on top again, if they were dropped. Returns 0
 * or an error of stack->make. Cost: the deltas from the nearest object that has
 * its bytes, up to the top.
 */
int delta_stack_load(struct delta_stack *stack, struct error *err);

/*
 * Says that no delta against the object on top is left. Its bytes are dropped,
 * unless the frame is fixed.
 */
void delta_stack_finish(struct delta_stack *stack);

/*
 * Drops bytes of objects below the top until the stack holds at most
 * stack->limit bytes.
 */
void delta_stack_trim(struct delta_stack *stack);

#endif
