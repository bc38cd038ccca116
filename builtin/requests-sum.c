/* SPDX-License-Identifier: MIT */
/* git requests: sums up the records of requests. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "builtin/requests-parts.h"

/* Number of slots of a hash table of groups. At most half of them are used. */
#define SLOTS (2 * REQUESTS_GROUPS_MAX)

/* ---- costs */

static uint64_t sum_of(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void add_cost(struct requests_cost *sum, const struct requests_cost *c)
{
	sum->requests = sum_of(sum->requests, c->requests);
	sum->failed = sum_of(sum->failed, c->failed);
	sum->time_us = sum_of(sum->time_us, c->time_us);
	sum->total_us = sum_of(sum->total_us, c->total_us);
	sum->cpu_us = sum_of(sum->cpu_us, c->cpu_us);
	sum->bytes_sent = sum_of(sum->bytes_sent, c->bytes_sent);
	if (c->most_us > sum->most_us)
		sum->most_us = c->most_us;
}

/* Returns the number by which a request is sorted, as `sort` says. */
static uint64_t key_of(const struct requests_cost *cost,
		       enum requests_sort sort)
{
	switch (sort) {
	case REQUESTS_BY_TOTAL:
		return cost->total_us;
	case REQUESTS_BY_CPU:
		return cost->cpu_us;
	case REQUESTS_BY_SENT:
		return cost->bytes_sent;
	default:
		return cost->time_us;
	}
}

/* ---- groups */

static int by_key(const void *a, const void *b)
{
	const struct requests_group *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void sort_groups(struct requests_table *t, enum requests_sort sort)
{
	for (size_t i = 0; i < t->nr; i++) {
		struct requests_group *g = &t->groups[i];

		g->key = sort == REQUESTS_BY_REQUESTS ? g->cost.requests
						      : key_of(&g->cost, sort);
	}
	if (t->nr)
		qsort(t->groups, t->nr, sizeof(*t->groups), by_key);
}

/* FNV-1a */
static uint64_t hash_of(const char *name)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
	return hash ^ hash >> 32;
}

/*
 * Returns the slot of the group with this name. If there is no such group,
 * returns the free slot where it belongs.
 */
static uint32_t *find_slot(const struct requests_table *t, const char *name,
			   uint64_t hash)
{
	size_t i = hash % SLOTS;

	for (;; i = (i + 1) % SLOTS) {
		const struct requests_group *g;

		if (!t->slots[i])
			return &t->slots[i];
		g = &t->groups[t->slots[i] - 1];
		if (g->hash == hash && !strcmp(g->name, name))
			return &t->slots[i];
	}
}

/*
 * Remove the half of the groups that sort last, and add their sums to
 * t->others.
 */
static void merge_cheap(struct requests_table *t, enum requests_sort sort)
{
	sort_groups(t, sort);
	for (size_t i = t->nr / 2; i < t->nr; i++) {
		add_cost(&t->others, &t->groups[i].cost);
		free(t->groups[i].name);
		t->other_nr++;
	}
	t->nr /= 2;
	memset(t->slots, 0, SLOTS * sizeof(*t->slots));
	for (size_t i = 0; i < t->nr; i++)
		*find_slot(t, t->groups[i].name,
			   t->groups[i].hash) = (uint32_t)i + 1;
}

/*
 * Add a group with a copy of a name. If the table is full, first removes half
 * of its groups, those that sort last by `sort`, and adds their costs to
 * t->others. Returns NULL if memory runs out.
 */
static struct requests_group *new_group(struct requests_table *t,
					enum requests_sort sort,
					const char *name, uint64_t hash)
{
	char *copy = mem_strdup(name);
	struct requests_group *g;

	if (!copy)
		return NULL;
	if (t->nr == REQUESTS_GROUPS_MAX)
		merge_cheap(t, sort);
	if (mem_grow(&t->groups, &t->alloc, t->nr + 1, sizeof(*t->groups)) <
	    0) {
		free(copy);
		return NULL;
	}
	g = &t->groups[t->nr++];
	*g = (struct requests_group){.name = copy, .hash = hash};
	*find_slot(t, name, hash) = (uint32_t)t->nr;
	return g;
}

void requests_make_printable(char *name, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)name[i];

		if (c < 0x20 || c == 0x7f)
			name[i] = '?';
		/* The control characters above 127 begin with the byte 0xc2. */
		else if (c == 0xc2 && i + 1 < len &&
			 (unsigned char)name[i + 1] < 0xa0)
			name[i] = name[i + 1] = '?';
	}
}

