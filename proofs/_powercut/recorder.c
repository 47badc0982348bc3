/* A preloaded recorder: it logs, in their order, the writes, length changes, directory operations and syncs
   that one process makes under one folder.

   The folder is RECORDER_FOLDER (absolute, without links, empty at the start), the log is
   RECORDER_LOG, outside of it. A write to the file `acknowledged` in the folder is logged as a mark
   instead of a write. Files whose name ends in `-shm` are left out: SQLite maps them into memory and rebuilds
   them when it opens. The book itself is not mapped (mmap_size is 0); a file mapped to be written spoils
   the record, and is reported.

   An operation and its entry are one step under one lock, so that the log's order is the order in which the
   operations took effect. A sync has two entries and is not under the lock: it vouches only for what was
   logged before its begin, and only once its end is logged. Whatever is missed here shows later: the folder
   replayed from the log has to equal the folder itself, and a sync that was missed only makes the images
   harsher. Children are not recorded. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAGIC 0x43504c31u
#define MOST_DESCRIPTORS 65536

/* record.py reads these numbers. */
enum kind {
    CREATE = 1, MKDIR, WRITE, LENGTH, SYNC_BEGIN, SYNC_END, RENAME, UNLINK, LINK, MARK, UNRECORDABLE,
};
enum role { FOREIGN = 0, ORDINARY, DIRECTORY, MARKS };

struct entry {
    uint32_t magic, kind;
    uint64_t sequence, inode, offset;
    uint32_t path_length, data_length;
};

struct descriptor {
    enum role role;
    uint64_t inode;
    char *path; /* of a directory only, relative to the folder; never freed: they are few */
};

static struct descriptor descriptors[MOST_DESCRIPTORS];
static char folder[PATH_MAX];
static size_t folder_length;
static int log_descriptor = -1;
static pid_t recorded_process;
static uint64_t next_sequence;
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

/* The function that this file stands in front of. */
#define REAL(name)                                                                                          \
    ({                                                                                                      \
        static __typeof__(&name) found;                                                                     \
        if (!found) found = (__typeof__(&name))real(#name);                                                 \
        found;                                                                                              \
    })

static void fail(const char *what) {
    fprintf(stderr, "recorder: %s: %s\n", what, strerror(errno));
    abort();
}

static void *real(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) fail(name);
    return found;
}

