/*
 * slurmctld looks for expired time limits once every 30 seconds; the number is a constant in its
 * main loop: difftime(now, last_check) >= 30. This, preloaded into slurmctld alone, makes a
 * difftime() of 2 s and more, but less than 30 s, read as 30, so that the check comes every 2 s
 * and a TIMEOUT comes in seconds. Other chores of the same loop (pings, purges) come sooner too.
 * Clocks, time stamps and what sacct says stay true.
 */
#include <time.h>

double difftime(time_t a, time_t b)
{
	double d = (double)(a - b);

	return d >= 2 && d < 30 ? 30 : d;
}
