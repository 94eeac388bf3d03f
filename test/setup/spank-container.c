/*
 * spank-container.c - takes the command-line flags of NVIDIA Pyxis and gives a step what a job
 * script can notice of a container, without one.  For test beds only.
 *
 * srun, sbatch and salloc accept the --container-* flags.  A step with --container-image
 *   - sees the machine's files, but nothing below the hidden folder except what
 *     --container-mounts (SRC:DST[:ro], comma separated) brings in;
 *   - starts in --container-workdir, else in the image's own folder, /workspace;
 *   - has the image's variables, which win over the job's unless named in --container-env.
 * Steps without --container-image are left alone.
 *
 * plugstack.conf:  required .../spank-container.so log=FILE root=DIR hide=DIR imageenv=FILE
 *   log       one line per step and node, tab-separated: job=.. step=.. node=.. uid=.. and the
 *             flags given (IMAGE=..).  Step 4294967291 is sbatch's batch script.
 *   root      an empty folder, where the step's file system is put together
 *   hide      the folder that is covered
 *   imageenv  NAME=value lines
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <slurm/spank.h>
#include "slurm/image.h"

SPANK_PLUGIN(container, 1);

enum { IMAGE, MOUNTS, WORKDIR, ENV, NAME, SAVE, MOUNT_HOME, NO_MOUNT_HOME, REMAP_ROOT, NO_REMAP_ROOT,
       ENTRYPOINT, NO_ENTRYPOINT, WRITABLE, READONLY, NFLAGS };

static struct {
	char *name;	/* command-line flag, without the leading dashes */
	char *arginfo;	/* NULL: the flag takes no value */
	char *value;	/* what the user gave, NULL: flag not given */
} flags[NFLAGS] = {
	[IMAGE] = { "container-image", "IMAGE", NULL },
	[MOUNTS] = { "container-mounts", "SRC:DST[:ro]", NULL },
	[WORKDIR] = { "container-workdir", "PATH", NULL },
	[ENV] = { "container-env", "NAME[,NAME]", NULL },
	[NAME] = { "container-name", "NAME", NULL },
	[SAVE] = { "container-save", "PATH", NULL },
	[MOUNT_HOME] = { "container-mount-home", NULL, NULL },
	[NO_MOUNT_HOME] = { "no-container-mount-home", NULL, NULL },
	[REMAP_ROOT] = { "container-remap-root", NULL, NULL },
	[NO_REMAP_ROOT] = { "no-container-remap-root", NULL, NULL },
	[ENTRYPOINT] = { "container-entrypoint", NULL, NULL },
	[NO_ENTRYPOINT] = { "no-container-entrypoint", NULL, NULL },
	[WRITABLE] = { "container-writable", NULL, NULL },
	[READONLY] = { "container-readonly", NULL, NULL },
};

/* Called once per flag given: locally in srun/sbatch, remotely in slurmstepd. */
static int on_flag(int flag, const char *value, int remote)
{
	(void)remote;
	if (flags[flag].arginfo && (!value || !*value)) {
		slurm_error("container: --%s: empty value", flags[flag].name);
		return ESPANK_BAD_ARG;
	}
	free(flags[flag].value);
	flags[flag].value = strdup(flags[flag].arginfo ? value : "1");
	return flags[flag].value ? ESPANK_SUCCESS : ESPANK_ERROR;
}

int slurm_spank_init(spank_t sp, int ac, char **av)
{
	(void)ac; (void)av;
	if (spank_context() == S_CTX_SLURMD)
		return ESPANK_SUCCESS;
	/* A step keeps the children of its ended processes, as it does with cgroups. */
	if (spank_context() == S_CTX_REMOTE)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (int i = 0; i < NFLAGS; i++) {
		struct spank_option opt = {
			.name = flags[i].name,
			.arginfo = flags[i].arginfo,
			.usage = "[test bed] as in Pyxis",
			.has_arg = flags[i].arginfo != NULL,
			.val = i,
			.cb = on_flag,
		};
		if (spank_option_register(sp, &opt) != ESPANK_SUCCESS)
			return ESPANK_ERROR;
	}
	return ESPANK_SUCCESS;
}

/* The value of one KEY=value of plugstack.conf, NULL if it is not there. */
static const char *setting(int ac, char **av, const char *key)
{
	size_t n = strlen(key);

	for (int i = 0; i < ac; i++)
		if (!strncmp(av[i], key, n) && av[i][n] == '=')
			return av[i] + n + 1;
	return NULL;
}

