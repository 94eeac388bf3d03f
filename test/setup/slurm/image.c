#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include <slurm/spank.h>
#include "image.h"

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

/* Splits a --container-mounts value and opens the sources. Returns how many, or -1. */
static int open_binds(const char *mounts, struct bind *binds, int max)
{
	char *rest = mounts ? strdup(mounts) : NULL, *item;
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
 * slurmstepd changes into the job's folder after image_enter(), and complains in the
 * step's output if it is not there.  So an empty one of the user's own is put in its place, which
 * image_leave_job_folder() takes away again.
 */
static void make_job_folder(const char *path, uid_t uid, const dev_t own[2])
{
	if (!seteuid(uid)) {
		make_target(path, 1, own);
		if (seteuid(0))
			abort();
	}
}

void image_leave_job_folder(char *path, const char *hide)
{
	while (strlen(path) > strlen(hide) && !rmdir(path))
		*strrchr(path, '/') = 0;
	chmod(hide, 0555);
}

int image_enter(const char *root, const char *hide, const char *mounts, const char *folder, uid_t uid)
{
	static struct bind binds[64];
	struct stat top, hidden;
	char options[64];
	int n = open_binds(mounts, binds, 64);

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
