/* SPDX-License-Identifier: MIT */
/*
 * Tests of daemon/service.c, the services of Git's own protocol: each has the
 * right name, and is offered over git:// only if the configuration allows that.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/service.h"

static void test_names(void **state)
{
	enum service s;

	for (int i = 0; i < SERVICE_NR; i++) {
		const char *name = service_name((enum service)i);

		assert_true(service_find(&s, name, strlen(name)));
		assert_int_equal(s, i);
		assert_false(service_find(&s, name, strlen(name) - 1));
	}
	assert_false(service_find(&s, "upload-pack2", 12));
	assert_false(service_find(&s, "", 0));
}

static int ask(const struct service_rules *rules, enum service service,
	       const char *text)
{
	struct config config = CONFIG_INIT;
	int ret;

	assert_int_equal(config_parse(&config, text, strlen(text), CONFIG_LOCAL,
				      NULL, NULL, NULL),
			 0);
	ret = service_is_enabled(rules, service, &config, NULL);
	config_release(&config);
	return ret;
}

static void test_rules(void **state)
{
	struct service_rules rules = SERVICE_RULES_INIT;

	assert_int_equal(ask(&rules, SERVICE_UPLOAD_PACK, ""), 1);
	assert_int_equal(ask(&rules, SERVICE_UPLOAD_ARCHIVE, ""), 0);
	assert_int_equal(ask(&rules, SERVICE_RECEIVE_PACK, ""), 0);
	assert_int_equal(ask(&rules, SERVICE_UPLOAD_PACK,
			     "[daemon]\nuploadpack = false\n"),
			 0);
	assert_int_equal(
		ask(&rules, SERVICE_UPLOAD_ARCHIVE, "[daemon]\nuploadarch\n"),
		1);
	assert_int_equal(ask(&rules, SERVICE_RECEIVE_PACK,
			     "[daemon]\nreceivepack = true\n"),
			 1);
	assert_int_equal(ask(&rules, SERVICE_RECEIVE_PACK,
			     "[daemon]\nreceivepack = perhaps\n"),
			 ERR_INVALID);
	rules.is_fixed[SERVICE_RECEIVE_PACK] = true;
	assert_int_equal(ask(&rules, SERVICE_RECEIVE_PACK,
			     "[daemon]\nreceivepack = true\n"),
			 0);
	rules.is_enabled[SERVICE_RECEIVE_PACK] = true;
	assert_int_equal(ask(&rules, SERVICE_RECEIVE_PACK,
			     "[daemon]\nreceivepack = false\n"),
			 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
