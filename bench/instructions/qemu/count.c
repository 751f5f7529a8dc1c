/* A plug-in of qemu that counts the instructions that a program executes, and prints them at its end. Interface:
 * https://www.qemu.org/docs/master/devel/tcg-plugins.html, version 1. Distributions don't install its header. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct block; /* qemu_plugin_tb */

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t plugin, void (*translated)(uint64_t, struct block *));
void qemu_plugin_register_vcpu_tb_exec_inline(struct block *, int add, void *to, uint64_t what);
void qemu_plugin_register_atexit_cb(uint64_t plugin, void (*ended)(uint64_t, void *), void *);
size_t qemu_plugin_tb_n_insns(const struct block *);

int qemu_plugin_version = 1;

static uint64_t count;

static void translated(uint64_t plugin, struct block *b)
{
	qemu_plugin_register_vcpu_tb_exec_inline(b, 0, &count, qemu_plugin_tb_n_insns(b));
}

static void ended(uint64_t plugin, void *unused)
{
	fprintf(stderr, "instructions %llu\n", (unsigned long long)count);
}

int qemu_plugin_install(uint64_t plugin, const void *info, int argc, char **argv)
{
	qemu_plugin_register_vcpu_tb_trans_cb(plugin, translated);
	qemu_plugin_register_atexit_cb(plugin, ended, NULL);
	return 0;
}
