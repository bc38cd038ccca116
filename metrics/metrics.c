/* SPDX-License-Identifier: MIT */
/* Keeps the numbers of metrics in shared memory, and prints them. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "metrics/metrics.h"
#include "sys/process.h"

struct metrics {
	const struct metrics_family *families; /* borrowed */
	size_t nr;
	size_t size; /* bytes of `numbers` */
	/*
	 * owned array, indexed by family: the index in `numbers` of the
	 * family's first number
	 */
	size_t *starts;
	_Atomic uint64_t *numbers;
};

/* ---- cells */

static size_t cell_nr(const struct metrics_family *f)
{
	size_t nr = 1;

	for (unsigned i = 0; i < f->label_nr; i++)
		nr *= f->labels[i]->nr;
	return nr;
}

/*
 * Returns how many numbers a cell of the family has. A cell of a histogram has
 * one number for each bound, one for observations above the last bound, and the
 * sum.
 */
static size_t cell_size(const struct metrics_family *f)
{
	return f->kind == METRICS_HISTOGRAM ? f->bound_nr + 2 : 1;
}

/*
 * Returns a struct metrics whose starts[] are computed but whose numbers are
 * not allocated yet, or NULL if memory runs out.
 */
static struct metrics *make(const struct metrics_family *families, size_t nr)
{
	struct metrics *m = mem_calloc(1, sizeof(*m));
	size_t number_nr = 0;

	if (m)
		m->starts = mem_alloc(nr, sizeof(*m->starts));
	if (!m || !m->starts) {
		free(m);
		return NULL;
	}
	m->families = families;
	m->nr = nr;
	for (size_t i = 0; i < nr; i++) {
		m->starts[i] = number_nr;
		number_nr += cell_nr(&families[i]) * cell_size(&families[i]);
	}
	m->size = number_nr * sizeof(*m->numbers);
	return m;
}

struct metrics *metrics_new(const struct metrics_family *families, size_t nr,
			    struct error *err)
{
	struct metrics *m = make(families, nr);

	if (m)
		m->numbers = sys_memory_shared(m->size);
	if (m && m->numbers)
		return m;
	metrics_free(m);
	error_nomem(err);
	return NULL;
}

struct metrics *metrics_open(const struct metrics_family *families, size_t nr,
			     const char *path, struct error *err)
{
	struct metrics *m = make(families, nr);

	if (!m) {
		error_nomem(err);
		return NULL;
	}
	m->numbers = sys_memory_file(path, m->size, err);
	if (m->numbers)
		return m;
	metrics_free(m);
	return NULL;
}

void metrics_free(struct metrics *m)
{
	if (!m)
		return;
	if (m->numbers)
		sys_memory_unshare((void *)m->numbers, m->size);
	free(m->starts);
	free(m);
}

static _Atomic uint64_t *find(const struct metrics *m, unsigned family,
			      const unsigned *values)
{
	const struct metrics_family *f = &m->families[family];
	size_t cell = 0;

	for (unsigned i = 0; i < f->label_nr; i++)
		cell = cell * f->labels[i]->nr + values[i];
	return m->numbers + m->starts[family] + cell * cell_size(f);
}

static void add(_Atomic uint64_t *number, uint64_t n)
{
	atomic_fetch_add_explicit(number, n, memory_order_relaxed);
}

void metrics_add(struct metrics *m, unsigned family, const unsigned *values,
		 uint64_t number)
{
	add(find(m, family, values), number);
}

void metrics_set(struct metrics *m, unsigned family, const unsigned *values,
		 uint64_t number)
{
	atomic_store_explicit(find(m, family, values), number,
			      memory_order_relaxed);
}

void metrics_observe(struct metrics *m, unsigned family, const unsigned *values,
		     uint64_t number)
{
	const struct metrics_family *f = &m->families[family];
	_Atomic uint64_t *cell = find(m, family, values);
	unsigned i = 0;

	while (i < f->bound_nr && number > f->bounds[i])
		i++;
	add(&cell[i], 1);
	add(&cell[f->bound_nr + 1], number);
}

static uint64_t get(const _Atomic uint64_t *number)
{
	return atomic_load_explicit(number, memory_order_relaxed);
}

uint64_t metrics_get(const struct metrics *m, unsigned family,
		     const unsigned *values)
{
	return get(find(m, family, values));
}

/* ---- text */

/*
 * Appends a number. It is converted from the unit in which it is counted to the
 * unit in which it is printed (struct metrics_family).
 */
static int put_number(struct buf *out, const struct metrics_family *f,
		      uint64_t number)
{
	if (f->scale == 1)
		return buf_printf(out, "%" PRIu64, number);
	return buf_printf(out, "%" PRIu64 ".%06" PRIu64, number / f->scale,
			  number % f->scale * (1000000 / f->scale));
}

