/* SPDX-License-Identifier: MIT */
/*
 * Tests of store/xml.c, a reader of XML: documents that it accepts, and
 * documents that it refuses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "store/xml.h"

/*
 * Appends the events of a document to *out as text. Returns the last result of
 * the reader.
 */
static int read_all(struct buf *out, const char *doc)
{
	struct error err = ERROR_INIT;
	struct xml x;
	int ret;

	buf_reset(out);
	xml_init(&x, doc, strlen(doc));
	while ((ret = xml_next(&x, &err)) > 0) {
		struct xml_name name = x.names[x.depth - 1];

		if (ret == XML_OPEN)
			buf_printf(out, "<%.*s>", (int)name.len, name.p);
		else
			buf_printf(out, "%s</%.*s>", x.text.data, (int)name.len,
				   name.p);
	}
	if (ret < 0)
		assert_non_null(strstr(err.msg, "XML: "));
	xml_release(&x);
	return ret;
}

static void test_documents(void **state)
{
	static const char *const docs[][2] = {
		{"<a/>", "<a></a>"},
		{"<?xml version=\"1.0\"?>\n<a x='1' y = \"&lt;\">t</a >\n",
		 "<a>t</a>"},
		{"<a><b>1</b><b/> <c:d>2</c:d></a>",
		 "<a><b>1</b><b></b><c:d>2</c:d></a>"},
		{"<a>x<!-- <b> -->y</a><!-- end -->", "<a>xy</a>"},
		{"<a>&amp;&lt;&gt;&quot;&apos;&#65;&#x2f;</a>",
		 "<a>&<>\"'A/</a>"},
		{"<a>&#xe4;&#x20ac;&#x1F600;</a>",
		 "<a>\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80</a>"},
		{"<a0:B9_c-d.e/>", "<a0:B9_c-d.e></a0:B9_c-d.e>"},
		{"<a>&#57;&#x39;&#48;&#x4A;&#x4F;</a>", "<a>990JO</a>"},
		{"<a>\xc3\xa4</a>", "<a>\xc3\xa4</a>"},
	};
	struct buf got = BUF_INIT;

	for (size_t i = 0; i < ARRAY_NR(docs); i++) {
		assert_int_equal(read_all(&got, docs[i][0]), XML_END);
		assert_string_equal(got.data, docs[i][1]);
	}
	buf_release(&got);
}

static void test_refused(void **state)
{
	static const char *const docs[] = {
		"",
		"text",
		"<a>",
		"<a></b>",
		"</a>",
		"<a></a><b/>",
		"<a/>text",
		"<a",
		"<a x></a>",
		"<a x=1></a>",
		"<a x='1></a>",
		"<a x='<'></a>",
		"<a/",
		"<a/ >",
		"<a>&none;</a>",
		"<a>&amp</a>",
		"<a>&#0;</a>",
		"<a>&#xd800;</a>",
		"<a>&#x110000;</a>",
		"<a>&#99999999999999999999;</a>",
		"<a>&#;</a>",
		"<a>&#x;</a>",
		"<a>&#5a;</a>",
		"<a>&#x4g;</a>",
		"<a>\x01</a>",
		"<!DOCTYPE a><a/>",
		"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
		"<a><![CDATA[x]]></a>",
		"<a><?php ?></a>",
		"<a/><?xml version='1.0'?>",
		"<a><!-- </a>",
		"<a><>",
		"<a b='1'c='2'>",
	};
	struct buf got = BUF_INIT;

	/*
	 * All documents are refused. The last one is refused because the
	 * element has no end.
	 */
	for (size_t i = 0; i < ARRAY_NR(docs); i++)
		assert_int_equal(read_all(&got, docs[i]), ERR_CORRUPT);
	buf_release(&got);
}

static void test_depth(void **state)
{
	struct buf doc = BUF_INIT, got = BUF_INIT;

	for (int extra = 0; extra < 2; extra++) {
		buf_reset(&doc);
		for (int i = 0; i < XML_DEPTH_MAX + extra; i++)
			buf_append_str(&doc, "<a>");
		for (int i = 0; i < XML_DEPTH_MAX + extra; i++)
			buf_append_str(&doc, "</a>");
		assert_int_equal(read_all(&got, doc.data),
				 extra ? ERR_CORRUPT : XML_END);
	}
	buf_reset(&doc);
	buf_append_char(&doc, '<');
	for (int i = 0; i <= XML_NAME_MAX; i++)
		buf_append_char(&doc, 'n');
	buf_append_str(&doc, "/>");
	assert_int_equal(read_all(&got, doc.data), ERR_CORRUPT);
	buf_release(&doc);
	buf_release(&got);
}

static void test_place(void **state)
{
	const char *doc = "<ab><c/></ab>";
	struct xml x;

	xml_init(&x, doc, strlen(doc));
	assert_false(xml_is_at(&x, ""));
	assert_int_equal(xml_next(&x, NULL), XML_OPEN);
	assert_true(xml_is_at(&x, "ab"));
	assert_false(xml_is_at(&x, "a"));
	assert_false(xml_is_at(&x, "ab/c"));
	assert_int_equal(xml_next(&x, NULL), XML_OPEN);
	assert_true(xml_is_at(&x, "ab/c"));
	assert_false(xml_is_at(&x, "ab"));
	assert_int_equal(xml_next(&x, NULL), XML_CLOSE);
	assert_true(xml_is_at(&x, "ab/c"));
	assert_int_equal(xml_next(&x, NULL), XML_CLOSE);
	assert_true(xml_is_at(&x, "ab"));
	assert_int_equal(xml_next(&x, NULL), XML_END);
	assert_int_equal(xml_next(&x, NULL), XML_END);
	xml_release(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_documents),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