/*
 * Append the name of a group of requests. `value` is the value of the JSON
 * member by which requests are grouped. The name is "-" if a request lacks the
 * member, or if the value is null.
 */
static int put_name(struct buf *name, const struct json_value *value)
{
	size_t len;
	int ret;

	if (!value->text || value->kind == JSON_NULL)
		ret = buf_append_char(name, '-');
	else if (value->kind == JSON_STRING)
		ret = json_value_string(name, value);
	else
		ret = buf_append(name, value->text, value->len);
	if (ret < 0)
		return ret;
	len = name->len;
	if (len > REQUESTS_NAME_MAX) {
		len = REQUESTS_NAME_MAX;
		/*
		 * The name was cut off, perhaps inside a UTF-8 character.
		 * Remove the bytes of an incomplete character.
		 */
		while (len && ((unsigned char)name->data[len] & 0xc0) == 0x80)
			len--;
		buf_set_len(name, len);
	}
	if (len)
		requests_make_printable(name->data, len);
	return 0;
}

static int add_to_table(struct requests_table *t, enum requests_sort sort,
			const struct json_value *value,
			const struct requests_cost *cost)
{
	struct buf name = BUF_INIT;
	struct requests_group *g = NULL;
	uint64_t hash;
	int ret = put_name(&name, value);

	if (!ret && !t->slots) {
		t->slots = mem_calloc(SLOTS, sizeof(*t->slots));
		ret = t->slots ? 0 : ERR_NOMEM;
	}
	if (!ret) {
		const char *text = name.len ? name.data : "";
		const uint32_t *slot;

		hash = hash_of(text);
		slot = find_slot(t, text, hash);
		g = *slot ? &t->groups[*slot - 1]
			  : new_group(t, sort, text, hash);
		ret = g ? 0 : ERR_NOMEM;
	}
	if (!ret)
		add_cost(&g->cost, cost);
	buf_release(&name);
	return ret;
}

/* ---- the slowest requests */

/*
 * Returns whether request `a` leaves the heap before request `b`. The request
 * with the smaller key goes first. If the keys are equal, the later line of the
 * log goes first.
 */
static bool is_before(const struct requests_slow *a,
		      const struct requests_slow *b)
{
	return a->key != b->key ? a->key < b->key : a->line_nr > b->line_nr;
}

static void swap(struct requests_slow *a, struct requests_slow *b)
{
	struct requests_slow c = *a;

	*a = *b;
	*b = c;
}

/* Move the last entry of the heap up to its place. */
static void sift_up(struct requests_sums *s)
{
	for (size_t i = s->slow_nr - 1; i; i = (i - 1) / 2) {
		if (!is_before(&s->slow[i], &s->slow[(i - 1) / 2]))
			break;
		swap(&s->slow[i], &s->slow[(i - 1) / 2]);
	}
}

/* Move the first entry of the heap down to its place. */
static void sift_down(struct requests_sums *s)
{
	size_t i = 0, child;

	while ((child = 2 * i + 1) < s->slow_nr) {
		if (child + 1 < s->slow_nr &&
		    is_before(&s->slow[child + 1], &s->slow[child]))
			child++;
		if (!is_before(&s->slow[child], &s->slow[i]))
			break;
		swap(&s->slow[child], &s->slow[i]);
		i = child;
	}
}

static int add_slow(struct requests_sums *s, uint64_t key, const char *line,
		    size_t len)
{
	struct requests_slow slow = {.key = key, .line_nr = s->line_nr};

	if (!s->slow_max ||
	    (s->slow_nr == s->slow_max && !is_before(&s->slow[0], &slow)))
		return 0;
	if (!s->slow)
		s->slow = mem_calloc(s->slow_max, sizeof(*s->slow));
	slow.line = mem_alloc(len + 1, 1);
	if (!s->slow || !slow.line) {
		free(slow.line);
		return ERR_NOMEM;
	}
	memcpy(slow.line, line, len);
	slow.line[len] = '\0';
	slow.len = len;
	if (s->slow_nr < s->slow_max) {
		s->slow[s->slow_nr++] = slow;
		sift_up(s);
		return 0;
	}
	free(s->slow[0].line);
	s->slow[0] = slow;
	sift_down(s);
	return 0;
}

/* ---- records */

