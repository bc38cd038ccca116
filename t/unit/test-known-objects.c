/* SPDX-License-Identifier: MIT */
/*
 * Tests of odb/known-objects.c, which answers two questions of the indexer:
 * does the repository have an object already, packed or loose? Is its content
 * that of the received object?
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "odb/known-objects.h"
#include "t/unit/randrepo.h"

static void check_object(const struct pack_indexer_hooks *hooks,
			 const struct randrepo_object *o)
{
	const void *data = o->data.data;
	enum object_type type;
	void *base;
	size_t len;

	assert_int_equal(hooks->has(hooks->ctx, 0, &o->oid, NULL), 1);
	assert_int_equal(hooks->compare(hooks->ctx, 1, &o->oid, o->type, data,
					o->data.len, NULL),
			 0);
	if (o->data.len) {
		struct error err = ERROR_INIT;

		assert_int_equal(hooks->compare(hooks->ctx, 1, &o->oid, o->type,
						data, o->data.len - 1, &err),
				 ERR_CORRUPT);
		assert_non_null(strstr(err.msg, "SHA1 COLLISION FOUND"));
	}
	assert_int_equal(
		hooks->base(hooks->ctx, &o->oid, &type, &base, &len, NULL), 1);
	assert_int_equal(type, o->type);
	assert_int_equal(len, o->data.len);
	assert_memory_equal(base, data, len);
	free(base);
}

static void test_hooks(void **state)
{
	uint64_t seed = random_seed();
	struct pack_indexer_hooks hooks;
	struct known_objects *known;
	struct oid absent = OID_ZERO_INIT;
	struct randrepo r;
	enum object_type type;
	void *data;
	size_t len;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 10);
	randrepo_store_pack(&r);
	randrepo_history(&r, 5);
	randrepo_store(&r);
	assert_int_equal(known_objects_open(&known, &r.t.repo, 2, NULL), 0);
	hooks = known_objects_hooks(known);
	for (uint32_t i = 0; i < r.nr; i++)
		check_object(&hooks, &r.objects[i]);
	assert_int_equal(hooks.has(hooks.ctx, 0, &absent, NULL), 0);
	assert_int_equal(
		hooks.base(hooks.ctx, &absent, &type, &data, &len, NULL), 0);
	known_objects_close(known);
	randrepo_release(&r);
}

/*
 * A concurrent gc removes a loose object after the object was found. Then the
 * received copy of the object is accepted.
 */
static void removed_objects_are_not_compared(void **state)
{
	uint64_t seed = random_seed();
	struct pack_indexer_hooks hooks;
	struct known_objects *known;
	char hex[OID_MAX_HEX_LEN + 1], path[80];
	struct randrepo_object *o;
	struct error err = ERROR_INIT;
	struct randrepo r;

	randrepo_init(&r, HASH_SHA1, &seed);
	o = &r.objects[randrepo_blob(&r, 1)];
	randrepo_store(&r);
	assert_int_equal(known_objects_open(&known, &r.t.repo, 1, NULL), 0);
	hooks = known_objects_hooks(known);
	assert_int_equal(hooks.has(hooks.ctx, 0, &o->oid, NULL), 1);
	oid_to_hex(hex, &o->oid, HASH_SHA1);
	snprintf(path, sizeof(path), "objects/%.2s/%s", hex, hex + 2);
	tmprepo_remove(&r.t, path);
	assert_int_equal(hooks.compare(hooks.ctx, 0, &o->oid, o->type,
				       o->data.data, o->data.len, &err),
			 0);
	known_objects_close(known);
	randrepo_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hooks),
		cmocka_unit_test(removed_objects_are_not_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
