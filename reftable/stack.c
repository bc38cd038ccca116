/* SPDX-License-Identifier: MIT */
/* Opening a stack. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "reftable/stack.h"
#include "sys/map.h"

#define OPEN_TRIES 100

void reftable_stack_release(struct reftable_stack *stack)
{
	while (stack->nr)
		reftable_close(stack->tables[--stack->nr]);
	free(stack->tables);
	memset(stack, 0, sizeof(*stack));
}

static int open_one(struct reftable_stack *stack, const char *dir,
		    const char *name, enum hash_algo algo, struct error *err)
{
	int ret;

	if (strchr(name, '/') || name[0] == '.')
		return error_set(err, ERR_CORRUPT,
				 "%s/tables.list: '%s' is not a table name",
				 dir, name);
	if (mem_grow(&stack->tables, &stack->alloc, stack->nr + 1,
		     sizeof(*stack->tables)) < 0)
		return error_nomem(err);
	ret = reftable_open(&stack->tables[stack->nr], dir, name, algo, err);
	if (!ret)
		stack->nr++;
	return ret;
}

/*
 * Opens the tables that are named in `list`, the content of tables.list. The
 * function replaces line ends in the list by NULs. Returns 0 or a negative
 * error code.
 */
static int open_all(struct reftable_stack *stack, const char *dir,
		    struct buf *list, enum hash_algo algo, struct error *err)
{
	char *line = list->data, *end = list->data + list->len;
	int ret = 0;

	while (!ret && line < end) {
		char *lf = memchr(line, '\n', (size_t)(end - line));

		if (lf)
			*lf = '\0';
		if (*line)
			ret = open_one(stack, dir, line, algo, err);
		line += strlen(line) + 1;
	}
	return ret;
}

int reftable_stack_open(struct reftable_stack *stack, const char *dir,
			enum hash_algo algo, struct error *err)
{
	struct buf path = BUF_INIT, list = BUF_INIT;
	int ret = buf_printf(&path, "%s/tables.list", dir);

	memset(stack, 0, sizeof(*stack));
	if (ret < 0) {
		ret = error_nomem(err);
		goto out;
	}
	for (int i = 0; i < OPEN_TRIES; i++) {
		buf_reset(&list);
		ret = sys_read_file(&list, path.data, err);
		if (ret == ERR_MISSING)
			ret = 0;
		else if (!ret)
			ret = open_all(stack, dir, &list, algo, err);
		if (ret != ERR_MISSING)
			break;
		reftable_stack_release(stack);
	}
	if (ret == ERR_MISSING)
		ret = error_recode(err, ERR_CORRUPT);
out:
	if (ret < 0)
		reftable_stack_release(stack);
	buf_release(&path);
	buf_release(&list);
	return ret;
}

uint64_t reftable_stack_max_index(const struct reftable_stack *stack)
{
	uint64_t max = 0;

	for (size_t i = 0; i < stack->nr; i++) {
		uint64_t index = stack->tables[i]->file.footer.max_index;

		if (index > max)
			max = index;
	}
	return max;
}

int reftable_stack_find(const struct reftable_stack *stack,
			struct reftable_iter *it, const char *name,
			size_t name_len, struct reftable_ref *ref,
			struct error *err)
{
	for (size_t i = stack->nr; i--;) {
		int ret = reftable_iter_seek(it, stack->tables[i],
					     REFTABLE_REFS, name, name_len,
					     err);

		if (!ret)
			ret = reftable_iter_next(it, err);
		if (ret < 0)
			return ret;
		if (!ret || it->ref.name_len != name_len ||
		    memcmp(it->ref.name, name, name_len) != 0)
			continue;
		*ref = it->ref;
		return ref->value != REFTABLE_DELETED;
	}
	return 0;
}
