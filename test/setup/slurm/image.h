/* What a container step sees of the file system. For a process in a mount namespace of its own. */
#include <sys/types.h>

/*
 * As root: makes ROOT (an empty folder) the process's file system, with all of the machine's top
 * folders, an empty HIDE but for what MOUNTS (a --container-mounts value or NULL) brings in, and a
 * writable /workspace. FOLDER is where slurmstepd will go next, as user UID. The mounts go when
 * the process goes.  Returns 0, or -1 after it has said why.
 */
int image_enter(const char *root, const char *hide, const char *mounts, const char *folder, uid_t uid);

/* As the user: takes away the folder that was made only for slurmstepd to go to. Changes PATH. */
void image_leave_job_folder(char *path, const char *hide);