__attribute__((constructor)) static void start(void) {
    const char *wanted = getenv("RECORDER_FOLDER"), *log = getenv("RECORDER_LOG");
    if (!wanted || !log || strlen(wanted) >= sizeof folder) fail("no folder or no log is named");
    log_descriptor = REAL(open)(log, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    if (log_descriptor < 0) fail(log);
    strcpy(folder, wanted);
    folder_length = strlen(folder);
    recorded_process = getpid();
    unsetenv("LD_PRELOAD");
}

/* A child made by vfork shares this memory: it must neither log nor touch the table. */
static int recording(void) { return log_descriptor >= 0 && getpid() == recorded_process; }

static struct descriptor *known(int fd) {
    if (fd < 0 || fd >= MOST_DESCRIPTORS || descriptors[fd].role == FOREIGN || !recording()) return NULL;
    return &descriptors[fd];
}

/* The lock is held by whoever calls this; errno is left as it was. */
static uint64_t record(enum kind kind, uint64_t inode, uint64_t offset, const char *path, size_t path_length,
                       const void *data, size_t data_length) {
    int before = errno;
    struct entry entry = {
        MAGIC, kind, next_sequence++, inode, offset, (uint32_t)path_length, (uint32_t)data_length,
    };
    struct iovec parts[3] = {
        {&entry, sizeof entry}, {(void *)path, path_length}, {(void *)data, data_length},
    };
    ssize_t whole = (ssize_t)(sizeof entry + path_length + data_length);
    if (REAL(writev)(log_descriptor, parts, 3) != whole) fail("the log cannot be written");
    errno = before;
    return entry.sequence;
}

static uint64_t record_path(enum kind kind, uint64_t inode, const char *path) {
    return record(kind, inode, 0, path, strlen(path), NULL, 0);
}

/* Whether the path lies in the folder; if so, `relative` becomes its name there ("." for the folder). */
static int inside(int directory, const char *path, char relative[PATH_MAX]) {
    char whole[2 * PATH_MAX] = "";
    if (!recording() || !path) return 0;
    if (path[0] != '/') {
        char link[64];
        snprintf(link, sizeof link, directory == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", directory);
        ssize_t length = readlink(link, whole, PATH_MAX - 1);
        if (length < 0) return 0;
        whole[length] = '/';
    }
    if (strlen(path) >= PATH_MAX) return 0;
    strcat(whole, path);
    if (strncmp(whole, folder, folder_length) != 0) return 0;
    const char *rest = whole + folder_length;
    if (*rest && *rest != '/') return 0;
    while (*rest == '/') rest++;
    size_t length = strlen(rest);
    while (length && rest[length - 1] == '/') length--;
    if (length >= 4 && strncmp(rest + length - 4, "-shm", 4) == 0) return 0;
    snprintf(relative, PATH_MAX, "%.*s", length ? (int)length : 1, length ? rest : ".");
    return 1;
}

static int is_marks(const char *relative) { return strcmp(relative, "acknowledged") == 0; }

static void opened(int fd, int existed, int flags, const char *relative) {
    struct stat status;
    if (fd >= MOST_DESCRIPTORS || fstat(fd, &status) != 0) fail("an open file cannot be followed");
    struct descriptor *descriptor = &descriptors[fd];
    *descriptor = (struct descriptor){FOREIGN, status.st_ino, NULL};
    if (S_ISDIR(status.st_mode)) {
        descriptor->role = DIRECTORY;
        descriptor->path = strdup(relative);
    } else if (S_ISREG(status.st_mode)) {
        descriptor->role = is_marks(relative) ? MARKS : ORDINARY;
        if (descriptor->role == MARKS) return;
        if (!existed) record_path(CREATE, status.st_ino, relative);
        else if (flags & O_TRUNC) record(LENGTH, status.st_ino, 0, NULL, 0, NULL, 0);
    }
}

static int open_at(int directory, const char *path, int flags, mode_t mode) {
    char relative[PATH_MAX];
    if (!inside(directory, path, relative)) return REAL(openat)(directory, path, flags, mode);
    pthread_mutex_lock(&order);
    int existed = faccessat(directory, path, F_OK, 0) == 0;
    int fd = REAL(openat)(directory, path, flags, mode);
    if (fd >= 0) opened(fd, existed, flags, relative);
    pthread_mutex_unlock(&order);
    return fd;
}

static mode_t mode_of(int flags, va_list rest) { return flags & O_CREAT ? va_arg(rest, mode_t) : 0; }

#define OPEN(name)                                                                                          \
    int name(const char *path, int flags, ...) {                                                            \
        va_list rest;                                                                                       \
        va_start(rest, flags);                                                                              \
        mode_t mode = mode_of(flags, rest);                                                                 \
        va_end(rest);                                                                                       \
        return open_at(AT_FDCWD, path, flags, mode);                                                        \
    }
#define OPENAT(name)                                                                                        \
    int name(int directory, const char *path, int flags, ...) {                                             \
        va_list rest;                                                                                       \
        va_start(rest, flags);                                                                              \
        mode_t mode = mode_of(flags, rest);                                                                 \
        va_end(rest);                                                                                       \
        return open_at(directory, path, flags, mode);                                                       \
    }
OPEN(open)
OPENAT(openat)
int creat(const char *path, mode_t mode) {
    return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int close(int fd) {
    if (known(fd)) descriptors[fd].role = FOREIGN;
    return REAL(close)(fd);
}

static int copied(int from, int to) {
    if (to >= 0 && to < MOST_DESCRIPTORS && recording())
        descriptors[to] = known(from) ? descriptors[from] : (struct descriptor){FOREIGN, 0, NULL};
    return to;
}

int dup(int fd) { return copied(fd, REAL(dup)(fd)); }
int dup2(int fd, int wanted) { return copied(fd, REAL(dup2)(fd, wanted)); }
int dup3(int fd, int wanted, int flags) { return copied(fd, REAL(dup3)(fd, wanted, flags)); }

#define FCNTL(name)                                                                                         \
    int name(int fd, int command, ...) {                                                                    \
        va_list rest;                                                                                       \
        va_start(rest, command);                                                                            \
        void *argument = va_arg(rest, void *);                                                              \
        va_end(rest);                                                                                       \
        int result = REAL(name)(fd, command, argument);                                                     \
        return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? copied(fd, result) : result;              \
    }
FCNTL(fcntl)

/* One write, whichever call made it: `offset` is negative where the descriptor's own position is meant. */
static ssize_t write_parts(int fd, const struct iovec *parts, int count, off_t offset) {
    struct descriptor *descriptor = known(fd);
    pthread_mutex_lock(&order);
    ssize_t written = offset < 0 ? REAL(writev)(fd, parts, count) : REAL(pwritev)(fd, parts, count, offset);
    if (written > 0) {
        if (offset < 0) offset = lseek(fd, 0, SEEK_CUR) - written;
        char *data = malloc((size_t)written);
        if (!data) fail("no memory");
        size_t filled = 0;
        for (int part = 0; part < count && filled < (size_t)written; part++) {
            size_t left = (size_t)written - filled, length = parts[part].iov_len;
            memcpy(data + filled, parts[part].iov_base, length < left ? length : left);
            filled += length < left ? length : left;
        }
        enum kind kind = descriptor->role == MARKS ? MARK : WRITE;
        record(kind, descriptor->inode, (uint64_t)offset, NULL, 0, data, (size_t)written);
        free(data);
    }
    pthread_mutex_unlock(&order);
    return written;
}

ssize_t write(int fd, const void *data, size_t length) {
    struct iovec part = {(void *)data, length};
    return known(fd) ? write_parts(fd, &part, 1, -1) : REAL(write)(fd, data, length);
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
    return known(fd) ? write_parts(fd, parts, count, -1) : REAL(writev)(fd, parts, count);
}
#define PWRITE(name)                                                                                        \
    ssize_t name(int fd, const void *data, size_t length, off_t offset) {                                   \
        struct iovec part = {(void *)data, length};                                                         \
        return known(fd) ? write_parts(fd, &part, 1, offset) : REAL(name)(fd, data, length, offset);        \
    }
#define PWRITEV(name)                                                                                       \
    ssize_t name(int fd, const struct iovec *parts, int count, off_t offset) {                              \
        return known(fd) ? write_parts(fd, parts, count, offset) : REAL(name)(fd, parts, count, offset);    \
    }
#define PWRITEV2(name)                                                                                      \
    ssize_t name(int fd, const struct iovec *parts, int count, off_t offset, int flags) {                   \
        if (!known(fd)) return REAL(name)(fd, parts, count, offset, flags);                                 \
        if (flags == 0) return write_parts(fd, parts, count, offset);                                       \
        errno = EOPNOTSUPP;                                                                                 \
        return -1;                                                                                          \
    }
PWRITE(pwrite)
PWRITEV(pwritev)
PWRITEV2(pwritev2)

/* Both report that the kernel cannot do it here: callers fall back on read and write, which are recorded. */
#define REFUSED(fd, call) (known(fd) ? (errno = EINVAL, -1) : (call))
#define SENDFILE(name)                                                                                      \
    ssize_t name(int to, int from, off_t *offset, size_t count) {                                           \
        return REFUSED(to, REAL(name)(to, from, offset, count));                                            \
    }
SENDFILE(sendfile)
ssize_t copy_file_range(int from, off_t *read_at, int to, off_t *write_at, size_t length, unsigned flags) {
    return REFUSED(to, REAL(copy_file_range)(from, read_at, to, write_at, length, flags));
}

/* Ends an operation that may have changed a file's length, and gives up the lock. */
static int measured(int result, int fd, int succeeded) {
    struct stat status;
    if (succeeded && fstat(fd, &status) == 0)
        record(LENGTH, descriptors[fd].inode, (uint64_t)status.st_size, NULL, 0, NULL, 0);
    pthread_mutex_unlock(&order);
    return result;
}

#define FTRUNCATE(name)                                                                                     \
    int name(int fd, off_t length) {                                                                        \
        if (!known(fd)) return REAL(name)(fd, length);                                                      \
        pthread_mutex_lock(&order);                                                                         \
        int result = REAL(name)(fd, length);                                                                \
        return measured(result, fd, result == 0);                                                           \
    }
#define FALLOCATE(name)                                                                                     \
    int name(int fd, off_t offset, off_t length) {                                                          \
        if (!known(fd)) return REAL(name)(fd, offset, length);                                              \
        pthread_mutex_lock(&order);                                                                         \
        int result = REAL(name)(fd, offset, length);                                                        \
        return measured(result, fd, result == 0);                                                           \
    }
FTRUNCATE(ftruncate)
FALLOCATE(posix_fallocate)
int fallocate(int fd, int mode, off_t offset, off_t length) {
    if (mode != 0 || !known(fd)) return REFUSED(fd, REAL(fallocate)(fd, mode, offset, length));
    errno = posix_fallocate(fd, offset, length);
    return errno ? -1 : 0;
}
#define TRUNCATE(name)                                                                                      \
    int name(const char *path, off_t length) {                                                              \
        char relative[PATH_MAX];                                                                            \
        if (!inside(AT_FDCWD, path, relative)) return REAL(name)(path, length);                             \
        int fd = open_at(AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);                                          \
        if (fd < 0) return -1;                                                                              \
        int result = ftruncate(fd, length), problem = errno;                                                \
        close(fd);                                                                                          \
        errno = problem;                                                                                    \
        return result;                                                                                      \
    }
TRUNCATE(truncate)

static int synced(int fd, int (*sync)(int)) {
    struct descriptor descriptor = descriptors[fd];
    const char *path = descriptor.role == DIRECTORY ? descriptor.path : "";
    pthread_mutex_lock(&order);
    uint64_t begin = record_path(SYNC_BEGIN, descriptor.inode, path);
    pthread_mutex_unlock(&order);
    int result = sync(fd);
    pthread_mutex_lock(&order);
    if (result == 0) record(SYNC_END, descriptor.inode, begin, path, strlen(path), NULL, 0);
    pthread_mutex_unlock(&order);
    return result;
}

static int syncable(int fd) { return known(fd) && descriptors[fd].role != MARKS; }
int fsync(int fd) { return syncable(fd) ? synced(fd, REAL(fsync)) : REAL(fsync)(fd); }
int fdatasync(int fd) { return syncable(fd) ? synced(fd, REAL(fdatasync)) : REAL(fdatasync)(fd); }

/* Writes through a shared mapping cannot be seen. */
#define MMAP(name)                                                                                          \
    void *name(void *address, size_t length, int protection, int flags, int fd, off_t offset) {             \
        struct descriptor *descriptor = known(fd);                                                          \
        if (descriptor && descriptor->role == ORDINARY && flags & MAP_SHARED && protection & PROT_WRITE) {  \
            pthread_mutex_lock(&order);                                                                     \
            record_path(UNRECORDABLE, descriptor->inode, "a writable shared mapping");                      \
            pthread_mutex_unlock(&order);                                                                   \
        }                                                                                                   \
        return REAL(name)(address, length, protection, flags, fd, offset);                                  \
    }
MMAP(mmap)

static int moved(enum kind kind, const char *from, const char *to) {
    char both[2 * PATH_MAX];
    size_t first = strlen(from) + 1, second = strlen(to);
    memcpy(both, from, first);
    memcpy(both + first, to, second);
    record(kind, 0, 0, both, first + second, NULL, 0);
    return 0;
}

#define TWO_PATHS(kind, from_directory, from_path, to_directory, to_path, call)                             \
    char from[PATH_MAX], to[PATH_MAX];                                                                      \
    int from_inside = inside(from_directory, from_path, from), to_inside = inside(to_directory, to_path, to); \
    if (!from_inside && !to_inside) return call;                                                            \
    pthread_mutex_lock(&order);                                                                             \
    int result = call;                                                                                      \
    if (result == 0 && from_inside && to_inside) moved(kind, from, to);                                     \
    else if (result == 0) record_path(UNRECORDABLE, 0, "a name moved over the folder's border");            \
    pthread_mutex_unlock(&order);                                                                           \
    return result;

int rename(const char *a, const char *b) { TWO_PATHS(RENAME, AT_FDCWD, a, AT_FDCWD, b, REAL(rename)(a, b)) }
int renameat(int x, const char *a, int y, const char *b) {
    TWO_PATHS(RENAME, x, a, y, b, REAL(renameat)(x, a, y, b))
}
int link(const char *a, const char *b) { TWO_PATHS(LINK, AT_FDCWD, a, AT_FDCWD, b, REAL(link)(a, b)) }
int linkat(int x, const char *a, int y, const char *b, int flags) {
    TWO_PATHS(LINK, x, a, y, b, REAL(linkat)(x, a, y, b, flags))
}

#define ONE_PATH(kind, directory, path, call)                                                               \
    char relative[PATH_MAX];                                                                                \
    if (!inside(directory, path, relative) || is_marks(relative)) return call;                              \
    pthread_mutex_lock(&order);                                                                             \
    int result = call;                                                                                      \
    if (result == 0) record_path(kind, 0, relative);                                                        \
    pthread_mutex_unlock(&order);                                                                           \
    return result;

int unlink(const char *path) { ONE_PATH(UNLINK, AT_FDCWD, path, REAL(unlink)(path)) }
int unlinkat(int at, const char *path, int flags) {
    ONE_PATH(UNLINK, at, path, REAL(unlinkat)(at, path, flags))
}
int rmdir(const char *path) { ONE_PATH(UNLINK, AT_FDCWD, path, REAL(rmdir)(path)) }
int mkdir(const char *path, mode_t mode) { ONE_PATH(MKDIR, AT_FDCWD, path, REAL(mkdir)(path, mode)) }
int mkdirat(int at, const char *path, mode_t mode) {
    ONE_PATH(MKDIR, at, path, REAL(mkdirat)(at, path, mode))
}

/* The same calls under the names that programs built for large files use. */
#ifdef __GLIBC__
OPEN(open64)
OPENAT(openat64)
int creat64(const char *path, mode_t mode) { return creat(path, mode); }
int __open_2(const char *path, int flags) { return open_at(AT_FDCWD, path, flags, 0); }
int __open64_2(const char *path, int flags) { return open_at(AT_FDCWD, path, flags, 0); }
FCNTL(fcntl64)
PWRITE(pwrite64)
PWRITEV(pwritev64)
PWRITEV2(pwritev64v2)
SENDFILE(sendfile64)
FTRUNCATE(ftruncate64)
FALLOCATE(posix_fallocate64)
TRUNCATE(truncate64)
MMAP(mmap64)
#endif
