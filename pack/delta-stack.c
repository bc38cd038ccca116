/* SPDX-License-Identifier: MIT */
/* The stack of a walk over a family of deltas. */
#include <stdlib.h>

#include "base/mem.h"
#include "pack/delta-stack.h"

static void drop(struct delta_stack *s, struct delta_frame *f)
{
	if (!f->data)
		return;
	free(f->data);
	f->data = NULL;
	s->held -= f->len;
}

/*
 * Drops bytes of objects below frame `top` until the stack holds at most
 * s->limit bytes.
 */
static void drop_excess(struct delta_stack *s, size_t top)
{
	while (s->held > s->limit && s->dropped < top) {
		struct delta_frame *f = &s->frames[s->dropped++];

		if (!f->is_fixed)
			drop(s, f);
	}
}

void delta_stack_release(struct delta_stack *stack)
{
	while (stack->depth)
		delta_stack_pop(stack);
	free(stack->frames);
}

int delta_stack_push(struct delta_stack *stack, const struct delta_frame *frame,
		     struct error *err)
{
	if (mem_grow(&stack->frames, &stack->alloc, stack->depth + 1,
		     sizeof(*stack->frames)) < 0) {
		free(frame->data);
		return error_nomem(err);
	}
	stack->frames[stack->depth++] = *frame;
	stack->held += frame->len;
	return 0;
}

void delta_stack_pop(struct delta_stack *stack)
{
	drop(stack, &stack->frames[--stack->depth]);
	if (stack->dropped > stack->depth)
		stack->dropped = stack->depth;
}

static int make(struct delta_stack *s, size_t i, struct error *err)
{
	struct delta_frame *f = &s->frames[i];
	int ret = s->make(s->ctx, f, i ? f - 1 : NULL, err);

	if (!ret)
		s->held += f->len;
	return ret;
}

int delta_stack_load(struct delta_stack *stack, struct error *err)
{
	size_t i = stack->depth - 1;
	int ret = 0;

	while (i && !stack->frames[i].data)
		i--;
	if (i < stack->dropped)
		stack->dropped = i;
	if (!stack->frames[i].data)
		ret = make(stack, i, err);
	for (i++; i < stack->depth && !ret; i++) {
		struct delta_frame *base = &stack->frames[i - 1];

		ret = make(stack, i, err);
		if (base->is_done && !base->is_fixed)
			drop(stack, base);
		drop_excess(stack, i);
	}
	return ret;
}

void delta_stack_finish(struct delta_stack *stack)
{
	struct delta_frame *top = delta_stack_top(stack);

	top->is_done = true;
	if (!top->is_fixed)
		drop(stack, top);
}

void delta_stack_trim(struct delta_stack *stack)
{
	drop_excess(stack, stack->depth - 1);
}
