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
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include <slurm/spank.h>

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

/*
 * Makes PATH, and what is missing above it, as a mount point for a folder or a file.  Only in file
 * systems of this step's own: nothing may be left behind on the machine.
 */
static int make_target(const char *path, int is_dir, const dev_t own[2])
{
	char part[PATH_MAX];
	struct stat st;

	for (size_t i = 1; path[i - 1]; i++) {
		int last = !path[i];

		if (path[i] != '/' && !last)
			continue;
		snprintf(part, sizeof(part), "%.*s", (int)i, path);
		if (!stat(part, &st)) {
			if (last || S_ISDIR(st.st_mode))
				continue;
			return -1;
		}
		char parent[PATH_MAX];
		snprintf(parent, sizeof(parent), "%s", part);
		*(strrchr(parent, '/') == parent ? parent + 1 : strrchr(parent, '/')) = 0;
		if (stat(parent, &st) || (st.st_dev != own[0] && st.st_dev != own[1])) {
			errno = ENOENT;
			return -1;
		}
		int rc = last && !is_dir ? mknod(part, S_IFREG | 0644, 0) : mkdir(part, 0755);
		if (rc)
			return -1;
	}
	return 0;
}

struct bind {
	int fd;		/* the source, opened before anything is covered */
	int is_dir;
	int readonly;
	char target[PATH_MAX];
};

/* Splits --container-mounts and opens the sources. Returns how many, or -1. */
static int open_binds(struct bind *binds, int max)
{
	char *rest = flags[MOUNTS].value ? strdup(flags[MOUNTS].value) : NULL, *item;
	int n = 0;

	for (char *at = rest; (item = strsep(&at, ","));) {
		struct bind *b = &binds[n];
		struct stat st;
		char *src = strsep(&item, ":"), *dst = strsep(&item, ":");

		if (!dst)
			dst = src;
		b->fd = open(src, O_PATH | O_CLOEXEC);
		if (n == max || *dst != '/' || b->fd < 0 || fstat(b->fd, &st)) {
			slurm_error("container: cannot mount %s at %s: %m", src, dst);
			return -1;
		}
		b->is_dir = S_ISDIR(st.st_mode);
		b->readonly = item && !strcmp(item, "ro");
		snprintf(b->target, sizeof(b->target), "%s", dst);
		n++;
	}
	free(rest);
	return n;
}

/* An empty file system at ROOT that shows all the top folders of the machine. */
static int make_root(const char *root)
{
	DIR *top = opendir("/");
	char to[PATH_MAX], from[PATH_MAX], link[PATH_MAX];
	struct dirent *entry;

	if (!top || mount("tmpfs", root, "tmpfs", 0, "mode=755"))
		return -1;
	while ((entry = readdir(top))) {
		struct stat st;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		snprintf(from, sizeof(from), "/%s", entry->d_name);
		snprintf(to, sizeof(to), "%s/%s", root, entry->d_name);
		if (lstat(from, &st))
			return -1;
		if (S_ISLNK(st.st_mode)) {
			ssize_t len = readlink(from, link, sizeof(link) - 1);

			if (len < 0)
				return -1;
			link[len] = 0;
			if (symlink(link, to))
				return -1;
		} else if (S_ISDIR(st.st_mode)) {
			if (mkdir(to, 0755) || mount(from, to, NULL, MS_BIND | MS_REC, NULL))
				return -1;
		}
	}
	closedir(top);
	snprintf(to, sizeof(to), "%s/workspace", root);
	if (mkdir(to, 0777) || chmod(to, 01777))
		return errno == EEXIST ? 0 : -1;
	return 0;
}

/*
 * slurmstepd changes into the job's folder between the two hooks below, and complains in the
 * step's output if it is not there.  So an empty one of the user's own is put in its place, which
 * leave_job_folder() takes away again.
 */
static void make_job_folder(const char *path, uid_t uid, const dev_t own[2])
{
	if (!seteuid(uid)) {
		make_target(path, 1, own);
		if (seteuid(0))
			abort();
	}
}

static void leave_job_folder(char *path, const char *hide)
{
	while (strlen(path) > strlen(hide) && !rmdir(path))
		*strrchr(path, '/') = 0;
	chmod(hide, 0555);
}

/* As root, in the task's own process. The mounts go when the task goes. */
static int enter_image(const char *root, const char *hide, const char *folder, uid_t uid)
{
	static struct bind binds[64];
	struct stat top, hidden;
	char options[64];
	int n = open_binds(binds, 64);

	if (n < 0)
		return -1;
	snprintf(options, sizeof(options), "mode=755,uid=%u", (unsigned)uid);
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) || make_root(root) || chroot(root) || chdir("/") ||
	    mount("tmpfs", hide, "tmpfs", 0, options) || stat("/", &top) || stat(hide, &hidden)) {
		slurm_error("container: cannot make the image's file system: %m");
		return -1;
	}
	for (struct bind *b = binds; b < binds + n; b++) {
		char source[64];

		snprintf(source, sizeof(source), "/proc/self/fd/%d", b->fd);
		if (make_target(b->target, b->is_dir, (dev_t[]){ top.st_dev, hidden.st_dev }) ||
		    mount(source, b->target, NULL, MS_BIND | MS_REC, NULL) ||
		    (b->readonly && mount(NULL, b->target, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL))) {
			slurm_error("container: cannot mount at %s: %m", b->target);
			return -1;
		}
		close(b->fd);
	}
	if (!strncmp(folder, hide, strlen(hide)) && folder[strlen(hide)] == '/')
		make_job_folder(folder, uid, (dev_t[]){ top.st_dev, hidden.st_dev });
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
		task.state = enter_image(root, hide, task.folder, uid) ? FAILED : INSIDE;
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
		leave_job_folder(task.folder, setting(ac, av, "hide"));
	return ESPANK_SUCCESS;
}