static uint64_t number_of(const struct json_value *value)
{
	uint64_t number;

	return json_value_u64(&number, value) ? number : 0;
}

void requests_cost_of(struct requests_cost *cost, const struct record *record)
{
	struct json_members members;
	struct json_member m;
	uint64_t waits = 0;

	*cost = (struct requests_cost){.requests = 1};
	json_members_init(&members, record->value.text, record->value.len);
	while (json_members_next(&members, &m) > 0) {
		if (json_member_is(&m, "error"))
			cost->failed = m.value.kind != JSON_NULL;
		else if (json_member_is(&m, "total_us"))
			cost->total_us = number_of(&m.value);
		else if (json_member_is(&m, "wait_read_us") ||
			 json_member_is(&m, "wait_send_us"))
			waits = sum_of(waits, number_of(&m.value));
		else if (json_member_is(&m, "cpu_user_us") ||
			 json_member_is(&m, "cpu_sys_us"))
			cost->cpu_us = sum_of(cost->cpu_us,
					      number_of(&m.value));
		else if (json_member_is(&m, "bytes_sent"))
			cost->bytes_sent = number_of(&m.value);
	}
	cost->time_us = cost->total_us > waits ? cost->total_us - waits : 0;
	cost->most_us = cost->time_us;
}

/*
 * Returns 1 if the repository in the record has the path `path`, or a path that
 * ends in "/<path>". Returns 0 if not, or ERR_NOMEM.
 */
static int is_about(const struct record *record, const char *path)
{
	struct json_value value;
	struct buf name = BUF_INIT;
	size_t len = strlen(path);
	bool is_same;

	if (!record_find(&value, record, "repository") ||
	    value.kind != JSON_STRING)
		return 0;
	if (json_value_string(&name, &value) < 0)
		return ERR_NOMEM;
	is_same = len <= name.len && len &&
		  !memcmp(name.data + name.len - len, path, len) &&
		  (len == name.len || name.data[name.len - len - 1] == '/');
	buf_release(&name);
	return is_same;
}

static int add_to_tables(struct requests_sums *sums,
			 const struct record *record,
			 const struct requests_cost *cost)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < sums->table_nr; i++) {
		struct json_value value = {.text = NULL};

		record_find(&value, record, sums->tables[i].by);
		ret = add_to_table(&sums->tables[i], sums->sort, &value, cost);
	}
	return ret;
}

static int add_record(struct requests_sums *sums, const struct record *record,
		      const char *line, size_t len)
{
	struct requests_cost cost;
	int ret;

	requests_cost_of(&cost, record);
	add_cost(&sums->all, &cost);
	if (!sums->first_us || record->end_us < sums->first_us)
		sums->first_us = record->end_us;
	if (record->end_us > sums->last_us)
		sums->last_us = record->end_us;
	ret = add_slow(sums, key_of(&cost, sums->sort), line, len);
	return ret < 0 ? ret : add_to_tables(sums, record, &cost);
}

int requests_sums_add(struct requests_sums *sums, const char *line, size_t len)
{
	struct record record;
	int ret = record_parse(&record, line, len);

	sums->line_nr++;
	sums->broken_nr += ret < 0;
	sums->other_nr += !ret;
	if (ret <= 0 || record.end_us < sums->since_us ||
	    record.end_us >= sums->until_us)
		return 0;
	if (sums->repository) {
		ret = is_about(&record, sums->repository);
		if (ret <= 0)
			return ret;
	}
	return add_record(sums, &record, line, len);
}

static int slowest_first(const void *a, const void *b)
{
	const struct requests_slow *x = a, *y = b;

	return is_before(x, y) ? 1 : -1;
}

void requests_sums_finish(struct requests_sums *sums)
{
	if (sums->slow_nr)
		qsort(sums->slow, sums->slow_nr, sizeof(*sums->slow),
		      slowest_first);
	for (size_t i = 0; i < sums->table_nr; i++)
		sort_groups(&sums->tables[i], sums->sort);
}

void requests_sums_release(struct requests_sums *sums)
{
	for (size_t i = 0; i < sums->slow_nr; i++)
		free(sums->slow[i].line);
	free(sums->slow);
	for (size_t i = 0; i < sums->table_nr; i++) {
		struct requests_table *t = &sums->tables[i];

		for (size_t k = 0; k < t->nr; k++)
			free(t->groups[k].name);
		free(t->groups);
		free(t->slots);
	}
}
