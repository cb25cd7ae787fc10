/*
 * Loading: of a module as a partition does it, of an image for a guest by putting it where it belongs.
 *
 * While an image runs, it finds nothing of a thread: FS refers to a page that it can read and not
 * write, and which is zero. A program that calls functions of the C library of this process must
 * not run so; then `no_thread` is set to zero.
 */
#include <asm/prctl.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "quietcore_module.h"

/* From where addresses of the code are counted. */
static uintptr_t base;

/* FS of this thread, and the page that an image gets in its place; null where it gets none. */
static uintptr_t own_thread;
static uintptr_t no_thread;

static void set_thread(uintptr_t thread)
{
#if defined(__x86_64__)
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_arch_prctl), "D"(ARCH_SET_FS), "S"(thread)
                     : "rcx", "r11", "memory");
    (void)result;
#else
    (void)thread;
#endif
}

static void enter(void)
{
    if (no_thread) {
        set_thread(no_thread);
    }
}

static void leave(void)
{
    if (no_thread) {
        set_thread(own_thread);
    }
}

/* Loads a module. */
static const struct quietcore_module *load_module(const char *path)
{
    Dl_info info;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return NULL;
    }
    const void *module = dlsym(library, "quietcore_module");
    if (!module || !dladdr(module, &info)) {
        return NULL;
    }
    base = (uintptr_t)info.dli_fbase;
    return module;
}

/* Puts a part of an image where it belongs. */
static int put(const unsigned char *file, const Elf64_Phdr *part)
{
    int protection = ((part->p_flags & PF_R) ? PROT_READ : 0) |
                     ((part->p_flags & PF_W) ? PROT_WRITE : 0) |
                     ((part->p_flags & PF_X) ? PROT_EXEC : 0);
    void *place = (void *)part->p_vaddr;
    void *mapped = mmap(place, part->p_memsz, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

    if (mapped != place) {
        return 1;
    }
    memcpy(place, file + part->p_offset, part->p_filesz);
    return mprotect(place, part->p_memsz, protection);
}

/* Puts an image for a guest where it belongs; null where the file is none. */
static const struct quietcore_module *place(const char *path)
{
    int descriptor = open(path, O_RDONLY);
    off_t bytes = lseek(descriptor, 0, SEEK_END);
    const unsigned char *file = mmap(NULL, (size_t)bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)file;

    if (file == MAP_FAILED || header->e_type != ET_EXEC) {
        return NULL;
    }
    const Elf64_Phdr *parts = (const Elf64_Phdr *)(file + header->e_phoff);
    for (int index = 0; index < header->e_phnum; index++) {
        if (parts[index].p_type == PT_LOAD && put(file, &parts[index]) != 0) {
            fprintf(stderr, "no room at %#" PRIx64 "\n", (uint64_t)parts[index].p_vaddr);
            exit(2);
        }
    }
#if defined(__x86_64__)
    syscall(SYS_arch_prctl, ARCH_GET_FS, &own_thread);
    no_thread = (uintptr_t)mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#endif
    return (const struct quietcore_module *)header->e_entry;
}

/* Loads what the file is; ends the process where it is neither. */
static const struct quietcore_module *load(const char *path)
{
    const struct quietcore_module *module = place(path);

    if (!module) {
        module = load_module(path);
    }
    if (!module || module->version != QUIETCORE_MODULE_VERSION) {
        fprintf(stderr, "no module\n");
        exit(2);
    }
    return module;
}