/*
 * The state of printing one cell: the numbers of a family for one value of each
 * label.
 */
struct sample {
	struct buf *out;
	const struct metrics_family *family;
	size_t cell;
};

/* Appends the labels of a cell; `le` is a further label, or NULL. */
static int put_labels(const struct sample *s, const char *le)
{
	const struct metrics_family *f = s->family;
	size_t below = cell_nr(f), rest = s->cell;
	const char *comma = "";
	int ret;

	if (!f->label_nr && !le)
		return 0;
	ret = buf_append_char(s->out, '{');
	for (unsigned i = 0; !ret && i < f->label_nr; i++) {
		const struct metrics_label *label = f->labels[i];

		below /= label->nr;
		ret = buf_printf(s->out, "%s%s=\"%s\"", comma, label->name,
				 label->values[rest / below]);
		rest %= below;
		comma = ",";
	}
	if (!ret && le)
		ret = buf_printf(s->out, "%sle=\"%s\"", comma, le);
	return ret ? ret : buf_append_char(s->out, '}');
}

/*
 * Appends one line. If `is_count` is true, the number is printed unchanged.
 * Otherwise it is converted to the unit of the family.
 */
static int put_line(const struct sample *s, const char *suffix, const char *le,
		    uint64_t number, bool is_count)
{
	int ret = buf_printf(s->out, "%s%s", s->family->name, suffix);

	if (!ret)
		ret = put_labels(s, le);
	if (!ret)
		ret = buf_append_char(s->out, ' ');
	if (!ret && is_count)
		ret = buf_printf(s->out, "%" PRIu64, number);
	else if (!ret)
		ret = put_number(s->out, s->family, number);
	return ret ? ret : buf_append_char(s->out, '\n');
}

/*
 * Prints a histogram: the number for each bound includes the numbers of all
 * lower bounds.
 */
static int put_histogram(const struct sample *s,
			 const _Atomic uint64_t *numbers)
{
	const struct metrics_family *f = s->family;
	struct buf le = BUF_INIT;
	uint64_t sum = get(&numbers[f->bound_nr + 1]), count = 0;
	int ret = 0;

	for (unsigned i = 0; !ret && i < f->bound_nr; i++) {
		count += get(&numbers[i]);
		buf_reset(&le);
		ret = put_number(&le, f, f->bounds[i]);
		if (!ret)
			ret = put_line(s, "_bucket", le.data, count, true);
	}
	buf_release(&le);
	count += get(&numbers[f->bound_nr]);
	if (!ret)
		ret = put_line(s, "_bucket", "+Inf", count, true);
	if (!ret)
		ret = put_line(s, "_sum", NULL, sum, false);
	return ret ? ret : put_line(s, "_count", NULL, count, true);
}

static int put_cell(const struct sample *s, const _Atomic uint64_t *numbers)
{
	const struct metrics_family *f = s->family;
	bool is_used = !f->label_nr;

	for (size_t i = 0; i < cell_size(f); i++)
		is_used = is_used || get(&numbers[i]);
	if (!is_used)
		return 0;
	if (f->kind == METRICS_HISTOGRAM)
		return put_histogram(s, numbers);
	return put_line(s, f->kind == METRICS_COUNTER ? "_total" : "", NULL,
			get(numbers), false);
}

static int put_head(struct buf *out, const struct metrics_family *f,
		    enum metrics_format format)
{
	static const char *const kinds[] = {"counter", "gauge", "histogram"};
	/*
	 * In the Prometheus format, the lines HELP and TYPE name a counter with
	 * "_total". In OpenMetrics, they name it without this suffix.
	 */
	const char *suffix = f->kind == METRICS_COUNTER &&
					     format == METRICS_PROMETHEUS
				     ? "_total"
				     : "";

	return buf_printf(out, "# HELP %s%s %s\n# TYPE %s%s %s\n", f->name,
			  suffix, f->help, f->name, suffix, kinds[f->kind]);
}

int metrics_print_part(struct buf *out, const struct metrics *m,
		       enum metrics_format format)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < m->nr; i++) {
		const struct metrics_family *f = &m->families[i];
		struct sample s = {out, f, 0};

		ret = put_head(out, f, format);
		for (; !ret && s.cell < cell_nr(f); s.cell++)
			ret = put_cell(&s, m->numbers + m->starts[i] +
						   s.cell * cell_size(f));
	}
	return ret;
}

int metrics_print(struct buf *out, const struct metrics *m,
		  enum metrics_format format)
{
	int ret = metrics_print_part(out, m, format);

	if (!ret && format == METRICS_OPENMETRICS)
		ret = buf_append_str(out, "# EOF\n");
	return ret;
}
