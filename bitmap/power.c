/* SPDX-License-Identifier: MIT */
/*
 * Computes powers with real exponents by squaring. The fraction of the exponent
 * is handled by repeated square roots.
 */
#include "bitmap/pseudo-select.h"

enum { FRACTION_BITS = 48 };

/*
 * From this exponent on, the power of every base of 2 or more is too large for
 * a double, and so is infinite.
 */
#define LARGEST_EXPONENT 1024

/* Returns the square root of a number of 1 or more, by Newton's method. */
static double square_root(double x)
{
	double root = x, next;

	/*
	 * Each step makes `root` smaller, by less than the step before. The
	 * loop ends when the decrease is so small that it is lost when `next`
	 * is rounded to a double.
	 */
	while ((next = (root + x / root) / 2) < root)
		root = next;
	return root;
}

static double whole_power(double x, uint64_t n)
{
	double result = 1;

	for (; n; n >>= 1, x *= x)
		if (n & 1)
			result *= x;
	return result;
}

double power(uint32_t base, double exponent)
{
	double x = base, result, fraction;
	uint64_t whole;

	if (exponent > LARGEST_EXPONENT)
		exponent = LARGEST_EXPONENT;
	whole = (uint64_t)exponent;
	fraction = exponent - (double)whole;
	result = whole_power(x, whole);
	for (int i = 0; i < FRACTION_BITS && fraction > 0; i++) {
		x = square_root(x);
		fraction *= 2;
		if (fraction >= 1) {
			result *= x;
			fraction -= 1;
		}
	}
	return result;
}
