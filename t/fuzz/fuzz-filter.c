/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for walk/filter.c and walk/sparse.c: any bytes are parsed as an
 * object filter, and as the patterns of a sparse filter.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "walk/filter.h"
#include "walk/sparse.h"
#include "t/fuzz/fuzz.h"

/*
 * Print an accepted filter. Parsing the printed text must give the same filter.
 */
static void again(const struct filter *filter)
{
	struct buf one = BUF_INIT, two = BUF_INIT;
	struct filter copy;

	filter_init(&copy);
	if (filter_print(&one, filter) < 0 ||
	    filter_add(&copy, one.data, NULL) < 0 ||
	    filter_print(&two, &copy) < 0 || strcmp(one.data, two.data) != 0 ||
	    copy.depth != filter->depth || copy.types != filter->types ||
	    copy.blob_limit != filter->blob_limit)
		abort();
	filter_release(&copy);
	buf_release(&one);
	buf_release(&two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *spec = malloc(len + 1);
	struct sparse *sparse;
	struct filter filter;
	struct error err = ERROR_INIT;

	if (!spec)
		return 0;
	memcpy(spec, data, len);
	spec[len] = '\0';
	filter_init(&filter);
	if (!filter_add(&filter, spec, &err) && filter.nr)
		again(&filter);
	filter_release(&filter);
	if (!sparse_parse(&sparse, spec, len, NULL)) {
		sparse_takes(sparse, "a/b", "b", false, true);
		sparse_takes(sparse, "a", "a", true, false);
		sparse_free(sparse);
	}
	free(spec);
	return 0;
}