static void log_line(const char *path, const char *line)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, line, strlen(line)) < 0)
		slurm_error("container: cannot write %s: %m", path);
	if (fd >= 0)
		close(fd);
}

/* One line, one write(): nodes append to the same file. */
static void log_step(spank_t sp, const char *path)
{
	char line[16384], node[256] = "?";
	uint32_t job = 0, step = 0;
	uid_t uid = 0;
	size_t n;

	spank_get_item(sp, S_JOB_ID, &job);
	spank_get_item(sp, S_JOB_STEPID, &step);
	spank_get_item(sp, S_JOB_UID, &uid);
	gethostname(node, sizeof(node) - 1);
	n = snprintf(line, sizeof(line), "job=%u\tstep=%u\tnode=%s\tuid=%u", job, step, node, (unsigned)uid);
	for (int i = 0; i < NFLAGS && n < sizeof(line); i++)
		if (flags[i].value)
			n += snprintf(line + n, sizeof(line) - n, "\t%s=%s", flags[i].name, flags[i].value);
	if (n > sizeof(line) - 2)
		n = sizeof(line) - 2;
	strcpy(line + n, "\n");
	log_line(path, line);
}

/* Is NAME one of the comma-separated LIST? */
static int listed(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = list; at && *at; at = *at == ',' ? at + 1 : at) {
		size_t len = strcspn(at, ",");

		if (len == n && !strncmp(at, name, n))
			return 1;
		at += len;
	}
	return 0;
}

static int set_image_variables(spank_t sp, const char *path)
{
	char line[8192], had[2];
	FILE *file = fopen(path, "re");

	if (!file) {
		slurm_error("container: cannot read %s: %m", path);
		return -1;
	}
	while (fgets(line, sizeof(line), file)) {
		char *value = strchr(line, '=');

		line[strcspn(line, "\n")] = 0;
		if (!value || *line == '#')
			continue;
		*value++ = 0;
		if (listed(flags[ENV].value, line) &&
		    spank_getenv(sp, line, had, sizeof(had)) != ESPANK_ENV_NOEXIST)
			continue;
		spank_setenv(sp, line, value, 1);
	}
	fclose(file);
	return 0;
}

/* What the first of the two hooks leaves for the second, in the same process. */
static struct {
	enum { UNTOUCHED, INSIDE, SEEN_ALL, FAILED } state;
	char folder[PATH_MAX];	/* the job's */
} task;

int slurm_spank_task_init_privileged(spank_t sp, int ac, char **av)
{
	const char *log = setting(ac, av, "log"), *root = setting(ac, av, "root");
	const char *hide = setting(ac, av, "hide"), *image = setting(ac, av, "imageenv");
	int id = 0, given = 0;
	uid_t uid = 0;

	for (int i = 0; i < NFLAGS; i++)
		given |= flags[i].value != NULL;
	spank_get_item(sp, S_TASK_ID, &id);
	if (given && id == 0)
		log_step(sp, log);
	if (!flags[IMAGE].value)
		return ESPANK_SUCCESS;
	spank_get_item(sp, S_JOB_UID, &uid);
	if (set_image_variables(sp, image) || !getcwd(task.folder, sizeof(task.folder))) {
		task.state = FAILED;
	} else if (unshare(CLONE_NEWNS)) {
		log_line(log, "NO MOUNT NAMESPACE: nothing is hidden, nothing is mounted\n");
		task.state = SEEN_ALL;
	} else {
		task.state = image_enter(root, hide, flags[MOUNTS].value, task.folder, uid) ? FAILED : INSIDE;
	}
	return ESPANK_SUCCESS;	/* slurmstepd would only log an error, and go on */
}

/* As the job's user, right before the program. */
int slurm_spank_task_init(spank_t sp, int ac, char **av)
{
	const char *workdir = flags[WORKDIR].value;

	(void)sp;
	if (task.state == UNTOUCHED)
		return ESPANK_SUCCESS;
	if (task.state == FAILED)
		_exit(1);	/* an error as return value would read as success to srun */
	if (!workdir && task.state == INSIDE)
		workdir = "/workspace";
	if (workdir && chdir(workdir)) {
		slurm_error("container: --container-workdir=%s: %m", workdir);
		_exit(1);
	}
	if (task.state == INSIDE)
		image_leave_job_folder(task.folder, setting(ac, av, "hide"));
	return ESPANK_SUCCESS;
}
