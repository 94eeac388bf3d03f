/*
 * oom JOBID: end a running job as OUT_OF_MEMORY.
 *
 * Only the cgroup plugins ever report that state, from the kernel's events, and there are no
 * cgroups here. So this says to slurmctld, as a slurmstepd would: the job ended, its status was
 * Slurm's own code for an oom kill (SIG_OOM, 253). slurmctld does all the rest.
 */
#include <stdlib.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	slurm_init(NULL);
	if (slurm_complete_job(strtoul(argv[1], NULL, 10), 253)) {
		slurm_perror("oom");
		return 1;
	}
	return 0;
}
