/*
 * execute LIBRARY: answers each line of its input, a request in TDLib's JSON, with a line of td_execute's answer. These requests need
 * no account and no network. The go tool doesn't compile what lies in testdata; oracle_test.go does, where the library is at hand.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef const char *(*execute)(const char *request);

int main(int argc, char **argv) {
	void *lib = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	execute run = lib ? (execute)dlsym(lib, "td_execute") : NULL;
	if (!run) {
		fprintf(stderr, "execute: no TDLib: %s\n", argc == 2 ? dlerror() : "which library?");
		return 1;
	}
	run("{\"@type\":\"setLogVerbosityLevel\",\"new_verbosity_level\":0}");
	char *line = NULL;
	size_t room = 0;
	while (getline(&line, &room, stdin) > 0) {
		line[strcspn(line, "\n")] = 0;
		const char *answer = run(line);
		puts(answer ? answer : "null");
		fflush(stdout);
	}
	free(line);
	return 0;
}
