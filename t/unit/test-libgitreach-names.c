/* SPDX-License-Identifier: MIT */
/*
 * Tests of libgitreach/names.c, public functions: ids are converted from and to
 * hexadecimal, names are resolved, and references and single objects are found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/apirepo.h"

static const enum hash_algo algos[] = {HASH_SHA1, HASH_SHA256};

static void ids(void **state)
{
	static const char *const wrong[] = {
		"",
		"12",
		"0123456789abcdef0123456789abcdef0123456",
		"0123456789abcdef0123456789abcdef0123456g",
		"0123456789abcdef0123456789abcdef012345678",
		"0123456789abcdef0123456789abcdef0123456789",
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcd"
		"ef0",
	};
	gitreach_error *err = gitreach_error_new();
	uint8_t id[GITREACH_ID_MAX], back[GITREACH_ID_MAX];
	char hex[GITREACH_ID_TEXT_MAX];
	size_t len;

	for (size_t i = 0; i < sizeof(id); i++)
		id[i] = (uint8_t)(i * 37);
	for (size_t i = 0; i < ARRAY_NR(algos); i++) {
		assert_int_equal(
			gitreach_id_print(hex, id, hash_len(algos[i]), err), 0);
		assert_int_equal(strlen(hex), 2 * hash_len(algos[i]));
		assert_memory_equal(hex, "00254a6f94", 10);
		assert_int_equal(gitreach_id_parse(back, &len, hex, err), 0);
		assert_int_equal(len, hash_len(algos[i]));
		assert_memory_equal(back, id, len);
	}
	assert_int_equal(gitreach_id_print(hex, id, 21, err), GITREACH_INVALID);
	for (size_t i = 0; i < ARRAY_NR(wrong); i++)
		assert_int_equal(gitreach_id_parse(back, &len, wrong[i], err),
				 GITREACH_INVALID);
	assert_int_equal(len, 32);
	gitreach_error_free(err);
}

static void names(void **state)
{
	for (size_t i = 0; i < ARRAY_NR(algos); i++) {
		uint64_t seed = random_seed();
		uint8_t id[GITREACH_ID_MAX];
		struct apirepo a;
		uint32_t tip;

		apirepo_make(&a, algos[i], 20, &seed);
		apirepo_open(&a, 0);
		tip = a.r.commits[a.r.commit_nr - 1];
		APIREPO_OK(&a,
			   gitreach_repo_resolve(id, a.repo, "main", a.err));
		assert_memory_equal(id, apirepo_id(&a, tip),
				    apirepo_id_len(&a));
		APIREPO_OK(&a, gitreach_repo_resolve(id, a.repo, "HEAD^{tree}",
						     a.err));
		assert_memory_equal(
			id, a.r.objects[a.r.objects[tip].refs[0]].oid.bytes,
			apirepo_id_len(&a));
		APIREPO_FAILS(
			&a, GITREACH_MISSING,
			gitreach_repo_resolve(id, a.repo, "nobody", a.err));
		assert_string_equal(gitreach_error_message(a.err),
				    "no object has the name 'nobody'");
		apirepo_release(&a);
	}
}

/*
 * Records the refs that a callback has seen. stop_at: number of refs after
 * which the callback stops the visit.
 */
struct seen {
	struct apirepo *a;
	unsigned nr, stop_at;
	char last[64];
	bool has_head;
};

static int see(void *ctx, const struct gitreach_ref *ref)
{
	struct seen *s = ctx;
	struct oid oid;
	uint32_t nr;

	assert_int_equal(ref->size, sizeof(*ref));
	assert_int_equal(ref->id_len, apirepo_id_len(s->a));
	oid_from_raw(&oid, ref->id, HASH_SHA1);
	assert_true(oidmap_get(&s->a->r.by_oid, &oid, &nr));
	if (!strcmp(ref->name, "HEAD")) {
		assert_int_equal(s->nr, 0);
		assert_string_equal(ref->target, "refs/heads/main");
		s->has_head = true;
	} else {
		assert_null(ref->target);
		assert_true(strcmp(ref->name, s->last) > 0);
		snprintf(s->last, sizeof(s->last), "%s", ref->name);
	}
	return ++s->nr == s->stop_at ? 7 : 0;
}

static int end(void *ctx, const struct gitreach_ref *ref)
{
	return -1;
}

static void references(void **state)
{
	uint64_t seed = random_seed();
	struct seen all, tags, heads;
	struct apirepo a;

	apirepo_make(&a, HASH_SHA1, 40, &seed);
	apirepo_open(&a, 0);
	all = tags = heads = (struct seen){.a = &a};
	APIREPO_OK(&a, gitreach_repo_each_ref(a.repo, "", see, &all, a.err));
	assert_true(all.has_head);
	APIREPO_OK(&a, gitreach_repo_each_ref(a.repo, "refs/tags/", see, &tags,
					      a.err));
	APIREPO_OK(&a, gitreach_repo_each_ref(a.repo, "refs/heads/", see,
					      &heads, a.err));
	assert_false(heads.has_head);
	assert_int_equal(all.nr, 1 + tags.nr + heads.nr);
	all = (struct seen){.a = &a, .stop_at = 2};
	assert_int_equal(gitreach_repo_each_ref(a.repo, "", see, &all, a.err),
			 7);
	assert_int_equal(all.nr, 2);
	APIREPO_FAILS(&a, GITREACH_CANCELLED,
		      gitreach_repo_each_ref(a.repo, "", end, NULL, a.err));
	tmprepo_write(&a.r.t, "refs/heads/broken", "nonsense\n");
	apirepo_open(&a, 0);
	all = (struct seen){.a = &a};
	APIREPO_FAILS(&a, GITREACH_CORRUPT,
		      gitreach_repo_each_ref(a.repo, "", see, &all, a.err));
	apirepo_release(&a);
}

static void objects(void **state)
{
	uint64_t seed = random_seed();
	struct gitreach_object_info info = {.size = sizeof(info)};
	uint8_t gone[20] = {1, 2, 3};
	struct apirepo a;

	apirepo_make(&a, HASH_SHA1, 30, &seed);
	apirepo_open(&a, 0);
	for (uint32_t i = 0; i < a.r.nr; i++) {
		APIREPO_OK(&a,
			   gitreach_object_info(&info, a.repo,
						apirepo_id(&a, i), 20, a.err));
		assert_int_equal(info.type, a.r.objects[i].type);
		assert_true(info.bytes > 0 || info.type == GITREACH_TREE ||
			    info.type == GITREACH_BLOB);
	}
	APIREPO_FAILS(&a, GITREACH_MISSING,
		      gitreach_object_info(&info, a.repo, gone, 20, a.err));
	APIREPO_FAILS(&a, GITREACH_INVALID,
		      gitreach_object_info(&info, a.repo, gone, 32, a.err));
	apirepo_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids),
		cmocka_unit_test(names),
		cmocka_unit_test(references),
		cmocka_unit_test(objects),
	};

	return cmocka_run_group_tests_name("libgitreach-names", tests, NULL,
					   NULL);
}
