/* SPDX-License-Identifier: MIT */
/*
 * Computes how many requests may work at once, from the pressure that the
 * kernel reports (/proc/pressure, "pressure stall information"). The number
 * grows by one at a time, and is halved under pressure, like the congestion
 * window of TCP.
 */
#ifndef ADMISSION_PRESSURE_H
#define ADMISSION_PRESSURE_H

#include <stddef.h>
#include <stdint.h>

/* Seconds between two readings of the pressure. */
#define ADMISSION_PRESSURE_INTERVAL 5

/*
 * Values above these limits count as pressure. Their unit is a hundredth of a
 * percent of the last 10 seconds. On a server at its capacity, some task waits
 * for a processor most of the time, so only a higher value counts as pressure.
 * Tasks wait for memory only if there is too little memory.
 */
#define ADMISSION_PRESSURE_CPU 9000
#define ADMISSION_PRESSURE_MEMORY 1000

/*
 * Returns the field avg10 of the line "some" in hundredths of a percent, or -1
 * if the text has none.
 */
int admission_pressure_parse(const char *text, size_t len);

/*
 * Returns the next number of tokens, between 1 and `max`. The pressures are in
 * hundredths of a percent; -1: unknown.
 */
unsigned admission_pressure_adjust(unsigned token_nr, unsigned max, int cpu,
				   int memory);

#endif
