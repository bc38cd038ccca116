/* SPDX-License-Identifier: MIT */
/* Finds out whether a store still has a generation that a node knows. */
#include <inttypes.h>
#include <string.h>

#include "generations/history.h"
#include "generations/names.h"

/*
 * Compares the first bytes of the record in the store with `head`. Returns 0 if
 * the bytes are the same, STORE_ABSENT if not, another filestore_result, or a
 * negative error code.
 */
static int compare_head(const struct generation_place *place, uint64_t number,
			const struct buf *head, struct error *err)
{
	struct buf name = BUF_INIT, found = BUF_INIT;
	int ret = generation_record_name(&name, place->repository, number, err);

	if (!ret && buf_reserve(&found, head->len) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = filestore_get_range(place->store, found.data, name.data,
					  0, head->len, err);
	/* ERR_INVALID: the file in the store is shorter than `head`. */
	if (ret == ERR_INVALID ||
	    (!ret && memcmp(found.data, head->data, head->len) != 0))
		ret = STORE_ABSENT;
	buf_release(&name);
	buf_release(&found);
	return ret;
}

/*
 * Reads the store's record with the number of `known`, and checks whether it
 * belongs to the same generation as `known`. The store may have a record of
 * another generation with this number, for example after it was restored from a
 * backup. The record may also be retired: a tombstone, which has lost most of
 * its content but still names its parent. A retired record counts as the same
 * generation if its parent is that of `known`. Sets *is_there to true if the
 * store has any of these records, whichever generation it belongs to.
 *
 * Returns 0 if the record belongs to the same generation. Returns STORE_ABSENT
 * if it belongs to another generation, or if there is no record. Otherwise
 * returns another filestore_result or a negative error code.
 */
static int compare_record(bool *is_there, const struct generation_place *place,
			  const struct generation *known, struct error *err)
{
	struct generation found;
	int ret = generation_read(&found, place, known->number, err);
	bool is_same;

	*is_there = !ret;
	if (ret)
		return ret;
	/*
	 * When a garbage collection retires a record, the record keeps its
	 * parent, but not its token.
	 */
	is_same = found.is_retired ? !memcmp(found.parent, known->parent,
					     sizeof(known->parent))
				   : !memcmp(found.token, known->token,
					     sizeof(known->token));
	generation_release(&found);
	return is_same ? 0 : STORE_ABSENT;
}

int generation_prove(const struct generation_place *place,
		     const struct generation *known, struct error *err)
{
	struct buf head = BUF_INIT;
	bool is_there = false;
	int ret = generation_print_head(&head, known) < 0
			  ? error_nomem(err)
			  : compare_head(place, known->number, &head, err);

	if (ret == STORE_ABSENT)
		ret = compare_record(&is_there, place, known, err);
	if (ret == STORE_ABSENT)
		error_set(err, ERR_MISSING,
			  "the store does not have generation %" PRIu64
			  " of the repository%s",
			  known->number,
			  is_there ? ", but another generation with this number"
				   : "");
	buf_release(&head);
	return ret;
}
